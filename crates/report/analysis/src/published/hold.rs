//! Looks for each published finding among the runs.

use model::{Experiment, Load, Published, PublishedFinding};
use stats::family::benjamini_hochberg;
use stats::{Effect, Spread};

use super::held::{Held, HeldFinding, Here, Unmeasured};
use super::reproduction::{Reproduction, reproduction};
use crate::arms::{Arms, Counted, Key, numbers};
use crate::compare::Question;
use crate::comparison::is_given;

/// Returns why a finding cannot be tried by the experiment as it will be run; `None` when it can.
#[must_use]
pub fn untried(experiment: &Experiment, finding: &PublishedFinding) -> Option<Unmeasured> {
    place(experiment, finding).err()
}

/// Returns where a finding is looked for: the position of its step and its level of clients.
fn place(experiment: &Experiment, finding: &PublishedFinding) -> Result<(u32, u32), Unmeasured> {
    for name in [&finding.variant, &finding.base] {
        experiment.variant(name).ok_or_else(|| Unmeasured::NoVariant(name.clone()))?;
    }
    let mut steps = (0..).zip(&experiment.steps).filter(|(_, step)| finding.is_about(step));
    let (index, step) = steps.next().ok_or(Unmeasured::NoStep)?;
    let level = match (finding.clients, &experiment.clients[..]) {
        (Some(level), levels) if levels.contains(&level) => level,
        (None, [only]) => *only,
        (Some(_) | None, _) => return Err(Unmeasured::NoLevel),
    };
    if matches!(step.load, Load::Open(_)) && is_given(&finding.metric) {
        return Err(Unmeasured::IsGiven);
    }
    Ok((index, level))
}

/// Holds every publication of the experiment against the runs that count.
///
/// The chances are adjusted for the number of findings, as those of any family.
///
/// Source: [`benjamini_hochberg`]; [`reproduction`].
pub(crate) fn hold(question: &Question<'_>, counted: &Counted<'_>) -> Vec<Held> {
    let experiment = question.experiment;
    let look = |one: &PublishedFinding| HeldFinding {
        published: one.clone(),
        here: look(question, counted, one),
        reproduction: Reproduction::NotMeasured,
    };
    let publication = |one: &Published| Held {
        source: one.source.clone(),
        setup: one.setup.clone(),
        scaled: one.scaled.clone(),
        findings: one.findings.iter().map(look).collect(),
    };
    let mut held: Vec<Held> = experiment.published.iter().map(publication).collect();
    let findings = || held.iter().flat_map(|one| &one.findings);
    let chances: Vec<f64> = findings().filter_map(|one| one.here.as_ref().ok()?.effect.p).collect();
    let mut adjusted = benjamini_hochberg(&chances).into_iter();
    for finding in held.iter_mut().flat_map(|one| &mut one.findings) {
        let Ok(here) = &mut finding.here else { continue };
        if let Some(q) = here.effect.p.and_then(|_| adjusted.next()) {
            here.effect.adjust(q, experiment.margin);
        }
        finding.reproduction = if here.is_of_one_run() {
            Reproduction::Undecided
        } else {
            reproduction(finding.published.expected, &here.effect, experiment.margin)
        };
    }
    held
}

/// Looks for one finding; its effect is not yet adjusted for the family.
fn look(
    question: &Question<'_>,
    counted: &Counted<'_>,
    finding: &PublishedFinding,
) -> Result<Here, Unmeasured> {
    let (step_index, clients) = place(question.experiment, finding)?;
    let is_it = |key: &&Key| (key.index, key.clients) == (step_index, clients);
    let key = counted.steps.keys().find(is_it);
    let arms = key.and_then(|key| counted.steps.get(key));
    let arms = arms.ok_or_else(|| Unmeasured::NoRun(finding.base.clone()))?;
    let base = spread(arms, &finding.base, &finding.metric)?;
    let variant = spread(arms, &finding.variant, &finding.metric)?;
    let effect = effect(question, arms, finding).ok_or(Unmeasured::NoRatio { base, variant })?;
    Ok(Here { step_index, clients, base, variant, effect })
}

/// Returns what one variant's runs tell of a metric.
fn spread(arms: &Arms<'_>, variant: &str, metric: &str) -> Result<Spread, Unmeasured> {
    let arm = arms.of_variant.get(variant);
    let arm = arm.ok_or_else(|| Unmeasured::NoRun(variant.to_owned()))?;
    Spread::of(&numbers(arm.values(metric))).ok_or_else(|| Unmeasured::NoMetric(variant.to_owned()))
}

fn effect(question: &Question<'_>, arms: &Arms<'_>, finding: &PublishedFinding) -> Option<Effect> {
    let values = |name: &str| Some(arms.of_variant.get(name)?.values(&finding.metric));
    let (base, variant) = (values(&finding.base)?, values(&finding.variant)?);
    question.versus(&finding.metric, base, variant, question.assumed_cov(arms))
}
