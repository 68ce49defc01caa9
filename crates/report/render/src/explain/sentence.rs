//! The sentences around a time account.
//!
//! Three levels of wording, chosen by rule. Accounting: "is". Association: "in the same runs".
//! Cause: "makes", only of one thing that was set on purpose.

use analysis::Explanation;
use analysis::explain::{
    Account, BINDS_FROM, Bound, Change, ChangeKind, Declared, Factor, Identity, Moved, Network,
    NetworkCost, Part, Resource, RoundTrip, Rule, Rung, SettleCost, Subject,
};
use model::{Metric, metric};
use stats::MeanDifference;

use super::account::{Scale, percent, share_note};
use crate::document::known;
use crate::figure::{digits, figure, limits, significant};
use crate::input::Compared;
use crate::sentence::{Claim, RatioStyle, clause, plain};
use model::units::many;

/// Moved metrics and declared differences named before the rest is only counted.
const NAMED: usize = 5;

/// Share of the difference from which a component is named in words.
const NAMED_SHARE: f64 = 0.1;

/// Returns the metric and its difference with its interval, worded as in the comparison.
pub(super) fn headline(compared: &Compared<'_>, explanation: &Explanation) -> String {
    let Explanation { step, clients, variant, base, runs, .. } = explanation;
    let mut place = format!("{step}, {clients}");
    place.push_str(&match runs {
        (one, two) if one == two => format!(", {} of each", many(*one as usize, "run")),
        (one, two) => format!(", {} of {base} and {two} of {variant}", many(*one as usize, "run")),
    });
    if is_bogus(explanation) {
        return format!("{place}: {variant} against {base}.");
    }
    let of_account = |account: &Account| {
        let (scale, total) = (Scale::of(&account.total), account.total);
        let interval = total.interval.map_or_else(String::new, |(low, high)| {
            format!(" {}", limits(scale.signed(low), scale.signed(high)))
        });
        format!(
            "{variant} responded in {} {unit} on average, {base} in {}: {}{interval} {unit}",
            scale.plain(total.variant),
            scale.plain(total.base),
            scale.signed(total.difference),
            unit = scale.unit,
        )
    };
    let wanted = (explanation.index, explanation.clients.level);
    let mut steps = compared.comparison.steps.iter();
    let step = steps.find(|one| (one.index, one.clients.level) == wanted && one.name == *step);
    let text = match (&explanation.effect, explanation.subject) {
        (_, Subject::ResponseTime) => explanation.account.as_ref().map(of_account),
        (Some(effect), _) => step.map(|step| {
            let claim = Claim::on(step, explanation.metric);
            clause(compared.comparison, &claim, variant, effect)
        }),
        (None, _) => None,
    };
    let is_of_response = explanation.subject == Subject::ResponseTime;
    let what = if is_of_response { "mean response time" } else { explanation.metric };
    let text = text.unwrap_or_else(|| format!("{variant} against {base}"));
    format!("{place}, {what}: {text}.")
}

fn is_bogus(explanation: &Explanation) -> bool {
    explanation.refusals.iter().any(|refusal| refusal.rule == Rule::Bogus)
}

/// Returns the sentences below the account.
pub(super) fn sentences(explanation: &Explanation) -> Vec<String> {
    let refused = explanation.refusals.iter();
    let mut lines: Vec<String> = refused
        .map(|refusal| format!("Not explained: {}. Needed: {}.", refusal.evidence, refusal.needed))
        .collect();
    if is_bogus(explanation) {
        return lines;
    }
    let is_explained = explanation.rung > Rung::Nothing;
    if is_explained {
        lines.extend(explanation.account.as_ref().map(accounting));
        lines.extend(explanation.account.as_ref().and_then(waits));
        lines.extend(explanation.identities.iter().map(product));
    }
    let hidden: Vec<String> = explanation.hidden().into_iter().map(moved).collect();
    if !hidden.is_empty() {
        let costs = hidden.join("; ");
        lines.push(format!("Hidden regression: the same throughput costs more: {costs}."));
    } else if is_explained {
        let moves = first(&explanation.moved, moved, "; ");
        lines.push(match explanation.moved[..] {
            [] => "In the same runs no other cost moved beyond the margin.".to_owned(),
            _ => format!("In the same runs, by geometric means: {moves}."),
        });
    }
    lines.extend(settle(explanation));
    lines.extend(explanation.network.as_ref().into_iter().flat_map(|it| network(it, explanation)));
    lines.extend(bounds(&explanation.bounds));
    if is_explained {
        lines.extend(not_tested(explanation));
    }
    lines
}

/// Returns a phrase for each part that differs and is large enough to be named.
fn named<'a>(
    account: &Account,
    parts: impl Iterator<Item = (&'a str, &'a MeanDifference)>,
    verb: &str,
) -> String {
    let scale = Scale::of(&account.total);
    let phrase = |(name, us): (&str, &MeanDifference)| {
        let share = account.share(us).unwrap_or(0.0);
        let size = scale.signed(us.difference);
        let is_named = us.is_apart() && share.abs() >= NAMED_SHARE;
        is_named.then(|| format!("{name} {verb}{size} {}", share_note(share)))
    };
    parts.filter_map(phrase).collect::<Vec<_>>().join(", ")
}

