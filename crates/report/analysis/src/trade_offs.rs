//! Reads, writes, space and cache: every variant against every other.

use std::collections::BTreeMap;

use model::{Metric, count, metric};
use stats::{CellVariance, Spread, geometric_mean};

use crate::comparison::{MeanOfRuns, Pair, TradeOff};
use crate::family::adjust_pairs;
use crate::machines::sides::means_of_machines;
use crate::noise::Question;
use crate::samples::{Sample, VariantSamples, numbers, variance};

/// Metrics of whole runs that an engine can trade for each other, in the order of tables.
///
/// Less is better of each.
///
/// Source: reads, updates and memory [Athanassoulis 2016]; the cache [Callaghan 2022-09-28].
pub const TRADE_OFFS: [Metric; 7] = [
    metric::STORAGE_READS_PER_POINT_READ,
    metric::READ_AMPLIFICATION,
    metric::STORAGE_READS_PER_RANGE_ROW,
    metric::BYTES_WRITTEN_PER_BYTE_PUT,
    metric::WRITE_AMPLIFICATION_PROCESS,
    metric::SPACE_AMPLIFICATION,
    metric::CACHE_AMPLIFICATION,
];

/// Fewest runs whose own variance makes the interval of their mean.
///
/// Our choice, as for Welch's test: fewer hardly know it, and the variants' is pooled.
const OWN_VARIANCE_FROM: u32 = 5;

/// Returns every trade-off at every level of clients, pairs adjusted.
pub(crate) fn trade_offs(
    question: &Question<'_>,
    whole_runs: &BTreeMap<u32, VariantSamples<'_>>,
) -> Vec<TradeOff> {
    let levels = whole_runs.iter();
    let mut all: Vec<TradeOff> = levels
        .flat_map(|(clients, samples)| {
            TRADE_OFFS.map(|metric| trade_off(question, *clients, metric, samples))
        })
        .collect();
    adjust_pairs(&mut all, question.experiment.margin);
    all
}

fn trade_off(
    question: &Question<'_>,
    clients: u32,
    metric: Metric,
    samples: &VariantSamples<'_>,
) -> TradeOff {
    let none = Sample::default();
    let of = |name: &str| samples.of_variant.get(name).unwrap_or(&none).values(metric);
    let pooled = samples.variances().get(metric.name).copied();
    let mean = |name: &str| {
        let spread = Spread::of(&numbers(of(name)))?;
        if let Some(means) = means_of_machines(of(name)) {
            let variance = CellVariance::of(&means).filter(CellVariance::has_spread);
            let centre = geometric_mean(&means)?;
            let interval = variance.and_then(|it| it.interval(centre, count(means.len())));
            return Some(MeanOfRuns { spread, interval });
        }
        let is_known = spread.n > 1 && spread.min > 0.0;
        let own = variance(of(name)).filter(|_| spread.n >= OWN_VARIANCE_FROM);
        let variance = own.or(pooled).filter(|_| is_known);
        let interval = variance.and_then(|variance| variance.interval(spread.mean, spread.n));
        Some(MeanOfRuns { spread, interval })
    };
    let names: Vec<&str> =
        question.experiment.variants.iter().map(|variant| variant.name.as_str()).collect();
    let assumed_cov = question.assumed_cov(samples);
    let pair = |(base, variant): (usize, usize)| {
        let values = [base, variant].map(|at| of(names[at]));
        let effect = question.versus(metric.name, values[0], values[1], assumed_cov)?;
        Some(Pair { variant, base, effect })
    };
    let all = (0..names.len()).flat_map(|base| (base + 1..names.len()).map(move |it| (base, it)));
    let pairs = all.filter_map(pair).collect();
    TradeOff { clients, metric, means: names.iter().map(|name| mean(name)).collect(), pairs }
}

#[cfg(test)]
mod tests {
    use model::RunRecord;
    use stats::Verdict;

    use super::*;
    use crate::compare;
    use crate::comparison::Rank;
    use crate::noise::NoiseHistory;
    use crate::testing::{experiment, load, readings, run, step};

    /// Three runs of a variant with about that write amplification.
    fn writing(variant: &str, amplification: f64) -> Vec<RunRecord> {
        noisy(variant, amplification, &[1.0, 1.01, 0.99])
    }

