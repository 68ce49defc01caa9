//! A network that is cut comes back, and a standby takes the place of its server, under load.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread::park_timeout;
use std::time::Duration;

use assert_cmd::cargo::cargo_bin;
use model::EventKind;
use model::record::{FailureClass, total_counts};

use crate::rejection::{rejection_of, unwrapped};
use crate::servers_come_back_after_events::{EVENTS, events, run_file};
use crate::workspace::Workspace;

const SERVER: &str = "postgres@15.10";
/// Longer than a client waits for an answer.
const CUT: &str = r#"
    { at = "500ms", do = "network_cut" },
    { at = "3200ms", do = "network_back" },
"#;
/// Polls of what takes at most a second on a quiet host, and the pause between two.
const POLLS: usize = 6_000;
const PAUSE: Duration = Duration::from_millis(10);

/// Returns why no network can be cut or no server started here.
fn lacking() -> Option<String> {
    if !rustix::process::geteuid().is_root() {
        return Some("only root makes network namespaces".to_owned());
    }
    supply::testing::build(SERVER).err()
}

fn experiment(engine: &str, event: &str) -> String {
    let load = r#"{ rate = "100/s" }"#;
    EVENTS
        .replace("ENGINE", engine)
        .replace("LOAD", load)
        .replace("EVENT", &format!("\n    {event}\n"))
        .replace("\"4s\"", "\"6s\"")
}

/// Goal: clients of a cut network have no answer, no refusal, and go on when it is back.
#[test]
fn a_cut_network_gives_no_answers_until_it_is_back() {
    if let Some(reason) = lacking() {
        return println!("skipped: {reason}");
    }
    let record = run_file(&Workspace::new(), &experiment(SERVER, CUT));
    let step = &record.steps[1];
    let [(EventKind::NetworkCut, away_s), (EventKind::NetworkBack, _)] = events(step)[..] else {
        panic!("{:?}", step.events)
    };
    let [cut, back] = [0, 1].map(|at| step.events[at].action.start_ns);
    // The first arrival after the cut may be late.
    assert!(away_s > back.since(cut).as_secs_f64() * 0.8, "{:?}", step.events);
    let failed = total_counts(&step.clients).failures;
    assert!(failed.of(FailureClass::NoAnswer) > 0, "{}", failed.phrase());
    assert_eq!(failed.iter().count(), 1, "{}", failed.phrase());
    let facts = record.identity.expect("it was opened").facts;
    assert!(facts["server_transport"].starts_with("tcp 192.0.2.1:"), "{facts:?}");
    assert!(facts["server_network"].contains("namespace"), "{facts:?}");
}

/// Goal: after a failover the standby takes the writes of a step and of the step after it.
#[test]
fn a_standby_takes_writes_after_a_failover() {
    if let Err(reason) = supply::testing::build(SERVER) {
        return println!("skipped: {reason}");
    }
    for kind in ["async", "sync"] {
        let file = experiment(SERVER, r#"{ at = "1500ms", do = "failover" }"#)
            .replace("readrandom", "overwrite");
        let file = format!("{file}options = {{ \"assay.replica\" = \"{kind}\" }}\n");
        let record = run_file(&Workspace::new(), &file);
        let step = &record.steps[1];
        let [(EventKind::Failover, away_s)] = events(step)[..] else { panic!("{:?}", step.events) };
        assert!(away_s > 0.0, "{kind}: {:?}", step.events);
        let counts = total_counts(&step.clients);
        assert!(!counts.failures.is_empty(), "{kind}: {counts:?}");
        let commits = model::metric::ENGINE_COMMITS;
        assert_eq!(step.counters.value(commits), None, "{kind}: of two servers");
        assert!(record.steps[2].counters.value(commits) > Some(0.0), "{kind}");
    }
}

#[test]
fn networks_and_failovers_that_cannot_be_had_are_refused_with_a_remedy() {
    let failover = r#"{ at = "1s", do = "failover" }"#;
    let replica = "options = { \"assay.replica\" = \"async\" }\n";
    let twice = experiment(SERVER, failover).replace(
        "\"readrandom\"",
        "{ step = \"overwrite\", events = [\n{ at = \"1s\", do = \"kill\" }] }",
    );
    let cases = [
        (experiment("sqlite", CUT), "the engine runs in the client", "reopen"),
        (experiment(SERVER, failover), "the server has no standby", "assay.replica"),
        (experiment("mysql@8.0.31", failover), "standbys of Postgres only", "postgres@15.10"),
        (experiment(SERVER, CUT) + replica, "the standby would be ended", "assay.replica"),
        (twice + replica, "an earlier step has a failover", "leave out the events"),
    ];
    for (file, why, remedy) in cases {
        let error = unwrapped(&rejection_of(&file));
        assert!(error.contains(why) && error.contains(remedy), "{why}: {error}");
    }
}

/// Returns the network namespaces of a process's children that are not ours.
fn namespaces_of_children(parent: u32) -> BTreeSet<PathBuf> {
    let own = fs::read_link("/proc/self/ns/net").expect("it is ours");
    let field = format!("PPid:\t{parent}\n");
    let is_child = |pid: &u32| {
        fs::read_to_string(format!("/proc/{pid}/status")).is_ok_and(|text| text.contains(&field))
    };
    let found = all_namespaces().into_iter().filter(|(pid, _)| is_child(pid));
    found.map(|(_, namespace)| namespace).filter(|it| *it != own).collect()
}

/// Returns the network namespace of every process.
fn all_namespaces() -> Vec<(u32, PathBuf)> {
    let pids = fs::read_dir("/proc").expect("every Linux has it").flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| Some((pid, fs::read_link(format!("/proc/{pid}/ns/net")).ok()?))).collect()
}

/// Goal: a killed Assay leaves no process in its namespaces: the kernel removes them and the link.
/// Method: SIGKILL once server and worker are in two namespaces.
#[test]
fn a_killed_assay_leaves_no_namespace() {
    if let Some(reason) = lacking() {
        return println!("skipped: {reason}");
    }
    let workspace = Workspace::new();
    workspace.write("events.toml", experiment(SERVER, CUT));
    // The account of the server enters it.
    fs::set_permissions(workspace.path(""), Permissions::from_mode(0o755)).expect("it is ours");
    let mut command = Command::new(cargo_bin("assay"));
    command.args(["run", "events.toml", "--disk-floor", "1MiB", "--data-dir", "data"]);
    command.current_dir(workspace.path("")).stdout(Stdio::null()).stderr(Stdio::null());
    let mut assay = command.spawn().expect("it starts");
    let mut made = BTreeSet::new();
    for _ in 0..POLLS {
        made = namespaces_of_children(assay.id());
        if made.len() == 2 || assay.try_wait().expect("it is ours").is_some() {
            break;
        }
        park_timeout(PAUSE);
    }
    assay.kill().expect("it is ours");
    assay.wait().expect("it is ours");
    assert_eq!(made.len(), 2, "server and worker are in namespaces");
    let left = || all_namespaces().into_iter().filter(|(_, it)| made.contains(it)).count();
    let mut polls = 0..POLLS;
    assert!(
        polls.any(|_| left() == 0 || {
            park_timeout(PAUSE);
            false
        }),
        "{} left",
        left()
    );
    server::clean_up();
    for end in ["server", "clients"] {
        assert!(!fs::exists(format!("/sys/class/net/{end}")).expect("it is readable"), "{end}");
    }
}
