//! The sentences of one step: of one variant, of several, of none.

use analysis::{CellComparison, Measured, StepComparison};
use model::metric;

use super::claim::Claim;
use super::phrase::list;
use super::several::several;
use super::single::{Single, amount_alone};
use crate::figure;
use crate::input::Compared;
use crate::label::{Loading, SERVER_CPU, is_sweep, loading, step_heading};
use crate::trust;

/// Returns the sentences about every step with a table of its own or settling.
///
/// Open loops, searches and sweeps have theirs next to their tables.
pub(crate) fn step_sentences(compared: &Compared<'_>) -> Vec<String> {
    let comparison = compared.comparison;
    let is_plain =
        |step: &&StepComparison| loading(step) == Loading::Closed && !is_sweep(comparison);
    let steps = comparison.steps.iter().filter(is_plain);
    let of_step = |step: &StepComparison| {
        let claims = Claim::of(step);
        claims.iter().filter_map(|claim| step_sentence(compared, step, claim)).collect::<Vec<_>>()
    };
    steps.flat_map(of_step).collect()
}

/// Returns the sentences about one metric of a step; `None` when nothing was measured of the base.
pub(crate) fn step_sentence(
    compared: &Compared<'_>,
    step: &StepComparison,
    claim: &Claim,
) -> Option<String> {
    let comparison = compared.comparison;
    let heading = step_heading(comparison, step);
    let of_base = step.cells.iter().find(|cell| cell.variant == comparison.base)?;
    let base = of_base.metric(claim.metric)?;
    let is_other = |cell: &&CellComparison| {
        cell.variant != comparison.base && !compared.is_control(&cell.variant)
    };
    let others = || step.cells.iter().filter(is_other);
    let singles: Vec<Single<'_>> =
        others().filter_map(|cell| single(compared, (step, cell), claim)).collect();
    let mut sentences = match &singles[..] {
        [] => vec![format!("{heading}: {}.", alone(claim, &comparison.base, base))],
        _ if compared.verdict(singles[0].effect).is_none() => {
            vec![format!("{heading}: {}.", without_verdict(compared, &singles))]
        }
        [only] => vec![format!("{heading}: {}.", only.clause())],
        many => vec![several(&heading, many)],
    };
    let why = |cell: &CellComparison| no_ratio(of_base, cell);
    sentences.extend(others().filter_map(|cell| without_ratio(cell, claim, &why(cell))));
    sentences.extend(unknown(others(), claim));
    Some(sentences.join(" "))
}

/// Returns a variant against the base; `None` where there is no quotient.
pub(crate) fn single<'a>(
    compared: &Compared<'a>,
    (step, cell): (&'a StepComparison, &'a CellComparison),
    claim: &'a Claim,
) -> Option<Single<'a>> {
    let comparison = compared.comparison;
    let base = step.cells.iter().find(|cell| cell.variant == comparison.base)?;
    let (measured, of_base) = (cell.metric(claim.metric)?, base.metric(claim.metric)?);
    let families = &comparison.families;
    let is_primary = step.primary == Some(claim.metric);
    let family = if is_primary { &families.primary } else { &families.secondary };
    Some(Single {
        claim,
        name: &cell.variant,
        base: &comparison.base,
        effect: measured.versus_base.as_ref()?,
        runs: [of_base.spread.n, measured.spread.n],
        margin: comparison.margin,
        family: family.comparisons,
    })
}

/// Returns the figure of one variant alone.
fn alone(claim: &Claim, name: &str, measured: &Measured) -> String {
    let Claim { verb, noun, metric, .. } = claim;
    // "took 2 s to settle", and not "2 s time to settle".
    let noun = match noun.strip_prefix("time ") {
        Some(rest) => rest.to_owned(),
        None if *metric == SERVER_CPU => format!("of {noun}"),
        None => (*noun).to_owned(),
    };
    let spread = &measured.spread;
    let unit = metric::find(metric).map_or(model::Unit::Count, |metric| metric.unit);
    let median = figure::figure(unit, spread.median);
    if spread.n < 2 {
        return format!("{name} {verb} {median} {noun} (one run)");
    }
    let range = figure::range(unit, spread);
    format!("{name} {verb} {median} {noun} (median of {} runs, {range})", spread.n)
}

/// Returns the ratios where no verdict may be drawn, and the blocking rules.
fn without_verdict(compared: &Compared<'_>, singles: &[Single<'_>]) -> String {
    let rules = trust::blocking(compared, true);
    let base = &compared.comparison.base;
    match singles {
        [only] => format!(
            "{} against {base} {} in these runs, and no verdict: {rules}",
            only.name,
            amount_alone(only.effect)
        ),
        _ => format!("ratios to {base}, and no verdict: {rules}"),
    }
}

