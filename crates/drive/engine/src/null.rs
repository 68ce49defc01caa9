//! The `null` engine: calibrates the client's own cost.
//!
//! It stores nothing and returns nothing, so a loop over it costs what the client costs. Its
//! answers cannot be checked, so it denies the capability [`ANSWERS`].

use model::capability::{
    CACHE_SIZE, COMPRESSION, CONCURRENT_WRITERS, Capabilities, DIRECT_IO, Feature,
};
use model::{EngineState, Identity, Op, Options, Outcome};

use crate::error::Result;
use crate::rows::Rows;
use crate::settings_check::{check_dir, check_names};
use crate::traits::{ANSWERS, Driver, Engine, Maintenance, OpenSpec, Session, linked};

/// The only build of the `null` engine.
#[derive(Debug, Clone, Copy, Default)]
pub struct NullDriver;

impl Driver for NullDriver {
    fn identity(&self) -> Identity {
        linked("null", env!("CARGO_PKG_VERSION"))
    }

    /// Every setting is offered: an engine that stores nothing satisfies each.
    fn capabilities(&self) -> Capabilities {
        Capabilities::whole([
            (CACHE_SIZE, Feature::Yes),
            (COMPRESSION, Feature::Yes),
            (CONCURRENT_WRITERS, Feature::Yes),
            (DIRECT_IO, Feature::Yes),
            (ANSWERS, Feature::no("returns nothing; calibrates the client")),
        ])
    }

    fn open(&self, spec: &OpenSpec) -> Result<Box<dyn Engine>> {
        check_names("null", &[], &spec.options)?;
        check_dir(&spec.dir)?;
        Ok(Box::new(NullEngine))
    }
}

struct NullEngine;

impl Engine for NullEngine {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(NullSession))
    }

    fn identity(&self) -> Identity {
        NullDriver.identity()
    }

    fn effective_options(&self) -> Result<Options> {
        Ok(Options::new())
    }

    fn maintain(&self, _work: Maintenance) -> Result<bool> {
        Ok(false)
    }

    fn state(&self) -> Result<EngineState> {
        Ok(EngineState { is_idle: Some(true), ..EngineState::default() })
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

struct NullSession;

impl Session for NullSession {
    #[inline]
    fn execute(&mut self, _op: &Op<'_>, _rows: &mut Rows) -> Result<Outcome> {
        Ok(Outcome::Done)
    }
}

#[cfg(test)]
mod tests {
    use model::{DataShape, Durability, Settings};

    use super::*;
    use crate::traits::gives_answers;

    #[test]
    fn every_operation_is_done_and_returns_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let mut spec = OpenSpec::embedded(
            dir.path().to_owned(),
            Settings { durability: Durability::Sync, ..Settings::default() },
            DataShape { rows: 1, key_bytes: 8, value_bytes: 8, compressible_to: 1.0 },
        );
        let engine = NullDriver.open(&spec).unwrap();
        let (mut session, mut rows) = (engine.session().unwrap(), Rows::new());
        for op in [Op::Get { key: b"k" }, Op::Put { key: b"k", value: b"v" }] {
            assert_eq!(session.execute(&op, &mut rows), Ok(Outcome::Done));
            assert_eq!(rows.count(), 0);
        }
        spec.options.set("cache", "1");
        let error = NullDriver.open(&spec).err().unwrap();
        assert_eq!(error.refused_option(), Some("cache"));
    }

    #[test]
    fn answers_are_denied_and_every_other_capability_is_offered() {
        let capabilities = NullDriver.capabilities();
        assert!(!gives_answers(&capabilities));
        assert!(gives_answers(&crate::memory::MemoryDriver.capabilities()));
        let named = [CACHE_SIZE, COMPRESSION, CONCURRENT_WRITERS, DIRECT_IO];
        assert!(named.into_iter().all(|name| capabilities.has(name)));
    }
}
