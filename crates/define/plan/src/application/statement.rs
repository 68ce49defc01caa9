//! Statements with resolved placeholders: values, table names, expressions.

use std::ops::Range;

use model::sql::{Part, PerDialect, Statement};
use toml::Spanned;

use super::file::{DialectTable, SqlEntry, StatementEntry, Statements};
use super::names::Names;
use super::token::{Token, TokenError, collapsed, tokenize};
use crate::error::PlanError;
use crate::syntax::WordOr;

/// Most values of one statement: both protocols count them in 16 bits.
///
/// Source: PostgreSQL documentation, section 55.7, message Bind; MySQL internals manual,
/// `COM_STMT_PREPARE` response, `num_params`.
const VALUES_MAX: usize = 65_535;
/// Most repetitions of one statement in a call: a sanity limit.
const TIMES_MAX: u32 = 1000;

/// One statement as written, its place, and its repetitions per call.
#[derive(Debug, Clone)]
pub(super) struct SqlText<'a> {
    pub(super) sql: &'a str,
    pub(super) place: Range<usize>,
    pub(super) times: u32,
}

/// The statements of one dialect, in order; empty when unsupported.
pub(super) type SqlTexts<'a> = Vec<SqlText<'a>>;

/// Position of a value: per call, or per row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// Positions among those drawn once, the same in each repetition of a statement.
    Shared {
        /// The first of them.
        base: u16,
        /// Number of values, comma-separated.
        width: u16,
    },
    /// The same, with separate values for each repetition.
    UserBuild {
        /// The first one of the first repetition.
        base: u16,
        /// Number of values per repetition.
        width: u16,
    },
    /// The position among those drawn for each row.
    Row(u16),
}

/// Substitutions for one repetition of a statement.
pub(super) struct Substitution<'a> {
    /// The parts of a row; `None` when the procedure has no rows, or inside of one.
    pub(super) row: Option<&'a [Part]>,
    /// Position of a value, by name.
    pub(super) slot: &'a dyn Fn(&str) -> Option<Slot>,
}

