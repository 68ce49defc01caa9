//! Generators of an application's values.

use serde::{Deserialize, Serialize};

use crate::names::names;

/// Generator of a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Draw {
    /// An integer: `from` and what a key distribution picks of `count`.
    Integer {
        /// Key distribution, as written (`uniform`, `zipf:0.99`).
        distribution: String,
        /// The smallest value.
        from: i64,
        /// How many values there are, >= 1.
        count: u64,
    },
    /// A real number: (uniform in `0 .. below`, plus an integer drawn before it) times `scale`.
    Real {
        /// Upper bound of the uniform part, not included.
        below: f64,
        /// Position, among the values drawn with it, of the integer that is added.
        plus: Option<u16>,
        /// Factor.
        scale: f64,
    },
    /// Text of random length whose random part cannot be compressed; letters `a` fill the rest,
    /// before it.
    Payload {
        /// Shortest.
        bytes_min: u32,
        /// Longest.
        bytes_max: u32,
        /// Share of the bytes that is random.
        random: f64,
    },
    /// Text in which each `#` of the pattern is a random digit.
    Pattern(String),
    /// A moment in whole seconds that moves on by one after that many calls of the client.
    Moment {
        /// Calls that share a second.
        calls_per_second: u32,
    },
    /// An id among those in the table, uniformly.
    Id,
    /// The smallest id in the table.
    FirstId,
    /// The number of the operation among its client's, times the clients, plus the client's: no
    /// two calls of a step draw the same.
    Number,
    /// An integer by the non-uniform random function of TPC-C.
    ///
    /// `((random(0, a) | random(from, from + count - 1)) + c) % count + from`.
    ///
    /// Source: [TPC-C 5.11], clause 2.1.6.
    Nurand {
        /// The constant A: one less than a power of two.
        a: u64,
        /// The constant C, from 0 to A.
        c: u64,
        /// The smallest value.
        from: i64,
        /// How many values there are, >= 1.
        count: u64,
    },
    /// 1 with this probability, else 0.
    Chance(f64),
    /// A part of an integer drawn before: `of / divide % modulo + add`.
    Part {
        /// Position, among the values drawn with it, of the integer.
        of: u16,
        /// Divisor, >= 1.
        divide: u64,
        /// Number of values, >= 1.
        modulo: u64,
        /// What is added.
        add: i64,
    },
    /// Three of ten syllables: those of the decimal digits of an integer drawn before.
    Syllables {
        /// The syllables of the digits 0 to 9.
        syllables: Vec<String>,
        /// Position, among the values drawn with it, of the integer.
        of: u16,
    },
    /// An integer drawn before, or with a probability another one of its range.
    Other {
        /// Position, among the values drawn with it, of the integer.
        of: u16,
        /// Probability of another one.
        share: f64,
        /// The smallest value.
        from: i64,
        /// How many values there are; of one there is no other.
        count: u64,
    },
    /// Nothing is drawn: a statement's result sets the value ([`crate::sql::Read`]).
    Read(ReadKind),
}

/// Integers from the smallest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntegerRange {
    /// The smallest.
    pub first: i64,
    /// How many there are.
    pub count: u64,
}

impl IntegerRange {
    /// Returns the largest.
    pub fn last(self) -> i128 {
        i128::from(self.first) + i128::from(self.count) - 1
    }
}

impl Draw {
    /// Returns the integers that the value may be; `None` for a value of another type.
    ///
    /// An integer that depends on the table or on a result may be any.
    pub const fn integers(&self) -> Option<IntegerRange> {
        let (first, count) = match self {
            Self::Integer { from, count, .. }
            | Self::Nurand { from, count, .. }
            | Self::Other { from, count, .. } => (*from, *count),
            Self::Part { modulo, add, .. } => (*add, *modulo),
            Self::Chance(_) => (0, 2),
            Self::Id | Self::FirstId | Self::Number | Self::Read(ReadKind::Integer) => {
                (i64::MIN, u64::MAX)
            }
            Self::Real { .. }
            | Self::Payload { .. }
            | Self::Pattern(_)
            | Self::Moment { .. }
            | Self::Syllables { .. }
            | Self::Read(ReadKind::Real | ReadKind::Text) => return None,
        };
        Some(IntegerRange { first, count })
    }
}

/// Type of a value that is read from a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadKind {
    /// An integer; a number with a fraction of zeros is one.
    Integer,
    /// A real number.
    Real,
    /// Text in the connection's character set.
    Text,
}

names!(ReadKind, "a type of values": Integer "integer", Real "real", Text "text");
