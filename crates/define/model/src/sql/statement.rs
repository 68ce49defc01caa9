//! Statements of applications: parts, conditions, owners, and pieces with rows expanded.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::sql::Procedure;
use crate::sql::query::{Part, Statement};

/// What a statement of an application belongs to, by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatementOwner {
    /// A table, which it creates.
    Table(String),
    /// A procedure.
    Procedure(String),
    /// A check of what holds after a run.
    Check(String),
}

impl fmt::Display for StatementOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Table(name) => write!(f, "table `{name}`"),
            Self::Procedure(name) => write!(f, "procedure `{name}`"),
            Self::Check(name) => write!(f, "check `{name}`"),
        }
    }
}

/// A piece of a statement with its rows expanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// SQL text.
    Text(&'a str),
    /// The name of a table, by its position.
    Table(u16),
    /// A value: its position in [`Call::arguments`](crate::Call::arguments).
    Argument(usize),
}

impl Procedure {
    /// Returns the positions of the other tables that its statements name.
    ///
    /// One occurs as often as it is named.
    pub fn other_tables(&self) -> impl Iterator<Item = u16> {
        self.statements
            .all()
            .flat_map(|statement| &statement.parts)
            .filter_map(|part| if let Part::OtherTable(other) = part { Some(*other) } else { None })
    }

    /// Returns whether a statement reaches other copies of the table than the call's.
    pub fn reaches_other_copies(&self) -> bool {
        self.statements.all().any(|statement| statement.copy.is_some())
    }
}

impl Statement {
    /// Returns the pieces with every row of `procedure` expanded.
    pub fn pieces<'a>(&'a self, procedure: &Procedure) -> Vec<Piece<'a>> {
        let (once, width) = (procedure.arguments.len(), procedure.row.len());
        let piece = |part: &'a Part, row| piece(part, procedure.table, row);
        let mut pieces = Vec::new();
        for part in &self.parts {
            let Part::Rows(row) = part else {
                pieces.push(piece(part, once));
                continue;
            };
            for number in 0..procedure.rows as usize {
                if number > 0 {
                    pieces.push(Piece::Text(", "));
                }
                pieces.extend(row.iter().map(|part| piece(part, once + number * width)));
            }
        }
        pieces
    }
}

/// Returns one part of a statement on `table`; values of a row begin at `row`.
fn piece(part: &Part, table: u16, row: usize) -> Piece<'_> {
    match part {
        Part::Text(text) => Piece::Text(text),
        Part::Table => Piece::Table(table),
        Part::OtherTable(other) => Piece::Table(*other),
        Part::Argument(position) => Piece::Argument(usize::from(*position)),
        Part::RowArgument(position) => Piece::Argument(row + usize::from(*position)),
        Part::Rows(_) => Piece::Text(""),
    }
}
