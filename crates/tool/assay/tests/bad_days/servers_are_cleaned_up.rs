//! Started servers are measured and always cleaned up.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::thread;
use std::time::Duration;

use assert_cmd::assert::OutputAssertExt;
use model::record::FailureClass;
use model::{Endpoint, OpKind, Options, RunEnd, RunRecord};
use rustix::fs::{Access, access};
use rustix::process::{Pid, Signal, kill_process_group};
use server::Running;

use crate::sandbox::{
    IN_MEMORY, NAME, Sandbox, joined_text, note, now, output_text, ran, send, wait_until, wrapped,
};
use crate::server_traces::{assert_clean, processes, processes_in, sandbox_of, server};

/// The server that is measured.
const BUILD: &str = "postgres@15.10";
/// Longest time for anything here.
const LONG: Duration = Duration::from_secs(300);

/// Makes a sandbox that reads from Postgres; prints why without one.
fn sandbox(duration: &str, options: &str) -> Option<Sandbox> {
    sandbox_of(BUILD, duration, options)
}

/// Starts the experiment, with few reads, and waits until a second of them is stored.
fn measuring(sandbox: &Sandbox) -> Child {
    measuring_by(sandbox, &mut sandbox.run(&["--rate", "100/s"]))
}

/// Starts the experiment by this command, and waits likewise.
fn measuring_by(sandbox: &Sandbox, command: &mut Command) -> Child {
    let child = command.spawn().expect("it runs");
    let is_measuring = || {
        let intervals = sandbox.experiment().and_then(|dir| dir.intervals("pg.c1.r1").ok());
        intervals.is_some_and(|all| all.iter().any(|interval| interval.step_index == 1))
    };
    assert!(wait_until(LONG, is_measuring), "the first step does not end");
    child
}

fn record(sandbox: &Sandbox) -> RunRecord {
    sandbox.records().into_values().next().expect("a run was begun")
}

#[test]
fn server_is_measured_and_its_files_are_stored() {
    let Some(sandbox) = sandbox("300ms", "work_mem = \"5MB\"") else { return };
    let output = ran(&mut sandbox.run(&["--placement", "same-cpu"]));
    let run = record(&sandbox);
    assert_eq!(run.end, RunEnd::Complete, "{}", output_text(&output));
    assert_eq!(run.effective_options.get("work_mem"), Some("5MB"));
    let facts = &run.identity.as_ref().unwrap().facts;
    assert!(facts["server_program"].ends_with("bin/postgres"), "{facts:?}");
    assert!(facts["placement"].starts_with("same-cpu: "), "{facts:?}");
    let counters = &run.steps[1].counters;
    match facts.get("server_not_counted") {
        Some(why) => {
            let is_writable = access("/sys/fs/cgroup/cpuacct", Access::WRITE_OK).is_ok();
            assert!(!is_writable, "{why}");
            note(&format!("skipped in part: CPU of the server: {why}"));
        }
        None => assert!(counters["server_cpu_user_us"] > 0.0, "{counters:?}"),
    }
    assert!(run.steps[1].gauges_end["log_bytes"] > 0.0);
    let dir = sandbox.experiment().unwrap();
    let stored = dir.path().join("runs").join(&run.cell.id).join("engine");
    let mut names: Vec<_> = fs::read_dir(stored).unwrap().flatten().collect();
    names.retain(|entry| !entry.file_name().to_string_lossy().ends_with(".txt"));
    let mut names: Vec<_> = names.iter().map(std::fs::DirEntry::file_name).collect();
    names.sort_unstable();
    assert_eq!(names, ["postgresql.conf", "server.log"], "and no file of a password");
    assert_no_errors(&sandbox, BUILD);
    assert_clean(&sandbox);
}

/// Goal: the Ctrl-C of a terminal, which goes to every process of its group, is a request to Assay
/// alone: no program that it starts ends by it, and none of them is recorded as failed.
/// Method: the signal goes to the whole group, from the check of the server to the first run.
#[test]
fn an_interrupt_of_the_whole_group_is_recorded_as_no_failure() {
    let Some(sandbox) = sandbox("60s", "") else { return };
    for moment in 0..8 {
        let child = sandbox.run(&[]).process_group(0).spawn().expect("it runs");
        thread::park_timeout(Duration::from_millis(500 * moment));
        kill_process_group(Pid::from_child(&child), Signal::INT).expect("it still runs");
        let output = child.wait_with_output().expect("own child");
        let text = output_text(&output);
        // Before anything is checked, the signal itself ends it.
        assert!(matches!(output.status.code(), None | Some(1)), "{moment}: {text}");
        for run in sandbox.records().into_values() {
            assert!(matches!(run.end, RunEnd::Interrupted { .. }), "{moment}: {:?}", run.end);
        }
        assert_clean(&sandbox);
    }
}

