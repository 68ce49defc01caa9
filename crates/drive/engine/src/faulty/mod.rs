//! The `faulty` engine: injects scripted faults to test the harness.
//!
//! It is not a simulator of any engine. It wraps another one (`memory` by default), counts its
//! operations, and injects the faults named in its options: `fault = "stall 1s at 5000"`, or
//! `fault.NAME` when there are several. Other options go to the wrapped engine.
//!
//! | fault | what it does |
//! |---|---|
//! | `refuse open` | does not open |
//! | `stall SPAN` | no client's operation starts for that long |
//! | `slow SPAN` | this operation takes that much longer |
//! | `burn SPAN` | this operation uses that much more CPU |
//! | `hang` | no further operation ends |
//! | `fail [conflict\|timeout\|fatal]` | the operation fails (default `timeout`) |
//! | `lie [value\|truncate\|drop\|reverse]` | a wrong answer to a read (`value`: another key's) |
//! | `lie [ignore\|forget]` | an acknowledged write: not executed, or undone by the next close |
//! | `die [abort\|segv\|kill]` | ends the process (`abort`) |
//! | `eat SIZE` | allocates that much memory and holds it |
//!
//! Each but `refuse open` may end in `at N` (the operation of that number, 1-based over all
//! clients), `every N` or `from N`; without one it applies to every operation. A lie that does
//! not apply to an operation stays pending until the next one it applies to.
//!
//! The options `server.NAME` add a server of known capacity in front, to verify capacity searches.
//! An operation ends when the server has served it:
//!
//! `server.work = "SPAN"` is the service time of each, first come first served, on
//! `server.parallel = N` servers; `server.debt_per_op`, `server.initial_debt` (sizes) and
//! `server.pays = "SIZE/s"` are its background work; above `server.debt_limit` an operation takes
//! `server.slowdown = N` times as long.
//!
//! Pipelined operations execute when they are submitted, whatever the wrapped engine supports.
//!
//! Its burst capacity is parallel / work, with more clients than servers; it sustains the lesser
//! of that and pays / `debt_per_op`. Its state reports the debt, as a real engine's does.
//!
//! Invariants: the script alone decides, so a run is reproducible; the server reads the kernel's
//! monotonic clock, and `burn` the CPU clock of its thread.
//!
//! To add a fault: a variant of `Action` and its syntax in `script.rs`, and its effect in
//! `engine.rs` (or in `lie.rs` for a wrong answer). To add an option of the server: its syntax in
//! `server_options.rs`, and its effect in `server.rs`.

mod engine;
mod lie;
mod script;
mod server;
mod server_options;
#[cfg(test)]
mod tests;

pub use engine::FaultyDriver;
