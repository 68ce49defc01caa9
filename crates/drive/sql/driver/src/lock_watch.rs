//! Waits for locks: reported with who holds them, and limited outside of measured spans.

use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use engine::{EngineError, LockWaits};
use model::Endpoint;

use crate::connection::{Connection, Reply};
use crate::socket::Contact;

/// Time between two queries of what statements wait for; the first comes that long after a begin.
const POLL: Duration = Duration::from_secs(1);
/// Longest time of such a query.
const QUERY_MAX: Duration = Duration::from_secs(5);
/// Most sessions that a report names.
const NAMED_MAX: usize = 3;

/// What statements waited for, as a sentence.
#[derive(Default)]
struct NamedWait {
    /// Until they were over, as far as it was queried.
    lasting: Option<String>,
    /// At the last query that found any.
    latest: Option<String>,
}

/// The connections of a run that are no clients', and how long they wait for locks.
pub(crate) struct LockWatch<C: Connection> {
    waits: LockWaits,
    endpoint: Endpoint,
    /// Configuration of the session that queries the holders.
    session: C::Session,
    /// The server's numbers of the connections.
    numbers: Mutex<Vec<u64>>,
}

impl<C: Connection> LockWatch<C> {
    pub(crate) const fn new(waits: LockWaits, endpoint: Endpoint, session: C::Session) -> Self {
        Self { waits, endpoint, session, numbers: Mutex::new(Vec::new()) }
    }

    /// Returns the waits of the run.
    pub(crate) const fn waits(&self) -> &LockWaits {
        &self.waits
    }

    /// Returns the longest wait for a lock.
    pub(crate) const fn limit(&self) -> Duration {
        self.waits.limit
    }

    /// Returns the longest time of an answer.
    pub(crate) const fn silent_max(&self) -> Duration {
        self.waits.silent_max
    }

    /// Watches a connection, and limits its waits for locks.
    pub(crate) fn add(&self, connection: &mut C) -> Reply<(), C> {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        numbers.extend(connection.number());
        connection.limit_lock_waits(self.waits.limit)
    }

    /// Runs statements on watched connections; reports whom they wait for, once for each wait.
    ///
    /// An error of a statement that waited has the sentence too.
    pub(crate) fn during<T>(
        &self,
        statements: impl FnOnce() -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let (end, is_over) = sync_channel::<()>(0);
        let (done, wait) = thread::scope(|scope| {
            let watching = move || self.watch(&is_over);
            // Without a thread the wait is limited all the same, and its report is missing.
            let watcher = thread::Builder::new().spawn_scoped(scope, watching).ok();
            let done = statements();
            drop(end);
            (done, watcher.and_then(|watcher| watcher.join().ok()).unwrap_or_default())
        });
        // The server ends a wait at its limit before this process has the error.
        done.map_err(|error| {
            let is_timeout = matches!(error, EngineError::Timeout(_));
            let wait = if is_timeout { wait.latest } else { wait.lasting };
            match wait {
                Some(wait) => error.because(&format!(
                    "{wait}; end the session that holds the lock, or repeat when the session has \
                     ended"
                )),
                None => error,
            }
        })
    }

    /// Reports waits until the statements are over.
    fn watch(&self, is_over: &Receiver<()>) -> NamedWait {
        let (mut connection, mut named) = (None, NamedWait::default());
        while is_over.recv_timeout(POLL) == Err(RecvTimeoutError::Timeout) {
            // A server that does not answer names no session.
            let numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let wait = self.query(&mut connection, &numbers).unwrap_or_default();
            if let Some(text) = wait.as_ref().filter(|_| wait != named.lasting) {
                self.waits.report(text);
                named.latest = Some(text.clone());
            }
            // A statement that ended meanwhile waits no longer: what it waited for stays.
            if wait.is_some() || is_over.try_recv() == Err(TryRecvError::Empty) {
                named.lasting = wait;
            }
        }
        named
    }

    /// Returns the connection that queries, opened if it is not yet.
    fn connected<'c>(&self, connection: &'c mut Option<C>) -> Reply<&'c mut C, C> {
        match connection {
            Some(connection) => Ok(connection),
            None => {
                let opened =
                    connection.insert(C::open(&self.endpoint, &self.session, Contact::Known)?);
                opened.limit_wait(Some(self.silent_max()))?;
                opened.limit_time(QUERY_MAX)?;
                Ok(opened)
            }
        }
    }

    /// Returns whether the server executes a statement of a watched connection, or one of `others`.
    ///
    /// Unknown counts as yes, and no answer as no.
    pub(crate) fn is_busy(&self, others: Vec<u64>) -> bool {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner).clone();
        numbers.extend(others);
        let numbers: Vec<_> = numbers.iter().map(u64::to_string).collect();
        let query = format!("{} ({})", C::SQL.busy, numbers.join(","));
        let counted = self.connected(&mut None).and_then(|connection| connection.first(&query));
        match counted {
            Ok(count) => count.as_deref() != Some("0"),
            Err(failure) => !failure.is_loss(),
        }
    }

    /// Returns what the connections of these numbers wait for, as a sentence.
    pub(crate) fn query(
        &self,
        connection: &mut Option<C>,
        numbers: &[u64],
    ) -> Reply<Option<String>, C> {
        let connection = self.connected(connection)?;
        for query in C::lock_queries(numbers) {
            // A release without such views, or a login without rights.
            let Ok(pairs) = connection.pairs(&query) else { continue };
            let Some((statement, _)) = pairs.first() else { continue };
            let holders: Vec<_> = pairs.iter().map(|(_, holder)| holder.as_str()).collect();
            let others = holders.len().saturating_sub(NAMED_MAX);
            let mut named = holders[..holders.len() - others].join("; ");
            if others > 0 {
                named.push_str(&format!("; and {others} more"));
            }
            return Ok(Some(format!("`{}` waits for {named}", statement.trim())));
        }
        Ok(None)
    }
}
