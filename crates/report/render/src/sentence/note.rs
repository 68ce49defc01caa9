//! Notes on a whole comparison: control, detectable differences, hidden regressions, trims.

use analysis::{CellComparison, StepComparison, moment};
use model::times;
use stats::{Effect, Method, Verdict};

use super::claim::Claim;
use super::phrase::list;
use super::step::{RatioStyle, plain};
use crate::figure::{declared, percent};
use crate::input::Compared;
use crate::label::{measured_steps, metric_label, step_heading};
use model::units::many;

/// Returns the differences between the base and its copy; `None` without a control.
pub(crate) fn control(compared: &Compared<'_>) -> Option<String> {
    let comparison = compared.comparison;
    let name = comparison.control.as_deref().filter(|name| *name != comparison.base)?;
    let is = format!("Control: {name} is a copy of {}", comparison.base);
    let tested = comparison.steps.iter().filter_map(|step| {
        Some((step, step.cell(name)?.metric(Claim::of(step)?.metric)?.versus_base?))
    });
    // What the control blocks is the difference between the two.
    let is_own = |step: &StepComparison| {
        let mut own = compared.findings.iter().filter(|one| one.code == lint::CONTROL.code);
        own.any(|one| one.concerns(Some(&step.name), name))
    };
    let tested = tested.filter(|(step, effect)| compared.verdict(effect).is_some() || is_own(step));
    let tested: Vec<(&StepComparison, Effect)> = tested.collect();
    if tested.is_empty() {
        return Some(is + ".");
    }
    let is_found = |verdict| !matches!(verdict, Verdict::Equivalent | Verdict::Inconclusive);
    let wrong = || tested.iter().filter(|(_, effect)| is_found(effect.verdict));
    let style = RatioStyle::of(wrong().map(|(_, effect)| effect));
    let wrong = wrong().map(|(step, effect)| {
        format!("{} ({})", step_heading(comparison, step), plain(effect, style))
    });
    let wrong: Vec<String> = wrong.collect();
    let among = match comparison.families.control.comparisons {
        0 | 1 => String::new(),
        count => format!(", adjusted for {count} comparisons"),
    };
    let places = tested.iter().map(|(step, effect)| (*effect, step_heading(comparison, step)));
    let range = detectable_range(places.collect());
    let range = range.map_or(String::new(), |range| format!("; {DETECTABLE}: {range}"));
    Some(match wrong[..] {
        [] => format!(
            "{is}; no difference between the two was found in {}{among}{range}.",
            many(tested.len(), "step")
        ),
        _ => format!(
            "{is}, but a difference was found in {}: one in 20 experiments finds a difference by \
             chance, and differences of this size are unreliable here.",
            list(&wrong)
        ),
    })
}

/// Name of the smallest difference that a design detects.
const DETECTABLE: &str = "detectable difference (80 % power)";

/// Returns the smallest and the largest of the effects' detectable differences, with their steps.
fn detectable_range(mut found: Vec<(Effect, String)>) -> Option<String> {
    found.retain(|(effect, _)| effect.detectable > 0.0);
    found.sort_by(|one, other| one.0.detectable.total_cmp(&other.0.detectable));
    let ((low, of_low), (high, of_high)) = (found.first()?, found.last()?);
    // One notation in one sentence: both are factors where one is.
    let is_large = high.detectable >= 1.0;
    let text = |effect: &Effect| match is_large {
        true => times(1.0 + effect.detectable),
        false => percent(effect.detectable),
    };
    let (low, high) = (text(low), text(high));
    Some(match (low == high, of_low == of_high) {
        (true, true) => format!("{high} in {of_high}"),
        (true, false) => high,
        (false, true) => format!("{low} to {high} in {of_high}"),
        (false, false) => format!("{low} in {of_low} to {high} in {of_high}"),
    })
}

