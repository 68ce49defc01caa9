//! A062: storage measured where it was never written.

use analysis::{is_bogus, is_profile_of, target_on};
use model::record::Severity;
use model::{Access, DeviceRecord, DeviceTarget, percent};

use super::{Checks, Observation, Rule};
use crate::context::ComparisonContext;

pub(crate) static RULE: Rule = Rule {
    code: "A062",
    name: "never-written storage",
    severity: Severity::Blocking,
    trigger: "Blocking: an experiment on storage read a file or device of which more than 1 % was \
              never written. Note: the only stored profile of the device of an experiment on \
              engines read never-written blocks, so the share of the device's rate that the runs \
              used is unknown",
    why: "A drive answers reads of never-written blocks without reading its flash, and a file \
          system answers reads of holes without reading the drive.",
    remedy: "fill the file (`fill = true`), write the whole raw device once (assay device --raw \
             DEVICE --destroy DEVICE), or remove the device from the experiment",
    source: "[Callaghan 2022-11-18] (the update of the post: reads of a mostly empty device were \
             twice as fast)",
    ..Rule::of(Checks { comparison: Some(comparison), ..Checks::NONE })
};

fn comparison(context: &ComparisonContext<'_>) -> Vec<Observation> {
    match context.experiment.device {
        Some(_) => of_storage(context),
        None => of_engines(context).into_iter().collect(),
    }
}

/// Returns an observation for each access whose storage was never written.
fn of_storage(context: &ComparisonContext<'_>) -> Vec<Observation> {
    let is_own = |profile: &&DeviceRecord| {
        let mut runs = context.runs.iter();
        runs.any(|run| run.id.rsplit_once('/').is_some_and(|(id, _)| id == profile.id))
    };
    let of_profile = |profile: &DeviceRecord| {
        let bogus = profile.targets.iter().filter(|target| is_bogus(target));
        bogus.flat_map(of_target).collect::<Vec<_>>()
    };
    context.profiles.iter().filter(is_own).flat_map(of_profile).collect()
}

/// Returns an observation for each access to a target.
fn of_target(target: &DeviceTarget) -> Vec<Observation> {
    let share = percent(target.never_written.unwrap_or_default());
    let is_of = |access: &Access| target.is_raw == (*access == Access::Raw);
    let accesses = Access::ALL.into_iter().filter(is_of);
    let evidence = format!("{share} of {} was never written", target.path);
    accesses.map(|access| Observation::new(&evidence).variant(access.name())).collect()
}

/// Returns the note where the device has no sound profile, and a bogus one.
fn of_engines(context: &ComparisonContext<'_>) -> Option<Observation> {
    let [host] = context.hosts else { return None };
    if context.profiles.iter().any(|profile| is_profile_of(profile, host)) {
        return None;
    }
    let found = context.profiles.iter().rev().find_map(|one| Some((one, target_on(one, host)?)));
    let (profile, target) = found?;
    let share = percent(target.never_written.unwrap_or_default());
    let evidence = format!(
        "the profile {} of this device is bogus: {share} of {} was never written",
        profile.id, target.path
    );
    let remedy = "measure the device again with a filled file: assay device --path DIR";
    Some(Observation::new(evidence).severity(Severity::Note).remedy(remedy).ranked("profile", 0.0))
}

#[cfg(test)]
mod tests {
    use model::DeviceSpec;

    use super::*;
    use crate::testing::{experiment, host, profile, runs, with_profiles};

    #[test]
    fn never_written_file_is_bogus_and_a_written_one_is_silent() {
        let names = ["direct", "buffered"];
        let mut spec = experiment(&names);
        spec.device = Some(DeviceSpec { raw: None, size_bytes: None, is_filled: false });
        let found = |share: f64| {
            with_profiles(&RULE, &spec, &runs(&names), (&[&host()], &[profile(share)]))
        };
        let one = found(0.4);
        assert_eq!(one[0].0, Severity::Blocking);
        assert!(one[0].1.contains("direct: 40 % of /data was never written"), "{one:?}");
        assert_eq!(found(0.001), []);
    }

    #[test]
    fn engines_with_a_bogus_profile_alone_are_noted() {
        let found = |profiles: &[DeviceRecord]| {
            with_profiles(&RULE, &experiment(&["a"]), &runs(&["a"]), (&[&host()], profiles))
        };
        assert_eq!(found(&[profile(1.0)])[0].0, Severity::Note);
        assert_eq!(found(&[profile(0.0), profile(1.0)]), []);
        assert_eq!(found(&[]), []);
    }
}
