//! What the store is told of engines, for it knows none.

use std::path::Path;

use model::SmokeTestFailure;
use shim::Recipe;

use crate::server::ServerProgram;

/// Tries the library of an engine at a path, in a process of its own; the last is a directory that
/// the engine may use.
pub type SmokeTest = Box<dyn Fn(&str, &Path, &Path) -> Result<(), SmokeTestFailure> + Send + Sync>;

/// What the store must know of engines.
pub struct Engines {
    /// Returns how an engine's shim is compiled; `None` for one that needs none.
    pub recipe: fn(&str) -> Option<Recipe>,
    /// The engines whose builds are servers: programs amid their files, not libraries.
    pub servers: Vec<ServerProgram>,
    /// Command of the C compiler.
    pub compiler: String,
    /// Tries a library before it is kept.
    pub smoke_test: SmokeTest,
}

impl Default for Engines {
    /// Knows no engine: nothing is compiled and nothing is tried.
    fn default() -> Self {
        Self {
            recipe: |_| None,
            servers: Vec::new(),
            compiler: "cc".to_owned(),
            smoke_test: Box::new(|_, _, _| Ok(())),
        }
    }
}
