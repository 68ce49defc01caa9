//! Tokenizes SQL: values `:name` and names `{name}`, outside of quotes and comments.

use model::limits::is_sql_name;

/// A piece of SQL as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// SQL text.
    Text(&'a str),
    /// `:name`: a value is drawn for it.
    Value(&'a str),
    /// `{...}`: a name or an expression to substitute.
    Brace(&'a str),
}

impl<'a> Token<'a> {
    /// Returns the name of a value.
    pub(super) const fn value(&self) -> Option<&'a str> {
        if let Self::Value(name) = self { Some(*name) } else { None }
    }
}

/// An error in an SQL text, and the text at fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TokenError {
    pub(super) why: String,
    /// The part of the text at fault.
    pub(super) text: String,
}

impl TokenError {
    pub(super) fn new(text: &str, why: impl Into<String>) -> Self {
        Self { why: why.into(), text: text.to_owned() }
    }
}

/// Returns the tokens of one SQL statement, without a final semicolon.
///
/// # Errors
/// When a quote, a comment or a brace is not closed, a server's placeholder is used, or a second
/// statement follows.
pub(super) fn tokenize(sql: &str) -> Result<Vec<Token<'_>>, TokenError> {
    let sql = sql.trim();
    let sql = sql.strip_suffix(';').unwrap_or(sql).trim_end();
    if sql.is_empty() {
        return Err(TokenError::new("", "the statement is empty"));
    }
    let is_routine = is_routine(sql);
    let mut tokenize = Vec::new();
    let (mut begin, mut at) = (0, 0);
    while at < sql.len() {
        let rest = &sql[at..];
        if let Some(length) = quoted(rest)? {
            at += length;
            continue;
        }
        if is_routine && rest.starts_with(';') {
            at += 1;
            continue;
        }
        let (token, length) = token(rest)?;
        if let Some(token) = token {
            if begin < at {
                tokenize.push(Token::Text(&sql[begin..at]));
            }
            tokenize.push(token);
            begin = at + length;
        }
        at += length;
    }
    if begin < sql.len() {
        tokenize.push(Token::Text(&sql[begin..]));
    }
    Ok(tokenize)
}

/// Returns whether a statement defines a routine, whose body has statements of its own.
fn is_routine(sql: &str) -> bool {
    let mut keywords = sql.split_whitespace();
    let mut is_next = |wanted: &[&str]| {
        keywords.next().is_some_and(|word| wanted.iter().any(|it| it.eq_ignore_ascii_case(word)))
    };
    is_next(&["CREATE"]) && is_next(&["PROCEDURE", "FUNCTION"])
}

/// Returns the token at the start of a text, if any, and the bytes to skip.
fn token(rest: &str) -> Result<(Option<Token<'_>>, usize), TokenError> {
    let mut letters = rest.chars();
    let (first, second) = (letters.next().unwrap_or(' '), letters.next());
    let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let word = |from: &str| from.find(|letter| !fits(letter)).unwrap_or(from.len());
    match (first, second) {
        // A cast of Postgres, an assignment of MySQL.
        (':', Some(':' | '=')) => Ok((None, 2)),
        (':', Some(next)) if next.is_ascii_alphabetic() || next == '_' => {
            let length = 1 + word(&rest[1..]);
            Ok((Some(Token::Value(&rest[1..length])), length))
        }
        ('{', _) => match rest.find('}') {
            Some(end) => Ok((Some(Token::Brace(rest[1..end].trim())), end + 1)),
            None => Err(TokenError::new("{", "a brace is not closed")),
        },
        ('}', _) => Err(TokenError::new("}", "a `}` has no `{` before it")),
        ('$', Some(digit)) if digit.is_ascii_digit() => {
            let length = 1 + word(&rest[1..]);
            Err(placeholder(&rest[..length]))
        }
        ('?', _) if !matches!(second, Some('|' | '&')) => Err(placeholder("?")),
        (';', _) => Err(TokenError::new(
            ";",
            "one text is one statement: write several as a list, [\"...\", \"...\"]",
        )),
        // A word is skipped as a whole, so that its digits are no placeholder.
        (letter, _) if fits(letter) => {
            let end = rest.find(|letter| !fits(letter) && letter != '$');
            Ok((None, end.unwrap_or(rest.len())))
        }
        (other, _) => Ok((None, other.len_utf8())),
    }
}

