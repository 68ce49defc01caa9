//! The barrier at which all clients wait until the step begins.

use crate::sync::{Condvar, Mutex};
use crate::timeline::Timeline;

/// A barrier that opens once, for all clients, or is cancelled.
#[derive(Default)]
pub(super) struct StartBarrier {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default, Clone, Copy)]
enum State {
    #[default]
    Closed,
    Open(Timeline),
    Cancelled,
}

/// Nothing that can panic happens under the lock.
const UNPOISONED: &str = "no panic while holding the lock";

impl StartBarrier {
    /// Releases all clients.
    pub(super) fn open(&self, timeline: Timeline) {
        self.set(State::Open(timeline));
    }

    /// Cancels the start for clients that still wait.
    pub(super) fn cancel(&self) {
        if matches!(*self.state.lock().expect(UNPOISONED), State::Closed) {
            self.set(State::Cancelled);
        }
    }

    /// Waits until it opens; `None` when it was cancelled.
    pub(super) fn wait(&self) -> Option<Timeline> {
        let mut state = self.state.lock().expect(UNPOISONED);
        loop {
            match *state {
                State::Closed => state = self.changed.wait(state).expect(UNPOISONED),
                State::Open(timeline) => return Some(timeline),
                State::Cancelled => return None,
            }
        }
    }

    fn set(&self, state: State) {
        *self.state.lock().expect(UNPOISONED) = state;
        self.changed.notify_all();
    }
}
