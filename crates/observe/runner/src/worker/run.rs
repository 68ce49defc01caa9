//! Executes one run's order: opens the engine, runs its steps, closes it.

use std::collections::BTreeSet;
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use engine::{Engine, LockWaits, Maintenance, Refusal, Setting, join_data_set};
use load::{SteadyClock, StepEnd, StopFlag, WriteLog};
use malloc::{Heap, Tunables};
use model::{OpKind, Step};
use sampler::{host_facts, with_thread_limit};
use workload::{Presence, Stage};

use super::application::row_counts;
use super::open::Registry;
use super::operations::{KeyValues, StepContext};
use super::parent_link::{Parent, Worker, send_to};
use super::run_engine::{RunEngine, open_again};
use super::settle::settle;
use crate::connection::MessageWriter;
use crate::message::{Membership, Message, Order, StepEnds};
use crate::preflight::calibration_of;

/// Most reports of waits that have not been sent; others are left out.
const REPORTS_MAX: usize = 16;

/// Executes the order read from `input`, and reports to `output`.
///
/// `tunables` are the environment variables that may tune an allocator. `place` is the directory of
/// the run's data on a client host; `None` on the host of the parent.
///
/// When `input` ends, the parent is gone: the process kills itself, so that no run outlives its
/// record. On a client host a parent that is silent for 11 s is gone, too.
///
/// # Errors
/// A text for the parent when it has no thread, no order comes, or the engine cannot be closed.
pub fn work(
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
    registry: &Registry,
    tunables: &Tunables,
    place: Option<&Path>,
) -> Result<(), String> {
    let stop = StopFlag::default();
    let clock = SteadyClock::calibrate();
    let output = Arc::new(Mutex::new(MessageWriter::new(output)));
    let parent = Parent { output: output.clone(), clock: clock.clone(), stop: stop.clone() };
    let (orders, replies) = parent.listen(input, place.is_some()).map_err(no_thread)?;
    let Ok(mut order) = orders.recv() else { return Err("no order received".to_owned()) };
    if let Some(place) = place {
        order.dir = place.to_owned();
        send_to(&output, &Message::Machine { host: Box::new(host_facts(place)) });
    }
    let requested = order.variant.settings.allocator;
    let heap = match Heap::expect(requested, order.allocator.as_deref(), tunables) {
        Ok(heap) => heap,
        Err(error) => {
            let (reason, remedy) = (error.to_string(), error.remedy());
            let refusal = Refusal::Setting { setting: Setting::Allocator, reason, remedy };
            send_to(&output, &Message::Refused { refusal });
            return Ok(());
        }
    };
    let (reports, reported) = sync_channel(REPORTS_MAX);
    let mut lock_waits = LockWaits::within(Duration::from_nanos(order.watchdog.0), reports);
    if let Some(data_set) = order.member.as_ref().and_then(|member| member.data_set.as_ref()) {
        // The tables exist: of a restored load, or of the first worker, which holds their lock.
        join_data_set(&order.dir, data_set).map_err(|error| error.to_string())?;
        lock_waits.is_lock_held = order.member.as_ref().is_some_and(|member| !member.is_first());
    }
    let (output, clock) = (&*output, &clock);
    let worker = Worker { output, lock_waits, replies, stop, clock, heap, ceiling_ops_per_s: None };
    thread::scope(|scope| {
        let reporter = thread::Builder::new().spawn_scoped(scope, move || {
            for text in reported {
                send_to(output, &Message::Waits { text });
            }
        });
        reporter.map_err(no_thread)?;
        worker.run(&order, registry)
    })
}

/// Returns why the worker cannot begin.
fn no_thread(error: io::Error) -> String {
    format!("the worker has no thread: {}", with_thread_limit(error))
}

/// Returns a step's seed: the run's, or that of the load it shares.
///
/// It is incremented for each earlier step of the same name.
///
/// So the second does not read the keys that the first has just brought into the cache.
fn step_seed(order: &Order, index: u32) -> u64 {
    let name = &order.steps[index as usize].name;
    let earlier = order.steps[..index as usize].iter().filter(|step| step.name == *name).count();
    let seed = match order.shared {
        Some((end, seed)) if index < end => seed,
        Some(_) | None => order.cell.seed,
    };
    seed.wrapping_add(earlier as u64)
}

