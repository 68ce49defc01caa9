//! The values of one call, written into buffers that are used again.

use model::{Argument, Bounds};

use super::source::{Source, write_pattern};
use crate::distribution::Picker as _;
use crate::random::{Stream, below, unit};

/// Moment of the first call of a run's first step: 2020-01-01 00:00:00.
const FIRST_SECOND: i64 = 1_577_836_800;
/// Seconds between the first moments of two steps: 30 days, more than any step draws.
const STEP_SECONDS: i64 = 30 * 24 * 3600;

/// What the values of one call, or of one of its rows, depend on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Basis {
    /// Random words; value after value takes one.
    pub(super) words: Stream,
    /// The first of them.
    pub(super) word: u64,
    /// How many rows, or calls, the client drew before.
    pub(super) pick: u64,
    /// What no other call, or row, of the step draws.
    pub(super) number: u64,
    /// Number of the turn.
    pub(super) turn: u64,
    /// Position of the step in its run.
    pub(super) step_index: u32,
    /// The ids that are there.
    pub(super) ids: Bounds,
    /// The smallest id.
    pub(super) first: i64,
}

/// Values in the making.
#[derive(Debug)]
pub(super) struct Draft {
    arguments: Vec<Argument>,
    bytes: Vec<u8>,
}

impl Draft {
    /// Returns an empty draft with room for that much.
    pub(super) fn with_room(arguments: usize, bytes: usize) -> Self {
        Self { arguments: Vec::with_capacity(arguments), bytes: Vec::with_capacity(bytes) }
    }

    /// Forgets the last call's values.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.arguments.clear();
        self.bytes.clear();
    }

    /// Returns the values.
    #[inline]
    pub(super) fn arguments(&self) -> &[Argument] {
        &self.arguments
    }

    /// Returns the bytes of the texts among them.
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Draws a value from each of `sources`, which belong together.
    #[inline]
    pub(super) fn draw(&mut self, sources: &[Source], basis: &Basis) {
        let begin = self.arguments.len();
        for (word, source) in (basis.word..).zip(sources) {
            let value = match source {
                Source::Uniform { from, picker } => integer(*from, picker.pick(basis.words, word)),
                Source::Picked { from, picker } => {
                    // Every value of a call has words of its own.
                    let words = basis.words.branch(1 + (word - basis.word));
                    integer(*from, picker.pick(words, basis.pick))
                }
                Source::Real { below, plus, scale } => {
                    let part = unit(basis.words.word(word)) * below;
                    let plus = plus.and_then(|plus| self.arguments.get(begin + plus));
                    Argument::Real((part + plus.map_or(0.0, |plus| number_of(*plus))) * scale)
                }
                Source::Payload(payload) => {
                    self.text(|bytes| payload.draw(basis.words.word(word), bytes))
                }
                Source::Pattern(pattern) => {
                    self.text(|bytes| write_pattern(pattern, basis.words.word(word), bytes))
                }
                Source::Moment { turns_per_second } => {
                    let begun = FIRST_SECOND + STEP_SECONDS * i64::from(basis.step_index);
                    Argument::Moment(begun + (basis.turn / turns_per_second).cast_signed())
                }
                Source::Id => {
                    let Bounds { first, next } = basis.ids;
                    // Of an empty table the call finds nothing.
                    let count = next.saturating_sub(first).max(1).cast_unsigned();
                    integer(first, below(basis.words.word(word), count))
                }
                Source::FirstId => Argument::Integer(basis.first),
                Source::Number => Argument::Integer(basis.number.cast_signed()),
            };
            self.arguments.push(value);
        }
    }

    /// Writes a text; returns its place.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the bytes of a call are checked")]
    fn text(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Argument {
        let start = self.bytes.len() as u32;
        write(&mut self.bytes);
        Argument::Text { start, end: self.bytes.len() as u32 }
    }
}

/// Returns an integer so far above `from`.
#[inline]
const fn integer(from: i64, above: u64) -> Argument {
    Argument::Integer(from.wrapping_add_unsigned(above))
}

/// Returns a value as a number to calculate with.
#[inline]
#[expect(clippy::cast_precision_loss, reason = "what is added to a fraction is small")]
const fn number_of(value: Argument) -> f64 {
    match value {
        Argument::Integer(value) | Argument::Moment(value) => value as f64,
        Argument::Real(value) => value,
        Argument::Text { .. } => 0.0,
    }
}
