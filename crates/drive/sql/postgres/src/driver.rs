//! The Postgres driver: identity, capabilities, open.

use engine::{Driver, Engine, EngineError, LockWaits, OpenSpec};
use model::{Capabilities, Identity};

use crate::config::NAME;
use crate::wire::Connection;
use crate::{config, instance};

/// Returns the driver of Postgres and compatible servers.
pub fn driver() -> Box<dyn Driver> {
    Box::new(PostgresDriver)
}

/// Opens the server named by [`OpenSpec::endpoint`].
#[derive(Debug, Clone, Copy)]
pub struct PostgresDriver;

impl Driver for PostgresDriver {
    fn identity(&self) -> Identity {
        Identity { engine: NAME.to_owned(), origin: "a server".to_owned(), ..Identity::default() }
    }

    fn capabilities(&self) -> Capabilities {
        capabilities()
    }

    fn open(&self, spec: &OpenSpec) -> Result<Box<dyn Engine>, EngineError> {
        self.open_shared(spec, &LockWaits::default())
    }

    fn open_shared(
        &self,
        spec: &OpenSpec,
        waits: &LockWaits,
    ) -> Result<Box<dyn Engine>, EngineError> {
        let config = config::resolve(spec, &self.capabilities())?;
        Ok(Box::new(instance::open((spec, waits), config)?))
    }
}

pub(crate) fn capabilities() -> Capabilities {
    driver_sql::capabilities::<Connection>(
        "pages are stored as given; only long values are compressed",
    )
}
