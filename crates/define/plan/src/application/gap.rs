//! The gaps of an SQL text: values `:name` and names `{name}`, outside of quotes and comments.

use super::amount::is_name;

/// A piece of SQL as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Gap<'a> {
    /// Words.
    Text(&'a str),
    /// `:name`: a value is drawn for it.
    Value(&'a str),
    /// `{...}`: a name or a sum that is put in its place.
    Brace(&'a str),
}

/// What is wrong with a text, and the words at fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) why: String,
    /// The words at fault, as they stand in the text.
    pub(super) words: String,
}

impl Wrong {
    pub(super) fn new(words: &str, why: impl Into<String>) -> Self {
        Self { why: why.into(), words: words.to_owned() }
    }
}

/// Returns the pieces of one SQL statement; a semicolon at its end is left out.
///
/// # Errors
/// When a quote, a comment or a brace is not closed, a placeholder is written as servers write
/// them, or a second statement follows.
pub(super) fn gaps(sql: &str) -> Result<Vec<Gap<'_>>, Wrong> {
    let sql = sql.trim();
    let sql = sql.strip_suffix(';').unwrap_or(sql).trim_end();
    if sql.is_empty() {
        return Err(Wrong::new("", "the statement is empty"));
    }
    let mut gaps = Vec::new();
    let (mut begin, mut at) = (0, 0);
    while at < sql.len() {
        let rest = &sql[at..];
        if let Some(length) = quoted(rest)? {
            at += length;
            continue;
        }
        let (gap, length) = gap(rest)?;
        if let Some(gap) = gap {
            if begin < at {
                gaps.push(Gap::Text(&sql[begin..at]));
            }
            gaps.push(gap);
            begin = at + length;
        }
        at += length;
    }
    if begin < sql.len() {
        gaps.push(Gap::Text(&sql[begin..]));
    }
    Ok(gaps)
}

/// Returns the gap that a text begins with, if it does, and the bytes to step over.
fn gap(rest: &str) -> Result<(Option<Gap<'_>>, usize), Wrong> {
    let mut letters = rest.chars();
    let (first, second) = (letters.next().unwrap_or(' '), letters.next());
    let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let word = |from: &str| from.find(|letter| !fits(letter)).unwrap_or(from.len());
    match (first, second) {
        // A cast of Postgres, an assignment of MySQL.
        (':', Some(':' | '=')) => Ok((None, 2)),
        (':', Some(next)) if next.is_ascii_alphabetic() || next == '_' => {
            let length = 1 + word(&rest[1..]);
            Ok((Some(Gap::Value(&rest[1..length])), length))
        }
        ('{', _) => match rest.find('}') {
            Some(end) => Ok((Some(Gap::Brace(rest[1..end].trim())), end + 1)),
            None => Err(Wrong::new("{", "a brace is not closed")),
        },
        ('}', _) => Err(Wrong::new("}", "a brace is closed that was not opened")),
        ('$', Some(digit)) if digit.is_ascii_digit() => {
            let length = 1 + word(&rest[1..]);
            Err(placeholder(&rest[..length]))
        }
        ('?', _) if !matches!(second, Some('|' | '&')) => Err(placeholder("?")),
        (';', _) => Err(Wrong::new(
            ";",
            "one text is one statement: write several as a list, [\"...\", \"...\"]",
        )),
        // A word is stepped over as a whole, so that its digits are no placeholder.
        (letter, _) if fits(letter) => {
            let end = rest.find(|letter| !fits(letter) && letter != '$');
            Ok((None, end.unwrap_or(rest.len())))
        }
        (other, _) => Ok((None, other.len_utf8())),
    }
}

fn placeholder(words: &str) -> Wrong {
    Wrong::new(words, format!("`{words}` is a server's placeholder: write a value, such as :name"))
}

/// Returns a text in which white space outside of quotes is one blank, and comments to the end of
/// a line are left out: what a file is laid out with is no work for a server.
pub(super) fn collapsed(text: &str) -> String {
    let mut collapsed = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match quoted(rest) {
            Ok(Some(length)) => length,
            Ok(None) | Err(_) => first.len_utf8(),
        };
        let (piece, behind) = rest.split_at(length);
        if !first.is_whitespace() && !piece.starts_with("--") {
            collapsed.push_str(piece);
        } else if !collapsed.ends_with(' ') {
            collapsed.push(' ');
        }
        rest = behind;
    }
    collapsed
}

