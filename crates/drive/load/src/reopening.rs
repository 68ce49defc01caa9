//! An engine that clients close and open again at given times.

use std::sync::PoisonError;

use engine::{Engine, EngineError, Maintenance, Session, Way};
use model::{DurabilityRecord, EngineState, Identity, Nanos, OpKind, Options, TimeSpan};

use crate::sync::{Mutex, RwLock, RwLockReadGuard};
use crate::traits::Clock;
use crate::write_log::WriteLog;

/// Opens the engine again.
pub type OpenAgain<'a> = dyn Fn() -> Result<Box<dyn Engine>, EngineError> + Sync + 'a;

/// An engine of steps with events: its clients drop their sessions, and one of them opens it.
///
/// It is an engine for everything but sessions, which the client pool takes from what it holds.
pub struct Reopening<'a> {
    /// `None` after it could not be opened.
    engine: RwLock<Option<Box<dyn Engine>>>,
    open: &'a OpenAgain<'a>,
    /// Begin and end of each reopening of the current step, of the step's clock.
    done: Mutex<Vec<TimeSpan>>,
}

/// An engine that is not closed while a client has it.
pub(crate) type HeldEngine<'r> = RwLockReadGuard<'r, Option<Box<dyn Engine>>>;

impl<'a> Reopening<'a> {
    /// Returns an open engine that `open` opens again.
    pub fn new(engine: Box<dyn Engine>, open: &'a OpenAgain<'a>) -> Self {
        Self { engine: RwLock::new(Some(engine)), open, done: Mutex::new(Vec::new()) }
    }

    /// Returns the reopenings since the last call, of the clock of the step.
    pub fn take_done(&self) -> Vec<TimeSpan> {
        std::mem::take(&mut *self.done.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Holds the engine open.
    pub(crate) fn hold(&self) -> HeldEngine<'_> {
        self.engine.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes and opens the engine once no client holds it, unless another client has.
    ///
    /// `number` counts the reopenings of the step from 1. After a fault of the disk, an engine that
    /// cannot be closed cleanly is opened again all the same.
    pub(crate) fn reopen(
        &self,
        number: usize,
        has_disk_faults: bool,
        clock: &impl Clock,
    ) -> Result<(), EngineError> {
        // A client that comes later does not wait for those that work on the open engine.
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        while done.len() < number {
            let mut slot = self.engine.write().unwrap_or_else(PoisonError::into_inner);
            let start_ns = clock.now();
            let closing = slot.take().ok_or_else(closed)?.close();
            if !has_disk_faults {
                closing?;
            }
            *slot = Some((self.open)()?);
            done.push(TimeSpan { start_ns, end_ns: clock.now() });
        }
        Ok(())
    }

    /// Uses the open engine, which is not closed meanwhile.
    ///
    /// # Errors
    /// When it could not be opened again, and those of `act`.
    pub fn with<T>(
        &self,
        act: impl FnOnce(&dyn Engine) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        self.hold().as_deref().map_or_else(|| Err(closed()), act)
    }
}

/// Returns the error of an engine that could not be opened again.
pub(crate) fn closed() -> EngineError {
    EngineError::Fatal("the engine could not be opened again".to_owned())
}

impl Engine for Reopening<'_> {
    fn session(&self) -> Result<Box<dyn Session + '_>, EngineError> {
        Err(EngineError::Unsupported("a session outlives no reopening".to_owned()))
    }

    fn identity(&self) -> Identity {
        self.hold().as_deref().map(Engine::identity).unwrap_or_default()
    }

    fn way(&self, kind: OpKind) -> Option<Way> {
        self.hold().as_deref()?.way(kind)
    }

    fn effective_options(&self) -> Result<Options, EngineError> {
        self.with(|engine| engine.effective_options())
    }

    fn durability(&self) -> Result<DurabilityRecord, EngineError> {
        self.with(|engine| engine.durability())
    }

    fn maintain(&self, work: Maintenance) -> Result<bool, EngineError> {
        self.with(|engine| engine.maintain(work))
    }

    fn state(&self) -> Result<EngineState, EngineError> {
        self.with(|engine| engine.state())
    }

    fn statistics_text(&self) -> Option<String> {
        self.hold().as_deref()?.statistics_text()
    }

    fn close(self: Box<Self>) -> Result<(), EngineError> {
        let engine = self.engine.into_inner().unwrap_or_else(PoisonError::into_inner);
        engine.ok_or_else(closed)?.close()
    }
}

/// The events of a step that its clients take part in; without any, a lost connection ends it.
#[derive(Clone, Default)]
pub struct Faults<'a> {
    /// Whether it has events: failures in a row end no client, and gaps are noted.
    pub has_events: bool,
    /// Whether its disk has faults: no failure of the engine ends a client.
    pub has_disk_faults: bool,
    /// The engine that is opened again, and when, since the begin of the measured span.
    pub reopening: Option<(&'a Reopening<'a>, Vec<Nanos>)>,
    /// Notes the writes of its sessions.
    pub writes: Option<&'a WriteLog>,
}

#[cfg(test)]
#[cfg(not(feature = "model-check"))]
mod tests {
    use super::*;
    use crate::calibrate::null;
    use crate::clock::SteadyClock;

    /// Goal: a client that comes after the reopening does not wait for one that works again.
    #[test]
    fn a_late_client_does_not_wait_for_those_that_hold_the_engine() {
        let open = || Ok(null().expect("an engine of this crate"));
        let reopening = Reopening::new(open().unwrap(), &open);
        let clock = SteadyClock::kernel();
        reopening.reopen(1, false, &clock).unwrap();
        let held = reopening.hold();
        reopening.reopen(1, false, &clock).unwrap();
        drop(held);
        assert_eq!(reopening.take_done().len(), 1);
    }
}
