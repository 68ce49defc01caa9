//! A connection with its prepared statements.
//!
//! They are lost and replaced together.

use model::Endpoint;

use crate::config::Config;
use crate::key_value::KeyValue;
use crate::procedure::Calls;
use crate::wire::{Connection, Failure};

/// A connection and the statements prepared on it.
pub(crate) struct Link {
    pub(crate) connection: Connection,
    pub(crate) key_value: KeyValue,
    pub(crate) calls: Calls,
}

impl Link {
    /// Connects; statements are prepared on first use.
    pub(crate) fn open(endpoint: &Endpoint, config: &Config) -> Result<Self, Failure> {
        Ok(Self {
            connection: Connection::open(endpoint, &config.session)?,
            key_value: KeyValue::new(config.protocol),
            calls: Calls::new(config.protocol),
        })
    }
}
