//! Every row exactly once, in an order that a seed chooses.

use super::picker::{Picker, Space};
use crate::permutation::Permutation;
use crate::random::Stream;

/// Walks a permutation of the rows from the client's own first place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shuffled {
    permutation: Permutation,
    first: u64,
}

impl Shuffled {
    /// Returns the walk; `order` chooses the permutation and is the same for all clients.
    pub(crate) fn new(space: Space, order: Stream) -> Self {
        Self { permutation: Permutation::new(space.rows, order), first: space.first }
    }
}

impl Picker for Shuffled {
    #[inline]
    fn pick(&self, _stream: Stream, n: u64) -> u64 {
        self.permutation.apply(self.first + n)
    }
}
