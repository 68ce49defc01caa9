//! Cumulative arrivals of a rate that varies over time, and their inverse.

use std::f64::consts::TAU;
use std::sync::Arc;

use model::{Nanos, Rate};

/// Newton steps after which the bracket is as good as it gets: bisection alone needs 53.
const STEPS_MAX: u32 = 64;

/// Newton stops when a step is shorter than this: the next would be far below a nanosecond.
const STEP_NS_MIN: f64 = 0.25;

/// Expected arrivals over time, and their inverse.
///
/// Times are since the step's start. An arrival process of unit rate becomes one of this rate when
/// its arrival at `s` happens at the moment by which `s` arrivals are expected.
///
/// Source: [Cinlar 1975], ch. 4, section 7: a Poisson process is a time change of one with unit
/// rate.
#[derive(Debug, Clone)]
pub(super) struct Curve {
    shape: Shape,
    /// The piece the last arrival was in: arrivals only move forward.
    at: usize,
}

#[derive(Debug, Clone)]
enum Shape {
    Pieces(Arc<[Piece]>),
    Wave(Wave),
}

/// A straight piece of the rate, per nanosecond; the last one has no end.
#[derive(Debug, Clone, Copy)]
struct Piece {
    starts_ns: f64,
    /// Arrivals expected before it.
    before: f64,
    from: f64,
    /// Change of the rate per nanosecond.
    slope: f64,
}

/// A sine, per nanosecond, after a warm-up at its mean, which is its rate at time 0.
#[derive(Debug, Clone, Copy)]
struct Wave {
    mean: f64,
    amplitude: f64,
    period_ns: f64,
    warmup_ns: f64,
}

impl Curve {
    /// Returns the curve of `rate` after a warm-up at its first value.
    ///
    /// The rate must have pieces: the load was validated.
    pub(super) fn new(rate: &Rate, warmup: Nanos) -> Self {
        let shape = match rate {
            Rate::Pieces(pieces) => Shape::Pieces(straight(pieces, warmup)),
            Rate::Sine { mean_ops_per_s, amplitude_ops_per_s, period } => Shape::Wave(Wave {
                mean: mean_ops_per_s / 1e9,
                amplitude: amplitude_ops_per_s / 1e9,
                period_ns: ns(*period),
                warmup_ns: ns(warmup),
            }),
        };
        Self { shape, at: 0 }
    }

    /// Returns the moment by which `arrivals` are expected; `arrivals` must never decrease.
    #[inline(always)]
    pub(super) fn moment_of(&mut self, arrivals: f64) -> Nanos {
        match &self.shape {
            Shape::Pieces(pieces) => {
                // Bounded: one step per piece in the whole life of the curve.
                while pieces.get(self.at + 1).is_some_and(|next| arrivals >= next.before) {
                    self.at += 1;
                }
                let end_ns = pieces.get(self.at + 1).map_or(f64::INFINITY, |next| next.starts_ns);
                nanos(pieces[self.at].moment_of(arrivals).min(end_ns))
            }
            Shape::Wave(wave) => nanos(wave.moment_of(arrivals)),
        }
    }
}

/// Returns the pieces with the arrivals expected before each; the warm-up is the first.
fn straight(pieces: &[model::load::RatePiece], warmup: Nanos) -> Arc<[Piece]> {
    let first = pieces.first().expect("a sound rate has a piece").from_ops_per_s;
    let last = pieces.last().expect("a sound rate has a piece").to_ops_per_s;
    let mut starts_ns = 0.0;
    let mut before = 0.0;
    let mut straight = Vec::with_capacity(pieces.len() + 2);
    let mut add = |length_ns: f64, from_ops_per_s: f64, to_ops_per_s: f64| {
        let (from, to) = (from_ops_per_s / 1e9, to_ops_per_s / 1e9);
        let slope = if length_ns > 0.0 { (to - from) / length_ns } else { 0.0 };
        straight.push(Piece { starts_ns, before, from, slope });
        starts_ns += length_ns;
        before += length_ns * f64::midpoint(from, to);
    };
    if warmup > Nanos(0) {
        add(ns(warmup), first, first);
    }
    for piece in pieces {
        add(ns(piece.length), piece.from_ops_per_s, piece.to_ops_per_s);
    }
    add(0.0, last, last);
    straight.into()
}

