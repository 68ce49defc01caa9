//! The CPU of an explanation, by function.

use std::collections::BTreeSet;

use model::profile::UNKNOWN;
use model::{ProfileTarget, RunRecord, StepRecord};

use super::account::Subject;
use super::refusal::Side;
use crate::metrics::{client_cpu, is_of_server, is_user_only, primary_operations, target_cpu};
use crate::profile::{
    FunctionAccount, Group, KnownFrames, RunProfile, Scope, StepProfile, compare,
};

/// The stored profiles of an explanation's step.
#[derive(Debug, Clone, Copy, Default)]
pub struct StepProfiles<'a> {
    /// The profiles of all runs; empty without any.
    pub stored: &'a [StepProfile],
    /// Whether functions are also compared together with all they call.
    pub with_inclusive: bool,
}

/// Compares the functions of both sides; `None` where the runs have no profiles.
///
/// # Errors
/// A text that names why profiles that there are cannot be compared.
pub(super) fn functions(
    profiles: StepProfiles<'_>,
    subject: Subject,
    sides: &[Vec<(&RunRecord, &StepRecord)>; 2],
) -> Option<Result<FunctionAccount, String>> {
    let is_profiled = |(_, step): &&(&RunRecord, &StepRecord)| !step.profiles.is_empty();
    let first = sides.iter().flatten().find(is_profiled)?.1;
    let scope = match subject {
        _ if is_of_server(first) => Scope::Server,
        Subject::Cpu => Scope::Worker,
        Subject::TimePerOperation | Subject::ResponseTime | Subject::ServerCpu | Subject::Other => {
            Scope::Clients
        }
    };
    let [base, variant] = sides.each_ref().map(|side| of_side(profiles.stored, side, scope));
    if base.len().min(variant.len()) == 0 {
        let mut steps = sides.iter().flatten();
        return steps.find_map(|(_, step)| refusal(step, scope)).map(Err);
    }
    let names = [&base, &variant].map(|side| engine_functions(side));
    if names.iter().all(|names| !names.is_empty()) && names[0].is_disjoint(&names[1]) {
        let reason = "the variants are different engines, which share no functions; assay flame \
                      shows those of each";
        return Some(Err(reason.to_owned()));
    }
    Some(compare(&base, &variant, scope, profiles.with_inclusive))
}

/// Returns the names of the engine's own functions in the stacks of one side.
fn engine_functions<'a>(side: &[RunProfile<'a>]) -> BTreeSet<&'a str> {
    let of_run = |run: &RunProfile<'a>| {
        let (profile, known) = (run.profile, KnownFrames::of(run.profile));
        let mut names = BTreeSet::new();
        for stack in profile.stacks() {
            let frames = stack.frames.iter().map(|frame| profile.frame(*frame));
            let own = frames.zip(known.groups(stack)).filter(|(_, group)| *group == Group::Engine);
            names.extend(own.map(|(frame, _)| frame.function.as_str()));
        }
        names
    };
    let names = side.iter().flat_map(of_run);
    names.filter(|name| !name.starts_with("driver_") && *name != UNKNOWN).collect()
}

/// Returns the profiles of the runs of one side; runs without one are left out.
fn of_side<'a>(stored: &'a [StepProfile], side: &Side<'a>, scope: Scope) -> Vec<RunProfile<'a>> {
    let of_run = |(run, step): &(&'a RunRecord, &'a StepRecord)| {
        let of_step = |one: &&_| is_of(one, run, step);
        let stored = stored.iter().find(of_step)?;
        let record = step.profiles.iter().find(|one| one.target == target(scope))?;
        let cpu_us_per_op = cpu_us_per_op(step, scope).filter(|us| us.is_finite() && *us > 0.0)?;
        let is_open = record.refusal.is_none();
        is_open.then_some(RunProfile { profile: &stored.profile, record, cpu_us_per_op })
    };
    side.iter().filter_map(of_run).collect()
}

fn is_of(stored: &StepProfile, run: &RunRecord, step: &StepRecord) -> bool {
    stored.run == run.id && stored.step == step.index
}

/// Returns why a step has no profile of the scope.
fn refusal(step: &StepRecord, scope: Scope) -> Option<String> {
    let record = step.profiles.iter().find(|one| one.target == target(scope))?;
    record.refusal.clone()
}

const fn target(scope: Scope) -> ProfileTarget {
    match scope {
        Scope::Clients | Scope::Worker => ProfileTarget::Worker,
        Scope::Server => ProfileTarget::Server,
    }
}

/// Returns the CPU that the samples of a scope divide.
fn cpu_us_per_op(step: &StepRecord, scope: Scope) -> Option<f64> {
    match scope {
        Scope::Clients => {
            let [user, kernel] = client_cpu(step);
            let is_user_only = is_user_only(step, ProfileTarget::Worker);
            let kernel = if is_user_only { Some(0.0) } else { kernel };
            user.zip(kernel).map(|(user, kernel)| (user + kernel) / primary_operations(step) as f64)
        }
        Scope::Worker => target_cpu(step).worker_us,
        Scope::Server => target_cpu(step).server_us,
    }
}
