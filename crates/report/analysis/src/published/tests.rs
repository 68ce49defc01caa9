//! Worked cases of the rule, and publications checked against synthetic runs.

use model::{Expected, Load, OpenLoad, Pace, Published, PublishedFinding, Rate, RunRecord, metric};
use proptest::prelude::*;
use stats::{Effect, Interval, Method, Verdict, Why};

use super::reproduction::runs_needed;
use super::*;
use crate::compare;
use crate::noise::NoiseHistory;
use crate::testing::{experiment, run};
use Reproduction::{
    Differs, NoDifference, NotMeasured, Opposite, Reproduces, SameDirection, SizeUndecided,
    Undecided,
};

const MARGIN: f64 = 0.02;
const METRIC: &str = metric::THROUGHPUT_OPS_PER_S.name;

/// An effect with its 95 % and its 90 % interval, decided at [`MARGIN`].
fn effect(ratio: f64, wide: (f64, f64), narrow: (f64, f64)) -> Effect {
    let interval = |(low, high)| Some(Interval { low, high });
    let mut effect = Effect {
        ratio,
        interval: interval(wide),
        interval90: interval(narrow),
        method: Method::Pooled,
        df: Some(8.0),
        p: Some(0.01),
        q: Some(0.01),
        second_estimate: None,
        detectable: 0.03,
        run_cov: 0.01,
        verdict: Verdict::Inconclusive,
        why: None,
        is_blocked: false,
    };
    effect.decide(MARGIN);
    effect
}

/// An effect whose intervals reach `half` and nine tenths of it to each side.
fn near(ratio: f64, half: f64) -> Effect {
    let wide = (ratio / (1.0 + half), ratio * (1.0 + half));
    effect(ratio, wide, (ratio / 0.9_f64.mul_add(half, 1.0), ratio * 0.9_f64.mul_add(half, 1.0)))
}

fn of(expected: Expected, effect: &Effect) -> Reproduction {
    reproduction(expected, effect, MARGIN)
}

#[test]
fn a_published_ratio_reproduces_within_our_interval_widened_by_the_margin() {
    let ratio = |published, ratio, half| of(Expected::Ratio(published), &near(ratio, half));
    assert_eq!(ratio(1.29, 1.30, 0.03), Reproduces);
    // 1.30 * 1.03 * 1.02 = 1.366; 1.30 / 1.03 / 1.02 = 1.237.
    assert_eq!((ratio(1.36, 1.30, 0.03), ratio(1.37, 1.30, 0.03)), (Reproduces, SameDirection));
    assert_eq!((ratio(1.24, 1.30, 0.03), ratio(1.23, 1.30, 0.03)), (Reproduces, SameDirection));
    assert_eq!(ratio(0.41, 0.60, 0.03), SameDirection);
    assert_eq!(ratio(0.41, 1.30, 0.03), Opposite);
    assert_eq!(ratio(1.29, 1.00, 0.01), NoDifference);
    assert_eq!(ratio(1.29, 1.02, 0.20), Undecided);
    // A small difference that was published, and is found.
    assert_eq!(ratio(1.03, 1.015, 0.005), Reproduces);
}

#[test]
fn a_compatible_size_reproduces_only_where_it_is_known_to_half_of_the_published_one() {
    let wide = effect(1.81, (1.12, 2.90), (1.21, 2.70));
    assert_eq!(of(Expected::Ratio(1.10), &wide), SizeUndecided);
    assert_eq!(of(Expected::Higher, &wide), Reproduces, "the direction is known");
    // Half of 1.21 is 1.1 on logarithms: between 1.21 / 1.1 and 1.21 * 1.1.
    let narrow = |low, high| of(Expected::Ratio(1.21), &effect(1.21, (1.09, 1.34), (low, high)));
    assert_eq!(narrow(1.101, 1.330), Reproduces);
    assert_eq!(narrow(1.099, 1.330), SizeUndecided);
    assert_eq!(narrow(1.101, 1.332), SizeUndecided);
    // Of a small difference the margin: between 1.03 / 1.02 and 1.03 * 1.02.
    let small = |low, high| of(Expected::Ratio(1.03), &effect(1.03, (1.001, 1.06), (low, high)));
    assert_eq!((small(1.010, 1.050), small(1.009, 1.050)), (Reproduces, SizeUndecided));
}

