//! The parent process: watches one worker, takes readings, writes the record.

use std::collections::BTreeMap;
use std::path::PathBuf;

use archive::{ArchiveError, RunWriter};
use engine::join_data_set;
use load::{Clock, SteadyClock, StepEnd, thread_run_queue};
use model::record::{ClockRecord, total_counts};
use model::validity::SearchRecord;
use model::{EngineState, RunEnd, RunRecord, StepRecord, StepRole};

use super::accumulator::StepAccumulator;
use super::data::RunData;
use super::hosting::Host;
use super::memory::MemoryWatch;
use super::profiling::RunProfiler;
use super::server_events::ServerEvents;
use super::wait::Wait;
use super::warning::invalid;
use super::watch::{Alarm, Phase, Watch};
use super::workbench::{Progress, Workbench};
use super::worker_group::Lost;
use super::workers::{RunEvent, Workers};
use crate::message::{Command, IntervalMessage, Message, Opened, StepEnds};

/// Why a run ends whose worker names its engine's files anew.
const TWICE: &str = "the worker opened its engine twice";

/// One run under supervision.
pub(crate) struct Supervisor<'a> {
    pub(super) bench: &'a Workbench<'a>,
    pub(super) workers: Workers<'a>,
    /// Ended after the worker, and before its data are removed.
    pub(super) host: Host,
    /// Facts about the engine's host.
    pub(super) facts: BTreeMap<String, String>,
    pub(super) data: &'a RunData,
    pub(super) memory: MemoryWatch,
    /// Records CPU profiles, where the experiment has them.
    pub(super) profiler: Option<RunProfiler>,
    pub(super) clock: &'a SteadyClock,
    pub(super) writer: RunWriter,
    pub(super) record: RunRecord,
    pub(super) accumulator: StepAccumulator<'a>,
    pub(super) watch: Watch,
    pub(super) steps: Vec<model::Step>,
    pub(super) roles: Vec<StepRole>,
    /// The steps of this worker: the first, and the one after the last.
    pub(super) range: (usize, usize),
    /// Ends of the names of files that the engine never rewrites; `None` until it is open.
    pub(super) immutable: Option<Vec<String>>,
    pub(super) engine_files: Vec<PathBuf>,
    pub(super) end: Option<RunEnd>,
    /// The events of the current step.
    pub(super) server_events: ServerEvents,
    pub(super) is_closed: bool,
    /// Its last message breaks off.
    pub(super) is_torn: bool,
}

/// What a worker leaves: the record, complete or still running, and where it is archived.
pub(crate) struct Supervised {
    pub(crate) record: RunRecord,
    pub(crate) writer: RunWriter,
    /// Ends of the names of files that the engine never rewrites.
    pub(crate) immutable: Vec<String>,
}

