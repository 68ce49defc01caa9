//! The child half: executes one run's order and tells the parent what happens.

use std::collections::BTreeSet;
use std::io::{BufRead, Write};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use engine::{Driver, Engine, EngineError, OpenSpec};
use load::{
    Event, GroupRun, LoadError, SteadyClock, StepRun, StopFlag, process_readings, run_step,
};
use model::record::{ClockRecord, SettleRecord};
use model::{DataShape, Load, Nanos, OpKind, Step, StopRule};
use workload::{Group, Presence, Request};

use crate::account::growth;
use crate::message::{Command, IntervalMessage, Library, Message, Order, StepEnd, StepEnds};
use crate::settle::settle;
use crate::tally;

/// How a worker finds the driver of an engine: by name, with its library when it has one.
pub type Registry = dyn Fn(&str, Option<&Library>) -> Result<Box<dyn Driver>, EngineError> + Sync;

/// Length of an interval.
const INTERVAL: Nanos = Nanos::SECOND;
/// Commands that may wait unread; the parent sends one at a time.
const COMMANDS_MAX: usize = 16;

/// Executes the order read from `input`, telling its story to `output`.
///
/// When `input` ends, the parent is gone: the process kills itself, whatever the engine is doing,
/// so that no run outlives its record.
///
/// # Errors
/// A text for the parent's eyes when the order cannot be read or the pipe breaks.
pub fn work(
    input: impl BufRead + Send + 'static,
    output: impl Write + Send,
    registry: &Registry,
) -> Result<(), String> {
    let stop = StopFlag::default();
    let (orders, goes) = listen(input, stop.clone());
    let Ok(order) = orders.recv() else { return Err("no order came".to_owned()) };
    let clock = SteadyClock::calibrate();
    let mut worker = Worker { output: Mutex::new(output), goes, stop, clock: &clock };
    worker.run(&order, registry)
}

/// Reads commands on a thread of its own, so that a stop is heard while the engine works.
fn listen(
    input: impl BufRead + Send + 'static,
    stop: StopFlag,
) -> (Receiver<Box<Order>>, Receiver<()>) {
    let (send_order, orders) = sync_channel(1);
    let (send_go, goes) = sync_channel(COMMANDS_MAX);
    thread::spawn(move || {
        for line in input.lines() {
            let Ok(line) = line else { break };
            // A send fails only when the worker is ending; there is nobody left to tell.
            match serde_json::from_str(&line) {
                Ok(Command::Run(order)) => drop(send_order.send(order)),
                Ok(Command::Go) => drop(send_go.send(())),
                Ok(Command::Stop) => {
                    stop.set();
                }
                Err(_unknown) => break,
            }
        }
        let me = rustix::process::getpid();
        rustix::process::kill_process(me, rustix::process::Signal::KILL)
            .expect("a process may kill itself");
    });
    (orders, goes)
}

/// An open engine, and whether its answers can be checked.
type Opened = (Box<dyn Engine>, bool);

/// One step of a run, with what it needs.
struct At<'a> {
    engine: &'a dyn Engine,
    data: &'a DataShape,
    index: u32,
    step: &'a Step,
    presence: Presence,
    is_checking: bool,
    kinds: BTreeSet<OpKind>,
    seed: u64,
}

/// Returns a step's seed: the run's, moved on for each earlier step of the same name, so that the
/// second does not ask for the keys that the first has just brought into the cache.
fn step_seed(order: &Order, index: u32) -> u64 {
    let name = &order.steps[index as usize].name;
    let earlier = order.steps[..index as usize].iter().filter(|step| step.name == *name).count();
    order.cell.seed.wrapping_add(earlier as u64)
}

/// The state of one run in the child.
struct Worker<'a, W> {
    output: Mutex<W>,
    goes: Receiver<()>,
    stop: StopFlag,
    clock: &'a SteadyClock,
}

