//! What happens in a pause of Assay or its worker is charged to no single second.

use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use model::record::Severity;
use model::{IntervalRecord, Metric, StepRecord, metric};
use rustix::process::Signal;

use crate::disturbance::on_quiet_host_once;
use crate::sandbox::{Sandbox, note, now, output_text, send, wait_until};

/// Longest time for anything here, on a busy host.
const LONG: Duration = Duration::from_secs(300);
/// Length of the pause.
const PAUSE: Duration = Duration::from_secs(3);
const CELL: &str = "only.c1.r1";
/// Largest growth per interval, as a multiple of its length: what attribution allows.
const SHARE_MAX: f64 = 1.1;

/// Runs a step of 6 s and stops the process `of` for 3 s of it; returns step and intervals.
fn paused(of: impl Fn(&Sandbox, u32) -> u32) -> (StepRecord, Vec<IntervalRecord>) {
    let sandbox = Sandbox::reading("6s", &[("only", "memory", "")]);
    let child = sandbox.run(&[]).spawn().expect("it runs");
    assert!(wait_until(LONG, || {
        let intervals = sandbox.experiment().and_then(|dir| dir.intervals(CELL).ok());
        intervals.is_some_and(|all| all.iter().filter(|one| one.step_index == 1).count() >= 2)
    }));
    let pid = of(&sandbox, child.id());
    send(pid, Signal::STOP);
    let begun = now();
    assert!(wait_until(LONG, || begun.elapsed() >= PAUSE));
    send(pid, Signal::CONT);
    let output = child.wait_with_output().expect("own child");
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", output_text(&output));
    let step = sandbox.records()[CELL].steps[1].clone();
    let mut intervals = sandbox.intervals(CELL);
    intervals.retain(|interval| interval.step_index == 1);
    note(&output_text(&output));
    (step, intervals)
}

/// Returns the finding's evidence about the pause.
fn evidence(step: &StepRecord) -> String {
    let found = step.findings.iter().find(|finding| finding.code == "A059");
    let found = found.unwrap_or_else(|| panic!("{:?}", step.findings));
    assert_eq!(found.severity, Severity::Warning);
    found.evidence.clone()
}

/// Checks that no interval has more device or CPU time than it is long.
fn assert_bounded(step: &StepRecord, intervals: &[IntervalRecord]) {
    let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let times: [(Metric, f64); 3] = [
        (metric::DEVICE_BUSY_US, 1.0),
        (metric::HOST_CPU_BUSY_US, cpus as f64),
        (metric::PROCESS_CPU_USER_US, cpus as f64),
    ];
    for (metric, parts) in times {
        let mut known = 0;
        for interval in intervals {
            let Some(us) = interval.readings.value(metric) else { continue };
            known += 1;
            // Two ticks of each CPU's account.
            let most_us = parts * (SHARE_MAX * interval.length_ns.as_micros_f64() + 20_000.0);
            assert!(us <= most_us, "{metric}: {us} us in {interval:?}");
        }
        if metric == metric::DEVICE_BUSY_US && !is_on_device() {
            note("skipped in part: the data directory lies on no device");
            continue;
        }
        assert!(known > 0, "{metric} is in no interval");
    }
    let sum = |metric| intervals.iter().filter_map(|one| one.readings.value(metric)).sum::<f64>();
    let busy = step.counters.value(metric::HOST_CPU_BUSY_US).expect("every kernel has it");
    assert!(busy >= sum(metric::HOST_CPU_BUSY_US), "the pause is in the sum");
    assert!(step.sampled_ns() >= step.duration_ns.since(model::Nanos::from_millis(50)));
}

/// Returns the whole intervals that lack a metric.
fn lacking(intervals: &[IntervalRecord], metric: Metric) -> usize {
    let whole = intervals.iter().filter(|one| one.length_ns >= model::Nanos::SECOND);
    whole.filter(|one| !one.readings.has(metric)).count()
}

/// Returns whether scratch directories lie on a device: others have a number of the kernel's own.
fn is_on_device() -> bool {
    let scratch = std::fs::metadata(std::env::temp_dir()).expect("a scratch directory");
    rustix::fs::major(scratch.dev()) != 0
}

#[test]
fn readings_of_a_paused_parent_are_in_no_second_but_in_the_sum() {
    on_quiet_host_once(|_| {
        let (step, intervals) = paused(|_, parent| parent);
        let text = evidence(&step);
        assert!(text.starts_with("Assay was paused for at least "), "{text}");
        assert!(lacking(&intervals, metric::HOST_CPU_BUSY_US) >= 3, "{intervals:?}");
        assert_eq!(lacking(&intervals, metric::PROCESS_CPU_USER_US), 0, "the worker read itself");
        assert_bounded(&step, &intervals);
    });
}

#[test]
fn readings_of_a_paused_worker_are_in_no_second() {
    on_quiet_host_once(|_| {
        let (step, intervals) = paused(|sandbox, _| {
            let workers = sandbox.workers();
            *workers.first().expect("a worker runs")
        });
        let text = evidence(&step);
        assert!(text.starts_with("the worker was paused for "), "{text}");
        assert!(lacking(&intervals, metric::PROCESS_CPU_USER_US) >= 3, "{intervals:?}");
        assert_bounded(&step, &intervals);
    });
}
