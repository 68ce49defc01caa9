//! One call of a procedure, with its values.

use serde::{Deserialize, Serialize};

use crate::capability::OpKind;
use crate::units::Nanos;

/// Id range of a table: `first` inclusive, `next` exclusive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// The smallest id; equal to `next` when the table is empty.
    pub first: i64,
    /// The largest id and one.
    pub next: i64,
}

/// One value of a call; bytes lie in [`Call::bytes`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Argument {
    /// An integer.
    Integer(i64),
    /// A real number.
    Real(f64),
    /// A moment: seconds since 1970, without a time zone.
    Moment(i64),
    /// Text: its place in [`Call::bytes`].
    Text {
        /// Where it begins.
        start: u32,
        /// Where it ends.
        end: u32,
    },
}

/// One call of a procedure, borrowed from its generator.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// Position in [`Application::procedures`](crate::Application::procedures).
    pub procedure: u16,
    /// The procedure's kind.
    pub kind: OpKind,
    /// Number of the table among its copies, from 0.
    pub table: u32,
    /// The values: those drawn once, then row after row.
    pub arguments: &'a [Argument],
    /// The bytes of texts.
    pub bytes: &'a [u8],
    /// How long a closed loop waits before it: the client thinks and types.
    pub pause: Nanos,
}

impl Call<'_> {
    /// Returns the bytes of a text argument; nothing of any other.
    #[inline]
    pub fn text(&self, argument: Argument) -> &[u8] {
        let Argument::Text { start, end } = argument else { return &[] };
        self.bytes.get(start as usize..end as usize).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_an_argument_is_a_part_of_the_call_s_bytes() {
        let call = Call {
            procedure: 0,
            kind: OpKind::Get,
            table: 0,
            arguments: &[],
            bytes: b"abcdef",
            pause: Nanos(0),
        };
        assert_eq!(call.text(Argument::Text { start: 1, end: 3 }), b"bc");
        assert_eq!(call.text(Argument::Text { start: 5, end: 9 }), b"");
        assert_eq!(call.text(Argument::Integer(1)), b"");
    }
}
