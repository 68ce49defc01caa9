//! A009: more runnable threads than CPUs.

use model::record::Severity;
use model::units::many;
use model::{CpuCount, Variant};

use super::{Checks, Observation, Rule, code};
use crate::context::PlanContext;

pub(crate) static RULE: Rule = Rule {
    code: code::A009,
    name: "too many busy threads",
    trigger: "Warning: more threads are runnable than the host has CPUs, or clients wait for a CPU \
              during more than 5 % of their time. Note: in a plan, clients and background jobs \
              together are more than the host's CPUs",
    why: "Clients wait for a CPU and not for the engine, and all figures vary more from run to \
          run.",
    remedy: "use fewer clients or background threads, or read the result as a test of a saturated \
             machine",
    source: "[Callaghan 2022-07-20] (the number of busy threads should not exceed the number of \
             cores)",
    ..Rule::of(Checks { variant: Some(crowded), ..Checks::NONE })
};

fn crowded(context: &PlanContext<'_>, variant: &Variant) -> Option<Observation> {
    let cpus = context.host.filter(|_| context.is_before_runs())?.cpus;
    let experiment = context.experiment;
    let steps = experiment.steps.iter().map(|step| step.clients);
    let clients = experiment.clients.iter().copied().chain(steps).max().unwrap_or(1);
    // Without the setting, only the clients are known.
    let jobs = variant.settings.background_jobs.unwrap_or(0);
    (CpuCount::of(clients.saturating_add(jobs)) > cpus).then(|| {
        let (clients_text, cpus_text) = (many(clients, "client"), many(cpus, "CPU"));
        let evidence = match jobs {
            0 if clients == 1 => format!("{clients_text} has {cpus_text}"),
            0 => format!("{clients_text} share {cpus_text}"),
            jobs => {
                let jobs_text = many(jobs, "background thread");
                format!("{clients_text} and {jobs_text} share {cpus_text}")
            }
        };
        let size = f64::from(clients.saturating_add(jobs));
        Observation::new(evidence).severity(Severity::Note).ranked("plan", size)
    })
}

#[cfg(test)]
mod tests {
    use model::record::Finding;

    use super::*;
    use crate::testing::{experiment, in_plan, when};

    #[test]
    fn more_threads_than_cpus_are_a_note_of_the_plan() {
        let mut spec = experiment(&["a", "b"]);
        spec.variants[1].settings.background_jobs = Some(3);
        assert_eq!(in_plan(&RULE, &spec), []);
        spec.variants[1].settings.background_jobs = Some(8);
        let evidence = "b: 1 client and 8 background threads share 4 CPUs";
        assert_eq!(in_plan(&RULE, &spec), [(Severity::Note, evidence.to_owned())]);
        spec.clients = vec![8];
        spec.variants[1].settings.background_jobs = None;
        let evidence = "a: 8 clients share 4 CPUs, likewise in 1 other variant";
        assert_eq!(in_plan(&RULE, &spec), [(Severity::Note, evidence.to_owned())]);
    }

    #[test]
    fn findings_of_the_runner_are_reported() {
        let found = when(&RULE, |step| {
            step.findings.push(Finding {
                code: RULE.code.to_owned(),
                severity: Severity::Warning,
                evidence: "more busy threads than CPUs".to_owned(),
                remedy: "use fewer clients".to_owned(),
            });
        });
        let evidence = "readrandom of b: more busy threads than CPUs (3 runs)";
        assert_eq!(found, [(Severity::Warning, evidence.to_owned())]);
    }
}
