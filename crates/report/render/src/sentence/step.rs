//! The headline of a step: its variants by verdict.

use analysis::{CellComparison, Comparison, StepComparison};
use model::{Unit, metric};
use stats::{Effect, Interval, Spread, Verdict, Why};

use super::claim::Claim;
use super::phrase::{grouped, list};
use crate::figure::{self, change, declared, digits, interval, percent};
use crate::input::Compared;
use crate::label::{Loading, has_operations, is_sweep, loading, step_heading};
use crate::trust;

/// A change within these ratios is written in percent, others as a multiple.
const PERCENT: std::ops::Range<f64> = 0.5..2.0;
/// An interval that reaches this ratio is written as multiples.
const LIMIT_MAX: f64 = 10.0;
/// Up to this many variants each has its interval.
const WITH_INTERVALS: usize = 3;

/// Returns the headline of every step with a table of its own or settling.
///
/// Open loops, searches and sweeps have theirs next to their tables.
pub fn step_sentences(compared: &Compared<'_>) -> Vec<String> {
    let comparison = compared.comparison;
    let is_plain =
        |step: &&StepComparison| loading(step) == Loading::Closed && !is_sweep(comparison);
    let steps = comparison.steps.iter().filter(is_plain);
    steps.flat_map(|step| claim_sentences(compared, step)).collect()
}

/// Returns a headline for each metric that a step is about; none in a preparatory one.
pub(crate) fn claim_sentences(compared: &Compared<'_>, step: &StepComparison) -> Vec<String> {
    if !compared.comparison.has_headline(step) {
        return Vec::new();
    }
    let heading = step_heading(compared.comparison, step);
    let claims = Claim::all_of(step).into_iter();
    claims.filter_map(|claim| step_sentence(compared, step, &claim, &heading)).collect()
}

/// Returns the headline of one step; `None` when nothing was measured of the base.
pub(crate) fn step_sentence(
    compared: &Compared<'_>,
    step: &StepComparison,
    claim: &Claim,
    heading: &str,
) -> Option<String> {
    let comparison = compared.comparison;
    let Comparison { base, .. } = comparison;
    let Some(of_base) = step.cell(base)?.metric(claim.metric) else {
        let is_named = step.answers.contains(&claim.metric) && has_operations(step);
        return is_named.then(|| format!("{heading}: no {} of {base} was measured.", claim.noun));
    };
    let is_other =
        |cell: &&CellComparison| cell.variant != *base && !compared.is_control(&cell.variant);
    let (mut effects, mut blocked, mut without) = (Vec::new(), Vec::new(), Vec::new());
    for cell in step.cells.iter().filter(is_other) {
        match cell.metric(claim.metric).and_then(|one| one.versus_base.as_ref()) {
            Some(effect) if compared.verdict(effect).is_none() => {
                blocked.push(cell.variant.as_str())
            }
            Some(effect) => effects.push((cell.variant.as_str(), effect)),
            None => without.push(cell.variant.as_str()),
        }
    }
    let mut sentence = match effects[..] {
        [] if !blocked.is_empty() => {
            let codes = trust::blocking(compared, Some(&step.name), true);
            blocked.clear();
            format!("{heading} has no verdict: {codes}.")
        }
        [] => {
            format!("{heading}: {base} {}.", level(claim, &of_base.spread))
        }
        [(name, effect)] => format!("{heading}: {}.", clause(comparison, claim, name, effect)),
        ref several => {
            let style = RatioStyle::of(several.iter().map(|(_, effect)| *effect));
            let amount = |effect| match several.len() <= WITH_INTERVALS {
                true => plain(effect, style),
                false => amount(effect, style),
            };
            let named = several.iter().map(|(name, effect)| {
                (verdict(comparison, claim, effect), format!("{name} ({})", amount(effect)))
            });
            format!("{heading}, {} against {base}: {}.", claim.noun, grouped(named))
        }
    };
    if !blocked.is_empty() {
        let codes = trust::blocking(compared, Some(&step.name), true);
        sentence.push_str(&format!(" No verdict on {}: {codes}.", list(&blocked)));
    }
    if !without.is_empty() {
        sentence.push_str(&format!(" No ratio for {}.", list(&without)));
    }
    Some(sentence)
}

/// Returns what one variant did: `did 106 k operations per second (3 runs: 101..110)`.
fn level(claim: &Claim, spread: &Spread) -> String {
    let Claim { verb, noun, less, .. } = claim;
    let unit = metric::find(claim.metric).map_or(Unit::Count, |metric| metric.unit);
    let mean = figure::figure(unit, spread.mean);
    let level = match noun.strip_prefix("time ") {
        Some(rest) => format!("{verb} {mean} {rest}"),
        // What is counted follows its number.
        None if *less == "fewer" => format!("{verb} {mean} {noun}"),
        None => format!("{verb} {noun} of {mean}"),
    };
    match spread.n {
        1 => level,
        runs => format!("{level} ({runs} runs: {})", figure::range(unit, spread)),
    }
}