#[test]
fn undecided_size_states_how_many_runs_would_decide_it() {
    let runs = |expected| runs_needed(expected, &near(1.81, 0.5), MARGIN, 3);
    // t at 8 degrees: 2.306; half of ln 1.1 by 2/3: 0.03177; a CoV of 1 %.
    assert_eq!(runs(Expected::Ratio(1.1)), None, "the noise of three runs is small enough");
    assert_eq!(runs(Expected::Higher), None);
    // 2 (2.306 * 0.01 / (2/3 ln 1.02))^2 = 6.1.
    assert_eq!((runs(Expected::Same), runs(Expected::Ratio(1.02))), (Some(7), Some(7)));
}

#[test]
fn where_no_size_was_published_the_direction_decides() {
    let higher = |ratio, half| of(Expected::Higher, &near(ratio, half));
    assert_eq!((higher(1.05, 0.02), higher(9.0, 0.5)), (Reproduces, Reproduces));
    assert_eq!((higher(0.95, 0.02), higher(1.05, 0.2)), (Opposite, Undecided));
    assert_eq!(higher(1.01, 0.005), NoDifference, "real, and within the margin");
    assert_eq!(higher(1.018, 0.012), Reproduces, "real, and may matter");
    assert_eq!(of(Expected::Lower, &near(0.95, 0.02)), Reproduces);
}

#[test]
fn no_difference_reproduces_only_where_none_that_matters_is_left() {
    let same = |ratio, half| of(Expected::Same, &near(ratio, half));
    assert_eq!((same(1.001, 0.01), same(1.01, 0.005)), (Reproduces, Reproduces));
    assert_eq!((same(1.05, 0.01), same(0.95, 0.01)), (Differs, Differs));
    assert_eq!((same(1.0, 0.1), same(1.015, 0.012)), (Undecided, Undecided));
    // A published ratio within the margin is no difference.
    assert_eq!(of(Expected::Ratio(1.011), &near(0.999, 0.01)), Reproduces);
    assert_eq!(of(Expected::Ratio(1.011), &near(1.05, 0.01)), Differs);
}

#[test]
fn absence_of_a_regression_is_decided_on_one_side() {
    let rise = |ratio, half| of(Expected::NotHigher, &near(ratio, half));
    assert_eq!((rise(0.5, 0.3), rise(1.0, 0.01)), (Reproduces, Reproduces));
    assert_eq!((rise(1.05, 0.01), rise(1.0, 0.1)), (Differs, Undecided));
    let fall = |ratio, half| of(Expected::NotLower, &near(ratio, half));
    assert_eq!(
        (fall(2.0, 0.3), fall(0.95, 0.01), fall(1.0, 0.1)),
        (Reproduces, Differs, Undecided)
    );
}

#[test]
fn missing_interval_is_undecided() {
    let mut none = near(1.3, 0.01);
    none.interval = None;
    assert_eq!(of(Expected::Ratio(1.3), &none), Undecided);
}

/// Returns the effect with base and variant swapped.
fn mirrored(one: &Effect) -> Effect {
    let turn =
        |interval: Interval| Interval { low: interval.high.recip(), high: interval.low.recip() };
    let mut other = Effect {
        ratio: one.ratio.recip(),
        interval: one.interval.map(turn),
        interval90: one.interval90.map(turn),
        ..*one
    };
    other.decide(MARGIN);
    other
}

