//! What the worker does for an application: its calls, their rows, conditions and statements.
//!
//! `calls` is what its clients execute; `audit` counts the rows of tables before and after its
//! steps, `conditions` checks what must hold at the end, `statements` reads plans before and after.

mod audit;
mod calls;
mod conditions;
mod statements;
