//! Turns the messages of several workers into the messages of one worker.
//!
//! The first worker runs every step; the others run those that all share. In a shared step each
//! message about the step is passed on once all workers have sent theirs. Nothing here knows
//! connections or clocks.

use std::collections::{BTreeSet, VecDeque};

use load::StepEnd;
use model::EngineState;
use model::record::ClockRecord;
use model::validity::Calibration;

use super::merge;
use crate::message::{IntervalMessage, Message, Opened, StepEnds};

/// Most intervals of one worker that wait for another: one a second, of a stall of hours.
const INTERVALS_MAX: usize = 10_000;

/// What follows from a message.
#[derive(Debug)]
pub(super) enum Act {
    /// The supervisor gets a message.
    Emit(Merged),
    /// This worker goes on.
    Go(usize),
    /// The other workers open the engine, whose data set has this name.
    Join(Option<String>),
    /// Every client has its session: these workers get the time at which they begin.
    Start(Vec<usize>),
    /// All clients have ended: the clocks are compared again.
    Compare,
    /// A worker has failed: the others stop.
    Stop,
    /// The first worker has ended: the others are not needed any more.
    Dismiss,
}

/// A message as of one worker.
#[derive(Debug)]
pub(super) struct Merged {
    pub(super) message: Box<Message>,
    /// Whether the reply to it is for all workers; else it is for the first.
    pub(super) is_of_all: bool,
}

/// What has come from one worker and was not passed on.
#[derive(Debug, Default)]
struct Pending {
    calibration: Option<Calibration>,
    opened: Option<Box<Opened>>,
    /// Position of the step that it has begun.
    begun: Option<u32>,
    /// The message that its measured span begins.
    measuring: Option<Message>,
    is_ready: bool,
    interval_ends: usize,
    intervals: VecDeque<IntervalMessage>,
    operations: u64,
    /// The state of the engine when the clients had ended, if a settle follows.
    settle: Option<EngineState>,
    /// Its clients have ended: nothing waits for it.
    has_ended: bool,
    step_ends: Option<StepEnds>,
    clock: Option<ClockRecord>,
}

/// The messages of the workers of one run.
pub(super) struct LockStep {
    /// Names of the client hosts.
    hosts: Vec<String>,
    /// Positions of the shared steps.
    shared: BTreeSet<u32>,
    index: u32,
    pending: Vec<Pending>,
    has_begun: bool,
    is_compared: bool,
}

impl LockStep {
    pub(super) fn new(hosts: &[String], shared: BTreeSet<u32>) -> Self {
        Self {
            pending: hosts.iter().map(|_| Pending::default()).collect(),
            hosts: hosts.to_vec(),
            shared,
            index: 0,
            has_begun: false,
            is_compared: false,
        }
    }

    /// Returns the position of the step in progress.
    pub(super) const fn index(&self) -> u32 {
        self.index
    }

    /// Returns whether a worker has sent its last message.
    pub(super) fn is_closed(&self, worker: usize) -> bool {
        self.pending[worker].clock.is_some()
    }

    fn has_others(&self) -> bool {
        self.pending.len() > 1
    }

    fn is_shared(&self) -> bool {
        self.has_others() && self.shared.contains(&self.index)
    }

    fn all(&self, test: impl Fn(&Pending) -> bool) -> bool {
        self.pending.iter().all(test)
    }

    /// Returns whether something has come from each worker whose clients have not ended, and from
    /// one at least.
    fn is_due(&self, test: impl Fn(&Pending) -> bool) -> bool {
        self.pending.iter().any(&test) && self.all(|one| one.has_ended || test(one))
    }