impl Piece {
    /// Solves `from x + slope x^2 / 2 = s` for x.
    ///
    /// Source: [Press 2007], section 5.6: the form of the quadratic formula without cancellation;
    /// right for slope 0, too.
    #[inline(always)]
    fn moment_of(&self, arrivals: f64) -> f64 {
        let s = arrivals - self.before;
        if self.slope.abs() <= 0.0 {
            return self.starts_ns + s / self.from;
        }
        let root = (self.from * self.from + 2.0 * self.slope * s).max(0.0).sqrt();
        self.starts_ns + 2.0 * s / (self.from + root)
    }
}

impl Wave {
    /// Returns the arrivals expected in the first `x_ns` of a wave.
    fn within(&self, x_ns: f64) -> f64 {
        let angle = TAU * x_ns / self.period_ns;
        self.mean * x_ns + self.amplitude * self.period_ns / TAU * (1.0 - angle.cos())
    }

    fn moment_of(&self, arrivals: f64) -> f64 {
        let s = arrivals - self.mean * self.warmup_ns;
        if s <= 0.0 {
            return arrivals / self.mean;
        }
        let per_wave = self.mean * self.period_ns;
        let waves = (s / per_wave).floor();
        let rest = (s - waves * per_wave).clamp(0.0, per_wave);
        self.warmup_ns + waves * self.period_ns + self.solve(rest)
    }

    /// Returns the time within a wave by which `s` arrivals are expected.
    ///
    /// Source: [Press 2007], section 9.4: Newton's method within a bracket.
    fn solve(&self, s: f64) -> f64 {
        let (mut low, mut high) = (0.0, self.period_ns);
        let mut x = s / self.mean;
        let mut step_before = self.period_ns;
        for _ in 0..STEPS_MAX {
            let excess = self.within(x) - s;
            if excess > 0.0 {
                high = x;
            } else {
                low = x;
            }
            let rate = self.mean + self.amplitude * (TAU * x / self.period_ns).sin();
            let newton = x - excess / rate;
            // Else Newton can jump between two slopes of the sine until the steps run out.
            let is_faster = (newton - x).abs() <= 0.5 * step_before;
            let is_newton = low <= newton && newton <= high && is_faster;
            let next = if is_newton { newton } else { f64::midpoint(low, high) };
            let step = (next - x).abs();
            (x, step_before) = (next, step);
            if step < STEP_NS_MIN {
                break;
            }
        }
        x
    }
}

const fn ns(span: Nanos) -> f64 {
    span.0 as f64
}

/// Returns a span rounded to a whole nanosecond.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
#[expect(clippy::cast_sign_loss, reason = "times are since the step's start")]
const fn nanos(span_ns: f64) -> Nanos {
    Nanos((span_ns + 0.5) as u64)
}

#[cfg(test)]
mod tests {
    use model::load::RatePiece;
    use proptest::prelude::*;

    use super::*;

    impl Curve {
        /// Returns the number of arrivals expected by `at`.
        pub(in crate::schedule) fn expected_by(&self, at: Nanos) -> f64 {
            match &self.shape {
                Shape::Pieces(pieces) => {
                    let at_ns = ns(at);
                    let next = pieces.partition_point(|piece| piece.starts_ns <= at_ns);
                    let piece = &pieces[next.saturating_sub(1)];
                    piece.expected_by(at_ns)
                }
                Shape::Wave(wave) => wave.expected_by(ns(at)),
            }
        }
    }

    impl Piece {
        fn expected_by(&self, at_ns: f64) -> f64 {
            let x = (at_ns - self.starts_ns).max(0.0);
            self.before + x * (self.from + 0.5 * self.slope * x)
        }
    }

    impl Wave {
        fn expected_by(&self, at_ns: f64) -> f64 {
            let x_ns = at_ns - self.warmup_ns;
            if x_ns <= 0.0 {
                return self.mean * at_ns;
            }
            let waves = (x_ns / self.period_ns).floor();
            // Over a whole wave the sine adds nothing.
            self.mean * (self.warmup_ns + waves * self.period_ns)
                + self.within(x_ns - waves * self.period_ns)
        }
    }

    fn piece(seconds: u64, from_ops_per_s: f64, to_ops_per_s: f64) -> RatePiece {
        RatePiece { length: Nanos::from_secs(seconds), from_ops_per_s, to_ops_per_s }
    }

