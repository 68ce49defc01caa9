//! Sources of drawn values.

use model::sql::Draw;
use workload::random::Stream;
use workload::{Integers, Part};

use crate::made::{Made, SYLLABLES};
use crate::payload::Payload;

/// A [`Draw`] with its distribution resolved.
pub(crate) enum Source {
    /// An integer, each equally often.
    Uniform {
        /// The smallest.
        from: i64,
        /// How many there are.
        count: u64,
    },
    /// An integer by a key distribution.
    Picked {
        /// The smallest.
        from: i64,
        /// Which of them.
        integers: Integers,
    },
    /// A real number.
    Real {
        /// Upper bound of the uniform part.
        below: f64,
        /// Position of the integer added, among those drawn with it.
        plus: Option<usize>,
        /// Factor.
        scale: f64,
    },
    /// Text of which a part is random.
    Payload(Payload),
    /// Text in which each `#` is a digit.
    Pattern(Box<[u8]>),
    /// A moment, in seconds.
    Moment {
        /// Turns that share a second, >= 1.
        turns_per_second: u64,
    },
    /// An id that is there.
    Id,
    /// The smallest id.
    FirstId,
    /// A number that no other call of the step draws.
    Number,
    /// A value made of others, or by a function of TPC-C.
    Made(Made),
}

impl Source {
    /// Returns the source of `draw` for the client that is `part` of its group.
    ///
    /// # Errors
    /// Names the defect of a key distribution, and the known ones.
    pub(crate) fn new(draw: &Draw, part: Part) -> Result<Self, String> {
        Ok(match draw {
            Draw::Integer { distribution, from, count } => {
                let integers = Integers::parse(distribution, *count, part)?;
                match distribution.as_str() {
                    "uniform" => Self::Uniform { from: *from, count: *count },
                    _ => Self::Picked { from: *from, integers },
                }
            }
            Draw::Real { below, plus, scale } => {
                Self::Real { below: *below, plus: plus.map(usize::from), scale: *scale }
            }
            Draw::Payload { bytes_min, bytes_max, random } => {
                Self::Payload(Payload::new(*bytes_min, *bytes_max, *random))
            }
            Draw::Pattern(pattern) => Self::Pattern(pattern.as_bytes().into()),
            Draw::Moment { calls_per_second } => {
                Self::Moment { turns_per_second: u64::from(*calls_per_second).max(1) }
            }
            Draw::Id => Self::Id,
            Draw::FirstId => Self::FirstId,
            Draw::Number => Self::Number,
            Draw::Nurand { .. }
            | Draw::Chance(_)
            | Draw::Part { .. }
            | Draw::Syllables { .. }
            | Draw::Other { .. }
            | Draw::Read(_) => Self::Made(Made::new(draw)),
        })
    }
}

/// Returns the most bytes of text that a value takes.
pub(crate) fn text_bytes(draw: &Draw) -> u64 {
    match draw {
        Draw::Payload { bytes_max, .. } => u64::from(*bytes_max),
        Draw::Pattern(pattern) => pattern.len() as u64,
        Draw::Integer { .. }
        | Draw::Real { .. }
        | Draw::Moment { .. }
        | Draw::Id
        | Draw::FirstId
        | Draw::Number
        | Draw::Nurand { .. }
        | Draw::Chance(_)
        | Draw::Part { .. }
        | Draw::Other { .. }
        | Draw::Read(_) => 0,
        Draw::Syllables { syllables, .. } => {
            let longest = syllables.iter().map(String::len).max().unwrap_or(0);
            (SYLLABLES * longest) as u64
        }
    }
}

/// Writes `pattern` to the end of `bytes`, which has room for it, with a random digit for each `#`.
#[inline]
pub(crate) fn write_pattern(pattern: &[u8], mut word: u64, bytes: &mut Vec<u8>) {
    /// Digits that a word is good for: the last is favoured by less than 1 in 1,000.
    const DIGITS_PER_WORD: u32 = 16;
    let (mut left, mut digits) = (DIGITS_PER_WORD, word);
    for letter in pattern {
        if *letter != b'#' {
            bytes.push(*letter);
            continue;
        }
        if left == 0 {
            word = Stream::another(word);
            (left, digits) = (DIGITS_PER_WORD, word);
        }
        left -= 1;
        let tenfold = u128::from(digits) * 10;
        #[expect(clippy::cast_possible_truncation, reason = "the upper half is 0 to 9")]
        bytes.push(b'0' + (tenfold >> u64::BITS) as u8);
        #[expect(clippy::cast_possible_truncation, reason = "the lower half is wanted")]
        {
            digits = tenfold as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_a_pattern_are_all_equally_often() {
        // Goal: as many of each in every place, also beyond the digits of one word. Method: each
        // count is binomial with standard deviation 30; 6 of them are allowed.
        let pattern = b"##-########################";
        let mut counts = vec![[0u32; 10]; pattern.len()];
        for n in 0..10_000 {
            let mut bytes = Vec::new();
            write_pattern(pattern, Stream::fixed(2).word(n), &mut bytes);
            assert!(bytes.len() == pattern.len() && bytes[2] == b'-');
            for (place, digit) in bytes.iter().enumerate().filter(|(place, _)| *place != 2) {
                counts[place][usize::from(*digit - b'0')] += 1;
            }
        }
        for (place, digits) in counts.iter().enumerate().filter(|(place, _)| *place != 2) {
            assert!(digits.iter().all(|count| count.abs_diff(1_000) < 180), "{place}: {digits:?}");
        }
    }
}
