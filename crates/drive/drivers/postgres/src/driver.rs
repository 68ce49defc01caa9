//! The Postgres driver: identity, capabilities, open.

use engine::{Driver, Engine, EngineError, OpenSpec, PIPELINING};
use model::capability::{CACHE_SIZE, COMPRESSION, CONCURRENT_WRITERS, DIRECT_IO, Feature};
use model::{Capabilities, Identity, OpKind};

use crate::config::NAME;
use crate::{config, instance};

/// Longest key, bytes: a third of a B-tree page, less the headers of the index entry (8 bytes)
/// and of the value (4).
///
/// Source: Postgres' source, `BTMaxItemSize` in `nbtree.h`, 2704 for pages of 8 KiB.
const KEY_BYTES_MAX: u32 = 2704 - 8 - 4;
/// Longest value, bytes: half of the longest message, as hex takes two digits per byte.
///
/// Source: Postgres' documentation, "Limits", field size 1 GB.
const VALUE_BYTES_MAX: u32 = 500 << 20;

/// Returns the driver of Postgres and compatible servers.
#[must_use]
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
        let config = config::resolve(spec, &self.capabilities())?;
        Ok(Box::new(instance::open(spec, config)?))
    }
}

/// Returns the capabilities of Postgres.
pub(crate) fn capabilities() -> Capabilities {
    Capabilities {
        operations: OpKind::ALL.into(),
        key_bytes_max: Some(KEY_BYTES_MAX),
        value_bytes_max: Some(VALUE_BYTES_MAX),
        ..Capabilities::whole([
            (CONCURRENT_WRITERS, Feature::Yes),
            (CACHE_SIZE, Feature::Yes),
            (
                COMPRESSION,
                Feature::no("pages are stored as given; only long values are compressed"),
            ),
            (DIRECT_IO, Feature::Yes),
            (PIPELINING, Feature::Yes),
        ])
    }
}