    /// Takes a message of a worker; returns what follows, in order.
    ///
    /// # Errors
    /// A text when a worker sends what is not in order, or a histogram does not decode.
    pub(super) fn add(&mut self, worker: usize, message: Message) -> Result<Vec<Act>, String> {
        let is_shared = self.is_shared();
        let one = &mut self.pending[worker];
        match message {
            Message::Calibrated { calibration } => {
                one.calibration = Some(calibration);
                Ok(Vec::new())
            }
            Message::Opened(opened) => Ok(self.opened(worker, opened)),
            Message::StepBegins { index } => self.step_begins(worker, index),
            Message::Closed { clock } => Ok(self.closed(worker, clock)),
            Message::Refused { .. } | Message::Waits { .. } => Ok(vec![emit(message, false)]),
            message if !is_shared => Ok(of_first(worker, message)),
            Message::MeasuringBegins { .. } => {
                one.measuring = Some(message);
                self.advance()
            }
            Message::Ready => {
                one.is_ready = true;
                self.advance()
            }
            Message::IntervalEnds => {
                one.interval_ends += 1;
                self.advance()
            }
            Message::Interval(interval) => {
                one.intervals.push_back(*interval);
                match one.intervals.len() {
                    ..=INTERVALS_MAX => self.advance(),
                    count => Err(format!("{count} intervals of a client host wait for another")),
                }
            }
            Message::Heartbeat { operations } => {
                one.operations = operations;
                let operations = self.pending.iter().map(|one| one.operations).sum();
                Ok(vec![emit(Message::Heartbeat { operations }, false)])
            }
            Message::SettleBegins { after } => {
                (one.settle, one.has_ended) = (Some(*after), true);
                self.advance()
            }
            Message::StepEnds(ends) => self.step_ends(worker, *ends),
            Message::Machine { .. }
            | Message::Pong { .. }
            | Message::SmokeTested { .. }
            | Message::ProbeBegins(_)
            | Message::ProbeMeasured { .. }
            | Message::ProbeEnds { .. }
            | Message::EventsAwaited
            | Message::Stage { .. }
            | Message::Statements { .. }
            | Message::Violated { .. }
            | Message::EngineText { .. } => Ok(of_first(worker, message)),
        }
    }

    /// Notes that a worker has opened the engine: the first does so before the others.
    fn opened(&mut self, worker: usize, opened: Box<Opened>) -> Vec<Act> {
        let mut acts = Vec::new();
        if worker == 0 && self.has_others() {
            acts.push(Act::Join(opened.data_set.clone()));
        }
        self.pending[worker].opened = Some(opened);
        if self.all(|one| one.opened.is_some()) {
            let all = self.pending.iter_mut().filter_map(|one| one.calibration.take());
            if let Some(calibration) = merge::calibration(all) {
                acts.push(emit(Message::Calibrated { calibration }, false));
            }
            let opened = self.pending[0].opened.take().map(Message::Opened);
            acts.extend(opened.map(|opened| emit(opened, false)));
            if self.has_others() {
                acts.extend((0..self.pending.len()).map(Act::Go));
            }
        }
        acts
    }

    /// Begins a step: the first worker decides when.
    fn step_begins(&mut self, worker: usize, index: u32) -> Result<Vec<Act>, String> {
        if worker > 0 {
            if index != self.index || !self.is_shared() {
                let host = &self.hosts[worker];
                return Err(format!("client host {host} began step {index} out of order"));
            }
            self.pending[worker].begun = Some(index);
            return self.advance();
        }
        (self.index, self.has_begun, self.is_compared) = (index, false, false);
        for one in &mut self.pending {
            *one = Pending { clock: one.clock.take(), ..Pending::default() };
        }
        self.pending[0].begun = Some(index);
        match self.is_shared() {
            true => Ok((1..self.pending.len()).map(Act::Go).collect()),
            false => Ok(vec![emit(Message::StepBegins { index }, false)]),
        }
    }

