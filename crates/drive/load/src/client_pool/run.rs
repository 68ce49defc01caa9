//! Runs a step: starts the client threads and the coordinator.

use engine::Engine;
use model::{Load, StopRule};
use workload::Part;

use super::client_slot::ClientSlot;
use super::coordinator::{Coordinator, Span};
use super::holder;
use super::pool::{ClientPool, timeline};
use super::step::{Event, GroupRun, StepEnd, StepRun, StepTotals};
use crate::client::{Drive, Role};
use crate::collector::Collector;
use crate::error::LoadError;
use crate::handoff::{ClientBuffers, connect};
use crate::reopening::Faults;
use crate::schedule::Share;
use crate::sync::{JoinHandle, spawn_scoped, thread};
use crate::tally::ClientTally;
use crate::traits::Clock;

/// Stops all clients when the coordinator exits or panics.
struct StopOnDrop<'r>(&'r ClientPool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.barrier.cancel();
        self.0.halt_all();
    }
}

/// Runs one step; `on_event` is called on the caller's thread.
///
/// A callback that takes longer than an interval moves no operation to another one: the clients
/// merge what they count.
///
/// # Errors
/// When the step cannot begin. Failures after the start are in [`StepTotals::end`], with the
/// measurements until then.
///
/// # Panics
/// When `on_event` does; the clients are stopped first.
pub fn run_step<C: Clock>(
    clock: &C,
    step: &mut StepRun<'_>,
    on_event: &mut dyn FnMut(Event<'_>),
) -> Result<StepTotals, LoadError> {
    step.validate()?;
    let pool = &ClientPool::new(step, clock.margin());
    let timeline = timeline(step);
    let collector = Collector::new(timeline, pool.clients, pool.writers);
    let (inbox, buffers) = connect(pool.clients + pool.writers, collector, |index| {
        let group = if index < pool.clients { &step.clients } else { &step.writers };
        let tally = ClientTally::new(group.kinds.iter().copied());
        if index < pool.clients && pool.pace.is_some() { tally.with_lags() } else { tally }
    });
    let span = Span {
        timeline,
        clients: step.clients.kinds.clone(),
        writers: step.writers.kinds.clone(),
        stop_flag: step.stop_flag.clone(),
        agree_start: step.agree_start,
    };
    let (engine, stop, share, is_checking) =
        (step.engine, step.stop, step.share(), step.is_checking);
    let faults = &step.faults;
    let call = Call { clock, pool, engine, faults, stop, share, is_checking };
    let groups = [(&mut step.clients, Role::Measured), (&mut step.writers, Role::Background)];
    let holder_run = &mut step.holders;
    thread::scope(|scope| {
        let stop_on_drop = StopOnDrop(pool);
        let mut started = StartedClients { buffers: buffers.into_iter(), handles: Vec::new() };
        for (group, role) in groups {
            started.start_group(scope, &call, group, role)?;
        }
        let holders = holder::start(scope, clock, pool, engine, holder_run);
        let holders = holders.map_err(|source| LoadError::Thread("a holder".to_owned(), source))?;
        let mut totals = Coordinator::begin(clock, pool, inbox, span, on_event)?.run();
        drop(stop_on_drop);
        let (holds, failure) = holder::join(holders);
        totals.holds = holds;
        if let (Some(reason), StepEnd::Finished | StepEnd::Stopped) = (failure, &totals.end) {
            totals.end = StepEnd::Failed { reason };
        }
        for (index, handle) in started.handles.into_iter().enumerate() {
            let failure = handle.join().unwrap_or_else(|_| Some("panicked".to_owned()));
            if let (Some(failure), StepEnd::Finished | StepEnd::Stopped) = (failure, &totals.end) {
                let reason = format!("{}: {failure}, after its last operation", pool.name(index));
                totals.end = StepEnd::Failed { reason };
            }
        }
        Ok(totals)
    })
}

/// Parameters that all clients share.
struct Call<'env, C> {
    clock: &'env C,
    pool: &'env ClientPool,
    engine: &'env dyn Engine,
    faults: &'env Faults<'env>,
    stop: StopRule,
    share: Share,
    is_checking: bool,
}

/// The threads started so far, and the buffers of the others.
struct StartedClients<'scope> {
    buffers: std::vec::IntoIter<ClientBuffers>,
    handles: Vec<JoinHandle<'scope, Option<String>>>,
}

impl<'scope> StartedClients<'scope> {
    /// Starts one thread per generator of the group.
    fn start_group<'env: 'scope, C: Clock>(
        &mut self,
        scope: &'scope thread::Scope<'scope, 'env>,
        call: &Call<'env, C>,
        group: &'env mut GroupRun,
        role: Role,
    ) -> Result<(), LoadError> {
        let (halt, arrivals, waiting) = call.pool.of(role);
        let depth = if let Load::Pipelined(depth) = group.load { depth } else { 1 };
        for (client, generator) in (0..).zip(&mut group.generators) {
            let index = self.handles.len();
            // Shared arrivals have their own end.
            let limit = match arrivals {
                Some(_) => u64::MAX,
                None => limit(call.stop, role, call.share.part(client)),
            };
            let client_slot = ClientSlot {
                index,
                arrivals,
                drive: Drive {
                    clock: call.clock,
                    halt,
                    role,
                    waiting,
                    limit,
                    depth,
                    is_checking: call.is_checking,
                },
                engine: call.engine,
                faults: call.faults,
                generator: &mut **generator,
                barrier: &call.pool.barrier,
                heartbeat: &call.pool.heartbeats[index],
            };
            let buffers = self.buffers.next().expect("each generator has its buffers");
            let who = call.pool.name(index);
            match spawn_scoped(scope, &who, move || client_slot.run(buffers)) {
                Ok(handle) => self.handles.push(handle),
                Err(source) => return Err(LoadError::Thread(who, source)),
            }
        }
        Ok(())
    }
}

/// Returns the operations that a client may do.
fn limit(stop: StopRule, role: Role, part: Part) -> u64 {
    match (stop, role) {
        (StopRule::Operations(total), Role::Measured) => part.share(total),
        (StopRule::Duration(_), Role::Measured) | (_, Role::Background) => u64::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_share_all_operations() {
        let limit =
            |role, client| limit(StopRule::Operations(10), role, Part { client, clients: 4 });
        assert_eq!([0, 1, 2, 3].map(|client| limit(Role::Measured, client)), [2, 3, 2, 3]);
        assert_eq!(limit(Role::Background, 0), u64::MAX);
    }
}
