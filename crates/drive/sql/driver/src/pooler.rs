//! Poolers in front of a server: recognised at login, and refused where they share its sessions.

use std::collections::BTreeSet;
use std::iter::once;
use std::time::Duration;

use engine::EngineError;

use crate::config::Config;
use crate::connection::{Connection, Reply};
use crate::failure::{fatal, unless_refused};
use crate::socket::Contact;

/// Describes a pooler that gives each connection a session of its own.
pub(crate) const NOTE: &str = "a pooler answers in front of the server: response times include \
                               the pooler, and settings that sessions request at login may not \
                               reach the server";
/// Connections that are compared behind a pooler.
///
/// Our choice: a pooler of several processes has a pool in each, and two connections must meet.
const PROBES: usize = 8;
/// Statements of each connection that are compared, two in a row.
///
/// Two in a row differ in pools that give the session that has waited longest, two connections are
/// equal in those that give the one used last; where it is drawn, more rounds find it.
const ROUNDS: usize = 4;
/// Longest wait for a session: a pool that is too small gives none.
const SESSION_WITHIN: Duration = Duration::from_secs(5);

/// Finds out whether a pooler answers in front of a server that Assay did not start.
///
/// Runs before any statement that changes a session: those behind a pooler may be of others.
///
/// # Errors
/// When several connections share a session, or one finds what another has left in it: a lock of
/// the run would protect nothing, and stay.
pub(crate) fn check<C: Connection>(
    connection: &mut C,
    config: &mut Config<C::Session>,
) -> Result<(), EngineError> {
    if !config.endpoint.is_foreign {
        return Ok(());
    }
    let number = connection.session_number()?;
    config.is_pooled = number.is_some() && connection.number() != number;
    let mut others = probes::<C>(config)?;
    let mut found = vec![BTreeSet::new(); others.len() + 1];
    for _ in 0..ROUNDS {
        for (one, numbers) in once(&mut *connection).chain(&mut others).zip(&mut found) {
            numbers.extend(one.session_number()?);
            numbers.extend(one.session_number()?);
        }
    }
    let all: BTreeSet<u64> = found.iter().flatten().copied().collect();
    let is_shared = found.iter().map(BTreeSet::len).sum::<usize>() > all.len();
    if is_shared || found.iter().any(|numbers| numbers.len() > 1) {
        return Err(refusal::<C>(config));
    }
    if config.is_pooled {
        check_reset::<C>(others, config)?;
        number.into_iter().for_each(|number| connection.set_number(number));
    }
    Ok(())
}

/// Opens connections to compare: one, or several where a pooler answers and has as many sessions.
fn probes<C: Connection>(config: &Config<C::Session>) -> Result<Vec<C>, EngineError> {
    let open = || -> Reply<C, C> {
        let mut connection = C::open(&config.endpoint, &config.session, Contact::Known)?;
        connection.limit_wait(Some(SESSION_WITHIN))?;
        connection.session_number().map(|_number| connection)
    };
    let first = match open() {
        Err(failure) if failure.is_loss() && config.is_pooled => {
            return Err(fatal::<C::Error>(format!(
                "a pooler answers at {} and has no second session: {failure}; enlarge the pool \
                 (default_pool_size in PgBouncer), or name the server itself in the dsn",
                config.endpoint.address
            )));
        }
        first => first?,
    };
    let mut connections = vec![first];
    while config.is_pooled && connections.len() < PROBES {
        let Ok(connection) = open() else { break };
        connections.push(connection);
    }
    Ok(connections)
}

/// Checks that the pooler clears a session before it gives it to the next connection.
fn check_reset<C: Connection>(
    mut marked: Vec<C>,
    config: &Config<C::Session>,
) -> Result<(), EngineError> {
    for connection in &mut marked {
        if unless_refused(connection.run(C::SQL.mark_session))?.is_none() {
            return Ok(());
        }
    }
    drop(marked);
    for mut connection in probes::<C>(config)? {
        if connection.first(C::SQL.is_session_marked)?.as_deref() == Some("1") {
            return Err(fatal::<C::Error>(format!(
                "a pooler answers at {}, and a connection finds in its session what another \
                 connection left there, such as locks: make the pooler clear sessions \
                 (server_reset_query = DISCARD ALL in PgBouncer), or name the server itself in \
                 the dsn",
                config.endpoint.address
            )));
        }
    }
    Ok(())
}

/// Returns the error of a pooler whose connections share sessions.
#[cold]
pub(crate) fn refusal<C: Connection>(config: &Config<C::Session>) -> EngineError {
    fatal::<C::Error>(format!(
        "a pooler answers at {} and executes the transactions of one connection in several \
         sessions of the server (pool_mode = transaction or statement in PgBouncer, multiplexing \
         in ProxySQL): locks, settings and prepared statements do not last from one to the next. \
         Name the server itself in the dsn, or a pool with pool_mode = session",
        config.endpoint.address
    ))
}
