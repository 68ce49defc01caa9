//! The description of an engine behind a shim, and its driver.

use std::path::Path;

use engine::{Driver, EngineError, OpenSpec, Setting};
use model::{Capabilities, Identity, Options};

use crate::driver::ShimDriver;

/// Description of an engine behind a shim.
///
/// Both functions get the build's identity: a shim reports differences between builds as facts
/// (`value_bytes_max`).
#[derive(Debug, Clone, Copy)]
pub struct Binding {
    /// The engine's name.
    pub engine: &'static str,
    /// Returns the build's capabilities.
    pub capabilities: fn(&Identity) -> Capabilities,
    /// Translates a spec into the options that the shim receives.
    ///
    /// Settings are checked against `capabilities` before; options must be checked here.
    pub translate: fn(&OpenSpec, &Identity) -> Result<Options, EngineError>,
    /// Settings and the options that `translate` makes of them.
    pub settings: &'static [(Setting, &'static str)],
    /// Files in the data directory to archive: logs, configuration.
    pub own_files: &'static [&'static str],
}

/// Loads the engine's library at `path` through its shim.
///
/// A process takes one library: the first one stays loaded until the process ends.
///
/// # Errors
/// When the library or its shim is absent or cannot be loaded, when the shim lacks a function or
/// has another version of the interface, or when the process holds another library.
pub fn open_library(
    path: &Path,
    binding: &'static Binding,
) -> Result<Box<dyn Driver>, EngineError> {
    Ok(Box::new(ShimDriver::load(path, binding)?))
}
