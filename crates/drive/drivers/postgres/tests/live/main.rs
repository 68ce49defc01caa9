//! The driver on a running server: logins, failures, tables, procedures, and what it is told.

mod program;
mod started;
