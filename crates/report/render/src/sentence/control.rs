//! The control: a copy of the base under another name.

use model::Label;
use stats::{Method, Verdict};

use super::claim::Claim;
use super::phrase::list;
use super::single::plain;
use super::step::single;
use crate::figure::percent;
use crate::input::Compared;
use crate::label::step_heading;
use crate::trust::many;

/// Returns the differences between the base and its copy, in a sentence.
///
/// `None` without a control.
pub(crate) fn control(compared: &Compared<'_>) -> Option<String> {
    let comparison = compared.comparison;
    let name = comparison.control.as_deref().filter(|name| *name != comparison.base)?;
    let mut tested = 0;
    let mut wrong: Vec<String> = Vec::new();
    let mut detectable: Option<f64> = None;
    for step in &comparison.steps {
        let Some(claim) = Claim::of(step).into_iter().next() else { continue };
        let cell = step.cells.iter().find(|cell| cell.variant == name);
        let single = cell.and_then(|cell| single(compared, (step, cell), &claim));
        let Some(effect) = single.map(|it| it.effect) else { continue };
        tested += 1;
        let heading = step_heading(comparison, step);
        if effect.method != Method::None {
            detectable = Some(effect.detectable.max(detectable.unwrap_or(0.0)));
        }
        if matches!(effect.verdict, Verdict::Above | Verdict::Below | Verdict::SmallButReal) {
            wrong.push(format!("{heading} ({})", plain(effect)));
        }
    }
    let is = format!("Control: {name} is a copy of {}", comparison.base);
    if compared.label == Label::Bogus {
        return Some(is + ".");
    }
    if tested == 0 {
        return Some(format!("{is}; no step was finished by both."));
    }
    if !wrong.is_empty() {
        let wrong: Vec<&str> = wrong.iter().map(String::as_str).collect();
        return Some(format!(
            "{is}, and yet a difference was found in {}: one in 20 such tests is wrong by design, \
             and differences of this size are unreliable here.",
            list(&wrong)
        ));
    }
    let power = detectable.map(|share| format!(" (detectable from {} on)", percent(share)));
    Some(format!(
        "{is}; no difference between the two in {}{}.",
        many(tested, "step"),
        power.unwrap_or_default()
    ))
}
