//! Publications with their findings, in no format yet.

use analysis::{Held, HeldFinding, Here, Reproduction, Unmeasured};
use model::{Expected, Unit, metric};
use serde::Serialize;
use stats::{Spread, Why};

use super::unmeasured::unmeasured;
use crate::document::{Tone, known, snake};
use crate::figure::{count, digits, figure, interval};
use crate::input::Compared;
use crate::label::{THROUGHPUT, level_suffix, step_heading};

/// A publication next to our results.
#[derive(Debug, Serialize)]
pub(crate) struct Publication<'a> {
    pub(crate) source: &'a str,
    /// The set-up there.
    pub(crate) setup: &'a str,
    /// The set-up here.
    pub(crate) here: String,
    /// Intended differences; may be empty.
    pub(crate) scaled: &'a str,
    pub(crate) findings: Vec<Finding<'a>>,
}

/// A finding with its verdict and reasons.
#[derive(Debug, Serialize)]
pub(crate) struct Finding<'a> {
    /// Counts the findings of all publications, from 1.
    pub(crate) number: usize,
    pub(crate) claim: &'a str,
    pub(crate) variant: &'a str,
    pub(crate) base: &'a str,
    /// Clients of the base, where it is compared at another level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) base_clients: Option<u32>,
    pub(crate) step: &'a str,
    /// The step as tables head it.
    #[serde(skip)]
    pub(crate) heading: String,
    pub(crate) metric: &'a str,
    pub(crate) published: There,
    /// Mean and range here, of the variant and of the base; `None` when one is not known.
    #[serde(skip)]
    pub(crate) spreads: Option<[Spread; 2]>,
    /// `None` when it was not measured.
    pub(crate) here: Option<&'a Here>,
    /// As the analysis has it, whatever the label.
    pub(crate) verdict: Reproduction,
    /// The author's reasons for a difference, or why it was not measured.
    pub(crate) reasons: Vec<String>,
}

/// The published values of a finding.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct There {
    pub(crate) value: Option<f64>,
    pub(crate) base_value: Option<f64>,
    pub(crate) expected: Expected,
}

/// Returns every publication; none where the experiment states none.
pub(crate) fn publications<'a>(compared: &Compared<'a>) -> Vec<Publication<'a>> {
    let mut number = 0;
    let mut count = || {
        number += 1;
        number
    };
    let mut is_first = true;
    let publication = |held: &'a Held| Publication {
        source: &held.source,
        setup: &held.setup,
        here: here(compared, held, std::mem::take(&mut is_first)),
        scaled: &held.scaled,
        findings: held.findings.iter().map(|one| finding(compared, one, count())).collect(),
    };
    compared.comparison.published.iter().map(publication).collect()
}

/// Returns builds and rows; the machine only the first time.
fn here(compared: &Compared<'_>, held: &Held, is_first: bool) -> String {
    let mut builds: Vec<String> = Vec::new();
    for one in &held.findings {
        for name in [&one.published.variant, &one.published.base] {
            builds.extend(compared.build(name).filter(|build| !builds.contains(build)));
        }
    }
    let meta = compared.meta;
    let mut parts = vec![builds.join(", "), meta.data.clone()];
    if is_first {
        parts.insert(0, meta.host.clone());
    }
    parts.retain(|part| !part.is_empty());
    parts.join("; ")
}

fn finding<'a>(compared: &Compared<'_>, held: &'a HeldFinding, number: usize) -> Finding<'a> {
    let published = &held.published;
    Finding {
        number,
        claim: &published.claim,
        variant: &published.variant,
        base: &published.base,
        base_clients: published.base_clients,
        step: &published.step,
        heading: heading(compared, held),
        metric: &published.metric,
        published: There {
            value: published.value,
            base_value: published.base_value,
            expected: published.expected,
        },
        spreads: match &held.here {
            Ok(here) => Some([here.variant, here.base]),
            Err(Unmeasured::NoRatio { base, variant }) => Some([*variant, *base]),
            Err(_) => None,
        },
        here: held.here.as_ref().ok(),
        verdict: held.reproduction,
        reasons: reasons(held),
    }
}

