//! Executes the events of a step on the server of the run, and on its simulated disk.
//!
//! An action is begun and then polled, so that the worker's messages are handled meanwhile. To add
//! a kind of event, begin it in [`ServerEvents::begin_next`].
//!
//! A fault of the disk may end a server at once or later, and some servers restart by themselves.
//! So from the first fault to the end of the step, a server that has ended is started again as soon
//! as its disk works.

use std::collections::VecDeque;
use std::time::Duration;

use crashfs::Disk;
use load::Outage;
use model::{EventKind, EventRecord, Nanos, Step, StepEvent, TimeSpan};
use server::{Running, ServerError};

use super::workbench::WATCH_EVERY;
use crate::message::StepEnds;

/// Time between two probes of a server that stops or starts: the error of an action's end.
///
/// Our choice: a probe is a login, which takes a starting server some milliseconds.
const POLL: Duration = Duration::from_millis(20);

/// The events of the current step that the clients do not execute.
#[derive(Default)]
pub(super) struct ServerEvents {
    pending: VecDeque<StepEvent>,
    /// Begin of the measured span.
    since: Nanos,
    /// The last event that has begun, its stage, and since when.
    last: StepEvent,
    stage: Stage,
    stage_since: Nanos,
    /// Begin and end of those that have begun; the end is when the server was last back.
    done: Vec<TimeSpan>,
    /// The disk has had a fault: the server may end at any time.
    has_disk_fault: bool,
    /// The clients have ended, and the worker waits for the server.
    pub(super) is_awaited: bool,
}

/// Stage of the last event.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    /// It is over.
    #[default]
    Over,
    /// The disk is full: a server that ends cannot start.
    Full,
    /// The fsync that fails is not requested yet.
    Armed,
    /// The server is to end.
    Stopping,
    /// The server is to answer.
    Starting,
}

impl ServerEvents {
    /// Begins the measured span of a step.
    pub(super) fn begin(&mut self, step: &Step, now: Nanos) {
        let own = step.events.iter().filter(|event| !event.kind.is_of_embedded());
        *self = Self { pending: own.copied().collect(), since: now, ..Self::default() };
    }

    /// Returns how long to wait for a message of the worker.
    pub(super) fn wait(&self, now: Nanos) -> Duration {
        let due = self.pending.front().map(|event| self.due(event).since(now));
        match (self.may_end_server(), due) {
            (true, _) => POLL,
            (false, Some(due)) => WATCH_EVERY.min(Duration::from_nanos(due.0)),
            (false, None) => WATCH_EVERY,
        }
    }

    /// Returns when an event is due: a fault that began late lasts as long as planned.
    fn due(&self, event: &StepEvent) -> Nanos {
        let begun = self.done.last().filter(|_| event.kind.begun_by().is_some());
        let late = begun.map(|begun| begun.start_ns.since(self.since.after(self.last.at)));
        self.since.after(event.at).after(late.unwrap_or_default())
    }

    /// Returns whether an event has ended the server, which is not back yet.
    pub(super) const fn is_away(&self) -> bool {
        matches!(self.stage, Stage::Stopping | Stage::Starting)
    }

    /// Returns whether the end of the server is the effect of an event.
    pub(super) const fn may_end_server(&self) -> bool {
        self.is_away() || self.has_disk_fault
    }

    /// Returns why the step has failed whose clients ended before an fsync could fail.
    pub(super) fn unsynced(&self) -> Option<String> {
        (self.is_awaited && self.stage == Stage::Armed)
            .then(|| format!("no file was synced after `{}`: write with class sync", self.last))
    }

    /// Begins what is due and polls what is under way; returns whether the server is back now.
    ///
    /// # Errors
    /// The event from which the server does not come back, and why.
    pub(super) fn advance(
        &mut self,
        server: Option<&mut Running>,
        disk: Option<&Disk>,
        now: Nanos,
    ) -> Result<bool, String> {
        self.poll(server, disk, now)
            .map_err(|error| format!("the server is not back after `{}`: {error}", self.last))
    }

