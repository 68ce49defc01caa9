//! What an explanation leaves untested, and how to test it.

use analysis::Explanation;
use analysis::explain::{ChangeKind, Declared, Part, Rung};

use super::label::change;

/// Declared differences named before the rest is only counted.
const NAMED: usize = 3;

/// Returns the strength of the claim, what is untested, and how to test it.
pub(super) fn not_tested(explanation: &Explanation) -> Vec<String> {
    let declared = &explanation.declared;
    let mut lines = Vec::new();
    match (explanation.rung, declared.intervention()) {
        (Rung::Cause, Some(only)) => {
            lines.push(format!(
                "Cause: {} is the only declared difference, and it was set on purpose: it makes \
                 the difference here. By which path is association.",
                change(only)
            ));
            lines.extend(in_force(declared));
        }
        _ => {
            lines.push(format!(
                "This is accounting plus association. Not tested: {}.",
                untested(declared)
            ));
        }
    }
    lines.extend(how(explanation).map(|how| format!("To test it: {how}.")));
    lines
}

/// Returns what else was in force once one option was set.
fn in_force(declared: &Declared) -> Option<String> {
    let (named, rest) = first(&declared.in_force);
    (!named.is_empty()).then(|| format!("With it, the engine reports: {named}{rest}."))
}

/// Returns the untested differences of the variants.
fn untested(declared: &Declared) -> String {
    if declared.is_control {
        return "anything: both are the same build and options, so any difference is noise"
            .to_owned();
    }
    let (named, rest) = first(&declared.changes);
    match &declared.changes[..] {
        [] => "what differs: the experiment declares nothing".to_owned(),
        [only] if only.kind == ChangeKind::Build => {
            format!("which code; {named}, and two {}s may differ in everything", only.name)
        }
        changes => format!("which of {} declared differences: {named}{rest}", changes.len()),
    }
}

fn first(changes: &[analysis::explain::Change]) -> (String, String) {
    let named: Vec<String> = changes.iter().take(NAMED).map(change).collect();
    let rest = changes.len().saturating_sub(NAMED);
    let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    (named.join(", "), rest)
}

/// Returns how to test where the largest part of the difference comes from.
fn how(explanation: &Explanation) -> Option<&'static str> {
    let account = explanation.account.as_ref()?;
    let largest = account.components.iter().find(|component| component.us.is_apart())?;
    let is_alone = explanation.clients == 1;
    Some(match largest.part {
        Part::EngineCpu | Part::ClientCpu | Part::Service => {
            "a profile of each, perf record -g -- assay run \u{2026}"
        }
        Part::ServerCpu => {
            "a profile of each server under the load, perf record -g -p PID; or the same with one \
             option of the server changed"
        }
        Part::ServerWait => {
            "what the server waits in: its log is in the record's engine folder; or a cache that \
             holds the data, assay run \u{2026} --cache SIZE"
        }
        Part::KernelCpu => "the system calls of each, strace -f -c assay run \u{2026}",
        Part::RunQueue if is_alone => "a host without other work, or fewer background threads",
        Part::RunQueue => "one client, assay run \u{2026} --clients 1: fewer threads want a CPU",
        Part::Storage => {
            "a cache that holds the data, assay run \u{2026} --cache SIZE: without reads there \
             is nothing to wait for"
        }
        Part::Sleep if is_alone => "what it waits in, strace -f -c -w assay run \u{2026}",
        Part::Sleep => "one client, assay run \u{2026} --clients 1: no other client to wait for",
        Part::Waiting => "more clients, assay run \u{2026} --clients N",
    })
}
