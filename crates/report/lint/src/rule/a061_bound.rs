//! A061: bound by CPU where storage is meant, or the reverse.

use analysis::{StepComparison, StorageUse, storage_uses};
use model::units::many;
use model::{CpuCount, Metric, StepRecord, metric, percent};

use super::a006_size_vs_intent::{Intent, intent};
use super::{Checks, Observation, Rule};
use crate::context::ComparisonContext;

pub(crate) static RULE: Rule = Rule {
    code: "A061",
    name: "bound by another resource",
    trigger: "a workload that is meant to be IO-bound (iobuf, iodir, or an experiment whose \
              `answer` is a metric of device reads) uses at least 90 % of its CPUs or clients, and \
              less than half of the rate that its device reaches with as many jobs; or a cached \
              workload (byrx, byos) uses at least 90 % of the rate of its device; or one variant \
              is bound by CPU and another variant is bound by the device. The rule needs the \
              stored profile of the device on this host (assay device)",
    why: "Throughput is limited by another resource than the workload is meant to test. A faster \
          device changes nothing while the CPU is full, and a ratio of variants that are bound by \
          different resources holds on this machine only.",
    remedy: "read the step as bound by the resource that the finding names, or change data size, \
             clients or machine so that the intended resource limits the step",
    source: "[Callaghan 2022-10-26] (CPU is needed for IO, and decides whether a read-only \
             workload saturates storage); [Denning Buzen 1978]; our choice: the limits",
    ..Rule::of(Checks { comparison: Some(comparison), ..Checks::NONE })
};

/// Share of a resource from which it binds, as in explanations.
const BINDS_FROM: f64 = analysis::explain::BINDS_FROM;
/// Share of the device's rate below which it does not bind. Our choice.
const FREE_BELOW: f64 = 0.5;

/// What a variant uses in a step, as shares.
struct Use<'a> {
    variant: &'a str,
    cpu: f64,
    device: f64,
    /// Jobs of the profile's rate, of the largest share.
    jobs: u32,
}

fn comparison(context: &ComparisonContext<'_>) -> Vec<Observation> {
    let [host] = context.hosts else { return Vec::new() };
    if context.experiment.device.is_some() {
        return Vec::new();
    }
    let uses = storage_uses(context.profiles, host, context.runs, context.comparison);
    if uses.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for step in &context.comparison.steps {
        let variants = context.comparison.variants.iter();
        let of_step = variants.filter_map(|of| resources(context, step, &of.name, &uses));
        let of_step: Vec<Use<'_>> = of_step.collect();
        let one = |of: &Use<'_>| Some(against_intent(context, step, of)?.variant(of.variant));
        found.extend(of_step.iter().filter_map(one));
        found.extend(mixed(&of_step));
        let steps = found.iter_mut().filter(|one: &&mut Observation| one.place.steps.is_empty());
        steps.for_each(|one| one.place.steps.push(step.name.clone()));
    }
    found
}

/// Returns the shares that a variant uses in a step; `None` without runs.
fn resources<'a>(
    context: &ComparisonContext<'_>,
    step: &StepComparison,
    variant: &'a str,
    uses: &[StorageUse],
) -> Option<Use<'a>> {
    let is_own = |run: &&model::RunRecord| {
        run.cell.variant == variant && run.cell.clients == step.clients.level
    };
    let runs = context.valid().filter(is_own);
    let steps: Vec<&StepRecord> =
        runs.filter_map(|run| run.steps.iter().find(|one| one.index == step.index)).collect();
    let cpus = context.experiment.placement.cpus(context.hosts.first()?.cpus);
    let shares: Option<Vec<f64>> = steps.iter().map(|of| cpu_share(of, cpus)).collect();
    let cpu = stats::median(&shares?)?;
    let of_device = uses.iter().filter(|of| {
        (of.step_index, of.clients, of.variant.as_str()) == (step.index, step.clients, variant)
    });
    let most = of_device.max_by(|a, b| a.share.total_cmp(&b.share));
    let (device, jobs) = most.map_or((0.0, step.clients.number), |of| (of.share, of.jobs));
    Some(Use { variant, cpu, device, jobs })
}

/// Returns the larger share: CPU of all over the CPUs, or of the clients over their time.
///
/// Source: the utilisation law [Denning Buzen 1978].
fn cpu_share(step: &StepRecord, cpus: CpuCount) -> Option<f64> {
    let us = step.counted_ns().as_micros_f64();
    let sum = |of: &[Metric]| -> f64 {
        of.iter().filter_map(|metric| step.counters.value(*metric)).sum()
    };
    step.counters.value(metric::PROCESS_CPU_USER_US)?;
    let all = sum(&metric::PROCESS_CPU_US) + sum(&metric::SERVER_CPU_US);
    let of_clients =
        sum(&metric::CLIENT_CPU_US) / f64::from(step.step.threads(step.step.clients).max(1));
    Some((all / cpus.or_one()).max(of_clients) / us)
}

