//! The driver on a running server: logins, failures, tables, procedures, and what it is told.

mod client;
mod failures;
mod logins;
mod procedures;
mod program;
mod started;
mod tables;
mod told;