/// Returns the kinds of operation of a key-value step.
fn kinds(name: &str) -> BTreeSet<OpKind> {
    let known = workload::catalog().into_iter().find(|info| info.name == name);
    known.map(|info| info.needs).unwrap_or_default()
}

impl<W: Write + Send> Worker<'_, W> {
    /// Executes the order; afterwards nothing reports waits.
    fn run(mut self, order: &Order, registry: &Registry) -> Result<(), String> {
        self.calibrate(order);
        let Some((engine, is_checking)) = self.open(order, registry) else { return Ok(()) };
        let open = || open_again(order, registry);
        let opened = RunEngine::of(engine, order, &open);
        let (engine, reopening) = (opened.as_engine(), opened.reopening());
        let is_first = order.member.as_ref().is_none_or(Membership::is_first);
        if order.member.as_ref().is_some_and(Membership::has_others) {
            // The others open the engine before any of them begins a step.
            self.wait_for_go();
        }
        let mut presence = Presence::Some;
        let mut row_counts = row_counts(order);
        let (first, end) = order.range;
        for (index, step) in (0..end).zip(&order.steps) {
            let share = order.member.as_ref().and_then(|member| member.share(index, step.clients));
            if index < first || (!is_first && share.is_none()) {
                presence = workload::presence_after(&step.name, presence);
                continue;
            }
            if !is_first {
                // The first worker begins the step: until then its data are not complete.
                self.wait_for_go();
            }
            self.send(&Message::StepBegins { index });
            let writes = (!step.events.is_empty() && share.is_none()).then(WriteLog::default);
            let context = StepContext {
                engine,
                reopening,
                data: &order.data,
                index,
                step,
                presence,
                is_checking,
                kinds: kinds(&step.name),
                seed: step_seed(order, index),
                operations: &KeyValues,
                share,
                writes: writes.as_ref(),
            };
            let goes_on = self.around_step(order, &context, &mut row_counts);
            if !goes_on || (is_first && !self.keeps_durability(engine, order)) {
                break;
            }
            presence = workload::presence_after(&step.name, presence);
        }
        if (end as usize) < order.steps.len() {
            self.settle_loaded(engine, &order.steps[end as usize - 1])?;
        }
        opened.close().map_err(|error| format!("the engine could not be closed: {error}"))?;
        self.send(&Message::Closed { clock: self.clock.check() });
        Ok(())
    }

    /// Reports the end of a step, and waits for the parent; returns whether the step finished.
    pub(super) fn end_step(&self, context: &StepContext<'_>, ends: StepEnds) -> bool {
        let is_finished = ends.end == StepEnd::Finished;
        self.send(&Message::StepEnds(Box::new(ends)));
        let texts = [("", context.engine.statistics_text()), (".malloc", self.heap.text())];
        for (of, text) in texts {
            let Some(text) = text else { continue };
            let name = format!("{}.{}{of}.txt", context.index, context.step.name);
            self.send(&Message::EngineText { name, text });
        }
        self.wait_for_go();
        is_finished
    }

    /// Writes buffered data and waits for background work, at most the settle cap: what is saved is
    /// then the same database, whenever it is opened.
    fn settle_loaded(&self, engine: &dyn Engine, step: &Step) -> Result<(), String> {
        let stages = [Stage::Do(Maintenance::Flush), Stage::WaitIdle];
        let settled = settle(engine, &stages, step.settle_cap, self.clock, &mut |stage| {
            self.report_stage(stage);
            !self.stop.is_set()
        });
        settled.map(drop).map_err(|error| format!("the loaded database does not settle: {error}"))
    }

    /// Calibrates the client on this host, and reports it.
    fn calibrate(&mut self, order: &Order) {
        let (first, end) = (order.range.0 as usize, order.range.1 as usize);
        let mut steps = order.steps[first..end].to_vec();
        for (index, step) in (order.range.0..).zip(&mut steps) {
            let member = order.member.as_ref();
            let share = member.and_then(|member| member.share(index, step.clients));
            step.clients = share.map_or(step.clients, |share| share.clients);
        }
        let Some(request) = calibration_of(&steps) else { return };
        // Missing threads are reported by the step that needs them.
        let Ok(calibration) = load::calibrate(self.clock, &request) else { return };
        self.ceiling_ops_per_s = Some(calibration.ceiling_ops_per_s);
        self.send(&Message::Calibrated { calibration });
    }
}