/// Returns the figure of a variant that has one and no quotient with the base.
fn without_ratio(cell: &CellComparison, claim: &Claim, why: &str) -> Option<String> {
    let measured = cell.metric(claim.metric).filter(|one| one.versus_base.is_none())?;
    Some(format!("{}: there is no ratio{why}.", alone(claim, &cell.variant, measured)))
}

/// Returns why there is no quotient: background writers that missed their rate, or one is 0.
fn no_ratio(base: &CellComparison, cell: &CellComparison) -> String {
    let missed = [cell, base].into_iter().find(|one| one.has_missed_rate());
    missed.map_or_else(String::new, |one| {
        format!(", the background writers of {} missed their rate", one.variant)
    })
}

/// Returns which variants have no figure.
fn unknown<'a>(cells: impl Iterator<Item = &'a CellComparison>, claim: &Claim) -> Option<String> {
    let without = cells.filter(|cell| cell.metric(claim.metric).is_none());
    let names: Vec<&str> = without.map(|cell| cell.variant.as_str()).collect();
    (!names.is_empty()).then(|| claim.missing.replace("{}", &list(&names)))
}

#[cfg(test)]
mod tests {
    use stats::{Method, Verdict, Why};

    use super::super::testing::{Sample, effect, one_run, open};
    use super::*;
    use crate::document::fill;

    fn text_of(sample: &Sample) -> String {
        sample.with(|compared| fill(&step_sentences(compared).join("\n"), 76))
    }

    fn text(others: &[(&str, u32, Option<stats::Effect>)]) -> String {
        text_of(&Sample::of(others))
    }

