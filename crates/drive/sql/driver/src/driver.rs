//! The driver of one kind of SQL server.

use engine::{Driver, Engine, EngineError, LockWaits, OpenSpec};
use model::{Capabilities, Identity};

/// Opens a server, with the waits for locks of the run.
type Open = fn(&OpenSpec, &LockWaits) -> Result<Box<dyn Engine>, EngineError>;

/// The driver of one kind of SQL server, which opens the server of [`OpenSpec::endpoint`].
#[derive(Debug, Clone, Copy)]
pub struct SqlDriver {
    /// Name of the engine.
    pub name: &'static str,
    /// Returns the capabilities of its servers.
    pub capabilities: fn() -> Capabilities,
    /// Connects, checks the server and creates missing tables.
    pub open: Open,
}

impl Driver for SqlDriver {
    /// Version and facts are known once connected.
    fn identity(&self) -> Identity {
        let origin = "a server".to_owned();
        Identity { engine: self.name.to_owned(), origin, ..Identity::default() }
    }

    fn capabilities(&self) -> Capabilities {
        (self.capabilities)()
    }

    fn open(&self, spec: &OpenSpec) -> Result<Box<dyn Engine>, EngineError> {
        self.open_shared(spec, &LockWaits::default())
    }

    fn open_shared(
        &self,
        spec: &OpenSpec,
        waits: &LockWaits,
    ) -> Result<Box<dyn Engine>, EngineError> {
        (self.open)(spec, waits)
    }
}
