//! A value of a statement.

use model::{Argument, Call};

/// A value of a statement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'v> {
    /// An integer.
    Integer(i64),
    /// A real number.
    Real(f64),
    /// Seconds since 1970.
    Moment(i64),
    /// Text in the connection's character set.
    Text(&'v [u8]),
    /// Bytes.
    Bytes(&'v [u8]),
    /// An array of keys, where [`crate::Sql::has_arrays`].
    Keys(&'v [&'v [u8]]),
}

impl<'v> Value<'v> {
    /// Returns the value of a call's argument; an absent one is empty.
    #[inline]
    pub(crate) fn of(call: &'v Call<'_>, position: usize) -> Self {
        match call.arguments.get(position) {
            Some(&Argument::Integer(value)) => Self::Integer(value),
            Some(&Argument::Real(value)) => Self::Real(value),
            Some(&Argument::Moment(seconds)) => Self::Moment(seconds),
            Some(&text @ Argument::Text { .. }) => Self::Text(call.text(text)),
            None => Self::Text(&[]),
        }
    }
}
