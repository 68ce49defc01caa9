//! Runs without a result are labelled so, with the reason and the remedy.

use assert_cmd::assert::OutputAssertExt;
use model::validity::Outcome;

use crate::host::{CpuHogs, take_turn};
use crate::measured::Run;
use crate::sandbox::{NAME, Sandbox, joined_text, note};

/// The label in the first line of every output.
const LABEL: &str = "Verdict: NOTHING MEASURED. No step that the experiment is about has a result \
                     (assay lint bad-days).";
/// Exit code of `run`, `compare` and `lint` without a result.
const NOTHING: i32 = 3;
/// Hogs per CPU: the client gets a fifth.
const HOGS: usize = 4;

/// Runs the experiment, and checks label and exit code of each command; returns what `run` prints.
///
/// The hogs end with the run: reading its results takes long next to them, and shows the same.
fn nothing_measured(sandbox: &Sandbox, load: &[&str], hogs: Option<CpuHogs>) -> String {
    let output = sandbox.run(load).assert().code(NOTHING).get_output().clone();
    drop(hogs);
    let text = joined_text(&output);
    assert!(text.contains(LABEL), "{text}");
    for command in ["compare", "lint"] {
        let output = sandbox.assay(&[command, NAME]).assert().code(NOTHING).get_output().clone();
        assert!(joined_text(&output).contains("NOTHING MEASURED"), "{}", joined_text(&output));
    }
    sandbox.result_of(&["report", NAME]);
    let dir = sandbox.experiment().expect("it was run");
    let page = std::fs::read_to_string(dir.path().join("report.html")).expect("the page");
    assert!(page.contains("Verdict: NOTHING MEASURED."), "the page lacks the label");
    text
}

/// Returns the outcomes of a run's probes.
fn outcomes(sandbox: &Sandbox, cell: &str) -> Vec<Outcome> {
    let record = Run::of(sandbox, cell).record;
    let search = record.steps.into_iter().find_map(|step| step.search).expect("a search");
    search.probes.iter().map(|probe| probe.outcome).collect()
}

/// Searches a rate where operations take so long, and checks what is printed.
fn check_search(service_time: &str, expected: &[&str]) {
    let benchmark = "steps = [\"fillseq\", \"readrandom\"]\nrows = 20\nduration = \"300ms\"\n\
                     warmup = \"0s\"\nsettle_cap = \"200ms\"";
    let server = format!("\"server.work\" = \"{service_time}\"");
    let sandbox = Sandbox::with_options(benchmark, &[("slow", "faulty", server)]);
    let text = nothing_measured(&sandbox, &["--sla", "p50 < 1ms"], None);
    if outcomes(&sandbox, "slow.c1.r1").contains(&Outcome::Invalid) {
        return note("skipped in part: host busy (probes are invalid)");
    }
    for expected in expected {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
}

/// Goal: a limit that no rate meets ends in the reason and the remedy, not in an empty table.
/// Method: twice the limit for each operation; then so long that a probe has too few of them.
#[test]
fn search_that_finds_no_rate_names_the_reason_and_the_remedy() {
    let _turn = take_turn();
    check_search(
        "2ms",
        &[
            "A041 search found nothing: readrandom of slow: found nothing within p50 < 1.00 ms in",
            "no rate meets the limit: the lowest tried was",
            "loosen the limit, or find in the probes what exceeded it (assay show)",
        ],
    );
    check_search(
        "20ms",
        &[
            "found nothing within p50 < 1.00 ms in 1 probe: 200 operations are needed to test",
            "make the step longer (--duration), or the percentile of the limit lower",
        ],
    );
}

/// Goal: where the host makes every probe invalid, it is named, and not the engine.
/// Method: hogs on every CPU.
#[test]
fn search_with_invalid_probes_only_blames_the_host() {
    let _turn = take_turn();
    let benchmark = "steps = [\"fillseq\", \"readrandom\"]\nrows = 500\nduration = \"300ms\"\n\
                     warmup = \"0s\"\nsettle_cap = \"200ms\"";
    let sandbox = Sandbox::of(benchmark, &[("map", "memory", "")]);
    let hogs = CpuHogs::on_each_cpu(HOGS);
    let text = nothing_measured(&sandbox, &["--sla", "p99 < 1ms"], Some(hogs));
    let outcomes = outcomes(&sandbox, "map.c1.r1");
    assert!(outcomes.iter().all(|outcome| *outcome == Outcome::Invalid), "{outcomes:?}");
    for expected in ["the client was late too often", "repeat on a quiet host"] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
}

/// Goal: a run whose intervals are all invalid has no figure, and names the cause.
/// Method: an open loop next to hogs.
#[test]
fn run_with_invalid_intervals_only_has_no_figures() {
    let _turn = take_turn();
    let sandbox = Sandbox::reading("2s", &[("map", "memory", "")]);
    let hogs = CpuHogs::on_each_cpu(HOGS);
    let text = nothing_measured(&sandbox, &["--rate", "500/s", "--warmup", "0s"], Some(hogs));
    let run = Run::of(&sandbox, "map.c1.r1");
    assert!(run.record.invalid.is_some(), "{}", run.diagnosis());
    assert!(run.measured().all(|interval| interval.invalid.is_some()), "{}", run.diagnosis());
    assert!(text.contains("other processes took the CPU"), "{text}");
}
