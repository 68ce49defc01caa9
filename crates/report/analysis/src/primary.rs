//! The primary metric of a step.

use model::{Experiment, Metric, Placement, metric};

use crate::samples::VariantSamples;

/// Returns the primary metric of a step: the first that the question is about.
///
/// Where the experiment names none: the sustainable rate, goodput or throughput; at a given rate
/// without a limit the p99 response time; without operations the settle time. Where client and
/// server share one CPU, throughput depends on both; the primary metric then is the server's CPU
/// per operation.
///
/// Source: our choice: one metric a step unless more are named, so that its family stays small.
pub(crate) fn primary(
    samples: &VariantSamples<'_>,
    experiment: &Experiment,
    step: &str,
) -> Option<&'static str> {
    if let Some(first) = experiment.answers(step).next() {
        return Some(first.name);
    }
    let candidates: &[Metric] = match (samples.is_rate_given, experiment.placement) {
        (true, _) => &[metric::GOODPUT_OPS_PER_S, metric::RESPONSE_NS_P99],
        (false, Placement::SameCpu) => &[
            metric::SUSTAINABLE_OPS_PER_S,
            metric::SERVER_CPU_US_PER_OP,
            metric::THROUGHPUT_OPS_PER_S,
            metric::SETTLE_S,
        ],
        (false, Placement::Free | Placement::Split) => {
            &[metric::SUSTAINABLE_OPS_PER_S, metric::THROUGHPUT_OPS_PER_S, metric::SETTLE_S]
        }
    };
    let is_known = |metric: &&Metric| {
        samples.of_variant.values().any(|sample| sample.metrics.contains_key(metric.name))
    };
    candidates.iter().find(is_known).map(|metric| metric.name)
}

#[cfg(test)]
mod tests {
    use model::record::SettleRecord;
    use model::{Load, Nanos, OpenLoad, Pace, Rate, RunRecord, StepRecord};
    use stats::Verdict;

    use super::*;
    use crate::budget::{noise, piloted};
    use crate::compare;
    use crate::noise::NoiseHistory;
    use crate::testing::{experiment, readings, run, step};

    const NONE: NoiseHistory = NoiseHistory { experiments: Vec::new() };
    const METRIC: &str = metric::THROUGHPUT_OPS_PER_S.name;

    #[test]
    fn steps_have_their_primary_metric() {
        let mut searched = run("base", 1, 1_000);
        let mut open = step(1, "open");
        open.step.load =
            Load::Open(OpenLoad { rate: Rate::constant(500.0), pace: Pace::default() });
        let mut within = StepRecord { index: 2, within_limit: Some(900), ..open.clone() };
        within.step.name = "limited".to_owned();
        let settled = SettleRecord { took_ns: Nanos::from_secs(3), ..SettleRecord::default() };
        let mut settle = StepRecord { settle: Some(settled), ..step(3, "settle") };
        settle.clients.clear();
        let mut idle = step(4, "idle");
        idle.clients.clear();
        searched.steps.extend([open, within, settle, idle]);
        let comparison = compare(&[searched], &experiment(&["base"], 1), "base", &NONE).unwrap();
        let primary: Vec<_> = comparison.steps.iter().map(|step| step.primary).collect();
        let expected = [
            Some(METRIC),
            Some(metric::RESPONSE_NS_P99.name),
            Some(metric::GOODPUT_OPS_PER_S.name),
            Some(metric::SETTLE_S.name),
            None,
        ];
        assert_eq!(primary, expected);
    }

    #[test]
    fn shared_cpu_makes_server_cpu_primary() {
        let mut runs = [1_000, 1_040, 980].map(|ops| run("base", 1, ops));
        for run in &mut runs {
            run.steps[0].counters =
                readings(&[(metric::SERVER_CPU_USER_US, 9e5), (metric::SERVER_CPU_KERNEL_US, 1e5)]);
        }
        let primary = |placement| {
            let spec = Experiment { placement, ..experiment(&["base"], 3) };
            compare(&runs, &spec, "base", &NONE).unwrap().steps[0].primary
        };
        assert_eq!(primary(Placement::SameCpu), Some(metric::SERVER_CPU_US_PER_OP.name));
        assert_eq!(primary(Placement::Split), Some(METRIC));
    }