fn inverse(expected: Expected) -> Expected {
    match expected {
        Expected::Ratio(ratio) => Expected::Ratio(ratio.recip()),
        Expected::Higher => Expected::Lower,
        Expected::Lower => Expected::Higher,
        Expected::Same => Expected::Same,
        Expected::NotHigher => Expected::NotLower,
        Expected::NotLower => Expected::NotHigher,
    }
}

fn any_expected() -> impl Strategy<Value = Expected> {
    prop_oneof![
        (-1.0..1.0_f64).prop_map(|log| Expected::Ratio(log.exp())),
        (-0.05..0.05_f64).prop_map(|log| Expected::Ratio(log.exp())),
        Just(Expected::Higher),
        Just(Expected::Lower),
        Just(Expected::Same),
        Just(Expected::NotHigher),
        Just(Expected::NotLower),
    ]
}

proptest! {
    #[test]
    fn swapping_the_variants_changes_nothing(
        expected in any_expected(), log in -0.5..0.5_f64, half in 1e-4..0.2_f64,
    ) {
        let one = near(log.exp(), half);
        prop_assert_eq!(of(expected, &one), of(inverse(expected), &mirrored(&one)));
    }

    #[test]
    fn exact_ratio_reproduces_or_its_size_is_undecided(
        log in -0.5..0.5_f64, half in 1e-4..0.2_f64,
    ) {
        let found = of(Expected::Ratio(log.exp()), &near(log.exp(), half));
        let is_allowed = matches!(found, Reproduces | SizeUndecided | Undecided | NoDifference);
        prop_assert!(is_allowed, "{found:?}");
        // No difference then lies across the margin's very edge, or within.
        prop_assert!(found != NoDifference || log.abs() < 1.5 * MARGIN, "{log}");
    }
}

fn finding(variant: &str, base: &str, expected: Expected) -> PublishedFinding {
    PublishedFinding {
        claim: format!("{variant} against {base}"),
        variant: variant.to_owned(),
        base: base.to_owned(),
        step: "readrandom".to_owned(),
        distribution: None,
        occurrence: None,
        clients: None,
        base_clients: None,
        metric: METRIC.to_owned(),
        value: None,
        base_value: None,
        expected,
        sizes: Vec::new(),
        reasons: Vec::new(),
    }
}

fn published(findings: Vec<PublishedFinding>) -> Vec<Published> {
    let text = |text: &str| text.to_owned();
    let (source, setup, scaled) = (text("An author, 2022"), text("a NUC"), text("fewer rows"));
    vec![Published { source, setup, scaled, findings }]
}

fn runs(variant: &str, ops: &[u64]) -> Vec<RunRecord> {
    (1..).zip(ops).map(|(repetition, ops)| run(variant, repetition, *ops)).collect()
}

/// Three variants: `slow` does half of what `base` does, `fast` twice as much.
fn three() -> Vec<RunRecord> {
    let mut all = runs("base", &[1_000, 1_010, 990]);
    all.extend(runs("slow", &[505, 500, 495]));
    all.extend(runs("fast", &[1_980, 2_020, 2_000]));
    all
}

fn held(spec: &model::Experiment, runs: &[RunRecord]) -> Vec<HeldFinding> {
    let comparison = compare(runs, spec, "base", &NoiseHistory::default()).unwrap();
    comparison.published.into_iter().flat_map(|one| one.findings).collect()
}

#[test]
fn findings_compare_any_two_variants() {
    let mut spec = experiment(&["base", "slow", "fast"], 3);
    spec.published = published(vec![
        finding("fast", "base", Expected::Ratio(2.0)),
        finding("fast", "slow", Expected::Ratio(4.0)),
        finding("base", "fast", Expected::Higher),
        finding("slow", "base", Expected::Ratio(0.7)),
        finding("slow", "base", Expected::Same),
    ]);
    let found = held(&spec, &three());
    let outcomes: Vec<_> = found.iter().map(|one| one.reproduction).collect();
    assert_eq!(outcomes, [Reproduces, Reproduces, Opposite, SameDirection, Differs]);
    let here = found[1].here.as_ref().unwrap();
    assert!((here.effect.ratio - 4.0).abs() < 0.01, "{here:?}");
    assert_eq!((here.base.n, here.variant.n, here.clients.level), (3, 3, 1));
    assert_eq!((here.base.median, here.variant.median), (250.0, 1_000.0));
    // Each is adjusted for the five of them, and no more.
    let effect = |index: usize| found[index].here.as_ref().unwrap().effect;
    let (p, q) = (effect(0).p.unwrap(), effect(0).q.unwrap());
    assert!(q >= p && q <= 5.0 * p, "{p} {q}");
}

