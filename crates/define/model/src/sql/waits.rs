//! Waits of a server's sessions, sampled in a measured span.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::units::Nanos;

/// Event of a session that works for a statement and waits for nothing: on a CPU, or ready to.
pub const RUNNING: &str = "running";
/// Event of a session that waits for its client's next message.
pub const IDLE: &str = "idle";

/// Sessions found, and how often in which event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionWaits {
    /// Sessions found, over all samples.
    pub sessions: u64,
    /// How many of them were found in each event, under the server's own names.
    pub events: BTreeMap<String, u64>,
}

impl SessionWaits {
    /// Counts a session found in an event.
    pub fn add(&mut self, event: &str) {
        self.sessions += 1;
        match self.events.get_mut(event) {
            Some(count) => *count += 1,
            None => drop(self.events.insert(event.to_owned(), 1)),
        }
    }

    /// Returns whether no session was found.
    pub const fn is_empty(&self) -> bool {
        self.sessions == 0
    }

    /// Iterates over the classes of events that are waits and hold no CPU, with their counts.
    ///
    /// A class stands once for each of its events.
    pub fn of_server(&self) -> impl Iterator<Item = (&str, u64)> {
        let waits = self.events.iter().filter(|(event, _)| is_wait(event));
        waits.map(|(event, count)| (class(event), *count))
    }

    /// Returns how often sessions were found in the stages of a commit, which hold its CPU.
    pub fn in_commit_stages(&self) -> u64 {
        let stages = self.events.iter().filter(|(event, _)| is_any(event, &COMMIT_STAGES));
        stages.map(|(_, count)| count).sum()
    }
}

/// Class of the events of a commit, whatever the server and release.
pub const COMMIT: &str = "commit";

/// Waits of a commit: files of the log, another session's write of it, a standby's answer.
///
/// Source: PostgreSQL's manual, "Wait Event Types" (names of releases 9.6 to 18); MySQL's reference
/// manual, "Performance Schema Instrument Naming Conventions" and "Replication Source Thread
/// States".
const COMMIT_WAITS: [&str; 9] = [
    "IO:WALSync",
    "IO:WALWrite",
    "LWLock:WALWrite",
    "LWLock:WALWriteLock",
    "IPC:SyncRep",
    "io/file/innodb/innodb_log_file",
    "io/file/sql/binlog",
    "stage:Waiting for semi-sync ACK from slave",
    "stage:Waiting for semi-sync ACK from replica",
];

/// Stages of a commit, which hold its CPU: MySQL 5.6 and 5.7 commit in `query end`, MySQL 8.0 in
/// `waiting for handler commit`, `MariaDB` in `Commit`.
///
/// Source: MySQL's reference manual, "General Thread States"; MariaDB's, "General Thread States".
const COMMIT_STAGES: [&str; 4] = [
    "stage:commit",
    "stage:commit implicit",
    "stage:query end",
    "stage:waiting for handler commit",
];

/// Stage that may do anything, and waits at most in part.
///
/// Source: MySQL's reference manual, "General Thread States".
const SYSTEM_LOCK: &str = "stage:system lock";

/// Returns the name under which an event is compared with other servers' and releases'.
///
/// Events of a commit are one class; another event is its own.
pub fn class(event: &str) -> &str {
    if is_any(event, &COMMIT_WAITS) || is_any(event, &COMMIT_STAGES) {
        return COMMIT;
    }
    if event.eq_ignore_ascii_case(SYSTEM_LOCK) { RUNNING } else { event }
}

/// Returns whether a session in the event waits for nothing but the server, and uses no CPU.
fn is_wait(event: &str) -> bool {
    ![RUNNING, IDLE].contains(&class(event)) && !is_any(event, &COMMIT_STAGES)
}

fn is_any(event: &str, of: &[&str]) -> bool {
    of.iter().any(|one| one.eq_ignore_ascii_case(event))
}

