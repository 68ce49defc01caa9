//! Waits of the sessions of a server, sampled over a connection of its own.

use std::time::Duration;

use engine::{EngineError, WaitSampler};
use model::WaitProfile;

use crate::connection::Connection;
use crate::database::{Database, SqlEngine, WaitQuery};
use crate::failure::{Failure, unless_refused};

/// A connection that samples waits.
pub(crate) struct SqlWaits<'e, D: Database> {
    engine: &'e SqlEngine<D>,
    connection: D::Connection,
    query: WaitQuery,
}

impl<'e, D: Database> SqlWaits<'e, D> {
    /// Connects; `None` when the server takes no further connection, or none of the queries.
    pub(crate) fn open(engine: &'e SqlEngine<D>) -> Result<Option<Self>, EngineError> {
        // One that takes none at all fails the clients, which report why.
        let Ok(mut connection) = engine.connect() else { return Ok(None) };
        connection.limit_wait(Some(engine.lock_watch.silent_max()))?;
        for query in D::wait_queries() {
            if unless_refused(takes(&mut connection, &query))? == Some(true) {
                return Ok(Some(Self { engine, connection, query }));
            }
        }
        Ok(None)
    }
}

/// Returns whether the server takes a query, which is then prepared.
fn takes<C: Connection>(connection: &mut C, query: &WaitQuery) -> Result<bool, Failure<C::Error>> {
    if connection.first(query.needs)?.is_none() {
        return Ok(false);
    }
    if !query.prepare.is_empty() {
        connection.run(query.prepare)?;
    }
    connection.run(&query.sample)?;
    Ok(true)
}

impl<D: Database> WaitSampler for SqlWaits<'_, D> {
    fn least_pause(&self) -> Duration {
        self.query.least_pause
    }

    fn sample(&mut self, profile: &mut WaitProfile) -> Result<(), EngineError> {
        let sample = self.connection.pairs(&self.query.sample)?;
        self.engine.sessions.add(&sample, profile);
        Ok(())
    }
}
