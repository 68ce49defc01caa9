//! Clocks of client hosts, compared with the clock of this host.
//!
//! Source: Mills, 1991, "Internet Time Synchronization: the Network Time Protocol", IEEE Trans.
//! Comm. 39(10), section IV: the offset is known to half of the round trip, and the shortest round
//! trip of several counts.

use std::collections::BTreeMap;

use model::Nanos;
use model::client_host::ClockOffset;

/// The clock of one client host.
#[derive(Debug, Default)]
pub(super) struct HostClocks {
    /// When each `Ping` without an answer was sent, by its number.
    sent: BTreeMap<u64, Nanos>,
    best: Option<ClockOffset>,
    /// The first comparison that was recorded; zero of those that follow.
    first: Option<ClockOffset>,
}

/// Most pings without an answer that are remembered: a host that answers none is lost by then.
const SENT_MAX: usize = 64;

impl HostClocks {
    /// Notes that a ping is sent.
    pub(super) fn ping(&mut self, number: u64, now: Nanos) {
        self.sent.insert(number, now);
        while self.sent.len() > SENT_MAX {
            self.sent.pop_first();
        }
    }

    /// Notes the answer to a ping: the time there, and the time here when it came.
    pub(super) fn pong(&mut self, number: u64, there: Nanos, here: Nanos) {
        let Some(sent) = self.sent.remove(&number) else { return };
        // Answers come in order.
        self.sent = self.sent.split_off(&number);
        let error_ns = here.since(sent).0 / 2;
        let at_ns = sent.0 + error_ns;
        let found = ClockOffset {
            at_ns,
            offset_ns: there.0.cast_signed().saturating_sub(at_ns.cast_signed()),
            error_ns,
        };
        if self.best.is_none_or(|best| error_ns < best.error_ns) {
            self.best = Some(found);
        }
    }

    /// Returns a comparison relative to the first recorded one: clocks count from the start of
    /// their machine, and a record holds 104 days of nanoseconds.
    pub(super) fn recorded(&mut self, found: ClockOffset) -> ClockOffset {
        let first = *self.first.get_or_insert(found);
        ClockOffset {
            at_ns: found.at_ns.saturating_sub(first.at_ns),
            offset_ns: found.offset_ns.saturating_sub(first.offset_ns),
            error_ns: found.error_ns,
        }
    }

    /// Forgets earlier comparisons.
    pub(super) const fn forget(&mut self) {
        self.best = None;
    }

    /// Returns when the oldest ping without an answer was sent.
    pub(super) fn unanswered_since(&self) -> Option<Nanos> {
        self.sent.values().next().copied()
    }

    /// Takes the comparison with the shortest round trip since the last call.
    pub(super) fn take(&mut self) -> Option<ClockOffset> {
        self.best.take()
    }
}

/// Returns a time of this host as the clock of a client host has it.
pub(super) fn there(at: Nanos, offset: ClockOffset) -> Nanos {
    Nanos(at.0.saturating_add_signed(offset.offset_ns))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        /// Goal: the true offset is within the error, however the round trip is divided.
        #[test]
        fn the_offset_is_known_to_half_of_the_round_trip(
            offset in -5_000_000_000_i64..5_000_000_000,
            trips in prop::collection::vec((1_u64..1_000_000, 1_u64..1_000_000), 1..20),
        ) {
            let mut clocks = HostClocks::default();
            let mut now = 10_000_000_000_u64;
            for (number, (out, back)) in (0..).zip(&trips) {
                clocks.ping(number, Nanos(now));
                let there = (now + out).saturating_add_signed(offset);
                now += out + back;
                clocks.pong(number, Nanos(there), Nanos(now));
            }
            let found = clocks.take().unwrap();
            let shortest = trips.iter().map(|(out, back)| (out + back) / 2).min().unwrap();
            prop_assert_eq!(found.error_ns, shortest);
            prop_assert!(found.offset_ns.abs_diff(offset) <= found.error_ns + 1);
            prop_assert!(clocks.take().is_none());
            let at = there(Nanos(20_000_000_000), found);
            prop_assert!(at.0.abs_diff(20_000_000_000_u64.saturating_add_signed(offset))
                <= found.error_ns + 1);
        }
    }

    #[test]
    fn recorded_comparisons_count_from_the_first() {
        let offset = |at_ns, offset_ns| ClockOffset { at_ns, offset_ns, error_ns: 7 };
        let mut clocks = HostClocks::default();
        let year_ns = 365 * 24 * 3_600 * 1_000_000_000_u64;
        let behind = -9 * year_ns.cast_signed();
        assert_eq!(clocks.recorded(offset(year_ns, behind)), offset(0, 0));
        let later = offset(year_ns + 50, behind - 3);
        assert_eq!(clocks.recorded(later), offset(50, -3));
    }

    #[test]
    fn a_ping_is_unanswered_until_it_or_a_later_one_is_answered() {
        let mut clocks = HostClocks::default();
        (1..4).for_each(|number| clocks.ping(number, Nanos(number * 10)));
        assert_eq!(clocks.unanswered_since(), Some(Nanos(10)));
        clocks.pong(2, Nanos(5), Nanos(25));
        assert_eq!(clocks.unanswered_since(), Some(Nanos(30)));
        clocks.pong(3, Nanos(5), Nanos(35));
        assert_eq!(clocks.unanswered_since(), None);
    }

    #[test]
    fn answers_to_forgotten_pings_are_ignored() {
        let mut clocks = HostClocks::default();
        (0..100).for_each(|number| clocks.ping(number, Nanos(number)));
        clocks.pong(0, Nanos(5), Nanos(7));
        clocks.pong(200, Nanos(5), Nanos(7));
        assert!(clocks.take().is_none());
    }
}
