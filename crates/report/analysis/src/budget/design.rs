//! The best way to spend machine time: how many repetitions, and how long each step.

use model::Nanos;
use stats::distribution::student;

use super::pilot::StepNoise;
use crate::compare::PAIRED_FROM;

/// Fewest repetitions that are proposed.
///
/// Source: the project's reference, analysis, section 2, `N_min`.
const REPETITIONS_MIN: u32 = 3;
/// Most repetitions that are looked at: nobody has asked for more.
const REPETITIONS_MAX: u32 = 1000;
/// Repetitions that are shown beside the best: what people are used to, and what more would do.
const FAMILIAR: [u32; 6] = [2, 3, 5, 10, 20, 50];
/// Halvings of an interval of variances: more than a double has digits.
const HALVINGS: u32 = 60;
/// Half-widths closer than this, as a share, are a tie.
const TIE: f64 = 1e-9;

/// What a repetition costs and how much its steps vary.
#[derive(Debug, Clone)]
pub struct Budget<'a> {
    /// The noise of each step, level and variant.
    pub noise: &'a [StepNoise],
    /// Runs of one repetition: variants times levels.
    pub runs: u32,
    /// Machine time of one repetition besides the measured lengths of its timed steps: loading,
    /// settling, warm-up, steps that end by operations, starting and stopping.
    pub overhead: Nanos,
    /// The steps that have a length, by index, with the length asked for now.
    pub lengths: Vec<Length>,
}

/// A step and its measured length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Length {
    /// Position of the step in the run, 0-based.
    pub index: u32,
    /// The step's name.
    pub step: String,
    /// The length.
    pub span: Nanos,
}

/// What is to be expected of one comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Expected {
    /// Which comparison, as its place in [`Budget::noise`].
    pub noise: usize,
    /// Half the width of the 95 % interval of the ratio, as a share.
    pub half_width: f64,
    /// Smallest difference, as a share, that is seen four times in five.
    pub detectable: f64,
}

/// One way to spend machine time.
#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    /// Repetitions.
    pub repetitions: u32,
    /// Length of each step that has one.
    pub lengths: Vec<Length>,
    /// Machine time of everything.
    pub cost: Nanos,
    /// What to expect of each comparison, in the order of [`Budget::noise`].
    pub expected: Vec<Expected>,
}

impl Design {
    /// Returns the comparison with the widest interval.
    #[must_use]
    pub fn worst(&self) -> Option<&Expected> {
        self.expected.iter().max_by(|a, b| a.half_width.total_cmp(&b.half_width))
    }

    fn half_width(&self) -> f64 {
        self.worst().map_or(f64::INFINITY, |worst| worst.half_width)
    }
}

/// The best way, others beside it, and how far it depends on the noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// The narrowest interval in the worst step.
    pub best: Design,
    /// Other numbers of repetitions for the same machine time, ascending; the best is among them.
    pub alternatives: Vec<Design>,
    /// The worst step's half-width should the noise from run to run be half as much.
    pub if_half: f64,
    /// The same should it be twice as much.
    pub if_double: f64,
}

/// A budget that does not pay for the fewest repetitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooSmall {
    /// What they cost.
    pub least: Nanos,
}

