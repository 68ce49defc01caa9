//! Progress display: live lines on a terminal, plain lines elsewhere.

use std::collections::BTreeSet;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use load::{Clock, SteadyClock};
use model::record::total_counts;
use model::validity::{Outcome, ProbeRecord, Purpose};
use model::{
    Bytes, IntervalRecord, Manifest, Nanos, OpUnit, RunEnd, RunRecord, Step, StepRecord, StopRule,
    Unit, metric, rule_code, whole,
};
use render::figure::figure;
use runner::{ProbeBegins, Progress};

use crate::phase;
use crate::ui::{self, Ui, clean};

/// Draws an experiment's progress.
pub(crate) struct Screen {
    ui: Ui,
    clock: SteadyClock,
    begun: Nanos,
    run_begun: Nanos,
    of_run: Nanos,
    repetitions: u32,
    name: String,
    lines: Option<Lines>,
    run: String,
    number: usize,
    total: usize,
    repetition: u32,
    done: u64,
    /// Highest rate that the step's search has confirmed, per second.
    confirmed: Option<f64>,
    /// Findings about the host that were shown.
    of_host: BTreeSet<&'static str>,
}

/// Findings about the host, which repeat from step to step: shown once; the result has all.
const OF_HOST: [&str; 2] = [rule_code::A009, rule_code::A021];

/// The live lines.
struct Lines {
    all: MultiProgress,
    head: ProgressBar,
    bar: ProgressBar,
}

impl Screen {
    /// Prepares the screen for an experiment.
    pub(crate) fn new(ui: &Ui, manifest: &Manifest) -> Self {
        let clock = SteadyClock::kernel();
        let begun = clock.now();
        let experiment = &manifest.plan.experiment;
        let lines = ui.is_live.then(Lines::new);
        ui::set_live(lines.as_ref().map(|lines| lines.all.clone()));
        Self {
            ui: ui.clone(),
            begun,
            run_begun: begun,
            clock,
            of_run: Nanos(manifest.plan.estimated_ns.0 / manifest.plan.cells.len().max(1) as u64),
            repetitions: experiment.repetitions,
            name: experiment.name.clone(),
            lines,
            run: String::new(),
            number: 0,
            total: 0,
            repetition: 0,
            done: 0,
            confirmed: None,
            of_host: BTreeSet::new(),
        }
    }

    /// Shows one event.
    pub(crate) fn show(&mut self, progress: &Progress<'_>) {
        match progress {
            Progress::RunBegins { number, total, cell } => {
                (self.number, self.total) = (*number, *total);
                self.run.clone_from(&cell.id);
                self.repetition = cell.repetition;
                self.run_begun = self.clock.now();
                self.head();
            }
            Progress::StepBegins(step) => {
                self.done = 0;
                if let Some(lines) = &self.lines {
                    lines.bar.reset();
                }
                self.live(step, 0.0, "begins");
                self.runs(step);
            }
            Progress::Runs(step) => self.runs(step),
            Progress::Stage(step, stage) => {
                self.live(step, 0.0, stage);
                let (name, cap) = (&step.name, step.settle_cap);
                phase::enter(format!("for {stage} after {name}, {cap} at most ({})", self.run));
            }
            Progress::Begins(text) => {
                if let Some(lines) = &self.lines {
                    lines.bar.set_message(clean(text));
                }
                phase::enter(match self.run.is_empty() {
                    true => (*text).to_owned(),
                    false => format!("{text} ({})", self.run),
                });
            }
            Progress::Second(step, probe, interval) => self.second(step, *probe, interval),
            Progress::ProbeEnds(step, probe) => {
                self.confirmed = confirmed_rate(probe).or(self.confirmed);
                self.ui.status(probe_line(&self.run, step, probe));
            }
            Progress::StepEnds(step) => {
                self.confirmed = None;
                let line = step_line(&self.run, step, &mut self.of_host);
                self.ui.status(line);
            }
            Progress::Snapshot(text) | Progress::Waits(text) | Progress::Note(text) => {
                self.ui.status(format_args!("{}  {text}", self.run));
            }
            Progress::RunEnds(run) if run.end.is_complete() => {
                self.unprofiled(run);
                phase::leave();
            }
            Progress::RunEnds(run) => {
                self.unprofiled(run);
                let line = end_line(&run.cell.id, &run.end, self.confirmed.take());
                self.ui.status(line);
            }
        }
    }

