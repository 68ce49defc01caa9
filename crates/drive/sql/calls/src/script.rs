//! The order of a client's procedure calls.

use workload::random::{Stream, below};

/// The calls of a client, by position among its procedures.
pub(crate) enum Script {
    /// Each call is drawn: where each procedure's share of the weights ends, and their sum.
    Mix {
        /// Sums of the weights up to and including each procedure.
        ends: Box<[u64]>,
        /// All weights.
        total: u64,
    },
    /// One after the other, from the beginning again; that many.
    InTurn(u64),
    /// Of those in turn only one, at its position: (position, that many).
    Lane(u64, u64),
    /// Each procedure and copy once, or as often as it states.
    Once(Box<[OnceCall]>),
}

/// One call of a script that calls each procedure once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OnceCall {
    /// Position among the client's procedures.
    pub(crate) procedure: usize,
    /// The copy; `None` for one that is drawn.
    pub(crate) copy: Option<u32>,
    /// Its number among the procedure's calls by all clients.
    pub(crate) number: Option<u64>,
}

/// One call of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ScriptedCall {
    /// Position among the client's procedures.
    pub(crate) procedure: usize,
    /// The copy, when the script names it.
    pub(crate) copy: Option<u32>,
    /// Number of the turn: the call's own, but where several calls make one.
    pub(crate) turn: u64,
    /// Number of the call among all of the client's.
    pub(crate) n: u64,
    /// Its number among the procedure's calls by all clients, when the script counts them.
    pub(crate) number: Option<u64>,
}

impl Script {
    /// Returns a script that draws by `weights`, of which at least one is above 0.
    pub(crate) fn mix(weights: impl Iterator<Item = u32>) -> Self {
        let mut total = 0;
        let ends = weights.map(|weight| {
            total += u64::from(weight);
            total
        });
        let ends = ends.collect();
        Self::Mix { ends, total }
    }

    /// Returns call `n`.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a position among few procedures")]
    pub(crate) fn call(&self, choices: Stream, n: u64) -> ScriptedCall {
        match self {
            Self::Mix { ends, total } => {
                let drawn = if ends.len() > 1 { below(choices.word(n), *total) } else { 0 };
                // Few procedures: a walk is faster than a search.
                let procedure = ends.iter().position(|end| drawn < *end).unwrap_or_default();
                ScriptedCall { procedure, copy: None, turn: n, n, number: None }
            }
            Self::InTurn(count) => in_turn(n, *count),
            // The same calls as in turn: only the connection differs.
            Self::Lane(at, count) => in_turn(n * count + at, *count),
            Self::Once(calls) => {
                let OnceCall { procedure, copy, number } = calls[n as usize];
                ScriptedCall { procedure, copy, turn: n, n, number }
            }
        }
    }

    /// Returns how many calls there are; `u64::MAX` when they have no end.
    pub(crate) const fn calls(&self) -> u64 {
        match self {
            Self::Mix { .. } | Self::InTurn(_) | Self::Lane(..) => u64::MAX,
            Self::Once(calls) => calls.len() as u64,
        }
    }
}

/// Returns call `n` of so many procedures in turn.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "a position among few procedures")]
const fn in_turn(n: u64, count: u64) -> ScriptedCall {
    ScriptedCall { procedure: (n % count) as usize, copy: None, turn: n / count, n, number: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn procedures_are_drawn_by_their_weights() {
        let script = Script::mix([1, 0, 3].into_iter());
        let mut counts = [0u32; 3];
        for n in 0..40_000 {
            counts[script.call(Stream::fixed(1), n).procedure] += 1;
        }
        // 6 standard deviations.
        assert!(counts[0].abs_diff(10_000) < 520 && counts[1] == 0, "{counts:?}");
        assert_eq!(script.calls(), u64::MAX);
    }

    #[test]
    fn turns_begin_again() {
        let script = Script::InTurn(2);
        let call = |n| script.call(Stream::fixed(1), n);
        assert_eq!([call(0).procedure, call(1).procedure, call(2).procedure], [0, 1, 0]);
        assert_eq!([call(0).turn, call(1).turn, call(2).turn], [0, 0, 1]);
    }

    #[test]
    fn connections_of_their_own_share_the_calls_in_turn() {
        let (whole, streams) = (Script::InTurn(3), Stream::fixed(1));
        for n in 0..9 {
            let of_lane = Script::Lane(n % 3, 3).call(streams, n / 3);
            assert_eq!(of_lane, whole.call(streams, n));
        }
    }

    #[test]
    fn procedures_called_once_have_an_end() {
        let once = |procedure| OnceCall { procedure, copy: Some(3), number: None };
        let script = Script::Once([once(0), once(1)].into());
        let call = script.call(Stream::fixed(1), 1);
        assert_eq!((script.calls(), call.procedure, call.copy), (2, 1, Some(3)));
    }
}
