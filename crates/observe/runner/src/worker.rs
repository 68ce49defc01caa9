//! The child process: executes one run's order and reports to the parent.

use std::io::{BufRead, Write};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use engine::{ApplicationSetup, Driver, Engine, EngineError, OpenSpec};
use load::{SteadyClock, StopFlag, process_readings};
use malloc::{Heap, Tunables};
use model::record::{ClockRecord, SettleRecord};
use model::{DataShape, EngineState, Load, OpKind, Options, Step, StepInfo, StopRule};
use workload::Presence;

use crate::account::growth;
use crate::demand::calibration_of;
use crate::message::{Command, Library, Message, Order, StepEnd, StepEnds};
use crate::row_count_check::RowCountCheck;
use crate::settle::settle;
use crate::tally;
use crate::trial::{StepContext, Trial};

/// Finds an engine's driver by name and, if any, its library.
pub type Registry = dyn Fn(&str, Option<&Library>) -> Result<Box<dyn Driver>, EngineError> + Sync;

/// Commands that may wait unread; the parent sends one at a time.
const COMMANDS_MAX: usize = 16;

/// Executes the order read from `input`, and reports to `output`.
///
/// `tunables` are the environment variables that may tune an allocator.
///
/// When `input` ends, the parent is gone: the process kills itself, so that no run outlives its
/// record.
///
/// # Errors
/// A text for the parent when the order cannot be read or the pipe breaks.
pub fn work(
    input: impl BufRead + Send + 'static,
    output: impl Write + Send,
    registry: &Registry,
    tunables: &Tunables,
) -> Result<(), String> {
    let stop = StopFlag::default();
    let (orders, replies) = listen(input, stop.clone());
    let Ok(order) = orders.recv() else { return Err("no order received".to_owned()) };
    let clock = SteadyClock::calibrate();
    let output = Mutex::new(output);
    let requested = order.variant.settings.allocator;
    let heap = match Heap::expect(requested, order.allocator.as_deref(), tunables) {
        Ok(heap) => heap,
        Err(error) => {
            let (reason, remedy) = (error.to_string(), error.remedy());
            return send_to(&output, &Message::OtherAllocator { reason, remedy });
        }
    };
    let mut worker = Worker { output, replies, stop, clock: &clock, heap, ceiling_ops_per_s: None };
    worker.run(&order, registry)
}

