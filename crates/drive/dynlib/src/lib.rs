//! Engine libraries loaded at run time, for the drivers.
//!
//! It is independent of any engine. It stands between `engine`, whose error type it returns, and
//! the drivers that bind the functions of a C interface by name.
//!
//! Invariants: a process loads one engine library and never unloads it; a file that is not a
//! library for this machine is an error, not a signal; the file loaded is the file hashed; an
//! absent function is known before it is called.
//!
//! To bind a library: [`functions!`] in the driver's `ffi` file, and [`load_once`] with its `bind`.
//! [`level`] and [`written`] have the part that LevelDB and RocksDB share.

mod file;
mod functions;
mod image;
pub mod level;
mod loaded;
pub mod written;

pub use file::{ImageFile, open_regular, read_regular, unreadable};
pub use image::check_image;
/// The loader's handle, for the code that [`functions!`] writes.
pub use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
pub use loaded::{Loaded, identity, load_once};
