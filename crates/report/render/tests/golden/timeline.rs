//! Time lines of a step, as text, for programs and as a picture.

use analysis::MeasuredStep;
use model::record::Percentiles;
use model::{IntervalRecord, Nanos, OpKind, Readings, metric};
use render::{Format, Report, RunTimeline, Style, render_html};

use crate::fixture::{Fixture, quickstart};

/// The step.
const STEP: &str = "readrandom";
const MIB: f64 = 1_048_576.0;

/// Replaces a run's intervals of the step by 40 seconds with checkpoints, tables and two stalls.
fn with_checkpoints(intervals: &mut Vec<IntervalRecord>) {
    let first = intervals.iter().find(|interval| interval.step == STEP).unwrap().clone();
    intervals.retain(|interval| interval.step != STEP);
    for at in 0..40_u64 {
        let runs = (12..16).contains(&at);
        let is_stalled = at == 13 || at == 30;
        let mut second = IntervalRecord { start_ns: Nanos::from_secs(at), ..first.clone() };
        let summary = second.clients.get_mut(&OpKind::Get).unwrap();
        summary.counts.done = if is_stalled { 50 } else { 1_000 + 5 * at };
        let p99_ns = if is_stalled { 40_000_000 } else { 1_000_000 + 1_000 * at };
        summary.service = Percentiles { count: 100, p99_ns, ..Percentiles::default() };
        #[expect(clippy::cast_precision_loss, reason = "small counts of an invented fixture")]
        let at = at as f64;
        let written = if runs { 60.0 * MIB } else { 0.0 };
        second.readings = Readings::from([
            (metric::ENGINE_CHECKPOINTS_RUNNING, f64::from(u8::from(runs))),
            (metric::ENGINE_CHECKPOINT_WRITE_BYTES, written),
            (metric::ENGINE_WAL_WRITE_BYTES, 8.0 * MIB),
            (metric::ENGINE_CACHE_HITS, 900.0),
            (metric::ENGINE_CACHE_MISSES, 100.0),
            (metric::ENGINE_LOCK_WAITERS, 0.0),
        ]);
        let rows = (metric::ENGINE_GARBAGE_ROWS, 10.0 * at);
        let table = Readings::from([(metric::ENGINE_DISK_BYTES, 64.0 * MIB + at * MIB), rows]);
        second.tables.insert("orders".to_owned(), table);
        intervals.push(second);
    }
}

fn fixture() -> Fixture {
    let mut fixture = quickstart(5);
    fixture.intervals.iter_mut().for_each(with_checkpoints);
    fixture
}

fn rendered(fixture: &Fixture, format: Format) -> String {
    let run = &fixture.runs[0];
    let recorded = run.steps.iter().find(|step| step.step.name == STEP).unwrap();
    let step = MeasuredStep::from(recorded);
    let timeline = RunTimeline::of(run, step, &fixture.intervals[0]).unwrap();
    [timeline].render(format, Style::default())
}

#[test]
fn text_has_rows_stalls_and_what_ran() {
    insta::assert_snapshot!("timeline", rendered(&fixture(), Format::Text));
}

#[test]
fn programs_get_every_second() {
    let fixture = fixture();
    let json: serde_json::Value = serde_json::from_str(&rendered(&fixture, Format::Json)).unwrap();
    let of_run = &json[0];
    assert_eq!(of_run["seconds"].as_array().unwrap().len(), 40);
    assert_eq!(of_run["stalls"][0]["activities"][0], "checkpoint");
    let csv = rendered(&fixture, Format::Csv);
    let line = |line: &&str| line.contains(",13,1,true,throughput_ops_per_s,,50");
    assert_eq!(csv.lines().filter(line).count(), 1, "{csv}");
    assert!(csv.contains(",engine_disk_bytes,orders,67108864\n"), "{csv}");
}

/// Goal: a page has a picture for the step whose intervals have more than throughput and p99.
#[test]
fn page_has_a_picture_of_the_step() {
    let page = render_html(&fixture().input());
    assert_eq!(page.matches("id=\"timeline-").count(), 1, "the other steps have no readings");
    assert!(
        page.contains("checkpoint (60.0 MiB): in 1 of 2 stalls"),
        "its caption has the association"
    );
    assert!(page.contains("size of orders") && page.contains("class=\"stall\""));
    let without = render_html(&quickstart(5).input());
    assert!(!without.contains("timeline-"), "records without readings have no picture");
}
