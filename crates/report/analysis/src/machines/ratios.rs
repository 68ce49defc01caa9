//! The machine as a random factor: each variant's ratios by machine.

use std::collections::{BTreeMap, BTreeSet};

use model::{Machine, RunRecord, count};
use stats::detectable::cov_of;
use stats::machines::{MachineVariance, outlier};

use super::factor::{Forecast, MachineFactor, MachineRatios, MachineRuns};
use super::sides::OnMachines;
use crate::comparison::StepComparison;
use crate::noise::Question;
use crate::samples::{StepSamples, VariantSamples, block};

/// Times as many machines for which a half-width is predicted.
///
/// Our choice: a number that a user may have, and from two on a much narrower interval.
const MORE_MACHINES: u32 = 2;

/// Returns the machines of the runs that count; `None` below two.
pub(crate) fn machine_factor(
    question: &Question<'_>,
    steps: &[StepComparison],
    samples: &StepSamples<'_>,
    runs: &[RunRecord],
) -> Option<MachineFactor> {
    let counted = || runs.iter().filter(|run| run.is_counted());
    let known: BTreeMap<&str, &Machine> =
        counted().filter_map(|run| run.machine.as_deref()).map(|one| (&*one.name, one)).collect();
    let first = known.values().next().filter(|_| known.len() > 1)?;
    let is_one_class = known.values().all(|one| one.host.is_same_machine(&first.host));
    let class = is_one_class.then(|| first.host.fingerprint.clone());
    let of_machine = |one: &&Machine| {
        let own =
            || counted().filter(|run| run.machine.as_ref().is_some_and(|it| it.name == one.name));
        let blocks: BTreeSet<_> = own().map(block).collect();
        MachineRuns {
            name: one.name.clone(),
            fingerprint: one.host.fingerprint.clone(),
            blocks: count(blocks.len()),
            runs: count(own().count()),
        }
    };
    let machines: Vec<MachineRuns> = known.values().map(of_machine).collect();
    let names: Vec<&str> = known.into_keys().collect();
    let of_step = |(step, samples): (&StepComparison, &VariantSamples<'_>)| {
        let others = step.cells.iter().filter(|cell| cell.variant != question.base);
        let ratios = others.flat_map(|cell| {
            step.own_metrics().filter_map(|metric| {
                cell.metric(metric)?.versus_base?;
                question.ratios((step, samples), &cell.variant, metric, &names)
            })
        });
        ratios.collect::<Vec<MachineRatios>>()
    };
    let ratios = steps.iter().zip(samples.values()).flat_map(of_step).collect();
    Some(MachineFactor { class, machines, ratios })
}

impl Question<'_> {
    /// Returns a variant's ratios by machine; `None` below two machines with both sides.
    fn ratios(
        &self,
        (step, samples): (&StepComparison, &VariantSamples<'_>),
        variant: &str,
        metric: &'static str,
        names: &[&str],
    ) -> Option<MachineRatios> {
        let of = |name: &str| Some(samples.of_variant.get(name)?.values(metric));
        let machines = OnMachines::of(of(self.base)?, of(variant)?);
        let (own, means) = (machines.shared(), machines.means()?);
        let variance = MachineVariance::of(&means)?;
        let ratio = |name: &&str| {
            let at = own.iter().position(|(machine, _)| *machine == Some(*name))?;
            Some(means[at].shift.exp())
        };
        let outlier = outlier(&means, self.experiment.margin).and_then(|at| own[at].0);
        let more = MORE_MACHINES * count(means.len());
        let within = variance.within;
        Some(MachineRatios {
            index: step.index,
            step: step.name.clone(),
            clients: step.clients,
            variant: variant.to_owned(),
            metric,
            ratios: names.iter().map(ratio).collect(),
            between: variance.between(),
            planned: variance.planned(),
            within: (within.df > 0.0).then(|| cov_of(within.variance)),
            outlier: outlier.map(str::to_owned),
            more: Forecast { machines: more, half_width: variance.half_width_on(more) },
        })
    }
}

#[cfg(test)]
mod tests {
    use model::{Host, metric};
    use stats::{Effect, Method, Verdict};

    use super::*;
    use crate::machines::factor::{effective_hosts, machines_of};
    use crate::noise::{NoiseHistory, noise_cells};
    use crate::testing::{DATA, experiment, run};
    use crate::{Comparison, compare};

    const METRIC: &str = metric::THROUGHPUT_OPS_PER_S.name;

    /// A run on a machine of the class `node`.
    fn on(machine: &str, variant: &str, repetition: u32, ops: u64) -> RunRecord {
        let host = Host { fingerprint: "node".to_owned(), ..Host::default() };
        let machine = Some(Box::new(Machine { name: machine.to_owned(), host }));
        RunRecord { machine, ..run(variant, repetition, ops) }
    }

    /// Blocks on machines: the machine, and operations of base and variant.
    fn blocks(all: &[(&str, u64, u64)]) -> Vec<RunRecord> {
        let block = |(repetition, (machine, base, new)): (u32, &(&str, u64, u64))| {
            [on(machine, "base", repetition, *base), on(machine, "new", repetition, *new)]
        };
        (1..).zip(all).flat_map(block).collect()
    }

    /// Three machines of 100, 50 and 200 thousand operations, on which the variant does 10 %, 8 %
    /// and 12 % more, each within 1 %.
    const FLEET: [(&str, u64, u64); 6] = [
        ("n1", 100_000, 110_500),
        ("n1", 100_000, 109_500),
        ("n2", 50_000, 54_100),
        ("n2", 50_000, 53_900),
        ("n3", 200_000, 224_500),
        ("n3", 200_000, 223_500),
    ];

