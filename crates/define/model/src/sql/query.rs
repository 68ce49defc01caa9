//! A statement: its parts, what it reads, and what it depends on.

use serde::{Deserialize, Serialize};

use crate::names::names;
use crate::sql::dialect::PerDialect;
use crate::sql::draw::ReadKind;

/// A statement with its placeholders.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement {
    /// Text and placeholders, in order.
    pub parts: Vec<Part>,
    /// Values that the columns of its first row set, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<Read>,
    /// What must hold for it to be executed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// Whether it rolls the transaction back on purpose, and ends the call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_rollback: bool,
    /// The value that numbers the copy of the table it reaches, from 1; else it is the call's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<u16>,
}

/// How statements are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// Parsed once per session, then executed with binary values.
    Prepared,
    /// As text with literal values, parsed and planned each time.
    Text,
}

names!(Protocol, "a protocol": Prepared "prepared", Text "text");

/// A value that a statement's result sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Read {
    /// Its position among the call's values.
    pub argument: u16,
    /// Its type.
    pub kind: ReadKind,
}

/// What must hold for a statement to be executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// The last statement without such a condition has found rows, or none.
    ///
    /// Rows returned or changed; a row whose columns set values must have all of them.
    Found(bool),
    /// A value of the call is other than zero, or is zero.
    IsSet(u16, bool),
    /// A value of the call is above a number: how often a statement is repeated.
    Above(u16, u16),
}

impl Statement {
    /// Returns whether `found` of later statements is its own: only repetition conditions it.
    pub fn sets_found(&self) -> bool {
        self.conditions.iter().all(|condition| matches!(condition, Condition::Above(..)))
    }
}

/// A condition that holds after every run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Its name.
    pub name: String,
    /// Position of the table on whose copies it is evaluated, one after the other.
    pub table: u16,
    /// The query; empty for a dialect on which it is not checked.
    pub query: PerDialect<Vec<Statement>>,
    /// The number in the first column of its first row; `None` when no row may come back.
    pub expected: Option<i64>,
}

/// A piece of a statement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// SQL text.
    Text(String),
    /// The table's name.
    Table,
    /// The name of another table, by its position: the copy of the same number, or its only one.
    OtherTable(u16),
    /// A value drawn once per call: its position in the arguments of its procedure.
    Argument(u16),
    /// A value drawn for each row: its position in the row; inside [`Part::Rows`] only.
    RowArgument(u16),
    /// These parts once for each row, with `, ` between.
    Rows(Vec<Part>),
}
