//! Where a client is in its stream: the only thing that changes from operation to operation.

use crate::random::Stream;

/// One answer in 2 to this power, 64, is kept and checked: enough to meet within a second a fault
/// that hits one read in ten thousand, few enough that checks (some 50 ns for a row of 400 bytes,
/// outside the measured times) add about 1 ns per operation.
const CHECKED_POWER: u32 = 6;
/// Spreads the checked operations, so that they do not beat with a periodic key order.
/// Source: D. Knuth, TAOCP volume 3, section 6.4 (Fibonacci hashing).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The number of the next operation and of the last one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Position {
    pub(super) stream: Stream,
    next: u64,
    end: u64,
}

impl Position {
    /// Returns the place before operation 0 of `operations`.
    pub(super) const fn new(stream: Stream, operations: u64) -> Self {
        Self { stream, next: 0, end: operations }
    }

    /// Returns the number of the operation to do now; `None` behind the last.
    #[inline]
    pub(super) const fn advance(&mut self) -> Option<u64> {
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

    /// Returns the number of the operation last returned.
    pub(super) const fn last(&self) -> u64 {
        self.next.wrapping_sub(1)
    }

    /// Returns whether the operation last returned is one of those that are checked.
    #[inline]
    pub(super) const fn wants_check(&self) -> bool {
        self.last().wrapping_mul(SPREAD) >> (u64::BITS - CHECKED_POWER) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_operation_in_64_is_checked_the_first_included() {
        let mut position = Position::new(Stream::fixed(1), 64_000);
        let mut checked = Vec::new();
        while let Some(n) = position.advance() {
            if position.wants_check() {
                checked.push(n);
            }
        }
        assert_eq!(checked[0], 0);
        assert!((990..=1010).contains(&checked.len()), "{}", checked.len());
        // Not periodic: the checked operations fall on every residue of a power of two.
        let residues: std::collections::BTreeSet<_> = checked.iter().map(|n| n % 64).collect();
        assert_eq!(residues.len(), 64);
    }
}
