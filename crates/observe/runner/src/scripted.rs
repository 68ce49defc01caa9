//! An engine for tests that only answers looks at its state.

use std::sync::Mutex;

use engine::{Engine, EngineError, Maintenance, Session};
use model::{EngineState, Identity, Options, Readings};

/// What an engine says at one look: idle or not, jobs that run, debt in bytes.
pub(crate) type Look = (Option<bool>, f64, f64);

/// An engine that answers looks: those given in turn, the last for ever; without any it fails.
pub(crate) struct Scripted {
    looks: Mutex<Vec<Look>>,
    debt: &'static str,
    done: Mutex<Vec<Maintenance>>,
}

impl Scripted {
    pub(crate) fn new(looks: &[Look]) -> Self {
        Self::owing("engine_debt_bytes", looks)
    }

    /// Returns an engine whose debt goes by that name.
    pub(crate) fn owing(debt: &'static str, looks: &[Look]) -> Self {
        let looks = looks.iter().rev().copied().collect();
        Self { looks: Mutex::new(looks), debt, done: Mutex::default() }
    }

    /// Returns the maintenance it was asked for.
    pub(crate) fn done(&self) -> Vec<Maintenance> {
        self.done.lock().unwrap().clone()
    }
}

impl Engine for Scripted {
    fn session(&self) -> Result<Box<dyn Session + '_>, EngineError> {
        Err(EngineError::Unsupported("no clients here".to_owned()))
    }

    fn identity(&self) -> Identity {
        Identity::default()
    }

    fn effective_options(&self) -> Result<Options, EngineError> {
        Ok(Options::new())
    }

    fn maintain(&self, work: Maintenance) -> Result<bool, EngineError> {
        self.done.lock().unwrap().push(work);
        Ok(true)
    }

    fn state(&self) -> Result<EngineState, EngineError> {
        let mut looks = self.looks.lock().unwrap();
        let Some(&(is_idle, jobs, debt)) = looks.last() else {
            return Err(EngineError::Fatal("out of looks".to_owned()));
        };
        if looks.len() > 1 {
            looks.pop();
        }
        let named = [("engine_background_jobs", jobs), (self.debt, debt)];
        let readings: Readings =
            named.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Ok(EngineState { readings, is_idle, ..EngineState::default() })
    }

    fn close(self: Box<Self>) -> Result<(), EngineError> {
        Ok(())
    }
}
