//! The position of a client in its stream.

use crate::random::Stream;

/// One answer in 2 to this power, 64, is stored and checked: enough to detect within a second a
/// fault that hits one read in ten thousand, few enough that checks (some 50 ns for a row of 400
/// bytes, outside the measured times) add about 1 ns per operation.
const CHECKED_POWER: u32 = 6;
/// Spreads the checked operations, so that they do not beat with a periodic key order.
/// Source: [Knuth 1998], section 6.4 (Fibonacci hashing).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The number of the next operation and of the last one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Position {
    pub(super) stream: Stream,
    next: u64,
    end: u64,
}

impl Position {
    /// Returns the place before operation 0 of `operations`.
    pub(crate) const fn new(stream: Stream, operations: u64) -> Self {
        Self { stream, next: 0, end: operations }
    }

    /// Returns the number of the operation to do now; `None` behind the last.
    #[inline]
    pub(crate) const fn advance(&mut self) -> Option<u64> {
        let n = self.next;
        if n == self.end {
            return None;
        }
        self.next = n + 1;
        Some(n)
    }

    /// Goes to operation `n`, whatever was done before.
    #[cfg(test)]
    pub(super) const fn jump(&mut self, n: u64) {
        self.next = n;
    }

    /// Returns how many operations from the next one on come before one that is checked.
    ///
    /// At most some 150 turns of four instructions, 64 in the mean.
    pub(crate) const fn unchecked(&self) -> u64 {
        let mut skipped = 0;
        while self.next.wrapping_add(skipped).wrapping_mul(SPREAD) >> (u64::BITS - CHECKED_POWER)
            != 0
        {
            skipped += 1;
        }
        skipped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_operation_in_64_is_checked_the_first_included() {
        let mut position = Position::new(Stream::fixed(1), u64::MAX);
        let mut checked = Vec::new();
        while position.next < 64_000 {
            let skipped = position.unchecked();
            assert!(skipped < 150, "a long stretch without a check: {skipped}");
            position.jump(position.next + skipped);
            checked.push(position.next);
            assert_eq!(position.unchecked(), 0);
            position.jump(position.next + 1);
        }
        assert_eq!(checked[0], 0);
        assert!((990..=1010).contains(&checked.len()), "{}", checked.len());
        // Not periodic: the checked operations fall on every residue of a power of two.
        let residues: std::collections::BTreeSet<_> = checked.iter().map(|n| n % 64).collect();
        assert_eq!(residues.len(), 64);
    }
}
