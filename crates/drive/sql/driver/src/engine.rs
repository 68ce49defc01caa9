//! The traits of `engine` for an open database.

use std::sync::atomic::Ordering;
use std::time::Duration;

use engine::{Engine, EngineError, Maintenance, Refusal, ServerSide, Session, WaitSampler};
use model::sql::StatementOwner;
use model::{
    Bounds, Call, DurabilityRecord, EngineState, Identity, Nanos, Options, StatementState,
};

use crate::connection::{Connection, Reply};
use crate::database::{Database, SqlEngine};
use crate::open_sessions::SessionRole;
use crate::session::SqlSession;
use crate::timed_stream::now;
use crate::waits::SqlWaits;
use crate::{inspect, pooler, table_spec, trial_call};

/// Longest time of a statement that is checked: on next to no rows, a valid one is done by then.
const CHECK_WITHIN: Duration = Duration::from_secs(5);
/// Exchanges of an empty query of which the shortest counts.
///
/// Our choice: other work delays a few exchanges, and 20 take milliseconds in a data centre.
const EXCHANGES: usize = 20;

impl<D: Database> SqlEngine<D> {
    /// Returns the qualified name of a copy of an application's table, and its column of ids.
    fn table(&self, position: u16, number: u32) -> Option<(String, Option<String>)> {
        let quote = D::Connection::SQL.quote;
        let setup = self.setup.as_ref().filter(|setup| number < setup.copies(position))?;
        let table = setup.application.tables.get(usize::from(position))?;
        let id = table.id.as_ref().map(|id| format!("{quote}{id}{quote}"));
        let schema = &self.config.data_set.schema;
        Some((D::Connection::qualified(schema, &table_spec::name(&table.name, number)), id))
    }

    /// Runs a query that may wait for locks on the control connection.
    fn watched<T>(
        &self,
        query: impl FnMut(&mut D::Connection) -> Reply<T, D::Connection>,
    ) -> Result<T, EngineError> {
        self.lock_watch.during(|| self.with_control_unlimited(query))
    }
}

impl<D: Database> Engine for SqlEngine<D> {
    fn session(&self) -> Result<Box<dyn Session + '_>, EngineError> {
        D::restore(self)?;
        Ok(Box::new(SqlSession::new(self, SessionRole::Measured)?))
    }

    fn writer_session(&self) -> Result<Box<dyn Session + '_>, EngineError> {
        D::restore(self)?;
        Ok(Box::new(SqlSession::new(self, SessionRole::Background)?))
    }

    fn expect_outages(&self, is_expected: bool) {
        self.has_outages.store(is_expected, Ordering::Relaxed);
    }

    fn server(&self) -> Option<&dyn ServerSide> {
        Some(self)
    }

    fn lock_wait(&self) -> Option<String> {
        self.lock_watch.query(&mut None, &self.sessions.numbers()).ok().flatten()
    }

    fn is_busy(&self) -> bool {
        self.lock_watch.is_busy(self.sessions.numbers())
    }

    fn identity(&self) -> Identity {
        let mut identity = D::identity(self);
        if self.config.is_pooled {
            identity.facts.insert("pooler".to_owned(), pooler::NOTE.to_owned());
        }
        if let Some(note) = self.config.certificate_note {
            identity.facts.insert("server_certificate".to_owned(), note.to_owned());
        }
        identity
    }

    fn effective_options(&self) -> Result<Options, EngineError> {
        D::effective_options(self)
    }

    fn durability(&self) -> Result<DurabilityRecord, EngineError> {
        let mut connection = self.connect()?;
        connection.limit_wait(Some(self.lock_watch.silent_max()))?;
        let mut had = D::durability(&mut connection, &self.tables)?;
        if self.config.endpoint.is_foreign {
            had.notes.extend(D::overridden(self)?);
            had.notes.extend(self.config.is_pooled.then(|| pooler::NOTE.to_owned()));
            had.notes.extend(self.config.certificate_note.map(str::to_owned));
        }
        Ok(had)
    }

    fn maintain(&self, work: Maintenance) -> Result<bool, EngineError> {
        self.lock_watch.during(|| D::maintain(self, work))
    }

    fn state(&self) -> Result<EngineState, EngineError> {
        let mut state = D::state(self)?;
        #[expect(clippy::cast_precision_loss, reason = "a session makes a few")]
        let reconnects = self.reconnects.load(Ordering::Relaxed) as f64;
        state.readings.set(model::metric::CLIENT_RECONNECTS, reconnects);
        Ok(state)
    }

    fn statistics_text(&self) -> Option<String> {
        self.with_control(D::statistics).ok()
    }

    fn check_clients(&self, clients: u64) -> Result<(), EngineError> {
        self.check_limits(clients)
    }

    /// Leaves the tables: an own server is wiped with its run, a foreign one keeps them.
    fn close(self: Box<Self>) -> Result<(), EngineError> {
        self.lock_watch.during(|| {
            D::restore(&self)?;
            D::verify(&self)
        })
    }
}