impl Names<'_> {
    /// Returns the statements as written, by dialect.
    pub(super) fn sql_texts<'b>(
        &self,
        entry: &'b Spanned<SqlEntry>,
    ) -> Result<PerDialect<SqlTexts<'b>>, PlanError> {
        match entry.get_ref() {
            SqlEntry::Both(statements) => {
                let both = self.listed(statements, entry.span())?;
                Ok(PerDialect { postgres: both.clone(), mysql: both })
            }
            SqlEntry::Each(sql) => {
                let DialectTable { postgres, mysql } = &**sql;
                if postgres.is_none() && mysql.is_none() {
                    return Err(self
                        .refuse(entry.span(), "no dialect is given")
                        .remedy("write `sql.postgres`, `sql.mysql` or both"));
                }
                let of = |sql: &'b Option<Spanned<Statements>>| match sql {
                    Some(statements) => self.listed(statements.get_ref(), statements.span()),
                    None => Ok(Vec::new()),
                };
                Ok(PerDialect { postgres: of(postgres)?, mysql: of(mysql)? })
            }
        }
    }

    fn listed<'b>(
        &self,
        statements: &'b Statements,
        place: Range<usize>,
    ) -> Result<SqlTexts<'b>, PlanError> {
        let entries = match statements {
            Statements::One(sql) => return Ok(vec![SqlText { sql, place, times: 1 }]),
            Statements::Many(entries) if entries.is_empty() => {
                return Err(self.refuse(place, "there is no statement in this list"));
            }
            Statements::Many(entries) => entries,
        };
        let sql_text = |entry: &'b Spanned<StatementEntry>| match entry.get_ref() {
            WordOr::Word(sql) => Ok(SqlText { sql, place: entry.span(), times: 1 }),
            WordOr::Table(table) => {
                let times = self.small(&table.times, 1, "times")?;
                if times > TIMES_MAX {
                    let why = format!("{times} times are too many: at most {TIMES_MAX}");
                    return Err(self.refuse(table.times.span(), why));
                }
                Ok(SqlText { sql: table.sql.get_ref(), place: table.sql.span(), times })
            }
        };
        entries.iter().map(sql_text).collect()
    }

    /// Returns the statements that create a table.
    pub(super) fn definitions(
        &self,
        entry: &Spanned<SqlEntry>,
    ) -> Result<PerDialect<Vec<Statement>>, PlanError> {
        let sql = self.sql_texts(entry)?;
        Ok(PerDialect { postgres: self.plain(&sql.postgres)?, mysql: self.plain(&sql.mysql)? })
    }

    fn plain(&self, sql_texts: &[SqlText<'_>]) -> Result<Vec<Statement>, PlanError> {
        let substitution = Substitution { row: None, slot: &|_| None };
        let statement = |sql_text: &SqlText<'_>| {
            if sql_text.times > 1 {
                return Err(self.refuse(
                    sql_text.place.clone(),
                    "a definition is executed once, not \
                    several times",
                ));
            }
            self.statement(sql_text, &substitution, 0)
        };
        sql_texts.iter().map(statement).collect()
    }

    /// Returns one statement; `repetition` is 0-based within a call.
    pub(super) fn statement(
        &self,
        sql_text: &SqlText<'_>,
        substitution: &Substitution<'_>,
        repetition: u32,
    ) -> Result<Statement, PlanError> {
        let place = || sql_text.place.clone();
        let refuse = |wrong: TokenError| self.error_at_text(place(), wrong);
        let mut parts = Vec::new();
        for gap in tokenize(sql_text.sql).map_err(refuse)? {
            match gap {
                Token::Text(text) => parts.push(Part::Text(collapsed(text))),
                Token::Brace("table") => parts.push(Part::Table),
                Token::Brace("rows") => match substitution.row {
                    Some(row) => parts.push(Part::Rows(row.to_vec())),
                    None => {
                        let wrong = TokenError::new("{rows}", "there are no rows here");
                        return Err(refuse(wrong).remedy(
                            "{rows} belongs in the `sql` of a procedure with `row` and `rows`",
                        ));
                    }
                },
                Token::Brace(sum) => {
                    let value = self.variables.evaluate(sum);
                    let value = value.map_err(|why| refuse(TokenError::new(sum, why)))?;
                    parts.push(Part::Text(value.to_string()));
                }
                Token::Value(name) => match (substitution.slot)(name) {
                    Some(slot) => parts.extend(places(slot, repetition)),
                    None => {
                        let text = format!(":{name}");
                        let why = "a definition has no values to draw";
                        return Err(refuse(TokenError::new(&text, why)));
                    }
                },
            }
        }
        Ok(Statement { parts: joined(parts) })
    }

    /// Checks that no statement has more values than the protocols allow.
    pub(super) fn few_values(&self, values: usize, place: Range<usize>) -> Result<(), PlanError> {
        if values <= VALUES_MAX {
            return Ok(());
        }
        Err(self
            .refuse(place, format!("{values} values are more than one statement may have"))
            .remedy(format!("fewer `rows` or a smaller `count`: at most {VALUES_MAX} values")))
    }
}

/// Returns the parts of a value in one repetition of a statement.
fn places(slot: Slot, repetition: u32) -> Vec<Part> {
    let (base, width) = match slot {
        Slot::Row(position) => return vec![Part::RowArgument(position)],
        Slot::Shared { base, width } => (base, width),
        Slot::UserBuild { base, width } => {
            (base + width * u16::try_from(repetition).unwrap_or(0), width)
        }
    };
    let comma = |position| (position > base).then(|| Part::Text(", ".to_owned()));
    let place = |position| comma(position).into_iter().chain([Part::Argument(position)]);
    (base..base + width).flat_map(place).collect()
}

/// Merges adjacent text parts.
fn joined(parts: Vec<Part>) -> Vec<Part> {
    let mut joined: Vec<Part> = Vec::new();
    for part in parts {
        match (joined.last_mut(), part) {
            (Some(Part::Text(before)), Part::Text(text)) => before.push_str(&text),
            (_, part) => joined.push(part),
        }
    }
    joined
}