    /// Three runs of a variant, of 1,000 operations each and about that many context switches.
    fn switching(variant: &str, per_op: f64) -> impl Iterator<Item = RunRecord> {
        (1..).zip([1_000.0, 1_010.0, 990.0]).map(move |(repetition, switches)| {
            let mut run = run(variant, repetition, 1_000);
            let step = &mut run.steps[0];
            step.counters.set(metric::CONTEXT_SWITCHES_VOLUNTARY, per_op * switches);
            step.counters.set(metric::CONTEXT_SWITCHES_INVOLUNTARY, 0.0);
            step.counters.set(metric::PROCESS_CPU_USER_US, per_op * switches);
            step.counters.set(metric::PROCESS_CPU_KERNEL_US, 0.0);
            run
        })
    }

    /// Goal: metrics the experiment names have verdicts of one family, and throughput is in the
    /// other. Method: equal throughputs; twice the context switches and twice the CPUs in use,
    /// which are better neither way.
    #[test]
    fn named_metrics_are_primary_and_their_verdicts_are_adjusted_together() {
        let names = ["context_switches_per_op", "busy_threads", "server_reads_per_op"];
        let mut spec = experiment(&["base", "twice"], 3);
        spec.answer = names.map(str::to_owned).into();
        let runs: Vec<_> = switching("base", 1.0).chain(switching("twice", 2.0)).collect();
        let comparison = compare(&runs, &spec, "base", &NONE).unwrap();
        let step = &comparison.steps[0];
        assert_eq!((step.primary, &step.answers[..]), (Some(names[0]), &names[..]));
        let effect = |name: &str| step.cells[1].metric(name)?.versus_base;
        for name in &names[..2] {
            let effect = effect(name).unwrap();
            assert_eq!((effect.verdict, effect.ratio.round()), (Verdict::Above, 2.0), "{name}");
            assert!(effect.q.is_some(), "{name}");
        }
        assert_eq!(effect(names[2]), None, "an embedded engine has no server");
        assert_eq!(comparison.families.primary.comparisons, 2);
        assert!(!comparison.has_nothing() && comparison.has_headline(step));
    }

    /// Goal: repetitions follow from the noise of the named metric. Method: throughputs have none.
    #[test]
    fn pilot_is_sized_by_the_first_named_metric() {
        let mut spec = experiment(&["base", "twice"], 3);
        let runs: Vec<_> = switching("base", 1.0).chain(switching("twice", 2.0)).collect();
        assert_eq!(piloted(&spec, &runs), []);
        spec.answer = vec!["context_switches_per_op".to_owned(), "busy_threads".to_owned()];
        let metrics = piloted(&spec, &runs).into_iter().map(|one| one.metric);
        assert!(metrics.eq(["context_switches_per_op"]));
        let without_runs = noise(&spec, &[], &NONE).into_iter().map(|one| one.metric);
        assert!(without_runs.eq(["context_switches_per_op"]));
    }

    #[test]
    fn preparatory_step_keeps_throughput_and_has_no_headline() {
        let mut spec = experiment(&["base"], 1);
        spec.answer = vec!["context_switches_per_op".to_owned()];
        spec.measure = vec!["another".to_owned()];
        let comparison = compare(&[run("base", 1, 10)], &spec, "base", &NONE).unwrap();
        let step = &comparison.steps[0];
        assert_eq!((step.primary, step.answers.len()), (Some(METRIC), 0));
        assert!(!comparison.has_headline(step) && comparison.has_nothing());
    }
}
