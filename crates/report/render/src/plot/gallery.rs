//! The pictures of a report, in the order of the page.

use analysis::RunsComparison;
use model::{Metric, OpUnit, metric};

use super::bars::{Column, bars};
use super::cpu::cpu;
use super::picture::{Labels, Picture};
use super::rates::rates;
use super::scales::scales;
use super::seconds::{responses, seconds};
use super::subject::Subject;
use super::timeline::timelines;
use super::times::times;
use super::verdicts::verdicts;
use crate::label::{
    Loading, SERVER_CPU, SUSTAINABLE, THROUGHPUT, is_sweep, level_suffix, loading, meaning,
};

/// Costs of whole runs, in the order of the picture: metric and heading.
const OF_RUNS: [(&str, &str); 7] = [
    ("bytes_written_per_byte_put", "bytes written per byte put\nby the engine, log included"),
    ("write_amplification_process", "to storage per byte put\nwithout what the cache absorbed"),
    ("write_amplification_device", "to the device per byte put\nby all processes"),
    ("write_amplification", "data files per byte put\nby the engine, no log"),
    ("space_amplification", "bytes on storage\nper byte of rows, at the end"),
    ("rss_peak_bytes", "peak resident memory"),
    ("settle_s", "time to settle, all steps"),
];

/// Pictures shown before the warnings.
const ANSWERS: usize = 3;

/// The pictures by what they are for.
pub(crate) struct Gallery {
    /// They answer the question: [`ANSWERS`] at most.
    pub(crate) answer: Vec<Picture>,
    /// The evidence behind them.
    pub(crate) more: Vec<Picture>,
    /// The costs.
    pub(crate) costs: Vec<Picture>,
}

/// Draws every picture that has something to show.
pub(crate) fn gallery(subject: &Subject<'_>) -> Gallery {
    let timed = timed(subject);
    let mut answer = overview(subject);
    answer.extend(
        by_second(subject).into_iter().chain([times(subject)]).flatten().map(Picture::foldable),
    );
    let mut more = answer.split_off(ANSWERS.min(answer.len()));
    more.extend(timelines(&timed));
    Gallery { answer, more, costs: costs(subject) }
}

/// Draws verdicts, rates and throughput: pictures of the comparison alone.
pub(crate) fn overview(subject: &Subject<'_>) -> Vec<Picture> {
    let caption = "Bars from zero: means; whiskers: smallest and largest run; dotted: the base's \
                   mean. Operations per second, or rows where a step writes rows. One colour per \
                   engine.";
    let comparison = subject.input.comparison;
    let plain = subject.only(|step| loading(step) == Loading::Closed && !is_sweep(comparison));
    let throughput = of_steps(&plain, THROUGHPUT, Labels::new("throughput", "Throughput", caption));
    let searched = subject.only(|step| loading(step) == Loading::Searched);
    let highest = "Highest rate within the limit and without growing debt: bars from zero, means; \
                   whiskers: smallest and largest search; dotted: the base's mean.";
    let highest = of_steps(
        &searched,
        SUSTAINABLE,
        Labels::new("highest", "Highest sustainable rate", highest),
    );
    // Where the server's CPU is the question, its picture is part of the answer.
    let first = if is_about_cpu(subject) { cpu(subject) } else { None };
    let mut answer = vec![verdicts(subject)];
    answer.extend(named(subject));
    answer.extend([first, highest, scales(subject), rates(subject), throughput]);
    answer.into_iter().flatten().collect()
}

/// Draws throughput by second, and the longest response times of open loops.
pub(crate) fn by_second(subject: &Subject<'_>) -> [Option<Picture>; 2] {
    let open = subject.only(|step| subject.compared.has_track(step));
    [seconds(&timed(subject)), responses(&open)]
}

/// Draws the costs of steps and of whole runs.
pub(crate) fn costs(subject: &Subject<'_>) -> Vec<Picture> {
    let last = if is_about_cpu(subject) { None } else { cpu(subject) };
    let mut costs = vec![last];
    costs.extend(OF_STEPS.map(|(name, metrics)| cost(subject, name, metrics)));
    costs.extend(subject.input.comparison.runs.iter().map(|runs| of_runs(subject, runs)));
    costs.into_iter().flatten().map(Picture::foldable).collect()
}

