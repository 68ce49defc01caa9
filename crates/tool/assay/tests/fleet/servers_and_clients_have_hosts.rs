//! A server on one host and its clients on two others: one load, and each loss a recorded outcome.

use std::fs;
use std::path::Path;
use std::process::Child;
use std::time::Duration;

use model::RunRecord;
use rustix::process::{Pid, Signal, kill_process};

use crate::cluster::Cluster;
use crate::fixture::{Ended, Fixture, SOON, ended};
use crate::programs::{wait_for, within};
use crate::sshd::SshHosts;

/// Build of the server, and its name in the tests' cache.
const BUILD: &str = "postgres@15.10";
const NAME: &str = "postgres@mine";
/// Longest time from a loss to the end of its run.
const OUTCOME_MAX: Duration = Duration::from_secs(15);
/// Time after the load in which the reads begin.
const WARMED_UP: Duration = Duration::from_millis(1_500);
/// Names of the hosts; the server is on the first.
const NAMES: [&str; 3] = ["db1", "c1", "c2"];

/// Returns whether the server is here; prints why the test is skipped.
#[expect(clippy::print_stdout, reason = "a skipped test prints why")]
fn has_build() -> bool {
    let build = supply::testing::build(BUILD);
    if let Err(reason) = &build {
        println!("skipped: {reason}");
    }
    build.is_ok()
}

/// Starts the hosts, if the server is here.
fn start() -> Option<SshHosts> {
    if has_build() { SshHosts::start(&NAMES) } else { None }
}

/// Makes an experiment whose reads are offered at a rate, or come from clients in a closed loop.
fn experiment(config: &Path, duration: &str, load: &str) -> Fixture {
    experiment_on(&machines(config), duration, load)
}

/// Returns the lines of `[hosts]` with the machines.
fn machines(config: &Path) -> String {
    format!("server = \"db1\"\nclients = [\"c1\", \"c2\"]\nssh_config = \"{}\"\n", config.display())
}

fn experiment_on(hosts: &str, duration: &str, load: &str) -> Fixture {
    let reads = format!("{{ step = \"readrandom\"{load} }}");
    experiment_of(hosts, duration, &format!("steps = [\"filluniquerandom\", {reads}]\n"))
}

fn experiment_of(hosts: &str, duration: &str, steps: &str) -> Fixture {
    let text = format!(
        "[hosts]\n{hosts}address = \"127.0.0.2\"\n\
         [benchmark]\ndurability = \"none\"\nrows = 2000\nduration = \"{duration}\"\n\
         warmup = \"1s\"\n{steps}\
         [factors]\nclients = [4]\n[[variant]]\nname = \"one\"\nengine = \"{NAME}\"\n"
    );
    Fixture::written(&text)
}

/// Starts an experiment; returns once its reads have begun.
fn begin(fixture: &Fixture) -> Child {
    begin_on(fixture, None)
}

fn add_engine(fixture: &Fixture) {
    let build = supply::testing::build(BUILD).expect("the test is not skipped");
    let root = build.library.ancestors().nth(2).expect("a file of an installation").to_owned();
    let mut add = fixture.assay(None, &["engine", "add", NAME]);
    let added = add.arg(root).output().expect("Assay starts");
    assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
}

fn begin_on(fixture: &Fixture, cluster: Option<&Cluster>) -> Child {
    add_engine(fixture);
    let mut run = fixture.run(cluster, &[]).spawn().expect("Assay starts");
    let has_begun = wait_for("the reads begin, or the run ends", SOON, || {
        let has_begun = fixture.logged(1).contains("  fill");
        let has_ended = matches!(run.try_wait(), Ok(Some(_)));
        (has_begun || has_ended).then_some(has_begun)
    });
    if !has_begun {
        panic!("{}", ended(run, SOON).err);
    }
    within::<()>(WARMED_UP, || None);
    run
}

