//! Values made of other values, and the random functions of TPC-C.

use model::Argument;
use model::sql::{Draw, ReadKind};
use workload::random::{Stream, below, unit};

/// Syllables of a text: one for each of three digits.
pub(crate) const SYLLABLES: usize = 3;

/// A value made of others, of a word of random bits, or of a statement's result.
pub(crate) enum Made {
    /// An integer by the non-uniform random function.
    Nurand {
        /// Largest number of the first draw.
        a: u64,
        /// The constant C.
        c: u64,
        /// The smallest value.
        from: i64,
        /// How many values there are.
        count: u64,
    },
    /// 1 with this probability.
    Chance(f64),
    /// A part of an integer.
    Part {
        /// Position of the integer among those drawn with it.
        of: usize,
        /// Divisor.
        divide: u64,
        /// Number of values.
        modulo: u64,
        /// What is added.
        add: i64,
    },
    /// The syllables of the last three digits of an integer.
    Syllables {
        /// The syllables of 0 to 9.
        syllables: Box<[Box<[u8]>]>,
        /// Position of the integer.
        of: usize,
    },
    /// An integer, or with a probability another one of its range.
    Other {
        /// Position of the integer.
        of: usize,
        /// Probability of another one.
        share: f64,
        /// The smallest value.
        from: i64,
        /// How many there are.
        count: u64,
    },
    /// Set by a statement's result; drawn as a value of its type.
    Read(ReadKind),
}

impl Made {
    /// Returns the source of a draw; one of another kind is nothing.
    pub(crate) fn new(draw: &Draw) -> Self {
        match draw {
            Draw::Nurand { a, c, from, count } => {
                Self::Nurand { a: *a, c: *c, from: *from, count: (*count).max(1) }
            }
            Draw::Chance(share) => Self::Chance(*share),
            Draw::Part { of, divide, modulo, add } => Self::Part {
                of: usize::from(*of),
                divide: (*divide).max(1),
                modulo: (*modulo).max(1),
                add: *add,
            },
            Draw::Syllables { syllables, of } => Self::Syllables {
                syllables: syllables.iter().map(|one| one.as_bytes().into()).collect(),
                of: usize::from(*of),
            },
            Draw::Other { of, share, from, count } => {
                Self::Other { of: usize::from(*of), share: *share, from: *from, count: *count }
            }
            Draw::Read(kind) => Self::Read(*kind),
            Draw::Integer { .. }
            | Draw::Real { .. }
            | Draw::Payload { .. }
            | Draw::Pattern(_)
            | Draw::Moment { .. }
            | Draw::Id
            | Draw::FirstId
            | Draw::Number => Self::Read(ReadKind::Integer),
        }
    }

    /// Returns the value of a word; `drawn` are those drawn with it, texts go to `bytes`.
    #[inline]
    pub(crate) fn value(&self, word: u64, drawn: &[Argument], bytes: &mut Vec<u8>) -> Argument {
        match self {
            Self::Nurand { a, c, from, count } => {
                Argument::Integer(nurand(*a, *c, *from, *count, word))
            }
            Self::Chance(share) => Argument::Integer(i64::from(unit(word) < *share)),
            Self::Part { of, divide, modulo, add } => {
                let part = integer_at(drawn, *of).cast_unsigned() / divide % modulo;
                Argument::Integer(add.wrapping_add_unsigned(part))
            }
            Self::Syllables { syllables, of } => {
                let number = integer_at(drawn, *of).unsigned_abs();
                let start = bytes.len();
                for digit in [number / 100 % 10, number / 10 % 10, number % 10] {
                    let one = usize::try_from(digit).ok().and_then(|digit| syllables.get(digit));
                    bytes.extend_from_slice(one.map_or(&[], |one| one));
                }
                text(start, bytes.len())
            }
            Self::Other { of, share, from, count } => {
                let own = integer_at(drawn, *of);
                if *count < 2 || unit(word) >= *share {
                    return Argument::Integer(own);
                }
                let other = from.wrapping_add_unsigned(below(Stream::another(word), count - 1));
                // Those from the own one on move up by one.
                Argument::Integer(other + i64::from(other >= own))
            }
            Self::Read(ReadKind::Integer) => Argument::Integer(0),
            Self::Read(ReadKind::Real) => Argument::Real(0.0),
            Self::Read(ReadKind::Text) => text(bytes.len(), bytes.len()),
        }
    }
}

/// Returns a value of the non-uniform random function of TPC-C.
///
/// Source: [TPC-C 5.11], clause 2.1.6.
#[inline]
fn nurand(a: u64, c: u64, from: i64, count: u64, word: u64) -> i64 {
    let low = below(word, a + 1).cast_signed();
    let high = from.wrapping_add_unsigned(below(Stream::another(word), count));
    let sum = (low | high).wrapping_add_unsigned(c);
    from.wrapping_add_unsigned(sum.cast_unsigned() % count)
}

