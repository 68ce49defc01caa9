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
//! | `burn SPAN` | this operation uses that much more CPU |
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
//! The options `server.NAME` put a server of known capacity in front, to prove what is found out
//! about capacities. An operation ends when the server has done it:
//!
//! | option | what it says |
//! |---|---|
//! | `server.work = "SPAN"` | time each operation takes of the server, alone, in order of arrival |
//! | `server.parallel = N` | servers that take from the one queue (1) |
//! | `server.debt_per_op = "SIZE"` | background work each operation leaves behind (none) |
//! | `server.initial_debt = "SIZE"` | debt when it is opened (none) |
//! | `server.pays = "SIZE/s"` | debt worked off meanwhile (nothing) |
//! | `server.debt_limit = "SIZE"` | debt above which operations are slowed down (never) |
//! | `server.slowdown = N` | how many times as long they take then |
//!
//! Operations sent ahead are done when they are taken, whatever the engine inside can.
//!
//! Its burst capacity is parallel / work, with more clients than servers; it sustains the lesser
//! of that and pays / `debt_per_op`. The debt is in its state, as an engine's own would be.
//!
//! Invariants: the script alone decides, so a run repeats; the server reads the kernel's monotonic
//! clock to know how far its work is, and `burn` that of its thread's CPU.
//!
//! To add a fault: a variant of `Action` and its words in `script.rs`, and what it does in
//! `engine.rs` (or in `lie.rs` when it lies). To add an option of the server: its words in
//! `rules.rs`, and what it does in `server.rs`.

mod engine;
mod lie;
mod pipeline;
mod rules;
mod script;
mod server;
#[cfg(test)]
mod tests;

pub use engine::FaultyDriver;
