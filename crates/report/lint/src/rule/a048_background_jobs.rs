//! A048: background threads that do not fit the machine.

use std::collections::{BTreeMap, BTreeSet};

use model::units::many;
use model::{CpuCount, Variant};

use super::{Checks, Observation, Rule};
use crate::context::PlanContext;

pub(crate) static RULE: Rule = Rule {
    code: "A048",
    name: "background jobs",
    trigger: "`max_background_jobs`, or the setting `background_jobs`, is more than twice the \
              number of CPUs or less than a tenth of the number of CPUs, or it differs between \
              variants of one engine",
    why: "The number of background jobs alone changes write throughput by a factor of 1.4, and \
          also changes the variance. Too many jobs compete with the clients, and too few leave \
          deferred work.",
    remedy: "give all variants of an engine as many jobs as there are CPUs without clients \
             (background_jobs = ...), or waive A048 if the jobs are what the experiment compares",
    source: "[Callaghan 2022-07-20] (busy threads should be at most as many as cores; 16 \
             background jobs gave 1.4 times the throughput of 8 background jobs)",
    ..Rule::of(Checks { plan: Some(unlike), variant: Some(misfit), ..Checks::NONE })
};

/// The engine's own name of the option.
const OPTION: &str = "max_background_jobs";
/// Jobs for each CPU that are too many.
const MOST: u32 = 2;
/// CPUs for each job that are too many; [Callaghan 2022-07-20]: 8 jobs on 80 were enough there.
const FEWEST: u32 = 10;

fn unlike(context: &PlanContext<'_>) -> Vec<Observation> {
    let mut engines: BTreeMap<&str, BTreeSet<Option<u32>>> = BTreeMap::new();
    for variant in &context.experiment.variants {
        engines.entry(&variant.build.engine).or_default().insert(jobs(variant));
    }
    let unlike = engines.iter().filter(|(_, jobs)| jobs.len() > 1);
    let observe = |(engine, jobs): (&&str, &BTreeSet<Option<u32>>)| {
        let word =
            |jobs: &Option<u32>| jobs.map_or("its default".to_owned(), |jobs| jobs.to_string());
        let jobs = jobs.iter().map(word).collect::<Vec<_>>().join(", ");
        let evidence =
            format!("variants of {engine} have different numbers of background jobs: {jobs}");
        Observation::new(evidence).ranked("differ", 0.0)
    };
    unlike.map(observe).collect()
}

fn misfit(context: &PlanContext<'_>, variant: &Variant) -> Option<Observation> {
    let cpus = context.host.map(|host| host.cpus).filter(|cpus| *cpus > CpuCount::default())?;
    let jobs = jobs(variant)?;
    let is_wrong = jobs > cpus.times(MOST) || CpuCount::of(jobs.saturating_mul(FEWEST)) < cpus;
    is_wrong.then(|| {
        let evidence = format!("{} on {}", many(jobs, "background job"), many(cpus, "CPU"));
        Observation::new(evidence).ranked("misfit", f64::from(jobs) / cpus.value())
    })
}

/// Returns the requested jobs: the option wins over the setting, as it does in the driver.
fn jobs(variant: &Variant) -> Option<u32> {
    let option = variant.options.get(OPTION).and_then(|value| value.parse().ok());
    option.or(variant.settings.background_jobs)
}

#[cfg(test)]
mod tests {
    use model::record::Severity;

    use super::*;
    use crate::testing::{experiment, in_plan};

    #[test]
    fn jobs_that_do_not_fit_the_cpus_are_reported() {
        let with = |jobs: u32| {
            let mut spec = experiment(&["a", "b"]);
            for variant in &mut spec.variants {
                variant.settings.background_jobs = Some(jobs);
            }
            in_plan(&RULE, &spec)
        };
        assert_eq!(with(2), []);
        assert_eq!(with(8), [], "twice the four CPUs");
        let evidence = "a: 64 background jobs on 4 CPUs, likewise in 1 other variant";
        assert_eq!(with(64), [(Severity::Warning, evidence.to_owned())]);
    }

    #[test]
    fn variants_of_one_engine_must_have_the_same_jobs() {
        let mut spec = experiment(&["a", "b"]);
        spec.variants[0].options.set(OPTION, "2");
        spec.variants[1].options.set(OPTION, "1");
        let evidence = "variants of null have different numbers of background jobs: 1, 2";
        assert_eq!(in_plan(&RULE, &spec), [(Severity::Warning, evidence.to_owned())]);
        spec.variants[1].build = "sqlite".parse().unwrap();
        assert_eq!(in_plan(&RULE, &spec), []);
    }
}
