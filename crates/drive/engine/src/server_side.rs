//! The trait of servers: tables of applications, statements and waits.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use model::sql::Copies;
use model::{Application, Bounds, Call, Nanos, StatementState, WaitProfile};

use crate::error::Result;

/// An application and its maximum number of clients.
#[derive(Debug, Clone, PartialEq)]
pub struct ApplicationSetup {
    /// The application.
    pub application: Arc<Application>,
    /// Maximum clients of any step; each has its own per-client tables.
    pub clients: u32,
}

impl ApplicationSetup {
    /// Returns the number of copies of the table at `position`.
    pub fn copies(&self, position: u16) -> u32 {
        match self.application.tables.get(usize::from(position)).map(|table| table.copies) {
            Some(Copies::PerClient) => self.clients,
            Some(Copies::Fixed(count)) => count,
            None => 0,
        }
    }

    /// Returns the copy of the table at `position` that a call on copy `number` of another reaches.
    pub fn reached(&self, position: u16, number: u32) -> u32 {
        number % self.copies(position).max(1)
    }
}

/// File in a data directory that holds the token of the directory's data set on a server.
pub const DATA_SET_FILE: &str = "assay-tables";

/// Makes an empty data directory one of a data set that another process has set up on a server.
///
/// # Errors
/// When the file cannot be written.
pub fn join_data_set(dir: &Path, token: &str) -> io::Result<()> {
    fs::write(dir.join(DATA_SET_FILE), token)
}

/// An open server: what an embedded engine has no equivalent of.
pub trait ServerSide: Send + Sync {
    /// Returns a sampler of what sessions wait for; `None` when the engine names no waits.
    ///
    /// # Errors
    /// When the engine does not respond.
    fn wait_sampler(&self) -> Result<Option<Box<dyn WaitSampler + '_>>> {
        Ok(None)
    }

    /// Returns the token of the data set, for [`join_data_set`]; `None` without tables on a server.
    fn data_set(&self) -> Option<String> {
        None
    }

    /// Returns the shortest time of several exchanges of an empty query with the server.
    ///
    /// `None` without a server. Not for measured spans.
    ///
    /// # Errors
    /// When the engine does not respond.
    fn round_trip(&self) -> Result<Option<Nanos>> {
        Ok(None)
    }

    /// Returns the structure of tables and indexes as text; it may read all of them.
    ///
    /// `None` when the engine does not report it. For the end of a run: it moves caches.
    fn structure_text(&self) -> Option<String> {
        None
    }

    /// Returns the id range of copy `number` (from 0) of table `table`.
    ///
    /// `None` when the table assigns no ids.
    ///
    /// # Errors
    /// When the engine does not respond.
    fn bounds(&self, _table: u16, _number: u32) -> Result<Option<Bounds>> {
        Ok(None)
    }

    /// Counts the rows of copy `number` of table `table`.
    ///
    /// `None` when the engine has no tables.
    ///
    /// # Errors
    /// When the engine does not respond.
    fn count_rows(&self, _table: u16, _number: u32) -> Result<Option<u64>> {
        Ok(None)
    }

    /// Returns the first row of one of the application's checks, as texts; null is empty.
    ///
    /// `check` is its position, `number` the copy of its table. `None` without a row; an engine
    /// that runs no application has none.
    ///
    /// # Errors
    /// [`Refusal::Statement`](crate::Refusal::Statement) when the server rejects the query, another
    /// when it does not respond.
    fn check_row(&self, _check: u16, _number: u32) -> Result<Option<Vec<String>>> {
        Ok(None)
    }

    /// Returns the statements of a call as the server sees them now; empty without a server.
    ///
    /// Plans are those for the call's values. When `executes`, statements that only read are
    /// executed once for the plan's text. Not for measured spans.
    ///
    /// # Errors
    /// When the engine does not respond.
    fn statements(&self, _call: &Call<'_>, _executes: bool) -> Result<Vec<StatementState>> {
        Ok(Vec::new())
    }

    /// Executes a call on data that will be discarded, to check its statements.
    ///
    /// # Errors
    /// [`Refusal::Statement`](crate::Refusal::Statement) with the first one that the server
    /// rejects, whatever the rows.
    fn check_call(&self, _call: &Call<'_>) -> Result<()> {
        Ok(())
    }
}

/// Samples what the open sessions wait for, over a connection of its own.
pub trait WaitSampler: Send {
    /// Returns the shortest pause between two samples; after a shorter one a sample may be old.
    fn least_pause(&self) -> Duration {
        Duration::ZERO
    }

    /// Adds one sample.
    ///
    /// # Errors
    /// When the engine does not respond: what was sampled so far is not the whole span.
    fn sample(&mut self, profile: &mut WaitProfile) -> Result<()>;
}
