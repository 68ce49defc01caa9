//! Settings of a login or a server that would end or spoil a run.

use engine::EngineError;
use model::Endpoint;

use crate::connection::Connection;
use crate::failure::{ErrorResponse, Failure};

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
    /// Returns the obstacle of a limit that has too little room; `None` when it has enough.
    ///
    /// `used` is what others use of the limit.
    pub fn of_limit(
        limit: (&str, u64),
        used: u64,
        needed: u64,
        (what, remedy): (&str, &str),
    ) -> Option<Self> {
        let (name, most) = limit;
        let others = if used > 0 { format!(", and others have {used}") } else { String::new() };
        (most.saturating_sub(used) < needed).then(|| Self {
            setting: format!("{name} = {most}"),
            need: format!("the clients of this experiment need {needed} {what}{others}"),
            remedy: format!("{remedy}, or use fewer clients"),
        })
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
    Err(EngineError::Fatal(format!(
        "{}`{}` at {} has settings that a run cannot have: {}",
        C::Error::PREFIX,
        endpoint.user,
        endpoint.address,
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
        return EngineError::Fatal(format!(
            "{}`{user}` may not create tables in database `{database}` at {address}, or not use \
             those of another user there: {response}: grant it all rights on the database and its \
             tables, or name another user or database in the dsn",
            E::PREFIX
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
            let about = ("connections", "raise it by ALTER ROLE");
            Obstacle::of_limit(("CONNECTION LIMIT", most), used, 9, about)
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