#[test]
fn finding_compares_two_levels_of_clients_of_one_variant() {
    let mut spec = experiment(&["base"], 3);
    spec.clients = vec![1, 8];
    let mut of_levels = finding("base", "base", Expected::Ratio(0.5));
    (of_levels.clients, of_levels.base_clients) = (Some(8), Some(1));
    spec.published = published(vec![of_levels]);
    let mut all = runs("base", &[1_000, 1_010, 990]);
    all.extend(runs("base", &[505, 500, 495]).into_iter().map(|mut run| {
        run.cell.clients = 8;
        run
    }));
    let found = held(&spec, &all);
    let here = found[0].here.as_ref().unwrap();
    assert_eq!((here.base.median, here.variant.median, here.clients.level), (500.0, 250.0, 8));
    assert_eq!(found[0].reproduction, Reproduces);
}

#[test]
fn an_effect_is_that_of_the_comparison() {
    let mut spec = experiment(&["base", "slow", "fast"], 3);
    spec.published = published(vec![finding("fast", "base", Expected::Ratio(2.0))]);
    let comparison = compare(&three(), &spec, "base", &NoiseHistory::default()).unwrap();
    let here = comparison.published[0].findings[0].here.as_ref().unwrap().effect;
    let outcomes = comparison.steps[0].cells[2].metrics[METRIC].versus_base.unwrap();
    assert_eq!(
        (here.ratio, here.interval, here.p),
        (outcomes.ratio, outcomes.interval, outcomes.p)
    );
}

#[test]
fn size_in_a_wide_interval_is_undecided_and_counts_the_runs_that_would_decide() {
    let mut spec = experiment(&["base", "fast"], 3);
    spec.published = published(vec![finding("fast", "base", Expected::Ratio(1.3))]);
    let mut all = runs("base", &[1_000, 1_100, 900]);
    all.extend(runs("fast", &[1_500, 1_350, 1_650]));
    let found = held(&spec, &all);
    let here = found[0].here.as_ref().unwrap();
    // [1.19, 1.88] holds 1.3, and is not within half of it, 1.14 to 1.48.
    assert!(here.effect.interval.unwrap().low > 1.0, "{here:?}");
    assert_eq!(found[0].reproduction, SizeUndecided);
    assert!(here.runs_needed.unwrap() > 3, "{here:?}");
}

/// Goal: one run each is undecided, even where history gives an interval.
#[test]
fn one_run_each_is_undecided() {
    let mut spec = experiment(&["base", "fast"], 1);
    spec.published = published(vec![finding("fast", "base", Expected::Ratio(2.0))]);
    let one = [run("base", 1, 1_000), run("fast", 1, 2_000)];
    let found = held(&spec, &one);
    assert_eq!(found[0].reproduction, Undecided);
    let here = found[0].here.as_ref().unwrap();
    assert_eq!((here.effect.interval, here.effect.why), (None, Some(Why::OneRun)));
    // Ten earlier experiments give the prior.
    let earlier = |spread: u64| {
        let ops = [1_000, 1_000 + spread, 1_000 - spread];
        crate::noise_cells(&[runs("base", &ops), runs("fast", &ops)].concat(), &spec.data)
    };
    let experiments = (5..15).map(earlier).collect();
    let comparison = compare(&one, &spec, "base", &NoiseHistory { experiments }).unwrap();
    let found = &comparison.published[0].findings[0];
    assert!(found.here.as_ref().unwrap().effect.interval.is_some(), "{found:?}");
    assert_eq!(found.reproduction, Undecided);
}

