//! The noise of an experiment's steps: from a pilot, from earlier experiments, or assumed.

use std::collections::{BTreeMap, BTreeSet};

use model::{Experiment, Load, Nanos, RunRecord, Step, StepRecord, StopRule};
use stats::CellVariance;
use stats::planning::between_runs;

use crate::arms::{Arms, Counted, Key, variance};
use crate::compare::{ASSUMED_COV, ASSUMED_COV_IO_BOUND, primary};
use crate::metrics::requests;
use crate::noise::{Noise, known};
use crate::noise_history::NoiseHistory;

/// Shortest window that shows what an engine does in the background.
///
/// Source: the project's reference, analysis, section 2, `R_min`.
const LEAST_SECONDS: f64 = 60.0;
/// Correlation times, and cycles, that a window must hold. Source: as above.
const LEAST_CORRELATION_TIMES: f64 = 50.0;
const LEAST_CYCLES: f64 = 3.0;
/// The metric whose seconds are known, so that what a longer window does to it is too.
const THROUGHPUT: &str = "throughput_ops_per_s";

/// Where the noise of a step is known from.
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
    /// Nothing is known: what other set-ups showed.
    Assumed,
}

/// How much one variant's step varies, together with that of the base.
#[derive(Debug, Clone, PartialEq)]
pub struct StepNoise {
    /// Position of the step in the run, 0-based.
    pub index: u32,
    /// The step's name.
    pub step: String,
    /// Level of the clients factor.
    pub clients: u32,
    /// The variant that is compared with the base; the base itself when it is alone.
    pub variant: String,
    /// The metric that the step's verdict is about.
    pub metric: &'static str,
    /// Variance of ln(metric) from run to run that no longer window would lessen.
    pub between: f64,
    /// Long-run variance of ln(metric) within a run, in seconds: over its length it is the rest
    /// of the variance. `None` when what the length does is not known.
    pub within: Option<f64>,
    /// Degrees of freedom that other cells add to a comparison; 0 for none.
    pub prior_df: f64,
    /// Where it is known from.
    pub origin: Origin,
    /// The measured length as asked for now; `None` for a step that ends by operations or searches.
    pub length: Option<Nanos>,
    /// Seconds at the start of a run that do not count, because not all runs are steady then.
    pub warmup_trim_s: f64,
    /// The shortest length that shows a steady state, in seconds, what is cut included.
    pub least_s: f64,
}

impl StepNoise {
    /// Returns the variance of ln(metric) from run to run at a length of `seconds`, cut included.
    ///
    /// Source: the project's reference, analysis, section 2.
    #[must_use]
    pub fn variance(&self, seconds: f64) -> f64 {
        let kept = (seconds - self.warmup_trim_s).max(f64::MIN_POSITIVE);
        self.between + self.within.map_or(0.0, |within| within / kept)
    }
}

/// Returns the noise of every step whose result is asked for, by level, step and variant.
///
/// Each is that of a comparison: the base and one other variant. Steps that only wait for the
/// engine are left out: nobody asks how long they take to a hundredth.
#[must_use]
pub fn noise(
    experiment: &Experiment,
    runs: &[RunRecord],
    noise_history: &NoiseHistory,
) -> Vec<StepNoise> {
    let counted = Counted::of(runs, &experiment.data, experiment.application.as_ref());
    let history =
        History { experiment, runs, priors: known(&counted.steps, noise_history), noise_history };
    let others = experiment.variants.iter().filter(|one| one.name != experiment.base);
    let mut names: Vec<&str> = others.map(|one| one.name.as_str()).collect();
    if names.is_empty() {
        names.push(&experiment.base);
    }
    let mut all = Vec::new();
    for clients in &experiment.clients {
        for (index, step) in (0..).zip(&experiment.steps) {
            if step.stop == StopRule::Operations(0) {
                continue;
            }
            let place = Place { index, clients: *clients, step };
            let arms = arms_of(&counted.steps, &place);
            all.extend(names.iter().map(|variant| history.of(&place, arms, variant)));
        }
    }
    all
}

/// A step at a level of clients.
struct Place<'a> {
    index: u32,
    clients: u32,
    step: &'a Step,
}

