//! The functions whose CPU differs, as a table that adds up.

use std::collections::BTreeMap;

use analysis::{Explanation, FunctionAccount, FunctionCost, FunctionDifference, LeftOut, Scope};
use model::units::many;

use super::account::{Scale, percent};
use crate::document::{Part, Table, shortened};
use crate::figure::count;
use crate::format::Format;

/// Functions listed before the rest is only counted.
const LISTED: usize = 15;
/// Characters of a name in a sentence. Our choice: names without template arguments are shorter.
const NAME_CHARS: usize = 45;
/// Parts of a function that are named.
const NAMED: usize = 3;

/// Returns the account of CPU by function, or why it is absent; nothing without profiles.
pub(super) fn functions(explanation: &Explanation, format: Format) -> Vec<Part> {
    let refused = explanation.no_functions.as_ref();
    let refused = refused.map(|reason| Part::Text(format!("No functions are compared: {reason}.")));
    let account = explanation.functions.iter().flat_map(|account| of(explanation, account, format));
    refused.into_iter().chain(account).collect()
}

fn of(explanation: &Explanation, account: &FunctionAccount, format: Format) -> Vec<Part> {
    let unit = if explanation.unit.is_operation() { "operation" } else { "row" };
    let variants = [explanation.base.as_str(), &explanation.variant];
    let mut parts = vec![Part::Table(table(unit, variants, account, rows(account)))];
    let lines = notes(account, format).into_iter().chain(groups(account));
    parts.push(Part::Items(lines.collect()));
    if let Some(inclusive) = &account.inclusive {
        if inclusive.is_empty() {
            let none = "No function differs measurably together with all that it calls.";
            parts.push(Part::Text(none.to_owned()));
            return parts;
        }
        let title = "Functions with all they call; these figures overlap and do not add up:";
        parts.push(Part::Text(title.to_owned()));
        let rows = inclusive.iter().take(LISTED).map(Row::of).collect();
        parts.push(Part::Table(table(unit, variants, account, rows)));
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

/// Returns the CPU of the scope per unit in both variants, and below it its parts.
fn table(unit: &str, variants: [&str; 2], account: &FunctionAccount, parts: Vec<Row>) -> Table {
    let (scale, total, scope) = (scale(account), account.total, scope(account.scope));
    let mut table = Table::new([
        &format!("{} of CPU per {unit}", scale.unit),
        "<part",
        variants[0],
        variants[1],
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
    // Shares of a difference that may be 0 mean nothing.
    let excludes_0 = |(low, high): &(f64, f64)| *low > 0.0 || *high < 0.0;
    let whole = total.interval.filter(excludes_0).map_or(f64::NAN, |_| total.difference);
    for row in parts {
        let share = row.difference_us / whole;
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
    match one.merged.len() {
        _ if one.is_new => " (new)".to_owned(),
        _ if one.is_gone => " (gone)".to_owned(),
        0 | 1 => String::new(),
        merged => format!(" (+{} related)", merged - 1),
    }
}

/// Returns names of functions between which cost moved.
fn members(members: &BTreeMap<String, FunctionCost>, short: &impl Fn(&str) -> String) -> String {
    members.keys().map(|name| short(name)).collect::<Vec<_>>().join(" and ")
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
            let phrase = |(name, cost): &(&String, &FunctionCost)| {
                let what = if cost.variant_us > 0.0 { "new" } else { "gone" };
                format!("{} is {what} ({} {})", short(name), scale.plain(size(cost)), scale.unit)
            };
            let named: Vec<String> = parts.iter().take(NAMED).map(phrase).collect();
            let more = parts.len().saturating_sub(NAMED);
            let more = if more > 0 { format!("; {more} more") } else { String::new() };
            format!("Below {}: {}{more}.", short(&one.name), named.join("; "))
        })
        .collect();
    let sums = account.listed.iter().take(LISTED).filter(|one| !one.merged.is_empty());
    lines.extend(sums.map(|one| {
        let name = short(&one.name);
        format!(
            "{name} is the sum of {}: they differ in opposite directions.",
            members(&one.merged, &short)
        )
    }));
    lines.extend(account.moved.iter().map(|moved| {
        format!(
            "{} differ in opposite directions, and their sum does not differ.",
            members(moved, &short)
        )
    }));
    lines.push(tested(account));
    lines.extend(account.left_out.iter().map(|one| {
        let LeftOut { variant, runs, profiled, reason } = one;
        format!(
            "{variant} has a profile in {profiled} of {runs} runs; the others have none: {reason}. \
             The account above is of all runs."
        )
    }));
    lines
}

/// Returns how many functions were tested, and how many differ.
fn tested(account: &FunctionAccount) -> String {
    let functions = many(account.tested, "function");
    let [base, variant] = account.samples.map(count);
    let established = match account.listed.len() {
        0 => "none of them differs measurably.",
        1 => {
            "one differs. Its difference is beyond the same factor, and its interval is adjusted \
             for the number of functions."
        }
        _ => {
            "those listed differ. Their differences are beyond the same factor, and their \
             intervals are adjusted for the number of functions."
        }
    };
    format!(
        "{functions} with at least 10 samples per run were tested ({base} and {variant} samples), \
         and {established}"
    )
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

#[cfg(test)]
mod tests {
    use analysis::Group;
    use stats::MeanDifference;

    use super::*;
    use crate::document::Document;
    use crate::style::Style;

    const SHORT: &str = "rocksdb::IndexBlockIter::SeekImpl";
    const LONG: &str = "rocksdb::DataBlockIter::ParseNextDataKey<rocksdb::CheckAndDecodeEntry, \
                        rocksdb::BlockBasedTable::Rep const&>";

    fn one(name: &str, cost: FunctionCost) -> FunctionDifference {
        let difference_us = cost.variant_us - cost.base_us;
        FunctionDifference {
            group: Group::Engine,
            name: name.to_owned(),
            cost,
            difference_us,
            interval_us: (difference_us - 0.0231, difference_us + 0.0231),
            adjusted_p: 0.01,
            share_of_difference: Some(difference_us / 1.5),
            is_new: cost.base_us <= 0.0,
            is_gone: false,
            parts: BTreeMap::from([(LONG.to_owned(), cost)]),
            merged: BTreeMap::new(),
        }
    }

    fn account() -> FunctionAccount {
        let interval = Some((0.9, 2.1));
        FunctionAccount {
            scope: Scope::Clients,
            total: MeanDifference { base: 10.25, variant: 11.75, difference: 1.5, interval },
            listed: vec![
                one(LONG, FunctionCost { base_us: 0.0, variant_us: 1.2345 }),
                one(SHORT, FunctionCost { base_us: 1.1, variant_us: 0.9005 }),
            ],
            same_factor_us: 0.41,
            same_factor_interval_us: Some((-0.11, 0.93)),
            rest_us: 0.055,
            by_group: BTreeMap::new(),
            tested: 41,
            moved: Vec::new(),
            left_out: Vec::new(),
            samples: [12_000, 13_000],
            inclusive: None,
        }
    }

    fn document() -> Document {
        let (variants, account) = (["rocksdb-9.10.0", "rocksdb-11.8.1"], account());
        let table = table("operation", variants, &account, rows(&account));
        Document::from([vec![Part::Table(table)]])
    }

    #[test]
    fn table_of_functions_is_one_block_of_120_columns() {
        let text = document().text(Style::default());
        assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        let [first, second, whole, long, short, same, rest] = lines[..] else { panic!("{text}") };
        assert!(first.starts_with("\u{b5}s of CPU per operation ") && first.ends_with("share"));
        assert_eq!(second.split_whitespace().collect::<Vec<_>>(), ["9.10.0", "11.8.1"]);
        assert!(whole.ends_with("10.25     11.75       +1.50  [+0.90, +2.10]"), "{text}");
        assert!(long.contains("  rocksdb::DataBlockIter::Pa\u{2026}asedTable::Rep const&> (new)"));
        assert!(short.contains(SHORT) && short.ends_with("[-0.22, -0.18]  -13 %"), "{text}");
        assert!(same.starts_with("  the same factor in all functions "), "{text}");
        assert!(rest.starts_with("  all other functions ") && rest.ends_with("4 %"), "{text}");
    }

    #[test]
    fn narrow_table_of_functions_repeats_shortened_names() {
        let text = document().text(Style { width: 80, ..Style::default() });
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        insta::assert_snapshot!(text, @r"
        µs of CPU per operation               part    rocksdb-  rocksdb-  difference
                                                        9.10.0    11.8.1
        CPU of the client threads                        10.25     11.75       +1.50
          rocksdb::DataBlo…Rep const&> (new)  engine      0.00      1.23       +1.23
          rocksdb::IndexBlockIter::SeekImpl   engine      1.10      0.90       -0.20
          the same factor in all functions                                     +0.41
          all other functions                                                  +0.06

        µs of CPU per operation                95 % interval  share
        CPU of the client threads             [+0.90, +2.10]
          rocksdb::DataBlo…Rep const&> (new)  [+1.21, +1.26]   82 %
          rocksdb::IndexBlockIter::SeekImpl   [-0.22, -0.18]  -13 %
          the same factor in all functions    [-0.11, +0.93]   27 %
          all other functions                                   4 %
        ");
    }

    #[test]
    fn notes_name_what_moved_and_which_runs_have_no_profile() {
        let cost = FunctionCost { base_us: 1.0, variant_us: 1.0 };
        let pair = |a: &str, b: &str| BTreeMap::from([a, b].map(|name| (name.to_owned(), cost)));
        let mut account = account();
        account.listed[1].merged = pair("Seek", "SeekImpl");
        account.moved = vec![pair("Lookup", "Release")];
        let (variant, reason) = ("rocksdb-11.8.1".to_owned(), "samples were lost".to_owned());
        account.left_out = vec![LeftOut { variant, runs: 3, profiled: 2, reason }];
        insta::assert_snapshot!(notes(&account, Format::Text)[2..].join("\n"), @r"
        rocksdb::IndexBlockIter::SeekImpl is the sum of Seek and SeekImpl: they differ in opposite directions.
        Lookup and Release differ in opposite directions, and their sum does not differ.
        41 functions with at least 10 samples per run were tested (12,000 and 13,000 samples), and those listed differ. Their differences are beyond the same factor, and their intervals are adjusted for the number of functions.
        rocksdb-11.8.1 has a profile in 2 of 3 runs; the others have none: samples were lost. The account above is of all runs.
        ");
        account.listed.clear();
        assert!(tested(&account).ends_with("none of them differs measurably."));
        account.total.interval = Some((-0.1, 3.1));
        let table = table("operation", ["a", "b"], &account, rows(&account));
        let text = Document::from([vec![Part::Table(table)]]).text(Style::default());
        assert!(!text.contains(" %\n"), "a share of what may be 0: {text}");
    }

    #[test]
    fn names_are_whole_in_markdown_and_shortened_in_sentences_of_text() {
        let name = LONG.replace('<', "&lt;");
        assert!(document().markdown().contains(&name), "{}", document().markdown());
        let [text, markdown] = [Format::Text, Format::Markdown].map(|to| notes(&account(), to));
        assert!(markdown[0].contains(LONG), "{markdown:?}");
        assert!(!text[0].contains(LONG) && text[0].contains("Rep const&> is new"), "{text:?}");
    }
}
