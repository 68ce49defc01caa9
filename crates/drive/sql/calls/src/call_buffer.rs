//! Buffers for the values of one call.

use model::{Argument, Bounds};
use workload::random::{Stream, below, unit};

use crate::source::{Source, write_pattern};

/// Moment of the first call of a run's first step: 2020-01-01 00:00:00.
const FIRST_SECOND: i64 = 1_577_836_800;
/// Seconds between the first moments of two steps: 30 days, more than any step draws.
const STEP_SECONDS: i64 = 30 * 24 * 3600;

/// The inputs of the values of one call, or of one of its rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DrawInputs {
    /// Random numbers; each value takes one.
    pub(crate) stream: Stream,
    /// The first of them.
    pub(crate) word: u64,
    /// Number of rows, or calls, that the client drew before.
    pub(crate) pick: u64,
    /// Unique among the calls, or rows, of the step.
    pub(crate) number: u64,
    /// Number of the turn.
    pub(crate) turn: u64,
    /// Position of the step in its run.
    pub(crate) step_index: u32,
    /// The ids present.
    pub(crate) ids: Bounds,
    /// The smallest id.
    pub(crate) first: i64,
}

/// The values of one call.
pub(crate) struct CallBuffer {
    pub(crate) arguments: Vec<Argument>,
    /// The bytes of the texts among them.
    pub(crate) bytes: Vec<u8>,
}

impl CallBuffer {
    /// Returns an empty buffer with this capacity.
    pub(crate) fn with_room(arguments: usize, bytes: usize) -> Self {
        Self { arguments: Vec::with_capacity(arguments), bytes: Vec::with_capacity(bytes) }
    }

    /// Removes the last call's values.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.arguments.clear();
        self.bytes.clear();
    }

    /// Draws a value from each of `sources`, which belong together.
    #[inline]
    pub(crate) fn draw(&mut self, sources: &[Source], inputs: &DrawInputs) {
        let begin = self.arguments.len();
        for (word, source) in (inputs.word..).zip(sources) {
            let value = match source {
                Source::Uniform { from, count } => {
                    integer(*from, below(inputs.stream.word(word), *count))
                }
                Source::Picked { from, integers } => {
                    // Every value of a call has a stream of its own.
                    let stream = inputs.stream.branch(1 + (word - inputs.word));
                    integer(*from, integers.pick(stream, inputs.pick))
                }
                Source::Real { below, plus, scale } => {
                    let part = unit(inputs.stream.word(word)) * below;
                    let plus = plus.and_then(|plus| self.arguments.get(begin + plus));
                    Argument::Real((part + plus.map_or(0.0, |plus| number_of(*plus))) * scale)
                }
                Source::Payload(payload) => {
                    self.text(|bytes| payload.draw(inputs.stream.word(word), bytes))
                }
                Source::Pattern(pattern) => {
                    self.text(|bytes| write_pattern(pattern, inputs.stream.word(word), bytes))
                }
                Source::Moment { turns_per_second } => {
                    let begun = FIRST_SECOND + STEP_SECONDS * i64::from(inputs.step_index);
                    Argument::Moment(begun + (inputs.turn / turns_per_second).cast_signed())
                }
                Source::Id => {
                    let Bounds { first, next } = inputs.ids;
                    // In an empty table the call finds nothing.
                    let count = next.saturating_sub(first).max(1).cast_unsigned();
                    integer(first, below(inputs.stream.word(word), count))
                }
                Source::FirstId => Argument::Integer(inputs.first),
                Source::Number => Argument::Integer(inputs.number.cast_signed()),
                Source::Made(made) => {
                    let drawn = self.arguments.get(begin..).unwrap_or_default();
                    made.value(inputs.stream.word(word), drawn, &mut self.bytes)
                }
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
const fn number_of(value: Argument) -> f64 {
    match value {
        Argument::Integer(value) | Argument::Moment(value) => value as f64,
        Argument::Real(value) => value,
        Argument::Text { .. } => 0.0,
    }
}
