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
        let is_less = |(now, then): (f64, f64), slack| now < then * (1.0 - SAME_SHARE) - slack;
        let fell = |now: Option<f64>, then: Option<f64>, slack: f64| {
            now.zip(then).is_some_and(|pair| is_less(pair, slack))
        };
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use load::ManualClock;

    use super::*;
    use crate::scripted::{Look, Scripted};

    const CAP: Nanos = Nanos::from_secs(60);

    /// An engine that owes `bytes`; jobs run for as long as it says so.
    const fn owing(bytes: f64, jobs: f64) -> Look {
        (None, jobs, bytes)
    }

    /// Drains an engine that says `looks`, while the host's dirty pages are what `dirty` returns.
    fn wait(drain: &mut Drain, looks: &[Look], dirty: &dyn Fn() -> Option<f64>) -> Nanos {
        let engine = Scripted::new(looks);
        let clock = ManualClock::new(Nanos(0));
        let pond = Pond { engine: &engine, clock: &clock, cap: CAP, dirty_bytes: dirty };
        drain.wait(&pond, &mut || true).unwrap()
    }

    #[test]
    fn what_owes_nothing_is_not_waited_for() {
        let took = wait(&mut Drain::new(), &[owing(0.0, 0.0)], &|| Some(3e6));
        assert_eq!(took, Nanos::from_millis(100));
    }

    #[test]
    fn the_first_drain_ends_when_debt_falls_no_more() {
        let looks: Vec<Look> =
            (0..100).map(|look| owing(1e9 - f64::from(look) * 9e6, 1.0)).collect();
        let rest = [owing(1e8, 0.0)];
        let took = wait(&mut Drain::new(), &[&looks[..], &rest].concat(), &|| None);
        let fallen = Nanos(POLL.0 * 98);
        assert!(took >= fallen.after(STUCK), "{took}");
        assert!(took < fallen.after(STUCK).after(Nanos::SECOND), "{took}");
    }

    #[test]
    fn a_further_drain_ends_where_the_first_came_to_rest() {
        let mut drain = Drain::new();
        wait(&mut drain, &[owing(1e8, 0.0)], &|| Some(2e8));
        let looks: Vec<Look> =
            (0..20).map(|look| owing(4e8 - f64::from(look) * 1e7, 1.0)).collect();
        let rest = [owing(1.005e8, 0.0)];
        let took = wait(&mut drain, &[&looks[..], &rest].concat(), &|| Some(2.1e8));
        assert!(took > Nanos::from_millis(900) && took < Nanos::from_millis(1_300), "{took}");
    }

    #[test]
    fn dirty_pages_are_waited_for_while_they_fall() {
        let mut drain = Drain::new();
        wait(&mut drain, &[owing(0.0, 0.0)], &|| Some(0.0));
        let left = Cell::new(4e8);
        let took = wait(&mut drain, &[owing(0.0, 0.0)], &|| Some(left.replace(left.get() * 0.95)));
        assert!(left.get() <= 2e7 && took < Nanos::from_secs(10), "{took}");
        // Others keep the host's pages dirty: they are not ours to wait for.
        let took = wait(&mut drain, &[owing(0.0, 0.0)], &|| Some(4e8));
        assert!(took >= STUCK && took < STUCK.after(Nanos::SECOND), "{took}");
    }

    #[test]
    fn a_drain_has_a_cap_and_can_be_stopped() {
        let took = wait(&mut Drain::new(), &[owing(1e9, 1.0)], &|| None);
        assert_eq!(took, CAP);
        let engine = Scripted::new(&[owing(1e9, 1.0)]);
        let clock = ManualClock::new(Nanos(0));
        let pond = Pond { engine: &engine, clock: &clock, cap: CAP, dirty_bytes: &|| None };
        let mut looks = 0;
        let took = Drain::new().wait(&pond, &mut || {
            looks += 1;
            looks < 4
        });
        assert!(took.unwrap() < Nanos::SECOND);
        let broken = Scripted::new(&[]);
        let pond = Pond { engine: &broken, ..pond };
        assert!(Drain::new().wait(&pond, &mut || true).is_err());
    }
}
