//! What the control tells: the base once more, under another name.

use analysis::StepComparison;
use model::Label;
use stats::{Method, Verdict};

use super::claim::Claim;
use super::single::plain;
use super::step::{list, single};
use crate::figure::percent;
use crate::input::Compared;
use crate::label::step_heading;
use crate::trust::many;

/// Returns what was found between the base and itself; `None` without a control.
pub(crate) fn control(compared: &Compared<'_>) -> Option<String> {
    let comparison = compared.comparison;
    let name = comparison.control.as_deref().filter(|name| *name != comparison.base)?;
    let mut asked = 0;
    let mut wrong: Vec<String> = Vec::new();
    let mut evidence: Vec<String> = Vec::new();
    let mut look = |step: &StepComparison| -> Option<()> {
        let claim = Claim::of(step).into_iter().next()?;
        let cell = step.cells.iter().find(|cell| cell.variant == name)?;
        let effect = single(compared, (step, cell), &claim)?.effect;
        asked += 1;
        let heading = step_heading(comparison, step);
        if effect.method != Method::None {
            evidence.push(format!("{} in {heading}", percent(effect.detectable)));
        }
        if matches!(effect.verdict, Verdict::Above | Verdict::Below | Verdict::SmallButReal) {
            wrong.push(format!("{heading} ({})", plain(effect)));
        }
        Some(())
    };
    for step in &comparison.steps {
        look(step);
    }
    let is = format!("Control: {name} is {} once more", comparison.base);
    if compared.label == Label::Bogus {
        return Some(is + ".");
    }
    if asked == 0 {
        return Some(format!("{is}; no step was finished by both."));
    }
    let words = |texts: &[String]| list(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    Some(if wrong.is_empty() {
        let of = many(asked, "step");
        let found = format!("{is}; between the two no difference was found in {of}.");
        if evidence.is_empty() {
            return Some(found);
        }
        let evidence = words(&evidence);
        format!("{found} A difference of {evidence} would have been seen four times in five.")
    } else {
        format!(
            "{is}, and yet a difference was found in {}: one in 20 such answers is wrong by design, \
             and differences of this size stay in doubt.",
            words(&wrong)
        )
    })
}
