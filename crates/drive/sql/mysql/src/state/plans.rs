//! Plans and totals of statements.

use std::time::Duration;

use driver_sql::{Connection as _, Explain, SentStatement, StatementEntry, Statements, Value};
use model::sql::Protocol;

use crate::wire::{Connection, Failure, literal};

/// Totals by digest, where the performance schema collects them; errors are no calls.
///
/// Source: MySQL's reference manual, "Statement Summary Tables"; times in picoseconds.
const TOTALS: &str = "SELECT digest, digest_text, count_star - sum_errors, sum_timer_wait / \
                      1000000, sum_rows_sent + sum_rows_affected, sum_rows_examined, \
                      NULL FROM performance_schema.events_statements_summary_by_digest WHERE \
                      schema_name = DATABASE() AND digest_text IS NOT NULL";
/// Totals of what the session prepared, whose executions have no digest.
///
/// Source: MySQL's reference manual, "The prepared_statements_instances Table".
const PREPARED: &str = "SELECT sql_text, sql_text, count_execute - sum_errors, sum_timer_execute / \
                        1000000, sum_rows_sent + sum_rows_affected, sum_rows_examined, \
                        NULL FROM performance_schema.prepared_statements_instances WHERE \
                        owner_thread_id = (SELECT thread_id FROM performance_schema.threads WHERE \
                        processlist_id = CONNECTION_ID()) AND count_execute > 0";
/// Least length at which the text of a prepared statement may be shortened: 1,024 bytes, less a
/// character.
///
/// Source: MySQL's source, `COL_INFO_SIZE` in `pfs_column_types.h`.
const TEXT_BYTES_SHORTENED: usize = 1_020;
/// Least length of a digest's text that MariaDB may have shortened, which it does without a mark:
/// the tokens of a text have 1,024 bytes, and none has more bytes than characters of the text.
///
/// Source: MariaDB's documentation, "`max_digest_length`".
const DIGEST_BYTES_SHORTENED: usize = 1_000;
/// Explanations by digest, with their counts.
const EXPLAINED: &str = "SELECT digest_text, count_star FROM \
                         performance_schema.events_statements_summary_by_digest WHERE schema_name \
                         = DATABASE() AND (digest_text LIKE 'EXPLAIN %' OR digest_text LIKE \
                         'DESCRIBE %')";
/// Longest wait for the statistics of a session that ends.
const SESSION_WITHIN: Duration = Duration::from_secs(5);

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

impl Statements for Connection {
    /// As MySQL (since 8.0.18) and MariaDB explain a statement.
    const EXPLAIN: Explain = Explain {
        plan: "EXPLAIN FORMAT=TRADITIONAL ",
        executed: &["EXPLAIN ANALYZE ", "ANALYZE "],
        paths,
    };

    /// Totals by digest; none without the performance schema.
    fn statement_entries(&mut self, _is_foreign: bool) -> Result<Vec<StatementEntry>, Failure> {
        Ok(self.rows(TOTALS)?.iter().filter_map(|row| StatementEntry::parse(row)).collect())
    }

    fn session_entries(&mut self) -> Result<Vec<StatementEntry>, Failure> {
        self.limit_time(SESSION_WITHIN)?;
        Ok(self.rows(PREPARED)?.iter().filter_map(|row| StatementEntry::parse(row)).collect())
    }

    /// A prepared statement is found by its text, another one by its digest's text.
    fn find_entries(
        &mut self,
        statement: &SentStatement<'_>,
        entries: &[StatementEntry],
    ) -> Result<Vec<usize>, Failure> {
        // Digests have no values.
        let sql = statement.text(|_| "?".to_owned(), |_, out| out.push(b'1'));
        if statement.protocol == Protocol::Prepared {
            return Ok(StatementEntry::positions(entries, |StatementEntry { id, .. }| {
                *id == sql || id.len() >= TEXT_BYTES_SHORTENED && sql.starts_with(id.as_str())
            }));
        }
        let mut quoted = Vec::new();
        literal(Value::Text(sql.as_bytes()), &mut quoted);
        let quoted = String::from_utf8_lossy(&quoted);
        let text = match self.first(&format!("SELECT STATEMENT_DIGEST_TEXT({quoted})")) {
            // MariaDB, and MySQL before 8.0.
            Err(Failure::Refused(_)) => normalised(self, &sql)?,
            text => text?,
        };
        let Some(text) = text else { return Ok(Vec::new()) };
        Ok(StatementEntry::positions(entries, |entry| is_same(&text, &entry.text)))
    }
}

/// Returns a statement's text as the server normalises it: that of the explanation whose count
/// grows when it is explained. `None` when others explain at the same time.
fn normalised(connection: &mut Connection, sql: &str) -> Result<Option<String>, Failure> {
    let before = connection.pairs(EXPLAINED)?;
    connection.run(&format!("EXPLAIN {sql}"))?;
    let mut after = connection.pairs(EXPLAINED)?;
    after.retain(|explained| !before.contains(explained));
    let [(text, _)] = &after[..] else { return Ok(None) };
    Ok(text.split_once(' ').map(|(_explain, text)| text.to_owned()))
}

/// Returns whether two texts of digests, each of which may be shortened, are of one statement.
///
/// A negative number has another digest than a positive one.
fn is_same(one: &str, other: &str) -> bool {
    // MariaDB ends its texts with a space.
    let [one, other] = [one, other].map(|text| text.trim_end().replace("- ?", "?"));
    let [start, other_start] = [&one, &other].map(|text| match text.strip_suffix("...") {
        Some(start) => Some(start.trim_end()),
        None => (text.len() >= DIGEST_BYTES_SHORTENED).then_some(text.as_str()),
    });
    match (start, other_start) {
        (None, None) => one == other,
        (Some(start), None) => other.starts_with(start),
        (None, Some(start)) => one.starts_with(start),
        (Some(start), Some(other)) => start.starts_with(other) || other.starts_with(start),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortened_digests_are_compared_by_their_beginning() {
        let text = "INSERT INTO `t` ( `a` , `b` ) VALUES (...) /* , ... */";
        assert!(is_same(text, text) && !is_same(text, &text[..30]));
        assert!(is_same("INSERT INTO `t` ( `a` , ...", "INSERT INTO `t` ( `a` , `b` ..."));
        assert!(!is_same("INSERT INTO `t` ( `a` , ...", "INSERT INTO `u` ( `a` , `b` ..."));
        assert!(is_same("INSERT INTO `t` ( `a` , ... ", "INSERT INTO `t` ( `a` , `b` ... "));
        let rows = "INSERT INTO `t` VALUES ".to_owned() + &"( ?, ... / ?, ... ) , ".repeat(60);
        assert!(is_same(&rows, &rows[..1_100]) && !is_same(&rows, &rows[..900]));
        assert!(is_same("SET `a` = `a` - ? , `b` = ?", "SET `a` = `a` - ? , `b` = - ?"));
    }

    #[test]
    fn paths_are_the_same_in_both_layouts_and_have_no_estimates() {
        let row = |text: &str| -> Vec<String> { text.split('|').map(str::to_owned).collect() };
        let old = "1|SIMPLE|t1|ref|k_1|k_1|4|const|101|Using index";
        let new = "1|SIMPLE|t1||ref|k_1|k_1|4|const|98|100.00|Using index";
        assert_eq!(paths(&[row(old)]), "t1 ref k_1 4 Using index");
        assert_eq!(paths(&[row(new)]), paths(&[row(old)]));
    }
}
