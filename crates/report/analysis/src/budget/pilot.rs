//! Noise of an experiment's steps: from a pilot, history or assumption.

use std::collections::{BTreeMap, BTreeSet};

use model::{Experiment, Load, Nanos, RunRecord, Step, StepClients, StepRecord, StopRule, metric};
use stats::CellVariance;
use stats::planning::between_runs;

use crate::compare::{ASSUMED_COV, ASSUMED_COV_IO_BOUND};
use crate::noise::{Noise, NoiseHistory, known};
use crate::primary::primary;
use crate::samples::{StepSamples, VariantSamples, by_machine, drawn, step_samples, variance};

/// The metric whose within-run variance is known.
const THROUGHPUT: &str = metric::THROUGHPUT_OPS_PER_S.name;

/// Source of a step's noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Runs of the same step.
    Pilot {
        /// Runs of the variant.
        runs: u32,
    },
    /// Steps of the same name in earlier experiments on this machine.
    NoiseHistory {
        /// Those experiments.
        experiments: u32,
    },
    /// Any steps in earlier experiments on this machine.
    OtherSteps {
        /// Those experiments.
        experiments: u32,
    },
    /// No data: the CoV of other set-ups.
    Assumed,
}

/// Noise of one variant's step, pooled with the noise of the base.
#[derive(Debug, Clone, PartialEq)]
pub struct StepNoise {
    /// Position of the step in the run, 0-based.
    pub index: u32,
    /// The step's name.
    pub step: String,
    /// Level of the clients factor, and the step's clients.
    pub clients: StepClients,
    /// The variant that is compared; the base when it is alone.
    pub variant: String,
    /// The metric that the step's verdict is about.
    pub metric: &'static str,
    /// Run-to-run variance of ln(metric), the within-run part removed.
    pub between: f64,
    /// Long-run variance of ln(metric) within a run, in seconds.
    ///
    /// Over the length it is the rest of the variance. `None` when it is not known.
    pub within: Option<f64>,
    /// Prior degrees of freedom from other cells; 0 for none.
    pub prior_df: f64,
    /// Source of the noise.
    pub origin: Origin,
    /// Requested measured length; `None` without one (counts, searches).
    pub length: Option<Nanos>,
    /// Warm-up trim of the pilot's runs, in seconds.
    pub warmup_trim_s: f64,
}

impl StepNoise {
    /// Returns the variance of ln(metric) between runs of the requested length.
    ///
    /// Source: variance components of runs and of time within a run [Kalibera Jones 2013].
    pub fn variance(&self) -> f64 {
        let steady_s = |length: Nanos| (length.as_secs_f64() - self.warmup_trim_s).max(1.0);
        let within = self.within.zip(self.length);
        self.between + within.map_or(0.0, |(within, length)| within / steady_s(length))
    }
}

/// Returns the noise of every measured step, by level, step and variant.
///
/// Each is that of a comparison: the base and one other variant. Steps that only wait for the
/// engine are left out, and those that only prepare others: they need no such precision.
pub fn noise(
    experiment: &Experiment,
    runs: &[RunRecord],
    noise_history: &NoiseHistory,
) -> Vec<StepNoise> {
    let counted = step_samples(runs, &experiment.data, experiment.application.as_ref());
    let history =
        History { experiment, runs, priors: known(&counted, noise_history), noise_history };
    let others = experiment.variants.iter().filter(|one| one.name != experiment.base);
    let mut names: Vec<&str> = others.map(|one| one.name.as_str()).collect();
    if names.is_empty() {
        names.push(&experiment.base);
    }
    let mut all = Vec::new();
    for level in &experiment.clients {
        for (index, step) in (0..).zip(&experiment.steps) {
            if step.stop == StopRule::Operations(0) || experiment.is_preparatory(&step.name) {
                continue;
            }
            let place = Place { index, clients: step.clients_at(*level), step };
            let samples = samples_of(&counted, &place);
            all.extend(names.iter().map(|variant| history.of(&place, samples, variant)));
        }
    }
    all
}

/// A step at a level of clients.
struct Place<'a> {
    index: u32,
    clients: StepClients,
    step: &'a Step,
}

