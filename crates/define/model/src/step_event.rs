//! Events of a step: faults at stated times, and the availability that follows them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::capability::Durability;
use crate::failure::FailureCounts;
use crate::names::names;
use crate::units::{Bytes, Nanos};

/// Most events of a step. Our choice: each needs seconds of its own.
const EVENTS_MAX: usize = 64;

/// Longest step with events: each of its clients holds its gaps in memory until the end.
///
/// Our choice: an hour of gaps of 10 ms takes 9 MB a client.
pub const EVENT_STEP_MAX: Nanos = Nanos::from_secs(3_600);

/// Largest estimated data of a run on a simulated disk.
///
/// Our choice: the largest new server (MySQL 8, estimated at 600 MiB) and its rows. The data are in
/// memory, and twice until they are synced.
pub const SIMULATED_DATA_MAX: Bytes = Bytes(1 << 30);

/// Kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// Every process of the server gets SIGKILL, and the server is started again at once.
    Kill,
    /// The server is stopped cleanly and started again.
    Restart,
    /// Every process of the server gets SIGSTOP.
    Stop,
    /// Every process of the server gets SIGCONT.
    Continue,
    /// The embedded engine is closed and opened again while arrivals wait.
    Reopen,
    /// The link between server and clients goes down: nothing is refused, and nothing answered.
    NetworkCut,
    /// The link between server and clients is up again.
    NetworkBack,
    /// Every process of the server gets SIGKILL, and its standby is promoted.
    Failover,
    /// Every write that needs space fails.
    DiskFull,
    /// The disk has space again.
    DiskFree,
    /// The next fsync of the data fails, and the pages that it should write are dropped.
    FsyncFails,
}

names!(EventKind, "an event": Kill "kill", Restart "restart", Stop "stop", Continue "continue",
    Reopen "reopen", NetworkCut "network_cut", NetworkBack "network_back", Failover "failover",
    DiskFull "disk_full", DiskFree "disk_free", FsyncFails "fsync_fails");

impl EventKind {
    /// Returns whether it acts on an embedded engine; the others act on a server of Assay.
    pub const fn is_of_embedded(self) -> bool {
        matches!(self, Self::Reopen)
    }

    /// Returns the event that ends it, where one has to be next.
    pub const fn ended_by(self) -> Option<Self> {
        match self {
            Self::Stop => Some(Self::Continue),
            Self::NetworkCut => Some(Self::NetworkBack),
            Self::DiskFull => Some(Self::DiskFree),
            Self::Kill | Self::Restart | Self::Reopen | Self::Failover | Self::FsyncFails => None,
            Self::Continue | Self::NetworkBack | Self::DiskFree => None,
        }
    }

    /// Returns the event that it ends.
    pub fn begun_by(self) -> Option<Self> {
        Self::ALL.into_iter().find(|begin| begin.ended_by() == Some(self))
    }

    /// Returns whether acknowledged writes of a durability class outlast it.
    pub const fn spares(self, class: Durability) -> bool {
        match self {
            Self::Failover => false,
            Self::FsyncFails => matches!(class, Durability::Sync),
            Self::Kill | Self::DiskFull => !matches!(class, Durability::None),
            Self::Restart | Self::Stop | Self::Continue | Self::Reopen => true,
            Self::NetworkCut | Self::NetworkBack | Self::DiskFree => true,
        }
    }

    /// Returns whether it acts on the disk of the data, which then is a simulated one.
    pub const fn is_of_disk(self) -> bool {
        matches!(self, Self::DiskFull | Self::DiskFree | Self::FsyncFails)
    }
}

/// An event that a step holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepEvent {
    /// Planned time since the begin of the measured span.
    pub at: Nanos,
    /// What is done.
    #[serde(rename = "do")]
    pub kind: EventKind,
}

impl fmt::Display for StepEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.kind, self.at)
    }
}

/// A rule that the events of a step break.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventFault {
    /// Position of the event.
    pub index: usize,
    /// The broken rule.
    pub why: String,
    /// What to write instead.
    pub remedy: String,
}

