//! Waits of a client between its calls: it thinks and types.

use model::Nanos;
use model::sql::CallPolicy;
use workload::random::{Stream, unit};

/// Longest think time, in means.
///
/// Source: [TPC-C 5.11], clause 5.2.5.4: truncated at ten times the mean.
const MEANS_MAX: f64 = 10.0;

/// Waits before one client's calls.
pub(crate) struct Pauses {
    stream: Stream,
    /// Mean think time of the last call's procedure.
    think: Nanos,
}

impl Pauses {
    /// Returns the waits of a client; none before its first call but to type it.
    pub(crate) const fn new(stream: Stream) -> Self {
        Self { stream, think: Nanos(0) }
    }

    /// Returns the wait before call `n`: thinking about the last one, typing this one.
    #[inline]
    pub(crate) fn before(&mut self, policy: &CallPolicy, n: u64) -> Nanos {
        let think = std::mem::replace(&mut self.think, policy.think);
        if think == Nanos(0) {
            return policy.keying;
        }
        // 1 - u is above 0.
        let means = -(1.0 - unit(self.stream.word(n))).ln();
        let think_ns = think.0 as f64 * means.min(MEANS_MAX);
        policy.keying.after(Nanos(model::whole(think_ns)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn think_times_are_exponential_and_keying_is_constant() {
        let policy =
            CallPolicy { keying: Nanos(2_000), think: Nanos(1_000_000), ..CallPolicy::default() };
        let mut pauses = Pauses::new(Stream::fixed(3));
        assert_eq!(pauses.before(&policy, 0), Nanos(2_000), "nothing to think about yet");
        let thought: Vec<f64> =
            (1..=40_000).map(|n| (pauses.before(&policy, n).0 - 2_000) as f64 / 1e6).collect();
        let mean = thought.iter().sum::<f64>() / 40_000.0;
        // The standard deviation of the mean is 0.005.
        assert!((mean - 1.0).abs() < 0.03, "{mean}");
        let beyond = thought.iter().filter(|means| **means > 1.0).count() as f64 / 40_000.0;
        assert!((beyond - (-1.0f64).exp()).abs() < 0.015, "{beyond}");
        assert!(thought.iter().all(|means| *means <= MEANS_MAX));
        let none = CallPolicy::default();
        pauses.before(&none, 0);
        assert_eq!(pauses.before(&none, 0), Nanos(0));
    }
}