/// Returns the runs of a step: of its own level, or of another when there are none.
fn arms_of<'a, 'b>(steps: &'a BTreeMap<Key, Arms<'b>>, place: &Place<'_>) -> Option<&'a Arms<'b>> {
    let mut same = steps.iter().filter(|(key, _)| key.name == place.step.name);
    let exact =
        same.clone().find(|(key, _)| (key.index, key.clients) == (place.index, place.clients));
    exact.or_else(|| same.next()).map(|(_, arms)| arms)
}

/// Everything from which noise can be known.
struct History<'a> {
    experiment: &'a Experiment,
    runs: &'a [RunRecord],
    priors: BTreeMap<String, Noise>,
    noise_history: &'a NoiseHistory,
}

impl History<'_> {
    fn of(&self, place: &Place<'_>, arms: Option<&Arms<'_>>, variant: &str) -> StepNoise {
        let known = arms.and_then(|arms| primary(arms, self.experiment.placement));
        let metric = known.unwrap_or_else(|| expected_primary(place.step));
        let evidence = self.evidence(place);
        let from_pilot = arms.and_then(|arms| self.pilot(metric, arms, variant));
        let (known, origin) = match (from_pilot, self.earlier(metric, place)) {
            (Some((known, runs)), _) => (Some(known), Origin::Pilot { runs }),
            (None, Some((known, experiments))) => {
                (Some(known), Origin::NoiseHistory { experiments })
            }
            (None, None) => (None, Origin::Assumed),
        };
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
            least_s: evidence.warmup_trim_s + least(place.step, length, &evidence),
        }
    }

    /// Returns the variance over the pilot's runs of a variant and the base, moderated by what
    /// other cells tell, and the runs of the variant.
    ///
    /// Source: the project's reference, analysis, section 1.3.
    fn pilot(&self, metric: &str, arms: &Arms<'_>, variant: &str) -> Option<(CellVariance, u32)> {
        let asked = pair(arms, metric, &[&self.experiment.base, variant]);
        // Variants of other names tell of the step's noise too.
        let others = || {
            let known = arms.of_variant.iter().filter(|(_, arm)| !arm.values(metric).is_empty());
            pair(arms, metric, &known.map(|(name, _)| *name).collect::<Vec<_>>())
        };
        let (evidence, runs) = asked.filter(|(_, fewest)| *fewest > 0).or_else(others)?;
        let prior = self.priors.get(metric).map(|noise| noise.prior);
        Some((prior.map_or(evidence, |prior| prior.moderate(&evidence)), runs))
    }

    /// Returns the variance of steps of that name in earlier experiments, and how many these are.
    fn earlier(&self, metric: &str, place: &Place<'_>) -> Option<(CellVariance, u32)> {
        let (mut cells, mut experiments) = (Vec::new(), 0);
        for earlier in &self.noise_history.experiments {
            let alike = earlier.iter().filter(|cell| cell.step == place.step.name);
            let before = cells.len();
            cells.extend(alike.filter_map(|cell| cell.metrics.get(metric).copied()));
            experiments += u32::from(cells.len() > before);
        }
        Some((cells.into_iter().reduce(CellVariance::pooled)?, experiments))
    }

    /// Returns what the pilot's runs of a step tell of its seconds.
    fn evidence(&self, place: &Place<'_>) -> Seen {
        let of_level = |clients: Option<u32>| -> Vec<&StepRecord> {
            let runs = self.runs.iter().filter(|run| run.invalid.is_none());
            let runs = runs.filter(|run| clients.is_none_or(|level| run.cell.clients == level));
            let steps = runs.flat_map(|run| &run.steps);
            steps.filter(|step| step.step.name == place.step.name).collect()
        };
        let own = of_level(Some(place.clients));
        Seen::of(&if own.is_empty() { of_level(None) } else { own })
    }
}

/// What runs of a step tell of its seconds, all variants together.
#[derive(Default)]
struct Seen {
    /// Long-run variance S, in seconds: their mean.
    within: Option<f64>,
    /// Mean of S over each run's length: its share in the variance of a run.
    within_share: f64,
    /// The longest correlation time, in seconds.
    correlation_s: f64,
    /// The longest cycle, in seconds.
    cycle_s: f64,
    /// The lowest rate of operations.
    ops_per_s: Option<f64>,
    /// The longest start that was cut, in seconds.
    warmup_trim_s: f64,
}

