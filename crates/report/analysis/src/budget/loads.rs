//! Loads and runs of each load, for a machine time or a precision.

use model::{Experiment, Nanos, RunRecord, StepClients};
use stats::distribution::student;
use stats::loads::{Components, components, runs_per_load};

use crate::primary::primary;
use crate::samples::{by_load, step_samples};

/// Most runs of a load that are proposed.
///
/// Our choice: more of them hardly narrow an interval that the loads widen.
const RUNS_MAX: u32 = 20;
/// Fewest loads of a proposal: two leave two degrees of freedom for a comparison.
const LOADS_MIN: u32 = 3;
/// Most loads of a proposal.
const LOADS_MAX: u32 = 200;

/// Components of variance of one variant in one step.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadNoise {
    /// The step's name.
    pub step: String,
    /// Level of the clients factor, and the step's clients.
    pub clients: StepClients,
    /// The variant.
    pub variant: String,
    /// Variances of ln(metric) of the step's primary metric.
    pub components: Components,
}

/// What a proposal is for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Goal {
    /// The most precise result of this machine time.
    Time(Nanos),
    /// The least machine time for this half-width, as a share.
    HalfWidth(f64),
}

/// A number of loads, and of runs of each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadDesign {
    /// Runs that begin from one load.
    pub runs_per_load: u32,
    /// Loads of each variant.
    pub loads: u32,
    /// Machine time.
    pub cost: Nanos,
    /// Half-width of the 95 % interval of a ratio, as a share.
    pub half_width: f64,
}

/// Returns the components of variance of each measured step, where runs share several loads.
pub fn load_noise(experiment: &Experiment, runs: &[RunRecord]) -> Vec<LoadNoise> {
    let counted = step_samples(runs, &experiment.data, experiment.application.as_ref());
    let steps = counted.iter().filter(|(key, _)| !experiment.is_preparatory(&key.name));
    let of_step = steps.filter_map(|(key, samples)| {
        let metric = primary(samples, experiment, &key.name)?;
        let of_variant = samples.of_variant.iter().filter_map(move |(variant, sample)| {
            let mut loads = by_load(sample.values(metric));
            loads.iter_mut().flatten().for_each(|value| *value = value.ln());
            let components = components(&loads)?;
            let (step, variant) = (key.name.clone(), (*variant).to_owned());
            let clients = experiment.clients_of(key.index, key.clients);
            Some(LoadNoise { step, clients, variant, components })
        });
        Some(of_variant)
    });
    of_step.flatten().collect()
}

/// Returns the best numbers of loads and of runs of each load for a goal.
///
/// `load` is the machine time of one load, `run` that of a run after it, and `runs` how many of
/// each a repetition has: variants times levels. `None` when the goal is out of reach.
///
/// Source: [`runs_per_load`]; the half-width is Student's t on the means of loads.
pub fn load_design(
    noise: &Components,
    load: Nanos,
    run: Nanos,
    runs: u32,
    goal: Goal,
) -> Option<LoadDesign> {
    let each = runs_per_load(load.as_secs_f64(), run.as_secs_f64(), noise, RUNS_MAX);
    let of_load = noise.between + noise.within / f64::from(each);
    let design = |loads: u32| {
        let error = (2.0 * of_load / f64::from(loads)).sqrt();
        let half = student::half_width(0.95, 2.0 * f64::from(loads - 1)) * error;
        let one = load.0.saturating_add(run.0.saturating_mul(u64::from(each)));
        let cost = Nanos(one.saturating_mul(u64::from(runs)).saturating_mul(u64::from(loads)));
        LoadDesign { runs_per_load: each, loads, cost, half_width: half.exp_m1() }
    };
    let mut all = (LOADS_MIN..=LOADS_MAX).map(design);
    match goal {
        Goal::Time(time) => all.take_while(|one| one.cost <= time).last(),
        Goal::HalfWidth(wanted) => all.find(|one| one.half_width <= wanted),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOISE: Components = Components { between: 1e-4, within: 4e-4, loads: 4, runs: 16 };

    #[test]
    fn the_optimum_is_proposed_for_a_time_and_for_a_precision() {
        let (load, run) = (Nanos::from_secs(100), Nanos::from_secs(25));
        let found = load_design(&NOISE, load, run, 2, Goal::Time(Nanos::from_secs(2_000))).unwrap();
        // sqrt(100 x 4 / (25 x 1)) = 4 runs: 200 s a load and variant, so five loads of two.
        assert_eq!((found.runs_per_load, found.loads), (4, 5));
        assert_eq!(found.cost, Nanos::from_secs(2_000));
        // t at 8 degrees is 2.306; the error is sqrt(2 x 2e-4 / 5).
        let half = (2.306_004 * (4e-4_f64 / 5.0).sqrt()).exp_m1();
        assert!((found.half_width - half).abs() < 1e-6, "{found:?}");
        let same =
            load_design(&NOISE, load, run, 2, Goal::HalfWidth(found.half_width + 1e-9)).unwrap();
        assert_eq!(same, found);
    }

    #[test]
    fn a_goal_out_of_reach_has_no_design() {
        let (load, run) = (Nanos::from_secs(100), Nanos::from_secs(25));
        assert_eq!(load_design(&NOISE, load, run, 2, Goal::Time(Nanos::from_secs(999))), None);
        assert_eq!(load_design(&NOISE, load, run, 2, Goal::HalfWidth(1e-6)), None);
    }
}
