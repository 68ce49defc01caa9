//! Error rates of time-profile classes, by simulation.
//!
//! Method: seeded series of each known shape, 30 minutes and shorter, under noise of 4 % a second
//! with a correlation of 0.6. `cargo test -p stats --test steady -- --nocapture` prints the table,
//! with `ASSAY_CAMPAIGN=long` as in docs/validation.md, of 100 series each. A test alone has 25 of
//! the long ones: where the share of a class falls from 1 to 0.8, they show it nine times in ten.

mod mser;
mod shapes;

use model::time_profile::{TimeProfile, TrendClass};
use mser::mser5;
use shapes::{LEVEL, Shape};
use stats::testing::cases;
use stats::time_profile::{Second, time_profile};

/// Series of each shape and length.
const SERIES: u64 = 100;
/// Series of each shape that a test alone has of [`LONG`].
const SAMPLE: u64 = 25;
/// The change that matters, as a share.
const MARGIN: f64 = 0.02;
/// Length of a long series, s.
const LONG: u32 = 1800;

/// The results for the series of one shape and length.
struct Found {
    profiles: Vec<TimeProfile>,
    /// Distance of the steady part's mean from the steady level, %.
    bias: f64,
    /// The same for MSER-5, and the median of what it truncates, s.
    mser: (f64, u64),
}

impl Found {
    fn of(shape: Shape, length: u32) -> Self {
        let count = if length == LONG { cases(SAMPLE, SERIES) } else { SERIES };
        let series = (0..count).map(|seed| shape.series(length, seed * 7919 + 1));
        let one = |series: stats::time_profile::Series| {
            let time_profile = time_profile(&series, MARGIN, true).expect("there are seconds");
            let rates: Vec<f64> = series.seconds().iter().map(|second| second.ops_per_s).collect();
            let truncated = mser5(&rates).unwrap_or_default();
            let is_steady = |second: &&Second| second.start_ns >= time_profile.steady_from_ns;
            let steady = series.seconds().iter().filter(is_steady).map(|second| second.ops_per_s);
            let bias = (distance(steady), distance(rates[truncated..].iter().copied()));
            (time_profile, bias, truncated as u64)
        };
        let (mut profiles, mut own, mut other, mut warmup_trims) =
            (Vec::new(), 0.0, 0.0, Vec::new());
        for (time_profile, bias, truncated) in series.map(one) {
            profiles.push(time_profile);
            warmup_trims.push(truncated);
            own += bias.0 / count as f64;
            other += bias.1 / count as f64;
        }
        Self { profiles, bias: own, mser: (other, median(warmup_trims)) }
    }

    /// Returns the share of the series that are of one of these classes.
    fn share(&self, classes: &[TrendClass]) -> f64 {
        let own = self.profiles.iter().filter(|time_profile| classes.contains(&time_profile.class));
        own.count() as f64 / self.profiles.len() as f64
    }

    /// Returns the share that is classified as not steady.
    fn not_steady(&self) -> f64 {
        self.share(&[TrendClass::Drift, TrendClass::NotSteady])
    }

    /// Returns the median warm-up trim, s.
    fn trim(&self) -> u64 {
        median(
            self.profiles
                .iter()
                .map(|time_profile| time_profile.steady_from_ns.0 / 1_000_000_000)
                .collect(),
        )
    }

    /// Returns the share in which a cycle of that many seconds was found, within a tenth.
    fn cycles(&self, period_s: f64) -> f64 {
        let is_it = |time_profile: &&TimeProfile| {
            let found = time_profile.cycle.map(|cycle| cycle.period_ns.as_secs_f64());
            found.is_some_and(|found| (found / period_s - 1.0).abs() < 0.1)
        };
        self.profiles.iter().filter(is_it).count() as f64 / self.profiles.len() as f64
    }
}

/// Returns how far the mean of some rates is from the steady level, %.
fn distance(rates: impl Iterator<Item = f64>) -> f64 {
    let rates: Vec<f64> = rates.collect();
    (rates.iter().sum::<f64>() / rates.len() as f64 / LEVEL - 1.0).abs() * 100.0
}

fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values[values.len() / 2]
}