    fn poll(
        &mut self,
        mut server: Option<&mut Running>,
        disk: Option<&Disk>,
        now: Nanos,
    ) -> Result<bool, ServerError> {
        let may_end = self.may_end_server();
        let has_ended = server.as_mut().is_some_and(|it| may_end && it.death().is_some());
        match self.stage {
            Stage::Over if self.has_disk_fault && has_ended => self.enter(Stage::Starting, now),
            Stage::Over | Stage::Full => self.begin_next(server.as_deref_mut(), disk, now)?,
            Stage::Armed if disk.is_some_and(|disk| !disk.is_fsync_to_fail()) => {
                self.enter(Stage::Starting, now);
            }
            Stage::Stopping if has_ended => {
                server.as_mut().map_or(Ok(()), |server| server.start_again())?;
                self.stage = Stage::Starting;
            }
            Stage::Armed | Stage::Stopping | Stage::Starting => {}
        }
        if !self.is_away() {
            return Ok(false);
        }
        let has_server = server.is_some();
        if let Some(server) = server {
            server.check_wait(Duration::from_nanos(now.since(self.stage_since).0))?;
            if self.has_disk_fault && server.death().is_some() {
                server.start_again()?;
            }
            if self.stage == Stage::Stopping || !server.is_ready()? {
                return Ok(false);
            }
        }
        self.stage = Stage::Over;
        self.done.last_mut().into_iter().for_each(|span| span.end_ns = now);
        Ok(has_server)
    }

    fn enter(&mut self, stage: Stage, now: Nanos) {
        (self.stage, self.stage_since) = (stage, now);
    }

    fn begin_next(
        &mut self,
        server: Option<&mut Running>,
        disk: Option<&Disk>,
        now: Nanos,
    ) -> Result<(), ServerError> {
        let is_due = |event: &&StepEvent| now >= self.due(event);
        let Some(event) = self.pending.front().filter(is_due).copied() else { return Ok(()) };
        self.pending.pop_front();
        self.last = event;
        self.done.push(TimeSpan { start_ns: now, end_ns: now });
        self.has_disk_fault |= event.kind.is_of_disk();
        self.enter(stage_of(event.kind), now);
        if let Some(disk) = disk {
            disk.set_full(event.kind == EventKind::DiskFull);
            if event.kind == EventKind::FsyncFails {
                disk.fail_fsync();
            }
        }
        let Some(server) = server else { return Ok(()) };
        match event.kind {
            EventKind::Kill => {
                server.kill();
                server.start_again()?;
            }
            EventKind::Restart => server.request_stop(),
            EventKind::Stop => server.suspend(),
            EventKind::Continue => server.resume(),
            EventKind::NetworkCut => server.set_network(false)?,
            EventKind::NetworkBack => server.set_network(true)?,
            EventKind::Failover => server.fail_over()?,
            EventKind::Reopen => unreachable!("the clients do it"),
            EventKind::DiskFull | EventKind::DiskFree | EventKind::FsyncFails => {}
        }
        Ok(())
    }

    /// Returns whether the worker waits for nothing more, and notes that it goes on.
    pub(super) fn lets_go(&mut self, server: Option<&mut Running>, disk: Option<&Disk>) -> bool {
        if !self.is_awaited || self.is_away() {
            return false;
        }
        disk.into_iter().for_each(|disk| disk.set_full(false));
        // The user has stopped the step before these; what has begun ends.
        let next = std::mem::take(&mut self.pending).pop_front().map(|event| event.kind);
        match (next, server) {
            (Some(EventKind::Continue), Some(server)) => server.resume(),
            // Where it fails, the worker reports that the server does not answer.
            (Some(EventKind::NetworkBack), Some(server)) => drop(server.set_network(true)),
            (Some(_) | None, _) => {}
        }
        std::mem::take(&mut self.is_awaited)
    }

