//! What a driver tells of its engine, and the way from there to a driver.

use std::path::Path;

use engine::{Driver, EngineError, OpenSpec};
use model::{Capabilities, Identity, Options};

use crate::driver::ShimDriver;

/// What a driver tells of an engine that it drives through a shim.
///
/// Both functions get what the build told of itself; a shim that tells builds apart does so by
/// facts (`value_bytes_max`), which the driver reads there.
#[derive(Debug, Clone, Copy)]
pub struct Binding {
    /// The engine's name.
    pub engine: &'static str,
    /// Returns what the build can do.
    pub capabilities: fn(&Identity) -> Capabilities,
    /// Returns the engine's own options for what is asked; the shim sees nothing else.
    ///
    /// What `capabilities` denies is refused before; options must be checked here.
    pub translate: fn(&OpenSpec, &Identity) -> Result<Options, EngineError>,
    /// Files in the data directory to be archived with the run: logs, configuration.
    pub own_files: &'static [&'static str],
}

/// Loads the shim beside the engine's library at `path`, and with it the library.
///
/// A process takes one library: the first one stays loaded until the process ends.
///
/// # Errors
/// When the library or its shim is absent or cannot be loaded, when the shim lacks a function or
/// speaks another version of the interface, or when the process holds another library.
pub fn open_library(
    path: &Path,
    binding: &'static Binding,
) -> Result<Box<dyn Driver>, EngineError> {
    Ok(Box::new(ShimDriver::load(path, binding)?))
}
