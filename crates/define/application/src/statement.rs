//! Statements with resolved placeholders: values, table names, expressions.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use model::limits::STATEMENT_VALUES_MAX;
use model::sql::{Draw, Part, PerDialect, Statement, Table};
use reader::error::{PlanError, refuse};

use crate::names::Names;
use crate::text::{SqlText, SqlTexts, executed};
use crate::token::{Token, TokenError, collapsed};

/// Most values in all statements of a file. Our choice: each takes some 100 bytes.
const PLACES_MAX: usize = 1_000_000;

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

impl Slot {
    /// Returns the position of its first value in one repetition of a statement.
    pub(super) const fn position(self, repetition: u16) -> u16 {
        if self.copies > 1 { self.base + self.width * repetition } else { self.base }
    }
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
    /// Copies of its own table; 0 where each client has one.
    pub(super) copies: u32,
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

impl Names<'_> {
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
            let one = |(text, nth)| {
                let mut statement = self.statement(text, row, layout, nth)?;
                self.set_flow(&mut statement, text, layout, nth)?;
                Ok(statement)
            };
            executed(texts).into_iter().map(one).collect::<Result<_, PlanError>>()
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
        self.few_places(text, layout)?;
        let mut parts = Vec::new();
        for token in &text.tokens {
            match *token {
                Token::Text(text) => parts.push(Part::Text(collapsed(text))),
                Token::Brace("table") => parts.push(Part::Table),
                Token::Brace("rows") => match row.filter(|_| text.block.times == 1) {
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
                        let why = "only the statements of procedures draw values";
                        return Err(refuse(TokenError::new(&format!(":{name}"), why)));
                    }
                },
            }
        }
        Ok(Statement { parts: joined(parts), ..Statement::default() })
    }

    /// Checks that a statement has places for few values, and all of the file together, before they
    /// are made.
    fn few_places(&self, text: &SqlText<'_>, layout: &Layout) -> Result<(), PlanError> {
        let width = |token: &Token<'_>| match token {
            Token::Value(name) => layout.slots.get(*name).map_or(0, |slot| usize::from(slot.width)),
            Token::Text(_) | Token::Brace(_) => 0,
        };
        let places = text.tokens.iter().map(width).sum();
        self.few_values(places, text.place.clone())?;
        let all = self.values.get() + places;
        self.values.set(all);
        match all <= PLACES_MAX {
            true => Ok(()),
            false => {
                let why = format!("all statements up to this one have {all} values together");
                let remedy =
                    format!("use fewer statements or smaller `times`: at most {PLACES_MAX} values");
                refuse(&text.place, why, remedy)
            }
        }
    }

    /// Checks that no statement has more values than the protocols allow.
    pub(super) fn few_values(&self, values: usize, place: Range<usize>) -> Result<u16, PlanError> {
        u16::try_from(values).map_err(|_beyond| {
            PlanError::here(place, format!("{values} values are more than one statement may have"))
                .remedy(format!(
                    "use fewer `rows` or a smaller `count`: a statement has at most \
                     {STATEMENT_VALUES_MAX} values"
                ))
        })
    }
}

/// Returns the parts of a value in one repetition of a statement.
fn places(slot: Slot, repetition: u16) -> Vec<Part> {
    let Slot { in_row, width, .. } = slot;
    let base = slot.position(repetition);
    if in_row {
        return vec![Part::RowArgument(base)];
    }
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
