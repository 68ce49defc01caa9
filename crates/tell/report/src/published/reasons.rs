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
        (Err(why), _) => vec![unmeasured(held, why)],
        (Ok(_), _) if compared.label == Label::Bogus => Vec::new(),
        (Ok(_), Reproduction::Undecided) => vec![undecided(compared, held)],
        (Ok(_), outcome) if outcome.disagrees() => {
            let declared = held.published.reasons.iter().cloned();
            let seen = crowd(compared, held).into_iter().chain(doubts(compared, held));
            let known: Vec<String> = declared.chain(seen).collect();
            let none = || vec!["none is stated, and no rule doubts the step".to_owned()];
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

/// Returns the rules that doubt this step, or one of these variants.
fn doubts(compared: &Compared<'_>, held: &HeldFinding) -> Option<String> {
    let published = &held.published;
    let mut names: Vec<String> = Vec::new();
    for severity in [Severity::Blocking, Severity::Doubt] {
        for one in weighing(compared, severity) {
            let (steps, variants) = (&one.place.steps, &one.place.variants);
            let is_step = steps.is_empty() || steps.contains(&published.step);
            let is_variant = variants.is_empty()
                || [&published.variant, &published.base].iter().any(|name| variants.contains(name));
            // What doubts everything is said once.
            let is_whole = steps.is_empty() && variants.is_empty();
            let name = format!("{} {}", one.code, one.name);
            if is_step && is_variant && !is_whole && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let rest = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    names.extend((rest > 0).then(|| format!("{rest} more")));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    (!names.is_empty()).then(|| format!("doubted here by {}", list(&names)))
}