    /// A run for each factor of a write amplification.
    fn noisy(variant: &str, amplification: f64, factors: &[f64]) -> Vec<RunRecord> {
        let put = 10_000.0 * amplification;
        let of = |(repetition, noise): (u32, &f64)| {
            let mut one = run(variant, repetition, 1_000);
            one.steps = vec![load(&[(metric::PROCESS_WRITE_BYTES, put * noise)])];
            one
        };
        (1..).zip(factors).map(of).collect()
    }

    fn ranks(variants: &[(&str, f64)]) -> Vec<Option<Rank>> {
        let runs: Vec<_> = variants
            .iter()
            .flat_map(|(name, amplification)| writing(name, *amplification))
            .collect();
        let names: Vec<&str> = variants.iter().map(|(name, _)| *name).collect();
        let found = compare(&runs, &experiment(&names, 3), names[0], &NoiseHistory::default());
        let written = metric::WRITE_AMPLIFICATION_PROCESS;
        let found = found.unwrap().trade_offs.into_iter().find(|one| one.metric == written);
        let found = found.unwrap();
        assert_eq!(found.pairs.len(), names.len() * (names.len() - 1) / 2);
        (0..names.len()).map(|variant| found.rank(variant)).collect()
    }

    #[test]
    fn best_and_worst_are_those_that_verdicts_decide() {
        let (best, worst) = (Some(Rank::Best), Some(Rank::Worst));
        assert_eq!(ranks(&[("a", 4.0), ("b", 2.0), ("c", 9.0)]), [None, best, worst]);
        assert_eq!(ranks(&[("a", 2.01), ("b", 2.0), ("c", 9.0)]), [best, best, worst], "a tie");
        assert_eq!(ranks(&[("a", 2.01), ("b", 2.0)]), [None, None], "nothing is decided");
        assert_eq!(ranks(&[("alone", 2.0)]), [None]);
    }

    /// Goal: a lower bound is neither best nor worst, whatever it is, and changes no other's rank.
    #[test]
    fn lower_bound_has_no_rank() {
        let of = |name: &str, amplification: f64, maps: f64| {
            let mut runs = writing(name, amplification);
            for step in runs.iter_mut().flat_map(|run| &mut run.steps) {
                let bytes = step.counters[metric::PROCESS_WRITE_BYTES];
                step.counters.set(metric::PROCESS_WRITE_CALL_BYTES, bytes);
                step.gauges_max.set(metric::UNCOUNTED_WRITE_MAPS, maps);
            }
            runs
        };
        let runs =
            [of("a", 2.0, 0.0), of("b", 9.0, 0.0), of("low", 0.1, 1.0), of("high", 99.0, 1.0)];
        let spec = experiment(&["a", "b", "low", "high"], 3);
        let found = compare(&runs.concat(), &spec, "a", &NoiseHistory::default()).unwrap();
        let mut all = found.trade_offs.into_iter();
        let written = all.find(|one| one.metric == metric::BYTES_WRITTEN_PER_BYTE_PUT).unwrap();
        let ranks = [0, 1, 2, 3].map(|variant| written.rank(variant));
        assert_eq!(ranks, [Some(Rank::Best), Some(Rank::Worst), None, None]);
        assert_eq!((written.means[2], written.means[3]), (None, None));
    }

    #[test]
    fn less_is_better_of_every_trade_off() {
        assert!(TRADE_OFFS.iter().all(|metric| metric.better == model::Better::Lower));
    }

    /// Goal: a variant is not best while another may be better that no interval is known of.
    #[test]
    fn lower_mean_without_an_interval_leaves_no_best() {
        let runs: Vec<_> = [writing("a", 4.0), writing("b", 9.0)].concat();
        let rest: Vec<_> = [(1, "lower", 2.0), (1, "higher", 20.0)]
            .into_iter()
            .flat_map(|(runs, name, amplification)| {
                writing(name, amplification).into_iter().take(runs)
            })
            .collect();
        let spec = experiment(&["a", "b", "lower", "higher"], 3);
        let found = compare(&[runs, rest].concat(), &spec, "a", &NoiseHistory::default()).unwrap();
        let mut written = found.trade_offs.into_iter().find(|one| !one.pairs.is_empty()).unwrap();
        for pair in &mut written.pairs {
            if pair.variant >= 2 || pair.base >= 2 {
                pair.effect.interval = None;
            }
        }
        assert_eq!([0, 1, 2, 3].map(|variant| written.rank(variant)), [None; 4]);
        written.means[2] = None;
        assert_eq!(written.rank(0), Some(Rank::Best), "the others are higher");
        written.means[3] = None;
        assert_eq!(written.rank(1), Some(Rank::Worst));
    }

