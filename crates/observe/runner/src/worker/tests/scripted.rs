//! An engine for tests with scripted states.

use std::sync::Mutex;

use engine::{Engine, EngineError, Maintenance, Session};
use model::{EngineState, Identity, Metric, Options, Readings, metric};

/// An engine's state in one sample: idle or not, running jobs, debt in bytes.
pub(crate) type StateSample = (Option<bool>, f64, f64);

/// An engine that returns the given states in turn, the last for ever; without any it fails.
pub(crate) struct Scripted {
    samples: Mutex<Vec<StateSample>>,
    debt: Metric,
    done: Mutex<Vec<Maintenance>>,
}

impl Scripted {
    pub(crate) fn new(samples: &[StateSample]) -> Self {
        Self::with_debt(metric::ENGINE_DEBT_BYTES, samples)
    }

    /// Returns an engine whose debt has that name.
    pub(crate) fn with_debt(debt: Metric, samples: &[StateSample]) -> Self {
        let samples = samples.iter().rev().copied().collect();
        Self { samples: Mutex::new(samples), debt, done: Mutex::default() }
    }

    /// Returns the requested maintenance.
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
        let mut samples = self.samples.lock().unwrap();
        let Some(&(is_idle, jobs, debt)) = samples.last() else {
            return Err(EngineError::Fatal("out of samples".to_owned()));
        };
        if samples.len() > 1 {
            samples.pop();
        }
        let named = [(metric::ENGINE_BACKGROUND_JOBS, jobs), (self.debt, debt)];
        let readings = Readings::from(named);
        Ok(EngineState { readings, is_idle, ..EngineState::default() })
    }

    fn close(self: Box<Self>) -> Result<(), EngineError> {
        Ok(())
    }
}
