//! What the worker does for an application: its calls, their rows, conditions and statements.
//!
//! `around` is what a run calls for each step; `calls` is what its clients execute; `audit` counts
//! the rows of tables before and after its steps, `conditions` checks what must hold at the end,
//! `statements` reads plans before and after.

mod around;
mod audit;
mod calls;
mod conditions;
mod statements;

pub(super) use around::{application_setup, check_calls, row_counts};
