//! The CPU of an explanation, by function.

use std::collections::BTreeSet;

use model::profile::UNKNOWN;
use model::{RunRecord, StepRecord};

use super::account::Subject;
use crate::metrics::is_of_server;
use crate::profile::{
    FunctionAccount, Group, KnownFrames, ProfiledRun, Scope, StepProfile, compare,
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
    let in_worker = if subject == Subject::Cpu { Scope::Worker } else { Scope::Clients };
    let scope = if is_of_server(first) { Scope::Server } else { in_worker };
    let [base, variant] = sides.each_ref().map(|side| -> Vec<ProfiledRun<'_>> {
        let of_run = |&(run, step): &(_, _)| StepProfile::of(profiles.stored, run, step);
        let is_sampled = |run: &ProfiledRun<'_>| {
            run.step.profile(scope.target()).is_some() && scope.cpu_us_per_op(run.step).is_some()
        };
        side.iter().filter_map(of_run).filter(is_sampled).collect()
    });
    if base.is_empty() || variant.is_empty() {
        let records = sides.iter().flatten().flat_map(|(_, step)| &step.profiles);
        let mut of_scope = records.filter(|one| one.target == scope.target());
        return of_scope.find_map(|one| one.refusal.clone()).map(Err);
    }
    let names = [&base, &variant].map(|side| engine_functions(side));
    if names.iter().all(|names| !names.is_empty()) && names[0].is_disjoint(&names[1]) {
        let reason = "the variants are different engines, which share no functions; assay flame \
                      shows the functions of each";
        return Some(Err(reason.to_owned()));
    }
    Some(compare([&base, &variant], scope, profiles.with_inclusive))
}

/// Returns the names of the engine's own functions in the stacks of one side.
fn engine_functions<'a>(side: &[ProfiledRun<'a>]) -> BTreeSet<&'a str> {
    let of_run = |run: &ProfiledRun<'a>| {
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
