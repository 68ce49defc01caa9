//! The nouns of SQL: applications, servers, statements and what they wait for.
//!
//! An application is data: `plan` reads it from a file, `workload` draws its values, and each SQL
//! driver uses its own dialect.

mod application;
mod application_check;
mod call;
mod call_policy;
pub(crate) mod connections;
mod dialect;
mod draw;
pub(crate) mod procedure_record;
mod query;
pub mod server;
mod statement;
pub(crate) mod statement_record;
pub mod waits;

pub use application::{
    Application, Background, CallMix, Copies, Procedure, RowCount, Table, TrafficSpec,
};
pub use call::{Argument, Bounds, Call};
pub use call_policy::{CallPolicy, Retry};
pub use connections::{CALLS_APART_MAX, Connections, Hold};
pub use dialect::{Dialect, PerDialect};
pub use draw::{Draw, IntegerRange, ReadKind};
pub use query::{Check, Condition, Part, Protocol, Read, Statement};
pub use statement::{Piece, StatementOwner};