/// Returns the components of the difference.
fn accounting(account: &Account) -> String {
    let scale = Scale::of(&account.total);
    let parts = account.components.iter().map(|one| (one.part.phrase(), &one.us));
    let whole = format!("{} {}", scale.signed(account.total.difference), scale.unit);
    match named(account, parts, "is ") {
        none if none.is_empty() => format!("No single component explains a tenth of the {whole}."),
        named => format!("Of the {whole}, {named}."),
    }
}

/// Returns where the sessions waited, and of how many samples.
fn waits(account: &Account) -> Option<String> {
    let waits = account.waits.as_ref()?;
    let (base, variant) = waits.samples?;
    let names: Vec<String> = waits.parts.iter().map(|part| format!("in {}", part.name)).collect();
    let parts = names.iter().map(String::as_str).zip(waits.parts.iter().map(|part| &part.us));
    let of = format!("of {base} and {variant} samples of the clients' sessions");
    Some(match named(account, parts, "") {
        none if none.is_empty() => {
            format!("No single wait event of the server explains a tenth of the difference, {of}.")
        }
        named => format!("Waiting for the server by event: {named}, {of}."),
    })
}

/// Returns the factors of a product's change.
fn product(identity: &Identity) -> String {
    let arrow = |base, variant| format!("{} \u{2192} {}", significant(base), significant(variant));
    let factor = |factor: &Factor| {
        let sign = if factor.adds > 0.0 { "+" } else { "" };
        let values = arrow(factor.base, factor.variant);
        format!("{} {values} is {sign}{}", factor.name, digits(factor.adds))
    };
    let [first, second] = &identity.factors;
    let whole = arrow(first.base * second.base, first.variant * second.variant);
    format!("{} {whole}: {}, {}.", identity.whole, factor(first), factor(second))
}

/// Returns the first of these texts and the number of the others.
fn first<T>(all: &[T], text: fn(&T) -> String, separator: &str) -> String {
    let mut named: Vec<String> = all.iter().take(NAMED).map(text).collect();
    let rest = all.len() - named.len();
    named.extend((rest > 0).then(|| format!("and {rest} more")));
    named.join(separator)
}

/// Returns a moved metric: `rss_peak_bytes (what it means) 1.90 GiB -> 3.90 GiB`, with an arrow.
///
/// The meaning has the scope: whose CPU, whose memory.
fn moved(one: &Moved) -> String {
    let Some(Metric { name, unit, meaning, .. }) = metric::find(one.metric) else {
        return one.metric.to_owned();
    };
    let values = [one.base, one.variant].map(|value| figure(*unit, value));
    format!("{name} ({meaning}) {}", values.join(" \u{2192} "))
}

/// Returns the settle's costs: `settle_s (what it means) 8.00 s -> 16.0 s, +100 % [..]`.
fn settle(explanation: &Explanation) -> Option<String> {
    let effects = explanation.settle.iter().filter_map(|cost| cost.effect.as_ref());
    let style = RatioStyle::of(effects);
    let cost = |cost: &SettleCost| {
        let Metric { name, unit, meaning, .. } = metric::find(cost.metric)?;
        let values = [cost.base, cost.variant].map(|of| known(of.map(|of| figure(*unit, of))));
        let effect = cost.effect.as_ref().map(|of| format!(", {}", plain(of, style)));
        let effect = effect.unwrap_or_default();
        Some(format!("{name} ({meaning}) {}{effect}", values.join(" \u{2192} ")))
    };
    let costs: Vec<String> = explanation.settle.iter().filter_map(cost).collect();
    let whole = "Costs of settling after the step, not part of the step's time, by geometric means";
    (!costs.is_empty()).then(|| format!("{whole}: {}.", costs.join("; ")))
}

/// Returns the counters per operation, and the round trip as a share of the median response time.
fn network(network: &Network, explanation: &Explanation) -> Vec<String> {
    let cost = |NetworkCost { metric, value }: &NetworkCost| {
        let unit = metric::find(metric)?.unit;
        let values = [value.base, value.variant].map(|value| figure(unit, value));
        Some(format!("{metric} {}", values.join(" \u{2192} ")))
    };
    let costs: Vec<String> = network.per_op.iter().filter_map(cost).collect();
    let unit = if explanation.unit.is_operation() { "operation" } else { "row" };
    let counters = (!costs.is_empty())
        .then(|| format!("Network per {unit}, by arithmetic means: {}.", costs.join("; ")));
    let exchange = network.round_trip.as_ref().map(|RoundTrip { us, share }| {
        let scale = Scale::of(us);
        let share = share.as_ref().map_or_else(String::new, |share| {
            let [base, variant] = [share.base, share.variant].map(percent);
            format!(": {base} \u{2192} {variant} of the median response time")
        });
        let interval = us.interval.map_or_else(String::new, |_| {
            format!(" {}", scale.interval(us.interval))
        });
        let [base, variant] = [us.base, us.variant].map(|us| scale.plain(us));
        format!(
            "An empty query takes {base} \u{2192} {variant} {unit} from the client to the server and \
             back, {}{interval} {unit}{share}.",
            scale.signed(us.difference),
            unit = scale.unit,
        )
    });
    counters.into_iter().chain(exchange).collect()
}

