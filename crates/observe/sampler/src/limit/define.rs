//! A limit of this host, and its shortage.

use std::fmt;
use std::path::Path;

use model::{Privilege, SystemNeeds};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// A limit of this host, of which a run needs a part.
#[derive(Debug)]
pub struct Limit {
    /// Name, which is its file's.
    pub name: &'static str,
    /// Returns what a run with its data in that directory lacks.
    ///
    /// A limit that this process may raise is raised to what the run needs.
    pub(crate) check: fn(&SystemNeeds, &Path) -> Result<(), Shortage>,
}

/// What a limit of this host denies a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shortage {
    /// Name of the limit.
    pub limit: &'static str,
    /// The need, the limit and its value.
    pub reason: String,
    /// The remedy.
    pub remedy: String,
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reason, remedy, .. } = self;
        write!(f, "{reason}: {remedy}")
    }
}

/// Raises a limit of this process and its children to a need, never beyond the hard limit.
///
/// # Errors
/// The amount that it can have at most.
pub(super) fn raise(resource: Resource, need: u64) -> Result<(), u64> {
    let now = getrlimit(resource);
    let Some(raised) = raised(&now, need)? else { return Ok(()) };
    setrlimit(resource, raised).map_err(|_refused| now.current.unwrap_or_default())
}

/// Returns how the shell that runs Assay raises a hard limit, by its letter in `prlimit`.
pub(super) fn raise_command(letter: char, amount: impl fmt::Display) -> String {
    Privilege::HARD_LIMITS.to_string().replace("LIMIT=AMOUNT", &format!("{letter}={amount}"))
}

/// Returns the limit to set; `None` where the need is allowed now.
fn raised(now: &Rlimit, need: u64) -> Result<Option<Rlimit>, u64> {
    match (now.current, now.maximum) {
        (None, _) => Ok(None),
        (Some(soft), _) if need <= soft => Ok(None),
        (_, Some(hard)) if need > hard => Err(hard),
        (_, maximum) => Ok(Some(Rlimit { current: Some(need), maximum })),
    }
}

/// A limit on an amount, and how much of it is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quota {
    /// Its source: `ulimit -u`, or a file.
    pub source: String,
    /// What is counted: `threads`.
    pub unit: &'static str,
    /// The amount it allows.
    pub limit: u64,
    /// The amount that counts against it now.
    pub used: u64,
}

impl Quota {
    /// Returns how much more it allows.
    pub const fn free(&self) -> u64 {
        self.limit.saturating_sub(self.used)
    }

    /// Returns the commands that raise it to an amount.
    pub(crate) fn commands(&self, amount: u64) -> String {
        match self.source.starts_with('/') {
            true => format!(
                "`echo {amount} | sudo tee {}`, or start the container with `docker run \
                 --pids-limit={amount}`",
                self.source
            ),
            false => raise_command('u', amount),
        }
    }
}

impl fmt::Display for Quota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, unit, limit, used } = self;
        let commands = self.commands(limit.saturating_mul(2));
        write!(
            f,
            "{source} allows {limit} {unit}, and {used} are in use: raise the limit ({commands})"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_is_raised_to_the_need_and_never_beyond_the_hard_one() {
        let limit = |current, maximum| Rlimit { current, maximum };
        assert_eq!(raised(&limit(Some(64), Some(64)), 64), Ok(None));
        assert_eq!(raised(&limit(None, None), 1 << 30), Ok(None));
        for maximum in [Some(4096), None] {
            let raised = raised(&limit(Some(64), maximum), 100).unwrap().unwrap();
            assert_eq!((raised.current, raised.maximum), (Some(100), maximum));
        }
        assert_eq!(raised(&limit(Some(32), Some(64)), 100), Err(64));
    }
}