    #[test]
    fn difference_has_its_interval() {
        let faster = effect(1.08, 1.052, 1.114, Verdict::Above);
        insta::assert_snapshot!(text(&[("new", 3, faster)]), @r"
        readrandom: new did 8.0 % more operations per second than old [+5.2 %,
        +11 %].
        ");
        let slower = effect(0.3, 0.29, 0.315, Verdict::Below);
        insta::assert_snapshot!(text(&[("new", 3, slower)]), @r"
        readrandom: new did 0.30 times the operations per second of old [0.29,
        0.32].
        ");
        let history = effect(0.9, 0.88, 0.92, Verdict::Below)
            .map(|effect| stats::Effect { method: Method::History, ..effect });
        insta::assert_snapshot!(text(&[("new", 1, history)]), @"
        readrandom: new did 10 % fewer operations per second than old [-12 %,
        -8.0 %] (one run each, tested with the noise of other runs).
        ");
    }

    #[test]
    fn small_difference_is_real_and_small() {
        let small = effect(1.009, 1.004, 1.014, Verdict::SmallButReal);
        insta::assert_snapshot!(text(&[("new", 3, small)]), @r"
        readrandom: new did 0.9 % more operations per second than old [+0.4 %,
        +1.4 %]: a real difference, smaller than the 2 % that matter.
        ");
        let maybe_more = effect(1.018, 1.004, 1.032, Verdict::SmallButReal);
        insta::assert_snapshot!(text(&[("new", 3, maybe_more)]), @r"
        readrandom: new did 1.8 % more operations per second than old [+0.4 %,
        +3.2 %]: a real difference, by its estimate smaller than the 2 % that
        matter.
        ");
    }

    #[test]
    fn equivalence_is_claimed_only_within_the_margin() {
        let equal = effect(1.002, 0.991, 1.013, Verdict::Equivalent);
        insta::assert_snapshot!(text(&[("new", 3, equal)]), @r"
        readrandom: no difference in operations per second beyond 2 %: new against
        old +0.2 % [-0.7 %, +1.1 %] at 90 %.
        ");
    }

    #[test]
    fn inconclusive_verdict_states_its_reason() {
        let why = |why| text(&[("new", 3, open(1.031, 1.002, 1.061, why))]);
        insta::assert_snapshot!(text(&[("new", 3, open(1.006, 0.987, 1.025, Why::Wide))]), @"
        readrandom: no detectable difference in operations per second: new against
        old +0.6 % [-1.3 %, +2.5 %].
        ");
        insta::assert_snapshot!(why(Why::ShapeDependent), @"
        readrandom: inconclusive in operations per second: new against old +3.1 %
        [+0.2 %, +6.1 %] by means, but +2.0 % [-0.5 %, +5.9 %] by ranks, so it
        depends on the shape of the noise.
        ");
        insta::assert_snapshot!(why(Why::Family), @"
        readrandom: inconclusive in operations per second: new against old +3.1 %
        [+0.2 %, +6.1 %], which does not stand out among 12 comparisons.
        ");
        insta::assert_snapshot!(text(&[("new", 1, one_run(1.086))]), @"
        readrandom: 3 runs of the base and 1 of new: new did 8.6 % more operations
        per second than old, which may be noise.
        ");
        let same = one_run(1.0).map(|effect| stats::Effect { why: Some(Why::NoSpread), ..effect });
        insta::assert_snapshot!(text(&[("new", 3, same)]), @"
        readrandom: no verdict on operations per second: new against old +0.0 %, but
        the runs of each do not differ at all, so the noise is not known.
        ");
    }

    #[test]
    fn extremes_of_several_variants_are_named_with_their_ties() {
        let others = [
            ("a", 3, effect(3.5, 3.42, 3.57, Verdict::Above)),
            ("b", 3, effect(3.4, 3.3, 3.46, Verdict::Above)),
            ("c", 3, open(1.005, 0.98, 1.02, Why::Wide)),
            ("d", 3, effect(0.3, 0.29, 0.32, Verdict::Below)),
            ("e", 0, None),
            ("g", 3, effect(1.1, 1.08, 1.12, Verdict::Above)),
        ];
        insta::assert_snapshot!(text(&others), @"
        readrandom, operations per second against old: a (3.50 times [3.42, 3.57])
        and b (3.40 times [3.30, 3.46]) did the most, with intervals that overlap; d
        (0.30 times [0.29, 0.32]) the fewest. g did more. No detectable difference
        for c. No run of e finished it.
        ");
        // One variant without an interval leaves no extremes.
        let with_unknown = [others[0], others[3], ("f", 1, one_run(1.2))];
        insta::assert_snapshot!(text(&with_unknown), @"
        readrandom, operations per second against old: a (3.50 times [3.42, 3.57])
        did more. d (0.30 times [0.29, 0.32]) did fewer. Too few runs for a verdict
        on f (+20 %).
        ");
        // Intervals that hang together from the first to the last order nothing.
        let chain = [
            ("a", 3, open(1.01, 0.98, 1.04, Why::Wide)),
            ("b", 3, effect(1.05, 1.03, 1.07, Verdict::Above)),
        ];
        insta::assert_snapshot!(text(&chain), @"
        readrandom, operations per second against old: b (+5.0 % [+3.0 %, +7.0 %])
        did more. No detectable difference for a (+1.0 % [-2.0 %, +4.0 %]).
        ");
    }

    #[test]
    fn variant_without_ratio_has_its_figure() {
        let faster = effect(1.08, 1.052, 1.114, Verdict::Above);
        insta::assert_snapshot!(text(&[("new", 3, faster), ("odd", 3, None)]), @r"
        readrandom: new did 8.0 % more operations per second than old [+5.2 %,
        +11 %]. odd did 1.00 k operations per second (median of 3 runs, 0.99..1.01):
        there is no ratio.
        ");
        insta::assert_snapshot!(text(&[("odd", 3, None)]), @r"
        readrandom: old did 1.00 k operations per second (median of 3 runs,
        0.99..1.01). odd did 1.00 k operations per second (median of 3 runs,
        0.99..1.01): there is no ratio.
        ");
    }

    #[test]
    fn best_base_is_named() {
        let others = [
            ("a", 3, effect(0.5, 0.45, 0.53, Verdict::Below)),
            ("b", 3, effect(0.3, 0.29, 0.32, Verdict::Below)),
        ];
        insta::assert_snapshot!(text(&others), @r"
        readrandom, operations per second against old: the base, old, did the most;
        b (0.30 times [0.29, 0.32]) the fewest. a (-50 % [-55 %, -47 %]) did fewer.
        ");
        insta::assert_snapshot!(text(&[]), @r"
        readrandom: old did 1.00 k operations per second (median of 3 runs,
        0.99..1.01).
        ");
    }

    #[test]
    fn bogus_comparison_names_the_blocking_rule() {
        let faster = effect(1.08, 1.052, 1.114, Verdict::Above);
        insta::assert_snapshot!(text_of(&Sample::of(&[("new", 3, faster)]).bogus()), @r"
        readrandom: new against old +8.0 % in these runs, and no verdict: A001
        durability mismatch.
        ");
        let two = Sample::of(&[("new", 3, faster), ("newer", 3, faster)]).bogus();
        insta::assert_snapshot!(text_of(&two), @r"
        readrandom: ratios to old, and no verdict: A001 durability mismatch.
        ");
    }

    #[test]
    fn control_is_no_variant() {
        let same = open(1.006, 0.987, 1.025, Why::Wide);
        let faster = effect(1.08, 1.052, 1.114, Verdict::Above);
        let sample = |of_control| {
            Sample::of(&[("new", 3, faster), ("old-again", 3, of_control)]).control("old-again")
        };
        assert!(!text_of(&sample(same)).contains("old-again"));
        let control = |sample: &Sample| sample.with(super::super::control).unwrap();
        insta::assert_snapshot!(control(&sample(same)), @"Control: old-again is a copy of old; no difference between the two in 1 step (detectable from 2.7 % on).");
        insta::assert_snapshot!(control(&sample(faster)), @"Control: old-again is a copy of old, and yet a difference was found in readrandom (+8.0 % [+5.2 %, +11 %]): one in 20 such tests is wrong by design, and differences of this size are unreliable here.");
    }
}
