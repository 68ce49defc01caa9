//! GLOSSARY.md defines every term, metric, column and class once.

use std::collections::BTreeMap;

use model::metric::{METRICS, Unit};
use model::{Durability, OpKind};

use crate::markdown::{self, Row};
use crate::repo::{File, Repo};
use crate::rule::violation::Violation;

const DOCUMENT: &str = "GLOSSARY.md";
const METRIC_HEADER: &str = "| metric | unit | meaning |";
const COLUMN_HEADER: &str = "| column | formula | unit |";
const CLASS_HEADER: &str = "| class | promise | how it is reached |";

/// Terms that must be defined, as `- **term**: ...`.
#[rustfmt::skip]
pub const TERMS: &[&str] = &[
    "engine", "driver", "session", "build", "profile", "variant", "settings", "capability",
    "experiment", "question", "benchmark", "workload", "step", "role", "factor", "level",
    "repetition", "block", "cell", "plan", "base case", "run", "client", "background writer",
    "operation", "outcome", "wrong answer", "verified", "key distribution", "seed",
    "intended", "started", "ended", "service time", "response time", "offered rate", "throughput",
    "closed loop", "open loop", "warm-up", "interval", "worker", "harness", "watchdog", "sampler",
    "metric", "reading", "counter", "gauge", "settle", "debt", "stall", "steady state",
    "durability class", "write amplification", "read amplification", "space amplification",
    "archive", "manifest", "record", "finding", "verdict", "not sustained", "reference engine",
    "conformance battery",
];

/// Columns of the one-line summary, in their order.
pub const COLUMNS: &[&str] = &[
    "ips", "qps", "rps", "rmbps", "wps", "wmbps", "rpq", "rkbpq", "wpi", "wkbpi", "csps", "cpups",
    "cspq", "cpupq", "dbgb1", "dbgb2", "rss", "maxop", "p50", "p99", "tag",
];

/// Returns a violation per definition that is missing, doubled or different.
#[must_use]
pub fn check(repo: &Repo) -> Vec<Violation> {
    let Some(file) = repo.file(DOCUMENT) else {
        return vec![Violation::of(DOCUMENT, "does not exist: write it")];
    };
    let mut found = check_terms(file);
    let metrics = METRICS.iter().map(|metric| {
        let unit = unit_name(metric.unit).to_owned();
        vec![format!("`{}`", metric.name), unit, metric.meaning.to_owned()]
    });
    let columns = COLUMNS.iter().map(|column| vec![format!("`{column}`")]);
    let classes = Durability::ALL
        .iter()
        .map(|class| vec![format!("`{class}`"), class.guarantee().to_owned()]);
    found.extend(check_table(file, METRIC_HEADER, &metrics.collect::<Vec<_>>()));
    found.extend(check_table(file, COLUMN_HEADER, &columns.collect::<Vec<_>>()));
    found.extend(check_table(file, CLASS_HEADER, &classes.collect::<Vec<_>>()));
    found
}

/// Checks that every term and every kind of operation has one definition.
fn check_terms(file: &File) -> Vec<Violation> {
    let mut defined: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, line) in file.text().lines().enumerate() {
        if let Some((term, _)) = line.strip_prefix("- **").and_then(|rest| rest.split_once("**")) {
            defined.entry(term).or_default().push(at + 1);
        }
    }
    let mut found = Vec::new();
    let kinds = OpKind::ALL.iter().map(|kind| kind.name());
    for term in TERMS.iter().copied().chain(kinds) {
        if !defined.contains_key(term) {
            let message = format!("`{term}` is not defined: add `- **{term}**: ...`");
            found.push(Violation::of(DOCUMENT, message));
        }
    }
    for (term, lines) in defined.iter().filter(|(_, lines)| lines.len() > 1) {
        found.push(Violation::at(DOCUMENT, lines[1], format!("`{term}` is defined twice")));
    }
    found
}

/// Checks that a table's rows begin with the expected cells, in the expected order.
fn check_table(file: &File, header: &str, expected: &[Vec<String>]) -> Vec<Violation> {
    let Some(rows) = markdown::table(file.text(), header) else {
        return vec![Violation::of(DOCUMENT, format!("lacks the table `{header}`"))];
    };
    let mut found = Vec::new();
    let of = |row: &Row, name: &str| row.cells.first().is_some_and(|cell| cell == name);
    for cells in expected {
        let rest = format!("| {} |", cells.join(" | "));
        match rows.iter().find(|row| of(row, &cells[0])) {
            None => found.push(Violation::of(DOCUMENT, format!("lacks the row `{rest}`"))),
            Some(row) if !row.cells.starts_with(cells) => {
                found.push(Violation::at(DOCUMENT, row.line, format!("must begin `{rest}`")));
            }
            Some(_) => {}
        }
    }
    for row in &rows {
        if !expected.iter().any(|cells| of(row, &cells[0])) {
            let message = format!("{} is not known to the code: remove the row", row.cells[0]);
            found.push(Violation::at(DOCUMENT, row.line, message));
        }
    }
    found
}

/// Returns how the glossary writes a unit.
const fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::Count => "count",
        Unit::Bytes => "bytes",
        Unit::Kibibytes => "KiB",
        Unit::Micros => "us",
        Unit::Nanos => "ns",
        Unit::Seconds => "s",
        Unit::Share => "share",
        Unit::Ratio => "ratio",
        Unit::OpsPerSecond => "1/s",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glossary() -> String {
        let kinds = OpKind::ALL.iter().map(|kind| kind.name());
        let mut lines: Vec<String> =
            TERMS.iter().copied().chain(kinds).map(|term| format!("- **{term}**: x.")).collect();
        lines.extend([String::new(), METRIC_HEADER.to_owned(), "|---|---|---|".to_owned()]);
        lines.extend(METRICS.iter().map(|metric| {
            format!("| `{}` | {} | {} |", metric.name, unit_name(metric.unit), metric.meaning)
        }));
        lines.extend([String::new(), COLUMN_HEADER.to_owned(), "|---|---|---|".to_owned()]);
        lines.extend(COLUMNS.iter().map(|column| format!("| `{column}` | x | y |")));
        lines.extend([String::new(), CLASS_HEADER.to_owned(), "|---|---|---|".to_owned()]);
        let classes = Durability::ALL.iter();
        lines.extend(classes.map(|class| format!("| `{class}` | {} | x |", class.guarantee())));
        lines.join("\n")
    }

    fn messages(text: &str) -> Vec<String> {
        check(&Repo::of(&[(DOCUMENT, text)])).into_iter().map(|v| v.message).collect()
    }

    #[test]
    fn a_complete_glossary_passes() {
        assert_eq!(messages(&glossary()), Vec::<String>::new());
        assert_eq!(check(&Repo::of(&[])).len(), 1);
    }

    #[test]
    fn missing_doubled_and_different_definitions_are_violations() {
        let text = glossary()
            .replace("- **engine**: x.", "- **cell**: again.")
            .replace("| `tag` | x | y |", "| `extra` | x | y |")
            .replace("longest response time", "the longest");
        let found = messages(&text);
        assert_eq!(
            found,
            [
                "`engine` is not defined: add `- **engine**: ...`",
                "`cell` is defined twice",
                "must begin `| `response_ns_max` | ns | longest response time |`",
                "lacks the row `| `tag` |`",
                "`extra` is not known to the code: remove the row",
            ]
        );
    }
}
