//! How verdicts were reached: margin, intervals, noise, families.

use crate::document::Part;
use crate::figure::{declared, percent};
use crate::input::Compared;
use crate::method::{family, methods, pooled, primary_effects};
use crate::trust::waived;

/// Returns the part; nothing for a single variant.
pub(super) fn section(compared: &Compared<'_>) -> Vec<Part> {
    let mut parts = Vec::new();
    if compared.comparison.variants.len() > 1 {
        let how = "A run is one observation; seconds within it are not. Runs are compared as \
                   logarithms: an effect is the ratio of geometric means, variant to base.";
        parts.push(Part::Heading(3, "How it was compared".to_owned()));
        parts.extend([Part::Text(how.to_owned()), Part::facts(facts(compared))]);
    }
    let waived = Part::facts(waived(compared).into_iter().map(|one| (one.code, one.reason)));
    parts.extend(Part::Heading(3, "Rules waived by the author".to_owned()).above([waived]));
    parts
}

fn facts(compared: &Compared<'_>) -> Vec<(&'static str, String)> {
    let comparison = compared.comparison;
    let mut facts = vec![("smallest difference that matters", declared(comparison.margin))];
    let methods = methods(comparison);
    if !methods.is_empty() {
        facts.push(("intervals", methods.join("; ")));
    }
    facts.extend(noise(compared).map(|noise| ("noise from run to run", noise)));
    let families = &comparison.families;
    facts.extend(family(&families.primary).map(|text| ("each step's own question", text)));
    facts.extend(family(&families.secondary).map(|text| ("all other metrics", text)));
    facts.extend(family(&families.parts).map(|text| ("procedures, statements, events", text)));
    if let Some(control) = &comparison.control {
        let adjusted = family(&families.control).map_or(String::new(), |text| format!("; {text}"));
        facts.push(("control", format!("{control}: a copy of the base{adjusted}")));
    }
    if compared.has_no_verdict() {
        facts.push(("verdicts", "not shown: none may be drawn".to_owned()));
    }
    facts
}

/// Returns the coefficients of variation of the steps' own questions, and where they are from.
fn noise(compared: &Compared<'_>) -> Option<String> {
    let comparison = compared.comparison;
    let mut covs: Vec<f64> = primary_effects(comparison).map(|effect| effect.run_cov).collect();
    covs.sort_by(f64::total_cmp);
    let (low, high) = (covs.first()?, covs.last()?);
    let mut origins: Vec<String> = comparison.noise.values().map(pooled).collect();
    origins.sort();
    origins.dedup();
    let range = format!("coefficient of variation {} to {}", percent(*low), percent(*high));
    origins.insert(0, range);
    Some(origins.join("; "))
}
