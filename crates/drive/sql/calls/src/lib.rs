//! Streams of calls: an application's procedures with the values drawn for them.
//!
//! This crate knows no SQL dialect and no server: it executes what [`model::sql`] describes. It
//! stands next to `workload`, which does the same for keys and values.
//!
//! Invariants: a call is a function of (seed, client, n), but for values that depend on the ids
//! there are ([`model::sql::Draw::Id`], [`model::sql::Draw::FirstId`]), which also depend on
//! [`Tables`]; nothing is allocated per call.
//!
//! To add a kind of value: one variant of `source::Source`, made in `Source::new` and drawn in
//! `CallBuffer::draw`; of a value made of others, of `made::Made`.

mod background;
mod bounded;
mod call_buffer;

mod executable;
mod generator;
mod lockstep;
mod made;
mod pauses;
mod payload;
mod script;
mod source;
mod tables;

pub use background::background_load;
pub use executable::check_application;
pub use generator::{Holders, generators, holders, kinds, sample_calls};
pub use tables::Tables;
