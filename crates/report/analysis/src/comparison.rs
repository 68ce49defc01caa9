//! Data types of a comparison.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use model::{Durability, Metric, OpUnit, StepClients, metric};
use serde::Serialize;
use stats::{Effect, Interval, Spread, Verdict};

use crate::cuts::CutSummary;
use crate::machines::factor::MachineFactor;
use crate::metrics::RATE_SUSTAINED;
use crate::noise::Noise;
use crate::part::PartName;
use crate::published::Held;

/// One metric of one variant.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Measured {
    /// Mean, median and range over the runs.
    #[serde(flatten)]
    pub spread: Spread,
    /// Effect relative to the base; `None` without a ratio.
    pub versus_base: Option<Effect>,
}

/// One variant's metrics in one step, or over whole runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CellComparison {
    /// The variant's name.
    pub variant: String,
    /// Runs that were counted.
    pub runs: u32,
    /// Loads that these runs share, if they do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loads: Option<u32>,
    /// The metrics of these runs, by name.
    pub metrics: BTreeMap<String, Measured>,
}

impl CellComparison {
    /// Returns the metric of that name.
    pub fn metric(&self, name: impl AsRef<str>) -> Option<&Measured> {
        self.metrics.get(name.as_ref())
    }

    /// Returns whether the background writers of most runs missed their rate.
    ///
    /// Their queries then ran under a lighter load, and are not comparable.
    ///
    /// Source: [`RATE_SUSTAINED`].
    pub fn has_missed_rate(&self) -> bool {
        let reached = self.metric(metric::WRITER_RATE_SHARE);
        reached.is_some_and(|reached| reached.spread.median < RATE_SUSTAINED)
    }
}

/// One part of a step, over all variants.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PartComparison {
    /// Its name.
    #[serde(flatten)]
    pub name: PartName,
    /// One entry per variant, in the order of the comparison's.
    pub cells: Vec<CellComparison>,
    /// Access paths of a statement at the step's end, by variant.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub plans: BTreeMap<String, BTreeSet<String>>,
}

/// One step at one level of the clients factor, over all variants.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct StepComparison {
    /// Position of the step in the run, 0-based.
    pub index: u32,
    /// The step's name.
    pub name: String,
    /// Key distribution, as written.
    pub distribution: String,
    /// What counts as one operation.
    pub unit: OpUnit,
    /// Level of the clients factor, and the step's clients.
    #[serde(flatten)]
    pub clients: StepClients,
    /// Whether operations arrived at rates the experiment gives.
    pub is_rate_given: bool,
    /// Whether it only prepares the steps that the question is about.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_preparatory: bool,
    /// The step's primary metric; `None` when none is named and no variant has one.
    pub primary: Option<&'static str>,
    /// Metrics that the question is about here; the first is primary.
    ///
    /// Empty where the experiment names none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<&'static str>,
    /// One entry per variant, in the order of [`Comparison::variants`].
    pub cells: Vec<CellComparison>,
    /// What an application and its server report apart.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartComparison>,
}

impl StepComparison {
    /// Returns the cell of a variant.
    pub fn cell(&self, variant: &str) -> Option<&CellComparison> {
        self.cells.iter().find(|cell| cell.variant == variant)
    }

    /// Iterates over the cells of the step, then over the cells of its parts.
    pub fn all_cells(&self) -> impl Iterator<Item = &CellComparison> {
        self.cells.iter().chain(self.parts.iter().flat_map(|part| &part.cells))
    }

    /// Iterates over the metrics whose verdicts count here.
    ///
    /// Those that the question names, or else the primary one.
    pub fn own_metrics(&self) -> impl Iterator<Item = &'static str> + use<> {
        let primary = self.primary.filter(|_| self.answers.is_empty());
        self.answers.clone().into_iter().chain(primary)
    }

    /// Returns whether the experiment, and not the engine, sets this metric here.
    ///
    /// Such a metric has no ratio to the base case: see [`is_given`].
    pub fn is_given(&self, metric: &str) -> bool {
        self.is_rate_given && is_given(metric)
    }
}

/// Returns whether a fixed operation rate determines a metric.
///
/// In an open loop throughput is the offered rate, or the step is overloaded; a ratio of
/// throughputs shows nothing of the engines.
pub fn is_given(metric: &str) -> bool {
    metric.starts_with("throughput_")
        || [metric::OFFERED_OPS_PER_S.name, metric::COMMITTED_PER_MIN.name].contains(&metric)
}

/// Complete runs at one level of the clients factor, by variant.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunsComparison {
    /// Level of the clients factor.
    pub clients: u32,
    /// One entry per variant, in the order of [`Comparison::variants`].
    pub cells: Vec<CellComparison>,
}

/// A variant and how many of its runs there are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VariantRuns {
    /// The variant's name.
    pub name: String,
    /// Requested durability class.
    pub durability: Durability,
    /// Planned runs, over all levels.
    pub planned: u32,
    /// Runs with a record.
    pub recorded: u32,
    /// Runs that executed every step.
    pub complete: u32,
}