impl Seen {
    #[expect(clippy::cast_precision_loss, reason = "runs and operations stay below 2^53")]
    fn of(steps: &[&StepRecord]) -> Self {
        let mut evidence = Self::default();
        let (mut sum, mut shares, mut count) = (0.0, 0.0, 0.0);
        for step in steps {
            let length = step.duration_ns.as_secs_f64();
            evidence.warmup_trim_s = evidence
                .warmup_trim_s
                .max(step.warmup_trim_ns.map_or(0.0, |cut| cut.as_secs_f64()));
            let done = requests(step);
            if length > 0.0 && done > 0 {
                let rate = done as f64 / length;
                evidence.ops_per_s =
                    Some(evidence.ops_per_s.map_or(rate, |lowest| lowest.min(rate)));
            }
            let Some(time_profile) =
                step.time_profile.as_ref().filter(|time_profile| time_profile.seconds > 1)
            else {
                continue;
            };
            let kept = f64::from(time_profile.seconds);
            sum += time_profile.long_run_variance;
            shares += time_profile.long_run_variance / kept;
            count += 1.0;
            // Independent seconds are seconds over twice the correlation time.
            let correlation_s = kept / (2.0 * time_profile.effective_seconds.max(1.0));
            evidence.correlation_s = evidence.correlation_s.max(correlation_s);
            let cycle_s = time_profile.cycle.map_or(0.0, |cycle| cycle.period_ns.as_secs_f64());
            evidence.cycle_s = evidence.cycle_s.max(cycle_s);
        }
        if count > 0.0 {
            (evidence.within, evidence.within_share) = (Some(sum / count), shares / count);
        }
        evidence
    }
}

/// Returns the variance of a metric over the runs of some variants, each about its own mean, and
/// the fewest runs of one; `None` when none was repeated.
pub(super) fn pair(
    arms: &Arms<'_>,
    metric: &str,
    variants: &[&str],
) -> Option<(CellVariance, u32)> {
    let names: BTreeSet<&str> = variants.iter().copied().collect();
    let of = |name: &&str| arms.of_variant.get(*name).map_or(&[][..], |arm| arm.values(metric));
    let values: Vec<_> = names.iter().map(of).collect();
    let known = values.iter().filter_map(|values| variance(values)).reduce(CellVariance::pooled)?;
    let fewest = values.iter().map(|values| values.len()).min().unwrap_or(0);
    Some((known, u32::try_from(fewest).unwrap_or(u32::MAX)))
}

/// Returns the noise to assume where nothing is known of it.
fn assumed_cov(experiment: &Experiment) -> f64 {
    match experiment.workload.as_deref() {
        Some("iobuf" | "iodir") => ASSUMED_COV_IO_BOUND,
        Some(_) | None => ASSUMED_COV,
    }
}

/// Returns the length of a step that has one of its own.
const fn length(step: &Step) -> Option<Nanos> {
    match (step.stop, &step.load) {
        (StopRule::Duration(span), Load::Closed | Load::Pipelined(_) | Load::Open(_)) => Some(span),
        (StopRule::Duration(_), Load::FindRate(_) | Load::FindClients)
        | (StopRule::Operations(_), _) => None,
    }
}

/// Returns the shortest length that shows a steady state, in seconds.
///
/// A step whose author asked for less than a minute may stay as short as he asked: he took that
/// doubt upon himself.
///
/// Source: the project's reference, analysis, section 2, `R_min`.
#[expect(clippy::cast_precision_loss, reason = "operations stay below 2^53")]
fn least(step: &Step, length: Option<Nanos>, evidence: &Seen) -> f64 {
    let asked = length.map_or(LEAST_SECONDS, |length| length.as_secs_f64().min(LEAST_SECONDS));
    let operations = step.limit.map_or(0.0, |limit| limit.operations_needed() as f64);
    let for_limit = evidence.ops_per_s.map_or(0.0, |rate| operations / rate);
    asked
        .max(LEAST_CORRELATION_TIMES * evidence.correlation_s)
        .max(LEAST_CYCLES * evidence.cycle_s)
        .max(for_limit)
}

/// Returns the metric that a step's verdict will be about, before anything is known of it.
const fn expected_primary(step: &Step) -> &'static str {
    match (&step.load, step.limit) {
        (Load::Open(_), Some(_)) => "goodput_ops_per_s",
        (Load::Open(_), None) => "response_ns_p99",
        (Load::FindRate(_), _) => "sustainable_ops_per_s",
        (Load::Closed | Load::Pipelined(_) | Load::FindClients, _) => THROUGHPUT,
    }
}