    /// Names the steps of a profiled run that have no profile, with the reasons.
    fn unprofiled(&self, run: &RunRecord) {
        for step in &run.steps {
            let Some(reason) = step.profile_refusal() else { continue };
            let (id, name) = (&run.cell.id, &step.step.name);
            self.ui.status(format_args!("{id}  {name}  no CPU profile: {reason}"));
        }
    }

    /// Clears the live lines.
    pub(crate) fn close(&self) {
        if let Some(lines) = &self.lines {
            lines.head.finish_and_clear();
            lines.bar.finish_and_clear();
        }
        ui::set_live(None);
        phase::leave();
    }

    fn head(&self) {
        let repetition = match self.repetitions {
            1 => String::new(),
            all => format!("repetition {} of {all} \u{b7} ", self.repetition),
        };
        let left = self.left();
        let run = match self.total {
            1 => String::new(),
            all => format!("run {} of {all} \u{b7} ", self.number),
        };
        let place = format!("{run}{repetition}{left} left");
        match &self.lines {
            Some(lines) => {
                let text = format!("Assay {}   {place}", self.name);
                lines.head.set_message(clean(&text));
            }
            None => self.ui.status(format_args!("{}  {place}", self.run)),
        }
    }

    /// Estimates the time left from the finished runs, or from the plan.
    fn left(&self) -> Nanos {
        let finished = self.number.saturating_sub(1) as u64;
        let now = self.clock.now();
        match self.run_begun.since(self.begun).0.checked_div(finished) {
            Some(per_run) => {
                let to_do = Nanos(per_run * (self.total as u64 - finished));
                to_do.since(now.since(self.run_begun))
            }
            None => Nanos(self.of_run.0 * self.total as u64).since(now.since(self.begun)),
        }
    }

    fn second(&mut self, step: &Step, probe: Option<ProbeBegins>, interval: &IntervalRecord) {
        self.done += step.unit.done(&interval.clients);
        let at = interval.start_ns.after(interval.length_ns);
        let of = |span: Nanos| at.as_secs_f64() / span.as_secs_f64().max(1e-9);
        let share = match (probe, step.stop) {
            (Some(probe), _) => of(probe.length),
            (None, StopRule::Duration(span)) => of(span.after(step.warmup)),
            (None, StopRule::Operations(all)) => self.done as f64 / all.max(1) as f64,
        };
        self.live(step, share, &second_text(step.unit, probe, interval));
    }

    /// Notes the step that the user waits for; its line is printed when it ends.
    fn runs(&self, step: &Step) {
        phase::enter_known(format!("for {} ({})", step.name, self.run));
    }

    fn live(&self, step: &Step, share: f64, text: &str) {
        let Some(lines) = &self.lines else { return };
        #[expect(clippy::cast_possible_truncation, reason = "clamped")]
        #[expect(clippy::cast_sign_loss, reason = "clamped")]
        let position = (share.clamp(0.0, 1.0) * 1000.0) as u64;
        lines.bar.set_prefix(clean(&format!("{}  {}", self.run, step.name)));
        lines.bar.set_message(clean(text));
        lines.bar.set_position(position);
        self.head();
    }
}

impl Lines {
    fn new() -> Self {
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let head = all.add(ProgressBar::new_spinner());
        head.set_style(style("{msg}"));
        let bar = all.add(ProgressBar::new(1000));
        bar.set_style(style("{prefix}  {bar:24} {elapsed}  {msg}"));
        Self { all, head, bar }
    }
}

/// Returns a bar over `length` parts; hidden unless stderr is a terminal.
pub(crate) fn counted(ui: &Ui, length: u64, template: &str) -> ProgressBar {
    let bar = if ui.is_live { ProgressBar::new(length) } else { ProgressBar::hidden() };
    bar.with_style(style(template))
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is a valid constant")
}

/// Returns operations per second, `41.2 k/s`, or rows, `41.2 k rows/s`.
fn rate(per_s: f64, unit: OpUnit) -> String {
    let what = if unit.is_operation() { "" } else { " rows" };
    format!("{}{what}/s", figure(Unit::Count, per_s))
}

/// Returns operations per second over a span.
fn per_second(done: u64, span: Nanos) -> f64 {
    done as f64 / span.as_secs_f64().max(1e-9)
}

