//! The gate at which all clients wait until the step begins.

use crate::sync::{Condvar, Mutex};
use crate::timeline::Timeline;

/// Opens once, for everybody, or never.
#[derive(Default)]
pub(super) struct Gate {
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
const UNPOISONED: &str = "nobody panics while holding the gate";

impl Gate {
    /// Lets everybody through.
    pub(super) fn open(&self, timeline: Timeline) {
        self.set(State::Open(timeline));
    }

    /// Sends everybody home who is not through yet.
    pub(super) fn cancel(&self) {
        if matches!(*self.state.lock().expect(UNPOISONED), State::Closed) {
            self.set(State::Cancelled);
        }
    }

    /// Waits for the gate; `None` when it was cancelled.
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
