//! The driver on a running server: logins, failures, tables, procedures, and what it is told.

#![expect(clippy::unwrap_used, reason = "what a test's functions unwrap fails the test")]
#![expect(clippy::print_stdout, reason = "a test says why it is skipped")]

mod client;
mod failures;
mod logins;
mod procedures;
mod program;
mod saying;
mod started;
mod tables;
mod told;
