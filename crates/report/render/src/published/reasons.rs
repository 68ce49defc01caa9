//! Why a finding may not be here as it was published: what the author declared, then what the
//! program can see.
//!
//! Nothing is guessed: a publication's machine and builds are words of the experiment file, and are
//! shown beside those of here.

use analysis::{HeldFinding, Reproduction};
use model::Label;
use model::record::Severity;
use model::units::clients;

use super::words::{undecided, unmeasured};
use crate::input::Compared;
use crate::sentence::list;
use crate::trust::weighing;

/// Rules named before the rest is only counted.
const NAMED: usize = 3;

/// Returns the likely reasons, likeliest first; none for what reproduces, and none where nothing
/// may be told.
pub(super) fn reasons(compared: &Compared<'_>, held: &HeldFinding) -> Vec<String> {
    match (&held.here, held.reproduction) {
        (Err(why), _) => vec![unmeasured(&held.published, why)],
        (Ok(_), _) if compared.label == Label::Bogus => Vec::new(),
        (Ok(_), Reproduction::Undecided) => vec![undecided(compared, held)],
        (Ok(_), outcome) if outcome.disagrees() => {
            let declared = held.published.reasons.iter().cloned();
            let evidence = crowd(compared, held).into_iter().chain(doubts(compared, held));
            let known: Vec<String> = declared.chain(evidence).collect();
            let none = || vec!["none is stated, and no rule doubts it alone".to_owned()];
            if known.is_empty() { none() } else { known }
        }
        (Ok(_), _) => Vec::new(),
    }
}

/// Returns that more clients ran than there are CPUs.
fn crowd(compared: &Compared<'_>, held: &HeldFinding) -> Option<String> {
    let here = held.here.as_ref().ok()?;
    let comparison = compared.comparison;
    let is_it = |key: (u32, u32)| key == (here.step_index, here.clients);
    let step = comparison.steps.iter().find(|step| is_it((step.index, step.clients)))?;
    let ran = compared.records(step, &held.published.variant).first()?.step.clients;
    let cpus = compared.cpus;
    let are = if cpus == 1 { "1 CPU".to_owned() } else { format!("{cpus} CPUs") };
    (cpus > 0 && ran > cpus).then(|| format!("{} ran on {are}", clients(ran)))
}

/// Returns the rules that doubt this step or one of these variants, beside those that doubt every
/// finding.
fn doubts(compared: &Compared<'_>, held: &HeldFinding) -> Option<String> {
    let of_all = of_all(compared);
    let own = rules(compared, held).into_iter().filter(|name| !of_all.contains(name));
    Some(format!("doubted by {}", named(own.collect())?))
}

/// Returns the rules that doubt every finding that was measured, in a sentence; `None` without any.
pub(crate) fn whole(compared: &Compared<'_>) -> Option<String> {
    let names = named(of_all(compared))?;
    Some(format!("All that was measured here is doubted by {names}: see the doubts."))
}

fn of_all(compared: &Compared<'_>) -> Vec<String> {
    let findings = compared.comparison.published.iter().flat_map(|one| &one.findings);
    let measured = findings.filter(|one| one.here.is_ok());
    let rules = measured.map(|one| rules(compared, one));
    let both = |one: Vec<String>, other: Vec<String>| {
        one.into_iter().filter(|name| other.contains(name)).collect()
    };
    rules.reduce(both).unwrap_or_default()
}

/// Returns the rules that doubt a finding's step or variants, the gravest first.
fn rules(compared: &Compared<'_>, held: &HeldFinding) -> Vec<String> {
    let published = &held.published;
    let mut names: Vec<String> = Vec::new();
    for severity in [Severity::Blocking, Severity::Warning] {
        for one in weighing(compared, severity) {
            let (steps, variants) = (&one.place.steps, &one.place.variants);
            let is_step = steps.is_empty() || steps.contains(&published.step);
            let is_variant = variants.is_empty()
                || [&published.variant, &published.base].iter().any(|name| variants.contains(name));
            let name = format!("{} {}", one.code, one.name);
            if is_step && is_variant && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// Returns some names and how many more there are; `None` without any.
fn named(mut names: Vec<String>) -> Option<String> {
    let rest = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    names.extend((rest > 0).then(|| format!("{rest} more")));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    (!names.is_empty()).then(|| list(&names))
}
