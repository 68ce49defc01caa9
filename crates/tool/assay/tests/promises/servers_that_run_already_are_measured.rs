//! A server of this machine that Assay did not start has figures like one that it starts.

use std::fs;

use archive::Results;
use driver_postgres::KIND;
use model::{Endpoint, Options, metric};
use server::testing::started;

use crate::applications_on_servers::variant_at;
use crate::workspace::Workspace;

/// The experiment; the lines of its variant follow.
const EXPERIMENT: &str = r#"[experiment]
name = "running"
question = "What does the server use?"

[benchmark]
steps = ["fillseq", "readrandom"]
rows = "2k"
duration = "2s"
warmup = "0s"
durability = "os"

[[variant]]
name = "a"
"#;

/// Returns the CPU of a process and its children, ended ones included, us.
///
/// Source: proc(5), `/proc/PID/stat`, fields 4 and 14 to 17.
fn cpu_us(root: u32) -> f64 {
    let stat = |pid: u32| {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let fields: Vec<&str> = text.rsplit_once(") ")?.1.split_whitespace().collect();
        let ticks: u64 = fields[11..15].iter().filter_map(|it| it.parse::<u64>().ok()).sum();
        Some((pid, fields[1].parse::<u32>().ok()?, ticks))
    };
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let own = pids.filter_map(stat).filter(|(pid, parent, _)| *pid == root || *parent == root);
    let ticks: u64 = own.map(|(_, _, ticks)| ticks).sum();
    ticks as f64 * 1e6 / rustix::param::clock_ticks_per_second() as f64
}

/// Goal: CPU, reads and data of a running server are known, and no output claims that Assay
/// started it. Method: the CPU is compared with the growth in the accounts of its processes.
#[test]
fn cpu_of_a_running_server_is_that_of_its_processes() {
    let artifact = match supply::testing::build("postgres@15.10") {
        Ok(artifact) => artifact,
        Err(reason) => return println!("skipped: {reason}"),
    };
    let place = tempfile::tempdir().expect("a directory");
    let server = started(&KIND, &artifact.library, place.path(), &Options::default());
    let Endpoint { address, .. } = &server.endpoint;
    let workspace = Workspace::new();
    let variant = variant_at("postgres", &server.endpoint);
    workspace.write("running.toml", format!("{EXPERIMENT}{variant}\n"));
    let before_us = cpu_us(server.pid());
    workspace.assay(&["run", "running.toml"]).recorded();
    let grown_us = cpu_us(server.pid()) - before_us;

    let dir = Results::at(&workspace.path("results")).find("running").unwrap();
    let runs = dir.runs(&dir.manifest().unwrap()).unwrap();
    let steps = || runs.iter().flat_map(|run| &run.steps);
    let measured_us: f64 =
        steps().map(|step| step.counters.sum(&metric::SERVER_CPU_US).expect("known")).sum();
    // Sessions begin and end between the steps: on a busy host the steps are half of it.
    let share = measured_us / grown_us;
    assert!((0.5..1.02).contains(&share), "{measured_us} us of {grown_us} us");
    for step in steps() {
        for metric in [metric::SERVER_READ_BYTES, metric::OTHERS_CPU_US] {
            assert!(step.counters.has(metric), "{}: {:?}", metric.name, step.counters);
        }
        for metric in [metric::SERVER_RSS_BYTES, metric::DATA_DIR_BYTES] {
            assert!(step.gauges_end[metric] > 1e6, "{}: {:?}", metric.name, step.gauges_end);
        }
    }
    let facts = &runs[0].identity.as_ref().unwrap().facts;
    let found = format!("{} of postgres, found by its socket", server.pid());
    assert_eq!(facts["server_process"], found);
    assert!(facts["server"].contains(&format!("not started by Assay: postgres@{address}")));
    let show = workspace.assay(&["show", "running", &runs[0].cell.id]).recorded().out;
    assert!(show.contains("not counted: the server has no control group for itself"), "{show}");
    assert!(show.contains("of the server's processes"), "{show}");
    assert!(!show.contains("started by Assay for the run"), "{show}");
}
