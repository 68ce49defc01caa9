//! Arrivals at equal distances.

/// The process whose arrivals are exactly one unit of time apart, the first at 0.
///
/// Smoother than reality: queues are shorter than with independent arrivals.
#[derive(Debug, Clone, Default)]
pub(super) struct Constant {
    next: u64,
}

impl Constant {
    /// Returns the time of the next arrival.
    #[inline(always)]
    pub(super) const fn next(&mut self) -> f64 {
        // A number, not a running sum: nothing is rounded.
        let at = self.next as f64;
        self.next += 1;
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_are_one_apart_from_zero_on() {
        let mut process = Constant::default();
        for expected in 0..1000 {
            assert!((process.next() - f64::from(expected)).abs() < f64::EPSILON);
        }
        process.next = 1 << 40;
        assert!((process.next() - 1_099_511_627_776.0).abs() < f64::EPSILON);
    }
}
