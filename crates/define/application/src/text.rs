//! SQL as written: statements with repetitions, conditions and values to read.

use std::ops::Range;

use model::sql::Draw;
use reader::error::{PlanError, refuse};
use reader::syntax::{Fields, Node, Word, text};

use crate::names::{FOUND, Names};
use crate::token::{Token, tokenize};
use crate::value::Value;

/// Keys of a statement, or of several that are repeated or conditioned together.
const KEYS: [&str; 7] = ["sql", "times", "when", "if", "unless", "into", "copy"];
/// Keys of SQL that differs by dialect.
pub(super) const DIALECTS: [&str; 2] = ["postgres", "mysql"];
/// The same for procedures: `MyRocks` may differ from `MySQL`'s other engines.
pub(super) const DIALECTS_OF_PROCEDURE: [&str; 3] = ["postgres", "mysql", "myrocks"];
/// Statements that belong to a transaction's frame, which the procedure declares.
const FRAME: [&str; 4] = ["begin", "start", "commit", "end"];

/// One statement as written, and its place.
#[derive(Debug, Clone)]
pub(super) struct SqlText<'a> {
    pub(super) tokens: Vec<Token<'a>>,
    pub(super) place: Range<usize>,
    pub(super) block: Block<'a>,
    /// Values that its first row sets.
    pub(super) into: Vec<Word<'a>>,
    /// Whether it rolls the transaction back and ends the call.
    pub(super) is_rollback: bool,
}

/// What a statement shares with those written together with it.
#[derive(Debug, Clone)]
pub(super) struct Block<'a> {
    /// Number of statements before it.
    pub(super) number: usize,
    /// Most repetitions per call; 0 when its `when` does not hold.
    pub(super) times: u16,
    /// Fewest repetitions.
    pub(super) times_min: u16,
    /// The value that decides how many.
    pub(super) times_by: Option<Word<'a>>,
    pub(super) conditions: Vec<WrittenCondition<'a>>,
    /// The value that numbers the copy of the table.
    pub(super) copy: Option<Word<'a>>,
}

/// A condition as written.
#[derive(Debug, Clone)]
pub(super) struct WrittenCondition<'a> {
    /// `found`, or a value.
    pub(super) of: Word<'a>,
    /// Whether it must hold; else it must not.
    pub(super) is: bool,
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

    /// Returns the place of each statement, as often as it is executed, by dialect.
    pub(super) fn places(&self) -> [Vec<Range<usize>>; 3] {
        let place = |(text, _): (&SqlText<'_>, u16)| text.place.clone();
        self.dialects().map(|texts| executed(texts).into_iter().map(place).collect())
    }

    /// Returns the statements of each dialect.
    pub(super) const fn dialects(&self) -> [&Vec<SqlText<'a>>; 3] {
        [&self.postgres, &self.mysql, &self.myrocks]
    }
}

impl Block<'_> {
    /// Returns a block that is executed once, always.
    const fn plain(number: usize) -> Self {
        Self { number, times: 1, times_min: 1, times_by: None, conditions: Vec::new(), copy: None }
    }
}

impl SqlText<'_> {
    /// Returns whether the statement begins with these keywords.
    pub(super) fn begins_with(&self, keywords: &[&str]) -> bool {
        let Some(Token::Text(text)) = self.tokens.first() else { return false };
        let mut own = text.split_whitespace();
        keywords.iter().all(|word| own.next().is_some_and(|own| own.eq_ignore_ascii_case(word)))
    }
}

/// Returns the statements as often as they are executed, each with its repetition.
pub(super) fn executed<'t, 'a>(texts: &'t [SqlText<'a>]) -> Vec<(&'t SqlText<'a>, u16)> {
    let of = |text: &SqlText<'_>| (text.block.number, text.block.times);
    let repeated = texts.chunk_by(|one, next| of(one) == of(next)).flat_map(|block| {
        let times = block.first().map_or(0, |text| text.block.times);
        (0..times).flat_map(move |nth| block.iter().map(move |text| (text, nth)))
    });
    repeated.collect()
}

impl<'a> Names<'a> {
    /// Returns the statements as written, by the `dialects` that they may differ in.
    pub(super) fn sql_texts(
        &self,
        node: &'a Node<'a>,
        dialects: &[&str],
        values: &[Value<'a>],
    ) -> Result<SqlTexts<'a>, PlanError> {
        if !node.get_ref().is_table() {
            let both = self.listed(node, values)?;
            return Ok(SqlTexts { postgres: both.clone(), mysql: both, ..SqlTexts::default() });
        }
        let fields = Fields::of(node, "SQL that differs by dialect", dialects)?;
        let [postgres, mysql, myrocks] = DIALECTS_OF_PROCEDURE.map(|dialect| fields.get(dialect));
        if postgres.is_none() && mysql.is_none() {
            let why = "no dialect is given";
            return refuse(node.span(), why, "write `sql.postgres`, `sql.mysql` or both");
        }
        let of = |node: Option<&'a Node<'a>>| {
            node.map_or(Ok(Vec::new()), |node| self.listed(node, values))
        };
        Ok(SqlTexts { postgres: of(postgres)?, mysql: of(mysql)?, myrocks: of(myrocks)? })
    }

