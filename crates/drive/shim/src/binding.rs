//! The description of an engine behind a shim.

use engine::{EngineError, OpenSpec, Setting};
use model::{Capabilities, Identity, Options};

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
