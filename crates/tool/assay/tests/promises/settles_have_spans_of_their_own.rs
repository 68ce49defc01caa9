//! A server's step and the settle after it are two spans, each with its own costs.

use archive::Results;
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
rows = "10k"
duration = "1s"
warmup = "0s"
cache = "64MiB"
parameters = { inserts = "10k" }

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
    /// Runs the experiment.
    fn run() -> Self {
        let this = Self(Workspace::new());
        this.0.write("settling.toml", SETTLING);
        this.result_of(&["run", "settling.toml", "--report"]);
        this
    }

    /// Returns what a successful command prints, warnings included.
    fn result_of(&self, arguments: &[&str]) -> String {
        let mut command = self.0.program(arguments);
        // The servers lie in the ordinary cache.
        command.env_remove("XDG_CACHE_HOME");
        let output = ProgramOutput::of(command.output().expect("the program starts"));
        assert_eq!(output.code, 0, "{arguments:?}: {}{}", output.out, output.err);
        output.out
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
    if let Err(reason) = supply::testing::server("postgres@15.10") {
        println!("skipped: {reason}");
        return;
    }
    let settling = Settling::run();
    let records = settling.records();
    assert_eq!(records.len(), 2);
    for run in &records {
        check_record(run);
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
fn check_record(run: &RunRecord) {
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
    assert!(rows >= 10_000, "{rows}");
    for (counters, length) in [(&step.counters, step.duration_ns), (&span.counters, settle.took_ns)]
    {
        check_counters(counters, length.as_micros_f64());
    }
    check_writers(queries);
}

/// Checks that a span's counters are known, and fit into its time.
fn check_counters(counters: &Readings, length_us: f64) {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from) as f64;
    // Readings at both ends are taken a moment after and before the span.
    let most_us = cpus * (length_us + 300_000.0);
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
fn check_writers(step: &StepRecord) {
    let counts = step.writers[&OpKind::Insert].counts;
    let due = step.duration_ns.as_secs_f64() * (2 * WRITER_ROWS_PER_S) as f64;
    let calls = (due / ROWS_PER_CALL as f64).round();
    // A call is in service, or due, when the step ends.
    assert!((counts.done as f64 - calls).abs() <= 1.0, "{} of {calls} calls", counts.done);
    assert_eq!(counts.rows, counts.done * ROWS_PER_CALL);
}

/// Checks that what other processes used is at most what the host has.
fn check_shares_of_others(settling: &Settling) {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from) as f64;
    let text = settling.result_of(&["lint", "settling", "--format", "json"]);
    let shares = text.split("other processes of the host used ").skip(1);
    for share in shares.filter_map(|rest| rest.split(" %").next()) {
        let share: f64 = share.parse().expect("a percentage");
        assert!(share <= cpus * 100.0, "{share} % of one CPU, of {cpus} CPUs");
    }
}
