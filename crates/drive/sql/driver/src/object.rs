//! Tables and routines that a run creates, and what distinguishes them.

use model::sql::Dialect;

/// A table or a routine, by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// Its kind.
    pub kind: ObjectKind,
    /// Its name without schema and quotes: letters, digits and `_`.
    pub name: String,
}

/// Kind of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    /// A table.
    Table,
    /// A function.
    Function,
    /// A procedure.
    Procedure,
}

model::names!(ObjectKind, "a kind of object": Table "table", Function "function",
    Procedure "procedure");

impl Object {
    /// Returns the table of that name.
    pub fn table(name: impl Into<String>) -> Self {
        Self { kind: ObjectKind::Table, name: name.into() }
    }

    /// Returns its name in the marker table: that of a table alone, else after its kind.
    pub fn mark(&self) -> String {
        match self.kind {
            ObjectKind::Table => self.name.clone(),
            kind @ (ObjectKind::Function | ObjectKind::Procedure) => {
                format!("{kind} {}", self.name)
            }
        }
    }

    /// Parses a name of the marker table; `None` for one that Assay does not write.
    pub(crate) fn of_mark(mark: &str) -> Option<Self> {
        let (kind, name) = match mark.split_once(' ') {
            None => (ObjectKind::Table, mark),
            Some((kind, name)) => {
                (kind.parse().ok().filter(|kind| *kind != ObjectKind::Table)?, name)
            }
        };
        is_name(name).then(|| Self { kind, name: name.to_owned() })
    }
}

/// Returns whether a name can be that of an object of Assay, which needs no quotes.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The name of a table, alone and with its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableName {
    /// Its name.
    pub name: String,
    /// Schema and name, both quoted.
    pub qualified: String,
}

/// A foreign key of one table to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The table that it is of, with its schema.
    pub table: String,
    /// The name of the table to which it refers.
    pub to: String,
}

/// What has the name of an object in a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogEntry {
    /// Its kind as users know it: `view`.
    pub kind: String,
    /// What nothing has that is created under its name later; `None` of what no run creates.
    pub identity: Option<String>,
    /// The statement that drops it.
    pub drop: String,
}

/// Where the objects of a run are, and what their marks have in common.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DataSet {
    /// The schema that they are created in; of MySQL the database.
    pub schema: String,
    /// The token of the data set: digits of base 16.
    pub token: String,
}

/// A statement that creates a table or a routine.
#[derive(Debug)]
pub struct Creation<'s> {
    /// What it creates.
    pub object: Object,
    /// The statement.
    pub sql: &'s str,
    /// The statement after the name.
    rest: &'s str,
}

impl<'s> Creation<'s> {
    /// Parses a statement; `None` for any other, and for a name with a schema.
    pub(crate) fn parse(sql: &'s str, dialect: Dialect) -> Option<Self> {
        let (first, mut rest) = word(without_comments(sql))?;
        if !first.eq_ignore_ascii_case("create") {
            return None;
        }
        let kind = loop {
            let (next, after) = word(rest)?;
            rest = after;
            match next.to_ascii_lowercase().as_str() {
                "table" => break ObjectKind::Table,
                "function" => break ObjectKind::Function,
                "procedure" => break ObjectKind::Procedure,
                "or" | "replace" | "unlogged" | "aggregate" | "definer" => {}
                // DEFINER = user
                definer if definer.contains(['=', '@']) => {}
                _ => return None,
            }
        };
        let (mut name, mut rest) = word(rest)?;
        if name.eq_ignore_ascii_case("if") {
            // IF NOT EXISTS
            let (_, after) = word(word(rest)?.1)?;
            (name, rest) = word(after)?;
        }
        let unquoted = name.trim_matches(['"', '`']);
        let is_folded = dialect == Dialect::Postgres && unquoted == name;
        let name = if is_folded { name.to_ascii_lowercase() } else { unquoted.to_owned() };
        let is_valid = is_name(&name);
        is_valid.then_some(Self { object: Object { kind, name }, sql, rest })
    }

    /// Returns the statement with an option after its columns or parameters, of a function before
    /// its body.
    ///
    /// `None` where no place for it is found: a table without columns of its own, comments among
    /// them.
    pub fn with_option(&self, option: &str) -> Option<String> {
        let columns = self.rest.trim_start().strip_prefix('(')?;
        let is_copy = |(first, _): (&str, &str)| {
            ["like", "select"].iter().any(|copy| first.eq_ignore_ascii_case(copy))
        };
        if word(columns).is_some_and(is_copy) {
            return None;
        }
        let mut rest = &columns[closed(columns)?..];
        if self.object.kind == ObjectKind::Function {
            rest = body(rest)?;
        }
        let (head, tail) = self.sql.split_at(self.sql.len() - rest.len());
        Some(format!("{head} {option} {tail}"))
    }
}

/// Returns a statement without the comments before it.
fn without_comments(sql: &str) -> &str {
    let sql = sql.trim_start();
    let rest = if sql.starts_with("--") {
        sql.split_once('\n')
    } else if sql.starts_with("/*") {
        sql.split_once("*/")
    } else {
        None
    };
    rest.map_or(sql, |(_, rest)| without_comments(rest))
}

