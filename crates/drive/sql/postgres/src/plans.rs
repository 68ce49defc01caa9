//! Plans and totals of statements.

use driver_sql::{
    Connection as _, Explain, SentStatement, StatementEntry, Statements, unless_refused,
};

use crate::wire::{Connection, Failure, write_literal};

/// Whether the server has loaded the extension of totals.
const IS_LOADED: &str = "SELECT 1 FROM pg_settings WHERE name = 'shared_preload_libraries' AND \
                         setting LIKE '%pg_stat_statements%'";
/// Creates the extension's views.
const CREATE: &str = "CREATE EXTENSION IF NOT EXISTS pg_stat_statements";
/// What a session executes from then on is not counted; a login without rights is refused.
const UNTRACK: &str = "SET pg_stat_statements.track = 'none'";
/// Totals of the login's statements, without those within functions. The time has another name
/// before 13.
///
/// Source: Postgres' documentation, `pg_stat_statements`.
const TOTALS: &str = "SELECT queryid, query, calls, 1000 * coalesce(to_jsonb(s) ->> \
                      'total_exec_time', to_jsonb(s) ->> 'total_time')::float8, rows, NULL, \
                      shared_blks_hit + shared_blks_read FROM pg_stat_statements s WHERE dbid = \
                      (SELECT oid FROM pg_database WHERE datname = current_database()) AND userid \
                      = (SELECT oid FROM pg_roles WHERE rolname = current_user) AND \
                      coalesce(to_jsonb(s) ->> 'toplevel', 'true') = 'true'";
/// Explains a statement with its identifier, from 14 on.
const IDENTIFY: &str = "EXPLAIN (VERBOSE, COSTS OFF) ";
/// Precedes the identifier in the last line of an explanation.
const IDENTIFIER: &str = "Query Identifier: ";

/// Returns the nodes of a plan with what they name, and the kinds of their conditions.
fn paths(rows: &[Vec<String>]) -> String {
    let line = |row: &Vec<String>| {
        let line = row.first()?.trim_end();
        let (line, is_node) = match line.split_once("  (cost=") {
            Some((node, _)) => (node, true),
            None => (line, false),
        };
        // Conditions have values.
        let line = if is_node { line } else { line.split_once(':')?.0 };
        Some(line.to_owned())
    };
    rows.iter().filter_map(line).collect::<Vec<_>>().join("\n")
}

impl Statements for Connection {
    const EXPLAIN: Explain =
        Explain { plan: "EXPLAIN ", executed: &["EXPLAIN (ANALYZE, BUFFERS) "], paths };

    /// None unless the server was started with the extension.
    fn statement_entries(&mut self, is_foreign: bool) -> Result<Vec<StatementEntry>, Failure> {
        if self.first(IS_LOADED)?.is_none() {
            return Ok(Vec::new());
        }
        if !is_foreign {
            self.run(CREATE)?;
        }
        unless_refused(self.run(UNTRACK))?;
        Ok(self.rows(TOTALS)?.iter().filter_map(|row| StatementEntry::parse(row)).collect())
    }

    /// By the identifier, and by the text too: before 14 there is no identifier, and a literal of
    /// another type (a number that takes eight bytes) has an entry of its own.
    fn find_entries(
        &mut self,
        statement: &SentStatement<'_>,
        entries: &[StatementEntry],
    ) -> Result<Vec<usize>, Failure> {
        let explained = match statement.explain(self, IDENTIFY) {
            Err(Failure::Lost(reason)) => return Err(Failure::Lost(reason)),
            explained => explained.unwrap_or_default(),
        };
        let id = explained.iter().flatten().find_map(|line| line.trim().strip_prefix(IDENTIFIER));
        let text =
            statement.text(|number| format!("${number}"), |value, out| write_literal(out, value));
        let on_one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = on_one_line(&text);
        let is_its = |entry: &StatementEntry| {
            Some(entry.id.as_str()) == id || is_normal_form(&text, &on_one_line(&entry.text))
        };
        Ok(StatementEntry::positions(entries, is_its))
    }
}

