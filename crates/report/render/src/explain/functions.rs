//! The functions whose CPU differs, as a table that adds up.

use analysis::{Explanation, FunctionAccount, FunctionCost, FunctionDifference, Scope};
use model::units::many;

use super::account::{Scale, percent};
use crate::document::{Part, Table};
use crate::figure;

/// Functions listed before the rest is only counted.
const LISTED: usize = 15;
/// Characters of a name in the table, and in a sentence. Our choice: more would divide the table.
const NAME_CHARS: usize = 36;
/// Parts of a function that are named.
const NAMED: usize = 3;

/// Returns the account of CPU by function, or why there is none; nothing without profiles.
pub(super) fn functions(explanation: &Explanation) -> Vec<Part> {
    let refused = explanation.no_functions.as_ref();
    let refused = refused.map(|reason| Part::Text(format!("No functions are compared: {reason}.")));
    let account = explanation.functions.iter().flat_map(|account| of(explanation, account));
    refused.into_iter().chain(account).collect()
}

fn of(explanation: &Explanation, account: &FunctionAccount) -> Vec<Part> {
    let mut parts = vec![Part::Table(table(explanation, account))];
    let lines = notes(account).into_iter().chain(groups(account));
    parts.push(Part::Items(lines.collect()));
    if let Some(inclusive) = account.inclusive.as_ref().filter(|all| !all.is_empty()) {
        let title = "Functions with all they call; these figures overlap and do not add up:";
        parts.push(Part::Text(title.to_owned()));
        let mut table = head(explanation, account);
        let scale = Sum::of(account);
        inclusive.iter().take(LISTED).for_each(|one| scale.push(&mut table, one));
        parts.push(Part::Table(table));
    }
    parts
}

fn head(explanation: &Explanation, account: &FunctionAccount) -> Table {
    let unit = if explanation.unit.is_operation() { "operation" } else { "row" };
    let scale = Scale::of(&account.total).finer();
    Table::new([
        &format!("{} {} per {unit}", scale.unit, scope(account.scope)),
        "<part",
        &explanation.base,
        &explanation.variant,
        "difference",
        "95 % interval",
        "share",
    ])
}

/// Returns the listed functions, the common part and the rest, which add up to the difference.
fn table(explanation: &Explanation, account: &FunctionAccount) -> Table {
    let mut table = head(explanation, account);
    let mut sum = Sum::of(account);
    let total = account.total;
    let interval = sum.interval(total.interval);
    let row = |name: String, difference: String, interval: String, share: String| {
        [name, String::new(), String::new(), String::new(), difference, interval, share]
    };
    table.push([
        format!("CPU of {}", scope(account.scope)),
        String::new(),
        sum.scale.plain(total.base),
        sum.scale.plain(total.variant),
        sum.scale.signed(total.difference),
        interval,
        String::new(),
    ]);
    for one in account.listed.iter().take(LISTED) {
        sum.push(&mut table, one);
        sum.shown_us += sum.rounded(one.difference_us);
    }
    let hidden: f64 = account.listed.iter().skip(LISTED).map(|one| one.difference_us).sum();
    let beyond = account.listed.len().saturating_sub(LISTED);
    if beyond > 0 {
        let name = format!("  {} more that differ", many(beyond, "function"));
        table.push(row(name, sum.scale.signed(hidden), String::new(), sum.share(hidden)));
        sum.shown_us += sum.rounded(hidden);
    }
    let common = sum.interval(account.common_interval_us);
    let name = "  common to all functions".to_owned();
    let (us, share) = (account.common_us, sum.share(account.common_us));
    table.push(row(name, sum.scale.signed(us), common, share));
    sum.shown_us += sum.rounded(us);
    // What rounding leaves is in the rest, so that the column adds up to its last digit.
    let rest_us = sum.rounded(total.difference) - sum.shown_us;
    let name = "  all other functions".to_owned();
    table.push(row(name, sum.scale.signed(rest_us), String::new(), sum.share(rest_us)));
    table
}

/// Returns a name without its end where it is long.
fn short(name: &str) -> String {
    let begin: String = name.chars().take(NAME_CHARS).collect();
    if begin == name { begin } else { format!("{begin}\u{2026}") }
}

/// Figures on one scale, and the sum of those shown.
struct Sum {
    scale: Scale,
    difference_us: f64,
    shown_us: f64,
}