/// Returns the length of the quoted text or comment that a text begins with.
fn quoted(rest: &str) -> Result<Option<usize>, Wrong> {
    const CLOSED: [(&str, &str); 6] =
        [("'", "'"), ("\"", "\""), ("`", "`"), ("/*", "*/"), ("--", "\n"), ("$$", "$$")];
    if let Some((open, close)) = CLOSED.into_iter().find(|(open, _)| rest.starts_with(open)) {
        return match rest[open.len()..].find(close) {
            Some(length) => Ok(Some(open.len() + length + close.len())),
            None if open == "--" => Ok(Some(rest.len())),
            None => Err(Wrong::new(open, format!("what {open} opens is not closed"))),
        };
    }
    // $tag$ ... $tag$ of Postgres.
    let tag = rest.strip_prefix('$').and_then(|rest| rest.split_once('$')).map(|(tag, _)| tag);
    let Some(tag) = tag.filter(|tag| is_name(tag)) else { return Ok(None) };
    let (open, behind) = rest.split_at(tag.len() + 2);
    match behind.find(open) {
        Some(length) => Ok(Some(open.len() + length + open.len())),
        None => Err(Wrong::new(open, format!("what {open} opens is not closed"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(sql: &str) -> String {
        let piece = |gap: &Gap<'_>| match gap {
            Gap::Text(text) => (*text).to_owned(),
            Gap::Value(name) => format!("<{name}>"),
            Gap::Brace(name) => format!("<<{name}>>"),
        };
        gaps(sql).expect("right SQL").iter().map(piece).collect()
    }

    fn refused(sql: &str) -> String {
        gaps(sql).unwrap_err().why
    }

    #[test]
    fn values_and_names_are_gaps() {
        assert_eq!(
            said("SELECT c FROM {table} WHERE id=:id;"),
            "SELECT c FROM <<table>> WHERE id=<id>"
        );
        assert_eq!(said("x BETWEEN :a AND :a+{range - 1}"), "x BETWEEN <a> AND <a>+<<range - 1>>");
        assert_eq!(said("(:a,:b_2)"), "(<a>,<b_2>)");
    }

    #[test]
    fn quotes_comments_casts_and_slices_are_left_alone() {
        for sql in [
            "SELECT ':a {b} ;' || \":c\" || `:d`",
            "SELECT 'it''s :a', \"?\"",
            "SELECT 1 /* :a ; ? */ + 2",
            "SELECT a::int, b[1:2], @x := 3",
            "DO $$ :a; $$",
            "DO $body$ :a; $$ $body$",
            "SELECT 1 -- :a ; {b",
            "SELECT a$1 FROM t1",
        ] {
            assert_eq!(said(sql), sql);
        }
        assert_eq!(said("SELECT 1 -- :a\n, :b"), "SELECT 1 -- :a\n, <b>");
        assert_eq!(said("SELECT :a::int"), "SELECT <a>::int");
    }

    #[test]
    fn layout_is_left_out_and_quoted_text_is_not() {
        let text = "\n  SELECT  '  a\n b' -- why\n\t, /*+ hint  */ b ";
        assert_eq!(collapsed(text), " SELECT '  a\n b' , /*+ hint  */ b ");
    }

    #[test]
    fn what_is_not_closed_or_not_ours_is_refused() {
        assert_eq!(refused(" ; "), "the statement is empty");
        assert_eq!(refused("SELECT 'a"), "what ' opens is not closed");
        assert_eq!(refused("SELECT {table"), "a brace is not closed");
        assert_eq!(refused("SELECT }"), "a brace is closed that was not opened");
        assert!(refused("SELECT $1").starts_with("`$1` is a server's placeholder"));
        assert!(refused("SELECT ?").starts_with("`?` is a server's placeholder"));
        assert!(refused("SELECT 1; SELECT 2").starts_with("one text is one statement"));
        assert_eq!(refused("DO $x$ a"), "what $x$ opens is not closed");
    }
}
