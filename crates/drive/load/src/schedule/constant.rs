//! Operations due at equal distances.

use model::Nanos;

use crate::traits::Schedule;

/// One client's share of a constant rate.
///
/// The group's arrivals are numbered from 0 and lie `1 / rate` apart; client `i` of `n` takes
/// every n-th from its i-th, so several clients interleave instead of arriving together.
#[derive(Debug, Clone, Copy)]
pub struct Constant {
    start: Nanos,
    gap_ns: f64,
    next: u64,
    stride: u64,
}

impl Constant {
    /// Returns the schedule of client `client` (0-based) of `clients`.
    ///
    /// `ops_per_s` is the rate of the whole group, > 0; `start` is when its first arrival is due.
    ///
    /// # Panics
    /// When the rate is not positive or there is no such client: the step was not validated.
    #[must_use]
    pub fn new(start: Nanos, ops_per_s: f64, client: u64, clients: u64) -> Self {
        assert!(ops_per_s > 0.0 && client < clients, "a share of a positive rate");
        Self { start, gap_ns: 1e9 / ops_per_s, next: client, stride: clients }
    }
}

impl Schedule for Constant {
    #[inline(always)]
    #[expect(clippy::cast_precision_loss, reason = "arrivals stay far below 2^53")]
    #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
    #[expect(clippy::cast_sign_loss, reason = "both factors are positive")]
    fn next_start(&mut self, _now: Nanos) -> Option<Nanos> {
        // A product, not a running sum: rounding must not add up over billions of arrivals.
        let offset = (self.next as f64 * self.gap_ns) as u64;
        self.next += self.stride;
        Some(self.start.after(Nanos(offset)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn intended_times_do_not_depend_on_the_present(
            rate in 0.1f64..5e6, nows in prop::collection::vec(any::<u64>(), 1..200),
        ) {
            let mut prompt = Constant::new(Nanos(5), rate, 0, 1);
            let mut late = prompt;
            for now in nows {
                prop_assert_eq!(prompt.next_start(Nanos(0)), late.next_start(Nanos(now)));
            }
        }

        #[test]
        fn clients_together_arrive_at_the_rate(rate in 1f64..1e6, clients in 1u64..9) {
            // Goal: the group's arrivals are evenly spaced whatever the number of clients.
            // Method: merge the clients' first arrivals and compare with one client's.
            let mut merged: Vec<Nanos> = (0..clients)
                .flat_map(|client| {
                    let mut schedule = Constant::new(Nanos(0), rate, client, clients);
                    (0..50).filter_map(move |_| schedule.next_start(Nanos(0))).collect::<Vec<_>>()
                })
                .collect();
            merged.sort_unstable();
            let mut alone = Constant::new(Nanos(0), rate, 0, 1);
            for at in merged {
                prop_assert_eq!(Some(at), alone.next_start(Nanos(0)));
            }
        }
    }

    #[test]
    fn the_mean_rate_is_exact_after_ten_million_arrivals() {
        let mut schedule = Constant::new(Nanos(0), 3.0e6, 0, 1);
        let mut last = Nanos(0);
        for _ in 0..10_000_001u64 {
            last = schedule.next_start(Nanos(0)).unwrap();
        }
        let expected = 1e9 * 1e7 / 3.0e6;
        assert!((last.as_secs_f64() * 1e9 - expected).abs() < 2.0, "{last:?}");
    }
}
