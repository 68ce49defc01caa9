//! Plans and totals of statements.

use driver_sql::{Connection as _, Explain, TextTotals};
use model::StatementTotals;

use crate::wire::{Connection, Failure};

/// How Postgres explains a statement.
pub(crate) const EXPLAIN: Explain =
    Explain { plan: "EXPLAIN ", executed: &["EXPLAIN (ANALYZE, BUFFERS) "], paths };

/// Whether the server has loaded the extension of totals.
const IS_LOADED: &str = "SELECT 1 FROM pg_settings WHERE name = 'shared_preload_libraries' AND \
                         setting LIKE '%pg_stat_statements%'";
/// Creates the extension's views.
const CREATE: &str = "CREATE EXTENSION IF NOT EXISTS pg_stat_statements";
/// Totals by text. The time has another name before 13.
///
/// Source: Postgres' documentation, `pg_stat_statements`.
const TOTALS: &str = "SELECT query, calls, 1000 * coalesce(to_jsonb(s) ->> 'total_exec_time', \
                      to_jsonb(s) ->> 'total_time')::float8, rows, shared_blks_hit + \
                      shared_blks_read FROM pg_stat_statements s WHERE dbid = (SELECT oid FROM \
                      pg_database WHERE datname = current_database())";

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

/// Returns totals by statement; none unless the server was started with the extension.
pub(crate) fn totals(
    connection: &mut Connection,
    is_foreign: bool,
) -> Result<Vec<TextTotals>, Failure> {
    if connection.first(IS_LOADED)?.is_none() {
        return Ok(Vec::new());
    }
    if !is_foreign {
        connection.run(CREATE)?;
    }
    let rows = connection.rows(TOTALS)?;
    Ok(rows.into_iter().filter_map(|row| of_row(&row)).collect())
}

fn of_row(row: &[String]) -> Option<TextTotals> {
    let [text, calls, server_us, rows, pages] = row else { return None };
    let totals = StatementTotals {
        calls: calls.parse().ok()?,
        server_us: server_us.parse().ok()?,
        rows: rows.parse().ok()?,
        examined: None,
        pages: pages.parse().ok(),
    };
    Some((text.clone(), totals))
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
