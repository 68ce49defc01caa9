//! A driver whose engines are databases of one server: starting one for each would take minutes.

use std::hash::{DefaultHasher, Hash, Hasher};

use engine::{Driver, Engine, EngineError, OpenSpec};
use model::{Capabilities, Endpoint, Identity};
use server::Kind;

/// One server; each directory is a database of it.
pub(crate) struct Databases {
    pub(crate) kind: &'static dyn Kind,
    pub(crate) endpoint: Endpoint,
    pub(crate) driver: Box<dyn Driver>,
}

impl Databases {
    /// Returns the database of a directory, made if need be.
    pub(crate) fn endpoint(&self, spec: &OpenSpec) -> Endpoint {
        let mut hasher = DefaultHasher::new();
        spec.dir.hash(&mut hasher);
        let database = format!("d{:016x}", hasher.finish());
        let endpoint = Endpoint { database, ..self.endpoint.clone() };
        self.kind.probe(&endpoint).expect("the server answers");
        endpoint
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
        let endpoint = Some(self.endpoint(spec));
        self.driver.open(&OpenSpec { endpoint, ..spec.clone() })
    }
}
