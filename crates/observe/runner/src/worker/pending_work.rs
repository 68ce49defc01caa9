//! Waits between probes until an engine's pending work is done.
//!
//! Pending work is the engine's debt, its files in level 0 and its background jobs, and the host's
//! dirty pages. The first wait of a search finds the level at which they come to rest; each further
//! one waits until they are there again. A host and an engine may never come to rest: a wait ends
//! when pending work no longer falls, and at a cap.

use engine::{Engine, EngineError};
use load::Clock;
use model::{Nanos, metric};

use super::settle::{IDLE_SAMPLES, POLL, STUCK};

/// Dirty pages that do not count: other processes of the host dirty some, and any disk writes them
/// in a second.
const DIRTY_SLACK_BYTES: f64 = 16.0 * 1024.0 * 1024.0;
/// Share by which a debt must change to count as changed: engines estimate theirs.
const SAME_SHARE: f64 = 0.01;

/// Slack of each kind of pending work: debt, files in level 0, and the host's dirty pages, bytes.
const SLACK: [f64; 3] = [0.0, 0.0, DIRTY_SLACK_BYTES];

/// Pending work at one moment; `None` where unknown, which is not waited for.
#[derive(Clone, Copy, Default)]
struct PendingWork {
    /// Amounts in the order of [`SLACK`].
    amounts: [Option<f64>; 3],
    /// Whether background jobs run or wait.
    has_jobs: bool,
}

/// Waits of one search.
pub(crate) struct PendingWorkMonitor {
    /// Level at which the first came to rest.
    rest: Option<PendingWork>,
}

/// Sources of pending work, and the cap of a wait.
pub(crate) struct WorkSources<'a, C> {
    pub(crate) engine: &'a dyn Engine,
    pub(crate) clock: &'a C,
    pub(crate) cap: Nanos,
    /// Returns the host's dirty pages, bytes.
    pub(crate) dirty_bytes: &'a dyn Fn() -> Option<f64>,
}

impl PendingWorkMonitor {
    /// Returns the state before a search's first wait.
    pub(crate) const fn new() -> Self {
        Self { rest: None }
    }

    /// Waits until pending work is at the first wait's level, or falls no more.
    ///
    /// `on_sample` is called at every sample; `false` ends the wait. Returns the time it took.
    ///
    /// # Errors
    /// When the engine fails.
    pub(crate) fn wait<C: Clock>(
        &mut self,
        sources: &WorkSources<'_, C>,
        on_sample: &mut dyn FnMut() -> bool,
    ) -> Result<Nanos, EngineError> {
        let begun = sources.clock.now();
        let deadline = begun.after(sources.cap);
        let mut least = sources.pending()?;
        let mut fell_at = begun;
        let mut samples_at_rest = 0;
        loop {
            let now = sources.clock.now();
            let pending = sources.pending()?;
            if pending.has_fallen_below(&least) || pending.has_jobs {
                fell_at = now;
            }
            least = least.least(&pending);
            samples_at_rest =
                if pending.is_at_level(self.rest.as_ref()) { samples_at_rest + 1 } else { 0 };
            let is_over = samples_at_rest >= IDLE_SAMPLES
                || now.since(fell_at) >= STUCK
                || now >= deadline
                || !on_sample();
            if is_over {
                self.rest.get_or_insert(pending);
                return Ok(sources.clock.now().since(begun));
            }
            sources.clock.rest_until(now.after(POLL));
        }
    }
}

impl<C> WorkSources<'_, C> {
    fn pending(&self) -> Result<PendingWork, EngineError> {
        let readings = self.engine.state()?.readings;
        let one = |metric| readings.value(metric);
        let (debt, l0_files) = (one(metric::ENGINE_DEBT_BYTES), one(metric::ENGINE_L0_FILES));
        let has_jobs = one(metric::ENGINE_BACKGROUND_JOBS).is_some_and(|jobs| jobs > 0.0);
        Ok(PendingWork { amounts: [debt, l0_files, (self.dirty_bytes)()], has_jobs })
    }
}

impl PendingWork {
    /// Returns each amount that is known, with that of another moment and its slack.
    fn next_to(&self, other: &Self) -> impl Iterator<Item = (f64, Option<f64>, f64)> {
        let pairs = self.amounts.into_iter().zip(other.amounts).zip(SLACK);
        pairs.filter_map(|((now, then), slack)| Some((now?, then, slack)))
    }

    /// Returns whether no more than `rest` is pending; without it, whether nothing is.
    fn is_at_level(&self, rest: Option<&Self>) -> bool {
        let rest = rest.copied().unwrap_or_default();
        let is_at_level = |(now, then, slack): (f64, Option<f64>, f64)| {
            now <= then.unwrap_or(0.0) * (1.0 + SAME_SHARE) + slack
        };
        !self.has_jobs && self.next_to(&rest).all(is_at_level)
    }

