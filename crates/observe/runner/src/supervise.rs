//! The parent half: watches one worker, takes the readings, keeps the record.

use std::path::PathBuf;

use archive::{HistogramLine, RunWriter};
use load::{Clock, SteadyClock};
use model::record::ClockRecord;
use model::{EngineState, IntervalRecord, Nanos, Readings, RunEnd, RunRecord, StepRecord};

use crate::account::Account;
use crate::data::RunData;
use crate::doubt::doubts;
use crate::experiment::{Progress, WATCH_EVERY, Workbench};
use crate::memory::MemoryWatch;
use crate::message::{Command, IntervalMessage, Message, StepEnd, StepEnds};
use crate::process::{Heard, Process, bad_end};
use crate::stamp::now_utc;
use crate::tally::{self, Told, bytes_per_s, done_of};
use crate::watch::{Alarm, Phase, Watch};

/// One run under supervision.
pub(crate) struct Supervisor<'a> {
    bench: &'a Workbench<'a>,
    process: Process,
    data: RunData,
    memory: MemoryWatch,
    clock: &'a SteadyClock,
    writer: RunWriter,
    record: RunRecord,
    samplers: Vec<Box<dyn sampler::Sampler>>,
    account: Account,
    before: EngineState,
    step: usize,
    measuring_since: String,
    watch: Watch,
    steps: Vec<model::Step>,
    kept_files: Vec<PathBuf>,
    end: Option<RunEnd>,
    is_closed: bool,
}

/// What a supervisor starts from.
pub(crate) struct Start<'a> {
    pub(crate) bench: &'a Workbench<'a>,
    pub(crate) process: Process,
    pub(crate) data: RunData,
    pub(crate) memory: MemoryWatch,
    pub(crate) clock: &'a SteadyClock,
    pub(crate) writer: RunWriter,
    pub(crate) record: RunRecord,
    pub(crate) samplers: Vec<Box<dyn sampler::Sampler>>,
    pub(crate) steps: Vec<model::Step>,
}

impl<'a> Supervisor<'a> {
    pub(crate) fn new(start: Start<'a>) -> Self {
        Self {
            bench: start.bench,
            process: start.process,
            data: start.data,
            memory: start.memory,
            clock: start.clock,
            writer: start.writer,
            record: start.record,
            samplers: start.samplers,
            steps: start.steps,
            account: Account::default(),
            before: EngineState::default(),
            step: 0,
            measuring_since: String::new(),
            watch: Watch::begin(start.clock.now()),
            kept_files: Vec::new(),
            end: None,
            is_closed: false,
        }
    }