impl StepEvent {
    /// Checks the events of a step whose measured span has this length.
    ///
    /// # Errors
    /// The first event that breaks a rule.
    pub fn check_all(events: &[Self], length: Nanos) -> Result<(), EventFault> {
        let mut before: Option<Self> = None;
        for (index, event) in events.iter().enumerate() {
            let fault = |why: String, remedy: String| Err(EventFault { index, why, remedy });
            if index >= EVENTS_MAX {
                let why = format!("{} events are more than {EVENTS_MAX}", events.len());
                return fault(why, "divide the step".to_owned());
            }
            if event.at.after(Nanos::SECOND) > length {
                let why = format!("{event} is too late for the step, which lasts {length}");
                let remedy = "leave a second after the event, or give a longer `duration`";
                return fault(why, remedy.to_owned());
            }
            if before.is_some_and(|before| event.at <= before.at) {
                let why = format!("{event} is not later than the event before it");
                return fault(why, "write the events in the order of their times".to_owned());
            }
            let before_it = before.map(|before| before.kind);
            if let Some(end) = before_it.and_then(EventKind::ended_by)
                && event.kind != end
            {
                let why = format!("{event} follows {}", before.unwrap_or_default());
                return fault(why, format!("write a `{end}` between them"));
            }
            if let Some(begin) = event.kind.begun_by()
                && before_it != Some(begin)
            {
                let why = format!("{event} ends nothing");
                return fault(why, format!("write a `{begin}` before it"));
            }
            if before_it == Some(EventKind::Failover) {
                let why = format!("{event} has no standby left after the failover");
                return fault(why, "write the failover last".to_owned());
            }
            before = Some(*event);
        }
        match before.and_then(|last| Some((last, last.kind.ended_by()?))) {
            Some((last, end)) => Err(EventFault {
                index: events.len() - 1,
                why: format!("{last} has no end"),
                remedy: format!("write a `{end}` after it"),
            }),
            None => Ok(()),
        }
    }
}

/// A span of the measured span of a step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeSpan {
    /// Begin since the begin of the measured span.
    pub start_ns: Nanos,
    /// End since the begin of the measured span.
    pub end_ns: Nanos,
}

impl TimeSpan {
    /// Returns its length.
    pub const fn length(self) -> Nanos {
        self.end_ns.since(self.start_ns)
    }
}

/// How sessions connect again in steps with events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReconnectPolicy {
    /// Longest time of a connection and its login.
    pub connect_within_ns: Nanos,
    /// Longest time of a statement: no timeout of TCP ends a wait for a stopped server.
    pub statement_within_ns: Nanos,
    /// Pause after a failed attempt to connect; each operation makes one attempt.
    pub pause_ns: Nanos,
}

impl ReconnectPolicy {
    /// The policy of every driver.
    ///
    /// Our choice: 2 s are ten times what a login takes on a busy host, and a client with a
    /// timeout of TCP of 2 s noticed a lost network after 2.2 to 2.5 s. 5 ms are the resolution
    /// of the measured unavailability, and 200 attempts a second do not delay a recovery.
    pub const STANDARD: Self = Self {
        connect_within_ns: Nanos::from_secs(2),
        statement_within_ns: Nanos::from_secs(2),
        pause_ns: Nanos::from_millis(5),
    };
}

/// An executed event, and what the clients measured after it.
///
/// Failed operations are those of the seconds from the one in which it began to the one before
/// the next event's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventRecord {
    /// The event as planned.
    #[serde(flatten)]
    pub planned: StepEvent,
    /// Begin and end of the action; a server has answered by the end of its start.
    #[serde(flatten)]
    pub action: TimeSpan,
    /// Spans in which operations waited and no client had a success.
    pub outages: Vec<TimeSpan>,
    /// Failed operations by class.
    #[serde(default, skip_serializing_if = "FailureCounts::is_empty")]
    pub failures: FailureCounts,
    /// Time from its begin until throughput was within 5 % of before; absent when it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput_back_ns: Option<Nanos>,
    /// Time from its begin until p99 was within 5 % of before; absent when it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_back_ns: Option<Nanos>,
}

impl Default for StepEvent {
    fn default() -> Self {
        Self { at: Nanos(0), kind: EventKind::Kill }
    }
}

