//! Counts and times of operations, per client and per group.
//!
//! Nothing is estimated here. A client writes its [`ClientTally`] once per operation; after each
//! interval the coordinator merges it into a [`GroupTally`], whose histograms are ordinary
//! `hdrhistogram` ones.
//!
//! Invariants: merging adds counts and loses none; a failed operation is in no histogram; both
//! sides have the same layout, so a merge moves no value between buckets.
//!
//! Start lags, which only an open loop's measured clients have, stand in a table of their own.
//!
//! To keep another time per operation, add a table to `ClientTally` and a histogram to
//! [`KindTally`].

mod client;
mod group;
mod layout;

pub(crate) use client::{ClientTally, Times};
pub use group::{GroupTally, KindTally, empty_histogram, percentiles};
pub(crate) use group::{absorb, absorb_lags, censor, merge, record_capped, reset};
