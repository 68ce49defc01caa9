//! The closed loop: an operation is due when the last one has ended.

use model::Nanos;

use crate::traits::Schedule;

/// The closed loop without think time; what it cannot see: the operations a stall kept away.
#[derive(Debug, Clone, Copy, Default)]
pub struct Closed;

impl Schedule for Closed {
    const IS_CLOSED: bool = true;

    #[inline(always)]
    fn next_start(&mut self, now: Nanos) -> Option<Nanos> {
        Some(now)
    }
}
