//! Machines of an experiment whose clients do not run on the machine of the server.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::host::Host;
use crate::limits::{LIST_MAX, check_number, is_destination};

/// The machines of an experiment with a machine for the server, and machines for the clients.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hosts {
    /// Where the server runs: a destination of ssh, or a class of machines of Slurm.
    pub server: String,
    /// Address at which clients reach the server; if absent, the host name that ssh uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Where clients run, at least one: destinations of ssh, or classes of machines of Slurm.
    pub clients: Vec<String>,
    /// Path of the configuration of OpenSSH's client; its default one if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ssh_config: Option<String>,
}

impl Hosts {
    /// Checks that server and clients are destinations of ssh, and that no client host is named
    /// twice.
    pub(crate) fn check(&self) -> Result<(), String> {
        check_number("clients", self.clients.len() as u64, (1, LIST_MAX as u64))?;
        let mut names = [&self.server].into_iter().chain(&self.clients).chain(&self.address);
        if let Some(name) = names.find(|name| !is_destination(name)) {
            return Err(format!("a host is {name:?}, which is not a destination of ssh"));
        }
        match repeated_host(&self.clients) {
            Some(name) => Err(format!("clients has {name:?} twice")),
            None => Ok(()),
        }
    }

    /// Returns where server and clients run, as a phrase.
    pub fn phrase(&self) -> String {
        format!("server on {}, clients on {}", self.server, self.clients.join(", "))
    }

    /// Returns which clients of a shared step run on the client host at a position, counted from 0.
    ///
    /// The hosts have equal numbers of clients, or the first hosts have one more.
    pub fn share(&self, position: u32, clients: u32) -> Range<u32> {
        let hosts = u32::try_from(self.clients.len()).unwrap_or(u32::MAX).max(1);
        let (each, rest) = (clients / hosts, clients % hosts);
        let start = |position: u32| position * each + position.min(rest);
        start(position.min(hosts))..start(position.saturating_add(1).min(hosts))
    }
}

/// Returns the class of a machine that Slurm chooses, of a host `slurm:CLASS`.
///
/// Several hosts of one class are several machines.
pub fn slurm_class(host: &str) -> Option<&str> {
    host.strip_prefix("slurm:")
}

/// Returns the first host that an earlier one names too, as another user or in other case.
pub fn repeated_host<T: AsRef<str>>(hosts: &[T]) -> Option<&str> {
    let machine = |host: &T| {
        let host = host.as_ref();
        host.rsplit_once('@').map_or(host, |(_, host)| host).to_ascii_lowercase()
    };
    let is_repeated = |(index, host): &(usize, &T)| {
        let is_same = |earlier: &T| machine(earlier) == machine(host);
        slurm_class(host.as_ref()).is_none() && hosts[..*index].iter().any(is_same)
    };
    hosts.iter().enumerate().find(is_repeated).map(|(_, host)| host.as_ref())
}

/// A machine that ran clients of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ClientHost {
    /// Destination of ssh.
    pub name: String,
    /// Its facts.
    pub host: Host,
    /// Its clock in the steps that it ran with other machines, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clocks: Vec<HostClock>,
}

/// A client host's clock, compared with the clock of the server's host around one step.
///
/// Source: [Mills 1991], section IV: offset and error of an exchange, of which the shortest counts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostClock {
    /// Position of the step in the run, from 0.
    pub step_index: u32,
    /// Before the clients began.
    pub before: ClockOffset,
    /// While they ran; absent in a step of less than a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub during: Option<ClockOffset>,
    /// After they ended; absent if the step broke off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<ClockOffset>,
}

/// Difference of two monotonic clocks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockOffset {
    /// Time of the comparison, ns since the first one of the run.
    pub at_ns: u64,
    /// Clock of the client host minus the clock of the server's host, ns since the first comparison
    /// of the run: each clock counts from the start of its machine.
    pub offset_ns: i64,
    /// Largest error of the offset: half of the exchange's round trip, ns.
    pub error_ns: u64,
}

impl HostClock {
    /// Returns the drift over the step, ns, with its largest error; `None` if the step broke off.
    pub fn drift(&self) -> Option<ClockDrift> {
        let after = self.after?;
        Some(ClockDrift {
            ns: after.offset_ns.saturating_sub(self.before.offset_ns),
            error_ns: after.error_ns.saturating_add(self.before.error_ns),
            span_ns: after.at_ns.saturating_sub(self.before.at_ns),
        })
    }

    /// Returns the largest error of this host's times against the times of the other hosts, ns:
    /// the error at the start, and the drift until the end.
    pub fn error_ns(&self) -> u64 {
        let drift = self.drift().map_or(0, |drift| drift.ns.unsigned_abs());
        self.before.error_ns.saturating_add(drift)
    }
}

/// Drift of a client host's clock over a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockDrift {
    /// Change of the offset, ns.
    pub ns: i64,
    /// Largest error of the change, ns.
    pub error_ns: u64,
    /// Time between the two comparisons, ns.
    pub span_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: the shares of a step's clients are disjoint and complete, and differ by one at most.
    /// Method: every number of hosts up to 9 with every number of clients up to 40, and the most.
    #[test]
    fn shares_of_clients_are_disjoint_complete_and_even() {
        for hosts in 1..=9_u32 {
            let all = Hosts { clients: vec!["c".to_owned(); hosts as usize], ..Hosts::default() };
            for clients in (0..=40).chain([u32::MAX]) {
                let shares: Vec<_> = (0..hosts).map(|at| all.share(at, clients)).collect();
                assert_eq!((shares[0].start, shares.last().unwrap().end), (0, clients));
                assert!(shares.windows(2).all(|pair| pair[0].end == pair[1].start), "{shares:?}");
                let sizes: Vec<u32> = shares.iter().map(|it| it.end - it.start).collect();
                assert!(sizes.is_sorted_by(|one, next| one >= next), "{sizes:?}");
                assert!(sizes[0] - sizes.last().unwrap() <= 1, "{sizes:?}");
                assert!(all.share(hosts, clients).is_empty(), "no such host");
            }
        }
    }

    #[test]
    fn hosts_are_destinations_and_each_client_host_is_named_once() {
        let check = |server: &str, clients: &[&str]| {
            let clients = clients.iter().map(|name| (*name).to_owned()).collect();
            Hosts { server: server.to_owned(), clients, ..Hosts::default() }.check()
        };
        assert_eq!(check("bench@db1", &["c1", "c2"]), Ok(()));
        for (server, clients) in [("db1", &[][..]), ("-oX=y", &["c1"]), ("db1", &["c 1"])] {
            assert!(check(server, clients).is_err(), "{server} {clients:?}");
        }
        assert_eq!(check("slurm:db", &["slurm:client", "slurm:client"]), Ok(()));
        for twice in [["c1", "c1"], ["me@c1", "c1"], ["a@C1", "b@c1"]] {
            let error = format!("clients has {:?} twice", twice[1]);
            assert_eq!(check("db1", &twice), Err(error));
        }
    }

    #[test]
    fn error_of_times_is_that_of_the_start_and_the_drift() {
        let offset = |at_ns, offset_ns, error_ns| ClockOffset { at_ns, offset_ns, error_ns };
        let mut clock = HostClock { before: offset(100, -5_000, 40), ..HostClock::default() };
        assert_eq!((clock.drift(), clock.error_ns()), (None, 40));
        clock.after = Some(offset(1_100, -5_030, 60));
        let drift = ClockDrift { ns: -30, error_ns: 100, span_ns: 1_000 };
        assert_eq!((clock.drift(), clock.error_ns()), (Some(drift), 70));
    }
}