#[inline]
fn integer_at(drawn: &[Argument], at: usize) -> i64 {
    if let Some(Argument::Integer(value)) = drawn.get(at) { *value } else { 0 }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the bytes of a call are checked")]
const fn text(start: usize, end: usize) -> Argument {
    Argument::Text { start: start as u32, end: end as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(made: &Made, n: u64, with: &[Argument]) -> i64 {
        let value = made.value(Stream::fixed(4).word(n), with, &mut Vec::new());
        let Argument::Integer(value) = value else { panic!("{value:?}") };
        value
    }

    #[test]
    fn nurand_has_the_distribution_of_its_definition() {
        // Goal: NURand(255, 0, 999) is as clause 2.1.6 defines it. Method: the exact
        // probabilities by going through all pairs of its two draws; chi-square with 999 degrees
        // of freedom exceeds 1,180 by chance once in 10,000.
        let (a, c, from, count) = (255, 123, 0, 1000);
        let mut probability = vec![0.0; 1000];
        for low in 0..=a {
            for high in 0..count {
                let value = ((low | high) + c) % count;
                probability[usize::try_from(value).unwrap()] += 1.0 / 256.0 / 1000.0;
            }
        }
        let made = Made::new(&Draw::Nurand { a, c, from, count });
        let (mut counts, draws) = (vec![0u32; 1000], 400_000);
        for n in 0..draws {
            counts[usize::try_from(drawn(&made, n, &[])).unwrap()] += 1;
        }
        let mut square = 0.0;
        for (count, p) in counts.iter().zip(&probability) {
            if *p == 0.0 {
                assert_eq!(*count, 0);
                continue;
            }
            let expected = p * f64::from(u32::try_from(draws).unwrap());
            square += (f64::from(*count) - expected).powi(2) / expected;
        }
        assert!(square < 1_180.0, "{square}");
    }

    #[test]
    fn nurand_of_a_range_stays_in_it() {
        let made = Made::new(&Draw::Nurand { a: 1023, c: 259, from: 1, count: 3000 });
        let values: Vec<_> = (0..50_000).map(|n| drawn(&made, n, &[])).collect();
        assert!(values.iter().all(|value| (1..=3000).contains(value)));
    }

    #[test]
    fn last_names_are_made_of_syllables() {
        // Source: [TPC-C 5.11], clause 4.3.2.3: 371 is PRICALLYOUGHT.
        let syllables =
            ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];
        let syllables = syllables.map(str::to_owned).to_vec();
        let made = Made::new(&Draw::Syllables { syllables, of: 0 });
        let mut bytes = b"x".to_vec();
        let value = made.value(0, &[Argument::Integer(371)], &mut bytes);
        assert_eq!((value, &bytes[1..]), (text(1, 14), &b"PRICALLYOUGHT"[..]));
    }

    #[test]
    fn another_integer_is_never_the_own_one_and_comes_as_often_as_stated() {
        let made = Made::new(&Draw::Other { of: 0, share: 0.15, from: 1, count: 5 });
        let own = [Argument::Integer(3)];
        let mut counts = [0u32; 6];
        for n in 0..40_000 {
            counts[usize::try_from(drawn(&made, n, &own)).unwrap()] += 1;
        }
        // 6 standard deviations.
        assert!(counts[3].abs_diff(34_000) < 430, "{counts:?}");
        for other in [1, 2, 4, 5] {
            assert!(counts[other].abs_diff(1_500) < 230, "{counts:?}");
        }
        let alone = Made::new(&Draw::Other { of: 0, share: 1.0, from: 1, count: 1 });
        assert_eq!(drawn(&alone, 0, &[Argument::Integer(1)]), 1);
    }

    #[test]
    fn a_part_of_a_number_is_a_digit_of_any_base() {
        let part = |divide, modulo| Made::new(&Draw::Part { of: 0, divide, modulo, add: 1 });
        let number = [Argument::Integer(61_234)];
        assert_eq!(drawn(&part(1, 3_000), 0, &number), 1_235);
        assert_eq!(drawn(&part(3_000, 10), 0, &number), 1);
        assert_eq!(drawn(&part(30_000, u64::MAX), 0, &number), 3);
    }

    #[test]
    fn chance_is_one_as_often_as_stated() {
        let made = Made::new(&Draw::Chance(0.01));
        let sum: i64 = (0..100_000).map(|n| drawn(&made, n, &[])).sum();
        assert!(sum.abs_diff(1_000) < 190, "{sum}");
    }
}