#[test]
fn killed_server_is_a_recorded_crash() {
    let Some(sandbox) = sandbox("60s", "") else { return };
    let child = measuring(&sandbox);
    send(server(&sandbox), Signal::KILL);
    let output: Output = child.wait_with_output().unwrap();
    assert!(!output.status.success());
    let RunEnd::Crashed { step, reason } = record(&sandbox).end else {
        panic!("{:?}\n{}", record(&sandbox).end, output_text(&output));
    };
    assert_eq!(step, "readrandom");
    assert!(reason.starts_with("the server died: signal 9 (KILL); last log line: "), "{reason}");
    assert_clean(&sandbox);
}

/// Goal: a run whose commits would wait for ever ends, and its first step stays.
#[test]
fn lost_standby_is_a_recorded_crash() {
    let Some(sandbox) = sandbox("60s", "\"assay.replica\" = \"sync\"") else { return };
    let child =
        measuring_by(&sandbox, &mut sandbox.run(&["--durability", "os", "--rate", "100/s"]));
    let of_standby = |pid: &u32| {
        fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.ends_with("replica"))
    };
    let standby = processes(&sandbox).into_iter().filter(of_standby).min();
    send(standby.expect("a standby runs"), Signal::KILL);
    let output = child.wait_with_output().unwrap();
    assert!(!output.status.success());
    let run = record(&sandbox);
    let RunEnd::Crashed { step, reason } = &run.end else { panic!("{:?}", run.end) };
    assert_eq!((step.as_str(), run.steps.len()), ("readrandom", 1));
    assert!(reason.contains("last log line: of the standby: "), "{reason}");
    assert_clean(&sandbox);
}

/// Goal: a disk that the log fills is a recorded end; what was measured stays, the data do not.
/// Method: a file system of 192 MiB, updates of 8 KB, and no checkpoint that would remove log.
#[test]
fn disk_full_of_log_is_recorded() {
    if !server::testing::is_root() {
        return;
    }
    let options = "max_wal_size = \"100GB\", checkpoint_timeout = \"1h\", autovacuum = \"off\"";
    let benchmark = "steps = [\"fillseq\", \"overwrite\"]\nrows = \"1k\"\nvalue_bytes = 8000\n\
                     duration = \"100s\"";
    if sandbox("1s", "").is_none() {
        return;
    }
    let sandbox = Sandbox::with_options(benchmark, &[("pg", BUILD, options.to_owned())]);
    let script = "mkdir -p data && mount -t tmpfs -o size=192m,mode=755 none data || exit 77; \"$@\"; code=$?; \
                  echo \"left: $(ls -A data | tr '\\n' ' ')\"; exit $code";
    let prefix = ["unshare", "--mount", "sh", "-c", script, "sh"];
    // The disk is full before it is read again.
    let mut run = sandbox.assay(&["run", "experiment.toml", "--disk-floor", "0"]);
    run.args(IN_MEMORY);
    let output = wrapped(&prefix, &run).output().unwrap();
    if output.status.code() == Some(77) || output_text(&output).contains("unshare: ") {
        note(&format!("skipped: no file system can be mounted: {}", output_text(&output)));
        return;
    }
    assert_eq!(output.status.code(), Some(1), "{}", output_text(&output));
    let run = record(&sandbox);
    let RunEnd::Crashed { step, reason } = &run.end else {
        panic!("{:?}\n{}", run.end, output_text(&output))
    };
    assert_eq!(step, "overwrite");
    assert!(reason.contains("No space left on device"), "{reason}");
    assert_eq!(run.steps.len(), 1);
    assert!(output_text(&output).contains("left: .assay-data \n"), "{}", output_text(&output));
}

/// Starts a server in `place` that the experiment's variant names by its dsn.
fn foreign(sandbox: &Sandbox, place: &Path, options: &Options) -> Running {
    let program = supply::testing::build(BUILD).expect("it was there").library;
    let foreign = server::testing::started(&driver_postgres::KIND, &program, place, options);
    let Endpoint { address, user, database, .. } = &foreign.endpoint;
    let dsn = format!("postgres://{user}:${{ASSAY_PASSWORD_PG}}@/{database}?socket={address}");
    let file = sandbox.path("experiment.toml");
    let text = fs::read_to_string(&file).expect("the experiment's file");
    let with_dsn = format!("engine = \"postgres\"\ndsn = \"{dsn}\"");
    fs::write(&file, text.replace(&format!("engine = \"{BUILD}\""), &with_dsn))
        .expect("it is writable");
    foreign
}