/// Returns the headline of each variant of a sweep: its verdicts by number of clients.
pub(crate) fn levels(
    compared: &Compared<'_>,
    steps: &[&StepComparison],
    claim: &Claim,
) -> Vec<String> {
    let comparison = compared.comparison;
    let headline = |name: &String| {
        let known = steps.iter().filter_map(|step| {
            let effect = step.cell(name)?.metric(claim.metric)?.versus_base.as_ref()?;
            Some((step.clients.level, effect))
        });
        let known = known.filter(|(_, effect)| compared.verdict(effect).is_some());
        let known: Vec<(u32, &Effect)> = known.collect();
        known.first()?;
        let (step, Claim { noun, .. }) = (&steps[0].name, claim);
        let by_level =
            grouped(known.into_iter().map(|(clients, effect)| {
                (verdict(comparison, claim, effect), clients.to_string())
            }));
        Some(format!(
            "{step} of {name}, {noun} against {} by clients: {by_level}.",
            comparison.base
        ))
    };
    let names = comparison.variants.iter().map(|variant| &variant.name);
    names.filter(|name| !compared.is_control(name)).filter_map(headline).collect()
}

/// Returns the clause of one variant against the base, without a full stop.
pub(crate) fn clause(
    comparison: &Comparison,
    claim: &Claim,
    name: &str,
    effect: &Effect,
) -> String {
    let Claim { verb, more, less, noun, .. } = claim;
    let base = &comparison.base;
    let style = RatioStyle::of([effect]);
    let range = brackets(effect, style);
    match (effect.verdict, style) {
        (Verdict::Above | Verdict::Below, RatioStyle::Percent) => {
            let size = percent((effect.ratio - 1.0).abs());
            let word = if effect.ratio < 1.0 { less } else { more };
            format!("{name} {verb} {size} {word} {noun} than {base}{range}")
        }
        (Verdict::Above | Verdict::Below, RatioStyle::Multiple) => {
            format!("{name} {verb} {}x the {noun} of {base}{range}", digits(effect.ratio))
        }
        (Verdict::SmallButReal | Verdict::Equivalent | Verdict::Inconclusive, _) => {
            let verb = match (effect.verdict, effect.why) {
                (Verdict::Inconclusive, Some(Why::OneRun | Why::NoSpread)) => "has",
                (Verdict::Inconclusive, Some(Why::ShapeDependent | Why::Family)) => "is",
                _ => "shows",
            };
            let verdict = verdict(comparison, claim, effect);
            format!("{name} {verb} {verdict} in {noun} against {base}: {}", plain(effect, style))
        }
    }
}

/// Returns a verdict in a few words.
fn verdict(comparison: &Comparison, claim: &Claim, effect: &Effect) -> String {
    let margin = declared(comparison.margin);
    let text = match (effect.verdict, effect.why) {
        (Verdict::Above, _) => claim.more,
        (Verdict::Below, _) => claim.less,
        (Verdict::SmallButReal, _) => {
            return format!("a real difference, estimated within {margin},");
        }
        (Verdict::Equivalent, _) => return format!("no difference beyond {margin}"),
        (Verdict::Inconclusive, None | Some(Why::Wide)) => "no detectable difference",
        (Verdict::Inconclusive, Some(Why::ShapeDependent)) => {
            "inconclusive (the result depends on the shape of the noise)"
        }
        (Verdict::Inconclusive, Some(Why::Family)) => {
            "inconclusive (the difference does not stand out among all comparisons)"
        }
        (Verdict::Inconclusive, Some(Why::OneRun)) => "no verdict (one run may be noise)",
        (Verdict::Inconclusive, Some(Why::NoSpread)) => {
            "no verdict (the runs do not differ at all, so the noise is unknown)"
        }
    };
    text.to_owned()
}

/// The way in which one sentence writes all its ratios.
#[derive(Clone, Copy)]
pub(crate) enum RatioStyle {
    /// `+0.6 %`, if no ratio is far from 1.
    Percent,
    /// `0.10x`.
    Multiple,
}

impl RatioStyle {
    /// Returns the style of a sentence with these ratios and their intervals.
    pub(crate) fn of<'a>(effects: impl IntoIterator<Item = &'a Effect>) -> Self {
        let is_near = |effect: &Effect| {
            PERCENT.contains(&effect.ratio) && effect.interval.is_none_or(|of| of.high < LIMIT_MAX)
        };
        if effects.into_iter().all(is_near) { Self::Percent } else { Self::Multiple }
    }
}

