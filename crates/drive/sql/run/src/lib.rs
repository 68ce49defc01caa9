//! What a run of an application does around its calls.
//!
//! It counts calls by procedure and copy of a table, repeats those that failed by a conflict,
//! checks the rows of tables, and samples what sessions wait for. It stands between `load`, which
//! executes the clients, and `runner`, whose worker sends what is found here to the parent.
//!
//! Invariants: a step of keys and values meets none of it; calls that failed may have been applied.
//!
//! To add a conflict after which a call is repeated: its class in `retry::is_conflict`.

mod counted;
mod procedure_tally;
mod retry;
mod row_count_check;
pub mod testing;
mod waits;

pub use counted::{Called, Calls, Counted, Tallies};
pub use row_count_check::{RowCountCheck, TableCopy};
pub use waits::{Sampled, with_waits};
