//! The barrier at which all clients wait until the step begins.

use crate::sync::OnceLock;
use crate::timeline::Timeline;

/// A barrier that opens once, for all clients, or is cancelled.
///
/// One call of the kernel wakes all clients, and none needs a lock to go on: of hundreds that take
/// turns at a lock, each waits for a CPU in its turn, which those that have begun use already.
#[derive(Default)]
pub(super) struct StartBarrier {
    /// `None` when it was cancelled.
    timeline: OnceLock<Option<Timeline>>,
}

impl StartBarrier {
    /// Releases all clients.
    pub(super) fn open(&self, timeline: Timeline) {
        self.timeline.get_or_init(|| Some(timeline));
    }

    /// Cancels the start for clients that still wait.
    pub(super) fn cancel(&self) {
        // An open barrier stays open.
        self.timeline.get_or_init(|| None);
    }

    /// Waits until it opens; `None` when it was cancelled.
    pub(super) fn wait(&self) -> Option<Timeline> {
        *self.timeline.wait()
    }
}

#[cfg(test)]
#[cfg(not(feature = "model-check"))]
mod tests {
    use model::Nanos;

    use super::*;

    #[test]
    fn every_client_that_waits_learns_when_the_step_begins_or_that_it_does_not() {
        let (start, measured_from, interval) = (Nanos(7), Nanos(7), Nanos::SECOND);
        let timeline = Timeline { start, measured_from, interval, deadline: None };
        for opened in [Some(timeline), None] {
            let barrier = StartBarrier::default();
            std::thread::scope(|scope| {
                let waiting: Vec<_> = (0..50).map(|_| scope.spawn(|| barrier.wait())).collect();
                if let Some(timeline) = opened {
                    barrier.open(timeline);
                }
                // Too late where it is open.
                barrier.cancel();
                assert!(waiting.into_iter().all(|client| client.join().unwrap() == opened));
                assert_eq!(barrier.wait(), opened);
            });
        }
    }
}
