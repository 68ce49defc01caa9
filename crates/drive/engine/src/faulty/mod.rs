//! The engine that misbehaves on a script: it tests the harness, not storage.
//!
//! It is not a simulator of any engine. It stands around another one (`memory` unless told
//! otherwise), counts its operations, and plays the faults written in its options:
//! `fault = "stall 1s at 5000"`, or `fault.NAME` when there are several. Other options go to the
//! engine inside.
//!
//! | fault | what it does |
//! |---|---|
//! | `refuse open` | does not open |
//! | `stall SPAN` | no client's operation starts for that long |
//! | `slow SPAN` | this operation takes that much longer |
//! | `hang` | no operation ends any more |
//! | `fail [conflict\|timeout\|fatal]` | the operation is not done and says so (`timeout`) |
//! | `lie [value\|truncate\|drop\|reverse]` | a wrong answer to a read (`value`: another key's) |
//! | `lie [ignore\|forget]` | a write said done: never done, or undone by the next close |
//! | `die [abort\|segv\|kill]` | ends the process (`abort`) |
//! | `eat SIZE` | takes that much memory and keeps it |
//!
//! Each but `refuse open` may end in `at N` (the operation of that number, 1-based over all
//! clients), `every N` or `from N`; without one it happens to every operation. A lie that does
//! not suit an operation waits for the next one it suits.
//!
//! Invariants: no clock is read; the script alone decides, so a run repeats.
//!
//! To add a fault: a variant of `Action` and its words in `script.rs`, and what it does in
//! `engine.rs` (or in `lie.rs` when it lies).

mod engine;
mod lie;
mod script;
#[cfg(test)]
mod tests;

pub use engine::FaultyDriver;
