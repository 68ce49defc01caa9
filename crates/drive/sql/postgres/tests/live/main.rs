//! The driver on a running server: logins, failures, tables, procedures, state.

#![expect(clippy::unwrap_used, reason = "an unwrap in a test helper fails the test")]
#![expect(clippy::print_stdout, reason = "a skipped test prints the reason")]

mod application;
mod batches;
mod calls;
mod conditions;
mod durability;
mod failures;
mod joining;
mod locks;
mod logins;
mod newest;
mod ownership;
mod parts;
mod pooler;
mod poolers;
mod privileges;
mod procedures;
mod program;
mod sessions;
mod silence;
mod standby;
mod state;
mod tables;
mod test_server;
mod tls;
mod waits;
