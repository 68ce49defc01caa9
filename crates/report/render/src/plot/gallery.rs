//! The pictures of a report, in the order of the page.

use analysis::{RunsComparison, StepComparison};
use model::{OpUnit, metric};

use super::bars::{Column, bars};
use super::cpu::cpu;
use super::picture::{Labels, Picture};
use super::published::published;
use super::rates::rates;
use super::scales::scales;
use super::seconds::seconds;
use super::subject::Subject;
use super::timeline::timeline;
use super::times::times;
use super::verdicts::verdicts;
use crate::label::{Loading, SERVER_CPU, SUSTAINABLE, THROUGHPUT, is_sweep, level_suffix, loading};

/// Costs of whole runs, in the order of the picture: metric and heading.
const OF_RUNS: [(&str, &str); 6] = [
    ("write_amplification_process", "bytes written per byte put\nprocess, log included"),
    ("write_amplification", "bytes written per byte put\nengine's data files, no log"),
    ("write_amplification_device", "bytes written per byte put\ndevice"),
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
    /// Published findings next to ours.
    pub(crate) published: Option<Picture>,
    /// The evidence behind them.
    pub(crate) more: Vec<Picture>,
    /// The costs.
    pub(crate) costs: Vec<Picture>,
}

/// Draws every picture that has something to show.
pub(crate) fn gallery(subject: &Subject<'_>) -> Gallery {
    let caption = "Bars from zero: medians; whiskers: smallest and largest run; dotted: the base's \
                   median. Operations per second, or rows where a step writes rows. One colour per \
                   engine.";
    let comparison = subject.input.comparison;
    let plain = subject.only(|step| loading(step) == Loading::Closed && !is_sweep(comparison));
    let throughput = of_steps(&plain, THROUGHPUT, Labels::new("throughput", "Throughput", caption));
    let searched = subject.only(|step| loading(step) == Loading::Searched);
    let highest = "Highest rate within the limit and without growing debt: bars from zero, medians; \
                   whiskers: smallest and largest search; dotted: the base's median.";
    let highest = of_steps(
        &searched,
        SUSTAINABLE,
        Labels::new("highest", "Highest sustainable rate", highest),
    );
    // A step that works on a known number of rows is done as a whole, not second by second.
    let is_timed = |step: &StepComparison| !matches!(step.unit, OpUnit::Rows(_));
    let closed = subject.only(|step| !subject.compared.has_track(step) && is_timed(step));
    // Where the server's CPU is the question, its picture is part of the answer.
    let is_about_cpu = subject.steps.iter().any(|step| step.primary == Some(SERVER_CPU));
    let (first, last) = if is_about_cpu { (cpu(subject), None) } else { (None, cpu(subject)) };
    let answer = [
        verdicts(subject),
        first,
        highest,
        scales(subject),
        rates(subject),
        throughput,
        seconds(&closed).map(Picture::foldable),
        times(subject).map(Picture::foldable),
        timeline(subject).map(Picture::foldable),
    ];
    let written = written(subject);
    let mut costs = vec![last, written, switches(subject)];
    costs.extend(subject.input.comparison.runs.iter().map(|runs| of_runs(subject, runs)));
    let mut answer: Vec<Picture> = answer.into_iter().flatten().collect();
    let more = answer.split_off(ANSWERS.min(answer.len()));
    let costs = costs.into_iter().flatten().map(Picture::foldable).collect();
    Gallery { answer, published: published(subject), more, costs }
}

/// Draws bytes written: by the server where there is one, else to the device.
fn written(subject: &Subject<'_>) -> Option<Picture> {
    const SERVER: &str = "server_write_kib_per_op";
    if subject.has_metric(SERVER) {
        let caption = "By the server's control group alone; median, range and base's median as \
                       above.";
        let labels = Labels::new("written", "Bytes the server wrote per operation", caption);
        return of_steps(subject, SERVER, labels);
    }
    let caption = "To the device of the data, by all processes; median, range and base's median \
                   as above.";
    let labels = Labels::new("written", "Bytes written to the device per operation", caption);
    of_steps(subject, "device_write_kib_per_op", labels)
}

/// Draws context switches: of the server where there is one, else of the worker.
fn switches(subject: &Subject<'_>) -> Option<Picture> {
    const SERVER: &str = "server_context_switches_per_op";
    let title = "Context switches per operation";
    if subject.has_metric(SERVER) {
        let caption = "Of the server's processes; median, range and base's median as above.";
        return of_steps(subject, SERVER, Labels::new("switches", title, caption));
    }
    let caption = "Of all threads of the worker process; median, range and base's median as above.";
    of_steps(subject, "context_switches_per_op", Labels::new("switches", title, caption))
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
    let caption = "Over all steps of complete runs, so that work put off by a fast load is charged \
                   to it. Bytes put are rows put times the bytes of a row, before compression. \
                   Pages that the kernel had not written back when the run ended are in none of \
                   these figures.";
    let level = if is_only { String::new() } else { format!("-c{}", runs.clients) };
    let labels = Labels::new(&format!("amplification{level}"), &title, caption);
    Some(bars(subject, &columns, labels))
}
