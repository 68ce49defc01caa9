//! A shared connection for control queries.

use std::sync::{Mutex, PoisonError};

use engine::EngineError;

use crate::connection::{Connection, Reply};

/// A shared connection, opened on first use and after a loss.
#[derive(Debug)]
pub struct Control<C>(Mutex<Option<C>>);

impl<C> Default for Control<C> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<C: Connection> Control<C> {
    /// Returns the control connection over an open one.
    pub(crate) fn new(connection: C) -> Self {
        Self(Mutex::new(Some(connection)))
    }

    /// Runs a query, once more over a new connection after a loss.
    ///
    /// # Errors
    /// When the server refuses it, or cannot be reached again.
    pub fn run<T>(
        &self,
        open: impl Fn() -> Result<C, EngineError>,
        mut query: impl FnMut(&mut C) -> Reply<T, C>,
    ) -> Result<T, EngineError> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(connection) = slot.as_mut() {
            match query(connection) {
                Err(failure) if failure.is_loss() => *slot = None,
                answer => return Ok(answer?),
            }
        }
        Ok(query(slot.insert(open()?))?)
    }
}
