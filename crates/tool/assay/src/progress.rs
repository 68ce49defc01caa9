//! What is shown while runs are made: live lines on a terminal, plain lines elsewhere.

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use load::{Clock, SteadyClock};
use model::{IntervalRecord, Manifest, Nanos, RunRecord, Step, StepRecord, StopRule, Unit};
use report::figure::figure;
use runner::Progress;

use crate::ui::Ui;

/// Draws an experiment's progress.
pub(crate) struct Screen {
    ui: Ui,
    clock: SteadyClock,
    begun: Nanos,
    run_begun: Nanos,
    estimated: Nanos,
    repetitions: u32,
    name: String,
    lines: Option<Lines>,
    run: String,
    number: usize,
    total: usize,
    repetition: u32,
    done: u64,
}

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
        Self {
            ui: *ui,
            begun,
            run_begun: begun,
            clock,
            estimated: manifest.plan.estimated_ns,
            repetitions: experiment.repetitions,
            name: experiment.name.clone(),
            lines: ui.is_live.then(Lines::new),
            run: String::new(),
            number: 0,
            total: 0,
            repetition: 0,
            done: 0,
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
            Progress::StepBegins { step } => {
                self.done = 0;
                if let Some(lines) = &self.lines {
                    lines.bar.reset();
                }
                self.live(step, 0.0, "begins");
            }
            Progress::Stage { step, stage } => self.live(step, 0.0, stage),
            Progress::Second { step, interval, .. } => self.second(step, interval),
            Progress::ProbeEnds { .. } => {}
            Progress::StepEnds { step, .. } => self.line(&step_line(&self.run, step)),
            Progress::RunEnds { run } => self.run_ends(run),
        }
    }

    /// Clears the live lines.
    pub(crate) fn close(&self) {
        if let Some(lines) = &self.lines {
            lines.head.finish_and_clear();
            lines.bar.finish_and_clear();
        }
    }

    fn head(&self) {
        let place = format!(
            "run {} of {} \u{b7} repetition {} of {} \u{b7} {} left",
            self.number,
            self.total,
            self.repetition,
            self.repetitions,
            self.left()
        );
        match &self.lines {
            Some(lines) => lines.head.set_message(format!("Assay {}   {place}", self.name)),
            None => self.ui.remark(format_args!("{}  {place}", self.run)),
        }
    }

    /// Returns the time left: by the pace of the finished runs, by the estimate before that.
    fn left(&self) -> Nanos {
        let finished = self.number.saturating_sub(1) as u64;
        let now = self.clock.now();
        match self.run_begun.since(self.begun).0.checked_div(finished) {
            Some(per_run) => {
                let to_do = Nanos(per_run * (self.total as u64 - finished));
                to_do.since(now.since(self.run_begun))
            }
            None => self.estimated.since(now.since(self.begun)),
        }
    }

    fn second(&mut self, step: &Step, interval: &IntervalRecord) {
        let done: u64 = interval.clients.values().map(|summary| summary.counts.done).sum();
        self.done += done;
        #[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
        let rate = done as f64 / interval.length_ns.as_secs_f64().max(1e-9);
        #[expect(clippy::cast_precision_loss, reason = "shown as a bar")]
        let share = match step.stop {
            StopRule::Operations(all) => self.done as f64 / all.max(1) as f64,
            StopRule::Duration(span) => {
                let at = interval.start_ns.after(interval.length_ns).as_secs_f64();
                at / span.after(step.warmup).as_secs_f64()
            }
        };
        let p99 = interval.clients.values().map(|summary| summary.response.p99_ns).max();
        let mut text = format!("{}/s", figure(Unit::Count, rate));
        if let Some(p99) = p99.filter(|p99| *p99 > 0) {
            text = format!("{text}  p99 {}", Nanos(p99));
        }
        if interval.is_warmup {
            text.push_str("  (warm-up)");
        }
        self.live(step, share, &text);
    }

    fn live(&self, step: &Step, share: f64, text: &str) {
        let Some(lines) = &self.lines else { return };
        #[expect(clippy::cast_possible_truncation, reason = "clamped")]
        #[expect(clippy::cast_sign_loss, reason = "clamped")]
        let position = (share.clamp(0.0, 1.0) * 1000.0) as u64;
        lines.bar.set_prefix(format!("{}  {}", self.run, step.name));
        lines.bar.set_message(text.to_owned());
        lines.bar.set_position(position);
        self.head();
    }

    fn run_ends(&self, run: &RunRecord) {
        if !run.end.is_complete() {
            self.line(&format!("{}  {}", run.cell.id, run.end.phrase()));
        }
    }

    /// Prints a line that stays.
    fn line(&self, text: &str) {
        let printed = self.lines.as_ref().map(|lines| lines.all.println(text));
        if !matches!(printed, Some(Ok(()))) {
            self.ui.remark(text);
        }
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

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is a constant that is tested")
}

/// Returns a finished step in one line.
fn step_line(run: &str, step: &StepRecord) -> String {
    let name = &step.step.name;
    let done: u64 = step.clients.values().map(|summary| summary.counts.done).sum();
    let mut parts = vec![format!("{run}  {name}")];
    if done > 0 {
        #[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
        let rate = done as f64 / step.duration_ns.as_secs_f64().max(1e-9);
        parts.push(format!("{}/s", figure(Unit::Count, rate)));
        let slowest = step.clients.values().max_by_key(|summary| summary.response.p99_ns);
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
    if let Some(rate) = step.writer_bytes_per_s {
        parts.push(format!("writer {:.2} MiB/s", rate / 1_048_576.0));
    }
    if let Some(settle) = &step.settle {
        parts.push(format!("settled in {}", settle.took_ns));
    }
    for finding in &step.findings {
        parts.push(format!("{} {}", finding.code, finding.seen));
    }
    parts.join("  ")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_templates_of_the_live_lines_are_valid() {
        drop(super::Lines::new());
    }
}
