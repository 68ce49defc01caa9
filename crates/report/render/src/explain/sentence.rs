//! The sentences around a time account.
//!
//! Three levels of wording, chosen by rule. Accounting: "is". Association: "in the same runs".
//! Cause: "makes", only of one thing that was set on purpose.

use analysis::Explanation;
use analysis::explain::{
    Account, BINDS_FROM, Bound, Component, Factor, Identity, Resource, Rule, Rung, Subject,
};
use stats::Method;

use super::account::Scale;
use super::label::{binds, moved, percent, used};
use super::untested::not_tested;
use crate::figure;
use crate::input::Compared;
use crate::sentence::{Claim, Single};
use crate::trust::many;

/// Moved metrics named before the rest is only counted.
const MOVED: usize = 5;

/// Share of the difference from which a component is named in words.
const NAMED_SHARE: f64 = 0.1;

/// Returns the difference with its interval, worded as in the comparison.
pub(super) fn headline(compared: &Compared<'_>, explanation: &Explanation) -> String {
    let Explanation { step, level, clients, variant, base, runs, .. } = explanation;
    let mut place = format!("{step}, {}", model::units::clients(*clients));
    if level != clients {
        place.push_str(&format!(" (in runs of {level})"));
    }
    let runs_text = match runs {
        (1, 1) => ", one run of each".to_owned(),
        (one, two) if one == two => format!(", {one} runs of each"),
        (one, two) => format!(", {} of {base} and {two} of {variant}", many(*one as usize, "run")),
    };
    let is_bogus = explanation.refusals.iter().any(|refusal| refusal.rule == Rule::Bogus);
    let clause = match (&explanation.effect, explanation.subject) {
        (Some(effect), Subject::TimePerOperation) if !is_bogus => {
            let comparison = compared.comparison;
            let single = Single {
                claim: if explanation.unit.is_operation() {
                    &Claim::THROUGHPUT
                } else {
                    &Claim::ROWS
                },
                name: variant,
                base,
                effect,
                runs: [runs.0, runs.1],
                margin: comparison.margin,
                family: comparison.families.primary.comparisons,
            };
            // The clause of single runs states their number.
            let has_count = matches!(effect.method, Method::None | Method::History);
            let runs_text = if has_count { "" } else { &runs_text };
            return format!("{place}{runs_text}: {}.", single.clause());
        }
        (_, Subject::ResponseTime) if !is_bogus => explanation.account.as_ref().map(|account| {
            let (scale, total) = (Scale::of(&account.total), account.total);
            let interval = total.interval.map_or_else(String::new, |(low, high)| {
                format!(" {}", figure::limits(scale.signed(low), scale.signed(high)))
            });
            format!(
                "{variant} responded in {} {unit} on average, {base} in {}: {}{interval} {unit}",
                scale.plain(total.variant),
                scale.plain(total.base),
                scale.signed(total.difference),
                unit = scale.unit,
            )
        }),
        _ => None,
    };
    let clause = clause.unwrap_or_else(|| format!("{variant} against {base}"));
    format!("{place}{runs_text}: {clause}.")
}

/// Returns the sentences below the account.
pub(super) fn sentences(explanation: &Explanation) -> Vec<String> {
    let mut lines = Vec::new();
    for refusal in &explanation.refusals {
        lines.push(format!("Not explained: {}. Needed: {}.", refusal.evidence, refusal.needed));
    }
    if explanation.refusals.iter().any(|refusal| refusal.rule == Rule::Bogus) {
        return lines;
    }
    if explanation.rung > Rung::Nothing {
        lines.extend(explanation.account.as_ref().map(accounting));
        lines.extend(explanation.identities.iter().map(product));
    }
    let hidden = explanation.hidden();
    if !hidden.is_empty() {
        let costs: Vec<String> = hidden.into_iter().map(moved).collect();
        lines.push(format!(
            "Hidden regression: the same throughput for more: {}.",
            costs.join("; ")
        ));
    } else if explanation.rung > Rung::Nothing {
        lines.extend(association(explanation));
    }
    lines.extend(bounds(&explanation.bounds));
    if explanation.rung > Rung::Nothing {
        lines.extend(not_tested(explanation));
    }
    lines
}

/// Returns the components of the difference.
fn accounting(account: &Account) -> String {
    let scale = Scale::of(&account.total);
    let share = |component: &Component| account.share(&component.us).unwrap_or(0.0);
    let is_named =
        |component: &&Component| component.us.is_apart() && share(component).abs() >= NAMED_SHARE;
    let phrase = |(at, component): (usize, &Component)| {
        let verb = if at == 0 { " is" } else { "" };
        let size = scale.signed(component.us.difference);
        format!("{}{verb} {size} ({})", component.part.phrase(), percent(share(component)))
    };
    let named = account.components.iter().filter(is_named).enumerate().map(phrase);
    let parts: Vec<String> = named.collect();
    let whole = format!("{} {}", scale.signed(account.total.difference), scale.unit);
    if parts.is_empty() {
        return format!("Of the {whole} no component alone is a tenth.");
    }
    format!("Of the {whole}, {}.", parts.join(", "))
}

/// Returns the factors of a product's change.
fn product(identity: &Identity) -> String {
    let arrow = |(base, variant): (f64, f64)| {
        format!("{} \u{2192} {}", figure::digits(base), figure::digits(variant))
    };
    let factor = |factor: &Factor| {
        let sign = if factor.adds > 0.0 { "+" } else { "" };
        let values = arrow((factor.base, factor.variant));
        format!("{} {values} is {sign}{}", factor.name, figure::digits(factor.adds))
    };
    let [first, second] = &identity.factors;
    let whole = arrow((first.base * second.base, first.variant * second.variant));
    format!("{} {whole}: {}, {}.", identity.whole, factor(first), factor(second))
}

/// Returns the other costs that moved.
fn association(explanation: &Explanation) -> Option<String> {
    let mut moves: Vec<String> = explanation.moved.iter().take(MOVED).map(moved).collect();
    if moves.is_empty() {
        return Some("In the same runs no other cost moved beyond the margin.".to_owned());
    }
    let rest = explanation.moved.len() - moves.len();
    if rest > 0 {
        moves.push(format!("and {rest} more (assay compare --costs)"));
    }
    Some(format!("In the same runs, by medians: {}.", moves.join("; ")))
}

/// Returns how much of each resource was used, and what binds.
fn bounds(bounds: &[Bound]) -> Vec<String> {
    let [base, variant] = bounds else { return Vec::new() };
    let share = |bound: &Bound, which: Resource| {
        bound.used.iter().find(|(known, _)| *known == which).map(|(_, share)| *share)
    };
    let of = |which: Resource| {
        let (one, two) = (share(base, which)?, share(variant, which)?);
        Some(format!("{} {} and {}", used(which), percent(one), percent(two)))
    };
    let uses: Vec<String> =
        [Resource::Cpus, Resource::Clients, Resource::Device].into_iter().filter_map(of).collect();
    if uses.is_empty() {
        return Vec::new();
    }
    let binding = |bound: &Bound| bound.binding.map(|which| binds(which, &bound.variant));
    let mut bound: Vec<String> = [binding(base), binding(variant)].into_iter().flatten().collect();
    if bound.is_empty() {
        bound.push(format!("By their own use none binds: each is below {}.", percent(BINDS_FROM)));
    }
    let names = format!("{} and {}", base.variant, variant.variant);
    vec![format!("In use by {names}: {}. {}", uses.join(", "), bound.join(" "))]
}