    #[test]
    fn arrivals_expected_are_the_integral_of_the_rate() {
        // A ramp, a step, and the last rate for ever, after a warm-up of 2 s at the first.
        let rate = Rate::Pieces(vec![piece(10, 100.0, 300.0), piece(5, 50.0, 50.0)]);
        let curve = Curve::new(&rate, Nanos::from_secs(2));
        let expected = |seconds| curve.expected_by(Nanos::from_secs(seconds));
        for (seconds, arrivals) in
            [(0, 0.0), (2, 200.0), (7, 200.0 + 750.0), (12, 2200.0), (17, 2450.0), (117, 7450.0)]
        {
            assert!((expected(seconds) - arrivals).abs() < 1e-6, "{seconds}: {arrivals}");
        }
    }

    #[test]
    fn a_sine_has_its_mean_over_whole_waves_and_its_bulge_within() {
        let rate = Rate::Sine {
            mean_ops_per_s: 1000.0,
            amplitude_ops_per_s: 900.0,
            period: Nanos::from_secs(10),
        };
        let curve = Curve::new(&rate, Nanos::SECOND);
        let expected = |seconds| curve.expected_by(Nanos::from_secs(seconds));
        assert!((expected(1) - 1000.0).abs() < 1e-6);
        assert!((expected(31) - 31_000.0).abs() < 1e-6);
        // Half a wave adds amplitude x period / pi.
        assert!((expected(6) - (6000.0 + 9000.0 / std::f64::consts::PI)).abs() < 1e-6);
    }

    /// Rates of every kind.
    fn rates() -> impl Strategy<Value = Rate> {
        let ops_per_s = || (0.0f64..6.0).prop_map(|digits| 10f64.powf(digits));
        let one = (1_000u64..20_000_000_000, ops_per_s(), ops_per_s(), any::<bool>());
        let one = one.prop_map(|(length, from, to, is_flat)| RatePiece {
            length: Nanos(length),
            from_ops_per_s: from,
            to_ops_per_s: if is_flat { from } else { to },
        });
        let sine = (ops_per_s(), 0.01f64..0.999, 1_000u64..50_000_000_000);
        let sine = sine.prop_map(|(mean_ops_per_s, depth, period)| Rate::Sine {
            mean_ops_per_s,
            amplitude_ops_per_s: mean_ops_per_s * depth,
            period: Nanos(period),
        });
        prop_oneof![prop::collection::vec(one, 1..8).prop_map(Rate::Pieces), sine]
    }

    proptest! {
        #[test]
        fn the_inverse_is_the_inverse_and_moves_forward(
            rate in rates(), warmup in 0u64..5_000_000_000, gap in 1e-3f64..100.0,
        ) {
            let mut curve = Curve::new(&rate, Nanos(warmup));
            let peak_per_ns = rate.peak_ops_per_s() / 1e9;
            let mut last = Nanos(0);
            for number in 0..500u32 {
                let arrivals = f64::from(number) * gap;
                let moment = curve.moment_of(arrivals);
                prop_assert!(moment >= last, "{moment:?} after {last:?}");
                last = moment;
                // A moment is rounded to whole nanoseconds.
                let slack = 2.0 * peak_per_ns + 1e-9 * (1.0 + arrivals);
                let back = curve.expected_by(moment);
                prop_assert!((back - arrivals).abs() <= slack, "{arrivals} came back as {back}");
            }
        }
    }

    /// Goal: a wave whose slowest part is a tenth of its fastest is solved within a nanosecond.
    #[test]
    fn a_deep_wave_is_solved_in_few_steps() {
        let rate = Rate::Sine {
            mean_ops_per_s: 726.778_892_170_006_5,
            amplitude_ops_per_s: 600.112_002_931_558_8,
            period: Nanos(34_215_649_429),
        };
        let mut curve = Curve::new(&rate, Nanos(637_943_451));
        let arrivals = 19_133.470_191_860_903;
        let moment = curve.moment_of(arrivals);
        let back = curve.expected_by(moment);
        assert!((back - arrivals).abs() < 2e-6, "{back}");
    }

    #[test]
    fn nothing_drifts_over_ten_thousand_million_arrivals() {
        let mut curve = Curve::new(&Rate::constant(3.0e6), Nanos::from_secs(60));
        let moment = curve.moment_of(1.0e10);
        assert!((moment.as_secs_f64() - 1.0e10 / 3.0e6).abs() < 2e-9, "{moment:?}");
        let ramp = Rate::Pieces(vec![piece(100, 1.0e6, 2.0e6)]);
        let moment = Curve::new(&ramp, Nanos(0)).moment_of(1.0e10);
        assert!((moment.as_secs_f64() - 5025.0).abs() < 2e-9, "{moment:?}");
    }
}