/// Returns the detectable difference of the steps' inconclusive questions, in one line.
///
/// `None` where none is inconclusive.
///
/// Source: [Cohen 1988], power of 80 %.
pub(crate) fn detectable(compared: &Compared<'_>) -> Option<String> {
    let comparison = compared.comparison;
    let mut found: Vec<(Effect, String)> = Vec::new();
    for step in measured_steps(comparison).into_iter().filter(|it| comparison.has_headline(it)) {
        let others = step.cells.iter().filter(|cell| !compared.is_control(&cell.variant));
        let own = |cell| {
            let of =
                move |metric| Some((metric, CellComparison::metric(cell, metric)?.versus_base?));
            step.own_metrics().filter_map(of)
        };
        let is_open = |(_, effect): &(&str, Effect)| {
            compared.verdict(effect) == Some(Verdict::Inconclusive) && effect.detectable > 0.0
        };
        let heading = step_heading(comparison, step);
        let place = |metric| match step.answers[..] {
            [] => heading.clone(),
            _ => format!("{heading} ({})", metric_label(step, metric)),
        };
        let open = others.flat_map(own).filter(is_open);
        found.extend(open.map(|(metric, effect)| (effect, place(metric))));
    }
    let assumed = assumed_cov(found.iter().map(|(effect, _)| effect)).unwrap_or_default();
    let range = detectable_range(found)?;
    Some(format!("? {DETECTABLE}: {range}; smaller differences may be missed{assumed}"))
}

/// Returns the run-to-run noise that is assumed for some of the effects, or between which limits.
fn assumed_cov<'a>(effects: impl Iterator<Item = &'a Effect>) -> Option<String> {
    let assumed = effects.filter(|effect| effect.method == Method::None);
    let covs: Vec<f64> = assumed.map(|effect| effect.run_cov).collect();
    let least = covs.iter().copied().min_by(f64::total_cmp)?;
    let most = covs.iter().copied().max_by(f64::total_cmp)?;
    let (least, most) = (percent(least), percent(most));
    let range = if least == most { most } else { format!("{least} to {most}") };
    Some(format!("; a run-to-run CoV of {range} is assumed if none was measured"))
}

/// Costs that may have grown: metric, name, smallest mean that matters.
///
/// Journals of engine and file system write less than 16 bytes per operation in a read step.
const COSTS: [(&str, &str, f64); 3] = [
    ("cpu_us_per_op", "CPU per operation", 0.0),
    ("rss_peak_bytes", "peak memory", 0.0),
    ("device_write_kib_per_op", "bytes that reached the device per operation", 1.0 / 64.0),
];

/// Returns a sentence for each variant and step that is as fast as the base and costs more.
///
/// As fast: no difference beyond the margin. Costing more: the verdict is above.
///
/// Our choice: the same throughput for more resources is a regression too.
pub(crate) fn hidden(compared: &Compared<'_>) -> Vec<String> {
    let (comparison, margin) = (compared.comparison, compared.comparison.margin);
    let sentence = |step: &StepComparison, cell: &CellComparison| {
        let claim = Claim::of(step).filter(|claim| step.primary == Some(claim.metric))?;
        let speed = cell.metric(claim.metric)?.versus_base?;
        compared.verdict(&speed)?;
        let range = speed.interval90.filter(|_| !compared.is_control(&cell.variant))?;
        let is_same = range.low > 1.0 / (1.0 + margin) && range.high < 1.0 + margin;
        let grown = COSTS.iter().filter_map(|(name, label, least)| {
            let cost = cell.metric(name).filter(|cost| cost.spread.mean >= *least)?;
            let effect = cost.versus_base.filter(|effect| effect.verdict == Verdict::Above)?;
            Some((label, effect))
        });
        let grown: Vec<(&&str, Effect)> = grown.collect();
        let style = RatioStyle::of(grown.iter().map(|(_, effect)| effect));
        let cost = |(label, effect): &(&&str, Effect)| format!("{label} {}", plain(effect, style));
        let grown: Vec<String> = grown.iter().map(cost).collect();
        (is_same && !grown.is_empty()).then(|| {
            format!(
                "{}: hidden regression: {} shows no difference in {} beyond {}, and costs more: {}.",
                step_heading(comparison, step),
                cell.variant,
                claim.noun,
                declared(margin),
                list(&grown)
            )
        })
    };
    let of_step = |step| {
        let step: &StepComparison = step;
        step.cells.iter().filter_map(move |cell| sentence(step, cell))
    };
    let steps = comparison.steps.iter().filter(|step| comparison.has_headline(step));
    steps.flat_map(of_step).collect()
}

