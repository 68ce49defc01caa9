//! Keeps the connections of one client at most a few calls apart.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use model::sql::CALLS_APART_MAX;

/// Calls that each connection of a client has done; `None` when it makes no more.
#[derive(Debug, Default)]
struct Progress {
    done: Mutex<Vec<Option<u64>>>,
    moved: Condvar,
}

impl Progress {
    fn lock(&self) -> MutexGuard<'_, Vec<Option<u64>>> {
        // A count is whole even where its thread panicked.
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One connection's place among those of its client.
pub(crate) struct Lockstep {
    shared: Arc<Progress>,
    own: usize,
}

impl Lockstep {
    /// Returns the places of so many connections.
    pub(crate) fn places(count: usize) -> Vec<Self> {
        let shared = Arc::new(Progress::default());
        *shared.lock() = vec![Some(0); count];
        (0..count).map(|own| Self { shared: Arc::clone(&shared), own }).collect()
    }

    /// Waits until less than [`CALLS_APART_MAX`] calls more are done than on every other.
    pub(crate) fn wait(&self) {
        let mut done = self.shared.lock();
        let own = done[self.own].unwrap_or_default();
        let is_apart = |done: &mut Vec<Option<u64>>| {
            done.iter().flatten().any(|other| own >= other + CALLS_APART_MAX)
        };
        while is_apart(&mut done) {
            done = self.shared.moved.wait(done).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Counts a call that is done.
    pub(crate) fn advance(&self) {
        if let Some(own) = &mut self.shared.lock()[self.own] {
            *own += 1;
        }
        self.shared.moved.notify_all();
    }

    /// Notes that the connection makes no more calls: no other waits for it from now on.
    pub(crate) fn end(&self) {
        self.shared.lock()[self.own] = None;
        self.shared.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: the connections are no further apart than allowed, and none waits for one that has
    /// ended. Method: one does 1,000 calls alone once the other ends after 100.
    #[test]
    fn connections_stay_close_until_one_ends() {
        let mut places = Lockstep::places(2);
        let (slow, fast) = (places.remove(0), places.remove(0));
        let apart = |fast: &Lockstep| {
            let done = fast.shared.lock();
            done[0].map_or(0, |slow| done[1].unwrap_or(0).saturating_sub(slow))
        };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..1_000 {
                    fast.wait();
                    assert!(apart(&fast) < CALLS_APART_MAX);
                    fast.advance();
                }
                fast.end();
            });
            for _ in 0..100 {
                slow.wait();
                slow.advance();
            }
            slow.end();
        });
        assert_eq!(*fast.shared.lock(), [None, None]);
    }
}
