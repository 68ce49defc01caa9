//! Every comparison with the base, the most certain and largest first.

use analysis::{CellComparison, Comparison, StepComparison};
use model::units::many;
use model::{Metric, metric};
use stats::{Effect, Verdict};

use super::View;
use crate::document::{Cell, Part, Table, Tone};
use crate::figure;
use crate::input::Compared;
use crate::label::step_heading;
use crate::sentence::Claim;

/// A variant's metric in a step, compared with the base.
struct Difference<'a> {
    step: &'a StepComparison,
    cell: &'a CellComparison,
    metric: &'static str,
    effect: &'a Effect,
    verdict: Option<Verdict>,
    is_shown: bool,
}

/// How many comparisons there are, how many differ, and what is hidden.
#[derive(Default)]
struct Counts {
    all: usize,
    differing: usize,
    hidden: usize,
    hidden_worse: usize,
}

/// Returns the count, the table of what the view shows, and the threshold.
pub(super) fn differences(compared: &Compared<'_>, view: &View) -> Vec<Part> {
    let all = all(compared, view);
    if all.is_empty() {
        let missing = |metric: &Metric| {
            format!("No step of these runs has `{metric}` in two variants.", metric = metric.name)
        };
        return view.metric.iter().map(|metric| Part::Strong(missing(metric))).collect();
    }
    let counts = Counts::of(compared, &all);
    let mut shown: Vec<&Difference<'_>> = all.iter().filter(|one| one.is_shown).collect();
    shown.sort_by(|a, b| {
        (a.class(), b.certain_size())
            .partial_cmp(&(b.class(), a.certain_size()))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    let mut table = Table::new([
        "<variant",
        "<step",
        "<metric",
        "here",
        "base",
        "<ratio",
        "<95 % interval",
        "q",
    ]);
    for one in shown {
        table.push(one.row(compared));
    }
    let margin = super::view::percent(compared.comparison.margin);
    let threshold = format!(
        "Sorted by certainty, then by size: the end of the interval that is nearer to 1. A verdict \
         needs an interval beyond 1 and an adjusted p (q) of 0.05 at most; a difference matters \
         from {margin} on."
    );
    vec![Part::Strong(counts.sentence()), Part::Table(table), Part::Note(threshold)]
}

/// Returns every comparison of the metrics that the view, or else the question, names.
fn all<'a>(compared: &Compared<'a>, view: &View) -> Vec<Difference<'a>> {
    let comparison: &'a Comparison = compared.comparison;
    let mut all = Vec::new();
    for step in comparison.steps.iter().filter(|step| comparison.has_headline(step)) {
        let metrics: Vec<&'static str> = match &view.metric {
            Some(metric) => vec![metric.name],
            None => Claim::all_of(step).into_iter().map(|claim| claim.metric).collect(),
        };
        let others = step.cells.iter().filter(|cell| cell.variant != comparison.base);
        for cell in others.filter(|cell| !compared.is_control(&cell.variant)) {
            for metric in metrics.iter().copied() {
                let Some(effect) = cell.metric(metric).and_then(|it| it.versus_base.as_ref())
                else {
                    continue;
                };
                let verdict = compared.verdict(effect);
                let is_shown = view.has_step(&step.name)
                    && view.has_variant(&cell.variant)
                    && (!view.only_differing || is_difference(verdict));
                all.push(Difference { step, cell, metric, effect, verdict, is_shown });
            }
        }
    }
    all
}

fn is_difference(verdict: Option<Verdict>) -> bool {
    matches!(verdict, Some(Verdict::Above | Verdict::Below | Verdict::SmallButReal))
}

impl Difference<'_> {
    /// Returns the place of its class: differences that matter come first.
    const fn class(&self) -> u8 {
        match self.verdict {
            Some(Verdict::Above | Verdict::Below) => 0,
            Some(Verdict::SmallButReal) => 1,
            Some(Verdict::Equivalent) => 2,
            Some(Verdict::Inconclusive) => 3,
            None => 4,
        }
    }

    /// Returns how large it is at least, on logarithms; its estimate without an interval beyond 1.
    fn certain_size(&self) -> f64 {
        match &self.effect.interval {
            Some(interval) if interval.low > 1.0 => interval.low.ln(),
            Some(interval) if interval.high < 1.0 => -interval.high.ln(),
            _ => 0.0,
        }
    }

    fn row(&self, compared: &Compared<'_>) -> Vec<Cell> {
        let known = metric::find(self.metric);
        let unit = known.map(|metric| metric.unit);
        let value = |cell: Option<&CellComparison>| {
            let mean = cell.and_then(|cell| cell.metric(self.metric)).map(|it| it.spread.mean);
            match (unit, mean) {
                (Some(unit), Some(mean)) => Cell::from(figure::figure(unit, mean)),
                _ => Cell::new(figure::MISSING, Tone::Grey),
            }
        };
        let tone = known.map_or(Tone::Plain, |metric| compared.tone(metric.better, self.effect));
        let interval = self.effect.interval.as_ref().map(figure::interval).unwrap_or_default();
        let q = self.effect.q.map(figure::digits).unwrap_or_default();
        vec![
            Cell::from(self.cell.variant.as_str()),
            step_heading(compared.comparison, self.step).into(),
            self.metric.into(),
            value(Some(self.cell)),
            value(self.step.cell(&compared.comparison.base)),
            Cell::new(compared.versus(self.effect), tone),
            interval.into(),
            q.into(),
        ]
    }
}

impl Counts {
    fn of(compared: &Compared<'_>, all: &[Difference<'_>]) -> Self {
        let mut counts = Self { all: all.len(), ..Self::default() };
        for one in all {
            counts.differing += usize::from(is_difference(one.verdict));
            if !one.is_shown {
                let better = metric::find(one.metric).map(|metric| metric.better);
                let is_worse =
                    better.is_some_and(|it| compared.tone(it, one.effect) == Tone::Worse);
                counts.hidden += 1;
                counts.hidden_worse += usize::from(is_worse);
            }
        }
        counts
    }

    fn sentence(&self) -> String {
        let Self { all, differing, hidden, hidden_worse } = self;
        let is = if *differing == 1 { "differs" } else { "differ" };
        let head = format!("{differing} of {} {is}", many(*all, "comparison"));
        match (hidden, hidden_worse) {
            (0, _) => format!("{head}."),
            (_, 0) => format!("{head}; {hidden} hidden by the selection, none of them worse."),
            (_, worse) => {
                format!("{head}; {hidden} hidden by the selection, {worse} of them worse.")
            }
        }
    }
}