/// Returns the observation about a variant that is bound by another resource than intended.
fn against_intent(
    context: &ComparisonContext<'_>,
    step: &StepComparison,
    of: &Use<'_>,
) -> Option<Observation> {
    let is_answer =
        |name: &String| name.starts_with("device_read") || name.contains("storage_read");
    let is_answer_io = context.experiment.answer.iter().any(is_answer)
        && !context.experiment.is_preparatory(&step.name);
    let jobs = many(of.jobs, "job");
    let device = format!("{} of the rate that its device reaches with {jobs}", percent(of.device));
    match intent(context.experiment).or(is_answer_io.then_some(Intent::Storage))? {
        Intent::Storage if of.cpu >= BINDS_FROM && of.device < FREE_BELOW => {
            let evidence = format!(
                "the workload is meant to be IO-bound, but uses {} of CPU and {device}",
                percent(of.cpu)
            );
            Some(Observation::new(evidence).ranked("cpu", of.cpu))
        }
        Intent::Engine | Intent::System if of.device >= BINDS_FROM => {
            let evidence = format!("the workload is meant to be cached, but uses {device}");
            Some(Observation::new(evidence).ranked("device", of.device))
        }
        Intent::Storage | Intent::Engine | Intent::System => None,
    }
}

/// Returns the observation about variants of a step that different resources bind.
fn mixed(of_step: &[Use<'_>]) -> Option<Observation> {
    let by_cpu = of_step.iter().find(|of| of.cpu >= BINDS_FROM && of.device < FREE_BELOW)?;
    let by_device = of_step.iter().find(|of| of.device >= BINDS_FROM && of.cpu < FREE_BELOW)?;
    let evidence = format!(
        "{} is bound by CPU ({}), and {} is bound by the device ({})",
        by_cpu.variant,
        percent(by_cpu.cpu),
        by_device.variant,
        percent(by_device.device)
    );
    Some(Observation::new(evidence).ranked("mixed", 0.0))
}

#[cfg(test)]
mod tests {
    use model::record::Severity;

    use super::*;
    use crate::testing::{experiment, host, profile, runs, set, with_profiles};

    /// Findings where each run of `a` and `b` used these shares of CPUs and of 1000 reads/s.
    fn found(workload: Option<&str>, [a, b]: [(f64, f64); 2]) -> Vec<(Severity, String)> {
        let mut spec = experiment(&["a", "b"]);
        spec.workload = workload.map(str::to_owned);
        let mut runs = runs(&["a", "b"]);
        for run in &mut runs {
            let (cpu, reads) = if run.cell.variant == "a" { a } else { b };
            for step in &mut run.steps {
                let values = [
                    (metric::PROCESS_CPU_USER_US, cpu * 60e6),
                    (metric::CLIENT_CPU_USER_US, cpu * 60e6),
                    (metric::DEVICE_READS, reads * 60_000.0),
                    (metric::DEVICE_READ_BYTES, reads * 60_000.0 * 4096.0),
                ];
                set(&mut step.counters, &values);
            }
        }
        with_profiles(&RULE, &spec, &runs, (&[&host()], &[profile(0.0)]))
    }

    #[test]
    fn io_bound_workload_that_fills_its_cpu_is_reported() {
        let one = found(Some("iobuf"), [(0.95, 0.2), (0.95, 0.2)]);
        let evidence = "readrandom of a: the workload is meant to be IO-bound, but uses 95 % of \
                        CPU and 20 % of the rate that its device reaches with 1 job, likewise in 1 \
                        other variant";
        assert_eq!(one, [(Severity::Warning, evidence.to_owned())]);
        assert_eq!(found(Some("iobuf"), [(0.3, 0.95), (0.3, 0.95)]), []);
        assert_eq!(found(Some("byrx"), [(0.95, 0.2), (0.95, 0.2)]), []);
    }

    #[test]
    fn cached_workload_that_fills_its_device_is_reported() {
        let one = found(Some("byrx"), [(0.3, 0.2), (0.3, 0.95)]);
        assert!(one[0].1.contains("the workload is meant to be cached, but uses 95 %"), "{one:?}");
        assert_eq!(one.len(), 1);
    }

    #[test]
    fn variants_bound_by_different_resources_are_reported() {
        let one = found(None, [(0.95, 0.1), (0.2, 0.97)]);
        assert!(
            one[0].1.contains("a is bound by CPU (95 %), and b is bound by the device (97 %)"),
            "{one:?}"
        );
        assert_eq!(found(None, [(0.95, 0.1), (0.95, 0.1)]), []);
    }
}