/// The shapes: name, shape, class, and start of the true steady part, s.
const SHAPES: [(&str, Shape, TrendClass, u64); 8] = [
    ("flat", Shape::Flat, TrendClass::Flat, 0),
    ("exponential warm-up", Shape::WarmUp(0.139), TrendClass::WarmUp, 250),
    ("slow-down from empty", Shape::SlowDown(0.172), TrendClass::SlowDown, 310),
    ("step", Shape::Step(0.166), TrendClass::WarmUp, 299),
    ("sawtooth", Shape::Sawtooth(90.0), TrendClass::Cyclic, 0),
    ("warm-up and sawtooth", Shape::WarmUpAndSawtooth(0.146, 90.0), TrendClass::WarmUp, 262),
    ("-10 % ramp", Shape::Ramp(-0.1), TrendClass::Drift, 0),
    ("-20 % cliff in the last fifth", Shape::Cliff, TrendClass::NotSteady, 0),
];

/// Goal: in half an hour every shape gets its class, and the steady part is near the truth.
#[test]
fn shapes_are_classified_in_half_an_hour() {
    println!(
        "| shape (truly steady from) | trimmed, s | class | not steady | bias, % | MSER-5: trimmed, s | bias, % |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (name, shape, class, truth_s) in SHAPES {
        let found = Found::of(shape, LONG);
        println!(
            "| {name} ({truth_s}) | {} | {} {:.2} | {:.2} | {:.2} | {} | {:.2} |",
            found.trim(),
            class.phrase(),
            found.share(&[class]),
            found.not_steady(),
            found.bias,
            found.mser.1,
            found.mser.0
        );
        assert!(found.share(&[class]) >= 0.9, "{name}: {}", found.share(&[class]));
        let is_steady = class.is_steady();
        assert!(is_steady == (found.not_steady() <= 0.05), "{name}: {}", found.not_steady());
        // A third of the margin.
        assert!(!is_steady || found.bias < 100.0 * MARGIN / 3.0, "{name}: {}", found.bias);
        assert!(!is_steady || found.trim() <= truth_s + 20, "{name}: {}", found.trim());
    }
}

/// Goal: cycles are found with their period, and not where there are none.
#[test]
fn cycles_are_those_that_are_there() {
    for (length, period_s) in [(LONG, 90.0), (LONG, 47.0), (300, 25.0)] {
        let found = Found::of(Shape::Sawtooth(period_s), length);
        assert!(found.cycles(period_s) >= 0.75, "{period_s}: {}", found.cycles(period_s));
    }
    for length in [60, 300, LONG] {
        let found = Found::of(Shape::Flat, length);
        let has = found.profiles.iter().filter(|time_profile| time_profile.cycle.is_some()).count();
        assert!(has <= (3 * found.profiles.len()).div_ceil(100), "{length}: {has}");
    }
}

/// Goal: shorter steps have bounded error rates.
#[test]
fn short_steps_keep_a_bounded_error_rate() {
    println!(
        "| length, s | flat misclassified | step found | cliff found | -10 % ramp: not steady |"
    );
    println!("|---|---|---|---|---|");
    let limits = [(20, 0.20), (30, 0.18), (60, 0.13), (120, 0.06), (300, 0.04)];
    for (length, most) in limits {
        let flat = Found::of(Shape::Flat, length);
        let otherwise = 1.0 - flat.share(&[TrendClass::Flat]);
        let step = Found::of(Shape::Step(0.25), length).share(&[TrendClass::WarmUp]);
        let cliff = Found::of(Shape::Cliff, length).not_steady();
        let ramp = Found::of(Shape::Ramp(-0.1), length).not_steady();
        println!("| {length} | {otherwise:.2} | {step:.2} | {cliff:.2} | {ramp:.2} |");
        assert!(otherwise <= most, "{length}: {otherwise}");
        assert!(step >= 0.7, "{length}: {step}");
        assert!(length < 60 || cliff >= 0.9, "{length}: {cliff}");
    }
    let short = Found::of(Shape::Step(0.25), 19);
    assert!((short.share(&[TrendClass::TooShort]) - 1.0).abs() < 1e-9);
    assert_eq!(short.trim(), 0);
}