    /// Returns whether any of it is clearly less than `least`.
    fn has_fallen_below(&self, least: &Self) -> bool {
        self.next_to(least).any(|(now, then, slack)| {
            then.is_some_and(|then| now < then * (1.0 - SAME_SHARE) - slack)
        })
    }

    /// Returns the least of each.
    fn least(&self, other: &Self) -> Self {
        let least =
            |at: usize| self.amounts[at].into_iter().chain(other.amounts[at]).reduce(f64::min);
        Self { amounts: [0, 1, 2].map(least), has_jobs: self.has_jobs }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use load::ManualClock;

    use super::*;
    use crate::worker::tests::scripted::{Scripted, StateSample};

    const CAP: Nanos = Nanos::from_secs(60);

    /// A sample with a debt of `bytes` and running jobs.
    const fn with_debt(bytes: f64, jobs: f64) -> StateSample {
        (None, jobs, bytes)
    }

    /// Waits for an engine with these samples, while `dirty` returns the host's dirty pages.
    fn wait(
        monitor: &mut PendingWorkMonitor,
        samples: &[StateSample],
        dirty: &dyn Fn() -> Option<f64>,
    ) -> Nanos {
        let engine = Scripted::new(samples);
        let clock = ManualClock::new(Nanos(0));
        let sources = WorkSources { engine: &engine, clock: &clock, cap: CAP, dirty_bytes: dirty };
        monitor.wait(&sources, &mut || true).unwrap()
    }

    #[test]
    fn an_engine_without_pending_work_is_not_waited_for() {
        let took = wait(&mut PendingWorkMonitor::new(), &[with_debt(0.0, 0.0)], &|| Some(3e6));
        assert_eq!(took, Nanos::from_millis(100));
    }

    #[test]
    fn the_first_wait_ends_when_debt_falls_no_more() {
        let samples: Vec<StateSample> =
            (0..100).map(|sample| with_debt(1e9 - f64::from(sample) * 9e6, 1.0)).collect();
        let rest = [with_debt(1e8, 0.0)];
        let took = wait(&mut PendingWorkMonitor::new(), &[&samples[..], &rest].concat(), &|| None);
        let fallen = Nanos(POLL.0 * 98);
        assert!(took >= fallen.after(STUCK), "{took}");
        assert!(took < fallen.after(STUCK).after(Nanos::SECOND), "{took}");
    }

    #[test]
    fn a_further_wait_ends_at_the_level_of_the_first() {
        let mut monitor = PendingWorkMonitor::new();
        wait(&mut monitor, &[with_debt(1e8, 0.0)], &|| Some(2e8));
        let samples: Vec<StateSample> =
            (0..20).map(|sample| with_debt(4e8 - f64::from(sample) * 1e7, 1.0)).collect();
        let rest = [with_debt(1.005e8, 0.0)];
        let took = wait(&mut monitor, &[&samples[..], &rest].concat(), &|| Some(2.1e8));
        assert!(took > Nanos::from_millis(900) && took < Nanos::from_millis(1_300), "{took}");
    }

    #[test]
    fn dirty_pages_are_waited_for_while_they_fall() {
        let mut monitor = PendingWorkMonitor::new();
        wait(&mut monitor, &[with_debt(0.0, 0.0)], &|| Some(0.0));
        let left = Cell::new(4e8);
        let took =
            wait(&mut monitor, &[with_debt(0.0, 0.0)], &|| Some(left.replace(left.get() * 0.95)));
        assert!(left.get() <= 2e7 && took < Nanos::from_secs(10), "{took}");
        // Other processes keep the host's pages dirty.
        let took = wait(&mut monitor, &[with_debt(0.0, 0.0)], &|| Some(4e8));
        assert!(took >= STUCK && took < STUCK.after(Nanos::SECOND), "{took}");
    }

    #[test]
    fn a_wait_has_a_cap_and_can_be_stopped() {
        let took = wait(&mut PendingWorkMonitor::new(), &[with_debt(1e9, 1.0)], &|| None);
        assert_eq!(took, CAP);
        let engine = Scripted::new(&[with_debt(1e9, 1.0)]);
        let clock = ManualClock::new(Nanos(0));
        let sources =
            WorkSources { engine: &engine, clock: &clock, cap: CAP, dirty_bytes: &|| None };
        let mut samples = 0;
        let took = PendingWorkMonitor::new().wait(&sources, &mut || {
            samples += 1;
            samples < 4
        });
        assert!(took.unwrap() < Nanos::SECOND);
        let broken = Scripted::new(&[]);
        let sources = WorkSources { engine: &broken, ..sources };
        assert!(PendingWorkMonitor::new().wait(&sources, &mut || true).is_err());
    }
}