/// Returns a ratio with its 95 % interval: `+0.6 % [-1.3 %, +2.5 %]` or `3.50x [3.40, 3.60]`.
pub(crate) fn plain(effect: &Effect, style: RatioStyle) -> String {
    amount(effect, style) + &brackets(effect, style)
}

/// Returns a ratio alone: `+0.6 %` or `3.50x`.
fn amount(effect: &Effect, style: RatioStyle) -> String {
    match style {
        RatioStyle::Percent => change(effect.ratio),
        RatioStyle::Multiple => format!("{}x", figure::ratio(effect.ratio)),
    }
}

/// Returns an interval after a space, in the same style as the effect's ratio.
fn brackets(effect: &Effect, style: RatioStyle) -> String {
    let limits = |of: Interval| match style {
        RatioStyle::Percent => figure::limits(change(of.low), change(of.high)),
        RatioStyle::Multiple => interval(&of),
    };
    effect.interval.map(|of| format!(" {}", limits(of))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use stats::{Verdict, Why};

    use super::super::testing::{Sample, effect, one_run, open};
    use super::*;

    fn text_of(sample: &Sample) -> String {
        sample.with(|compared| step_sentences(compared).join("\n"))
    }

    fn text(others: &[(&str, u32, Option<Effect>)]) -> String {
        text_of(&Sample::of(others))
    }

    #[test]
    fn one_variant_has_its_verdict_and_interval() {
        let why = |why| open(1.031, 1.002, 1.061, why);
        let same = one_run(1.0).map(|effect| Effect { why: Some(Why::NoSpread), ..effect });
        let effects = [
            effect(1.08, 1.052, 1.114, Verdict::Above),
            effect(0.9, 0.88, 0.92, Verdict::Below),
            effect(0.3, 0.29, 0.315, Verdict::Below),
            effect(1.009, 1.004, 1.014, Verdict::SmallButReal),
            effect(1.002, 0.991, 1.013, Verdict::Equivalent),
            open(1.006, 0.987, 1.025, Why::Wide),
            why(Why::ShapeDependent),
            why(Why::Family),
            one_run(1.086),
            same,
            None,
        ];
        insta::assert_snapshot!(effects.map(|effect| text(&[("new", 3, effect)])).join("\n"));
    }

    #[test]
    fn several_variants_are_grouped_by_verdict_without_ranking() {
        let few = [
            ("a", 3, open(1.01, 0.98, 1.04, Why::Wide)),
            ("b", 3, effect(1.05, 1.03, 1.07, Verdict::Above)),
            ("e", 0, None),
        ];
        let many = [
            ("a", 3, effect(3.4, 3.42, 3.57, Verdict::Above)),
            ("b", 3, effect(3.5, 3.3, 3.46, Verdict::Above)),
            ("c", 3, open(1.005, 0.98, 1.02, Why::Wide)),
            ("d", 3, effect(0.3, 0.29, 0.32, Verdict::Below)),
        ];
        insta::assert_snapshot!([text(&few), text(&many), text(&[])].join("\n"));
    }

    #[test]
    fn bogus_comparison_names_the_blocking_rule() {
        let faster = effect(1.08, 1.052, 1.114, Verdict::Above);
        let sample = Sample::of(&[("new", 3, faster), ("newer", 3, faster)]).bogus();
        assert_eq!(text_of(&sample), "readrandom has no verdict: A001 durability mismatch.");
    }

    #[test]
    fn blocked_variant_has_no_verdict_and_the_others_have_theirs() {
        let faster = effect(1.08, 1.052, 1.114, Verdict::Above);
        let mut sample = Sample::of(&[("new", 3, faster), ("newer", 3, faster)]).bogus();
        sample.comparison.steps[0].cells[1].metrics.values_mut().for_each(|one| {
            one.versus_base.as_mut().unwrap().is_blocked = false;
        });
        let text = text_of(&sample);
        assert!(text.starts_with("readrandom: new did 8.0 % more operations"), "{text}");
        assert!(text.ends_with(" No verdict on newer: A001 durability mismatch."), "{text}");
    }

    #[test]
    fn control_is_no_variant() {
        let same = open(1.006, 0.987, 1.025, Why::Wide);
        let faster = effect(1.08, 1.052, 1.114, Verdict::Above);
        let sample = |of_control| {
            Sample::of(&[("new", 3, faster), ("old-again", 3, of_control)]).control("old-again")
        };
        assert!(!text_of(&sample(same)).contains("old-again"));
        let control = |effect| sample(effect).with(super::super::control).unwrap();
        insta::assert_snapshot!([control(same), control(faster)].join("\n"));
    }
}
