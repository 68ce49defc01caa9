//! Waiting between probes until what the last one owes is paid off.
//!
//! What is looked at: the engine's debt, its files in level 0 and its background jobs, and the
//! host's dirty pages. The first drain of a search finds out where they come to rest; each further
//! one waits until they are there again. A host and an engine may never come to rest: what falls no
//! more is not waited for, and there is a cap.

use engine::{Engine, EngineError};
use load::Clock;
use model::Nanos;

use crate::settle::{IDLE_LOOKS, POLL, STUCK};

/// Dirty pages that are no debt: other processes of the host dirty some, and a second of any disk
/// writes them.
const DIRTY_SLACK_BYTES: f64 = 16.0 * 1024.0 * 1024.0;
/// Share by which a debt must differ to count as another: engines estimate theirs.
const SAME_SHARE: f64 = 0.01;

/// What is owed at one moment; what nobody tells is `None`, and is not waited for.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Owed {
    debt_bytes: Option<f64>,
    l0_files: Option<f64>,
    jobs: Option<f64>,
    dirty_bytes: Option<f64>,
}

/// Drains of one search.
pub(crate) struct Drain {
    /// Where the first has come to rest.
    rest: Option<Owed>,
}

/// What a drain looks at, and how long it may.
pub(crate) struct Pond<'a, C> {
    pub(crate) engine: &'a dyn Engine,
    pub(crate) clock: &'a C,
    pub(crate) cap: Nanos,
    /// Returns the host's dirty pages, bytes.
    pub(crate) dirty_bytes: &'a dyn Fn() -> Option<f64>,
}

impl Drain {
    /// Returns the drains of a search that has not begun.
    pub(crate) const fn new() -> Self {
        Self { rest: None }
    }

    /// Waits until what is owed is where the first drain left it, or falls no more.
    ///
    /// `on_look` is called at every look; when it says `false`, nothing more is waited for.
    /// Returns the time it took.
    ///
    /// # Errors
    /// When the engine fails.
    pub(crate) fn wait<C: Clock>(
        &mut self,
        pond: &Pond<'_, C>,
        on_look: &mut dyn FnMut() -> bool,
    ) -> Result<Nanos, EngineError> {
        let begun = pond.clock.now();
        let deadline = begun.after(pond.cap);
        let mut least = pond.owed()?;
        let mut fell_at = begun;
        let mut looks_at_rest = 0;
        loop {
            let now = pond.clock.now();
            let owed = pond.owed()?;
            if owed.has_fallen_below(&least) || owed.jobs.is_some_and(|jobs| jobs > 0.0) {
                fell_at = now;
            }
            least = least.least(&owed);
            looks_at_rest = if owed.is_at(self.rest.as_ref()) { looks_at_rest + 1 } else { 0 };
            let is_over = looks_at_rest >= IDLE_LOOKS
                || now.since(fell_at) >= STUCK
                || now >= deadline
                || !on_look();
            if is_over {
                self.rest.get_or_insert(owed);
                return Ok(pond.clock.now().since(begun));
            }
            pond.clock.rest_until(now.after(POLL));
        }
    }
}

impl<C> Pond<'_, C> {
    fn owed(&self) -> Result<Owed, EngineError> {
        let readings = self.engine.state()?.readings;
        let one = |name: &str| readings.get(name).copied();
        Ok(Owed {
            debt_bytes: one("engine_debt_bytes"),
            l0_files: one("engine_l0_files"),
            jobs: one("engine_background_jobs"),
            dirty_bytes: (self.dirty_bytes)(),
        })
    }
}

impl Owed {
    /// Returns whether nothing more than `rest` is owed; without it, whether nothing is at all.
    fn is_at(&self, rest: Option<&Self>) -> bool {
        let is_at = |now: Option<f64>, then: Option<f64>, slack: f64| {
            let then = then.unwrap_or(0.0);
            now.is_none_or(|now| now <= then * (1.0 + SAME_SHARE) + slack)
        };
        let rest = rest.copied().unwrap_or_default();
        is_at(self.debt_bytes, rest.debt_bytes, 0.0)
            && is_at(self.l0_files, rest.l0_files, 0.0)
            && is_at(self.jobs, None, 0.0)
            && is_at(self.dirty_bytes, rest.dirty_bytes, DIRTY_SLACK_BYTES)
    }

    /// Returns whether any of it is clearly less than `least`.
    fn has_fallen_below(&self, least: &Self) -> bool {
        let fell = |now: Option<f64>, then: Option<f64>, slack: f64| matches!((now, then), (Some(now), Some(then)) if now < then * (1.0 - SAME_SHARE) - slack);
        fell(self.debt_bytes, least.debt_bytes, 0.0)
            || fell(self.l0_files, least.l0_files, 0.0)
            || fell(self.dirty_bytes, least.dirty_bytes, 0.0)
    }

    /// Returns the least of each.
    fn least(&self, other: &Self) -> Self {
        let least = |a: Option<f64>, b: Option<f64>| a.into_iter().chain(b).reduce(f64::min);
        Self {
            debt_bytes: least(self.debt_bytes, other.debt_bytes),
            l0_files: least(self.l0_files, other.l0_files),
            jobs: least(self.jobs, other.jobs),
            dirty_bytes: least(self.dirty_bytes, other.dirty_bytes),
        }
    }
}
