//! Compiles engines from the source that Rust crates carry, with any compiler and flags.
//!
//! `engine/` knows for each engine which releases there are and which files make its library;
//! `recipe` is what it says; `toolchain` is the compiler with its flags; `name` names the build;
//! `objects` compiles file by file and can be stopped at any time; `make` is the whole.
//!
//! To add an engine, write one file under `engine/` and add its line to `engine::registry`. To add
//! a release of one, add a line to its file.

mod engine;
mod make;
mod name;
mod objects;
mod recipe;
mod toolchain;

pub use engine::compilable;
pub use make::{CompileEvent, CompileOrder};
pub(crate) use toolchain::words;
