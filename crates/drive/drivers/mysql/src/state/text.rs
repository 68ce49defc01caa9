//! The server's own statistics as text.

use std::fmt::Write as _;

use crate::wire::Connection;

/// Questions whose answers are kept; one that the server does not know is left out.
const QUESTIONS: [&str; 4] = [
    "SHOW ENGINE INNODB STATUS",
    "SHOW ENGINE ROCKSDB STATUS",
    "SHOW GLOBAL STATUS",
    "SHOW TABLE STATUS",
];

/// Returns what the server says of itself, question after question.
pub(crate) fn text(connection: &mut Connection) -> String {
    let mut text = String::new();
    for question in QUESTIONS {
        let Ok(rows) = connection.rows(question) else { continue };
        writeln!(text, "==== {question}").expect("a text takes what is written to it");
        for row in rows {
            text.push_str(&row.join("\t"));
            text.push('\n');
        }
    }
    text
}