/// Returns one interval in a line.
fn second_text(unit: OpUnit, probe: Option<ProbeBegins>, interval: &IntervalRecord) -> String {
    let mut parts = Vec::new();
    if let Some(probe) = probe {
        parts.push(probe_label(probe.number, probe.purpose.name(), probe.clients));
    }
    if let Some(offered) = interval.readings.value(metric::OFFERED_OPS) {
        let seconds = interval.length_ns.as_secs_f64().max(1e-9);
        parts.push(format!("offered {}", rate(offered / seconds, OpUnit::Operation)));
    }
    // Rows per call are unknown within an interval: calls are shown.
    let unit = if matches!(unit, OpUnit::Rows(_)) { OpUnit::Operation } else { unit };
    parts.push(rate(per_second(unit.done(&interval.clients), interval.length_ns), unit));
    let p99 = interval.clients.values().map(|summary| summary.response.p99_ns).max();
    if let Some(p99) = p99.filter(|p99| *p99 > 0) {
        parts.push(format!("p99 {}", Nanos(p99)));
    }
    parts.extend(total_counts(&interval.clients).failures_phrase());
    if let Some(invalid) = &interval.invalid {
        parts.push(format!("invalid: {}", invalid.cause.phrase()));
    }
    if interval.is_warmup {
        parts.push("(warm-up)".to_owned());
    }
    parts.join("  ")
}

/// Describes a probe: `probe 5 (bisect, 2 clients)`.
fn probe_label(number: u32, purpose: &str, clients: u32) -> String {
    format!("probe {number} ({purpose}, {})", model::units::clients(clients))
}

/// Returns a finished probe in one line: its figures, or why it has none.
fn probe_line(run: &str, step: &Step, probe: &ProbeRecord) -> String {
    let label = probe_label(probe.number, probe.purpose.name(), probe.clients);
    let found = match probe.outcome {
        Outcome::Invalid => probe.reason.clone(),
        Outcome::Passed | Outcome::Failed | Outcome::Undecided => {
            let per_s = probe.offered_ops_per_s.unwrap_or(probe.throughput_ops_per_s);
            let (p99, outcome) = (Nanos(probe.response.p99_ns), probe.outcome.name());
            format!("{}, p99 {p99}, {outcome}", rate(per_s, OpUnit::Operation))
        }
    };
    format!("{run}  {}  {label}: {found}", step.name)
}

/// Returns the rate that a probe confirmed, per second.
fn confirmed_rate(probe: &ProbeRecord) -> Option<f64> {
    let has_confirmed = (probe.purpose, probe.outcome) == (Purpose::Confirm, Outcome::Passed);
    probe.offered_ops_per_s.filter(|_| has_confirmed)
}

/// Returns the end of an incomplete run in one line, with what its search had confirmed.
fn end_line(run: &str, end: &RunEnd, confirmed: Option<f64>) -> String {
    let confirmed = confirmed.map_or_else(String::new, |per_s| {
        format!("; highest rate confirmed so far {}", rate(per_s, OpUnit::Operation))
    });
    format!("{run}  {}{confirmed}", end.phrase())
}