/// Returns a declared difference: `direct_io = false -> true`, with an arrow.
fn change(change: &Change) -> String {
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "unset".to_owned());
    format!("{} = {} \u{2192} {}", change.name, value(&change.base), value(&change.variant))
}

/// The resources: name of their use, and what it means that they bind.
const RESOURCES: [(Resource, &str, &str); 3] = [
    (Resource::Cpus, "CPUs", "is bound by the CPUs"),
    (Resource::Clients, "clients on a CPU", "is bound by its clients: they are always on a CPU"),
    (
        Resource::Device,
        "device at work",
        "keeps the device busy, and is bound by the device if it serves one request at a time",
    ),
];

/// Returns how much of each resource was used, and what binds.
fn bounds(bounds: &[Bound]) -> Option<String> {
    let [base, variant] = bounds else { return None };
    let share = |bound: &Bound, which: Resource| {
        bound.used.iter().find(|(known, _)| *known == which).map(|(_, share)| percent(*share))
    };
    let of = |(which, name, _): &(Resource, &str, &str)| {
        Some(format!("{name} {} and {}", share(base, *which)?, share(variant, *which)?))
    };
    let uses: Vec<String> = RESOURCES.iter().filter_map(of).collect();
    let binding = |bound: &Bound| {
        let (_, _, how) = RESOURCES.iter().find(|(which, ..)| bound.binding == Some(*which))?;
        Some(format!("{} {how}", bound.variant))
    };
    let mut bound: Vec<String> = bounds.iter().filter_map(binding).collect();
    if bound.is_empty() {
        let most = percent(BINDS_FROM);
        bound.push(format!("No resource is a limit: each is used to less than {most}"));
    }
    let names = format!("{} and {}", base.variant, variant.variant);
    let (uses, bound) = (uses.join(", "), bound.join(". "));
    (!uses.is_empty()).then(|| format!("In use by {names}: {uses}. {bound}."))
}

/// Returns the strength of the claim, what is untested, and how to test it.
fn not_tested(explanation: &Explanation) -> Vec<String> {
    let declared = &explanation.declared;
    let mut lines = match (explanation.rung, declared.intervention()) {
        (Rung::Cause, Some(only)) => vec![format!(
            "Cause: {} is the only declared difference, and it was set on purpose, so it causes \
             the difference in this experiment. How the change does so is not tested.",
            change(only)
        )],
        _ => {
            let untested = untested(declared);
            vec![format!(
                "This explanation shows associations, not causes. Not tested: {untested}."
            )]
        }
    };
    if explanation.rung == Rung::Cause && !declared.in_force.is_empty() {
        let reported = first(&declared.in_force, change, ", ");
        lines.push(format!("With this change, the engine reports: {reported}."));
    }
    lines.extend(how(explanation).map(|how| format!("To test it: {how}.")));
    lines
}

/// Returns the untested differences of the variants.
fn untested(declared: &Declared) -> String {
    if declared.is_control {
        return "nothing needs a test: both are the same build and options, so any difference is \
                noise"
            .into();
    }
    let named = first(&declared.changes, change, ", ");
    match &declared.changes[..] {
        [] => "the cause, because the experiment declares no difference".to_owned(),
        [only] if only.kind == ChangeKind::Build => {
            format!(
                "which code causes the difference; {named}, and two {}s may differ in everything",
                only.name
            )
        }
        changes => format!("which of {} declared differences: {named}", changes.len()),
    }
}

/// Returns how to test where the largest part of the difference comes from.
fn how(explanation: &Explanation) -> Option<&'static str> {
    let account = explanation.account.as_ref()?;
    let largest = account.components.iter().find(|component| component.us.is_apart())?;
    Some(match largest.part {
        _ if explanation.functions.is_some() => return None,
        Part::EngineCpu
        | Part::ClientCpu
        | Part::ClientThreads
        | Part::ServerCpu
        | Part::ServerUser
        | Part::OtherThreads
        | Part::Service => "repeat the runs with --profile, which names the functions",
        Part::KernelCpu | Part::ServerKernel => "compare the variants' system calls (strace -f -c)",
        Part::Storage | Part::ServerWait => "use a cache that holds the data (--cache SIZE)",
        Part::RunQueue | Part::Sleep if explanation.clients.number > 1 => "repeat with --clients 1",
        Part::RunQueue => "use a host without other work, or fewer background threads",
        Part::Sleep => "compare the system calls in which the variants wait (strace -f -c -w)",
        Part::Waiting => "use more clients (--clients N)",
    })
}
