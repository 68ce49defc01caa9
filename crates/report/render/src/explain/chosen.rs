//! The differences a report explains: established ones in the metric of a step's verdict.

use analysis::explain::Question;
use analysis::{Explanation, explain};
use stats::{Effect, Verdict};

use super::render::Block;
use crate::input::{Compared, ReportInput};
use crate::label::{Loading, loading};

/// The explained differences of one variant.
pub(crate) struct Chosen {
    pub(crate) variant: String,
    /// Its largest difference.
    pub(crate) largest: Block,
    /// The others, in the order of the steps.
    pub(crate) others: Vec<Block>,
}

/// Returns the explained differences by variant; none where no verdict may be drawn.
///
/// Left out: the control, and throughput set by the experiment or a search.
pub(crate) fn chosen(input: &ReportInput<'_>, compared: &Compared<'_>) -> Vec<Chosen> {
    let names = input.comparison.variants.iter().map(|variant| variant.name.as_str());
    let others = names.filter(|name| *name != input.comparison.base && !compared.is_control(name));
    others.filter_map(|variant| of_variant(input, compared, variant)).collect()
}

fn of_variant(input: &ReportInput<'_>, compared: &Compared<'_>, variant: &str) -> Option<Chosen> {
    let steps = input.comparison.steps.iter().filter(|step| loading(step) == Loading::Closed);
    let explained = steps.filter_map(|step| {
        explain(&Question {
            experiment: &input.manifest.plan.experiment,
            runs: input.runs,
            comparison: input.comparison,
            step,
            variant,
            metric: None,
            cpus: input.manifest.host.cpus,
            blocking: &[],
        })
    });
    let mut established: Vec<(f64, Explanation)> =
        explained.filter_map(|one| Some((size(compared, one.effect.as_ref()?)?, one))).collect();
    // Of two equal ones the earlier step.
    let places = (0..established.len()).rev();
    let largest = places.max_by(|a, b| established[*a].0.total_cmp(&established[*b].0))?;
    let largest = Block::of(compared, &established.remove(largest).1);
    let others = established.iter().map(|(_, one)| Block::of(compared, one)).collect();
    Some(Chosen { variant: variant.to_owned(), largest, others })
}

/// Returns how large a difference is, on logarithms; `None` where it is not established or blocked.
fn size(compared: &Compared<'_>, effect: &Effect) -> Option<f64> {
    match compared.verdict(effect)? {
        Verdict::Above | Verdict::Below | Verdict::SmallButReal => Some(effect.ratio.ln().abs()),
        Verdict::Equivalent | Verdict::Inconclusive => None,
    }
}
