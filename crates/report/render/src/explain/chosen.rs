//! The differences a report explains: established ones in throughput.

use analysis::explain::Question;
use analysis::{Explanation, explain};
use model::Label;
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

impl Chosen {
    /// Returns the command that prints all of them.
    pub(crate) fn command(&self, compared: &Compared<'_>) -> String {
        let (base, id) = (&compared.comparison.base, &compared.meta.id);
        format!("assay explain {base} {} --in {id}", self.variant)
    }
}

/// Returns the explained differences by variant; none where no verdict may be drawn.
///
/// Left out: the control, and throughput set by the experiment or a search.
pub(crate) fn chosen(input: &ReportInput<'_>, compared: &Compared<'_>) -> Vec<Chosen> {
    if compared.label == Label::Bogus {
        return Vec::new();
    }
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
            cpus: input.manifest.host.cpus,
            blocking: &[],
        })
    });
    let mut established: Vec<(f64, Explanation)> =
        explained.filter_map(|one| Some((size(one.effect.as_ref()?)?, one))).collect();
    // Of two equal ones the earlier step.
    let mut largest = 0;
    for (at, (size, _)) in established.iter().enumerate() {
        if *size > established[largest].0 {
            largest = at;
        }
    }
    if established.is_empty() {
        return None;
    }
    let (_, first) = established.remove(largest);
    let largest = Block::of(compared, &first);
    // A sentence stands once.
    let mut shown = largest.sentences.clone();
    let mut others: Vec<Block> =
        established.iter().map(|(_, one)| Block::of(compared, one)).collect();
    for other in others.iter_mut().filter(|other| other.refusal().is_none()) {
        other.sentences.retain(|sentence| !shown.contains(sentence));
        shown.extend(other.sentences.iter().cloned());
    }
    Some(Chosen { variant: variant.to_owned(), largest, others })
}

/// Returns how large a difference is, on logarithms; `None` where it is not established.
fn size(effect: &Effect) -> Option<f64> {
    match effect.verdict {
        Verdict::Above | Verdict::Below | Verdict::SmallButReal => Some(effect.ratio.ln().abs()),
        Verdict::Equivalent | Verdict::Inconclusive => None,
    }
}