/// Runs an experiment, and does something once its reads have begun.
fn run(fixture: &Fixture, act: impl FnOnce()) -> Ended {
    let run = begin(fixture);
    act();
    ended(run, SOON)
}

fn only_run(fixture: &Fixture, output: &Ended) -> RunRecord {
    let (_, mut records) = fixture.records();
    assert_eq!(records.len(), 1, "{}", output.err);
    records.remove(0)
}

/// Returns the worker of a client host, if it has one.
fn find_worker(hosts: &mut SshHosts, host: usize) -> Option<Pid> {
    find_process(hosts, host, "worker\0--stream\0")
}

/// Returns the process of Assay on a host whose arguments end so.
fn find_process(hosts: &mut SshHosts, host: usize, end: &str) -> Option<Pid> {
    let is_it = |pid: &Pid| {
        let text = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        text.contains("assay-") && text.ends_with(end) && !text.starts_with("sh\0")
    };
    hosts.host(host).processes().into_iter().find(is_it)
}

fn worker(hosts: &mut SshHosts, host: usize) -> Pid {
    wait_for("a worker", SOON, || find_worker(hosts, host))
}

/// Waits until the hosts have no process but their servers of ssh.
fn assert_alone(hosts: &mut SshHosts) {
    for host in 0..NAMES.len() {
        wait_for("no process but the server", OUTCOME_MAX, || {
            (hosts.host(host).processes().len() <= 1).then_some(())
        });
    }
}

/// Goal: two hosts offer the rate together, begin at one time, and are one record.
#[test]
fn clients_of_two_hosts_offer_one_rate() {
    let Some(mut hosts) = start() else { return };
    let fixture = experiment(&hosts.config(), "4s", ", load = { rate = \"1000/s\" }");
    let output = run(&fixture, || ());
    let record = only_run(&fixture, &output);
    assert!(record.end.is_complete(), "{}", record.end.phrase());
    assert_eq!(record.machine.as_ref().unwrap().name, "db1");
    let names: Vec<_> = record.client_hosts.iter().map(|host| host.name.as_str()).collect();
    assert_eq!(names, ["c1", "c2"]);
    let [load, reads] = &record.steps[..] else { panic!("{:?}", record.steps) };
    let done = |step: &model::StepRecord| model::record::total_counts(&step.clients).done;
    assert_eq!(done(load), 2_000);
    // Poisson arrivals: five standard deviations of 4,000.
    let arrivals = reads.arrivals.as_ref().unwrap();
    assert!(arrivals.offered.abs_diff(4_000) < 320, "{arrivals:?}");
    let summary = reads.clients.values().next().unwrap();
    // Arrivals of the warm-up that a client had not begun are served in the measured span: no more
    // than arrive within the longest start lag, at one a millisecond.
    let served = done(reads) + arrivals.censored;
    let late = 4 + arrivals.start_lag.max_ns / 1_000_000;
    assert!(served.abs_diff(arrivals.offered) <= late, "{served} of {arrivals:?}");
    assert_eq!(summary.response.count, served, "each is in the histogram once");
    for host in &record.client_hosts {
        let [clock] = &host.clocks[..] else { panic!("{host:?}") };
        // The hosts of the test have one clock.
        let found = [Some(clock.before), clock.during, clock.after].map(Option::unwrap);
        for offset in found {
            let error_ns = offset.error_ns + clock.before.error_ns;
            assert!(offset.offset_ns.unsigned_abs() <= error_ns, "{host:?}");
        }
        assert!(clock.before.at_ns < found[1].at_ns && found[1].at_ns < found[2].at_ns);
        assert!(!host.host.kernel.is_empty());
    }
    assert_alone(&mut hosts);
}