    /// Returns the records of the step's events, with the outages that follow each.
    ///
    /// Without a failed operation an outage may be a stall of the engine: it counts if it is longer
    /// than each before the first event.
    pub(super) fn records(&self, step: &Step, ends: &StepEnds) -> Vec<EventRecord> {
        let [mut own, mut of_clients] = [&self.done, &ends.reopened].map(|done| done.iter());
        let record = |planned: &StepEvent| {
            let of_clients = planned.kind.is_of_embedded().then_some(&mut of_clients);
            let span = of_clients.unwrap_or(&mut own).next()?;
            let [start_ns, end_ns] = [span.start_ns, span.end_ns].map(|at| at.since(ends.begun));
            let action = TimeSpan { start_ns, end_ns };
            Some(EventRecord { planned: *planned, action, ..EventRecord::default() })
        };
        let mut records: Vec<_> = step.events.iter().filter_map(record).collect();
        let first = records.first().map_or(Nanos(0), |record| record.action.start_ns);
        let before = ends.outages.iter().filter(|outage| outage.span.end_ns <= first);
        let usual = before.map(|outage| outage.span.length()).max().unwrap_or_default();
        let unusual = |outage: &&Outage| outage.has_failures || outage.span.length() > usual;
        for Outage { span, has_failures } in ends.outages.iter().filter(unusual) {
            // These end an outage that another event has begun; at a `reopen` arrivals only wait.
            let is_within = |record: &EventRecord| {
                let kind = record.planned.kind;
                let is_end =
                    kind.begun_by().is_some() || kind == EventKind::Reopen && *has_failures;
                !is_end && (span.start_ns..=span.end_ns).contains(&record.action.start_ns)
            };
            let cause = records.iter().position(is_within);
            let is_before = |record: &EventRecord| record.action.start_ns < span.start_ns;
            let cause = cause.or_else(|| records.iter().rposition(is_before));
            cause.into_iter().for_each(|at| records[at].outages.push(*span));
        }
        records
    }
}

/// Returns what a kind of event begins with.
const fn stage_of(kind: EventKind) -> Stage {
    match kind {
        EventKind::Restart => Stage::Stopping,
        EventKind::Kill | EventKind::Failover | EventKind::DiskFree => Stage::Starting,
        EventKind::DiskFull => Stage::Full,
        EventKind::FsyncFails => Stage::Armed,
        EventKind::Stop | EventKind::Continue | EventKind::Reopen => Stage::Over,
        EventKind::NetworkCut | EventKind::NetworkBack => Stage::Over,
    }
}

#[cfg(test)]
mod tests {
    use model::StopRule;

    use super::*;

    fn span(start_ms: u64, end_ms: u64) -> TimeSpan {
        TimeSpan { start_ns: Nanos::from_millis(start_ms), end_ns: Nanos::from_millis(end_ms) }
    }

    /// Goal: an outage belongs to the event that began it. Method: a server that is killed, stopped
    /// and continued, then cut off, with stalls before and after.
    #[test]
    fn an_outage_belongs_to_the_event_that_began_it() {
        let event = |ms, kind| StepEvent { at: Nanos::from_millis(ms), kind };
        let step = Step {
            events: vec![
                event(1_000, EventKind::Kill),
                event(3_000, EventKind::Stop),
                event(4_000, EventKind::Continue),
                event(7_000, EventKind::NetworkCut),
                event(8_000, EventKind::NetworkBack),
            ],
            ..Step::new("overwrite", StopRule::Duration(Nanos::from_secs(9)))
        };
        let mut events = ServerEvents::default();
        events.begin(&step, Nanos::from_secs(50));
        // On a clock that showed 50 s when the measured span began.
        events.done =
            [(1_005, 1_300), (3_000, 3_000), (4_000, 4_000), (7_000, 7_000), (8_000, 8_000)]
                .map(|(start, end)| span(50_000 + start, 50_000 + end))
                .into();
        let outage = |start_ms, end_ms, has_failures| {
            let span = span(start_ms, end_ms);
            Outage { span, has_failures }
        };
        let ends = StepEnds {
            begun: Nanos::from_secs(50),
            outages: vec![
                outage(400, 420, false),
                outage(1_000, 1_330, true),
                outage(1_600, 1_620, false),
                outage(1_700, 1_712, true),
                outage(3_003, 4_006, false),
                outage(6_000, 6_030, false),
                outage(7_001, 8_070, true),
            ],
            ..StepEnds::without_clients(0, load::StepEnd::Finished)
        };
        let records = events.records(&step, &ends);
        assert_eq!(records[0].action, span(1_005, 1_300));
        assert_eq!(records[0].outages, [span(1_000, 1_330), span(1_700, 1_712)]);
        assert_eq!(records[1].outages, [span(3_003, 4_006)]);
        assert_eq!(records[2].outages, [span(6_000, 6_030)]);
        assert_eq!(records[3].outages, [span(7_001, 8_070)]);
    }

