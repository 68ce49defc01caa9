//! The range of ids in one copy of a table.

use std::sync::atomic::{AtomicI64, Ordering};

use model::Bounds;

/// The bounds as the step began, moved on by what was inserted and deleted since.
///
/// Shared by all clients of the copy. Only inserts and deletes change it, and
/// where each client has its own copy that is one thread. Relaxed: it orders nothing.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Ids {
    first: AtomicI64,
    next: AtomicI64,
}

impl Ids {
    /// Returns the ids of a copy within `bounds`.
    pub(super) const fn new(bounds: Bounds) -> Self {
        Self { first: AtomicI64::new(bounds.first), next: AtomicI64::new(bounds.next) }
    }

    /// Returns the bounds now.
    #[inline]
    pub(super) fn bounds(&self) -> Bounds {
        let next = self.next.load(Ordering::Relaxed);
        Bounds { first: self.first.load(Ordering::Relaxed).min(next), next }
    }

    /// Adds `rows` rows behind the last.
    #[inline]
    pub(super) fn inserted(&self, rows: u32) {
        self.next.fetch_add(i64::from(rows), Ordering::Relaxed);
    }

    /// Takes the `rows` smallest ids out, to be deleted; returns the first of them.
    ///
    /// Two clients never get the same.
    #[inline]
    pub(super) fn take(&self, rows: u32) -> i64 {
        let next = self.next.load(Ordering::Relaxed);
        let after = |first: i64| Some(first.saturating_add(i64::from(rows)).min(next).max(first));
        let taken = self.first.fetch_update(Ordering::Relaxed, Ordering::Relaxed, after);
        taken.unwrap_or_else(|first| first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_s_ends_move_and_never_cross() {
        let ids = Ids::new(Bounds { first: 5, next: 12 });
        assert_eq!((ids.take(5), ids.take(5), ids.take(5)), (5, 10, 12));
        assert_eq!(ids.bounds(), Bounds { first: 12, next: 12 });
        ids.inserted(3);
        assert_eq!(ids.bounds(), Bounds { first: 12, next: 15 });
        assert_eq!((ids.take(2), ids.take(2)), (12, 14));
        assert_eq!(ids.bounds(), Bounds { first: 15, next: 15 });
    }
}
