//! Statements with resolved placeholders: values, table names, expressions.

use std::collections::BTreeMap;
use std::ops::Range;

use model::sql::{Draw, Part, PerDialect, Statement, Table};

use super::names::Names;
use super::token::{Token, TokenError, collapsed, tokenize};
use crate::error::PlanError;
use crate::syntax::{Fields, Node};

/// Most values of one statement: both protocols count them in 16 bits.
///
/// Source: PostgreSQL documentation, section 55.7, message Bind; MySQL internals manual,
/// `COM_STMT_PREPARE` response, `num_params`.
const VALUES_MAX: u16 = 65_535;

/// One statement as written, its place, and its repetitions per call.
#[derive(Debug, Clone)]
pub(super) struct SqlText<'a> {
    pub(super) tokens: Vec<Token<'a>>,
    pub(super) place: Range<usize>,
    pub(super) times: u16,
}

/// The statements by dialect, in order; empty when unsupported.
pub(super) type SqlTexts<'a> = PerDialect<Vec<SqlText<'a>>>;

/// Positions of a value among those drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    /// Whether it is drawn for each row; else per call.
    pub(super) in_row: bool,
    /// The first position.
    pub(super) base: u16,
    /// Number of values, comma-separated.
    pub(super) width: u16,
    /// Repetitions of the statement that have values of their own.
    pub(super) copies: u16,
}

/// Positions of the values of one procedure.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) slots: BTreeMap<String, Slot>,
    pub(super) once: Vec<Draw>,
    pub(super) row: Vec<Draw>,
    /// Names of the tables that a statement may name, by position; and its own.
    pub(super) tables: Vec<String>,
    pub(super) own: Option<u16>,
}

impl Layout {
    /// Returns the part that stands for the table of that name.
    fn table(&self, name: &str) -> Option<Part> {
        let position = self.tables.iter().position(|table| table == name)?;
        let position = u16::try_from(position).ok()?;
        Some(if self.own == Some(position) { Part::Table } else { Part::OtherTable(position) })
    }
}

/// Returns the names of tables, by position.
pub(super) fn table_names(tables: &[Table]) -> Vec<String> {
    tables.iter().map(|table| table.name.clone()).collect()
}

impl<'a> Names<'a> {
    /// Returns the statements as written, by dialect.
    pub(super) fn sql_texts(&self, node: &'a Node<'a>) -> Result<SqlTexts<'a>, PlanError> {
        if !node.get_ref().is_table() {
            let both = self.listed(node)?;
            return Ok(PerDialect { postgres: both.clone(), mysql: both });
        }
        let dialects = ["postgres", "mysql"];
        let fields = Fields::of(self.source, node, "SQL that differs by dialect", &dialects)?;
        let [postgres, mysql] = dialects.map(|dialect| fields.get(dialect));
        if postgres.is_none() && mysql.is_none() {
            return Err(self
                .refuse(node.span(), "no dialect is given")
                .remedy("write `sql.postgres`, `sql.mysql` or both"));
        }
        let of = |node: Option<&'a Node<'a>>| node.map_or(Ok(Vec::new()), |node| self.listed(node));
        Ok(PerDialect { postgres: of(postgres)?, mysql: of(mysql)? })
    }

    fn listed(&self, node: &'a Node<'a>) -> Result<Vec<SqlText<'a>>, PlanError> {
        match node.get_ref().as_array() {
            None => Ok(vec![self.sql_text(node)?]),
            Some(list) if list.is_empty() => {
                Err(self.refuse(node.span(), "there is no statement in this list"))
            }
            Some(list) => list.iter().map(|node| self.sql_text(node)).collect(),
        }
    }

    /// Returns one statement as written: a text, or a table with repetitions.
    pub(super) fn sql_text(&self, node: &'a Node<'a>) -> Result<SqlText<'a>, PlanError> {
        let (text, times) = if node.get_ref().is_table() {
            let fields = Fields::of(self.source, node, "a statement", &["sql", "times"])?;
            (fields.text("sql")?, self.number(fields.required("times")?, 1, "times")?)
        } else {
            (self.text(node)?, 1)
        };
        let place = text.span();
        let tokens =
            tokenize(text.get_ref()).map_err(|wrong| self.error_at_text(place.clone(), wrong))?;
        Ok(SqlText { tokens, place, times })
    }

    /// Returns the statements with placeholders resolved, each as often as it is executed.
    pub(super) fn statements(
        &self,
        texts: &SqlTexts<'_>,
        row: Option<&[Part]>,
        layout: &Layout,
    ) -> Result<PerDialect<Vec<Statement>>, PlanError> {
        let all = |texts: &[SqlText<'_>]| {
            let repeated =
                texts.iter().flat_map(|text| (0..text.times).map(move |nth| (text, nth)));
            repeated
                .map(|(text, nth)| self.statement(text, row, layout, nth))
                .collect::<Result<_, PlanError>>()
        };
        Ok(PerDialect { postgres: all(&texts.postgres)?, mysql: all(&texts.mysql)? })
    }

    /// Returns one statement; `repetition` is 0-based within a call.
    pub(super) fn statement(
        &self,
        text: &SqlText<'_>,
        row: Option<&[Part]>,
        layout: &Layout,
        repetition: u16,
    ) -> Result<Statement, PlanError> {
        let refuse = |wrong: TokenError| self.error_at_text(text.place.clone(), wrong);
        let mut parts = Vec::new();
        for token in &text.tokens {
            match *token {
                Token::Text(text) => parts.push(Part::Text(collapsed(text))),
                Token::Brace("table") => parts.push(Part::Table),
                Token::Brace("rows") => match row.filter(|_| text.times == 1) {
                    Some(row) => parts.push(Part::Rows(row.to_vec())),
                    None => {
                        let wrong = TokenError::new("{rows}", "there are no rows here");
                        return Err(refuse(wrong).remedy(
                            "{rows} belongs in the `sql` of a procedure with `row` and `rows`",
                        ));
                    }
                },
                Token::Brace(sum) => parts.push(match self.variables.evaluate(sum) {
                    Ok(value) => Part::Text(value.to_string()),
                    Err(why) => {
                        layout.table(sum).ok_or_else(|| refuse(TokenError::new(sum, why)))?
                    }
                }),
                Token::Value(name) => match layout.slots.get(name) {
                    Some(slot) => parts.extend(places(*slot, repetition)),
                    None => {
                        let why = "a definition has no values to draw";
                        return Err(refuse(TokenError::new(&format!(":{name}"), why)));
                    }
                },
            }
        }
        Ok(Statement { parts: joined(parts) })
    }

    /// Checks that no statement has more values than the protocols allow.
    pub(super) fn few_values(&self, values: usize, place: Range<usize>) -> Result<u16, PlanError> {
        u16::try_from(values).map_err(|_beyond| {
            self.refuse(place, format!("{values} values are more than one statement may have"))
                .remedy(format!("fewer `rows` or a smaller `count`: at most {VALUES_MAX} values"))
        })
    }
}

/// Returns the parts of a value in one repetition of a statement.
fn places(slot: Slot, repetition: u16) -> Vec<Part> {
    let Slot { in_row, base, width, copies } = slot;
    if in_row {
        return vec![Part::RowArgument(base)];
    }
    let base = if copies > 1 { base + width * repetition } else { base };
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
/// The statements of a procedure, and the rows in them.
pub(super) fn all_texts<'t, 'a>(
    texts: &'t SqlTexts<'a>,
    row: Option<&'t SqlText<'a>>,
) -> Vec<&'t SqlText<'a>> {
    texts.postgres.iter().chain(&texts.mysql).chain(row).collect()
}