/// Returns a finished step in one line: rates and times of valid intervals.
///
/// A known number of rows is done by the whole step, in invalid intervals too. A finding about the
/// host that `of_host` has already is left out.
fn step_line(run: &str, step: &StepRecord, of_host: &mut BTreeSet<&'static str>) -> String {
    let name = &step.step.name;
    let (clients, span) = match &step.invalid_intervals {
        Some(invalid_intervals) => (&invalid_intervals.valid, invalid_intervals.valid_ns),
        None => (&step.clients, step.duration_ns),
    };
    let mut parts = vec![format!("{run}  {name}")];
    if let Some(arrivals) = &step.arrivals {
        let offered = per_second(arrivals.offered, step.duration_ns);
        parts.push(format!("offered {}", rate(offered, OpUnit::Operation)));
    }
    let unit = step.step.unit;
    let (of, over) = match unit {
        OpUnit::Rows(_) => (&step.clients, step.duration_ns),
        OpUnit::Operation | OpUnit::Row => (clients, span),
    };
    let done = unit.done(of);
    // Without a valid interval there is no rate, though an operation that spans one may count.
    if done > 0 && over > Nanos(0) {
        parts.push(rate(per_second(done, over), unit));
        let slowest = clients.values().max_by_key(|summary| summary.response.p99_ns);
        if let Some(summary) = slowest {
            let times = &summary.response;
            parts.push(format!(
                "p50 {}  p99 {}  max {}",
                Nanos(times.p50_ns),
                Nanos(times.p99_ns),
                Nanos(times.max_ns)
            ));
        }
    }
    parts.extend(total_counts(&step.clients).failures_phrase());
    if let Some(rate) = step.writer_bytes_per_s {
        parts.push(format!("writer {}/s", Bytes(whole(rate))));
    }
    if let Some(settle) = &step.settle {
        parts.push(format!("settled in {}", settle.took_ns));
    }
    // A search without a result has a finding.
    if let Some(search) = step.search.as_ref().filter(|search| search.found.is_some()) {
        parts.push(search.ended.clone());
    }
    for finding in &step.findings {
        let mut evidence = finding.evidence.as_str();
        if let Some(code) = OF_HOST.into_iter().find(|code| *code == finding.code) {
            if !of_host.insert(code) {
                continue;
            }
            evidence = evidence.split("; ").next().unwrap_or_default();
        }
        parts.push(format!("{} {evidence}", finding.code));
    }
    parts.join("  ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use model::record::{FailureClass, Finding, OpCounts, Percentiles, Severity};
    use model::validity::{InvalidCause, InvalidIntervals, InvalidReason};
    use model::{Load, OpKind};

    use super::*;

    fn step() -> Step {
        Step {
            clients: 2,
            load: Load::FindClients,
            ..Step::new("readrandom", StopRule::Duration(Nanos::from_secs(5)))
        }
    }

    fn interval(done: u64, p99_ns: u64) -> IntervalRecord {
        let mut summary = model::record::OpSummary {
            counts: OpCounts { done, ..OpCounts::default() },
            ..model::record::OpSummary::default()
        };
        summary.response.p99_ns = p99_ns;
        IntervalRecord {
            step_index: 0,
            step: "readrandom".to_owned(),
            is_warmup: false,
            start_ns: Nanos(0),
            length_ns: Nanos::SECOND,
            clients: [(OpKind::Get, summary)].into(),
            writers: BTreeMap::new(),
            probe: None,
            invalid: None,
            start_lag: None,
            within_limit: None,
            spanning: Vec::new(),
            readings: model::Readings::new(),
            tables: model::TableReadings::new(),
        }
    }

    #[test]
    fn live_line_templates_are_valid() {
        drop(Lines::new());
    }

    #[test]
    fn second_line_shows_probe_offered_rate_and_throughput() {
        let mut second = interval(151_000, 14_100);
        assert_eq!(second_text(OpUnit::Operation, None, &second), "151 k/s  p99 14.1 us");
        second.readings.set(metric::OFFERED_OPS, 152_000.0);
        let evidence = "steal".to_owned();
        second.invalid = Some(InvalidReason { cause: InvalidCause::Steal, evidence });
        let probe = ProbeBegins {
            number: 5,
            purpose: Purpose::Bisect,
            clients: 2,
            offered_ops_per_s: Some(152_000.0),
            length: Nanos::from_secs(5),
        };
        assert_eq!(
            second_text(OpUnit::Operation, Some(probe), &second),
            "probe 5 (bisect, 2 clients)  offered 152 k/s  151 k/s  p99 14.1 us  \
             invalid: another guest took the CPU"
        );
    }

    /// Goal: numerator and denominator of a rate are of the same time.
    /// Method: 400,000 rows of an index in 6 s, of which the last one is invalid.
    #[test]
    fn known_number_of_rows_is_divided_by_the_whole_time() {
        let mut built = Step::new("index", StopRule::Operations(1));
        built.unit = OpUnit::Rows(400_000);
        let mut step = StepRecord::new(0, built);
        step.duration_ns = Nanos::from_secs(6);
        step.clients = interval(1, 5_990_000_000).clients;
        step.invalid_intervals = Some(InvalidIntervals {
            intervals: 1,
            of_intervals: 6,
            causes: vec![(InvalidCause::Steal, 1)],
            valid_ns: Nanos::from_secs(5),
            valid: step.clients.clone(),
            within_limit: None,
        });
        let line = step_line("a.c1.r1", &step, &mut BTreeSet::new());
        assert!(line.contains("66.7 k rows/s"), "{line}");
        step.step.unit = OpUnit::Operation;
        assert!(
            step_line("a.c1.r1", &step, &mut BTreeSet::new()).contains("0.2"),
            "{}",
            step_line("a.c1.r1", &step, &mut BTreeSet::new())
        );
    }

    /// Goal: an operation that counts although all intervals are invalid makes no rate.
    #[test]
    fn step_without_a_valid_interval_has_no_rate() {
        let mut record = StepRecord::new(0, step());
        record.duration_ns = Nanos::from_secs(6);
        record.invalid_intervals = Some(InvalidIntervals {
            intervals: 6,
            of_intervals: 6,
            causes: vec![(InvalidCause::Steal, 6)],
            valid_ns: Nanos(0),
            valid: interval(1, 253_000).clients,
            within_limit: None,
        });
        assert_eq!(step_line("a.c1.r1", &record, &mut BTreeSet::new()), "a.c1.r1  readrandom");
    }

    #[test]
    fn failed_operations_are_shown_by_class() {
        let mut second = interval(151_000, 14_100);
        let counts = &mut second.clients.get_mut(&OpKind::Get).unwrap().counts;
        (counts.failed, counts.replacing) = (2, 1);
        counts.failures.add(FailureClass::LostConnection);
        counts.failures.add(FailureClass::Deadlock);
        let failures = "2 failed: 1 lost connection, 1 deadlock; 1 done in their place";
        let line = second_text(OpUnit::Operation, None, &second);
        assert_eq!(line, format!("151 k/s  p99 14.1 us  {failures}"));
        let mut step = StepRecord::new(0, step());
        step.clients = second.clients;
        assert!(step_line("a.c1.r1", &step, &mut BTreeSet::new()).contains(failures));
    }

    #[test]
    fn finding_about_the_host_is_shown_once_and_without_its_details() {
        let mut record = StepRecord::new(0, step());
        for code in [rule_code::A021, rule_code::A041] {
            record.findings.push(Finding {
                code: code.to_owned(),
                severity: Severity::Warning,
                evidence: "evidence; details".to_owned(),
                remedy: String::new(),
            });
        }
        let mut of_host = BTreeSet::new();
        let first = step_line("a.c1.r1", &record, &mut of_host);
        assert_eq!(first, "a.c1.r1  readrandom  A021 evidence  A041 evidence; details");
        let second = step_line("a.c1.r2", &record, &mut of_host);
        assert_eq!(second, "a.c1.r2  readrandom  A041 evidence; details");
    }

    fn probe() -> ProbeRecord {
        let times = Percentiles { p99_ns: 400_000, ..Percentiles::default() };
        ProbeRecord {
            number: 5,
            purpose: Purpose::Bisect,
            clients: 1,
            offered_ops_per_s: Some(41_200.0),
            throughput_ops_per_s: 41_190.0,
            goodput_ops_per_s: 41_150.0,
            late_share: 0.000_4,
            late_interval: (0.000_3, 0.000_5),
            response: times,
            service: times,
            duration_ns: Nanos::from_secs(5),
            debt_bytes: None,
            settle_time_ns: Nanos(0),
            outcome: Outcome::Passed,
            reason: String::new(),
        }
    }

    #[test]
    fn end_of_a_run_shows_the_rate_confirmed_before() {
        let of = |probe: ProbeRecord| {
            let end = RunEnd::Interrupted { step: "readrandom".to_owned() };
            end_line("a.c1.r1", &end, confirmed_rate(&probe))
        };
        let end = "a.c1.r1  interrupted in readrandom";
        assert_eq!(of(probe()), end);
        let confirming = ProbeRecord { purpose: Purpose::Confirm, ..probe() };
        let line = of(confirming.clone());
        assert_eq!(line, format!("{end}; highest rate confirmed so far 41.2 k/s"));
        assert_eq!(of(ProbeRecord { outcome: Outcome::Undecided, ..confirming }), end);
    }

    #[test]
    fn probe_line_shows_rate_p99_and_outcome() {
        let probe = probe();
        assert_eq!(
            probe_line("a.c1.r1", &step(), &probe),
            "a.c1.r1  readrandom  probe 5 (bisect, 1 client): 41.2 k/s, p99 400 us, passed"
        );
        let closed = ProbeRecord { offered_ops_per_s: None, ..probe };
        let line = probe_line("a.c1.r1", &step(), &closed);
        assert!(line.ends_with(": 41.2 k/s, p99 400 us, passed"), "{line}");
        let reason = "the client was late: 1 interval is invalid".to_owned();
        let invalid = ProbeRecord { outcome: Outcome::Invalid, reason, ..closed };
        let line = probe_line("a.c1.r1", &step(), &invalid);
        assert!(line.ends_with("): the client was late: 1 interval is invalid"), "{line}");
    }
}
