//! Libraries of engines, loaded at run time: what every driver of one needs.
//!
//! It knows no engine. It stands between `engine`, whose error it speaks, and the drivers that bind
//! the functions of a C interface by name.
//!
//! Invariants: a process holds one engine library, and never lets go of it; a file that is no
//! library of this machine is told in words, not by a signal; a function that is absent is known
//! before it is called.
//!
//! To bind a library: [`functions!`] in the driver's `ffi` file, and [`load_once`] with its `bind`;
//! for an engine that is linked too, `linked` fills the same table.

mod functions;
mod held;
mod image;

pub use held::{Loaded, load_once};
/// The loader's handle, for the code that [`functions!`] writes.
pub use libloading::os::unix::Library;