impl Supervisor<'_> {
    /// Watches the worker until it has ended; returns the run's record.
    ///
    /// # Errors
    /// When the archive cannot be written.
    pub(crate) fn run(
        mut self,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Supervised, ArchiveError> {
        loop {
            let wait = Wait::begin(self.clock.now());
            let event = self.workers.receive(self.server_events.wait(self.clock.now()));
            let now = self.clock.now().since(self.workers.take_compared());
            self.accumulator.note_pause(wait.stopped(now, thread_run_queue()));
            match event {
                RunEvent::Message(message) => {
                    let received = self.clock.now();
                    self.handle(*message, progress)?;
                    self.watch.excuse(self.clock.now().since(received));
                }
                RunEvent::Broken(error) => {
                    self.give_up(format!("the worker's messages cannot be trusted: {error}"));
                }
                RunEvent::Silence => {}
                RunEvent::Lost(Lost { host, reason }) => {
                    let step = self.step_name();
                    self.end_with(RunEnd::LostHost { step, host, reason });
                }
                RunEvent::End { is_torn } => {
                    self.is_torn = is_torn;
                    break;
                }
            }
            self.execute_events();
            self.watch();
        }
        self.finish(progress)
    }

    /// Handles one message.
    fn handle(
        &mut self,
        message: Message,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(), ArchiveError> {
        match message {
            Message::Calibrated { calibration } => {
                self.alive();
                self.accumulator.calibrate(&calibration);
                self.record.calibration = Some(calibration);
            }
            Message::Opened(opened) => self.opened(*opened)?,
            Message::Waits { text } => progress(Progress::Waits(self.watch.waits_for(text))),
            Message::Refused { refusal } => self.failed("open".to_owned(), refusal.to_string()),
            Message::StepBegins { index } => self.step_begins(index as usize, progress),
            Message::ProbeBegins(probe) => {
                self.enter(self.host.phase());
                self.accumulator.begin_probe(probe);
            }
            Message::MeasuringBegins { before, is_patient } => {
                self.measuring_begins(*before, is_patient, progress);
            }
            Message::IntervalEnds => {
                self.accumulator.end_interval().unwrap_or_else(|reason| self.give_up(reason));
            }
            Message::Interval(mut interval) => self.interval(&mut interval, progress)?,
            Message::ProbeMeasured { after } => {
                self.enter(self.host.phase());
                let is_invalid = self.accumulator.end_probe(*after);
                self.profiler.iter_mut().for_each(RunProfiler::end);
                self.workers.send(&Command::Classified { is_invalid });
            }
            Message::ProbeEnds { search } => self.probe_ends(&search, progress)?,
            Message::Heartbeat { operations } => self.heartbeat(operations, progress),
            Message::SettleBegins { after } => {
                self.enter(Phase::Engine);
                self.accumulator.begin_settle(*after);
                self.profiler.iter_mut().for_each(RunProfiler::end);
                self.workers.send(&Command::Go);
            }
            Message::EventsAwaited => self.server_events.is_awaited = true,
            Message::Stage { name, is_settle } => self.stage(&name, is_settle, progress),
            Message::StepEnds(ends) => {
                self.profiler.iter_mut().for_each(RunProfiler::end);
                self.enter(self.host.phase());
                self.step_ends(*ends, progress)?;
                self.workers.send(&Command::Go);
            }
            Message::Statements { index, statements } => {
                let steps = self.record.steps.iter_mut();
                if let Some(step) = steps.rev().find(|step| step.index == index) {
                    step.statements = statements;
                    self.writer.write_record(&self.record)?;
                }
            }
            Message::Violated { reason } => {
                let step = self.accumulator.step.name.clone();
                self.end.get_or_insert(RunEnd::FailedCheck { step, reason });
            }
            Message::EngineText { name, text } => {
                let stored = self.writer.keep_engine_text(&name, &text);
                self.note(stored);
            }
            Message::Closed { clock } => self.closed(clock),
            // Sent in smoke tests only, or between workers on several hosts.
            Message::SmokeTested { .. }
            | Message::Machine { .. }
            | Message::Pong { .. }
            | Message::Ready => {}
        }
        Ok(())
    }

    /// Begins the measured span of a step or probe.
    fn measuring_begins(
        &mut self,
        before: EngineState,
        is_patient: bool,
        progress: &mut dyn FnMut(Progress<'_>),
    ) {
        self.profiler.iter_mut().for_each(RunProfiler::begin);
        self.accumulator.begin_span(before);
        let has_clients = self.accumulator.step.stop != model::StopRule::Operations(0);
        let must_end = has_clients && !is_patient;
        self.enter(if must_end { Phase::Clients } else { Phase::Engine });
        self.workers.send(&Command::Go);
        self.server_events.begin(&self.accumulator.step, self.clock.now());
        progress(Progress::Runs(&self.accumulator.step));
    }

    fn heartbeat(&mut self, operations: u64, progress: &mut dyn FnMut(Progress<'_>)) {
        self.watch.heartbeat(operations, self.clock.now());
        if operations > 0 {
            progress(Progress::Runs(&self.accumulator.step));
        }
    }

    /// Notes the begin of a stage between the clients' spans.
    fn stage(&mut self, name: &str, is_settle: bool, progress: &mut dyn FnMut(Progress<'_>)) {
        let text = format!("for `{name}`, as long as the engine works on it");
        self.enter(if is_settle { Phase::Engine } else { self.host.phase() });
        let step = &self.accumulator.step;
        progress(if is_settle { Progress::Stage(step, name) } else { Progress::Begins(&text) });
    }

    /// Notes a failure; the first one stays.
    fn failed(&mut self, step: String, reason: String) {
        self.end.get_or_insert(self.bench.interrupt.end(RunEnd::Failed { step, reason }));
    }

    /// Records the engine's identity, completed by facts of its build and of this host.
    fn opened(&mut self, opened: Opened) -> Result<(), ArchiveError> {
        if self.immutable.is_some() {
            self.give_up(TWICE.to_owned());
            return Ok(());
        }
        self.alive();
        let Opened { mut identity, mut durability, effective_options, keep, immutable, data_set } =
            opened;
        self.immutable = Some(immutable);
        if let Some(cpus) = self.workers.cpus_elsewhere() {
            self.accumulator.set_elsewhere(cpus);
            // A later worker of the run finds its tables by it.
            let joined = data_set.map(|token| join_data_set(&self.data.path, &token));
            if let Some(Err(error)) = joined {
                self.give_up(format!("the data set of the run cannot be stored: {error}"));
            }
            if matches!(self.host, Host::OwnServer(_)) {
                durability.bases.extend(sampler::storage_basis(&self.data.path));
            }
        }
        self.record.durability = Some(durability);
        identity.facts.extend(self.facts.clone());
        if let Some(library) = self.bench.libraries.get(&self.record.variant.name) {
            if library.is_other(&identity) {
                let path = library.path.display();
                let reason =
                    format!("{path} changed after its hash was checked: repeat the command");
                self.end_with(RunEnd::Failed { step: "open".to_owned(), reason });
            }
            library.complete(&mut identity);
        }
        self.record.identity = Some(identity);
        self.record.effective_options = effective_options;
        self.engine_files = keep;
        self.writer.write_record(&self.record)
    }

    /// Notes a clean end; an unreliable clock fails the whole run.
    fn closed(&mut self, clock: ClockRecord) {
        self.is_closed = true;
        if !clock.is_sound {
            let drift = clock.drift_ppm.unwrap_or_default();
            let reason = format!("the clock {} drifted by {drift:.0} ppm", clock.source);
            self.end.get_or_insert(RunEnd::Failed { step: "clock check".to_owned(), reason });
        }
        self.record.clock = Some(clock);
    }

    /// Begins the first step that has not ended; any other is not in order.
    fn step_begins(&mut self, index: usize, progress: &mut dyn FnMut(Progress<'_>)) {
        let next = self.next_step();
        let Some(step) = self.steps.get(index).filter(|_| index == next) else {
            return self.give_up(format!("the worker began step {index} instead of step {next}"));
        };
        let step = step.clone();
        self.enter(self.host.phase());
        self.accumulator.begin_step(index, step);
        progress(Progress::StepBegins(&self.accumulator.step));
    }

    /// Archives one interval and shows it.
    fn interval(
        &mut self,
        message: &mut IntervalMessage,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(), ArchiveError> {
        let recorded = match self.accumulator.interval(message) {
            Ok(recorded) => recorded,
            Err(reason) => {
                self.give_up(reason);
                return Ok(());
            }
        };
        let record = &recorded.record;
        if total_counts(&record.clients).done + total_counts(&record.writers).done > 0 {
            self.alive();
        }
        self.writer.append_interval(record)?;
        self.keep_histograms(&recorded)?;
        let probe = self.accumulator.probe();
        progress(Progress::Second(&self.accumulator.step, probe, record));
        Ok(())
    }

    /// Archives a search so far and shows its last probe.
    fn probe_ends(
        &mut self,
        search: &SearchRecord,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(), ArchiveError> {
        self.enter(self.host.phase());
        if self.accumulator.take_search(search) {
            self.profiler.iter_mut().for_each(RunProfiler::confirm);
        }
        let step = &self.accumulator.step;
        self.writer.write_search(&format!("{}.{}", self.accumulator.index, step.name), search)?;
        if let Some(probe) = search.probes.last() {
            progress(Progress::ProbeEnds(step, probe));
        }
        Ok(())
    }

    /// Archives a finished step and shows it.
    ///
    /// A step that was stopped or failed gets no summary: its measurements are in its intervals,
    /// and a search's in its file.
    fn step_ends(
        &mut self,
        ends: StepEnds,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(), ArchiveError> {
        let (index, next) = (ends.index as usize, self.next_step());
        if index != next {
            self.give_up(format!("the worker ended step {index} instead of step {next}"));
            return Ok(());
        }
        let step = self.accumulator.step.name.clone();
        match ends.end {
            StepEnd::Finished => {}
            StepEnd::Stopped => {
                self.end.get_or_insert(RunEnd::Interrupted { step });
                return Ok(());
            }
            StepEnd::Failed { reason } => {
                self.failed(step, reason);
                return Ok(());
            }
            StepEnd::Wrong { reason } => {
                self.end.get_or_insert(RunEnd::FailedCheck { step, reason });
                return Ok(());
            }
        }
        self.keep_censored(&ends)?;
        let is_search = ends.search.is_some();
        self.accumulator.events = self.server_events.records(&self.accumulator.step, &ends);
        match self.accumulator.end_step(ends) {
            Ok(mut record) => {
                if let Some(profiler) = &mut self.profiler {
                    profiler.end_step(record.index, is_search);
                }
                record.role = self.roles.get(self.accumulator.index).copied();
                if next + 1 == self.range.1 {
                    progress(Progress::Begins("for the sync of the data"));
                    record.synced = self.accumulator.sync(&self.data.path, &self.bench.interrupt);
                }
                // The first invalid step gives the reason.
                self.record.invalid = self.record.invalid.take().or_else(|| invalid(&record));
                self.record.steps.push(record);
            }
            Err(reason) => {
                self.give_up(reason);
                return Ok(());
            }
        }
        self.writer.write_record(&self.record)?;
        let step = self.record.steps.last().expect("one was just pushed");
        progress(Progress::StepEnds(step));
        Ok(())
    }

    /// Checks the server, Ctrl-C, the disk and the watchdog.
    fn watch(&mut self) {
        let step = self.step_name();
        let is_exit = !self.watch.is_over && !self.server_events.may_end_server();
        let exit = is_exit.then(|| self.host.exit_of_server(&step)).flatten();
        if let Some(end) = exit {
            // The server's exit is the cause of a failure the worker reports.
            self.end.take_if(|end| matches!(end, RunEnd::Failed { .. }));
            return self.end_with(end);
        }
        let settle_cap = self.accumulator.step.settle_cap;
        let Some(alarm) = self.watch.check(self.bench, settle_cap, self.clock.now()) else {
            return;
        };
        match alarm {
            Alarm::Stop => self.workers.send(&Command::Stop),
            Alarm::StopNow => self.end_with(RunEnd::Interrupted { step }),
            Alarm::DiskFloor(free_bytes) => self.end_with(RunEnd::DiskFloor { step, free_bytes }),
            Alarm::Hung(waited_ns) => {
                let lock_wait = std::mem::take(&mut self.watch.lock_wait);
                let last_line = String::new();
                self.end_with(RunEnd::Hung { step, waited_ns, last_line, lock_wait });
            }
        }
    }

    /// Kills the worker; the first reason for the run's end stays.
    pub(super) fn end_with(&mut self, end: RunEnd) {
        self.end.get_or_insert(self.bench.interrupt.end(end));
        self.watch.is_over = true;
        self.workers.kill();
    }

    /// Ends a run whose worker reports what cannot be.
    fn give_up(&mut self, reason: String) {
        self.end_with(RunEnd::Failed { step: self.step_name(), reason });
    }

    fn alive(&mut self) {
        self.watch.alive(self.clock.now());
    }

    fn enter(&mut self, phase: Phase) {
        self.watch.enter(phase, self.clock.now());
    }

    /// Returns the position of the step that is to begin or to end.
    pub(super) fn next_step(&self) -> usize {
        let before = |step: &&StepRecord| (step.index as usize) < self.range.0;
        self.range.0 + self.record.steps.len() - self.record.steps.iter().filter(before).count()
    }

    /// Returns the current step's name, `open` before the first and `close` after the last.
    pub(super) fn step_name(&self) -> String {
        if self.immutable.is_none() {
            return "open".to_owned();
        }
        if self.next_step() == self.range.1 {
            return "close".to_owned();
        }
        self.accumulator.step.name.clone()
    }
}
