//! Runs without a result are labelled so, with the reason and the remedy.
//!
//! Those that a busy host leaves without one are in `client_delays_are_never_charged_..`.

use std::process::Output;
use std::time::Duration;

use assert_cmd::assert::OutputAssertExt;
use model::validity::{Outcome, ProbeRecord};

use crate::disturbance::{HostWatch, on_quiet_host};
use crate::host::{CpuHogs, share_turn};
use crate::measured::Run;
use crate::sandbox::{NAME, Sandbox, joined_text, wait_until};

/// The label in the first line of every output.
const LABEL: &str = "Verdict: NOTHING MEASURED. No step that the experiment measures has a result \
                     (assay lint bad-days";
/// Exit code of `run`, `compare` and `lint` without a result.
const NOTHING: i32 = 3;
/// Longest wait for a run to begin: it only guards against hanging for ever.
const LONG: Duration = Duration::from_secs(300);

/// Runs experiments at once, each with its load, and checks label and exit code of each command;
/// returns what each `run` prints.
///
/// So many hogs per CPU begin and end with the runs: what precedes and follows them takes long next
/// to hogs, and shows the same.
pub(crate) fn nothing_measured(runs: &[(&Sandbox, &[&str])], hogs: Option<usize>) -> Vec<String> {
    let start = |(sandbox, load): &(&Sandbox, &[&str])| sandbox.run(load).spawn();
    let children: Vec<_> = runs.iter().map(start).map(|child| child.expect("it runs")).collect();
    let hogs = hogs.map(|count| {
        let has_begun = || runs.iter().all(|(sandbox, _)| sandbox.experiment().is_some());
        assert!(wait_until(LONG, has_begun), "no run begins");
        CpuHogs::on_each_cpu(count)
    });
    let outputs: Vec<_> =
        children.into_iter().map(|child| child.wait_with_output().expect("own child")).collect();
    drop(hogs);
    let checked = runs.iter().zip(outputs);
    checked.map(|((sandbox, _), output)| check(sandbox, &output)).collect()
}

/// Checks label and exit code of a run and of the commands that read it; returns what the run and
/// `lint`, which has the remedies, printed.
fn check(sandbox: &Sandbox, output: &Output) -> String {
    let mut text = joined_text(output);
    assert_eq!(output.status.code(), Some(NOTHING), "{text}");
    assert!(text.contains(LABEL), "{text}");
    for command in ["compare", "lint"] {
        let output = sandbox.assay(&[command, NAME]).assert().code(NOTHING).get_output().clone();
        let read = joined_text(&output);
        assert!(read.contains("NOTHING MEASURED"), "{read}");
        if command == "lint" {
            text += &read;
        }
    }
    sandbox.result_of(&["report", NAME]);
    let dir = sandbox.experiment().expect("it was run");
    let page = std::fs::read_to_string(dir.path().join("report.html")).expect("the page");
    assert!(page.contains("Verdict: NOTHING MEASURED."), "the page lacks the label");
    text
}

/// Returns the probes of a run that searched.
fn probes(run: &Run) -> &[ProbeRecord] {
    let search = run.record.steps.iter().find_map(|step| step.search.as_ref());
    &search.expect("a search").probes
}

/// Searches a rate where operations take so long, and checks what is printed.
///
/// A probe in which the host delayed the client changes what the search probes: the host was
/// busy then, however short the delay was.
fn check_search(host: &HostWatch, service_time: &str, expected: &[&str]) {
    let benchmark = "steps = [\"fillseq\", \"readrandom\"]\nrows = 20\nduration = \"300ms\"\n\
                     warmup = \"0s\"\nsettle_cap = \"200ms\"";
    let server = format!("\"server.work\" = \"{service_time}\"");
    let sandbox = Sandbox::with_options(benchmark, &[("slow", "faulty", server)]);
    let text = nothing_measured(&[(&sandbox, &["--sla", "p50 < 1ms"])], None).remove(0);
    let run = Run::on(host, &sandbox, "slow.c1.r1");
    let delayed = probes(&run).iter().find(|probe| probe.outcome == Outcome::Invalid);
    host.note(delayed.map(|probe| format!("a probe is invalid: {}", probe.reason)));
    assert!(!probes(&run).is_empty() && delayed.is_none(), "{:?}: {text}", probes(&run));
    for expected in expected {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
}

/// Goal: a limit that no rate meets ends in the reason and the remedy, not in an empty table.
/// Method: twice the limit for each operation; then so long that a probe has too few of them.
#[test]
fn search_that_finds_no_rate_names_the_reason_and_the_remedy() {
    let _turn = share_turn();
    on_quiet_host(|host| {
        check_search(
            host,
            "2ms",
            &[
                "A041 search found nothing: readrandom of slow: found nothing within p50 < 1.00 \
                 ms in",
                "no rate meets the limit: the lowest tried was",
                "loosen the limit, or find in the probes what exceeded the limit (assay show)",
            ],
        );
        check_search(
            host,
            "20ms",
            &[
                "found nothing within p50 < 1.00 ms in 1 probe: 200 operations are needed to test",
                "make the step longer (--duration), or lower the percentile of the limit",
            ],
        );
    });
}

/// Returns an experiment whose rate can be searched.
pub(crate) fn sandbox_of_search() -> Sandbox {
    let benchmark = "steps = [\"fillseq\", \"readrandom\"]\nrows = 500\nduration = \"300ms\"\n\
                     warmup = \"0s\"\nsettle_cap = \"200ms\"";
    Sandbox::of(benchmark, &[("map", "memory", "")])
}

/// Checks that the host, which made every probe invalid, is named, and not the engine.
pub(crate) fn assert_all_probes_are_invalid(searched: &Sandbox, text: &str) {
    let run = Run::of(searched, "map.c1.r1");
    let is_invalid = |probe: &ProbeRecord| probe.outcome == Outcome::Invalid;
    assert!(!probes(&run).is_empty() && probes(&run).iter().all(is_invalid), "{:?}", probes(&run));
    for expected in ["the client was late too often", "repeat on a quiet host"] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
}
