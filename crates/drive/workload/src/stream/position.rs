//! The position of a client in its stream.

use crate::random::Stream;

/// One answer in 2 to this power, 64, is stored and checked: enough to detect within a second a
/// fault that hits one read in ten thousand, few enough that checks (some 50 ns for a row of 400
/// bytes, outside the measured times) add about 1 ns per operation.
const CHECKED_POWER: u32 = 6;
/// Operations of which one is checked.
const BLOCK: u64 = 1 << CHECKED_POWER;
/// Spreads the checked operations, so that they do not beat with a periodic key order.
/// Source: [Knuth 1998], section 6.4 (Fibonacci hashing).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The number of the next operation and of the last one.
#[derive(Debug, Clone, Copy)]
pub struct Position {
    pub(super) stream: Stream,
    next: u64,
    end: u64,
}

impl Position {
    /// Returns the place before operation 0 of `operations`.
    pub const fn new(stream: Stream, operations: u64) -> Self {
        Self { stream, next: 0, end: operations }
    }

    /// Returns the number of the operation to do now; `None` behind the last.
    #[inline]
    pub const fn advance(&mut self) -> Option<u64> {
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
    /// Below 128, 64 in the mean: one operation of every 64, each time at another place.
    #[inline]
    pub const fn unchecked(&self) -> u64 {
        let (block, at) = (self.next >> CHECKED_POWER, self.next & (BLOCK - 1));
        let place = place_in(block);
        if at <= place { place - at } else { BLOCK - at + place_in(block.wrapping_add(1)) }
    }
}

/// Returns which operation of a block is checked.
const fn place_in(block: u64) -> u64 {
    block.wrapping_mul(SPREAD) >> (u64::BITS - CHECKED_POWER)
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
            assert!(skipped < 128, "a long stretch without a check: {skipped}");
            position.jump(position.next + skipped);
            checked.push(position.next);
            assert_eq!(position.unchecked(), 0);
            position.jump(position.next + 1);
        }
        assert_eq!(checked[0], 0);
        assert!(checked.iter().zip(0..).all(|(n, block)| n / BLOCK == block), "{checked:?}");
        // Not periodic: the checked operations fall on every residue of a power of two.
        let residues: std::collections::BTreeSet<_> = checked.iter().map(|n| n % 64).collect();
        assert_eq!(residues.len(), 64);
    }
}