    fn compared(runs: &[RunRecord]) -> Comparison {
        let spec = experiment(&["base", "new"], 6);
        compare(runs, &spec, "base", &NoiseHistory::default()).unwrap()
    }

    fn effect(comparison: &Comparison) -> Option<Effect> {
        comparison.steps[0].cells[1].metrics[METRIC].versus_base
    }

    #[test]
    fn machines_are_a_random_factor() {
        let comparison = compared(&blocks(&FLEET));
        let found = effect(&comparison).unwrap();
        assert_eq!((found.method, found.df), (Method::Machines, Some(2.0)));
        assert!((found.ratio - 1.1).abs() < 2e-4, "{found:?}");
        let interval = found.interval.unwrap();
        // ln 1.08, ln 1.10 and ln 1.12: a deviation of 1.8 %, 4.3 standard errors at two degrees.
        assert!((interval.low - 1.0505).abs() < 2e-3, "{interval:?}");
        let machines = comparison.machines.unwrap();
        assert_eq!(machines.class.as_deref(), Some("node"));
        let counts: Vec<_> =
            machines.machines.iter().map(|one| (one.name.as_str(), one.blocks, one.runs)).collect();
        assert_eq!(counts, [("n1", 2, 4), ("n2", 2, 4), ("n3", 2, 4)]);
        let [ratios] = &machines.ratios[..] else { panic!("{:?}", machines.ratios) };
        let shown: Vec<String> =
            ratios.ratios.iter().map(|one| format!("{:.2}", one.unwrap())).collect();
        assert_eq!((shown.join(" "), ratios.metric), ("1.10 1.08 1.12".to_owned(), METRIC));
        let between = ratios.between.unwrap();
        assert!(between.low < between.cov && between.cov < between.high, "{between:?}");
        assert!((between.cov - 0.018).abs() < 1e-3, "{between:?}");
        assert_eq!((ratios.outlier.as_deref(), ratios.more.machines), (None, 6));
        assert!(ratios.more.half_width < interval.high / found.ratio - 1.0, "{ratios:?}");
    }

    #[test]
    fn two_machines_that_differ_leave_a_question_open() {
        let comparison = compared(&blocks(&[FLEET[0], FLEET[1], FLEET[2], FLEET[3]]));
        let found = effect(&comparison).unwrap();
        assert_eq!((found.verdict, found.df), (Verdict::Inconclusive, Some(1.0)));
        let more = comparison.machines.unwrap().ratios[0].more;
        assert!(more.machines == 4 && more.half_width < 0.05, "{more:?}");
    }

    /// Goal: a fleet of one machine has the comparison of a local experiment, to the last byte.
    #[test]
    fn one_machine_is_compared_as_the_host() {
        let fleet: Vec<_> = FLEET.iter().map(|(_, base, new)| ("n1", *base, *new)).collect();
        let fleet = blocks(&fleet);
        let local: Vec<RunRecord> =
            fleet.iter().map(|run| RunRecord { machine: None, ..run.clone() }).collect();
        let json = |runs: &[RunRecord]| serde_json::to_string(&compared(runs)).unwrap();
        assert_eq!(json(&fleet), json(&local));
        assert_eq!(noise_cells(&fleet, &DATA), noise_cells(&local, &DATA));
    }

    #[test]
    fn machine_with_one_side_shows_no_difference() {
        let mut runs = blocks(&FLEET);
        runs.retain(|run| run.cell.variant == "base" || run.cell.repetition < 5);
        let found = effect(&compared(&runs)).unwrap();
        assert!((found.ratio - (1.08_f64 * 1.1).sqrt()).abs() < 2e-4, "{found:?}");
        runs.retain(|run| run.cell.variant == "base" || run.cell.repetition < 3);
        let found = effect(&compared(&runs)).unwrap();
        assert!(found.method == Method::Pooled && (found.ratio - 1.1).abs() < 1e-3, "{found:?}");
        runs.retain(|run| (run.cell.variant == "base") == (run.cell.repetition > 2));
        assert_eq!(effect(&compared(&runs)), None);
    }

    #[test]
    fn noise_is_that_within_machines() {
        let runs = blocks(&FLEET);
        let cells = noise_cells(&runs, &DATA);
        assert!(cells[0].metrics[METRIC].variance < 1e-4, "{cells:?}");
        assert!((cells[0].metrics[METRIC].df - 3.0).abs() < 1e-12, "{cells:?}");
    }

    #[test]
    fn hosts_are_those_of_the_machines() {
        let own = Host { fingerprint: "submitter".to_owned(), ..Host::default() };
        let names = |runs: &[RunRecord]| -> Vec<String> {
            let hosts = effective_hosts(&own, runs);
            hosts.into_iter().map(|host| host.fingerprint.clone()).collect()
        };
        assert_eq!(names(&[]), ["submitter"]);
        assert_eq!(names(&[run("base", 1, 1)]), ["submitter"]);
        assert_eq!(names(&blocks(&FLEET)), ["node", "node", "node"]);
        assert_eq!(names(&[on("n1", "base", 1, 1), run("base", 2, 1)]), ["submitter", "node"]);
        assert_eq!(machines_of(&blocks(&FLEET)).len(), 3);
    }
}