/// Goal: the workers of a restored load find the rows of the worker that loaded them.
#[test]
fn a_saved_load_serves_the_workers_of_client_hosts() {
    let Some(mut hosts) = start() else { return };
    let steps = "steps = [\"fillseq\", \"readrandom\"]\nload = \"per-block\"\n";
    let fixture = experiment_of(&machines(&hosts.config()), "1s", steps);
    let output = run(&fixture, || ());
    let record = only_run(&fixture, &output);
    assert!(record.end.is_complete(), "{}", record.end.phrase());
    assert!(record.load.is_some(), "{}", output.err);
    let reads = model::record::total_counts(&record.steps[1].clients);
    assert!(reads.done > 0 && reads.not_found == 0 && reads.failed == 0, "{reads:?}");
    assert_alone(&mut hosts);
}

/// Goal: a client host that cannot be reached is named before anything is stored.
#[test]
fn an_unreachable_client_host_leaves_no_experiment() {
    let Some(mut hosts) = start() else { return };
    hosts.host(2).kill();
    let fixture = experiment(&hosts.config(), "1s", "");
    add_engine(&fixture);
    let output = ended(fixture.run(None, &[]).spawn().expect("Assay starts"), SOON);
    assert!(output.err.contains("client host c2 cannot be reached: "), "{}", output.err);
    assert!(output.err.contains("c2 true`"), "{}", output.err);
    assert!(fixture.experiment().is_none());
    assert_eq!(hosts.host(0).processes().len(), 1, "only the server of ssh");
}

/// Goal: Slurm chooses the machines by their classes.
#[test]
fn machines_of_slurm_have_roles() {
    if !has_build() {
        return;
    }
    let Some(cluster) = Cluster::start(&["db", "client", "client"]) else { return };
    let hosts = "server = \"slurm:db\"\nclients = [\"slurm:client\", \"slurm:client\"]\n";
    let fixture = experiment_on(hosts, "2s", "");
    let output = ended(begin_on(&fixture, Some(&cluster)), SOON);
    let record = only_run(&fixture, &output);
    assert!(record.end.is_complete(), "{}", record.end.phrase());
    assert_eq!(record.machine.as_ref().unwrap().name, "n1");
    assert_eq!(record.client_hosts.len(), 2);
    assert!(record.client_hosts.iter().all(|host| host.clocks.len() == 1));
}

/// Goal: a closed loop has the clients of both hosts.
#[test]
fn clients_of_two_hosts_are_one_closed_loop() {
    let Some(mut hosts) = start() else { return };
    let fixture = experiment(&hosts.config(), "3s", "");
    let output = run(&fixture, || ());
    let record = only_run(&fixture, &output);
    assert!(record.end.is_complete(), "{}", record.end.phrase());
    let dir = fixture.experiment().unwrap();
    let intervals = dir.intervals(&record.cell.id).unwrap();
    let reads = &record.steps[1];
    let in_intervals: u64 = intervals
        .iter()
        .filter(|it| it.step == "readrandom" && !it.is_warmup)
        .map(|it| model::record::total_counts(&it.clients).done)
        .sum();
    assert_eq!(model::record::total_counts(&reads.clients).done, in_intervals);
    assert!(in_intervals > 0);
    assert_alone(&mut hosts);
}

/// Returns the time from a moment to the end of a run.
fn took(since: &str, record: &RunRecord) -> Duration {
    let took = runner::time_between(since, record.ended_at.as_deref().expect("it has ended"));
    Duration::from_nanos(took.expect("it ended later").0)
}

/// Begins a run, harms it, and checks its outcome.
///
/// The end of the run counts. The command ends later: it stores the run, and prints.
fn check_loss(harm: impl FnOnce(&mut SshHosts), expected: &str) {
    let Some(mut hosts) = start() else { return };
    let fixture = experiment(&hosts.config(), "60s", "");
    let run = begin(&fixture);
    harm(&mut hosts);
    let since = runner::now_utc();
    let output = ended(run, SOON);
    let record = only_run(&fixture, &output);
    let took = took(&since, &record);
    let phrase = record.end.phrase();
    assert!(phrase.contains(expected), "{phrase}\n{}", output.err);
    assert_eq!(record.steps.len(), 1, "the load is counted");
    assert!(took < OUTCOME_MAX, "{took:?}\n{}", output.err);
    assert_alone(&mut hosts);
}

