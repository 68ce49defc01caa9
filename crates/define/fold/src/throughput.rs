//! Throughput over the whole seconds of a span.

use model::record::SecondStats;

/// Operations of each whole second.
#[derive(Debug, Default)]
pub(crate) struct Throughput {
    seconds: Vec<WholeSecond>,
}

#[derive(Debug)]
struct WholeSecond {
    ops_per_s: f64,
    is_invalid: bool,
}

impl Throughput {
    /// Notes a whole second.
    pub(crate) fn add(&mut self, ops_per_s: f64, is_invalid: bool) {
        self.seconds.push(WholeSecond { ops_per_s, is_invalid });
    }

    /// Returns the throughput over the whole seconds, invalid ones only if `has_invalid`.
    pub(crate) fn stats(&self, has_invalid: bool) -> SecondStats {
        let counted = self.seconds.iter().filter(|second| has_invalid || !second.is_invalid);
        let mut done: Vec<f64> = counted.map(|second| second.ops_per_s).collect();
        done.sort_by(f64::total_cmp);
        let Some(&max_ops) = done.last() else { return SecondStats::default() };
        SecondStats {
            seconds: done.len() as u64,
            p1_ops: done[done.len() / 100],
            p50_ops: done[(done.len() - 1) / 2],
            max_ops,
            stalled_seconds: done.iter().filter(|ops| **ops < 0.5).count() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_seconds_are_left_out_unless_requested() {
        let mut throughput = Throughput::default();
        for (done, is_invalid) in [(50.0, false), (0.0, true), (70.0, false)] {
            throughput.add(done, is_invalid);
        }
        let valid = throughput.stats(false);
        assert_eq!((valid.seconds, valid.stalled_seconds), (2, 0));
        let all = throughput.stats(true);
        assert_eq!((all.seconds, all.stalled_seconds), (3, 1));
    }
}