fn placeholder(text: &str) -> TokenError {
    TokenError::new(
        text,
        format!(
            "`{text}` is a server's placeholder: write a value, such as \
    :name"
        ),
    )
}

/// Collapses white space outside of quotes and removes line comments.
///
/// The file's formatting must not cost the server parsing time.
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
fn quoted(rest: &str) -> Result<Option<usize>, TokenError> {
    const CLOSED: [(&str, &str); 6] =
        [("'", "'"), ("\"", "\""), ("`", "`"), ("/*", "*/"), ("--", "\n"), ("$$", "$$")];
    if let Some((open, close)) = CLOSED.into_iter().find(|(open, _)| rest.starts_with(open)) {
        return match rest[open.len()..].find(close) {
            Some(length) => Ok(Some(open.len() + length + close.len())),
            None if open == "--" => Ok(Some(rest.len())),
            None => Err(TokenError::new(open, format!("what {open} opens is not closed"))),
        };
    }
    // $tag$ ... $tag$ of Postgres.
    let tag = rest.strip_prefix('$').and_then(|rest| rest.split_once('$')).map(|(tag, _)| tag);
    let Some(tag) = tag.filter(|tag| is_sql_name(tag)) else { return Ok(None) };
    let (open, behind) = rest.split_at(tag.len() + 2);
    match behind.find(open) {
        Some(length) => Ok(Some(open.len() + length + open.len())),
        None => Err(TokenError::new(open, format!("what {open} opens is not closed"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formatted(sql: &str) -> String {
        let piece = |token: &Token<'_>| match token {
            Token::Text(text) => (*text).to_owned(),
            Token::Value(name) => format!("<{name}>"),
            Token::Brace(name) => format!("<<{name}>>"),
        };
        tokenize(sql).expect("right SQL").iter().map(piece).collect()
    }

    fn refused(sql: &str) -> String {
        tokenize(sql).unwrap_err().why
    }

    #[test]
    fn values_and_names_are_tokens() {
        assert_eq!(
            formatted("SELECT c FROM {table} WHERE id=:id;"),
            "SELECT c FROM <<table>> WHERE id=<id>"
        );
        assert_eq!(
            formatted("x BETWEEN :a AND :a+{range - 1}"),
            "x BETWEEN <a> AND <a>+<<range - \
        1>>"
        );
        assert_eq!(formatted("(:a,:b_2)"), "(<a>,<b_2>)");
    }

    #[test]
    fn quotes_comments_casts_and_slices_are_plain_text() {
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
            assert_eq!(formatted(sql), sql);
        }
        assert_eq!(formatted("SELECT 1 -- :a\n, :b"), "SELECT 1 -- :a\n, <b>");
        assert_eq!(formatted("SELECT :a::int"), "SELECT <a>::int");
    }

    #[test]
    fn white_space_is_collapsed_outside_quotes() {
        let text = "\n  SELECT  '  a\n b' -- why\n\t, /*+ hint  */ b ";
        assert_eq!(collapsed(text), " SELECT '  a\n b' , /*+ hint  */ b ");
    }

    #[test]
    fn unclosed_text_and_server_placeholders_are_rejected() {
        assert_eq!(refused(" ; "), "the statement is empty");
        assert_eq!(refused("SELECT 'a"), "what ' opens is not closed");
        assert_eq!(refused("SELECT {table"), "a brace is not closed");
        assert_eq!(refused("SELECT }"), "a `}` has no `{` before it");
        assert!(refused("SELECT $1").starts_with("`$1` is a server's placeholder"));
        assert!(refused("SELECT ?").starts_with("`?` is a server's placeholder"));
        assert!(refused("SELECT 1; SELECT 2").starts_with("one text is one statement"));
        let routine = "create procedure p(n INT) BEGIN DELETE FROM {t}; SELECT 1; END";
        assert_eq!(tokenize(routine).map(|tokens| tokens.len()), Ok(3));
        assert_eq!(refused("DO $x$ a"), "what $x$ opens is not closed");
    }
}
