//! The ids in an application's tables during one step.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use engine::ApplicationSetup;
use model::Bounds;
use model::sql::TrafficSpec;

/// An application, and the ids in each copy of its tables.
///
/// Generators made from the same one share the ids: what a writer inserts, a reader's draws reach.
/// Draws of ids are therefore repeatable as far as the work of the copy's writers is: exactly
/// where the client itself is the only one, else up to the moment at which a writer got so far.
#[derive(Debug, Clone)]
pub struct Tables {
    setup: ApplicationSetup,
    step_index: u32,
    /// By table, then by copy; nothing for a table that assigns no ids.
    ids: Vec<Arc<[Arc<Ids>]>>,
}

impl Tables {
    /// Queries `bounds` for the ids in each copy of each table.
    ///
    /// `step_index` counts the run's steps: it moves the moments that the step draws behind those
    /// of earlier steps. A table of which nothing is known counts as empty.
    ///
    /// # Errors
    /// Those of `bounds`.
    pub fn query<E>(
        setup: &ApplicationSetup,
        step_index: u32,
        mut bounds: impl FnMut(u16, u32) -> Result<Option<Bounds>, E>,
    ) -> Result<Self, E> {
        let mut ids = Vec::new();
        for (at, table) in (0..).zip(&setup.application.tables) {
            let copies = if table.id.is_some() { setup.copies(at) } else { 0 };
            let known = (0..copies).map(|copy| {
                let bounds = bounds(at, copy)?.unwrap_or_default();
                Ok(Arc::new(Ids::new(bounds)))
            });
            ids.push(known.collect::<Result<Arc<[_]>, E>>()?);
        }
        Ok(Self { setup: setup.clone(), step_index, ids })
    }

    /// Returns the application and the most clients of a step.
    pub const fn setup(&self) -> &ApplicationSetup {
        &self.setup
    }

    /// Returns the application's step of that name.
    pub fn traffic_spec(&self, step: &str) -> Option<&TrafficSpec> {
        self.setup.application.step(step)
    }

    /// Returns the current bounds of ids in a table's copy.
    pub fn bounds(&self, table: u16, copy: u32) -> Option<Bounds> {
        let copies = self.ids.get(usize::from(table))?;
        copies.get(usize::try_from(copy).ok()?).map(|ids| ids.bounds())
    }

    /// Returns the step's position in its run.
    pub(crate) const fn step_index(&self) -> u32 {
        self.step_index
    }

    /// Returns the ids of every copy of the table at `table`; nothing when it assigns none.
    pub(crate) fn ids(&self, table: u16) -> Arc<[Arc<Ids>]> {
        self.ids.get(usize::from(table)).map_or_else(|| Arc::from([]), Arc::clone)
    }
}

/// The bounds as the step began, moved on by what was inserted and deleted since.
///
/// Shared by all clients of the copy. Only inserts and deletes change it, and
/// where each client has its own copy that is one thread. Relaxed: it orders nothing.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Ids {
    first: AtomicI64,
    next: AtomicI64,
}

impl Ids {
    /// Returns the ids of a copy within `bounds`.
    pub(crate) const fn new(bounds: Bounds) -> Self {
        Self { first: AtomicI64::new(bounds.first), next: AtomicI64::new(bounds.next) }
    }

    /// Returns the bounds now.
    #[inline]
    pub(crate) fn bounds(&self) -> Bounds {
        let next = self.next.load(Ordering::Relaxed);
        Bounds { first: self.first.load(Ordering::Relaxed).min(next), next }
    }

    /// Adds `rows` rows behind the last.
    #[inline]
    pub(crate) fn inserted(&self, rows: u32) {
        self.next.fetch_add(i64::from(rows), Ordering::Relaxed);
    }

    /// Takes the `rows` smallest ids out, to be deleted; returns the first of them.
    ///
    /// Two clients never get the same.
    #[inline]
    pub(crate) fn take(&self, rows: u32) -> i64 {
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
