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
    action: Option<Action>,
    /// Begin and end of those that have begun; the end is when the server was last back.
    pub(super) done: Vec<TimeSpan>,
}

/// An event that has begun.
struct Action {
    event: StepEvent,
    stage: Stage,
    /// Begin of the stage.
    since: Nanos,
}

/// Stage of an action.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The disk is full: a server that ends cannot start.
    Full,
    /// The fsync that fails is not requested yet.
    Armed,
    /// The server is to answer.
    Away,
    /// The server has been started again, and is to answer.
    Starting,
    /// The server has answered, and may still end.
    Back,
}

impl DiskEvents {
    /// Returns those of a step.
    pub(super) fn of(step: &Step) -> Self {
        let own = step.events.iter().filter(|event| event.kind.is_of_disk());
        Self { pending: own.copied().collect(), ..Self::default() }
    }

    fn stage(&self) -> Option<Stage> {
        self.action.as_ref().map(|action| action.stage)
    }

    /// Returns whether a fault of the step may end the server.
    pub(super) const fn is_faulty(&self) -> bool {
        self.action.is_some()
    }

    /// Returns whether no other event may begin.
    pub(super) fn is_busy(&self) -> bool {
        !matches!(self.stage(), None | Some(Stage::Back))
    }

    /// Returns whether the server is to come back.
    pub(super) fn is_away(&self) -> bool {
        matches!(self.stage(), Some(Stage::Away | Stage::Starting))
    }

    /// Returns the event whose fsync is not requested yet.
    pub(super) fn armed(&self) -> Option<StepEvent> {
        self.action.as_ref().filter(|it| it.stage == Stage::Armed).map(|it| it.event)
    }

    /// Begins the next event if it `is_due`, and polls what is under way.
    ///
    /// Returns whether the server is back now.
    ///
    /// # Errors
    /// The event from which the server does not come back, and why.
    pub(super) fn advance(
        &mut self,
        server: Option<&mut Running>,
        disk: &Disk,
        is_due: bool,
        now: Nanos,
    ) -> Result<bool, (StepEvent, ServerError)> {
        if is_due && !self.is_away() && self.armed().is_none() {
            self.begin_next(disk, now);
        }
        let Some(action) = &mut self.action else { return Ok(false) };
        let is_back = action.poll(server, disk, now).map_err(|error| (action.event, error))?;
        if is_back {
            action.stage = Stage::Back;
            self.done.last_mut().into_iter().for_each(|span| span.end_ns = now);
        }
        Ok(is_back)
    }

    fn begin_next(&mut self, disk: &Disk, now: Nanos) {
        let Some(event) = self.pending.pop_front() else { return };
        self.done.push(TimeSpan { start_ns: now, end_ns: now });
        let is_full = event.kind == EventKind::DiskFull;
        let stage = if event.kind == EventKind::FsyncFails {
            disk.fail_fsync();
            Stage::Armed
        } else {
            disk.set_full(is_full);
            if is_full { Stage::Full } else { Stage::Away }
        };
        self.action = Some(Action { event, stage, since: now });
    }

    /// Ends the faults of a step whose clients have ended.
    pub(super) fn end(&mut self, disk: &Disk) {
        self.pending.clear();
        disk.set_full(false);
    }
}

impl Action {
    /// Returns whether the server is back now; an embedded engine is at once.
    fn poll(
        &mut self,
        server: Option<&mut Running>,
        disk: &Disk,
        now: Nanos,
    ) -> Result<bool, ServerError> {
        let (is_armed, is_back) = (self.stage == Stage::Armed, self.stage == Stage::Back);
        if self.stage == Stage::Full || is_armed && disk.is_sync_to_fail() {
            return Ok(false);
        }
        let Some(server) = server else { return Ok(!is_back) };
        if is_armed || is_back && server.death().is_some() {
            (self.stage, self.since) = (Stage::Away, now);
        }
        if self.stage == Stage::Back {
            return Ok(false);
        }
        server.check_wait(Duration::from_nanos(now.since(self.since).0))?;
        if self.stage == Stage::Away && server.death().is_some() {
            self.stage = Stage::Starting;
            server.start_again()?;
            return Ok(false);
        }
        server.is_ready()
    }
}