#[test]
fn untestable_findings_have_a_reason() {
    let mut spec = experiment(&["base", "slow", "fast"], 3);
    let good = finding("fast", "base", Expected::Higher);
    let with = |change: &dyn Fn(&mut PublishedFinding)| {
        let mut one = good.clone();
        change(&mut one);
        one
    };
    spec.published = published(vec![
        with(&|one| one.variant = "gone".to_owned()),
        with(&|one| one.step = "fwdrange".to_owned()),
        with(&|one| one.distribution = Some("zipf".to_owned())),
        with(&|one| one.clients = Some(7)),
        with(&|one| one.metric = metric::WRITE_AMPLIFICATION.name.to_owned()),
        good.clone(),
    ]);
    let mut all = three();
    all.retain(|run| run.cell.variant != "fast");
    let why = |found: &[HeldFinding]| -> Vec<Unmeasured> {
        assert!(found.iter().all(|one| one.reproduction == NotMeasured), "{found:?}");
        found.iter().map(|one| one.here.clone().unwrap_err()).collect()
    };
    let name = |name: &str| name.to_owned();
    let expected = [
        Unmeasured::NoVariant(name("gone")),
        Unmeasured::NoStep,
        Unmeasured::NoStep,
        Unmeasured::NoLevel(Some(7)),
        Unmeasured::NoMetric(name("base")),
        Unmeasured::NoRun(name("fast")),
    ];
    assert_eq!(why(&held(&spec, &all)), expected);
    let findings = &spec.published[0].findings;
    let before: Vec<_> = findings.iter().map(|one| untried(&spec, one)).collect();
    assert_eq!(before[..4], expected[..4].iter().cloned().map(Some).collect::<Vec<_>>());
    assert_eq!(before[4..], [None, None]);
    spec.clients = vec![1, 2];
    assert_eq!(untried(&spec, &good), Some(Unmeasured::NoLevel(None)), "which of them?");
    let far = PublishedFinding { clients: Some(1), base_clients: Some(9), ..good.clone() };
    assert_eq!(untried(&spec, &far), Some(Unmeasured::NoLevel(Some(9))));
    spec.clients = vec![1];
    spec.steps[0].load = Load::Open(OpenLoad { rate: Rate::constant(50.0), pace: Pace::default() });
    assert_eq!(untried(&spec, &good), Some(Unmeasured::IsGiven));
}

#[test]
fn zero_values_have_no_ratio() {
    let mut spec = experiment(&["base", "fast"], 2);
    spec.published = published(vec![finding("fast", "base", Expected::Higher)]);
    let mut all = runs("base", &[0, 1_000]);
    all.extend(runs("fast", &[1_000, 1_000]));
    let found = held(&spec, &all);
    assert_eq!(found[0].reproduction, NotMeasured);
    let Err(Unmeasured::NoRatio { base, variant }) = &found[0].here else { panic!("{found:?}") };
    assert_eq!((base.min, base.max, variant.median), (0.0, 500.0, 500.0));
}

proptest! {
    /// Goal: the outcome does not depend on which variant is the base.
    #[test]
    fn mirrored_finding_has_the_same_outcome(
        base in prop::collection::vec(900..1_100_u64, 3),
        variant in prop::collection::vec(900..1_100_u64, 3),
        expected in any_expected(),
    ) {
        let mut spec = experiment(&["base", "other"], 3);
        let mut all = runs("base", &base);
        all.extend(runs("other", &variant));
        spec.published = published(vec![finding("other", "base", expected)]);
        let one = held(&spec, &all);
        spec.published = published(vec![finding("base", "other", inverse(expected))]);
        prop_assert_eq!(one[0].reproduction, held(&spec, &all)[0].reproduction);
    }
}