    /// Goal: a mark is never on the inner side of a variant that has none.
    #[test]
    fn variant_beyond_without_a_place_leaves_no_mark() {
        let runs: Vec<_> = [writing("a", 2.0), writing("b", 4.0), writing("c", 9.0)].concat();
        let spec = experiment(&["a", "b", "c"], 3);
        let found = compare(&runs, &spec, "a", &NoiseHistory::default()).unwrap().trade_offs;
        let mut written = found.into_iter().find(|one| !one.pairs.is_empty()).unwrap();
        for pair in &mut written.pairs {
            if pair.variant == 2 || pair.base == 2 {
                pair.effect.verdict = Verdict::Inconclusive;
            }
        }
        // Only a and b are separated, and c, the highest, is not known to be worse than a.
        assert_eq!([0, 1, 2].map(|variant| written.rank(variant)), [Some(Rank::Best), None, None]);
    }

    #[test]
    fn blocked_pairs_decide_nothing() {
        let runs: Vec<_> = [writing("a", 2.0), writing("b", 9.0)].concat();
        let spec = experiment(&["a", "b"], 3);
        let mut found = compare(&runs, &spec, "a", &NoiseHistory::default()).unwrap().trade_offs;
        found.retain(|one| !one.pairs.is_empty());
        let [only] = &mut found[..] else { panic!("one metric is known") };
        assert_eq!(only.rank(0), Some(Rank::Best));
        only.pairs[0].effect.is_blocked = true;
        assert_eq!((only.rank(0), only.rank(1)), (None, None));
    }

    /// Goal: a noisy neighbour widens the interval of few runs, and not that of five.
    #[test]
    fn variance_is_pooled_below_five_runs() {
        let width = |runs: usize| {
            let (quiet, loud) = ([1.0, 1.01, 0.99, 1.01, 0.99], [1.0, 1.3, 0.7, 1.3, 0.7]);
            let all = [noisy("a", 2.0, &quiet[..runs]), noisy("b", 9.0, &loud[..runs])].concat();
            let spec = experiment(&["a", "b"], 3);
            let found = compare(&all, &spec, "a", &NoiseHistory::default()).unwrap().trade_offs;
            let of_a = found.iter().find_map(|one| one.means[0]).unwrap().interval.unwrap();
            of_a.high / of_a.low
        };
        assert!(width(4) > 1.3 && width(5) < 1.05, "{} {}", width(4), width(5));
    }

    #[test]
    fn means_have_intervals_unless_one_run_or_a_zero() {
        let mut runs = writing("a", 2.0);
        runs.extend(writing("b", 4.0).into_iter().take(1));
        let spec = experiment(&["a", "b", "absent"], 3);
        let of = |runs: &[RunRecord]| {
            let found = compare(runs, &spec, "a", &NoiseHistory::default()).unwrap();
            let known = |one: &TradeOff| one.means.iter().any(Option::is_some);
            found.trade_offs.into_iter().find(known).unwrap()
        };
        let means = of(&runs).means;
        let interval = means[0].unwrap().interval.unwrap();
        assert!(interval.low < 1.98 && interval.high > 2.02, "{interval:?}");
        assert_eq!((means[1].unwrap().interval, means[2]), (None, None));
        for (at, run) in runs.iter_mut().enumerate() {
            run.steps[0] = step(0, "readrandom");
            let requests = if at == 0 { 0.0 } else { 5_000.0 };
            run.steps[0].counters = readings(&[(metric::DEVICE_READS, requests)]);
        }
        let found = of(&runs);
        assert_eq!(found.metric, metric::STORAGE_READS_PER_POINT_READ);
        assert_eq!((found.means[0].unwrap().interval, found.pairs.len()), (None, 0));
    }
}