/// A run that did not execute every step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IncompleteRun {
    /// The run.
    pub run: String,
    /// Its variant.
    pub variant: String,
    /// How it ended, in one phrase.
    pub how: String,
    /// Finished steps: these count in the comparison, unless it has failed a check.
    pub steps_counted: u32,
    /// Whether its answers were wrong, or rows were lost.
    pub has_failed_check: bool,
}

/// A run that is excluded because its client was late.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InvalidRun {
    /// The run.
    pub run: String,
    /// Its variant.
    pub variant: String,
    /// Why it must not be used.
    pub reason: String,
}

/// One of [`TRADE_OFFS`](crate::TRADE_OFFS) at one level of clients, over all variants.
///
/// Less is better.
#[derive(Debug, Clone, PartialEq)]
pub struct TradeOff {
    /// Level of the clients factor.
    pub clients: u32,
    /// The metric.
    pub metric: Metric,
    /// One entry per variant, in the order of the comparison's; `None` where it is unknown.
    pub means: Vec<Option<MeanOfRuns>>,
    /// Every two variants that both have the metric, once.
    pub pairs: Vec<Pair>,
}

/// A metric of one variant with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MeanOfRuns {
    /// Mean, median and range over the runs.
    #[serde(flatten)]
    pub spread: Spread,
    /// 95 % interval of the mean; `None` for one run, without spread, and where a run gave 0.
    pub interval: Option<Interval>,
}

/// Two variants, by their positions, and the ratio of their means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// The variant above the line.
    pub variant: usize,
    /// The variant below it.
    pub base: usize,
    /// Ratio, interval and verdict, adjusted among the pairs of all trade-offs.
    pub effect: Effect,
}

/// Place of a variant among the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rank {
    /// Better than some other variant, and none is better.
    Best,
    /// Worse than some other variant, and none is worse.
    Worst,
}

impl TradeOff {
    /// Returns the place of a variant, as far as verdicts on its pairs decide it.
    ///
    /// Some other variant is above it, or below it, by a verdict, and none is on the other side:
    /// by a verdict or, where a pair has no interval, by its mean. Variants that an interval does
    /// not separate have the same place, and every variant with a better mean is best too, every
    /// one with a worse mean worst. Pairs whose verdicts are blocked do not count.
    ///
    /// Source: our choice, of all pairs, so that chance in the best of many does not choose what
    /// the others are compared with.
    pub fn rank(&self, variant: usize) -> Option<Rank> {
        let rank = self.rank_by_verdicts(variant)?;
        let mean = |at: usize| Some(self.means[at].as_ref()?.spread.mean);
        let is_beyond = |other: &usize| match rank {
            Rank::Best => mean(*other) < mean(variant) && mean(*other).is_some(),
            Rank::Worst => mean(*other) > mean(variant),
        };
        let mut beyond = (0..self.means.len()).filter(is_beyond);
        beyond.all(|other| self.rank_by_verdicts(other) == Some(rank)).then_some(rank)
    }

    fn rank_by_verdicts(&self, variant: usize) -> Option<Rank> {
        let others = (0..self.means.len()).filter(|other| *other != variant);
        let orders: Vec<_> = others.filter_map(|other| self.order(variant, other)).collect();
        let is_none = |order| orders.iter().all(|(one, _)| *one != order);
        if orders.contains(&(Ordering::Less, true)) && is_none(Ordering::Greater) {
            Some(Rank::Best)
        } else if orders.contains(&(Ordering::Greater, true)) && is_none(Ordering::Less) {
            Some(Rank::Worst)
        } else {
            None
        }
    }

    /// Returns the order of two variants, and whether an interval decides it.
    ///
    /// `None` where either is unknown, and where no verdict may be drawn.
    fn order(&self, one: usize, other: usize) -> Option<(Ordering, bool)> {
        let mean = |at: usize| Some(self.means.get(at)?.as_ref()?.spread.mean);
        let by_mean = mean(one)?.total_cmp(&mean(other)?);
        let is_pair = |pair: &&Pair| {
            let both = [pair.variant, pair.base];
            both == [one, other] || both == [other, one]
        };
        match self.pairs.iter().find(is_pair).map(|pair| &pair.effect) {
            Some(effect) if effect.is_blocked => None,
            Some(Effect { interval: Some(_), verdict, .. }) => match verdict {
                Verdict::Above | Verdict::Below => Some((by_mean, true)),
                Verdict::SmallButReal | Verdict::Equivalent | Verdict::Inconclusive => {
                    Some((Ordering::Equal, true))
                }
            },
            Some(_) | None => Some((by_mean, false)),
        }
    }
}