/// Returns whether a text is a statement's with `$1` in the place of each constant and parameter.
///
/// The server's text decides where these stand; everything else is as it was sent.
///
/// Source: Postgres' source, `generate_normalized_query` in `pg_stat_statements.c`.
fn is_normal_form(sent: &str, normal: &str) -> bool {
    let (mut sent, mut normal) = (sent, normal);
    loop {
        let is_parameter =
            |at: &usize| normal[at + 1..].starts_with(|next: char| next.is_ascii_digit());
        let Some(at) = normal.match_indices('$').map(|(at, _)| at).find(is_parameter) else {
            return sent == normal;
        };
        let Some(value) = sent.strip_prefix(&normal[..at]) else { return false };
        sent = after_value(value);
        normal = normal[at + 1..].trim_start_matches(|digit: char| digit.is_ascii_digit());
    }
}

/// Returns the text after the constant or parameter at its beginning.
fn after_value(text: &str) -> &str {
    let quoted = text.trim_start_matches(|prefix: char| prefix.is_ascii_alphabetic());
    if let Some(mut rest) = quoted.strip_prefix('\'') {
        // A doubled quote begins the next part of the literal.
        while let Some((_, after)) = rest.split_once('\'') {
            let Some(next) = after.strip_prefix('\'') else { return after };
            rest = next;
        }
        return "";
    }
    let mut before = ' ';
    text.trim_start_matches(|c: char| {
        let is_sign = matches!(c, '-' | '+') && matches!(before, ' ' | 'e');
        before = c;
        is_sign || c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '$')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of Postgres 15.10, for two values each.
    const PLAN: [&str; 5] = [
        "Limit  (cost=0.42..0.85 rows=10 width=16)",
        "  ->  Index Only Scan using marketsegment on purchases1  (cost=0.42..9.9 rows=220 width=16)",
        "        Index Cond: (ROW(price, customerid) >= ROW('12.50'::numeric, 7))",
        "        Filter: (price > 3)",
        "",
    ];

    #[test]
    fn the_server_s_text_decides_where_values_stand() {
        let sent = "SELECT c1 FROM t2 WHERE id >= -7 AND n = E'it''s' AND x = $2 LIMIT 10";
        assert!(is_normal_form(
            sent,
            "SELECT c1 FROM t2 WHERE id >= $3 AND n = $4 AND x = $2 LIMIT $5"
        ));
        // The other statement has the number in its text.
        assert!(!is_normal_form(
            "SELECT 1 FROM t WHERE id = $1 LIMIT 5",
            "SELECT $2 FROM t WHERE id = $1 LIMIT 6"
        ));
        let insert = "INSERT INTO t (a, b) VALUES ('2024-01-01', 1e-7), ('', '\\x00'::bytea)";
        assert!(is_normal_form(insert, "INSERT INTO t (a, b) VALUES ($1, $2), ($3, $4::bytea)"));
        assert!(!is_normal_form(insert, "INSERT INTO t (a, b) VALUES ($1, $2)"));
        assert!(is_normal_form("DO $$ BEGIN END $$", "DO $$ BEGIN END $$"));
        assert!(!is_normal_form("SELECT c FROM t1", "SELECT c FROM t12"));
    }

    #[test]
    fn paths_have_no_values_and_no_estimates() {
        let rows = |lines: [&str; 5]| lines.map(|line| vec![line.to_owned()]).to_vec();
        let found = paths(&rows(PLAN));
        let expected = "Limit\n  ->  Index Only Scan using marketsegment on purchases1\n        \
                        Index Cond\n        Filter";
        assert_eq!(found, expected);
        let other = PLAN.map(|line| line.replace("220", "7").replace("12.50", "1"));
        assert_eq!(paths(&rows(other.each_ref().map(String::as_str))), expected);
    }
}