/// Returns the subject with the steps that last a time.
///
/// A step that works on a known number of rows is done as a whole, not second by second.
pub(crate) fn timed<'a>(subject: &Subject<'a>) -> Subject<'a> {
    subject.only(|step| !matches!(step.unit, OpUnit::Rows(_)))
}

fn is_about_cpu(subject: &Subject<'_>) -> bool {
    subject.steps.iter().any(|step| step.primary == Some(SERVER_CPU))
}

/// Draws each metric that the question is about and that has no picture of its own.
fn named(subject: &Subject<'_>) -> Vec<Option<Picture>> {
    let comparison = subject.input.comparison;
    let about = subject.only(|step| !step.answers.is_empty());
    let names = comparison.answer.iter().filter_map(|name| metric::find(name));
    let names = names.filter(|one| ![THROUGHPUT, SUSTAINABLE, SERVER_CPU].contains(&one.name));
    let picture = |metric: &Metric| {
        let caption = format!(
            "{}. Bars from zero: means; whiskers: smallest and largest run; dotted: the base's \
             mean.",
            meaning(metric)
        );
        of_steps(&about, metric.name, Labels::new(metric.name, metric.name, &caption))
    };
    names.map(picture).collect()
}

/// Costs of a server, or of device and worker without a server: name, metrics with titles.
const OF_STEPS: [(&str, [(&str, &str); 2]); 2] = [
    (
        "written",
        [
            ("server_write_kib_per_op", "Bytes the server wrote per operation"),
            ("device_write_kib_per_op", "Bytes that reached the device per operation"),
        ],
    ),
    (
        "switches",
        [
            ("server_context_switches_per_op", "Context switches of the server per operation"),
            ("context_switches_per_op", "Context switches of the worker per operation"),
        ],
    ),
];

/// Draws a cost of the server where it is known, else of worker or device.
fn cost(subject: &Subject<'_>, name: &str, [server, host]: [(&str, &str); 2]) -> Option<Picture> {
    let ((metric, title), whose) = match subject.has_metric(server.0) {
        true => (server, "Measured for the server's control group only"),
        false => (host, "Measured for the worker's threads, or for all processes on the device"),
    };
    let caption = format!("{whose}; mean, range and base's mean as above.");
    of_steps(subject, metric, Labels::new(name, title, &caption))
}

/// Draws one metric in every step; `None` when no step knows it.
fn of_steps(subject: &Subject<'_>, name: &str, labels: Labels) -> Option<Picture> {
    if !subject.has_metric(name) {
        return None;
    }
    let unit = metric::find(name)?.unit;
    let column = |(index, heading): (usize, &String)| Column {
        heading: heading.clone(),
        unit,
        cells: (0..subject.rows.len()).map(|row| subject.spread(index, row, name)).collect(),
    };
    let columns: Vec<Column> = subject.headings.iter().enumerate().map(column).collect();
    Some(bars(subject, &columns, labels))
}

/// Draws the costs of whole runs at one level of clients; `None` without any.
fn of_runs(subject: &Subject<'_>, runs: &RunsComparison) -> Option<Picture> {
    let column = |(name, heading): &(&str, &str)| {
        let spread = |cell: &analysis::CellComparison| cell.metric(name).map(|one| one.spread);
        let cells: Vec<_> = runs.cells.iter().map(spread).collect();
        let unit = metric::find(name)?.unit;
        let is_known = cells.iter().any(Option::is_some);
        is_known.then(|| Column { heading: (*heading).to_owned(), unit, cells })
    };
    let columns: Vec<Column> = OF_RUNS.iter().filter_map(column).collect();
    if columns.is_empty() {
        return None;
    }
    let is_only = subject.input.comparison.runs.len() == 1;
    let level = if is_only { String::new() } else { level_suffix(runs.clients) };
    let title = format!("Amplification, memory and settling of whole runs{level}");
    let caption = "Over all steps of complete runs, so that a fast load is charged with the work \
                   it defers. Bytes put are rows put times the bytes of a row, before compression. \
                   The page cache absorbs pages that are written again before their write-back, so \
                   storage gets less than the engine writes. A lower bound has no bar.";
    let level = if is_only { String::new() } else { format!("-c{}", runs.clients) };
    let labels = Labels::new(&format!("amplification{level}"), &title, caption);
    Some(bars(subject, &columns, labels))
}