/// The variants of one experiment, compared.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Comparison {
    /// Name of the base case.
    pub base: String,
    /// Name of the control variant, a copy of the base.
    ///
    /// `None` without one, and under another base than the experiment's own.
    pub control: Option<String>,
    /// Metrics that the question is about; empty where none is named.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub answer: Vec<String>,
    /// Whether the experiment declares its question's steps or metrics.
    #[serde(skip)]
    pub is_declared: bool,
    /// Smallest difference that matters, as a share; declared before anything was run.
    pub margin: f64,
    /// Planned repetitions.
    pub repetitions: u32,
    /// The variants, in the experiment's order.
    pub variants: Vec<VariantRuns>,
    /// The steps, by level of clients and then in order.
    pub steps: Vec<StepComparison>,
    /// Metrics of whole runs, by level of clients.
    pub runs: Vec<RunsComparison>,
    /// Names of the steps whose results answer the question.
    #[serde(skip)]
    pub answering: BTreeSet<String>,
    /// Sizes of the families and what their adjustment withdrew.
    pub families: Families,
    /// Published findings checked against these runs.
    ///
    /// Rendered by `render`, with likely reasons.
    #[serde(skip)]
    pub published: Vec<Held>,
    /// What every variant pays for reads, writes, space and cache, by level of clients.
    ///
    /// Rendered by `render`, with the best and the worst.
    #[serde(skip)]
    pub trade_offs: Vec<TradeOff>,
    /// What the variants lost in simulated crashes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cuts: Vec<CutSummary>,
    /// Machines as a random factor; `None` where all runs are of one machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machines: Option<MachineFactor>,
    /// Prior noise by metric; without an entry only its cells count.
    pub noise: BTreeMap<String, Noise>,
    /// Runs that did not execute every step.
    pub incomplete: Vec<IncompleteRun>,
    /// Invalid runs; they do not count.
    pub invalid: Vec<InvalidRun>,
}

impl Comparison {
    /// Returns whether there are runs of which no figure counts.
    pub fn has_invalid_runs(&self) -> bool {
        !self.invalid.is_empty() || self.has_failed_check()
    }

    /// Returns whether a run's answers were wrong, or rows were lost.
    pub fn has_failed_check(&self) -> bool {
        self.incomplete.iter().any(|run| run.has_failed_check)
    }

    /// Returns whether a step only prepares those that the question is about.
    pub fn is_preparatory(&self, step: &str) -> bool {
        self.steps.iter().any(|one| one.name == step && one.is_preparatory)
    }

    /// Returns whether a step has a headline.
    ///
    /// With a declared question, the steps that it is about have one.
    pub const fn has_headline(&self, step: &StepComparison) -> bool {
        !(self.is_declared && step.is_preparatory)
    }

    /// Returns whether no step that the question is about has a metric of its own.
    pub fn has_nothing(&self) -> bool {
        let has_result = |step: &StepComparison| {
            let known = |metric| step.cells.iter().any(|cell| cell.metric(metric).is_some());
            self.answering.contains(&step.name) && step.own_metrics().any(known)
        };
        !self.steps.iter().any(has_result)
    }

    /// Iterates over all effects relative to the base.
    pub fn effects(&self) -> impl Iterator<Item = &Effect> {
        let cells = self.steps.iter().flat_map(StepComparison::all_cells);
        let cells = cells.chain(self.runs.iter().flat_map(|runs| &runs.cells));
        cells.flat_map(|cell| cell.metrics.values()).filter_map(|one| one.versus_base.as_ref())
    }

    /// Returns the levels of the clients factor, ascending.
    pub fn levels(&self) -> BTreeSet<u32> {
        self.steps.iter().map(|step| step.clients.level).collect()
    }

    /// Returns the smallest and the largest number of runs per cell.
    pub fn runs_per_cell(&self) -> Option<(u32, u32)> {
        let cells = self.steps.iter().flat_map(|step| &step.cells);
        let counts: Vec<u32> = cells.map(|cell| cell.runs).filter(|runs| *runs > 0).collect();
        Some((*counts.iter().min()?, *counts.iter().max()?))
    }
}

/// An experiment's comparisons by family; each is adjusted by itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Families {
    /// Each step's own metrics ([`StepComparison::own_metrics`]), for each variant.
    pub primary: Family,
    /// Every other metric with a better direction, by step and variant.
    pub secondary: Family,
    /// Every metric with a better direction of the parts of steps, by variant.
    #[serde(skip_serializing_if = "Family::is_empty")]
    pub parts: Family,
    /// Each step's own metrics, for the control.
    #[serde(skip_serializing_if = "Family::is_empty")]
    pub control: Family,
}

/// Comparisons that are adjusted together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Family {
    /// Comparisons in it.
    pub comparisons: u32,
    /// Of these, differences that are significant without adjustment.
    pub significant: u32,
    /// Of these again, differences that the adjustment withdraws.
    pub withdrawn: u32,
}

impl Family {
    /// Returns whether it has no comparison.
    pub const fn is_empty(&self) -> bool {
        self.comparisons == 0
    }
}
