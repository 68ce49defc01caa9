//! The detectable difference of inconclusive comparisons.

use stats::{Method, Verdict};

use crate::figure::percent;
use crate::input::Compared;
use crate::label::{measured_steps, step_heading};

/// Returns the detectable difference of the steps' inconclusive questions, in one line.
///
/// `None` where none is inconclusive.
///
/// Source: [Cohen 1988], power of 80 %.
pub(crate) fn detectable(compared: &Compared<'_>) -> Option<String> {
    let comparison = compared.comparison;
    let mut found: Vec<(f64, String)> = Vec::new();
    let mut assumed = None;
    for step in measured_steps(comparison) {
        let Some(primary) = step.primary else { continue };
        let others = step.cells.iter().filter(|cell| !compared.is_control(&cell.variant));
        let effects = others.filter_map(|cell| cell.metric(primary)?.versus_base);
        for effect in effects {
            if compared.verdict(&effect) != Some(Verdict::Inconclusive) || effect.detectable <= 0.0
            {
                continue;
            }
            if effect.method == Method::None {
                assumed = Some(effect.run_cov);
            }
            found.push((effect.detectable, step_heading(comparison, step)));
        }
    }
    found.sort_by(|one, other| one.0.total_cmp(&other.0));
    let ((low, of_low), (high, of_high)) = (found.first()?, found.last()?);
    let (low, high) = (percent(*low), percent(*high));
    let place = match (low == high, of_low == of_high) {
        (true, true) => format!("{high} in {of_high}"),
        (true, false) => format!("{high} in each inconclusive step"),
        (false, true) => format!("{} to {high} in {of_high}", low.trim_end_matches(" %")),
        (false, false) => format!("{low} in {of_low} to {high} in {of_high}"),
    };
    let assumed = assumed.map(|cov| {
        format!("; a run-to-run CoV of {} is assumed where none was measured", percent(cov))
    });
    Some(format!(
        "? detectable difference (80 % power): {place}; smaller ones may be missed{}",
        assumed.unwrap_or_default()
    ))
}
