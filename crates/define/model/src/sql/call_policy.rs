//! Pauses, retries and the limit of a procedure's calls.

use serde::{Deserialize, Serialize};

use crate::units::Nanos;

/// How a procedure is called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CallPolicy {
    /// Calls in a step that calls each procedure once; 0 for one per copy of its table.
    pub calls: u32,
    /// What happens after a conflict; `None` when the call has failed then.
    pub retry: Option<Retry>,
    /// Wait before each call of a closed loop: its input is typed.
    pub keying: Nanos,
    /// Mean wait after each call of a closed loop, exponentially distributed.
    pub think: Nanos,
    /// Limit of a call's response time.
    pub limit: Option<Nanos>,
}

impl CallPolicy {
    /// Returns whether nothing is set.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether its calls are paused.
    pub fn has_pauses(&self) -> bool {
        self.keying > Nanos(0) || self.think > Nanos(0)
    }
}

/// Repetition of a call after a deadlock, a conflict or a timeout, with the same values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retry {
    /// Attempts in all, >= 2.
    pub attempts: u32,
    /// Pause before the second attempt; each next one is twice as long.
    pub pause: Nanos,
    /// Longest pause.
    pub pause_max: Nanos,
}

impl Retry {
    /// Returns the pause before an attempt, counted from 1; none before the first.
    pub fn pause_before(&self, attempt: u32) -> Nanos {
        let Some(doublings) = attempt.checked_sub(2) else { return Nanos(0) };
        let factor = 1u64.checked_shl(doublings).unwrap_or(u64::MAX);
        Nanos(self.pause.0.saturating_mul(factor)).min(self.pause_max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let retry = Retry { attempts: 9, pause: Nanos(3), pause_max: Nanos(10) };
        let pauses = [1, 2, 3, 4, 99].map(|attempt| retry.pause_before(attempt).0);
        assert_eq!(pauses, [0, 3, 6, 10, 10]);
    }
}
