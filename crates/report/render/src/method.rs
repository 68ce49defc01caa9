//! Methods behind verdicts: intervals, origin of the noise, families.

use analysis::{CellComparison, Comparison, Family, Noise};
use stats::{Effect, Method};

use model::units::many;

/// The methods that give an interval, in words.
const NAMES: [(Method, &str); 7] = [
    (Method::Moderated, "moderated t-test on log values"),
    (Method::Pooled, "pooled t-test on log values"),
    (Method::Welch, "Welch's t-test on log values"),
    (Method::Paired, "paired t-test on the log ratios of blocks"),
    (Method::Machines, "t-test on the mean log ratios of machines"),
    (Method::History, "t-test on log values, with the variance of other cells and experiments"),
    (Method::Ranks, "rank test, if all runs of a variant are equal"),
];

/// Returns the interval methods of the steps' own questions, each once.
pub(crate) fn methods(comparison: &Comparison) -> Vec<&'static str> {
    let is_used = |method: Method| primary_effects(comparison).any(|it| it.method == method);
    NAMES.iter().filter(|(method, _)| is_used(*method)).map(|(_, name)| *name).collect()
}

/// Returns the effects of the steps' own questions, over all steps and variants.
pub(crate) fn primary_effects(comparison: &Comparison) -> impl Iterator<Item = &Effect> {
    comparison.steps.iter().flat_map(|step| {
        let own = |cell| step.own_metrics().filter_map(move |it| CellComparison::metric(cell, it));
        let measured = step.cells.iter().flat_map(own);
        measured.filter_map(|measured| measured.versus_base.as_ref())
    })
}

/// Returns the cells that noise was fitted to.
pub(crate) fn pooled(noise: &Noise) -> String {
    let own = many(noise.own_cells as usize, "cell");
    let earlier = match noise.earlier_cells {
        0 => String::new(),
        cells => format!(" and {} of earlier experiments", many(cells as usize, "cell")),
    };
    format!("pooled from {own} of these runs{earlier}")
}

/// Returns how a family of comparisons was adjusted; `None` for an empty one.
///
/// Source: [Benjamini Hochberg 1995].
pub(crate) fn family(family: &Family) -> Option<String> {
    (family.comparisons > 0).then(|| {
        format!(
            "{}; {} significant without adjustment; the adjustment (Benjamini-Hochberg, false \
             discovery rate 5 %) withdrew {}",
            many(family.comparisons as usize, "comparison"),
            many(family.significant as usize, "difference"),
            family.withdrawn
        )
    })
}