/// Returns the author's reasons for a difference, or why the finding is open or not measured.
fn reasons(held: &HeldFinding) -> Vec<String> {
    match &held.here {
        Err(why) => vec![unmeasured(&held.published, why)],
        Ok(here) if !here.effect.is_blocked && held.reproduction.disagrees() => {
            held.published.reasons.clone()
        }
        Ok(here)
            if held.reproduction == Reproduction::Undecided
                && !here.effect.is_blocked
                && here.effect.why == Some(Why::Family) =>
        {
            vec!["not significant among the findings of the experiment".to_owned()]
        }
        Ok(Here { runs_needed: Some(runs), effect, .. }) if !effect.is_blocked => vec![format!(
            "the interval is too wide: about {} runs of each variant would decide, if the size is \
             as published",
            count(u64::from(*runs))
        )],
        Ok(_) => Vec::new(),
    }
}

/// Returns the heading of the step, and against which level of clients it is compared.
fn heading(compared: &Compared<'_>, held: &HeldFinding) -> String {
    let against = held.published.base_clients.map(|level| format!(" against {level}"));
    step_of(compared, held) + &against.unwrap_or_default()
}

/// Returns the heading of the step; of one without runs from the file.
fn step_of(compared: &Compared<'_>, held: &HeldFinding) -> String {
    let comparison = compared.comparison;
    let found = held.here.as_ref().ok().and_then(|here| {
        let wanted = (here.step_index, here.clients.level);
        comparison.steps.iter().find(|step| (step.index, step.clients.level) == wanted)
    });
    if let Some(step) = found {
        return step_heading(comparison, step);
    }
    let published = &held.published;
    let distribution = published.distribution.as_ref().map(|text| format!(" ({text})"));
    let occurrence = published.occurrence.map(|at| format!(" (number {at})"));
    let level = published.clients.map(level_suffix);
    let rest = [distribution, occurrence, level].into_iter().flatten();
    [published.step.clone()].into_iter().chain(rest).collect()
}

impl Finding<'_> {
    /// Returns the outcome; `None` where no verdict may be drawn.
    pub(crate) fn outcome(&self) -> Option<Reproduction> {
        let is_blocked = self.here.is_some_and(|here| here.effect.is_blocked);
        (!is_blocked).then_some(self.verdict)
    }

    /// Returns the metric's name where it is not the throughput.
    pub(crate) fn other_metric(&self) -> Option<&str> {
        (self.metric != THROUGHPUT).then_some(self.metric)
    }

    fn unit(&self) -> Unit {
        metric::find(self.metric).map_or(Unit::Count, |metric| metric.unit)
    }

    /// Returns the published figures: variant, base, ratio or direction.
    pub(crate) fn there_cells(&self) -> [String; 3] {
        let write = |value: Option<f64>| value.map(|value| figure(self.unit(), value));
        let There { value, base_value, expected } = self.published;
        let expected = if let Expected::Ratio(value) = expected {
            digits(value)
        } else {
            snake(expected).replace('_', " ")
        };
        [write(value).unwrap_or_default(), write(base_value).unwrap_or_default(), expected]
    }

    /// Returns our figures: means and their ratio.
    pub(crate) fn here_cells(&self) -> [String; 3] {
        let mean = |index: usize| self.spreads.map(|both| figure(self.unit(), both[index].mean));
        [mean(0), mean(1), self.here.map(|here| digits(here.effect.ratio))].map(known)
    }

    /// Returns the interval of the ratio here; empty without one.
    pub(crate) fn interval(&self) -> String {
        let known = self.here.and_then(|here| here.effect.interval);
        known.map(|of| interval(&of)).unwrap_or_default()
    }

    /// Returns whether the outcome is agreement or contradiction; plain where it is neither.
    pub(crate) fn tone(&self) -> Tone {
        match self.outcome() {
            Some(Reproduction::Reproduces) => Tone::Better,
            Some(Reproduction::Opposite | Reproduction::NoDifference | Reproduction::Differs) => {
                Tone::Worse
            }
            // The direction is right, the size is not.
            Some(_) | None => Tone::Plain,
        }
    }
}

impl<'a> Publication<'a> {
    /// Returns variant and base where all findings are about the same two.
    pub(crate) fn pair(&self) -> Option<(&'a str, &'a str)> {
        let mut pairs = self.findings.iter().map(|one| (one.variant, one.base));
        let first = pairs.next()?;
        pairs.all(|pair| pair == first).then_some(first)
    }
}
