//! Engine descriptions that callers give the store.

use std::path::Path;

use ::server::Kind;
use model::SmokeTestFailure;
use shim::Recipe;

use crate::server::ServerProgram;

/// Tests an engine's library in a process of its own.
///
/// Arguments: engine, path of the library, scratch directory.
pub type SmokeTest = Box<dyn Fn(&str, &Path, &Path) -> Result<(), SmokeTestFailure> + Send + Sync>;

/// Checks that the file system of a directory has room for a build.
///
/// # Errors
/// The path, its free space and the space needed.
pub type CheckRoom = fn(&Path) -> Result<(), String>;

/// What the store needs to know of engines.
pub struct Engines {
    /// Recipe of an engine's shim; `None` when it needs none.
    pub recipe: fn(&str) -> Option<Recipe>,
    /// The engines whose builds are servers, programs with their files.
    pub servers: Vec<ServerProgram>,
    /// Kind of an engine's servers, which checks releases and files; `None` when unknown.
    pub kind: fn(&str) -> Option<&'static dyn Kind>,
    /// Command of the C compiler.
    pub compiler: String,
    /// Tests a library before it is cached.
    pub smoke_test: SmokeTest,
    /// Checks the cache's file system before a build is fetched or compiled.
    pub check_room: CheckRoom,
}

impl Default for Engines {
    /// Describes no engine: no shim is compiled, no library tested, no room checked.
    fn default() -> Self {
        Self {
            recipe: |_| None,
            servers: Vec::new(),
            kind: |_| None,
            compiler: "cc".to_owned(),
            smoke_test: Box::new(|_, _, _| Ok(())),
            check_room: |_| Ok(()),
        }
    }
}