/// Returns the first word of a text, up to a space or a parenthesis, and what follows it.
fn word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let end = text.find(|c: char| c.is_whitespace() || c == '(').unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// Returns the bytes of a text up to the parenthesis that closes one before it, which is included.
///
/// `None` without one, and of a text with comments: quotes in them do not count.
fn closed(text: &str) -> Option<usize> {
    let (mut depth, mut quote) = (1_u32, None);
    let mut bytes = text.bytes().zip(1..).peekable();
    while let Some((byte, end)) = bytes.next() {
        let next = bytes.peek().map(|(next, _)| *next);
        match (quote, byte, next) {
            (Some(b'\'' | b'"'), b'\\', _) => {
                bytes.next();
            }
            (Some(open), _, _) => quote = (open != byte).then_some(open),
            (None, b'#', _) | (None, b'-', Some(b'-')) | (None, b'/', Some(b'*')) => return None,
            (None, b'\'' | b'"' | b'`', _) => quote = Some(byte),
            (None, b'(', _) => depth += 1,
            (None, b')', _) if depth == 1 => return Some(end),
            (None, b')', _) => depth -= 1,
            (None, _, _) => {}
        }
    }
    None
}

/// Returns the text from the body of a function on: `BEGIN` or `RETURN`.
fn body(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '(');
        let (first, after) = word(rest)?;
        if ["begin", "return"].iter().any(|begin| first.eq_ignore_ascii_case(begin)) {
            return Some(rest);
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn created(sql: &str, dialect: Dialect) -> Option<String> {
        Creation::parse(sql, dialect).map(|creation| creation.object.mark())
    }

    #[test]
    fn tables_and_routines_are_found_in_the_statements_that_create_them() {
        for (sql, expected) in [
            ("CREATE TABLE pi1 (a INT)", "pi1"),
            ("create unlogged table if not exists Pi1(a INT)", "pi1"),
            ("-- first\n/* second */ CREATE OR REPLACE FUNCTION Pay(x INT)", "function pay"),
            ("CREATE FUNCTION \"Pay\"() RETURNS INT", "function Pay"),
            ("CREATE DEFINER = `a`@`%` PROCEDURE `pay` () SELECT 1", "procedure pay"),
        ] {
            assert_eq!(created(sql, Dialect::Postgres).as_deref(), Some(expected), "{sql}");
        }
        let mysql = created("CREATE TABLE Pi1 (a INT)", Dialect::Mysql);
        assert_eq!(mysql.as_deref(), Some("Pi1"));
        for sql in [
            "CREATE INDEX a ON pi1 (a)",
            "CREATE TRIGGER t BEFORE INSERT ON pi1 EXECUTE FUNCTION f()",
            "CREATE TEMPORARY TABLE pi1 (a INT)",
            "CREATE FUNCTION theirs.pay() RETURNS INT",
            "CREATE TABLE",
            "SELECT 1",
            "",
        ] {
            assert_eq!(created(sql, Dialect::Postgres), None, "{sql}");
        }
    }

    #[test]
    fn option_stands_where_the_server_takes_it() {
        let with = |sql: &str| Creation::parse(sql, Dialect::Mysql)?.with_option("COMMENT 'x'");
        for (sql, expected) in [
            (
                "CREATE TABLE t (a INT DEFAULT ')', b VARCHAR(9)) ENGINE=InnoDB",
                "CREATE TABLE t (a INT DEFAULT ')', b VARCHAR(9)) COMMENT 'x'  ENGINE=InnoDB",
            ),
            (
                "CREATE TABLE t (a CHAR(9) DEFAULT '\\')', `b)` INT)",
                "CREATE TABLE t (a CHAR(9) DEFAULT '\\')', `b)` INT) COMMENT 'x' ",
            ),
            (
                "CREATE PROCEDURE p(IN a INT, b CHAR(2)) BEGIN SELECT (1); END",
                "CREATE PROCEDURE p(IN a INT, b CHAR(2)) COMMENT 'x'  BEGIN SELECT (1); END",
            ),
            (
                "CREATE FUNCTION f() RETURNS DECIMAL(9, 2) NO SQL RETURN(1)",
                "CREATE FUNCTION f() RETURNS DECIMAL(9, 2) NO SQL  COMMENT 'x' RETURN(1)",
            ),
        ] {
            assert_eq!(with(sql).as_deref(), Some(expected));
        }
        for sql in [
            "CREATE TABLE t LIKE u",
            "CREATE TABLE t (LIKE u)",
            "CREATE TABLE t (SELECT 1)",
            "CREATE TABLE t (a INT -- it's a)\n)",
            "CREATE TABLE t (a INT",
        ] {
            assert_eq!(with(sql), None, "{sql}");
        }
    }

    #[test]
    fn only_marks_that_a_run_writes_are_parsed() {
        let pay = Object { kind: ObjectKind::Procedure, name: "pay".to_owned() };
        for object in [Object::table("assay_kv"), pay] {
            assert_eq!(Object::of_mark(&object.mark()), Some(object));
        }
        for mark in ["x; DROP TABLE y", "a`b", "a\"b", "a b", "function a'b", "function ", ""] {
            assert_eq!(Object::of_mark(mark), None, "{mark}");
        }
    }
}
