//! Counts and times of operations, per client and per group.
//!
//! Nothing is estimated here. A client writes its [`ClientTally`] once per operation; after each
//! interval its counts move to a [`GroupSum`], which becomes a [`GroupTally`] when the interval is
//! complete: its histograms are ordinary `hdrhistogram` ones.
//!
//! Invariants: merging adds counts and loses none; a failed operation is in no histogram; all
//! have the same layout, so a merge moves no value between buckets.
//!
//! Start lags, which only an open loop's measured clients have, stand in a table of their own.
//!
//! To keep another time per operation, add counters to `ClientTally` and a histogram to
//! [`KindTally`].

mod client;
mod group;
mod layout;
mod ranges;
mod sum;

pub(crate) use client::{ClientTally, Times, Volume};
pub use fold::{GroupTally, KindTally, empty_histogram, percentiles};
pub(crate) use fold::{censor, merge};
pub(crate) use group::{record_capped, reset};
pub(crate) use sum::GroupSum;
