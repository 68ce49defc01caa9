//! Statements with their gaps filled in: places of values, names of tables, sums.

use std::ops::Range;

use model::sql::{Part, PerDialect, Statement};
use toml::Spanned;

use super::file::{SaidTable, SqlEntry, StatementEntry, Statements};
use super::gap::{Gap, Wrong, collapsed, gaps};
use super::names::Names;
use crate::error::PlanError;
use crate::spec::WordOr;

/// Most values of one statement: both protocols count them in 16 bits.
///
/// Source: PostgreSQL documentation, section 55.7, message Bind; MySQL internals manual,
/// `COM_STMT_PREPARE` response, `num_params`.
const VALUES_MAX: usize = 65_535;
/// Most times that one statement is done in a call: a limit of sense.
const TIMES_MAX: u32 = 1000;

/// One statement as written, its place, and how often a call does it.
#[derive(Debug, Clone)]
pub(super) struct Sentence<'a> {
    pub(super) sql: &'a str,
    pub(super) place: Range<usize>,
    pub(super) times: u32,
}

/// The statements of one dialect, in order; nothing when it is not said in this dialect.
pub(super) type Sentences<'a> = Vec<Sentence<'a>>;

/// Where a value stands: once per call, or once per row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// Positions among those drawn once, the same in each repetition of a statement.
    Shared {
        /// The first of them.
        base: u16,
        /// How many there are, with commas between.
        width: u16,
    },
    /// The same, but each repetition has as many of its own.
    Own {
        /// The first one of the first repetition.
        base: u16,
        /// How many each repetition has.
        width: u16,
    },
    /// The position among those drawn for each row.
    Row(u16),
}

/// What fills the gaps of one repetition of a statement.
pub(super) struct Filling<'a> {
    /// The parts of a row; `None` when the procedure has no rows, or inside of one.
    pub(super) row: Option<&'a [Part]>,
    /// Where a value stands, by name.
    pub(super) slot: &'a dyn Fn(&str) -> Option<Slot>,
}

impl Names<'_> {
    /// Returns the statements as written, by dialect.
    pub(super) fn sentences<'b>(
        &self,
        entry: &'b Spanned<SqlEntry>,
    ) -> Result<PerDialect<Sentences<'b>>, PlanError> {
        match entry.get_ref() {
            SqlEntry::Both(statements) => {
                let both = self.listed(statements, entry.span())?;
                Ok(PerDialect { postgres: both.clone(), mysql: both })
            }
            SqlEntry::Each(said) => {
                let SaidTable { postgres, mysql } = &**said;
                if postgres.is_none() && mysql.is_none() {
                    return Err(self
                        .refuse(entry.span(), "no dialect is given")
                        .remedy("write `sql.postgres`, `sql.mysql` or both"));
                }
                let of = |said: &'b Option<Spanned<Statements>>| match said {
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
    ) -> Result<Sentences<'b>, PlanError> {
        let entries = match statements {
            Statements::One(sql) => return Ok(vec![Sentence { sql, place, times: 1 }]),
            Statements::Many(entries) if entries.is_empty() => {
                return Err(self.refuse(place, "there is no statement in this list"));
            }
            Statements::Many(entries) => entries,
        };
        let sentence = |entry: &'b Spanned<StatementEntry>| match entry.get_ref() {
            WordOr::Word(sql) => Ok(Sentence { sql, place: entry.span(), times: 1 }),
            WordOr::Table(table) => {
                let times = self.small(&table.times, 1, "times")?;
                if times > TIMES_MAX {
                    let why = format!("{times} times are too many: at most {TIMES_MAX}");
                    return Err(self.refuse(table.times.span(), why));
                }
                Ok(Sentence { sql: table.sql.get_ref(), place: table.sql.span(), times })
            }
        };
        entries.iter().map(sentence).collect()
    }

    /// Returns the statements that create a table.
    pub(super) fn definitions(
        &self,
        entry: &Spanned<SqlEntry>,
    ) -> Result<PerDialect<Vec<Statement>>, PlanError> {
        let said = self.sentences(entry)?;
        Ok(PerDialect { postgres: self.plain(&said.postgres)?, mysql: self.plain(&said.mysql)? })
    }

    fn plain(&self, sentences: &[Sentence<'_>]) -> Result<Vec<Statement>, PlanError> {
        let filling = Filling { row: None, slot: &|_| None };
        let statement = |sentence: &Sentence<'_>| {
            if sentence.times > 1 {
                return Err(
                    self.refuse(sentence.place.clone(), "a definition is done once, not several")
                );
            }
            self.statement(sentence, &filling, 0)
        };
        sentences.iter().map(statement).collect()
    }

    /// Returns one statement; `repetition` counts from 0 those that a call does.
    pub(super) fn statement(
        &self,
        sentence: &Sentence<'_>,
        filling: &Filling<'_>,
        repetition: u32,
    ) -> Result<Statement, PlanError> {
        let place = || sentence.place.clone();
        let refuse = |wrong: Wrong| self.refuse_words(place(), wrong);
        let mut parts = Vec::new();
        for gap in gaps(sentence.sql).map_err(refuse)? {
            match gap {
                Gap::Text(text) => parts.push(Part::Text(collapsed(text))),
                Gap::Brace("table") => parts.push(Part::Table),
                Gap::Brace("rows") => match filling.row {
                    Some(row) => parts.push(Part::Rows(row.to_vec())),
                    None => {
                        let wrong = Wrong::new("{rows}", "there are no rows here");
                        return Err(refuse(wrong).remedy(
                            "{rows} stands in the `sql` of a procedure with `row` and `rows`",
                        ));
                    }
                },
                Gap::Brace(sum) => {
                    let value = self.worth.amount(sum);
                    let value = value.map_err(|why| refuse(Wrong::new(sum, why)))?;
                    parts.push(Part::Text(value.to_string()));
                }
                Gap::Value(name) => match (filling.slot)(name) {
                    Some(slot) => parts.extend(places(slot, repetition)),
                    None => {
                        let words = format!(":{name}");
                        let why = "a definition has no values to draw";
                        return Err(refuse(Wrong::new(&words, why)));
                    }
                },
            }
        }
        Ok(Statement { parts: joined(parts) })
    }

    /// Checks that no statement has more values than the protocols count.
    pub(super) fn few_values(&self, values: usize, place: Range<usize>) -> Result<(), PlanError> {
        if values <= VALUES_MAX {
            return Ok(());
        }
        Err(self
            .refuse(place, format!("{values} values are more than one statement may have"))
            .remedy(format!("fewer `rows` or a smaller `count`: at most {VALUES_MAX} values")))
    }
}

/// Returns the places of a value in one repetition of a statement.
fn places(slot: Slot, repetition: u32) -> Vec<Part> {
    let (base, width) = match slot {
        Slot::Row(position) => return vec![Part::RowArgument(position)],
        Slot::Shared { base, width } => (base, width),
        Slot::Own { base, width } => (base + width * u16::try_from(repetition).unwrap_or(0), width),
    };
    let comma = |position| (position > base).then(|| Part::Text(", ".to_owned()));
    let place = |position| comma(position).into_iter().chain([Part::Argument(position)]);
    (base..base + width).flat_map(place).collect()
}

/// Returns parts in which no text follows another.
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
