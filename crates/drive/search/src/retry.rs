//! Retry limits for invalid probes.

/// Counts of invalid probes, in which the client was late.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct InvalidProbes {
    /// Invalid probes in the whole search.
    total: u32,
    /// Consecutive invalid runs of the same probe.
    consecutive: u32,
}

/// What to do after an invalid probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RetryDecision {
    /// Repeat the same probe.
    Repeat,
    /// Skip it: the client cannot offer this load here.
    Skip,
    /// End the search: too many invalid probes.
    End,
}

/// Most repetitions of the same invalid probe.
const MAX_REPEATS: u32 = 2;
/// Invalid probes after which the search ends.
///
/// Three skipped probes, or a host that is never quiet.
const MAX_INVALID: u32 = 9;

impl InvalidProbes {
    /// Counts an invalid probe and returns what to do.
    pub(crate) fn record_invalid(&mut self) -> RetryDecision {
        self.total += 1;
        self.consecutive += 1;
        if self.total >= MAX_INVALID {
            return RetryDecision::End;
        }
        if self.consecutive <= MAX_REPEATS {
            return RetryDecision::Repeat;
        }
        self.consecutive = 0;
        RetryDecision::Skip
    }

    /// Resets the consecutive count after a valid probe.
    pub(crate) fn record_valid(&mut self) {
        self.consecutive = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_is_repeated_twice_and_a_search_ends_at_the_ninth() {
        let mut probes = InvalidProbes::default();
        let decisions: Vec<RetryDecision> = (0..9).map(|_| probes.record_invalid()).collect();
        let three = [RetryDecision::Repeat, RetryDecision::Repeat, RetryDecision::Skip];
        assert_eq!(decisions[..3], three);
        assert_eq!(decisions[3..6], three);
        assert_eq!(decisions[8], RetryDecision::End);
    }

    #[test]
    fn a_valid_probe_resets_the_repeat_count() {
        let mut probes = InvalidProbes::default();
        for _ in 0..4 {
            assert_eq!(
                [probes.record_invalid(), probes.record_invalid()],
                [RetryDecision::Repeat; 2]
            );
            probes.record_valid();
        }
        assert_eq!(probes.record_invalid(), RetryDecision::End);
    }
}
