//! All clients of a step, from the start gate to the last interval.
//!
//! Not the loop itself, which is `client`'s, and no decision about the engine: the runner settles,
//! samples and archives. One thread per client and writer; the calling thread coordinates.
//!
//! Invariants: every operation a client counted is in exactly one interval; the measured span
//! begins after the callback for it returned, when there is no warm-up; writers outlast the
//! measured clients; whatever a client does, the others end and the step's record is kept.
//!
//! To tell the runner something new, add an [`Event`].

mod collector;
mod conduct;
mod evidence;
mod gate;
mod looks;
mod pace;
mod seat;
mod step;
mod team;

#[cfg(all(test, feature = "model-check"))]
mod model_check;
#[cfg(all(test, not(feature = "model-check")))]
mod open_loop;
#[cfg(all(test, not(feature = "model-check")))]
mod tests;
#[cfg(all(test, not(feature = "model-check")))]
mod truth;

pub use step::{ArrivalTotals, Event, GroupRun, Interval, StepEnd, StepRun, StepTotals};
pub use team::run_step;
