//! The Postgres server kind: set-up, configuration, start, errors.

mod server;
mod startup_error;

pub use server::{KIND, PostgresKind};
