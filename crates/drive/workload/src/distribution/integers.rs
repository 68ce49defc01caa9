//! Integers drawn by a key distribution.

use super::picker::Picker;
use super::plain::{Access, Space};
use super::registry::parse;
use crate::random::Stream;
use crate::request::Part;

/// Integers from 0, drawn by a key distribution.
#[derive(Debug, Clone, Copy)]
pub struct Integers(Picker);

impl Integers {
    /// Returns the integers below `count` for the client that is `part` of its group.
    ///
    /// # Errors
    /// As [`super::check_distribution`].
    pub fn parse(distribution: &str, count: u64, part: Part) -> Result<Self, String> {
        let space = Space { rows: count, access: Access::Point, first: part.first(count) };
        parse(distribution, space).map(Self)
    }

    /// Returns the integer of draw `n`.
    ///
    /// On the hot path: no allocation.
    #[inline]
    pub fn pick(&self, stream: Stream, n: u64) -> u64 {
        self.0.pick(stream, n)
    }
}
