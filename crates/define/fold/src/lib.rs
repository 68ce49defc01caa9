//! The fold of a step: from its facts and measured intervals to its record.
//!
//! The runner folds a step while it runs; a warm-up trim and `verify` fold it again from the
//! archive. [`Facts`] are what no interval has: readings at the ends of the span, the engine's
//! states, arrivals. Everything else of a [`StepRecord`](model::StepRecord) is computed here, and
//! nowhere else.
//!
//! Invariants: nothing is read or written; the same facts and intervals give the same record; an
//! interval without its operations' times is rejected.

mod conservation;
mod differences;
mod events;
mod facts;
mod latencies;
mod load_status;
mod seconds;
mod step;
mod tally;
#[cfg(test)]
mod testing;
mod throughput;
mod validity;

pub use conservation::{Counts, Unequal, check_interval};
pub use differences::differences;
pub use facts::{Censored, Facts};
pub use latencies::{buckets, count_within, summaries, within_limit};
pub use load_status::{INVALID_MIN, is_usable};
pub use step::{Fold, IntervalData};
pub use tally::{GroupTally, Groups, KindTally, censor, empty_histogram, merge, percentiles};
pub use validity::Validity;
