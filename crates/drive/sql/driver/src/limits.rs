//! Whether the limits of a login and a server leave room for a run.

use engine::EngineError;
use model::sql::{Copies, Procedure, Protocol};

use crate::connection::Connection;
use crate::database::{Database, SqlEngine};
use crate::obstacle::{SessionNeeds, refuse};

/// Connections next to those of clients and writers: control, waits, locks, maintenance, checks.
const OWN_CONNECTIONS: u64 = 5;
/// Statements that a session of keys and values prepares at most.
const KEY_VALUE_STATEMENTS: u64 = 8;

impl<D: Database> SqlEngine<D> {
    /// Checks that the limits of the login and the server leave room for so many clients.
    pub(crate) fn check_limits(&self, clients: u64) -> Result<(), EngineError> {
        let connections = clients + OWN_CONNECTIONS;
        let statements = clients * self.statements_per_session();
        let needs = SessionNeeds { connections, statements };
        let obstacles = self.with_control(|connection| D::limits(self, connection, needs))?;
        refuse::<D::Connection>(&self.config.endpoint, &obstacles)
    }

    /// Returns the statements that a session prepares at most.
    fn statements_per_session(&self) -> u64 {
        let dialect = D::Connection::SQL.dialect;
        let Some(setup) = &self.setup else {
            let is_prepared = self.config.plain_protocol() == Protocol::Prepared;
            return if is_prepared { KEY_VALUE_STATEMENTS } else { 0 };
        };
        let application = &setup.application;
        let of_procedure = |procedure: &Procedure| {
            let table = application.tables.get(usize::from(procedure.table));
            // A client has one of the copies for each client.
            let copies = match table.map(|table| table.copies) {
                Some(Copies::Fixed(copies)) => u64::from(copies),
                Some(Copies::PerClient) | None => 1,
            };
            let is_prepared = self.config.protocol_of(procedure, dialect) == Protocol::Prepared;
            let statements = procedure.statements.by(dialect).len() as u64;
            if is_prepared { statements * copies } else { 0 }
        };
        application.procedures.iter().map(of_procedure).sum()
    }
}