fn password_of(running: &Running) -> String {
    running.endpoint.password.as_ref().expect("it requires one").0.clone()
}

/// Goal: an outage of the server is in the times of a closed loop, and its failures have a class.
/// Method: the process of the measuring client is killed, so that Postgres ends all connections and
/// restarts itself; the client connects again after 50 ms at the earliest, and four times in all.
/// The server's files lie in memory, so that its recovery waits for no disk.
#[test]
fn restart_of_a_server_is_charged_to_the_operation_that_waited() {
    let Some(sandbox) = sandbox("4s", "") else { return };
    let place = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = [("restart_after_crash", "on")].into_iter().collect();
    let foreign = foreign(&sandbox, place.path(), &options);
    let mut command = sandbox.run(&[]);
    let child = measuring_by(&sandbox, command.env("ASSAY_PASSWORD_PG", password_of(&foreign)));
    let is_client = |pid: &u32| {
        let title = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        title.contains("[local]")
    };
    let client = processes_in(place.path()).into_iter().find(is_client);
    send(client.expect("a client is connected"), Signal::KILL);
    let output = child.wait_with_output().unwrap();
    output.clone().assert().code(&[0, 3][..]);
    let run = record(&sandbox);
    let reads = &run.steps[1].clients[&OpKind::Get];
    let counts = reads.counts;
    assert!(counts.failures.of(FailureClass::LostConnection) >= 1, "{counts:?}");
    assert_eq!((counts.failed, counts.replacing), (1, 1), "{counts:?}");
    assert!(reads.service.max_ns >= 50_000_000, "{reads:?}");
    assert!(joined_text(&output).contains("1 failed: 1 lost connection; 1 done in their place"));
    let shown = sandbox.result_of(&["show", NAME, &run.cell.id]);
    assert!(shown.contains("Failed operations by class"), "{shown}");
    let longest = model::Nanos(reads.service.max_ns).to_string();
    assert!(shown.contains(&longest), "the outage of {longest} is not shown: {shown}");
    sandbox.result_of(&["report", NAME]);
    let dir = sandbox.experiment().expect("it was run");
    let page = fs::read_to_string(dir.path().join("report.html")).expect("the page");
    assert!(
        page.contains("1 lost connection; operations done instead: 1"),
        "the page lacks the failure"
    );
}

/// Goal: a running server is measured and left running, with its CPU.
/// Method: it is started here; its password must be stored nowhere.
#[test]
fn foreign_server_is_measured_and_left_running() {
    let Some(sandbox) = sandbox("300ms", "") else { return };
    let place = tempfile::tempdir().unwrap();
    let mut foreign = foreign(&sandbox, place.path(), &Options::new());

    let output = sandbox.run(&[]).output().unwrap();
    assert!(joined_text(&output).contains("ASSAY_PASSWORD_PG"), "{}", output_text(&output));
    let password = password_of(&foreign);
    let output = ran(sandbox.run(&[]).env("ASSAY_PASSWORD_PG", &password));
    let run = record(&sandbox);
    let facts = &run.identity.as_ref().unwrap().facts;
    assert!(facts["server"].starts_with("foreign, not started by Assay: "), "{facts:?}");
    let cpu_us = run.steps[1].counters.sum(&model::metric::SERVER_CPU_US);
    assert!(cpu_us.is_some_and(|cpu_us| cpu_us > 0.0), "{run:?}");
    assert!(facts["server_process"].contains("postgres"), "{facts:?}");
    assert!(foreign.death().is_none(), "a foreign server is left running");
    let grep = std::process::Command::new("grep")
        .args(["-r", &password])
        .arg(sandbox.path("results"))
        .output()
        .unwrap();
    assert_eq!(grep.status.code(), Some(1), "found, or not read: {grep:?}");
    assert!(!output_text(&output).contains(&password), "the password is printed");
}

#[test]
fn invalid_server_option_is_rejected_before_the_run() {
    let Some(sandbox) = sandbox("300ms", "shared_bufers = \"64MB\"") else { return };
    let output = sandbox.run(&[]).output().unwrap();
    assert!(!output.status.success());
    let message = joined_text(&output);
    assert!(message.contains("shared_bufers") && message.contains("nothing was run"), "{message}");
    assert!(sandbox.experiment().is_none());
    assert_clean(&sandbox);
}