    fn listed(
        &self,
        node: &'a Node<'a>,
        values: &[Value<'a>],
    ) -> Result<Vec<SqlText<'a>>, PlanError> {
        let entries = match node.get_ref().as_array() {
            None => std::slice::from_ref(node),
            Some(list) if list.is_empty() => {
                return Err(PlanError::here(node.span(), "there is no statement in this list"));
            }
            Some(list) => list,
        };
        let mut texts = Vec::new();
        for entry in entries {
            self.flatten(entry, &Block::plain(texts.len()), values, &mut texts)?;
        }
        if texts.iter().all(|text| text.block.times == 0) {
            let why = "no `when` of these statements holds for some values of the parameters";
            let remedy = "add a statement whose `when` holds for these values of the parameters";
            return refuse(node.span(), why, remedy);
        }
        Ok(texts)
    }

    /// Adds the statements of an entry: a text, or a table of one or several.
    fn flatten(
        &self,
        node: &'a Node<'a>,
        outer: &Block<'a>,
        values: &[Value<'a>],
        texts: &mut Vec<SqlText<'a>>,
    ) -> Result<(), PlanError> {
        if !node.get_ref().is_table() {
            texts.push(self.one_text(node, outer.clone())?);
            return Ok(());
        }
        let fields = Fields::of(node, "a statement", &KEYS)?;
        let mut block = outer.clone();
        if let Some(when) = fields.get("when")
            && self.signed(when)? == 0
        {
            (block.number, block.times) = (texts.len(), 0);
        }
        if let Some(times) = fields.get("times").filter(|_| block.times > 0) {
            block.number = texts.len();
            self.repeat(&mut block, times, values)?;
        }
        for (key, is) in [("if", true), ("unless", false)] {
            let Some(node) = fields.get(key) else { continue };
            let of = text(node)?;
            let has_source = || texts.iter().any(|text| text.block.conditions.is_empty());
            if *of.get_ref() == FOUND && !has_source() {
                let why = "no earlier statement can have found rows";
                return refuse(node.span(), why, "put an unconditional statement before this one");
            }
            block.conditions.push(WrittenCondition { of, is });
        }
        if let Some(copy) = fields.get("copy") {
            block.copy = Some(text(copy)?);
        }
        let sql = fields.required("sql")?;
        let Some(list) = sql.get_ref().as_array() else {
            let into = fields.list("into")?.iter().map(text).collect::<Result<_, _>>()?;
            texts.push(SqlText { into, ..self.one_text(sql, block)? });
            return Ok(());
        };
        if let Some(into) = fields.get("into") {
            let why = "`into` belongs to one statement";
            let remedy = "write { sql = \"SELECT ...\", into = [...] } within the list";
            return refuse(into.span(), why, remedy);
        }
        if list.is_empty() {
            return Err(PlanError::here(sql.span(), "there is no statement in this list"));
        }
        list.iter().try_for_each(|node| self.flatten(node, &block, values, texts))
    }

    /// Sets how often a block is repeated: a number, or a value of the call.
    fn repeat(
        &self,
        block: &mut Block<'a>,
        node: &'a Node<'a>,
        values: &[Value<'a>],
    ) -> Result<(), PlanError> {
        if block.times != 1 || block.times_by.is_some() {
            let why = "a repetition within a repetition";
            return refuse(node.span(), why, "write the inner statements one after the other");
        }
        let named = node
            .get_ref()
            .as_str()
            .and_then(|name| values.iter().find(|value| *value.name.get_ref() == name.trim()));
        let Some(value) = named else {
            block.times = self.number(node, 1, "times")?;
            block.times_min = block.times;
            return Ok(());
        };
        let range = if let (Draw::Integer { from, count, .. }, 1) = (&value.draw, value.count) {
            u16::try_from(*from).ok().zip(u16::try_from(*count).ok())
        } else {
            None
        };
        let Some((from, last)) =
            range.and_then(|(from, count)| Some((from, from.checked_add(count - 1)?)))
        else {
            let why = format!("`{}` is not a number of repetitions", value.name);
            let remedy = "name an `integer` with bounds of 0 to 65535, or write a number";
            return refuse(node.span(), why, remedy);
        };
        if last == 0 {
            return Err(PlanError::here(node.span(), format!("`{}` is always 0", value.name)));
        }
        (block.times, block.times_min) = (last, from);
        block.times_by = Some(text(node)?);
        Ok(())
    }

    /// Returns one statement as written.
    pub(super) fn sql_text(&self, node: &'a Node<'a>) -> Result<SqlText<'a>, PlanError> {
        self.one_text(node, Block::plain(0))
    }

    fn one_text(&self, node: &'a Node<'a>, block: Block<'a>) -> Result<SqlText<'a>, PlanError> {
        let text = text(node)?;
        let place = text.span();
        let tokens =
            tokenize(text.get_ref()).map_err(|wrong| self.error_at_text(place.clone(), wrong))?;
        let text = SqlText { tokens, place, block, into: Vec::new(), is_rollback: false };
        if FRAME.iter().any(|word| text.begins_with(&[word])) {
            let why = "a transaction begins and ends with its procedure";
            let remedy = "leave out this statement, and set `transaction = true` on the procedure";
            return refuse(text.place, why, remedy);
        }
        let is_rollback = text.begins_with(&["rollback"]) && !text.begins_with(&["rollback", "to"]);
        Ok(SqlText { is_rollback, ..text })
    }
}
