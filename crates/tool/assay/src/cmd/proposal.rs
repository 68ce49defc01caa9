//! JSON of a proposal for a machine-time budget.

use analysis::budget::{
    Budget, Design, LoadDesign, LoadNoise, MachineDeviation, Origin, Proposal, StepNoise,
};
use model::{Nanos, RunRecord};
use serde_json::{Value, json};

/// Pilot runs, from which the noise is estimated.
#[derive(Default)]
pub(super) struct Pilot {
    /// Name and identifier of the experiment; empty without one.
    pub(super) id: String,
    pub(super) is_elsewhere: bool,
    /// Whether its runs have the planned data and steps.
    pub(super) is_alike: bool,
    /// Whole runs, for their cost.
    pub(super) runs: Vec<RunRecord>,
    /// Steady windows, for their noise.
    pub(super) steady: Vec<RunRecord>,
    /// How far the ratios of a fleet differed between machines.
    pub(super) machines: Option<MachineDeviation>,
}

/// The design that reaches a goal.
pub(super) struct Designs {
    pub(super) best: Design,
    /// What else the time of a budget buys.
    pub(super) others: Option<Proposal>,
}

/// Loads that several runs share, where the pilot shows what they cost.
pub(super) struct SharedLoads {
    /// The noisiest comparison.
    pub(super) worst: LoadNoise,
    /// Machine time of a load.
    pub(super) load: Nanos,
    /// Machine time of a run after it.
    pub(super) run: Nanos,
    /// The design that reaches the goal, if one does.
    pub(super) design: Option<LoadDesign>,
}

/// Returns the machine time of a run outside its timed steps.
pub(super) fn overhead_of_run(budget: &Budget<'_>) -> Nanos {
    Nanos(budget.overhead.0 / u64::from(budget.runs.max(1)))
}

/// Returns noise, cost and designs; a half-width is a share, a CoV too.
pub(super) fn data(
    budget: &Budget<'_>,
    pilot: &Pilot,
    designs: &Designs,
    loads: Option<&SharedLoads>,
) -> Value {
    let noise: Vec<_> = budget.noise.iter().map(noise).collect();
    let others = |it: &Proposal| it.alternatives.iter().map(summary).collect::<Vec<_>>();
    let if_noise = |it: &Proposal| json!({ "half": it.if_half, "double": it.if_double });
    json!({
        "pilot": Some(&pilot.id).filter(|id| !id.is_empty()),
        "is_pilot_elsewhere": pilot.is_elsewhere,
        "noise": noise,
        "overhead_per_run_ns": overhead_of_run(budget),
        "is_overhead_measured": pilot.overhead().is_some(),
        "design": design(budget, &designs.best),
        "alternatives": designs.others.as_ref().map(others).unwrap_or_default(),
        "half_width_if_noise_is": designs.others.as_ref().map(if_noise),
        "shared_loads": loads.map(shared),
    })
}

fn noise(one: &StepNoise) -> Value {
    let (origin, count) = match one.origin {
        Origin::Pilot { runs } => ("runs_of_the_pilot", runs),
        Origin::NoiseHistory { experiments } => ("earlier_experiments", experiments),
        Origin::OtherSteps { experiments } => ("other_steps_of_earlier_experiments", experiments),
        Origin::Assumed => ("assumed", 0),
    };
    json!({
        "step": one.step,
        "step_index": one.index,
        "clients": one.clients.level,
        "clients_of_step": one.clients.number,
        "variant": one.variant,
        "metric": one.metric,
        "cov_between_runs": one.between.sqrt(),
        "cov_within_runs_over_1s": one.within.map(f64::sqrt),
        "origin": origin,
        "origin_count": count,
        "length_ns": one.length,
    })
}

fn summary(design: &Design) -> Value {
    json!({
        "repetitions": design.repetitions,
        "cost_ns": design.cost,
        "half_width": design.worst().map(|worst| worst.half_width),
    })
}

/// Returns a design with what it decides in each step.
fn design(budget: &Budget<'_>, design: &Design) -> Value {
    let expected = design.expected.iter().map(|one| {
        let of = &budget.noise[one.noise];
        json!({
            "step": of.step,
            "step_index": of.index,
            "clients": of.clients.level,
            "clients_of_step": of.clients.number,
            "variant": of.variant,
            "half_width": one.half_width,
            "detectable": one.detectable,
        })
    });
    let mut data = summary(design);
    data["expected"] = expected.collect();
    data
}

fn shared(one: &SharedLoads) -> Value {
    let components = &one.worst.components;
    let design = one.design.map(|design| {
        json!({
            "runs_per_load": design.runs_per_load,
            "loads": design.loads,
            "cost_ns": design.cost,
            "half_width": design.half_width,
        })
    });
    json!({
        "step": one.worst.step,
        "clients": one.worst.clients.level,
        "clients_of_step": one.worst.clients.number,
        "variant": one.worst.variant,
        "cov_between_loads": components.between.sqrt(),
        "cov_between_runs_of_a_load": components.within.sqrt(),
        "loads": components.loads,
        "runs": components.runs,
        "load_ns": one.load,
        "run_ns": one.run,
        "design": design,
    })
}