/// Returns the named shared memory of processes.
fn shared_memory(processes: &[u32]) -> Vec<PathBuf> {
    let maps = processes.iter().map(|pid| fs::read_to_string(format!("/proc/{pid}/maps")));
    let maps: Vec<_> = maps.map(Result::unwrap_or_default).collect();
    let lines = maps.iter().flat_map(|maps| maps.lines());
    lines.filter_map(|line| Some(PathBuf::from(&line[line.find("/dev/shm/")?..]))).collect()
}

/// Goal: an interrupt before the first run leaves no shared memory, whatever the server does then.
/// Method: signals at several moments of set-up and start; all memory that processes had is noted.
#[test]
fn interrupted_preflight_leaves_no_shared_memory() {
    for after_ms in [0, 300, 900, 1_700] {
        let Some(sandbox) = sandbox("60s", "") else { return };
        let child = sandbox.run(&[]).spawn().expect("it runs");
        let (mut pids, mut memory) = (Vec::new(), Vec::new());
        let mut scan = || {
            let now = processes(&sandbox);
            memory.extend(shared_memory(&now));
            pids.extend(now);
            !memory.is_empty()
        };
        assert!(wait_until(LONG, &mut scan), "a server with shared memory is started");
        let begun = now();
        wait_until(Duration::from_millis(after_ms), || {
            scan();
            begun.elapsed() > Duration::from_millis(after_ms)
        });
        send(child.id(), Signal::INT);
        let output = child.wait_with_output().unwrap();
        assert!(!output.status.success(), "{}", output_text(&output));
        memory.retain(|path| path.exists());
        assert_eq!(memory, Vec::<PathBuf>::new(), "after {after_ms} ms");
        let segments = fs::read_to_string("/proc/sysvipc/shm").unwrap();
        let creator = |line: &str| line.split_ascii_whitespace().nth(4)?.parse::<u32>().ok();
        let left =
            segments.lines().filter(|line| creator(line).is_some_and(|it| pids.contains(&it)));
        assert_eq!(left.collect::<Vec<_>>(), Vec::<&str>::new(), "after {after_ms} ms");
        assert_clean(&sandbox);
    }
}

/// Checks that the server logged no error, and that statistics were read.
fn assert_no_errors(sandbox: &Sandbox, build: &str) {
    let engine = sandbox.experiment().expect("it was run").path().join("runs/pg.c1.r1/engine");
    let log = fs::read_to_string(engine.join("server.log")).expect("the log");
    assert!(log.contains("ready to accept"), "{build}: {log}");
    let errors: Vec<_> = log.lines().filter(|line| line.contains("ERROR:")).collect();
    assert_eq!(errors, Vec::<&str>::new(), "{build}");
    let statistics = fs::read_to_string(engine.join("1.readrandom.txt"));
    let statistics = statistics.expect("the statistics");
    assert!(statistics.contains("# pg_stat_bgwriter"), "{build}: {statistics}");
}

/// Goal: no query names what a release lacks. Method: the server logs of several releases; that of
/// the release that is measured above is checked there.
#[test]
fn server_log_has_no_errors() {
    for build in ["postgres@12.20", "postgres@18.0"] {
        let Some(sandbox) = sandbox_of(build, "100ms", "") else { continue };
        ran(&mut sandbox.run(&[]));
        assert_no_errors(&sandbox, build);
    }
}

#[test]
fn interrupted_run_stops_its_server() {
    let Some(sandbox) = sandbox("60s", "") else { return };
    let child = measuring(&sandbox);
    send(child.id(), Signal::INT);
    child.wait_with_output().unwrap();
    let end = record(&sandbox).end;
    assert!(matches!(end, RunEnd::Interrupted { .. }), "{end:?}");
    assert_clean(&sandbox);
}

/// Goal: a server ends when Assay is killed, and the next run removes its leftovers.
/// Method: the next run measures another engine in the same data directory.
#[test]
fn server_leftovers_of_a_killed_assay_are_removed() {
    let Some(sandbox) = sandbox("60s", "") else { return };
    let child = measuring(&sandbox);
    send(child.id(), Signal::KILL);
    child.wait_with_output().unwrap();
    assert!(wait_until(LONG, || processes(&sandbox).is_empty()), "the server ends with Assay");
    // Those outside the data directory may be removed by any other start of Assay.
    assert_ne!(sandbox.data_left(), Vec::<String>::new(), "leftovers remain");
    let quick = ["run", "fillseq", "--engine", "null", "--rows", "1k", "--disk-floor", "1MiB"];
    ran(&mut sandbox.assay(&quick));
    assert_clean(&sandbox);
}