    /// Passes on what has come from all workers of a shared step.
    fn advance(&mut self) -> Result<Vec<Act>, String> {
        let mut acts = Vec::new();
        if !self.has_begun && self.all(|one| one.begun == Some(self.index)) {
            self.has_begun = true;
            acts.push(emit(Message::StepBegins { index: self.index }, false));
        }
        if self.is_due(|one| one.measuring.is_some()) {
            // The first worker alone reads the state of the engine.
            let begins = self.pending.iter_mut().filter_map(|one| one.measuring.take());
            let begins = begins.collect::<Vec<_>>().into_iter().next();
            acts.extend(begins.map(|begins| emit(begins, true)));
        }
        if self.is_due(|one| one.is_ready) {
            // A worker whose step has failed waits for another command.
            let ready = self.pending.iter().enumerate().filter(|(_, one)| one.is_ready);
            acts.push(Act::Start(ready.map(|(worker, _)| worker).collect()));
            self.pending.iter_mut().for_each(|one| one.is_ready = false);
        }
        while self.is_due(|one| one.interval_ends > 0) {
            self.pending.iter_mut().for_each(|one| {
                one.interval_ends = one.interval_ends.saturating_sub(1);
            });
            acts.push(emit(Message::IntervalEnds, false));
        }
        // Clients may end in different intervals.
        while self.is_due(|one| !one.intervals.is_empty()) {
            let oldest = self.pending.iter_mut().filter_map(|one| one.intervals.pop_front());
            let merged = merge::interval(oldest.collect())?;
            acts.push(emit(Message::Interval(Box::new(merged)), false));
        }
        if self.all(|one| one.has_ended) {
            acts.extend((!self.is_compared).then_some(Act::Compare));
            self.is_compared = true;
            let settle = self.pending[0].settle.take().map(Box::new);
            acts.extend(settle.map(|after| emit(Message::SettleBegins { after }, false)));
        }
        Ok(acts)
    }

    /// Notes that a worker's step has ended; the others stop if it failed.
    fn step_ends(&mut self, worker: usize, ends: StepEnds) -> Result<Vec<Act>, String> {
        let is_failed = !matches!(ends.end, StepEnd::Finished);
        let one = &mut self.pending[worker];
        (one.step_ends, one.has_ended) = (Some(ends), true);
        let mut acts = self.advance()?;
        if self.all(|one| one.step_ends.is_some()) {
            let ends = self.pending.iter_mut().filter_map(|one| one.step_ends.take());
            let ends = self.hosts.iter().map(String::as_str).zip(ends).collect();
            acts.push(emit(Message::StepEnds(Box::new(merge::step_ends(ends)?)), true));
        } else if is_failed {
            // Before those that wait for a start get it.
            acts.insert(0, Act::Stop);
        }
        Ok(acts)
    }

    /// Notes the last message of a worker; a clock that is not sound counts.
    fn closed(&mut self, worker: usize, clock: ClockRecord) -> Vec<Act> {
        self.pending[worker].clock = Some(clock);
        if self.all(|one| one.clock.is_some()) {
            return self.close();
        }
        // The first worker ends early after a step that failed.
        if worker == 0 { vec![Act::Dismiss] } else { Vec::new() }
    }

    fn close(&self) -> Vec<Act> {
        let clocks = || self.pending.iter().filter_map(|one| one.clock.as_ref());
        let clock = clocks().find(|clock| !clock.is_sound).or_else(|| clocks().next()).cloned();
        clock.map(|clock| emit(Message::Closed { clock }, false)).into_iter().collect()
    }

    /// Waits for no other worker after the first has closed.
    pub(super) fn dismiss(&mut self) -> Vec<Act> {
        let Some(clock) = self.pending[0].clock.clone() else { return Vec::new() };
        let open = self.pending.iter_mut().filter(|one| one.clock.is_none());
        open.for_each(|one| one.clock = Some(clock.clone()));
        self.close()
    }
}

/// Passes on what the first worker reports of the engine; of the others it is known.
fn of_first(worker: usize, message: Message) -> Vec<Act> {
    if worker == 0 { vec![emit(message, false)] } else { Vec::new() }
}

fn emit(message: Message, is_of_all: bool) -> Act {
    Act::Emit(Merged { message: Box::new(message), is_of_all })
}

#[cfg(test)]
#[path = "lock_step_tests.rs"]
mod tests;
