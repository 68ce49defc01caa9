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

mod ffi_functions;
mod ffi_loaded;
mod ffi_owned;
mod file;
mod image;
#[path = "ffi_level.rs"]
pub mod level;
pub mod written;

pub use ffi_loaded::{Loaded, identity, load_once};
pub use ffi_owned::Owned;
pub use file::{ImageFile, open_regular, read_regular, unreadable};
pub use image::check_image;
/// The loader's handle, for the code that [`functions!`] writes.
pub use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
