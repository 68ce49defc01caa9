//! Histories recorded on simulated files: what a crash must leave of them.

use super::history::{Model, Step, apply, content, write};
use super::simulated_files::{Call, Image, SimulatedFiles};
use super::{invariants, small};
use crate::jobs::Levels;
use crate::{Database, Durability, Error, Result};

/// A history that was recorded.
pub(super) struct Recording {
    pub(super) calls: Vec<Call>,
    /// The state after each batch, with the calls at which it was acknowledged.
    ///
    /// Last the one that a failed batch may leave, which was not acknowledged.
    pub(super) states: Vec<(usize, Model)>,
    /// Calls after which a state was made durable by a flush, with the number of the state.
    flushed: Vec<(usize, usize)>,
    /// What ended the history early.
    pub(super) error: Option<Error>,
}

/// Opens a database whose jobs run in the calls that need them.
pub(super) fn open(files: &SimulatedFiles, durability: Durability) -> Result<Database> {
    Database::open_files(Box::new(files.clone()), small(durability), false)
}

impl Recording {
    /// Records a history up to the first call that fails; returns the database then open as well.
    pub(super) fn new(
        steps: &[Step],
        durability: Durability,
        files: &SimulatedFiles,
    ) -> (Self, Option<Database>) {
        let states = vec![(0, Model::new())];
        let mut recording = Self { calls: Vec::new(), states, flushed: vec![(0, 0)], error: None };
        let mut database = None;
        let failed = std::iter::once(&Step::Reopen)
            .chain(steps)
            .try_for_each(|step| recording.step(step, durability, files, &mut database));
        recording.error = failed.err();
        recording.calls = files.calls();
        (recording, database)
    }

    fn step(
        &mut self,
        step: &Step,
        durability: Durability,
        files: &SimulatedFiles,
        open_database: &mut Option<Database>,
    ) -> Result<()> {
        if matches!(step, Step::Reopen) {
            open_database.take().map_or(Ok(()), Database::close)?;
            *open_database = Some(open(files, durability)?);
        }
        let database = open_database.as_ref().expect("it is opened first");
        match step {
            Step::Write(batch) => {
                let mut model = self.states[self.states.len() - 1].1.clone();
                let first = database.last_sequence() + 1;
                apply(&mut model, first, batch);
                let written = write(database, batch);
                let acknowledged = if written.is_ok() { files.count() } else { usize::MAX };
                self.states.push((acknowledged, model));
                assert_eq!(written? + 1, first + batch.len() as u64);
            }
            Step::Flush => database.flush()?,
            Step::CompactIndex => drop(database.shared.run(|it| it.compact_index(Levels::Due))?),
            Step::CompactAll => database.compact_all()?,
            Step::Collect => drop(database.shared.run(crate::shared::Shared::collect)?),
            Step::Reopen => {}
        }
        if matches!(step, Step::Flush | Step::CompactAll | Step::Reopen) {
            self.flushed.push((files.count(), self.states.len() - 1));
        }
        Ok(())
    }

    /// Returns the numbers of the states that were acknowledged and flushed before a call.
    pub(super) fn guaranteed(&self, end: usize) -> (usize, usize) {
        let acknowledged = self.states.iter().rposition(|(at, _)| *at <= end).unwrap_or(0);
        let flushed = self.flushed.iter().filter(|(at, _)| *at <= end).map(|(_, state)| *state);
        (acknowledged, flushed.max().unwrap_or(0))
    }

    /// Returns the number of the last state that is this.
    pub(super) fn number(&self, found: &Model) -> usize {
        let state = self.states.iter().rposition(|(_, state)| state == found);
        state.unwrap_or_else(|| panic!("no batch left this: {found:?}"))
    }

    /// Opens an image, which must be usable; returns the number of the state that it holds.
    pub(super) fn recovered(&self, image: Image, durability: Durability) -> usize {
        let database = open(&SimulatedFiles::of(image), durability).unwrap();
        invariants::check(&database.shared);
        let found = content(&database);
        let state = self.number(&found);
        database.put(b"after", b"the crash").unwrap();
        database.compact_all().unwrap();
        assert_eq!(content(&database).len(), found.len() + 1);
        state
    }

    /// Checks what a kill and a power loss after so many calls leave.
    ///
    /// `choose` as of [`Image::after_power_loss`].
    pub(super) fn check_crashes(
        &self,
        end: usize,
        durability: Durability,
        choose: &mut dyn FnMut(usize) -> usize,
    ) {
        let calls = &self.calls[..end];
        let (acknowledged, flushed) = self.guaranteed(end);
        let state = self.recovered(Image::after(calls), durability);
        let least = if durability == Durability::None { flushed } else { acknowledged };
        assert!(state >= least, "a kill after call {end} lost: {state} of {least}");
        let state = self.recovered(Image::after_power_loss(calls, choose), durability);
        let least = if durability == Durability::Sync { acknowledged } else { flushed };
        assert!(state >= least, "a power loss after call {end} lost: {state} of {least}");
    }
}

/// Returns a choice of numbers up to a given one, the same for the same seed: all or nothing are as
/// likely as anything between.
pub(super) fn choices(mut seed: u64) -> impl FnMut(usize) -> usize {
    move |most| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        match seed >> 61 {
            0 | 1 => 0,
            2 | 3 => most,
            _ => (seed >> 33) as usize % (most + 1),
        }
    }
}
