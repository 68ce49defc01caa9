//! A server's step and the settle after it are two spans, each with its own costs.

use archive::Results;
use assert_cmd::Command;
use model::{OpKind, Readings, RunRecord, StepRecord, metric};

use crate::workspace::{ProgramOutput, Workspace};

/// Loads, settles and queries two servers that differ in one option.
const SETTLING: &str = r#"[experiment]
name = "settling"
question = "What does the settle cost?"
base = "one"

[benchmark]
workload = "ibench-2023"
steps = ["l.i0", "l.x", "l.i1", "q100"]
rows = "4k"
duration = "1s"
warmup = "0s"
cache = "64MiB"
parameters = { inserts = "4k" }

[factors]
clients = [2]

[[variant]]
name = "one"
engine = "postgres@15.10"
profile = "postgres"

[[variant]]
name = "two"
engine = "postgres@15.10"
profile = "postgres"
options = { work_mem = "8MB" }
"#;

/// Rows per second of the background writers of `q100`, for each of the clients.
const WRITER_ROWS_PER_S: u64 = 100;
/// Rows of one call of theirs.
const ROWS_PER_CALL: u64 = 50;

/// A workspace in which the experiment was run once.
struct Settling(Workspace);

impl Settling {
    /// Runs the experiment; prints why a busy host gives no figures.
    fn run() -> Option<Self> {
        let this = Self(Workspace::new());
        this.0.write("settling.toml", SETTLING);
        this.0.measured_by(this.command(&["run", "settling.toml", "--report"]))?;
        Some(this)
    }

    /// Returns the program with servers of the ordinary cache.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.0.program(arguments);
        command.env_remove("XDG_CACHE_HOME");
        command
    }

    /// Returns what a successful command prints, warnings included.
    fn result_of(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().expect("the program starts");
        ProgramOutput::of(output).recorded().out
    }

    fn records(&self) -> Vec<RunRecord> {
        let dir = Results::at(&self.0.path("results")).find("settling").expect("it was run");
        dir.runs(&dir.manifest().expect("a manifest")).expect("records")
    }
}

/// Goal: a settle is in no figure of the step before it, and has its own in every output.
/// Method: one Postgres experiment; the records, then `show`, `compare`, `explain` and the page.
#[test]
fn settle_of_a_server_has_counters_and_duration_of_its_own() {
    if let Err(reason) = supply::testing::build("postgres@15.10") {
        println!("skipped: {reason}");
        return;
    }
    let Some(settling) = Settling::run() else { return };
    let records = settling.records();
    assert_eq!(records.len(), 2);
    let disturbance = settling.0.disturbance();
    if let Some(reason) = &disturbance {
        println!("skipped in part: host too busy for the rate of writers ({reason})");
    }
    for run in &records {
        check_record(run, disturbance.as_ref());
    }
    let shown = settling.result_of(&["show", "settling", "one.c2.r1"]);
    assert!(shown.contains("settle"), "{shown}");
    let csv = settling.result_of(&["compare", "settling", "--format", "csv"]);
    let is_of = |line: &str, step: &str| line.contains(&format!(",{step},"));
    for name in ["settle_s", "settle_cpu_us", "settle_cpu_us_per_op", "settle_us_per_op"] {
        let with: Vec<_> = csv.lines().filter(|line| line.contains(&format!(",{name},"))).collect();
        let of_step = with.iter().filter(|line| is_of(line, "l.i1")).count();
        assert_eq!(of_step, 2, "{name}: {csv}");
        assert!(!with.iter().any(|line| is_of(line, "l.i0") || is_of(line, "q100")), "{with:?}");
    }
    let costs = settling.result_of(&["compare", "settling", "--costs"]);
    assert!(costs.contains("CPU/op"), "{costs}");
    let explained = settling.result_of(&["explain", "one", "two", "l.i1", "--in", "settling"]);
    assert!(explained.contains("l.i1"), "{explained}");
    check_shares_of_others(&settling);
}

/// Checks the two spans of `l.i1`, and that no other step has a settle.
fn check_record(run: &RunRecord, disturbance: Option<&String>) {
    let [_, _, step, queries] = &run.steps[..] else { panic!("four steps: {:?}", run.end) };
    assert!(run.steps.iter().all(|other| other.settle.is_some() == (other.index == step.index)));
    let settle = step.settle.as_ref().expect("l.i1 settles");
    let span = settle.span.as_ref().expect("a span of its own");
    let stages: Vec<_> = settle.stages.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(stages, ["clean", "flush", "wait_idle", "wait_idle"]);
    let took: u64 = settle.stages.iter().map(|(_, took)| took.0).sum();
    assert!(took > 0 && took <= settle.took_ns.0, "{settle:?}");
    // The step ended by rows: duration and rows are its own.
    let rows = step.clients[&OpKind::Insert].counts.rows;
    assert!(rows >= 4000, "{rows}");
    for (counters, length) in [(&step.counters, step.duration_ns), (&span.counters, settle.took_ns)]
    {
        check_counters(counters, length.as_micros_f64());
        let facts = &run.identity.as_ref().expect("it was opened").facts;
        let has_cpu = metric::SERVER_CPU_US.iter().all(|name| counters.has(*name));
        assert!(has_cpu, "{facts:?}");
    }
    check_writers(queries, disturbance);
}

/// Checks that a span's counters are known, and fit into its time.
fn check_counters(counters: &Readings, length_us: f64) {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from) as f64;
    // Readings at both ends are taken a moment after and before the span: on a busy host that
    // moment was half a second once.
    let most_us = cpus * (length_us + 1_000_000.0);
    for name in [metric::OTHERS_CPU_US, metric::HOST_CPU_BUSY_US] {
        let used_us = counters.value(name).unwrap_or_else(|| panic!("no {}", name.name));
        assert!(used_us <= most_us, "{}: {used_us} us in {length_us} us", name.name);
    }
    for name in metric::SERVER_CPU_US {
        let used_us = counters.value(name).unwrap_or_default();
        assert!(used_us <= most_us, "{}: {used_us} us in {length_us} us", name.name);
    }
}

/// Checks that clients times rate times seconds rows were inserted next to the queries.
fn check_writers(step: &StepRecord, disturbance: Option<&String>) {
    let counts = step.writers[&OpKind::Insert].counts;
    let due = step.duration_ns.as_secs_f64() * (2 * WRITER_ROWS_PER_S) as f64;
    let calls = (due / ROWS_PER_CALL as f64).round();
    assert_eq!(counts.rows, counts.done * ROWS_PER_CALL);
    // A call is in service, or due, when the step ends; of a writer without a CPU more are.
    let most = calls + 1.0;
    let least = disturbance.map_or(calls - 1.0, |_| 1.0);
    assert!((least..=most).contains(&(counts.done as f64)), "{} of {calls} calls", counts.done);
}

/// Checks that what other processes used is at most what the host has, within the ticks of the
/// accounts: a tenth.
fn check_shares_of_others(settling: &Settling) {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from) as f64;
    let text = settling.result_of(&["lint", "settling", "--format", "json"]);
    let shares = text.split("other processes of the host used ").skip(1);
    let shares = shares.filter_map(|rest| rest.split(" %").next());
    let shares: Vec<f64> = shares.map(|it| it.parse().expect("a percentage")).collect();
    assert_eq!(shares.len(), text.matches(" % of one CPU").count(), "{text}");
    for share in shares {
        assert!(share <= cpus * 110.0, "{share} % of one CPU, of {cpus} CPUs");
    }
}
