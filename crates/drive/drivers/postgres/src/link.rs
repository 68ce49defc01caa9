//! A connection with everything that was prepared on it: lost together, made together.

use model::Endpoint;

use crate::config::Config;
use crate::key_value::KeyValue;
use crate::procedure::Calls;
use crate::wire::{Connection, Failure};

/// What a session works with.
pub(crate) struct Link {
    pub(crate) connection: Connection,
    pub(crate) key_value: KeyValue,
    pub(crate) calls: Calls,
}

impl Link {
    /// Connects; statements are prepared when they are first used.
    pub(crate) fn open(endpoint: &Endpoint, config: &Config) -> Result<Self, Failure> {
        Ok(Self {
            connection: Connection::open(endpoint, &config.session)?,
            key_value: KeyValue::new(config.protocol),
            calls: Calls::new(config.protocol),
        })
    }
}