/// Returns the runs of a step: of its own level, or else of another.
fn samples_of<'a, 'b>(
    steps: &'a StepSamples<'b>,
    place: &Place<'_>,
) -> Option<&'a VariantSamples<'b>> {
    let mut same = steps.iter().filter(|(key, _)| key.name == place.step.name);
    let exact = same
        .clone()
        .find(|(key, _)| (key.index, key.clients) == (place.index, place.clients.level));
    exact.or_else(|| same.next()).map(|(_, samples)| samples)
}

/// The data that noise is estimated from.
struct History<'a> {
    experiment: &'a Experiment,
    runs: &'a [RunRecord],
    priors: BTreeMap<String, Noise>,
    noise_history: &'a NoiseHistory,
}

impl History<'_> {
    fn of(
        &self,
        place: &Place<'_>,
        samples: Option<&VariantSamples<'_>>,
        variant: &str,
    ) -> StepNoise {
        let step = place.step;
        let known = samples.and_then(|samples| primary(samples, self.experiment, &step.name));
        let metric = known.unwrap_or_else(|| expected_primary(self.experiment, step));
        let evidence = self.evidence(place);
        let known = samples
            .and_then(|samples| self.pilot(metric, samples, variant))
            .or_else(|| self.earlier(metric, Some(&step.name)))
            .or_else(|| self.earlier(metric, None));
        let (known, origin) = known.unzip();
        let origin = origin.unwrap_or(Origin::Assumed);
        let is_timed = matches!(origin, Origin::Pilot { .. }) && metric == THROUGHPUT;
        let length = length(place.step);
        let within = evidence.within.filter(|_| is_timed && length.is_some());
        let between = match known {
            None => assumed_cov(self.experiment).powi(2),
            Some(known) => between_runs(known, within.map_or(0.0, |_| evidence.within_share)),
        };
        StepNoise {
            index: place.index,
            step: place.step.name.clone(),
            clients: place.clients,
            variant: variant.to_owned(),
            metric,
            between,
            within,
            prior_df: self.priors.get(metric).map_or(0.0, |noise| noise.prior.df),
            origin,
            length,
            warmup_trim_s: evidence.warmup_trim_s,
        }
    }

    /// Returns the moderated variance over the pilot's runs of a variant and the base, and the
    /// runs of the variant.
    ///
    /// Source: [Smyth 2004, section 4].
    fn pilot(
        &self,
        metric: &str,
        samples: &VariantSamples<'_>,
        variant: &str,
    ) -> Option<(CellVariance, Origin)> {
        let own = pair(samples, metric, &[&self.experiment.base, variant]);
        // Variants of other names share the step's noise.
        let others = || {
            let known =
                samples.of_variant.iter().filter(|(_, sample)| !sample.values(metric).is_empty());
            pair(samples, metric, &known.map(|(name, _)| *name).collect::<Vec<_>>())
        };
        let (evidence, runs) = own.filter(|(_, fewest)| *fewest > 0).or_else(others)?;
        let prior = self.priors.get(metric).map(|noise| noise.prior);
        let moderated = prior.map_or(evidence, |prior| prior.moderate(&evidence));
        Some((moderated, Origin::Pilot { runs }))
    }

    /// Returns the pooled variance of a step, or of any, in earlier experiments, and their number.
    fn earlier(&self, metric: &str, step: Option<&str>) -> Option<(CellVariance, Origin)> {
        let (mut cells, mut experiments) = (Vec::new(), 0);
        for earlier in &self.noise_history.experiments {
            let alike = earlier.iter().filter(|cell| step.is_none_or(|name| cell.step == name));
            let before = cells.len();
            cells.extend(alike.filter_map(|cell| cell.metrics.get(metric).copied()));
            experiments += u32::from(cells.len() > before);
        }
        let origin = match step {
            Some(_) => Origin::NoiseHistory { experiments },
            None => Origin::OtherSteps { experiments },
        };
        Some((cells.into_iter().reduce(CellVariance::pooled)?, origin))
    }

    /// Returns the pilot's within-run evidence of a step.
    fn evidence(&self, place: &Place<'_>) -> Evidence {
        let of_level = |clients: Option<u32>| -> Vec<&StepRecord> {
            let runs = self.runs.iter().filter(|run| run.is_counted());
            let runs = runs.filter(|run| clients.is_none_or(|level| run.cell.clients == level));
            let steps = runs.flat_map(|run| &run.steps);
            steps.filter(|step| step.step.name == place.step.name).collect()
        };
        let own = of_level(Some(place.clients.level));
        Evidence::of(&if own.is_empty() { of_level(None) } else { own })
    }
}

