//! The CPU of an explanation, by function.

use std::collections::BTreeSet;

use model::profile::UNKNOWN;
use model::{ProfileTarget, RunRecord, StepRecord};

use super::account::Subject;
use crate::metrics::is_of_server;
use crate::profile::{
    FunctionAccount, Group, KnownFrames, LeftOut, ProfiledRun, Scope, StepProfile, compare,
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
    let runs = sides.iter().flatten();
    let engines = runs.filter_map(|(run, _)| Some(run.identity.as_ref()?.engine.as_str()));
    let is_mixed = engines.collect::<BTreeSet<_>>().len() > 1;
    if is_mixed && !has_common_code(&base, &variant) {
        let reason = "the variants are different engines, which share no functions; assay flame \
                      shows the functions of each";
        return Some(Err(reason.to_owned()));
    }
    let left_out = [left_out(&sides[0], &base, scope), left_out(&sides[1], &variant, scope)];
    let left_out: Vec<LeftOut> = left_out.into_iter().flatten().collect();
    if let Some(one) = left_out.iter().find(|one| one.profiled == 0) {
        return Some(Err(format!("no run of {} has a profile: {}", one.variant, one.reason)));
    }
    let account = compare([&base, &variant], scope, profiles.with_inclusive);
    Some(account.map(|account| FunctionAccount { left_out, ..account }))
}

/// Returns whether two sides share half of the engine's functions, as two builds that have
/// different names do. Engines whose functions have no names share none.
fn has_common_code(base: &[ProfiledRun<'_>], variant: &[ProfiledRun<'_>]) -> bool {
    let names = [base, variant].map(engine_functions);
    let fewer = names[0].len().min(names[1].len());
    let common = names[0].intersection(&names[1]).count();
    common > 0 && 2 * common >= fewer
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

/// Returns which runs of a side have no profile, and why the first one has none.
fn left_out(
    side: &[(&RunRecord, &StepRecord)],
    profiled: &[ProfiledRun<'_>],
    scope: Scope,
) -> Option<LeftOut> {
    let is_left_out = |step: &StepRecord| profiled.iter().all(|run| !std::ptr::eq(run.step, step));
    let (run, step) = side.iter().find(|(_, step)| is_left_out(step))?;
    let record = step.profiles.iter().find(|one| one.target == scope.target());
    let reason = match record {
        None => "it was not sampled".to_owned(),
        Some(record) => record.refusal.clone().unwrap_or_else(|| lacking(scope).to_owned()),
    };
    let variant = run.cell.variant.clone();
    Some(LeftOut { variant, runs: side.len(), profiled: profiled.len(), reason })
}

/// Returns what a run lacks whose samples are sound.
fn lacking(scope: Scope) -> &'static str {
    match scope.target() {
        ProfileTarget::Server => {
            "the CPU of the server is not known, because this account may make no control group \
             (docs/guide/privileges.md)"
        }
        ProfileTarget::Worker => "its samples or its CPU per operation are missing",
    }
}

#[cfg(test)]
mod tests {
    use model::{Identity, Profile};

    use super::*;
    use crate::testing::{profiled, run};

    /// Compares two runs of `a` with two of `b`, which `change` changes before.
    fn compared(change: impl Fn(&mut [RunRecord])) -> Result<FunctionAccount, String> {
        let mut runs = [("a", 1), ("a", 2), ("b", 1), ("b", 2)].map(|(variant, repetition)| {
            let steps = vec![profiled(8.0, None)];
            RunRecord { steps, ..run(variant, repetition, 1_000) }
        });
        change(&mut runs);
        let stored = |run: &RunRecord| {
            let own = run.identity.as_ref().map_or("Seek", |identity| identity.version.as_str());
            let path = match own {
                "" => "lib.so`[unknown]".to_owned(),
                own => format!("lib.so`Get;lib.so`{own};lib.so`{own}2"),
            };
            let text = format!("worker;client;assay`go;{path} 500\n");
            let profile = Profile::parse(&text).unwrap();
            StepProfile { run: run.id.clone(), step: 0, profile }
        };
        let stored: Vec<StepProfile> = runs.iter().map(stored).collect();
        let profiles = StepProfiles { stored: &stored, with_inclusive: false };

        let sides = [&runs[..2], &runs[2..]]
            .map(|side| side.iter().map(|run| (run, &run.steps[0])).collect());
        functions(profiles, Subject::Cpu, &sides).unwrap()
    }

    fn refuse(run: &mut RunRecord) {
        let refusal = Some("samples were lost".to_owned());
        run.steps[0].profiles.iter_mut().for_each(|one| one.refusal.clone_from(&refusal));
    }

    #[test]
    fn runs_without_a_profile_are_left_out_with_their_reason() {
        assert_eq!(compared(|_| ()).unwrap().left_out, []);
        let found = compared(|runs| refuse(&mut runs[3])).unwrap();
        let reason = "samples were lost".to_owned();
        let expected = LeftOut { variant: "b".to_owned(), runs: 2, profiled: 1, reason };
        assert_eq!(found.left_out, [expected]);
        let error = compared(|runs| runs[2..].iter_mut().for_each(refuse)).unwrap_err();
        assert_eq!(error, "no run of b has a profile: samples were lost");
    }

    #[test]
    fn different_engines_are_not_compared() {
        let named = |versions: [&str; 2]| {
            compared(|runs| {
                for (place, run) in runs.iter_mut().enumerate() {
                    let engine = ["lmdb", "sqlite"][place / 2].to_owned();
                    let version = versions[place / 2].to_owned();
                    run.identity = Some(Identity { engine, version, ..Identity::default() });
                }
            })
        };
        for versions in [["a", "b"], ["", ""]] {
            let error = named(versions).unwrap_err();
            assert!(error.starts_with("the variants are different engines"), "{error}");
        }
        assert!(named(["a", "a"]).is_ok(), "builds of one code under two names");
    }
}
