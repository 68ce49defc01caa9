//! The arrivals of a load, one after the other.

use model::{Arrivals, Nanos, OpenLoad};
use workload::random::Stream;

use super::curve::Curve;
use super::poisson::Poisson;

/// The endless arrivals of an open load, since the step's start.
///
/// ```
/// use load::schedule::ArrivalProcess;
/// use model::{Arrivals, Nanos, OpenLoad, Pace, Pacing, Rate};
///
/// let pace = Pace { arrivals: Arrivals::Constant, pacing: Pacing::Auto };
/// let load = OpenLoad { rate: Rate::constant(1000.0), pace };
/// let mut arrivals = ArrivalProcess::new(&load, 42, Nanos(0));
/// assert_eq!(arrivals.next(), Some(Nanos(500_000)));
/// assert_eq!(arrivals.next(), Some(Nanos(1_500_000)));
/// ```
#[derive(Debug, Clone)]
pub struct ArrivalProcess {
    unit: Unit,
    curve: Curve,
}

/// An arrival process of unit rate.
#[derive(Debug, Clone)]
enum Unit {
    /// Exactly one unit of time apart, the first after half of one; so many so far.
    ///
    /// By any moment the number of arrivals is the expected one, rounded: with the first at 0 a
    /// step of 20 s at 1/s had 21 of 20 once its end came a little late.
    ///
    /// Smoother than reality: queues are shorter than with independent arrivals.
    Constant(u64),
    Poisson(Poisson),
}

impl ArrivalProcess {
    /// Returns the arrivals of `load`, decided by `seed`.
    ///
    /// The rate must be valid. The warm-up is offered the rate of the measured span's beginning.
    pub fn new(load: &OpenLoad, seed: u64, warmup: Nanos) -> Self {
        let unit = match load.pace.arrivals {
            Arrivals::Constant => Unit::Constant(0),
            Arrivals::Poisson => Unit::Poisson(Poisson::new(Stream::fixed(seed))),
        };
        Self { unit, curve: Curve::new(&load.rate, warmup) }
    }
}

impl Iterator for ArrivalProcess {
    type Item = Nanos;

    #[inline(always)]
    fn next(&mut self) -> Option<Nanos> {
        let arrivals = match &mut self.unit {
            Unit::Constant(number) => {
                // A number, not a running sum: nothing is rounded.
                let at = *number as f64 + 0.5;
                *number += 1;
                at
            }
            Unit::Poisson(poisson) => poisson.next(),
        };
        Some(self.curve.moment_of(arrivals))
    }
}

#[cfg(test)]
mod tests {
    use model::load::RatePiece;
    use model::{Pace, Pacing, Rate};
    use proptest::prelude::*;

    use super::*;

    fn process(rate: Rate, arrivals: Arrivals, seed: u64) -> ArrivalProcess {
        let pace = Pace { arrivals, pacing: Pacing::Auto };
        ArrivalProcess::new(&OpenLoad { rate, pace }, seed, Nanos::SECOND)
    }

    #[test]
    fn the_seed_decides_and_nothing_else() {
        let of = |seed| process(Rate::constant(5e4), Arrivals::Poisson, seed).take(1000);
        assert!(of(1).eq(of(1)) && !of(1).eq(of(2)));
    }

    #[test]
    fn the_mean_rate_is_met_within_a_thousandth() {
        // Goal: the offered rate is the requested one.
        // Method: 20 million arrivals; with gaps at random their time varies by 0.022 %.
        const COUNT: usize = 20_000_000;
        for arrivals in [Arrivals::Poisson, Arrivals::Constant] {
            let mut process = process(Rate::constant(123_456.7), arrivals, 9);
            let last = process.nth(COUNT).expect("without an end");
            let rate = COUNT as f64 / last.as_secs_f64();
            assert!((rate / 123_456.7 - 1.0).abs() < 0.001, "{arrivals:?}: {rate}");
        }
    }

    proptest! {
        /// Goal: n seconds at a rate have n times the rate, also where the end is a little late.
        #[test]
        fn equal_gaps_offer_the_rate_times_the_seconds(
            seconds in 1u32..40, ops_per_s in 1u32..400, late_ns in 0u64..1_000_000,
        ) {
            let rate = Rate::constant(f64::from(ops_per_s));
            let end = Nanos::from_secs(u64::from(seconds) + 1).after(Nanos(late_ns));
            let due = process(rate, Arrivals::Constant, 1).take_while(|due| *due <= end);
            let measured = due.filter(|due| *due >= Nanos::SECOND).count();
            prop_assert_eq!(measured, (seconds * ops_per_s) as usize);
        }
    }

    #[test]
    fn counts_per_window_follow_the_rate() {
        // Goal: ramps, steps and waves are offered as requested.
        // Method: count arrivals per half second over 30 s and compare with the integral: off by
        // at most one when equally spaced, by 5 deviations when at random.
        let piece = |millis, from_ops_per_s, to_ops_per_s| RatePiece {
            length: Nanos::from_millis(millis),
            from_ops_per_s,
            to_ops_per_s,
        };
        let file: Vec<_> = (1..200u32).map(|n| piece(100, f64::from(n) * 50.0, 900.0)).collect();
        let sine = Rate::Sine {
            mean_ops_per_s: 5000.0,
            amplitude_ops_per_s: 4500.0,
            period: Nanos::from_millis(7300),
        };
        let ramp = vec![piece(15_000, 100.0, 9000.0), piece(5_000, 9000.0, 10.0)];
        let steps = vec![piece(3_000, 700.0, 700.0), piece(4_000, 7_000.0, 7_000.0)];
        let window = Nanos::from_millis(500);
        for rate in [Rate::Pieces(ramp), Rate::Pieces(steps), Rate::Pieces(file), sine] {
            for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
                let curve = Curve::new(&rate, Nanos::SECOND);
                let mut found = vec![0u32; 60];
                for due in process(rate.clone(), arrivals, 4) {
                    let Ok(index) = usize::try_from(due.0 / window.0) else { break };
                    let Some(count) = found.get_mut(index) else { break };
                    *count += 1;
                }
                for (index, count) in found.into_iter().enumerate() {
                    let at = |index: usize| curve.expected_by(Nanos(window.0 * index as u64));
                    let expected = at(index + 1) - at(index);
                    let slack = match arrivals {
                        Arrivals::Constant => 1.001,
                        Arrivals::Poisson => 5.0 * expected.sqrt() + 1.0,
                    };
                    let off = (f64::from(count) - expected).abs();
                    assert!(off <= slack, "{rate:?} window {index}: {count} of {expected}");
                }
            }
        }
    }
}
