//! Checks each published finding against the runs.

use model::{Experiment, Load, Published, PublishedFinding};
use stats::Spread;
use stats::family::benjamini_hochberg;

use super::finding::{Held, HeldFinding, Here, Unmeasured};
use super::reproduction::{Reproduction, reproduction, runs_needed};
use crate::comparison::is_given;
use crate::noise::Question;
use crate::samples::{
    Key, Sample, StepSamples, VariantSamples, has_missed_rate, is_of_writers, numbers,
};

/// Returns why the planned experiment does not test a finding.
pub fn untried(experiment: &Experiment, finding: &PublishedFinding) -> Option<Unmeasured> {
    place(experiment, finding).err()
}

/// Where a finding is: its step, the level of clients of the variant and that of the base.
type Place = (u32, [u32; 2]);

fn place(experiment: &Experiment, finding: &PublishedFinding) -> Result<Place, Unmeasured> {
    if let Some(size) = experiment.size.as_deref().filter(|it| !finding.is_at_size(Some(it))) {
        return Err(Unmeasured::NotAtSize(size.to_owned()));
    }
    for name in [&finding.variant, &finding.base] {
        experiment.variant(name).ok_or_else(|| Unmeasured::NoVariant(name.clone()))?;
    }
    let mut steps = (0..).zip(&experiment.steps).filter(|(_, step)| finding.is_about(step));
    let before = finding.occurrence.map_or(0, |at| at.saturating_sub(1) as usize);
    let (index, step) = steps.nth(before).ok_or(Unmeasured::NoStep)?;
    let level = match (finding.clients, &experiment.clients[..]) {
        (Some(level), levels) if levels.contains(&level) => level,
        (None, [only]) => *only,
        (level, _) => return Err(Unmeasured::NoLevel(level)),
    };
    let base_level = finding.base_clients.unwrap_or(level);
    if !experiment.clients.contains(&base_level) {
        return Err(Unmeasured::NoLevel(Some(base_level)));
    }
    if matches!(step.load, Load::Open(_)) && is_given(&finding.metric) {
        return Err(Unmeasured::IsGiven);
    }
    Ok((index, [level, base_level]))
}

/// Checks every publication of the experiment against the valid runs.
///
/// The p-values are adjusted for the number of findings.
///
/// Source: [`benjamini_hochberg`]; [`reproduction`].
pub(crate) fn check(question: &Question<'_>, counted: &StepSamples<'_>) -> Vec<Held> {
    let experiment = question.experiment;
    let check_finding = |one: &PublishedFinding| HeldFinding {
        published: one.clone(),
        here: check_finding(question, counted, one),
        reproduction: Reproduction::NotMeasured,
    };
    let publication = |one: &Published| Held {
        source: one.source.clone(),
        setup: one.setup.clone(),
        scaled: one.scaled.clone(),
        findings: one.findings.iter().map(check_finding).collect(),
    };
    let mut held: Vec<Held> = experiment.published.iter().map(publication).collect();
    let findings = || held.iter().flat_map(|one| &one.findings);
    let p_values: Vec<f64> =
        findings().filter_map(|one| one.here.as_ref().ok()?.effect.p).collect();
    let mut adjusted = benjamini_hochberg(&p_values).into_iter();
    for finding in held.iter_mut().flat_map(|one| &mut one.findings) {
        let Ok(here) = &mut finding.here else { continue };
        if let Some(q) = here.effect.p.and_then(|_| adjusted.next()) {
            here.effect.adjust(q, experiment.margin);
        }
        let (expected, margin) = (finding.published.expected, experiment.margin);
        finding.reproduction = if here.is_of_one_run() {
            Reproduction::Undecided
        } else {
            reproduction(expected, &here.effect, margin)
        };
        let is_open =
            matches!(finding.reproduction, Reproduction::SizeUndecided | Reproduction::Undecided)
                && !here.is_of_one_run();
        let runs = here.base.n.min(here.variant.n);
        here.runs_needed =
            is_open.then(|| runs_needed(expected, &here.effect, margin, runs)).flatten();
    }
    held
}

/// Checks one finding; its effect is not yet adjusted for the family.
fn check_finding(
    question: &Question<'_>,
    counted: &StepSamples<'_>,
    finding: &PublishedFinding,
) -> Result<Here, Unmeasured> {
    let (step_index, levels) = place(question.experiment, finding)?;
    let names = [&finding.variant, &finding.base];
    let at = |side: usize| {
        let is_step = |key: &&Key| (key.index, key.clients) == (step_index, levels[side]);
        let key = counted.keys().find(is_step);
        let samples = key.and_then(|key| counted.get(key));
        samples.ok_or_else(|| Unmeasured::NoRun(names[side].clone()))
    };
    let (of_base, own) = (at(1)?, at(0)?);
    let base = spread(of_base, &finding.base, &finding.metric)?;
    let variant = spread(own, &finding.variant, &finding.metric)?;
    let values = of_variant(own, &finding.variant)?.values(&finding.metric);
    let base_values = of_variant(of_base, &finding.base)?.values(&finding.metric);
    for (name, samples) in [(&finding.variant, own), (&finding.base, of_base)] {
        if has_missed_rate(of_variant(samples, name)?) && !is_of_writers(&finding.metric) {
            return Err(Unmeasured::MissedRate(name.clone()));
        }
    }
    let assumed_cov = question.assumed_cov(own).max(question.assumed_cov(of_base));
    let effect = question.versus(&finding.metric, base_values, values, assumed_cov);
    let effect = effect.ok_or(Unmeasured::NoRatio { base, variant })?;
    let clients = question.experiment.clients_of(step_index, levels[0]);
    Ok(Here { step_index, clients, base, variant, effect, runs_needed: None })
}

/// Returns the runs of a variant in a step.
fn of_variant<'a, 'b>(
    samples: &'b VariantSamples<'a>,
    variant: &str,
) -> Result<&'b Sample<'a>, Unmeasured> {
    samples.of_variant.get(variant).ok_or_else(|| Unmeasured::NoRun(variant.to_owned()))
}

/// Returns the spread of a metric over one variant's runs.
fn spread(samples: &VariantSamples<'_>, variant: &str, metric: &str) -> Result<Spread, Unmeasured> {
    Spread::of(&numbers(of_variant(samples, variant)?.values(metric)))
        .ok_or_else(|| Unmeasured::NoMetric(variant.to_owned()))
}