/// Returns a sentence for each step with a warm-up trim.
pub(crate) fn warmup_trims(compared: &Compared<'_>) -> Vec<String> {
    let comparison = compared.comparison;
    let of_step = |step: &StepComparison| {
        let records = compared.all_records(step);
        let trim = records.iter().filter_map(|record| record.warmup_trim_ns).max()?;
        Some(format!(
            "{}: measured after {} in all runs, because not every run was steady before (--whole \
             counts everything).",
            step_heading(comparison, step),
            moment(trim)
        ))
    };
    comparison.steps.iter().filter_map(of_step).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Sample, effect};
    use super::*;

    #[test]
    fn assumed_noise_is_that_of_all_steps() {
        let effect = |method, run_cov| {
            let measured = effect(1.0, 0.9, 1.1, Verdict::Inconclusive).expect("an effect");
            Effect { method, run_cov, ..measured }
        };
        let cov = |effects: &[Effect]| assumed_cov(effects.iter()).unwrap_or_default();
        let io_bound = effect(Method::None, 0.015);
        assert!(cov(&[io_bound]).contains(" CoV of 1.5 % is"), "{}", cov(&[io_bound]));
        let both = [effect(Method::None, 0.025), io_bound, effect(Method::Welch, 0.3)];
        assert!(cov(&both).contains(" CoV of 1.5 % to 2.5 % is"), "{}", cov(&both));
    }

    #[test]
    fn what_the_control_blocks_is_named_by_the_note_on_it() {
        let cells = [
            ("new", 3, effect(1.08, 1.052, 1.114, Verdict::Above)),
            ("old-again", 3, effect(0.9, 0.88, 0.92, Verdict::Below)),
        ];
        let sample = Sample::of(&cells).control("old-again");
        let sample = sample.blocked("A047", "control differs", &["readrandom"]);
        let note = sample.with(control).unwrap();
        assert!(note.contains("but a difference was found in readrandom (-10 %"), "{note}");
        let headline = sample.with(crate::trust::headline);
        assert!(headline.contains("drawn from this comparison: A047"), "{headline}");
        let steps = sample.with(super::super::step_sentences).join(" ");
        assert!(steps.contains("has no verdict: A047 control differs"), "{steps}");
    }

    #[test]
    fn same_speed_for_more_cpu_is_a_hidden_regression() {
        let with = |speed: Verdict, cpu: Verdict| {
            let mut sample = Sample::of(&[("new", 3, effect(1.002, 0.991, 1.013, speed))]);
            let cell = &mut sample.comparison.steps[0].cells[1];
            let mut cost = cell.metrics["throughput_ops_per_s"];
            cost.versus_base = effect(1.14, 1.11, 1.17, cpu);
            cell.metrics.insert("cpu_us_per_op".to_owned(), cost);
            sample.with(hidden)
        };
        let found = with(Verdict::Equivalent, Verdict::Above);
        insta::assert_snapshot!(found.join("\n"), @"readrandom: hidden regression: new shows no difference in operations per second beyond 2 %, and costs more: CPU per operation +14 % [+11 %, +17 %].");
        assert!(with(Verdict::Equivalent, Verdict::Inconclusive).is_empty());
        let mut slower = Sample::of(&[("new", 3, effect(0.9, 0.88, 0.92, Verdict::Below))]);
        let cell = &mut slower.comparison.steps[0].cells[1];
        let cost = cell.metrics["throughput_ops_per_s"];
        cell.metrics.insert("cpu_us_per_op".to_owned(), cost);
        assert!(slower.with(hidden).is_empty());
    }
}
