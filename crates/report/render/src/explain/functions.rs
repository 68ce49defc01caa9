//! The functions whose CPU differs, as a table that adds up.

use analysis::{Explanation, FunctionAccount, FunctionCost, FunctionDifference, Scope};
use model::units::many;

use super::account::{Scale, percent};
use crate::document::{Part, Table, shortened};
use crate::format::Format;

/// Functions listed before the rest is only counted.
const LISTED: usize = 15;
/// Characters of a name in a sentence. Our choice: names without template arguments are shorter.
const NAME_CHARS: usize = 45;
/// Parts of a function that are named.
const NAMED: usize = 3;

/// Returns the account of CPU by function, or why there is none; nothing without profiles.
pub(super) fn functions(explanation: &Explanation, format: Format) -> Vec<Part> {
    let refused = explanation.no_functions.as_ref();
    let refused = refused.map(|reason| Part::Text(format!("No functions are compared: {reason}.")));
    let account = explanation.functions.iter().flat_map(|account| of(explanation, account, format));
    refused.into_iter().chain(account).collect()
}

fn of(explanation: &Explanation, account: &FunctionAccount, format: Format) -> Vec<Part> {
    let mut parts = vec![Part::Table(table(explanation, account, rows(account)))];
    let lines = notes(account, format).into_iter().chain(groups(account));
    parts.push(Part::Items(lines.collect()));
    if let Some(inclusive) = account.inclusive.as_ref().filter(|all| !all.is_empty()) {
        let title = "Functions with all they call; these figures overlap and do not add up:";
        parts.push(Part::Text(title.to_owned()));
        let rows = inclusive.iter().take(LISTED).map(Row::of).collect();
        parts.push(Part::Table(table(explanation, account, rows)));
    }
    parts
}

/// A part of the difference: a function, or a sum without figures of both sides.
struct Row {
    name: String,
    group: &'static str,
    cost: Option<FunctionCost>,
    difference_us: f64,
    interval_us: Option<(f64, f64)>,
}

impl Row {
    fn of(one: &FunctionDifference) -> Self {
        Self {
            name: format!("  {}{}", one.name, suffix(one)),
            group: one.group.phrase(),
            cost: Some(one.cost),
            difference_us: one.difference_us,
            interval_us: Some(one.interval_us),
        }
    }

    fn sum(name: &str, difference_us: f64, interval_us: Option<(f64, f64)>) -> Self {
        Self { name: format!("  {name}"), group: "", cost: None, difference_us, interval_us }
    }
}

/// Returns the listed functions, the common factor and the rest, which add up to the difference.
fn rows(account: &FunctionAccount) -> Vec<Row> {
    let (listed, more) = account.listed.split_at(account.listed.len().min(LISTED));
    let mut rows: Vec<Row> = listed.iter().map(Row::of).collect();
    if !more.is_empty() {
        let name = format!("{} more that differ", many(more.len(), "function"));
        rows.push(Row::sum(&name, more.iter().map(|one| one.difference_us).sum(), None));
    }
    let (us, interval) = (account.same_factor_us, account.same_factor_interval_us);
    rows.push(Row::sum("the same factor in all functions", us, interval));
    // What rounding leaves is in the rest, so that the column adds up to its last digit.
    let scale = scale(account);
    let shown: f64 = rows.iter().map(|row| scale.rounded(row.difference_us)).sum();
    let rest_us = scale.rounded(account.total.difference) - shown;
    rows.push(Row::sum("all other functions", rest_us, None));
    rows
}

/// Returns the CPU of the scope, and below it its parts.
fn table(explanation: &Explanation, account: &FunctionAccount, parts: Vec<Row>) -> Table {
    let unit = if explanation.unit.is_operation() { "operation" } else { "row" };
    let (scale, total, scope) = (scale(account), account.total, scope(account.scope));
    let mut table = Table::new([
        &format!("{} {scope} per {unit}", scale.unit),
        "<part",
        &explanation.base,
        &explanation.variant,
        "difference",
        "95 % interval",
        "share",
    ])
    .shortened();
    let mut push = |row: Row, share: f64| {
        let plain = |us: fn(FunctionCost) -> f64| row.cost.map(|cost| scale.plain(us(cost)));
        table.push([
            row.name,
            row.group.to_owned(),
            plain(|cost| cost.base_us).unwrap_or_default(),
            plain(|cost| cost.variant_us).unwrap_or_default(),
            scale.signed(row.difference_us),
            scale.interval(row.interval_us),
            if share.is_finite() { percent(share) } else { String::new() },
        ]);
    };
    let cost = FunctionCost { base_us: total.base, variant_us: total.variant };
    let whole = Row::sum("", total.difference, total.interval);
    push(Row { name: format!("CPU of {scope}"), cost: Some(cost), ..whole }, f64::NAN);
    for row in parts {
        let share = row.difference_us / total.difference;
        push(row, share);
    }
    table
}

/// Returns the scale of all figures.
fn scale(account: &FunctionAccount) -> Scale {
    Scale::of(&account.total).finer()
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
fn notes(account: &FunctionAccount, format: Format) -> Vec<String> {
    let scale = scale(account);
    let chars = if format == Format::Markdown { usize::MAX } else { NAME_CHARS };
    let short = |name: &str| shortened(name, chars);
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
    let scale = scale(account);
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