/// Seconds of a block, in one of which no sample is taken.
pub const BLOCK_S: u64 = 4;

/// Returns whether no sample is taken in a second of the measured span, 0-based.
///
/// One second in each block of four, at a place without a period: the seconds with samples are then
/// compared with those without, see [`SamplingEffect`].
///
/// Source: multiplicative hashing by the golden ratio [Knuth 1998, section 6.4].
pub const fn rests_in(second: u64) -> bool {
    let place = (second / BLOCK_S).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 62;
    second % BLOCK_S == place
}

/// What the sampling itself did to the throughput.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SamplingEffect {
    /// Throughput of the seconds with samples over that of the seconds without.
    pub ratio: f64,
    /// Lower limit of its 99 % interval.
    pub low: f64,
    /// Upper limit of its 99 % interval.
    pub high: f64,
    /// Blocks of four seconds compared.
    pub blocks: u64,
}

/// A profile of waits: events and how often they were found.
///
/// With n samples, an event found c times had c / n sessions in it on average.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct WaitProfile {
    /// Samples taken.
    pub samples: u64,
    /// Time that they took together, as their client saw it.
    pub took_ns: Nanos,
    /// Its effect on closed loops of forty seconds or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<SamplingEffect>,
    /// The measured clients' sessions.
    pub clients: SessionWaits,
    /// The background writers' sessions.
    #[serde(default, skip_serializing_if = "SessionWaits::is_empty")]
    pub writers: SessionWaits,
    /// The server's own processes or threads, where it names what they wait for.
    #[serde(default, skip_serializing_if = "SessionWaits::is_empty")]
    pub background: SessionWaits,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_and_idle_sessions_do_not_wait_for_the_server() {
        let mut waits = SessionWaits::default();
        for event in [IDLE, RUNNING, "Lock:transactionid", "IO:WALSync", "Lock:transactionid"] {
            waits.add(event);
        }
        assert_eq!(waits.sessions, 5);
        let found: Vec<_> = waits.of_server().collect();
        assert_eq!(found, [(COMMIT, 1), ("Lock:transactionid", 2)]);
    }

    #[test]
    fn commits_of_all_servers_are_one_class_and_a_stage_with_cpu_is_no_wait() {
        let stages = ["stage:query end", "stage:waiting for handler commit", "stage:Commit"];
        let waits = ["IO:WalSync", "LWLock:WALWrite", "IPC:SyncRep", "io/file/sql/binlog"];
        assert!(stages.iter().chain(&waits).all(|event| class(event) == COMMIT));
        assert_eq!(class("IO:DataFileRead"), "IO:DataFileRead");
        let mut found = SessionWaits::default();
        stages.iter().chain(&["stage:System lock", "IO:WALSync"]).for_each(|one| found.add(one));
        assert_eq!(found.of_server().collect::<Vec<_>>(), [(COMMIT, 1)]);
        assert_eq!(found.in_commit_stages(), 3);
    }

    #[test]
    fn one_second_of_each_block_rests_and_no_place_is_preferred() {
        let mut places = [0; 4];
        for block in 0..1_000 {
            let seconds = block * BLOCK_S..(block + 1) * BLOCK_S;
            let resting: Vec<u64> = seconds.filter(|second| rests_in(*second)).collect();
            assert_eq!(resting.len(), 1, "{resting:?}");
            places[usize::try_from(resting[0] % BLOCK_S).unwrap()] += 1;
        }
        assert!(places.iter().all(|found| (245..=255).contains(found)), "{places:?}");
    }

    #[test]
    fn a_profile_is_stored_without_what_it_has_not() {
        let mut profile = WaitProfile { samples: 2, ..WaitProfile::default() };
        profile.clients.add(IDLE);
        let text = serde_json::to_string(&profile).unwrap();
        let expected = r#"{"samples":2,"took_ns":0,"clients":{"sessions":1,"events":{"idle":1}}}"#;
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<WaitProfile>(&text).unwrap(), profile);
    }
}
