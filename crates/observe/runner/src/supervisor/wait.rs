//! A wait of Assay for its worker, and for how long Assay was stopped in it.

use load::thread_run_queue;
use model::Nanos;

use super::workbench::WATCH_EVERY;

/// A wait of Assay for its worker.
pub(super) struct Wait {
    due: Nanos,
    queued: Option<Nanos>,
}

impl Wait {
    pub(super) fn begin(now: Nanos) -> Self {
        let limit = Nanos(u64::try_from(WATCH_EVERY.as_nanos()).unwrap_or(u64::MAX));
        Self { due: now.after(limit), queued: thread_run_queue() }
    }

    /// Returns for how long Assay was stopped, at least: it is late, and was not in the run queue.
    pub(super) fn stopped(&self, now: Nanos, queued: Option<Nanos>) -> Nanos {
        let queued = queued.zip(self.queued).map_or(Nanos(0), |(now, before)| now.since(before));
        now.since(self.due).since(queued)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_of_assay_for_a_cpu_is_no_pause() {
        let [due, now, before] = [100, 3_100, 9_000].map(Nanos::from_millis);
        let wait = Wait { due, queued: Some(before) };
        assert_eq!(wait.stopped(now, Some(before)), Nanos::from_secs(3));
        assert_eq!(wait.stopped(now, Some(before.after(Nanos::from_secs(2)))), Nanos::SECOND);
        assert_eq!(wait.stopped(due, Some(before)), Nanos(0));
        assert_eq!(wait.stopped(now, None), Nanos::from_secs(3));
    }
}
