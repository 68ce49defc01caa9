//! A step of a sweep: a variant against the base by clients.

use analysis::StepComparison;
use stats::{Effect, Verdict, Why};

use super::claim::Claim;
use super::phrase::list;
use super::step::single;
use crate::figure::declared;
use crate::input::Compared;
use crate::label::counts_rows;
use crate::trust;

/// Returns a sentence for each variant: its verdicts by number of clients.
pub(crate) fn levels(compared: &Compared<'_>, steps: &[&StepComparison]) -> Vec<String> {
    let comparison = compared.comparison;
    let variants = comparison.variants.iter().map(|variant| variant.name.as_str());
    let others = variants.filter(|name| *name != comparison.base && !compared.is_control(name));
    others.filter_map(|name| of_variant(compared, steps, name)).collect()
}

fn of_variant(compared: &Compared<'_>, steps: &[&StepComparison], name: &str) -> Option<String> {
    let comparison = compared.comparison;
    let is_rows = steps.first().is_some_and(|step| counts_rows(step));
    let claim = if is_rows { Claim::ROWS } else { Claim::THROUGHPUT };
    let mut known: Vec<(u32, &Effect)> = Vec::new();
    for step in steps {
        let cell = step.cells.iter().find(|cell| cell.variant == name);
        let single = cell.and_then(|cell| single(compared, (step, cell), &claim));
        known.extend(single.map(|it| (step.clients, it.effect)));
    }
    let first = known.first()?.1;
    let head = format!("{} of {name} against {}", steps[0].name, comparison.base);
    if compared.verdict(first).is_none() {
        return Some(format!("{head}: no verdict: {}.", trust::blocking(compared, true)));
    }
    let margin = declared(comparison.margin);
    let is = |effect: &Effect, verdict: Verdict| effect.verdict == verdict;
    let is_wide = |effect: &Effect| effect.why == Some(Why::Wide);
    type Is<'a> = &'a dyn Fn(&Effect) -> bool;
    let groups: [(String, Is<'_>); 6] = [
        (claim.less.to_owned(), &|it| is(it, Verdict::Below)),
        ("no detectable difference".to_owned(), &|it| is(it, Verdict::Inconclusive) && is_wide(it)),
        ("inconclusive".to_owned(), &|it| is(it, Verdict::Inconclusive) && !is_wide(it)),
        (format!("no difference beyond {margin}"), &|it| is(it, Verdict::Equivalent)),
        (format!("a real difference by its estimate within {margin}"), &|it| {
            is(it, Verdict::SmallButReal)
        }),
        (claim.more.to_owned(), &|it| is(it, Verdict::Above)),
    ];
    let clauses = groups.iter().filter_map(|(label, is_of)| {
        let own = known.iter().filter(|(_, effect)| is_of(effect));
        let own: Vec<String> = own.map(|(clients, _)| clients.to_string()).collect();
        let names: Vec<&str> = own.iter().map(String::as_str).collect();
        let noun = if own == ["1"] { "client" } else { "clients" };
        (!own.is_empty()).then(|| format!("{label} with {} {noun}", list(&names)))
    });
    Some(format!("{head}: {}.", clauses.collect::<Vec<_>>().join("; ")))
}