    /// Watches the worker until it has ended; returns the run's record.
    ///
    /// # Errors
    /// When the archive cannot be written.
    pub(crate) fn run(
        mut self,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<RunRecord, archive::ArchiveError> {
        self.writer.write_record(&self.record)?;
        loop {
            match self.process.hear(WATCH_EVERY) {
                Heard::Message(message) => self.heard(*message, progress)?,
                Heard::Chatter | Heard::Silence => {}
                Heard::End => break,
            }
            self.watch();
        }
        self.finish(progress)
    }

    /// Takes one message.
    fn heard(
        &mut self,
        message: Message,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(), archive::ArchiveError> {
        match message {
            Message::Opened { identity, effective_options, keep } => {
                self.alive();
                self.record.identity = Some(identity);
                self.record.effective_options = effective_options;
                self.kept_files = keep;
                self.writer.write_record(&self.record)?;
            }
            Message::Refused { option, reason } => {
                let reason = match option {
                    Some(option) => format!("option `{option}`: {reason}"),
                    None => reason,
                };
                self.end = Some(RunEnd::Failed { step: "open".to_owned(), reason });
            }
            Message::StepBegins { index } => {
                self.step = index as usize;
                self.enter(Phase::Engine);
                self.account = Account::begin(self.sample(true));
                progress(Progress::StepBegins { step: self.now_step() });
            }
            Message::MeasuringBegins { before } => self.measuring_begins(*before),
            Message::Interval(interval) => self.interval(&interval, progress)?,
            Message::Heartbeat { operations } => {
                self.watch.heartbeat(operations, self.clock.now());
            }
            Message::Stage { name } => {
                self.enter(Phase::Engine);
                progress(Progress::Stage { step: self.now_step(), stage: &name });
            }
            Message::StepEnds(ends) => {
                self.enter(Phase::Engine);
                self.step_ends(*ends, progress)?;
                self.process.tell(&Command::Go);
            }
            Message::EngineText { name, text } => self.writer.keep_engine_text(&name, &text)?,
            Message::Closed { clock } => self.closed(clock),
        }
        Ok(())
    }

    /// Notes a clean end; a clock that cannot be believed makes the whole run worthless.
    fn closed(&mut self, clock: ClockRecord) {
        self.is_closed = true;
        if !clock.is_sound {
            let drift = clock.drift_ppm.unwrap_or_default();
            let reason = format!("the clock {} drifted by {drift:.0} ppm", clock.source);
            self.end.get_or_insert(RunEnd::Failed { step: "clock check".to_owned(), reason });
        }
        self.record.clock = Some(clock);
    }

    fn measuring_begins(&mut self, before: EngineState) {
        let mut now = self.sample(true);
        now.extend(before.readings.clone());
        self.account = Account::begin(now);
        self.before = before;
        self.measuring_since = now_utc();
        let has_clients = self.now_step().stop != model::StopRule::Operations(0);
        self.enter(if has_clients { Phase::Clients } else { Phase::Engine });
        self.process.tell(&Command::Go);
    }

    /// Keeps one interval and shows it.
    fn interval(
        &mut self,
        told: &IntervalMessage,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(), archive::ArchiveError> {
        let (clients, writers) = match (tally::told(&told.clients), tally::told(&told.writers)) {
            (Ok(clients), Ok(writers)) => (clients, writers),
            (Err(reason), _) | (_, Err(reason)) => {
                self.give_up(reason);
                return Ok(());
            }
        };
        let mut now = self.sample(false);
        now.extend(told.engine.clone());
        let mut readings = self.account.step(&now);
        readings.extend(told.growth.clone());
        let step = self.now_step().name.clone();
        let record = IntervalRecord {
            step_index: u32::try_from(self.step).expect("plans are short"),
            step: step.clone(),
            is_warmup: told.is_warmup,
            start_ns: told.start,
            length_ns: told.length,
            clients: tally::summaries(&clients),
            writers: tally::summaries(&writers),
            probe: None,
            void: None,
            start_lag: None,
            within_limit: None,
            readings,
        };
        let done = done_of(&record.clients);
        if done + done_of(&record.writers) > 0 {
            self.alive();
        }
        let is_whole = told.length.0 >= Nanos::SECOND.0 * 9 / 10;
        if !told.is_warmup && is_whole {
            #[expect(
                clippy::cast_precision_loss,
                reason = "a second's operations are far below 2^53"
            )]
            self.account.second(done as f64 / told.length.as_secs_f64());
        }
        self.writer.append_interval(&record)?;
        for (group, told) in [("", &clients), ("writer.", &writers)] {
            self.keep_histograms(&format!("{}.{step}.{group}", self.step), &record, told)?;
        }
        progress(Progress::Second { step: self.now_step(), interval: &record });
        Ok(())
    }

    fn keep_histograms(
        &mut self,
        tag: &str,
        interval: &IntervalRecord,
        told: &[Told],
    ) -> Result<(), archive::ArchiveError> {
        for told in told {
            self.writer.append_histograms(&HistogramLine {
                tag: &format!("{tag}{}", told.kind),
                start: interval.start_ns,
                length: interval.length_ns,
                response: &told.response,
                service: &told.service,
            })?;
        }
        Ok(())
    }

    /// Keeps a finished step and shows it.
    ///
    /// A step that was stopped or failed gets no summary, which would be taken for the whole: what
    /// was measured of it is in its intervals.
    fn step_ends(
        &mut self,
        ends: StepEnds,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(), archive::ArchiveError> {
        let step = self.now_step().clone();
        match ends.end {
            StepEnd::Finished => {}
            StepEnd::Stopped => {
                self.end.get_or_insert(RunEnd::Interrupted { step: step.name });
                return Ok(());
            }
            StepEnd::Failed { reason } => {
                self.end.get_or_insert(RunEnd::Failed { step: step.name, reason });
                return Ok(());
            }
        }
        let (clients, writers) = match (tally::told(&ends.clients), tally::told(&ends.writers)) {
            (Ok(clients), Ok(writers)) => (tally::summaries(&clients), tally::summaries(&writers)),
            (Err(reason), _) | (_, Err(reason)) => {
                self.give_up(reason);
                return Ok(());
            }
        };
        let mut now = self.sample(true);
        now.extend(ends.after.readings.clone());
        self.account.step(&now);
        let mut counters = self.account.growth(&now);
        counters.extend(ends.growth);
        let writer_bytes_per_s =
            (!writers.is_empty()).then(|| bytes_per_s(&writers, ends.duration));
        let mut record = StepRecord {
            index: ends.index,
            started_at: self.measuring_since.clone(),
            duration_ns: ends.duration,
            clients,
            writers,
            writer_bytes_per_s,
            seconds: self.account.seconds(),
            counters,
            gauges_max: self.account.gauges_max(),
            gauges_end: self.account.gauges_last(),
            before: std::mem::take(&mut self.before),
            after: ends.after,
            settle: ends.settle,
            arrivals: None,
            keeping: None,
            within_limit: None,
            voided: None,
            search: None,
            findings: Vec::new(),
            step,
        };
        record.findings = doubts(&record);
        self.record.steps.push(record);
        self.writer.write_record(&self.record)?;
        let step = self.record.steps.last().expect("one was just pushed");
        progress(Progress::StepEnds { step, run: &self.record });
        Ok(())
    }

    /// Looks at Ctrl-C, the disk and the watchdog.
    fn watch(&mut self) {
        let settle_cap = self.now_step().settle_cap;
        let Some(alarm) = self.watch.look(self.bench, settle_cap, self.clock.now()) else { return };
        let step = self.step_name();
        match alarm {
            Alarm::Stop => self.process.tell(&Command::Stop),
            Alarm::StopNow => self.end_with(RunEnd::Interrupted { step }),
            Alarm::DiskFloor(free_bytes) => self.end_with(RunEnd::DiskFloor { step, free_bytes }),
            Alarm::Hung(waited_ns) => self.end_with(RunEnd::Hung { step, waited_ns }),
        }
    }

    /// Kills the worker; how its run ended is what was seen first.
    fn end_with(&mut self, end: RunEnd) {
        self.end.get_or_insert(end);
        self.watch.over();
        self.process.kill();
    }

    fn give_up(&mut self, reason: String) {
        self.end_with(RunEnd::Crashed { step: self.step_name(), reason });
    }

    fn alive(&mut self) {
        self.watch.alive(self.clock.now());
    }

    fn enter(&mut self, phase: Phase) {
        self.watch.enter(phase, self.clock.now());
    }

    fn now_step(&self) -> &model::Step {
        &self.steps[self.step.min(self.steps.len() - 1)]
    }

    /// Returns the step's name, or the phase around the steps the run is in.
    fn step_name(&self) -> String {
        if self.record.identity.is_none() {
            return "open".to_owned();
        }
        if self.record.steps.len() == self.steps.len() {
            return "close".to_owned();
        }
        self.now_step().name.clone()
    }

    /// Takes the parent's readings; one that fails is absent, as for a metric the host lacks.
    fn sample(&mut self, is_boundary: bool) -> Readings {
        let mut readings = Readings::new();
        for sampler in &mut self.samplers {
            let sampled = if is_boundary { sampler.sample_boundary() } else { sampler.sample() };
            readings.extend(sampled.unwrap_or_default());
        }
        readings
    }

    /// Decides how the run ended, keeps the engine's files and closes the record.
    fn finish(
        mut self,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<RunRecord, archive::ArchiveError> {
        let step = self.step_name();
        for file in &self.kept_files {
            if file.starts_with(&self.data.path) && file.exists() {
                self.writer.keep_engine_file(file)?;
            }
        }
        let (status, said) = self.process.ended();
        if !said.is_empty() {
            self.writer.keep_engine_text("stderr.txt", &said)?;
        }
        let is_all_done = self.is_closed && self.record.steps.len() == self.steps.len();
        self.record.end = match (self.end, bad_end(status, &said)) {
            (Some(end), _) => end,
            (None, Some(_)) if self.memory.has_killed(status) => RunEnd::OutOfMemory { step },
            (None, Some(reason)) => RunEnd::Crashed { step, reason },
            (None, None) if is_all_done => RunEnd::Complete,
            (None, None) => {
                RunEnd::Crashed { step, reason: "it ended before its work was done".to_owned() }
            }
        };
        self.record.ended_at = Some(now_utc());
        self.writer.write_record(&self.record)?;
        progress(Progress::RunEnds { run: &self.record });
        Ok(self.record)
    }
}