#[test]
fn killed_client_is_a_recorded_outcome() {
    let kill = |hosts: &mut SshHosts| kill_process(worker(hosts, 2), Signal::KILL).unwrap();
    check_loss(kill, "lost client host c2 in readrandom: it was killed by signal 9");
}

#[test]
fn hanging_client_is_a_recorded_outcome_and_is_killed() {
    let stop = |hosts: &mut SshHosts| kill_process(worker(hosts, 2), Signal::STOP).unwrap();
    check_loss(stop, "lost client host c2 in readrandom: its worker has not answered for 8.");
}

/// Goal: a block that hangs on the machine of the server is killed there, with its server.
#[test]
fn hanging_block_is_killed() {
    let Some(mut hosts) = start() else { return };
    let fixture = experiment(&hosts.config(), "60s", "");
    let mut run = begin(&fixture);
    let block = find_process(&mut hosts, 0, "block\0--stream\0").expect("the block runs");
    kill_process(block, Signal::STOP).unwrap();
    wait_for("the block is killed", SOON, || {
        (!hosts.host(0).processes().contains(&block)).then_some(())
    });
    run.kill().unwrap();
    run.wait().unwrap();
    assert_alone(&mut hosts);
}

#[test]
fn killed_server_is_a_recorded_outcome() {
    let kill = |hosts: &mut SshHosts| {
        let is_server = |pid: &Pid| {
            let text = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&text).contains("bin/postgres\0")
        };
        let server = hosts.host(0).processes().into_iter().find(is_server);
        kill_process(server.expect("the server runs"), Signal::KILL).unwrap();
    };
    check_loss(kill, "crashed in readrandom: the server died: signal 9 (KILL)");
}

/// Goal: a client host that the network no longer reaches is lost, and ends its worker itself.
/// Method: its connection goes through a host that is frozen.
#[test]
fn a_network_that_is_interrupted_leaves_no_worker() {
    let Some(mut hosts) = start() else { return };
    let Some(mut gateway) = SshHosts::start(&["gw"]) else { return };
    let config = hosts.home("db1").join("config");
    let text = |hosts: &SshHosts| fs::read_to_string(hosts.config()).expect("a configuration");
    let jump = format!("Host c2\n  ProxyCommand ssh -F {} -W %h:%p gw\n", config.display());
    fs::write(&config, jump + &text(&hosts) + &text(&gateway)).expect("a scratch directory");
    let fixture = experiment(&config, "60s", "");
    let run = begin(&fixture);
    gateway.host(0).freeze();
    let since = runner::now_utc();
    let output = ended(run, SOON);
    let record = only_run(&fixture, &output);
    let (took, phrase) = (took(&since, &record), record.end.phrase());
    assert!(phrase.starts_with("lost client host c2 in readrandom: "), "{phrase}");
    assert!(took < OUTCOME_MAX, "{took:?}\n{}", output.err);
    let left = within(OUTCOME_MAX, || find_worker(&mut hosts, 2).is_none().then_some(()));
    assert!(left.is_some(), "the worker of c2 goes on");
    gateway.host(0).thaw();
}

/// Goal: neither the loss of a client host nor of the controller leaves a process.
#[test]
fn lost_machines_leave_no_process() {
    let lose = |hosts: &mut SshHosts| hosts.host(2).kill();
    check_loss(lose, "lost client host c2 in readrandom: the connection ended");
    let Some(mut hosts) = start() else { return };
    let fixture = experiment(&hosts.config(), "60s", "");
    let mut run = begin(&fixture);
    assert!(matches!(run.try_wait(), Ok(None)));
    run.kill().unwrap();
    run.wait().unwrap();
    assert_alone(&mut hosts);
}