impl Sum {
    fn of(account: &FunctionAccount) -> Self {
        let difference_us = account.total.difference;
        Self { scale: Scale::of(&account.total).finer(), difference_us, shown_us: 0.0 }
    }

    fn push(&self, table: &mut Table, one: &FunctionDifference) {
        let FunctionCost { base_us, variant_us } = one.cost;
        table.push([
            format!("  {}{}", short(&one.name), suffix(one)),
            one.group.phrase().to_owned(),
            self.scale.plain(base_us),
            self.scale.plain(variant_us),
            self.scale.signed(one.difference_us),
            self.interval(Some(one.interval_us)),
            one.share_of_difference.map_or_else(String::new, percent),
        ]);
    }

    fn interval(&self, limits: Option<(f64, f64)>) -> String {
        limits.map_or_else(String::new, |(low, high)| {
            figure::limits(self.scale.signed(low), self.scale.signed(high))
        })
    }

    fn share(&self, us: f64) -> String {
        let share = us / self.difference_us;
        if share.is_finite() { percent(share) } else { String::new() }
    }

    /// Returns a figure as it is shown, us.
    fn rounded(&self, us: f64) -> f64 {
        self.scale.rounded(us)
    }
}

const fn scope(scope: Scope) -> &'static str {
    match scope {
        Scope::Clients => "the client threads",
        Scope::Worker => "the worker",
        Scope::Server => "the server",
    }
}

/// Returns what is notable about a function: new, gone, or a sum.
fn suffix(one: &FunctionDifference) -> String {
    if one.is_new {
        return " (new)".to_owned();
    }
    if one.is_gone {
        return " (gone)".to_owned();
    }
    let merged = one.merged.len().saturating_sub(1);
    if merged > 0 { format!(" (+{merged} related)") } else { String::new() }
}

/// Returns the functions without a partner, what moved, and how many were tested.
fn notes(account: &FunctionAccount) -> Vec<String> {
    let scale = Scale::of(&account.total).finer();
    let with_parts = account.listed.iter().take(LISTED).filter(|one| !one.parts.is_empty());
    let mut lines: Vec<String> = with_parts
        .map(|one| {
            let mut parts: Vec<(&String, &FunctionCost)> = one.parts.iter().collect();
            let size = |cost: &FunctionCost| cost.base_us.max(cost.variant_us);
            parts.sort_by(|a, b| size(b.1).total_cmp(&size(a.1)));
            let state = |(_, cost): &(&String, &FunctionCost)| match cost.variant_us > 0.0 {
                true => ("new", cost.variant_us),
                false => ("gone", cost.base_us),
            };
            let phrase = |part: &(&String, &FunctionCost)| {
                let (name, (what, us)) = (short(part.0), state(part));
                format!("{name} is {what} ({} {})", scale.plain(us), scale.unit)
            };
            let named: Vec<String> = parts.iter().take(NAMED).map(phrase).collect();
            let more = parts.len().saturating_sub(NAMED);
            let more = if more > 0 { format!("; {more} more") } else { String::new() };
            format!("Below {}: {}{more}.", short(&one.name), named.join("; "))
        })
        .collect();
    let [base, variant] = account.samples;
    let established = match account.listed.len() {
        0 => "none of them differs measurably".to_owned(),
        1 => "one differs".to_owned(),
        count => format!("{count} differ"),
    };
    lines.push(format!(
        "{} with at least 10 samples per run were tested ({base} and {variant} samples), and \
         {established}; the intervals are adjusted for their number.",
        many(account.tested, "function")
    ));
    if account.moved > 0 {
        lines.push(format!(
            "Code moved between {}, whose sums do not differ.",
            many(account.moved, "related function")
        ));
    }
    lines
}

/// Returns the CPU of client, engine, allocator, kernel and C library.
fn groups(account: &FunctionAccount) -> Option<String> {
    let scale = Scale::of(&account.total).finer();
    let phrase = |(group, cost): (&analysis::Group, &FunctionCost)| {
        format!(
            "{} {} and {}",
            group.phrase(),
            scale.plain(cost.base_us),
            scale.plain(cost.variant_us)
        )
    };
    let all: Vec<String> = account.by_group.iter().map(phrase).collect();
    (!all.is_empty()).then(|| format!("By part, in {}: {}.", scale.unit, all.join("; ")))
}
