//! The server's statistics as text.

use std::fmt::Write as _;

use driver_sql::Connection as _;

use crate::wire::Connection;

/// Queries whose answers are stored; unknown ones are left out.
const QUERIES: [&str; 4] = [
    "SHOW ENGINE INNODB STATUS",
    "SHOW ENGINE ROCKSDB STATUS",
    "SHOW GLOBAL STATUS",
    "SHOW TABLE STATUS",
];

/// Returns the answers of all queries as text.
pub(crate) fn statistics(connection: &mut Connection) -> String {
    let mut text = String::new();
    for query in QUERIES {
        let Ok(rows) = connection.rows(query) else { continue };
        writeln!(text, "==== {query}").expect("writing to a string cannot fail");
        for row in rows {
            text.push_str(&row.join("\t"));
            text.push('\n');
        }
    }
    text
}
