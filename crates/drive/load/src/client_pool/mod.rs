//! The client pool: all client threads of a step, and their coordinator.
//!
//! The loop itself is in `client`; the runner settles, samples and archives. One thread per client
//! and writer; the calling thread coordinates.
//!
//! Invariants: every operation a client counted is in exactly one interval, the one it ended in;
//! the measured span begins after the callback for it returned, when there is no warm-up; writers
//! outlast the measured clients; when a client fails or panics, the others end and the totals are
//! returned.
//!
//! To report more to the runner, add an [`Event`].

mod accounts;
mod barrier;
mod client_slot;
mod coordinator;
mod emission;
mod holder;
mod pool;
mod run;
mod step;
mod stops;
mod thread_states;

#[cfg(test)]
mod tests;

pub use run::run_step;
pub use step::{
    AgreeStart, ArrivalTotals, Event, GroupRun, HolderRun, Interval, StepEnd, StepRun, StepTotals,
};
