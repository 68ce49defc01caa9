//! Normal form of a statement's text, to find it in the server's statistics.

/// Returns a statement without what servers write differently: space, case, quotes, values, lists,
/// the numbers of tables.
///
/// What follows `VALUES` is left out: its rows are as many as a call has.
///
/// Source: MySQL's reference manual, "Performance Schema Statement Digests"; Postgres'
/// documentation, `pg_stat_statements`.
pub(crate) fn digest(sql: &str) -> String {
    let lower = sql.to_ascii_lowercase();
    let mut chars = lower.chars().peekable();
    let mut text = String::with_capacity(lower.len());
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                // A literal ends at the next quote; a doubled one begins the next literal.
                chars.by_ref().find(|end| *end == '\'');
                push_value(&mut text);
            }
            '$' => {
                while chars.next_if(char::is_ascii_digit).is_some() {}
                push_value(&mut text);
            }
            '?' => push_value(&mut text),
            '0'..='9' => {
                let is_name =
                    text.ends_with(|before: char| before.is_alphanumeric() || before == '_');
                while chars.next_if(|next| next.is_ascii_digit() || *next == '.').is_some() {}
                if !is_name {
                    push_value(&mut text);
                }
            }
            '`' | '"' | ';' => {}
            c if c.is_whitespace() => {}
            c => text.push(c),
        }
    }
    let end = text.find("values(").unwrap_or(text.len());
    text.truncate(end);
    text.replace("...", "?")
}

/// Appends a value; several in a list are one.
fn push_value(text: &mut String) {
    if text.ends_with("?,") {
        text.pop();
    } else if !text.ends_with('?') {
        text.push('?');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_one_statement_are_the_same() {
        let ours = digest("SELECT c FROM sbtest3 WHERE id = ? AND k IN (?, ?, ?)");
        for theirs in [
            "SELECT `c` FROM `sbtest1` WHERE `id` = ? AND `k` IN (...)",
            "SELECT c FROM sbtest1 WHERE id = $1 AND k IN ($2, $3, $4)",
            "select c from sbtest12 where id = 17 and k in (1,'a b',3);",
        ] {
            assert_eq!(digest(theirs), ours, "{theirs}");
        }
        assert_ne!(digest("SELECT c FROM t WHERE id = ?"), digest("SELECT c FROM t WHERE k = ?"));
        let insert = "INSERT INTO `purchases` (a, b) VALUES (...) /* , ... */";
        assert_eq!(digest(insert), digest("insert into purchases(a,b) values (?, ?), (?, ?)"));
    }
}