impl EventRecord {
    /// Returns the time in which no client had a success.
    pub fn unavailable(&self) -> Nanos {
        self.outages.iter().fold(Nanos(0), |sum, outage| sum.after(outage.length()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(events: &[(u64, EventKind)]) -> Option<(usize, String)> {
        let event = |&(ms, kind): &(u64, EventKind)| StepEvent { at: Nanos::from_millis(ms), kind };
        let events: Vec<_> = events.iter().map(event).collect();
        let checked = StepEvent::check_all(&events, Nanos::from_secs(10));
        checked.err().map(|fault| (fault.index, fault.why))
    }

    #[test]
    fn events_are_ordered_within_the_step_and_a_stop_is_continued() {
        use EventKind::{
            Continue, DiskFree, DiskFull, Failover, FsyncFails, Kill, NetworkBack as Back,
            NetworkCut as Cut, Restart, Stop,
        };
        assert_eq!(fault(&[(1_000, Cut), (2_000, Back), (3_000, Cut), (4_000, Back)]), None);
        assert_eq!(fault(&[(1_000, Cut), (2_000, Back), (3_000, Failover)]), None);
        assert_eq!(
            fault(&[(1_000, Kill), (2_000, Stop), (3_000, Continue), (9_000, Restart)]),
            None
        );
        assert_eq!(fault(&[(1_000, DiskFull), (2_000, DiskFree), (3_000, FsyncFails)]), None);
        let why = |events: &[_]| fault(events).map(|(index, why)| format!("{index}: {why}"));
        for (events, expected) in [
            (
                &[(9_500, Kill)][..],
                "0: kill at 9.50 s is too late for the step, which lasts 10.0 s",
            ),
            (
                &[(2_000, Kill), (2_000, Kill)],
                "1: kill at 2.00 s is not later than the event before it",
            ),
            (&[(2_000, Continue)], "0: continue at 2.00 s ends nothing"),
            (&[(2_000, Stop), (3_000, Kill)], "1: kill at 3.00 s follows stop at 2.00 s"),
            (&[(2_000, DiskFree)], "0: disk_free at 2.00 s ends nothing"),
            (
                &[(2_000, DiskFull), (3_000, Kill), (4_000, DiskFree)],
                "1: kill at 3.00 s follows disk_full at 2.00 s",
            ),
            (&[(2_000, DiskFull)], "0: disk_full at 2.00 s has no end"),
            (
                &[(2_000, Stop), (3_000, FsyncFails)],
                "1: fsync_fails at 3.00 s follows stop at 2.00 s",
            ),
            (&[(1_000, Kill), (2_000, Stop)], "1: stop at 2.00 s has no end"),
            (&[(1_000, Kill), (2_000, Cut)], "1: network_cut at 2.00 s has no end"),
            (&[(1_000, Cut), (2_000, Kill)], "1: kill at 2.00 s follows network_cut at 1.00 s"),
            (&[(1_000, Back)], "0: network_back at 1.00 s ends nothing"),
            (&[(1_000, Stop), (2_000, Cut)], "1: network_cut at 2.00 s follows stop at 1.00 s"),
            (
                &[(1_000, Failover), (2_000, Kill)],
                "1: kill at 2.00 s has no standby left after the failover",
            ),
        ] {
            assert_eq!(why(events).as_deref(), Some(expected));
        }
    }

    #[test]
    fn an_event_is_recorded_flat() {
        let record = EventRecord {
            planned: StepEvent { at: Nanos(5), kind: EventKind::Kill },
            action: TimeSpan { start_ns: Nanos(6), end_ns: Nanos(9) },
            outages: vec![TimeSpan { start_ns: Nanos(7), end_ns: Nanos(11) }],
            ..EventRecord::default()
        };
        let text = serde_json::to_string(&record).unwrap();
        let expected = r#"{"at":5,"do":"kill","start_ns":6,"end_ns":9,"outages":[{"start_ns":7,"end_ns":11}]}"#;
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<EventRecord>(&text).unwrap(), record);
        assert_eq!(record.unavailable(), Nanos(4));
    }
}
