//! The child half: executes one run's order and tells the parent what happens.

use std::io::{BufRead, Write};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use engine::{Driver, Engine, EngineError, OpenSpec};
use load::clock::{Clock, RealClock};
use load::{Event, StepRun, StopFlag, run_step};
use model::record::SettleRecord;
use model::{Load, Nanos, Step};
use workload::{Group, Presence, Request};

use crate::message::{
    Command, IntervalMessage, Library, Message, Order, StepEnd, StepEnds,
};
use crate::settle::settle;
use crate::tally;

/// How a worker finds the driver of an engine: by name, with its library when it has one.
pub type Registry =
    dyn Fn(&str, Option<&Library>) -> Result<Box<dyn Driver>, EngineError> + Sync;

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
    let clock = RealClock::calibrated().map_err(|error| error.to_string())?;
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
                    stop.raise();
                }
                Err(_unknown) => break,
            }
        }
        let me = rustix::process::getpid();
        drop(rustix::process::kill_process(me, rustix::process::Signal::KILL));
    });
    (orders, goes)
}

/// The state of one run in the child.
struct Worker<'a, W> {
    output: Mutex<W>,
    goes: Receiver<()>,
    stop: StopFlag,
    clock: &'a RealClock,
}

impl<W: Write + Send> Worker<'_, W> {
    fn run(&mut self, order: &Order, registry: &Registry) -> Result<(), String> {
        let Some(engine) = self.open(order, registry)? else { return Ok(()) };
        let mut presence = Presence::Some;
        for (index, step) in (0..).zip(&order.steps) {
            self.say(&Message::StepBegins { index })?;
            let ends = self.step(engine.as_ref(), order, index, step, presence)?;
            let is_finished = ends.end == StepEnd::Finished;
            self.say(&Message::StepEnds(Box::new(ends)))?;
            if let Some(text) = engine.statistics_text() {
                self.say(&Message::EngineText { name: format!("{index}.{}.txt", step.name), text })?;
            }
            self.wait_for_go()?;
            if !is_finished {
                break;
            }
            presence = workload::presence_after(&step.name, presence);
        }
        match engine.close() {
            Ok(()) => self.say(&Message::Closed),
            Err(error) => Err(format!("the engine could not be closed: {error}")),
        }
    }

    /// Opens the engine; `None` when it refused, which has then been told.
    fn open(
        &self,
        order: &Order,
        registry: &Registry,
    ) -> Result<Option<Box<dyn Engine>>, String> {
        let spec = OpenSpec {
            dir: order.dir.clone(),
            settings: order.variant.settings.clone(),
            options: order.variant.options.clone(),
            data: order.data,
        };
        let opened = registry(&order.variant.build.engine, order.library.as_ref())
            .and_then(|driver| driver.open(&spec))
            .and_then(|engine| {
                let identity = engine.identity();
                let effective_options = engine.effective_options()?;
                let keep = engine.own_files();
                Ok((engine, Message::Opened { identity, effective_options, keep }))
            });
        match opened {
            Ok((engine, message)) => {
                self.say(&message)?;
                Ok(Some(engine))
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
    fn step(
        &self,
        engine: &dyn Engine,
        order: &Order,
        index: u32,
        step: &Step,
        presence: Presence,
    ) -> Result<StepEnds, String> {
        let mut told = Ok(());
        let usage = load::usage::Usage::now();
        let mut ends = if step.stop == model::StopRule::Operations(0) {
            told = self.begin_measuring(engine, index);
            StepEnds { index, end: StepEnd::Finished, ..StepEnds::default() }
        } else {
            let request =
                Request { step, data: &order.data, seed: order.cell.seed, presence, group: Group::Clients };
            let clients = workload::generators(&request).map_err(|error| error.to_string())?;
            let request = Request { group: Group::Writers, ..request };
            let writers = workload::generators(&request).map_err(|error| error.to_string())?;
            let mut run = StepRun {
                engine,
                clients,
                writers,
                client_load: step.load,
                writer_load: workload::writer_load(step, &order.data).unwrap_or(Load::Closed),
                stop: step.stop,
                warmup: step.warmup,
                interval: INTERVAL,
                stop_flag: self.stop.clone(),
            };
            let totals = run_step(&mut run, &mut |event| {
                if told.is_ok() {
                    told = self.tell(engine, index, event);
                }
                if told.is_err() {
                    self.stop.raise();
                }
            });
            let totals = totals.map_err(|error| error.to_string())?;
            tally::step_ends(index, &totals)
        };
        told?;
        let stages = workload::stages(&step.name);
        if ends.end == StepEnd::Finished && !stages.is_empty() {
            let settled = self.settle(engine, stages, step);
            match settled {
                Ok(record) => ends.settle = Some(record),
                Err(reason) => ends.end = StepEnd::Failed { reason },
            }
        }
        if ends.clients.is_empty() && ends.end == StepEnd::Finished {
            ends.duration = ends.settle.as_ref().map_or(Nanos(0), |settle| settle.took_ns);
            ends.growth = load::usage::Usage::now().growth_since(&usage);
        }
        ends.after = engine.state().unwrap_or_default();
        Ok(ends)
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
            self.say(&message).is_ok() && !self.stop.is_raised()
        })
        .map_err(|error| error.to_string())
    }

    /// Tells the parent of an event of the load loop.
    fn tell(&self, engine: &dyn Engine, index: u32, event: Event<'_>) -> Result<(), String> {
        match event {
            Event::MeasuringBegins => self.begin_measuring(engine, index),
            Event::Heartbeat { operations } => self.say(&Message::Heartbeat { operations }),
            Event::Interval(interval) => {
                let engine = engine.state().map(|state| state.readings).unwrap_or_default();
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
    fn begin_measuring(&self, engine: &dyn Engine, index: u32) -> Result<(), String> {
        let before = Box::new(engine.state().unwrap_or_default());
        self.say(&Message::MeasuringBegins { index, before })?;
        self.wait_for_go()
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