impl Budget<'_> {
    /// Returns the best way to spend a machine time.
    ///
    /// # Errors
    /// When it does not pay for three repetitions of the shortest sensible lengths.
    ///
    /// Source: the project's reference, analysis, section 2: the scan over the repetitions; ties
    /// go to more of them.
    pub fn propose(&self, time: Nanos) -> Result<Proposal, TooSmall> {
        let too_small = TooSmall { least: nanos(f64::from(REPETITIONS_MIN) * self.least_s()) };
        let at = |repetitions: u32| self.at(repetitions, time.as_secs_f64());
        let all = (REPETITIONS_MIN..=REPETITIONS_MAX).map_while(at);
        let better = |best: Design, one: Design| {
            if one.half_width() <= best.half_width() * (1.0 + TIE) { one } else { best }
        };
        let best = all.reduce(better).ok_or(too_small)?;
        let familiar = FAMILIAR.iter().filter(|n| **n != best.repetitions);
        let mut alternatives: Vec<Design> = familiar.filter_map(|n| at(*n)).collect();
        alternatives.push(best.clone());
        alternatives.sort_by_key(|design| design.repetitions);
        let (if_half, if_double) = (self.with_between(&best, 0.5), self.with_between(&best, 2.0));
        Ok(Proposal { best, alternatives, if_half, if_double })
    }

    /// Returns the cheapest way to a half-width in every step; `None` when there is none of a
    /// thousand repetitions or fewer.
    #[must_use]
    pub fn reach(&self, half_width: f64) -> Option<Design> {
        let of = |repetitions: u32| -> Option<Design> {
            let scale = self.scale(repetitions);
            let needed = self.lengths_for(&scale, half_width.ln_1p())?;
            let lengths: Vec<f64> = needed.into_iter().map(round_up).collect();
            let design = self.design(repetitions, &lengths);
            (design.half_width() <= half_width * (1.0 + TIE)).then_some(design)
        };
        let least_s = self.least_s();
        let mut cheapest: Option<Design> = None;
        for repetitions in REPETITIONS_MIN..=REPETITIONS_MAX {
            let least = nanos(f64::from(repetitions) * least_s);
            if cheapest.as_ref().is_some_and(|found| found.cost <= least) {
                break;
            }
            let is_cheaper =
                |one: &Design| cheapest.as_ref().is_none_or(|found| one.cost < found.cost);
            cheapest = of(repetitions).filter(is_cheaper).or(cheapest);
        }
        cheapest
    }

    /// Returns the best lengths for so many repetitions in a time; `None` when it is too short.
    fn at(&self, repetitions: u32, time_s: f64) -> Option<Design> {
        let per_repetition = time_s / f64::from(repetitions) - self.overhead.as_secs_f64();
        let lengths = self.lengths_within(repetitions, per_repetition / f64::from(self.runs))?;
        Some(self.design(repetitions, &lengths))
    }

    fn design(&self, repetitions: u32, lengths: &[f64]) -> Design {
        let expect = |(noise, one): (usize, &StepNoise)| {
            let variance = one.variance(self.length_of(one, lengths));
            let error = (2.0 * variance / f64::from(repetitions)).sqrt();
            let freedom = freedom(one, repetitions);
            Expected {
                noise,
                half_width: (student::half_width(0.95, freedom) * error).exp_m1(),
                detectable: stats::detectable::share(error, freedom),
            }
        };
        let per_run: f64 = lengths.iter().sum();
        let cost = self.overhead.as_secs_f64() + f64::from(self.runs) * per_run;
        let named = self.lengths.iter().zip(lengths);
        Design {
            repetitions,
            lengths: named.map(|(one, s)| Length { span: nanos(*s), ..one.clone() }).collect(),
            cost: nanos(f64::from(repetitions) * cost),
            expected: self.noise.iter().enumerate().map(expect).collect(),
        }
    }

    /// Returns the length of a noise's step; any for a step that has none.
    fn length_of(&self, noise: &StepNoise, lengths: &[f64]) -> f64 {
        let named = self.lengths.iter().zip(lengths);
        named.filter(|(one, _)| one.index == noise.index).map(|(_, s)| *s).next().unwrap_or(1.0)
    }

    /// Returns the half-width on logarithms that a deviation of 1 gives each comparison.
    fn scale(&self, repetitions: u32) -> Vec<f64> {
        let of = |one: &StepNoise| {
            let error = (2.0 / f64::from(repetitions)).sqrt();
            error * student::half_width(0.95, freedom(one, repetitions))
        };
        self.noise.iter().map(of).collect()
    }

    /// Returns the shortest length of a step, whole seconds from ten on: as asked for when it is
    /// not known what another would do.
    fn shortest(&self, length: &Length) -> f64 {
        let own = self.noise.iter().filter(|one| is_flexible(one, length));
        let least = own.map(|one| one.least_s).fold(0.0, f64::max);
        if least > 0.0 { round_up(least) } else { length.span.as_secs_f64() }
    }

    /// Returns the least cost of a repetition, in seconds.
    fn least_s(&self) -> f64 {
        let shortest: f64 = self.lengths.iter().map(|length| self.shortest(length)).sum();
        self.overhead.as_secs_f64() + f64::from(self.runs) * shortest
    }

    /// Returns the lengths that make no interval of a comparison wider than this, half of it and
    /// on logarithms; `None` when some would be, whatever its length.
    fn lengths_for(&self, scale: &[f64], half_width: f64) -> Option<Vec<f64>> {
        let needed = |length: &Length| {
            let own = self.noise.iter().zip(scale).filter(|(one, _)| is_flexible(one, length));
            own.into_iter().try_fold(self.shortest(length), |longest, (one, scale)| {
                let left = (half_width / scale).powi(2) - one.between;
                let within = one.within.unwrap_or(0.0);
                (left > 0.0).then(|| longest.max(one.warmup_trim_s + within / left))
            })
        };
        self.lengths.iter().map(needed).collect()
    }

    /// Returns the lengths that make the widest interval narrowest, in so many seconds of a run.
    ///
    /// Every second goes to the steps that need it: a step that is steadier than the worst gets no
    /// more than its shortest length. `None` when there is too little time.
    fn lengths_within(&self, repetitions: u32, seconds: f64) -> Option<Vec<f64>> {
        let shortest: Vec<f64> = self.lengths.iter().map(|one| self.shortest(one)).collect();
        if seconds < shortest.iter().sum() {
            return None;
        }
        let scale = self.scale(repetitions);
        let fits = |half_width: f64| {
            let lengths = self.lengths_for(&scale, half_width)?;
            (lengths.iter().sum::<f64>() <= seconds).then_some(lengths)
        };
        // From none to where the shortest lengths do.
        let (mut low, mut high) = (0.0, self.design(repetitions, &shortest).half_width().ln_1p());
        let mut found = shortest.clone();
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            match fits(middle) {
                Some(lengths) => (high, found) = (middle, lengths),
                None => low = middle,
            }
        }
        let rounded = found.into_iter().zip(&shortest);
        Some(rounded.map(|(length, shortest)| round_down(length).max(*shortest)).collect())
    }

    /// Returns the worst half-width of a design should the noise from run to run be so many times
    /// what is known.
    fn with_between(&self, design: &Design, factor: f64) -> f64 {
        let scaled =
            |one: &StepNoise| StepNoise { between: one.between * factor.powi(2), ..one.clone() };
        let noise: Vec<StepNoise> = self.noise.iter().map(scaled).collect();
        let lengths: Vec<f64> =
            design.lengths.iter().map(|length| length.span.as_secs_f64()).collect();
        Budget { noise: &noise, ..self.clone() }.design(design.repetitions, &lengths).half_width()
    }
}