impl<D: Database> ServerSide for SqlEngine<D> {
    fn wait_sampler(&self) -> Result<Option<Box<dyn WaitSampler + '_>>, EngineError> {
        if !self.config.own.samples_waits {
            return Ok(None);
        }
        let sampler = SqlWaits::open(self)?;
        Ok(sampler.map(|sampler| Box::new(sampler) as Box<dyn WaitSampler>))
    }

    fn data_set(&self) -> Option<String> {
        Some(self.config.data_set.token.clone())
    }

    fn round_trip(&self) -> Result<Option<Nanos>, EngineError> {
        self.with_control(|connection| {
            let mut shortest = Duration::MAX;
            for _ in 0..EXCHANGES {
                let start = now();
                connection.ping()?;
                shortest = shortest.min(now().duration_since(start));
            }
            Ok(u64::try_from(shortest.as_nanos()).ok().map(Nanos))
        })
    }

    fn structure_text(&self) -> Option<String> {
        self.lock_watch.during(|| D::structure(self)).ok().flatten()
    }

    fn bounds(&self, table: u16, number: u32) -> Result<Option<Bounds>, EngineError> {
        let Some((name, Some(id))) = self.table(table, number) else { return Ok(None) };
        let sql = format!("SELECT min({id}), max({id}) FROM {name}");
        let rows = self.watched(|connection| connection.rows(&sql))?;
        let numbers: Vec<i64> = rows.iter().flatten().filter_map(|id| id.parse().ok()).collect();
        Ok(Some(match numbers[..] {
            [first, last] => Bounds { first, next: last.saturating_add(1) },
            _ => Bounds::default(),
        }))
    }

    fn count_rows(&self, table: u16, number: u32) -> Result<Option<u64>, EngineError> {
        let Some((name, _)) = self.table(table, number) else { return Ok(None) };
        let sql = format!("SELECT count(*) FROM {name}");
        let count = self.watched(|connection| connection.first(&sql))?;
        Ok(count.and_then(|count| count.parse().ok()))
    }

    fn check_row(&self, check: u16, number: u32) -> Result<Option<Vec<String>>, EngineError> {
        let Some(setup) = self.setup.as_ref() else { return Ok(None) };
        let checks = &setup.application.checks;
        let Some(check) = checks.get(usize::from(check)) else { return Ok(None) };
        let [query] = check.query.by(D::Connection::SQL.dialect).as_slice() else {
            return Ok(None);
        };
        let sql = table_spec::query_text(setup, query, check.table, number);
        match self.watched(|connection| connection.rows(&sql)) {
            Ok(rows) => Ok(rows.into_iter().next()),
            Err(error @ EngineError::Timeout(_)) => Err(error),
            Err(error) => {
                let owner = StatementOwner::Check(check.name.clone());
                Err(Refusal::Statement { owner, index: 0, reason: error.to_string() }.into())
            }
        }
    }

    fn statements(
        &self,
        call: &Call<'_>,
        executes: bool,
    ) -> Result<Vec<StatementState>, EngineError> {
        self.lock_watch.during(|| inspect::statements(self, call, executes))
    }

    fn check_call(&self, call: &Call<'_>) -> Result<(), EngineError> {
        self.lock_watch.during(|| {
            let mut connection = self.connect_within(CHECK_WITHIN)?;
            trial_call::check_call(self, &mut connection, call)
        })
    }
}
