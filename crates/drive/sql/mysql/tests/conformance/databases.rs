//! A driver whose engines are databases of one server.
//!
//! A server per engine would take minutes.

use std::hash::{DefaultHasher, Hash, Hasher};

use engine::{Driver, Engine, EngineError, OpenSpec};
use model::{Capabilities, Endpoint, Identity};
use server::Kind;

use crate::test_server::Server;

/// One server; each directory is a database of it.
pub(crate) struct Databases {
    kind: &'static dyn Kind,
    endpoint: Endpoint,
    driver: Box<dyn Driver>,
}

impl Databases {
    /// Returns a driver of databases on `server`.
    pub(crate) fn new(server: &Server, driver: Box<dyn Driver>) -> Self {
        Self { kind: server.kind(), endpoint: server.endpoint(), driver }
    }
}

impl Driver for Databases {
    fn identity(&self) -> Identity {
        self.driver.identity()
    }

    fn capabilities(&self) -> Capabilities {
        self.driver.capabilities()
    }

    fn open(&self, spec: &OpenSpec) -> Result<Box<dyn Engine>, EngineError> {
        let mut hasher = DefaultHasher::new();
        spec.dir.hash(&mut hasher);
        let database = format!("d{:016x}", hasher.finish());
        let endpoint = Endpoint { database, ..self.endpoint.clone() };
        self.kind.probe(&endpoint)?;
        self.driver.open(&OpenSpec { endpoint: Some(endpoint), ..spec.clone() })
    }
}
