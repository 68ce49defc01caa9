//! Compiles engines from source in Rust crates, with any compiler and flags.
//!
//! `engine/` lists for each engine its releases and the files of its library; `recipe` is that
//! list; `toolchain` is the compiler with its flags; `objects` compiles file by file and can be
//! resumed; `make` names the build and combines them.
//!
//! To add an engine or a release of one, see `engine`.

mod engine;
mod find;
mod make;
mod objects;
mod recipe;
mod toolchain;

pub use find::compilable;
pub use make::{CompileEvent, CompileOrder};
pub(crate) use toolchain::compiler_errors;