    /// Goal: failures between a fault of the disk and a `reopen` belong to the fault.
    #[test]
    fn an_outage_that_a_reopen_ends_belongs_to_the_fault_of_the_disk() {
        let event = |ms, kind| StepEvent { at: Nanos::from_millis(ms), kind };
        let stop = StopRule::Duration(Nanos::from_secs(9));
        let faults = vec![
            event(1_000, EventKind::FsyncFails),
            event(2_000, EventKind::Reopen),
            event(3_000, EventKind::Reopen),
        ];
        let step = Step { events: faults, ..Step::new("overwrite", stop) };
        let mut events = ServerEvents::default();
        events.begin(&step, Nanos(0));
        events.done = vec![span(1_000, 1_010)];
        let outage = |start_ms, end_ms, has_failures| {
            let span = span(start_ms, end_ms);
            Outage { span, has_failures }
        };
        let ends = StepEnds {
            outages: vec![outage(1_008, 2_100, true), outage(2_999, 3_050, false)],
            reopened: vec![span(2_000, 2_090), span(3_000, 3_040)],
            ..StepEnds::without_clients(0, load::StepEnd::Finished)
        };
        let records = events.records(&step, &ends);
        let of = |at: usize| (records[at].action, records[at].outages.clone());
        assert_eq!(of(0), (span(1_000, 1_010), vec![span(1_008, 2_100)]));
        assert_eq!(of(1), (span(2_000, 2_090), Vec::new()));
        assert_eq!(of(2), (span(3_000, 3_040), vec![span(2_999, 3_050)]));
    }

    #[test]
    fn the_wait_for_a_message_ends_at_the_next_event() {
        let at = Nanos::from_millis;
        let mut events = ServerEvents::default();
        assert_eq!(events.wait(at(7)), WATCH_EVERY);
        let kill = StepEvent { at: at(1_000), kind: EventKind::Kill };
        let stop = StopRule::Duration(Nanos::from_secs(9));
        let step = Step { events: vec![kill], ..Step::new("overwrite", stop) };
        events.begin(&step, at(500));
        assert_eq!(events.wait(at(600)), WATCH_EVERY);
        assert_eq!(events.wait(at(1_470)), Duration::from_millis(30));
        assert_eq!(events.wait(at(1_600)), Duration::ZERO);
        events.enter(Stage::Starting, at(1_600));
        assert_eq!(events.wait(at(1_600)), POLL);
    }

    #[test]
    fn a_fault_that_begins_late_lasts_as_long_as_planned() {
        let at = Nanos::from_millis;
        let event = |ms, kind| StepEvent { at: at(ms), kind };
        let faults = vec![event(1_000, EventKind::Stop), event(1_600, EventKind::Continue)];
        let stop = StopRule::Duration(Nanos::from_secs(9));
        let step = Step { events: faults, ..Step::new("overwrite", stop) };
        let mut events = ServerEvents::default();
        events.begin(&step, at(500));
        for (now, begun) in [(1_400, 0), (2_900, 1), (3_400, 1), (3_500, 2)] {
            events.advance(None, None, at(now)).unwrap();
            assert_eq!(events.done.len(), begun, "{now} ms");
        }
    }
}