impl<W: Write + Send> Worker<'_, W> {
    fn run(&mut self, order: &Order, registry: &Registry) -> Result<(), String> {
        let Some((engine, is_checking)) = self.open(order, registry)? else { return Ok(()) };
        let mut presence = Presence::Some;
        let infos = workload::catalog();
        for (index, step) in (0..).zip(&order.steps) {
            self.say(&Message::StepBegins { index })?;
            let info = infos.iter().find(|info| info.name == step.name);
            let at = At {
                engine: engine.as_ref(),
                data: &order.data,
                index,
                step,
                presence,
                is_checking,
                kinds: info.map(|info| info.needs.clone()).unwrap_or_default(),
                seed: step_seed(order, index),
            };
            let ends = self.step(&at)?;
            let is_finished = ends.end == StepEnd::Finished;
            self.say(&Message::StepEnds(Box::new(ends)))?;
            if let Some(text) = engine.statistics_text() {
                self.say(&Message::EngineText {
                    name: format!("{index}.{}.txt", step.name),
                    text,
                })?;
            }
            self.wait_for_go()?;
            if !is_finished {
                break;
            }
            presence = workload::presence_after(&step.name, presence);
        }
        match engine.close() {
            Ok(()) => self.say(&Message::Closed { clock: self.clock_record() }),
            Err(error) => Err(format!("the engine could not be closed: {error}")),
        }
    }

    /// Opens the engine and says whether its answers can be checked; `None` when it refused, which
    /// has then been told.
    fn open(&self, order: &Order, registry: &Registry) -> Result<Option<Opened>, String> {
        let spec = OpenSpec {
            dir: order.dir.clone(),
            settings: order.variant.settings.clone(),
            options: order.variant.options.clone(),
            data: order.data,
        };
        let opened = registry(&order.variant.build.engine, order.library.as_ref())
            .and_then(|driver| {
                Ok((driver.open(&spec)?, engine::gives_answers(&driver.capabilities())))
            })
            .and_then(|(engine, is_checking)| {
                let identity = engine.identity();
                let effective_options = engine.effective_options()?;
                let keep = engine.own_files();
                Ok((engine, is_checking, Message::Opened { identity, effective_options, keep }))
            });
        match opened {
            Ok((engine, is_checking, message)) => {
                self.say(&message)?;
                Ok(Some((engine, is_checking)))
            }
            Err(EngineError::Option { option, reason }) => {
                self.say(&Message::Refused { option: Some(option), reason })?;
                Ok(None)
            }
            Err(error) => {
                self.say(&Message::Refused { option: None, reason: error.to_string() })?;
                Ok(None)
            }
        }
    }

    /// Executes one step; its failure is part of the answer.
    fn step(&self, at: &At<'_>) -> Result<StepEnds, String> {
        let mut ends = if at.step.stop == StopRule::Operations(0) {
            self.begin_measuring(at)?;
            StepEnds { index: at.index, ..StepEnds::default() }
        } else {
            self.drive(at)?
        };
        let stages = workload::stages(&at.step.name);
        if ends.end == StepEnd::Finished && !stages.is_empty() {
            let before = process_readings();
            match self.settle(at.engine, stages, at.step) {
                Ok(record) => ends.settle = Some(record),
                Err(reason) => ends.end = StepEnd::Failed { reason },
            }
            // The wait belongs to the step that made the work, so its costs do too.
            for (name, grown) in growth(&before, &process_readings()) {
                *ends.growth.entry(name).or_insert(0.0) += grown;
            }
        }
        if let (true, Some(settle)) = (ends.clients.is_empty(), &ends.settle) {
            ends.duration = settle.took_ns;
        }
        if self.stop.is_set() && ends.end == StepEnd::Finished {
            ends.end = StepEnd::Stopped;
        }
        ends.after = at.engine.state().unwrap_or_default();
        Ok(ends)
    }

    /// Runs a step's clients.
    fn drive(&self, at: &At<'_>) -> Result<StepEnds, String> {
        let request = Request {
            step: at.step,
            data: at.data,
            seed: at.seed,
            presence: at.presence,
            group: Group::Clients,
        };
        let group = |group: Group, load: Load| {
            let generators = workload::generators(&Request { group, ..request })
                .map_err(|error| error.to_string())?;
            Ok::<_, String>(GroupRun { generators, load, kinds: at.kinds.clone() })
        };
        let writer_load = workload::writer_load(at.step, at.data).unwrap_or(Load::Closed);
        let mut run = StepRun {
            engine: at.engine,
            clients: group(Group::Clients, at.step.load.clone())?,
            writers: group(Group::Writers, writer_load)?,
            stop: at.step.stop,
            warmup: at.step.warmup,
            interval: INTERVAL,
            is_checking: at.is_checking,
            arrival_seed: at.seed,
            stop_flag: self.stop.clone(),
        };
        let mut told = Ok(());
        let totals = run_step(self.clock, &mut run, &mut |event| {
            if told.is_ok() {
                told = self.tell(at, event);
            }
            if told.is_err() {
                self.stop.set();
            }
        });
        told?;
        Ok(match totals {
            Ok(totals) => tally::step_ends(at.index, &totals),
            Err(error) => {
                let is_stopped = matches!(error, LoadError::Stopped);
                let failed = StepEnd::Failed { reason: error.to_string() };
                let end = if is_stopped { StepEnd::Stopped } else { failed };
                StepEnds { index: at.index, end, ..StepEnds::default() }
            }
        })
    }

    fn settle(
        &self,
        engine: &dyn Engine,
        stages: &[workload::Stage],
        step: &Step,
    ) -> Result<SettleRecord, String> {
        settle(engine, stages, step.settle_cap, self.clock, &mut |stage| {
            let message = match stage {
                Some(name) => Message::Stage { name: name.to_owned() },
                None => Message::Heartbeat { operations: 0 },
            };
            self.say(&message).is_ok() && !self.stop.is_set()
        })
        .map_err(|error| error.to_string())
    }

    /// Tells the parent of an event of the load loop.
    fn tell(&self, at: &At<'_>, event: Event<'_>) -> Result<(), String> {
        match event {
            Event::MeasuringBegins => self.begin_measuring(at),
            Event::Heartbeat { client_operations, .. } => {
                self.say(&Message::Heartbeat { operations: client_operations })
            }
            Event::Interval(interval) => {
                let engine = at.engine.state().map(|state| state.readings).unwrap_or_default();
                let message = IntervalMessage {
                    is_warmup: interval.is_warmup,
                    start: interval.start,
                    length: interval.length,
                    clients: tally::times(&interval.clients),
                    writers: tally::times(&interval.writers),
                    growth: interval.readings.clone(),
                    engine,
                };
                self.say(&Message::Interval(Box::new(message)))
            }
            Event::MeasuringEnds => Ok(()),
        }
    }

    /// Tells the engine's state at the start of the measured span and waits for the parent.
    fn begin_measuring(&self, at: &At<'_>) -> Result<(), String> {
        let before = Box::new(at.engine.state().unwrap_or_default());
        self.say(&Message::MeasuringBegins { before })?;
        self.wait_for_go()
    }

    /// Compares the clock with the kernel's, over the whole of the run.
    fn clock_record(&self) -> ClockRecord {
        let check = self.clock.check();
        ClockRecord { is_sound: check.is_sound(), source: check.source, drift_ppm: check.drift_ppm }
    }

    fn wait_for_go(&self) -> Result<(), String> {
        self.goes.recv().map_err(|_hung_up| "the parent is gone".to_owned())
    }

    /// Writes one message in one line.
    fn say(&self, message: &Message) -> Result<(), String> {
        let mut line = serde_json::to_vec(message).expect("a message is always valid JSON");
        line.push(b'\n');
        let mut output = self.output.lock().map_err(|_poisoned| "a thread panicked".to_owned())?;
        output
            .write_all(&line)
            .and_then(|()| output.flush())
            .map_err(|error| format!("the parent does not read: {error}"))
    }
}
