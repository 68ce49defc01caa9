//! Executes the events of a step on the simulated disk of the run.
//!
//! A fault of the disk may end a server at once or later, and some servers restart by themselves.
//! So from the first fault to the end of the step, a server that has ended is started again as soon
//! as its disk works.

use std::collections::VecDeque;
use std::time::Duration;

use crashfs::Disk;
use model::{EventKind, Nanos, Step, StepEvent, TimeSpan};
use server::{Running, ServerError};

/// The events of the current step that act on the disk.
#[derive(Default)]
pub(super) struct DiskEvents {
    pub(super) pending: VecDeque<StepEvent>,
    /// The last event that has begun.
    pub(super) event: StepEvent,
    pub(super) stage: Stage,
    /// Since when the server is to answer.
    since: Nanos,
    /// Begin and end of those that have begun; the end is when the server was last back.
    pub(super) done: Vec<TimeSpan>,
}

/// Stage of the last event.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Stage {
    /// No event has begun.
    #[default]
    Idle,
    /// The disk is full: a server that ends cannot start.
    Full,
    /// The fsync that fails is not requested yet.
    Armed,
    /// The server is to answer.
    Away,
    /// The server has answered, and may still end.
    Back,
}

impl DiskEvents {
    /// Returns those of a step.
    pub(super) fn of(step: &Step) -> Self {
        let own = step.events.iter().filter(|event| event.kind.is_of_disk());
        Self { pending: own.copied().collect(), ..Self::default() }
    }

    /// Begins the next event if it `is_due`, and polls what is under way.
    ///
    /// Returns whether the server is back now; an embedded engine is at once.
    ///
    /// # Errors
    /// Why the server does not come back.
    pub(super) fn advance(
        &mut self,
        mut server: Option<&mut Running>,
        disk: &Disk,
        is_due: bool,
        now: Nanos,
    ) -> Result<bool, ServerError> {
        if is_due && !matches!(self.stage, Stage::Armed | Stage::Away) {
            self.begin_next(disk, now);
        }
        let has_failed = self.stage == Stage::Armed && !disk.is_fsync_to_fail();
        let mut has_ended = || server.as_mut().is_some_and(|server| server.death().is_some());
        if has_failed || self.stage == Stage::Back && has_ended() {
            (self.stage, self.since) = (Stage::Away, now);
        }
        if self.stage != Stage::Away {
            return Ok(false);
        }
        if let Some(server) = server {
            server.check_wait(Duration::from_nanos(now.since(self.since).0))?;
            if server.death().is_some() {
                server.start_again()?;
            }
            if !server.is_ready()? {
                return Ok(false);
            }
        }
        self.stage = Stage::Back;
        self.done.last_mut().into_iter().for_each(|span| span.end_ns = now);
        Ok(true)
    }

    fn begin_next(&mut self, disk: &Disk, now: Nanos) {
        let Some(event) = self.pending.pop_front() else { return };
        self.done.push(TimeSpan { start_ns: now, end_ns: now });
        (self.event, self.since) = (event, now);
        let is_full = event.kind == EventKind::DiskFull;
        disk.set_full(is_full);
        self.stage = if is_full { Stage::Full } else { Stage::Away };
        if event.kind == EventKind::FsyncFails {
            disk.fail_fsync();
            self.stage = Stage::Armed;
        }
    }
}
