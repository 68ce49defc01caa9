//! Settings of a login or a server that would end or spoil a run.

use engine::EngineError;
use model::Endpoint;

use crate::connection::Connection;
use crate::failure::{ErrorResponse, Failure, fatal};

/// A setting that a run cannot have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    /// Its name and value, with where it is set if that is known.
    pub setting: String,
    /// What a run needs instead.
    pub need: String,
    /// The remedy, an imperative.
    pub remedy: String,
}

/// What the sessions of a run need of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionNeeds {
    /// Connections at once.
    pub connections: u64,
    /// Prepared statements at once.
    pub statements: u64,
}

impl Obstacle {
    /// Returns the obstacle of a setting, with what a run needs instead and the remedy.
    pub fn new(
        setting: impl Into<String>,
        need: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self { setting: setting.into(), need: need.into(), remedy: remedy.into() }
    }
}

/// A limit of a server or of a login.
#[derive(Debug, Clone, Copy)]
pub struct Limit<'n> {
    /// Its name.
    pub name: &'n str,
    /// The highest number.
    pub most: u64,
    /// What others use of it.
    pub used: u64,
}

impl Limit<'_> {
    /// Returns the obstacle where there is too little room; `None` where there is enough.
    pub fn obstacle(&self, needed: u64, what: &str, remedy: &str) -> Option<Obstacle> {
        let Self { name, most, used } = self;
        let others = if *used > 0 { format!(", and others have {used}") } else { String::new() };
        let need = format!("the clients of this experiment need {needed} {what}{others}");
        let remedy = format!("{remedy}, or use fewer clients");
        (most.saturating_sub(*used) < needed)
            .then(|| Obstacle::new(format!("{name} = {most}"), need, remedy))
    }
}

/// Returns the error that names every obstacle.
///
/// # Errors
/// With at least one obstacle.
pub fn refuse<C: Connection>(
    endpoint: &Endpoint,
    obstacles: &[Obstacle],
) -> Result<(), EngineError> {
    if obstacles.is_empty() {
        return Ok(());
    }
    let sentence = |it: &Obstacle| format!("{}: {}: {}", it.setting, it.need, it.remedy);
    let sentences: Vec<_> = obstacles.iter().map(sentence).collect();
    let Endpoint { user, address, .. } = endpoint;
    Err(fatal::<C::Error>(format!(
        "`{user}` at {address} has settings that a run cannot have: {}",
        sentences.join("; ")
    )))
}

/// Converts a failure to create, read or drop a table, with the remedy for missing rights.
#[cold]
pub(crate) fn rights_error<E: ErrorResponse>(
    endpoint: &Endpoint,
    failure: Failure<E>,
) -> EngineError {
    let Endpoint { user, database, address, .. } = endpoint;
    if let Failure::Refused(response) = &failure
        && response.lacks_right()
    {
        return fatal::<E>(format!(
            "`{user}` may not create tables in database `{database}` at {address}, or may not use \
             the tables of another user there: {response}: grant `{user}` all rights on the \
             database and its tables, or name another user or database in the dsn"
        ));
    }
    failure.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_an_obstacle_where_it_leaves_too_little() {
        let of = |most, used| {
            let limit = Limit { name: "CONNECTION LIMIT", most, used };
            limit.obstacle(9, "connections", "raise it by ALTER ROLE")
        };
        assert_eq!((of(9, 0), of(12, 3)), (None, None));
        let obstacle = of(10, 2).unwrap();
        assert_eq!(obstacle.setting, "CONNECTION LIMIT = 10");
        assert_eq!(
            obstacle.need,
            "the clients of this experiment need 9 connections, and others have 2"
        );
        assert_eq!(obstacle.remedy, "raise it by ALTER ROLE, or use fewer clients");
    }
}
