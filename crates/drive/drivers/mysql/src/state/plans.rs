//! Plans and totals of statements.

use driver_sql::{Connection as _, Explain, TextTotals};
use model::StatementTotals;

use crate::wire::{Connection, Failure};

/// How MySQL (from 8.0.18 on) and MariaDB explain a statement.
pub(crate) const EXPLAIN: Explain = Explain {
    plan: "EXPLAIN FORMAT=TRADITIONAL ",
    executed: &["EXPLAIN ANALYZE ", "ANALYZE "],
    paths,
};

/// Totals by digest, where the performance schema collects them.
///
/// Source: MySQL's reference manual, "Statement Summary Tables"; times in picoseconds.
const TOTALS: &str = "SELECT digest_text, count_star, sum_timer_wait / 1000000, sum_rows_sent + \
                      sum_rows_affected, sum_rows_examined FROM \
                      performance_schema.events_statements_summary_by_digest WHERE schema_name = \
                      DATABASE() AND digest_text IS NOT NULL";

/// Positions of the columns table, type, key, key_len and Extra of a plan, by their number.
///
/// Source: MySQL's reference manual, "EXPLAIN Output Format"; 12 columns from 5.7 on.
const fn columns(count: usize) -> [usize; 5] {
    if count >= 12 { [2, 4, 6, 7, 11] } else { [2, 3, 5, 6, 9] }
}

/// Returns table, access type, key, bytes used of it and the extra text of each row.
fn paths(rows: &[Vec<String>]) -> String {
    let line = |row: &Vec<String>| {
        let of = |at: usize| row.get(at).filter(|text| !text.is_empty()).map(String::as_str);
        let known: Vec<&str> = columns(row.len()).into_iter().filter_map(of).collect();
        known.join(" ")
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns totals by statement; none without the performance schema.
pub(crate) fn totals(connection: &mut Connection) -> Result<Vec<TextTotals>, Failure> {
    let rows = connection.rows(TOTALS)?;
    Ok(rows.into_iter().filter_map(|row| of_row(&row)).collect())
}

fn of_row(row: &[String]) -> Option<TextTotals> {
    let [text, calls, server_us, rows, examined] = row else { return None };
    let totals = StatementTotals {
        calls: calls.parse().ok()?,
        server_us: server_us.parse().ok()?,
        rows: rows.parse().ok()?,
        examined: examined.parse().ok(),
        pages: None,
    };
    Some((text.clone(), totals))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_the_same_in_both_layouts_and_have_no_estimates() {
        let row = |text: &str| -> Vec<String> { text.split('|').map(str::to_owned).collect() };
        let old = "1|SIMPLE|t1|ref|k_1|k_1|4|const|101|Using index";
        let new = "1|SIMPLE|t1||ref|k_1|k_1|4|const|98|100.00|Using index";
        assert_eq!(paths(&[row(old)]), "t1 ref k_1 4 Using index");
        assert_eq!(paths(&[row(new)]), paths(&[row(old)]));
    }
}
