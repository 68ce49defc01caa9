//! Methods behind verdicts: intervals, origin of the noise, families.

use analysis::{Comparison, Family, Noise};
use stats::{Effect, Method};

use crate::trust::many;

/// The methods that give an interval, in words.
const NAMES: [(Method, &str); 5] = [
    (Method::Moderated, "moderated t on logarithms"),
    (Method::Pooled, "pooled t on logarithms"),
    (Method::Welch, "Welch's t on logarithms"),
    (Method::Paired, "paired t on the log-ratios of blocks"),
    (Method::History, "t on logarithms with the noise of other runs"),
];

/// Returns the interval methods of the steps' own questions, each once.
pub(crate) fn methods(comparison: &Comparison) -> Vec<&'static str> {
    let is_used = |method: Method| primary_effects(comparison).any(|it| it.method == method);
    NAMES.iter().filter(|(method, _)| is_used(*method)).map(|(_, name)| *name).collect()
}

/// Returns the effects of the steps' own questions, over all steps and variants.
pub(crate) fn primary_effects(comparison: &Comparison) -> impl Iterator<Item = &Effect> {
    let of_step = |step: &'_ analysis::StepComparison| step.primary;
    comparison.steps.iter().flat_map(move |step| {
        let primary = of_step(step);
        let measured = step.cells.iter().filter_map(move |cell| cell.metric(primary?));
        measured.filter_map(|measured| measured.versus_base.as_ref())
    })
}

/// Returns the origin of the noise behind an effect.
pub(crate) fn origin(method: Method, noise: Option<&Noise>) -> String {
    match method {
        Method::Moderated | Method::History => {
            noise.map_or_else(|| "pooled with other cells".to_owned(), pooled)
        }
        Method::Pooled | Method::Welch => "from these runs".to_owned(),
        Method::Paired => "from these runs, block by block".to_owned(),
        Method::None => "assumed, not measured".to_owned(),
    }
}

/// Returns the cells that noise was fitted to.
fn pooled(noise: &Noise) -> String {
    let own = many(noise.own_cells as usize, "cell");
    match (noise.own_cells, noise.earlier_cells) {
        (_, 0) => format!("pooled from {own} of these runs"),
        (0, _) => format!("pooled from {}", earlier(noise)),
        (_, _) => format!("pooled from {own} of these runs and {}", earlier(noise)),
    }
}

fn earlier(noise: &Noise) -> String {
    format!(
        "{} of {}",
        many(noise.earlier_cells as usize, "cell"),
        many(noise.earlier_experiments as usize, "earlier experiment")
    )
}

/// Returns how a family of comparisons was adjusted; `None` for an empty one.
///
/// Source: [Benjamini Hochberg 1995].
pub(crate) fn family(family: &Family) -> Option<String> {
    (family.comparisons > 0).then(|| {
        format!(
            "{}; {} significant without adjustment, {} of them withdrawn by it (Benjamini-Hochberg, \
             false discovery rate 5 %)",
            many(family.comparisons as usize, "comparison"),
            many(family.significant as usize, "difference"),
            family.withdrawn
        )
    })
}
