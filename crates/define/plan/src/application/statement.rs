//! Statements with resolved placeholders: values, table names, expressions.

use std::collections::{BTreeMap, BTreeSet};
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

/// Keys of SQL that differs by dialect.
pub(super) const DIALECTS: [&str; 2] = ["postgres", "mysql"];
/// The same for procedures: `MyRocks` may differ from `MySQL`'s other engines.
pub(super) const DIALECTS_OF_PROCEDURE: [&str; 3] = ["postgres", "mysql", "myrocks"];

/// One statement as written, its place, and its repetitions per call.
#[derive(Debug, Clone)]
pub(super) struct SqlText<'a> {
    pub(super) tokens: Vec<Token<'a>>,
    pub(super) place: Range<usize>,
    /// 0 when its `when` does not hold.
    pub(super) times: u16,
}

/// The statements by dialect, in order; empty when unsupported.
#[derive(Debug, Clone, Default)]
pub(super) struct SqlTexts<'a> {
    pub(super) postgres: Vec<SqlText<'a>>,
    pub(super) mysql: Vec<SqlText<'a>>,
    /// Empty where it is as `mysql`.
    pub(super) myrocks: Vec<SqlText<'a>>,
}

impl<'a> SqlTexts<'a> {
    /// Returns the statements of every dialect, and the rows in them.
    pub(super) fn all<'t>(&'t self, row: Option<&'t SqlText<'a>>) -> Vec<&'t SqlText<'a>> {
        self.dialects().into_iter().flatten().chain(row).collect()
    }

    /// Returns the statements of each dialect.
    pub(super) const fn dialects(&self) -> [&Vec<SqlText<'a>>; 3] {
        [&self.postgres, &self.mysql, &self.myrocks]
    }
}

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
    /// Values of statements whose `when` does not hold.
    pub(super) unused: BTreeSet<String>,
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
    /// Returns the statements as written, by the `dialects` that they may differ in.
    pub(super) fn sql_texts(
        &self,
        node: &'a Node<'a>,
        dialects: &[&str],
    ) -> Result<SqlTexts<'a>, PlanError> {
        if !node.get_ref().is_table() {
            let both = self.listed(node)?;
            return Ok(SqlTexts { postgres: both.clone(), mysql: both, ..SqlTexts::default() });
        }
        let fields = Fields::of(self.source, node, "SQL that differs by dialect", dialects)?;
        let [postgres, mysql, myrocks] = DIALECTS_OF_PROCEDURE.map(|dialect| fields.get(dialect));
        if postgres.is_none() && mysql.is_none() {
            return Err(self
                .refuse(node.span(), "no dialect is given")
                .remedy("write `sql.postgres`, `sql.mysql` or both"));
        }
        let of = |node: Option<&'a Node<'a>>| node.map_or(Ok(Vec::new()), |node| self.listed(node));
        Ok(SqlTexts { postgres: of(postgres)?, mysql: of(mysql)?, myrocks: of(myrocks)? })
    }

    fn listed(&self, node: &'a Node<'a>) -> Result<Vec<SqlText<'a>>, PlanError> {
        let texts = match node.get_ref().as_array() {
            None => vec![self.sql_text(node)?],
            Some(list) if list.is_empty() => {
                return Err(self.refuse(node.span(), "there is no statement in this list"));
            }
            Some(list) => list.iter().map(|node| self.sql_text(node)).collect::<Result<_, _>>()?,
        };
        if texts.iter().all(|text| text.times == 0) {
            return Err(self
                .refuse(node.span(), "no `when` of these statements holds")
                .remedy("give a statement for these values of the parameters too"));
        }
        Ok(texts)
    }

    /// Returns one statement as written: a text, or a table with repetitions.
    pub(super) fn sql_text(&self, node: &'a Node<'a>) -> Result<SqlText<'a>, PlanError> {
        let (text, times) = if node.get_ref().is_table() {
            let fields = Fields::of(self.source, node, "a statement", &["sql", "times", "when"])?;
            let holds = fields.get("when").map_or(Ok(1), |when| self.signed(when))? != 0;
            let times = match fields.get("times") {
                Some(times) if holds => self.number(times, 1, "times")?,
                None if fields.get("when").is_none() => {
                    return Err(self
                        .refuse(node.span(), "this statement has neither `times` nor `when`")
                        .remedy("write the text alone, or give one of them"));
                }
                Some(_) | None => u16::from(holds),
            };
            (fields.text("sql")?, times)
        } else {
            (self.text(node)?, 1)
        };
        let place = text.span();
        let tokens =
            tokenize(text.get_ref()).map_err(|wrong| self.error_at_text(place.clone(), wrong))?;
        Ok(SqlText { tokens, place, times })
    }

    /// Returns the statements with placeholders resolved, each as often as it is executed.
    ///
    /// Those for `MyRocks` come apart.
    pub(super) fn statements(
        &self,
        texts: &SqlTexts<'_>,
        row: Option<&[Part]>,
        layout: &Layout,
    ) -> Result<(PerDialect<Vec<Statement>>, Vec<Statement>), PlanError> {
        let all = |texts: &[SqlText<'_>]| {
            let repeated =
                texts.iter().flat_map(|text| (0..text.times).map(move |nth| (text, nth)));
            repeated
                .map(|(text, nth)| self.statement(text, row, layout, nth))
                .collect::<Result<_, PlanError>>()
        };
        Ok((
            PerDialect { postgres: all(&texts.postgres)?, mysql: all(&texts.mysql)? },
            all(&texts.myrocks)?,
        ))
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
        let variables = self.variables.of_repetition(repetition + 1);
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
                Token::Brace(sum) => parts.push(match variables.evaluate(sum) {
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