/// Returns whether a noise is that of a step and what its length does is known.
fn is_flexible(noise: &StepNoise, length: &Length) -> bool {
    noise.index == length.index && noise.within.is_some()
}

/// Returns the degrees of freedom of a comparison of so many repetitions.
///
/// Source: the project's reference, analysis, sections 1.1 and 2: below five moderated by what
/// other cells tell, from five on block by block.
fn freedom(noise: &StepNoise, repetitions: u32) -> f64 {
    let runs = f64::from(repetitions);
    if repetitions < PAIRED_FROM { 2.0 * runs - 2.0 + noise.prior_df } else { runs - 1.0 }
}

/// Rounds seconds down to what people write: whole ones from ten on, tenths below.
fn round_down(seconds: f64) -> f64 {
    let scale = if seconds >= 10.0 { 1.0 } else { 10.0 };
    (seconds * scale + TIE).floor() / scale
}

/// Rounds seconds up in the same way.
fn round_up(seconds: f64) -> f64 {
    let scale = if seconds >= 10.0 { 1.0 } else { 10.0 };
    (seconds * scale - TIE).ceil() / scale
}

#[expect(clippy::cast_possible_truncation, reason = "the cast saturates at 584 years")]
#[expect(clippy::cast_sign_loss, reason = "spans are not negative")]
fn nanos(seconds: f64) -> Nanos {
    Nanos((seconds * 1e9).round() as u64)
}