/// Reads commands on a thread of its own, so that a stop works while the engine is busy.
fn listen(
    input: impl BufRead + Send + 'static,
    stop: StopFlag,
) -> (Receiver<Box<Order>>, Receiver<Reply>) {
    let (send_order, orders) = sync_channel(1);
    let (send_reply, replies) = sync_channel(COMMANDS_MAX);
    thread::spawn(move || {
        for line in input.lines() {
            let Ok(line) = line else { break };
            // A send fails only when the worker is ending.
            match serde_json::from_str(&line) {
                Ok(Command::Run(order)) => drop(send_order.send(order)),
                Ok(Command::Go) => drop(send_reply.send(Reply::Go)),
                Ok(Command::Classified { is_invalid }) => {
                    drop(send_reply.send(Reply::Classified(is_invalid)));
                }
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
    (orders, replies)
}

/// An open engine, and whether its answers can be checked.
type Opened = (Box<dyn Engine>, bool);

/// Returns the refusal of keys or values longer than the engine takes.
fn length_refusal(driver: &dyn Driver, data: &DataShape) -> Option<Message> {
    let can = driver.capabilities();
    let lengths = [
        ("key", data.key_bytes, can.key_bytes_max),
        ("value", data.value_bytes, can.value_bytes_max),
    ];
    let found = lengths.into_iter().find(|(_, bytes, most)| most.is_some_and(|most| *bytes > most));
    let (what, bytes, most) = found?;
    let (most, identity) = (most.unwrap_or_default(), driver.identity());
    let (engine, version) = (identity.engine, identity.version);
    Some(Message::TooLong {
        word: format!("{what}_bytes"),
        reason: format!("{what}s of {bytes} bytes: {engine} {version} takes at most {most}"),
        remedy: format!("set `{what}_bytes` to {most} or less, or leave this variant out"),
    })
}

/// Returns why a step that reads ranges downwards cannot be run.
fn reverse_scan_refusal(driver: &dyn Driver, step: &str) -> Option<String> {
    let can = driver.capabilities();
    if engine::scans_in_reverse(&can) {
        return None;
    }
    let why = can.why_not(engine::REVERSE_SCANS).unwrap_or_default();
    let engine = driver.identity().engine;
    Some(format!("step `{step}`: {engine}: {why}; leave the step or this variant out"))
}

/// Returns why a step with pipelined clients cannot be run.
fn pipeline_refusal(driver: &dyn Driver, step: &str) -> Option<String> {
    let why = driver.capabilities().why_not(engine::PIPELINING).map(str::to_owned);
    let engine = driver.identity().engine;
    why.map(|why| {
        format!("step `{step}` has a pipeline, and {engine} takes none: {why}; leave it out")
    })
}

/// Returns the message of an engine's error; `known` are the options it has.
fn refusal(error: EngineError, known: impl FnOnce() -> Vec<String>) -> Message {
    if let EngineError::Option { option, reason } = error {
        // Most drivers name them in the reason.
        let known = if reason.contains("known: ") { Vec::new() } else { known() };
        Message::Refused { option: Some(option), reason, known }
    } else {
        Message::Refused { option: None, reason: error.to_string(), known: Vec::new() }
    }
}

/// Returns the names of an engine's options; none when it does not list them.
fn option_names(driver: &dyn Driver, spec: &OpenSpec) -> Vec<String> {
    let dir = spec.dir.join("without-options");
    let spec = OpenSpec { dir, options: Options::new(), ..spec.clone() };
    let Ok(()) = std::fs::create_dir(&spec.dir) else { return Vec::new() };
    let Ok(engine) = driver.open(&spec) else { return Vec::new() };
    let options = engine.effective_options().unwrap_or_default();
    let names = options.iter().map(|(name, _)| name.to_owned()).collect();
    // It holds no data.
    drop(engine.close());
    names
}

/// Returns a step's seed: the run's, incremented for each earlier step of the same name.
///
/// So the second does not read the keys that the first has just brought into the cache.
fn step_seed(order: &Order, index: u32) -> u64 {
    let name = &order.steps[index as usize].name;
    let earlier = order.steps[..index as usize].iter().filter(|step| step.name == *name).count();
    order.cell.seed.wrapping_add(earlier as u64)
}

/// Returns the order's application, if any.
fn application_setup(order: &Order) -> Option<ApplicationSetup> {
    let application = Arc::new(order.application.clone()?);
    Some(ApplicationSetup { application, clients: order.clients_max })
}

/// Returns all steps the order may name; those of the application first.
fn infos(order: &Order) -> Vec<StepInfo> {
    let own = order.application.as_ref().map(workload::step_infos).unwrap_or_default();
    own.into_iter().chain(workload::catalog()).collect()
}

/// The state of one run in the child.
pub(crate) struct Worker<'a, W> {
    output: Mutex<W>,
    replies: Receiver<Reply>,
    pub(crate) stop: StopFlag,
    pub(crate) clock: &'a SteadyClock,
    /// The allocator of this process, client and engine alike.
    pub(crate) heap: Heap,
    /// Operations per second that the client can offer on schedule, once known.
    pub(crate) ceiling_ops_per_s: Option<f64>,
}

/// A reply of the parent at a boundary.
enum Reply {
    Go,
    Classified(Vec<bool>),
}

impl<W: Write + Send> Worker<'_, W> {
    fn run(&mut self, order: &Order, registry: &Registry) -> Result<(), String> {
        self.calibrate(order)?;
        let Some((engine, is_checking)) = self.open(order, registry)? else { return Ok(()) };
        let mut presence = Presence::Some;
        let mut row_counts = application_setup(order).map(RowCountCheck::new);
        let infos = infos(order);
        for (index, step) in (0..).zip(&order.steps) {
            self.send(&Message::StepBegins { index })?;
            let info = infos.iter().find(|info| info.name == step.name);
            let context = StepContext {
                engine: engine.as_ref(),
                data: &order.data,
                index,
                step,
                presence,
                is_checking,
                kinds: info.map(|info| info.needs.clone()).unwrap_or_default(),
                seed: step_seed(order, index),
                tables: None,
            };
            let ends = match &mut row_counts {
                Some(row_counts) => self.application_step(&context, row_counts)?,
                None => self.step(&context)?,
            };
            let is_finished = ends.end == StepEnd::Finished;
            self.send(&Message::StepEnds(Box::new(ends)))?;
            let texts = [("", engine.statistics_text()), (".malloc", self.heap.text())];
            for (of, text) in texts {
                let Some(text) = text else { continue };
                let name = format!("{index}.{}{of}.txt", step.name);
                self.send(&Message::EngineText { name, text })?;
            }
            self.wait_for_go()?;
            let is_last = index as usize + 1 == order.steps.len();
            let is_sound = match &mut row_counts {
                Some(row_counts) if is_finished => {
                    self.audit(engine.as_ref(), row_counts, is_last)?
                }
                Some(_) | None => true,
            };
            if !is_finished || !is_sound {
                break;
            }
            presence = workload::presence_after(&step.name, presence);
        }
        match engine.close() {
            Ok(()) => self.send(&Message::Closed { clock: self.clock_record() }),
            Err(error) => Err(format!("the engine could not be closed: {error}")),
        }
    }

    /// Calibrates the client on this host, and reports it.
    fn calibrate(&mut self, order: &Order) -> Result<(), String> {
        let Some(request) = calibration_of(&order.steps) else { return Ok(()) };
        // Missing threads are reported by the step that needs them.
        let Ok(calibration) = load::calibrate(self.clock, &request) else { return Ok(()) };
        self.ceiling_ops_per_s = Some(calibration.ceiling_ops_per_s);
        self.send(&Message::Calibrated { calibration })
    }

    /// Opens the engine; `None` when it refused, which is then reported.
    fn open(&self, order: &Order, registry: &Registry) -> Result<Option<Opened>, String> {
        let spec = OpenSpec {
            endpoint: order.endpoint.clone(),
            application: application_setup(order),
            dir: order.dir.clone(),
            settings: order.variant.settings.clone(),
            options: order.variant.options.clone(),
            data: order.data,
        };
        let driver = match registry(&order.variant.build.engine, order.library.as_ref()) {
            Ok(driver) => driver,
            Err(error) => return self.refuse(refusal(error, Vec::new)),
        };
        if let Some(refusal) = length_refusal(driver.as_ref(), &order.data) {
            return self.refuse(refusal);
        }
        if let Some(reason) =
            order.downwards.as_deref().and_then(|it| reverse_scan_refusal(&*driver, it))
        {
            return self.refuse(refusal(EngineError::Unsupported(reason), Vec::new));
        }
        if let Some(reason) =
            order.pipelined.as_deref().and_then(|it| pipeline_refusal(&*driver, it))
        {
            return self.refuse(refusal(EngineError::Unsupported(reason), Vec::new));
        }
        let opened = driver.open(&spec).and_then(|engine| {
            let mut identity = engine.identity();
            identity.facts.insert("malloc".to_owned(), self.heap.to_string());
            let effective_options = engine.effective_options()?;
            let keep = engine.own_files();
            Ok((engine, Message::Opened { identity, effective_options, keep }))
        });
        match opened {
            Ok((engine, message)) => {
                self.send(&message)?;
                Ok(Some((engine, engine::gives_answers(&driver.capabilities()))))
            }
            Err(error) => self.refuse(refusal(error, || option_names(driver.as_ref(), &spec))),
        }
    }

    /// Reports that the engine is not opened, and why.
    fn refuse(&self, refusal: Message) -> Result<Option<Opened>, String> {
        self.send(&refusal).map(|()| None)
    }

    /// Executes one step; its failure is part of the result.
    pub(crate) fn step(&self, context: &StepContext<'_>) -> Result<StepEnds, String> {
        let mut ends = if context.step.stop == StopRule::Operations(0) {
            self.begin_measuring(context)?;
            StepEnds { index: context.index, ..StepEnds::default() }
        } else {
            self.drive(context)?
        };
        let stages = workload::stages(&context.step.name, context.application());
        if ends.end == StepEnd::Finished && !stages.is_empty() {
            let before = process_readings();
            match self.settle(context.engine, stages, context.step) {
                Ok(record) => ends.settle = Some(record),
                Err(reason) => ends.end = StepEnd::Failed { reason },
            }
            // The wait belongs to the step that caused the work, so its costs do too.
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
        ends.after = self.final_state(context.engine);
        ends.malloc = Some(self.heap.record());
        Ok(ends)
    }

    /// Runs a step's clients, or its search.
    fn drive(&self, context: &StepContext<'_>) -> Result<StepEnds, String> {
        if matches!(context.step.load, Load::FindRate(_) | Load::FindClients) {
            return self.search(context);
        }
        let trial = Trial {
            load: context.step.load.clone(),
            clients: context.step.clients,
            stop: context.step.stop,
            warmup: context.step.warmup,
            seed: context.seed,
            probe: None,
        };
        Ok(match self.try_load(context, &trial, &mut |_, _| {})? {
            Ok(totals) => tally::step_ends(context.index, &totals),
            Err(end) => StepEnds { index: context.index, end, ..StepEnds::default() },
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
            self.send(&message).is_ok() && !self.stop.is_set()
        })
        .map_err(|error| error.to_string())
    }

    /// Reports the engine's state at the start of the measured span and waits for the parent.
    pub(crate) fn begin_measuring(&self, context: &StepContext<'_>) -> Result<(), String> {
        // The clients of a warm-up are running.
        let mut before = context.engine.state().unwrap_or_default();
        before.readings.extend(self.heap.cheap_readings());
        let (before, is_patient) = (Box::new(before), context.kinds.contains(&OpKind::Define));
        self.send(&Message::MeasuringBegins { before, is_patient })?;
        self.wait_for_go()
    }

    /// Returns the state of engine and allocator when the clients have ended.
    pub(crate) fn final_state(&self, engine: &dyn Engine) -> EngineState {
        let mut state = engine.state().unwrap_or_default();
        state.readings.extend(self.heap.readings());
        state
    }

    /// Compares the clock with the kernel's, over the whole of the run.
    fn clock_record(&self) -> ClockRecord {
        let check = self.clock.check();
        ClockRecord { is_sound: check.is_sound(), source: check.source, drift_ppm: check.drift_ppm }
    }

    fn wait_for_go(&self) -> Result<(), String> {
        match self.reply()? {
            Reply::Go => Ok(()),
            Reply::Classified(_) => {
                Err("the parent classified intervals without a request".to_owned())
            }
        }
    }

    /// Waits for the parent's list of a probe's invalid intervals.
    pub(crate) fn wait_for_classification(&self) -> Result<Vec<bool>, String> {
        match self.reply()? {
            Reply::Classified(is_invalid) => Ok(is_invalid),
            Reply::Go => Err("the parent did not classify the probe".to_owned()),
        }
    }

    fn reply(&self) -> Result<Reply, String> {
        self.replies.recv().map_err(|_hung_up| "the parent is gone".to_owned())
    }

    /// Sends a message to the parent.
    pub(crate) fn send(&self, message: &Message) -> Result<(), String> {
        send_to(&self.output, message)
    }
}

/// Writes one message as one line.
fn send_to(output: &Mutex<impl Write>, message: &Message) -> Result<(), String> {
    let mut line = serde_json::to_vec(message).expect("a message is always valid JSON");
    line.push(b'\n');
    let mut output = output.lock().map_err(|_poisoned| "a thread panicked".to_owned())?;
    output
        .write_all(&line)
        .and_then(|()| output.flush())
        .map_err(|error| format!("the parent does not read: {error}"))
}