/// Within-run variance and trim of a step, all variants together.
#[derive(Default)]
struct Evidence {
    /// Long-run variance S, in seconds: the mean over the runs.
    within: Option<f64>,
    /// Mean of S over each run's length: its share in the variance of a run.
    within_share: f64,
    /// The longest warm-up trim, in seconds.
    warmup_trim_s: f64,
}

impl Evidence {
    fn of(steps: &[&StepRecord]) -> Self {
        let mut evidence = Self::default();
        let (mut sum, mut shares, mut count) = (0.0, 0.0, 0.0);
        for step in steps {
            let trim_s = step.warmup_trim_ns.map_or(0.0, |trim| trim.as_secs_f64());
            evidence.warmup_trim_s = evidence.warmup_trim_s.max(trim_s);
            let Some(profile) = step.time_profile.as_ref().filter(|profile| profile.seconds > 1)
            else {
                continue;
            };
            sum += profile.long_run_variance;
            shares += profile.long_run_variance / f64::from(profile.seconds);
            count += 1.0;
        }
        if count > 0.0 {
            (evidence.within, evidence.within_share) = (Some(sum / count), shares / count);
        }
        evidence
    }
}

/// Returns the variance of a metric over the runs of some variants, each about its own mean, and
/// the fewest runs of one; `None` when none was repeated.
///
/// Where runs share several loads, it is that of the means of loads, and the fewest loads. Of
/// several machines it is that within machines.
pub(super) fn pair(
    samples: &VariantSamples<'_>,
    metric: &str,
    variants: &[&str],
) -> Option<(CellVariance, u32)> {
    let names: BTreeSet<&str> = variants.iter().copied().collect();
    let of =
        |name: &&str| samples.of_variant.get(*name).map_or(&[][..], |sample| sample.values(metric));
    let values: Vec<_> = names.iter().map(of).collect();
    let of = |values: &&[_]| match by_machine(values).len() {
        0 | 1 => CellVariance::of(&drawn(values)).filter(CellVariance::has_spread),
        _ => variance(values),
    };
    let known = values.iter().filter_map(of).reduce(CellVariance::pooled)?;
    let fewest = values.iter().map(|values| drawn(values).len()).min().unwrap_or(0);
    Some((known, u32::try_from(fewest).unwrap_or(u32::MAX)))
}

/// Returns the CoV to assume without data.
fn assumed_cov(experiment: &Experiment) -> f64 {
    match experiment.workload.as_deref() {
        Some("iobuf" | "iodir") => ASSUMED_COV_IO_BOUND,
        Some(_) | None => ASSUMED_COV,
    }
}

/// Returns the requested length of a timed step.
const fn length(step: &Step) -> Option<Nanos> {
    match (step.stop, &step.load) {
        (StopRule::Duration(span), Load::Closed | Load::Pipelined(_) | Load::Open(_)) => Some(span),
        (StopRule::Duration(_), Load::FindRate(_) | Load::FindClients)
        | (StopRule::Operations(_), _) => None,
    }
}

/// Returns the expected primary metric of a step without runs.
fn expected_primary(experiment: &Experiment, step: &Step) -> &'static str {
    if let Some(named) = experiment.answers(&step.name).next() {
        return named.name;
    }
    match (&step.load, step.limit) {
        (Load::Open(_), Some(_)) => metric::GOODPUT_OPS_PER_S.name,
        (Load::Open(_), None) => metric::RESPONSE_NS_P99.name,
        (Load::FindRate(_), _) => metric::SUSTAINABLE_OPS_PER_S.name,
        (Load::Closed | Load::Pipelined(_) | Load::FindClients, _) => THROUGHPUT,
    }
}
