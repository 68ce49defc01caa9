//! The statements of the SQL comparisons.

use model::OpKind;
use serde::{Deserialize, Serialize};

/// Rows of the table: pgbench's scale 1.
pub(super) const ROWS: u64 = 100_000;

/// A statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Statement {
    /// One column of one row by its primary key.
    PointSelect,
    /// A column without an index, of one row by its primary key; commits by itself, not synced.
    Update,
}

/// A statement with its execution counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work {
    /// The statement.
    pub(super) statement: Statement,
    /// Its name in the report.
    pub(super) name: &'static str,
    /// Its kind of operation.
    pub(super) kind: OpKind,
    /// Statements of the longer process of the slope: one to three seconds.
    pub(super) many: u64,
    /// Whether the client CPU target applies.
    pub(super) has_target: bool,
}

/// Statements of the shorter process of the slope: start-up, login and warm-up cancel.
pub(super) const FEW: u64 = 2_000;

/// Statements of the two processes of the instruction slope.
pub(super) const COUNTED: [u64; 2] = [1_000, 6_000];

/// The compared statements.
pub(super) const WORKS: [Work; 2] = [
    Work {
        statement: Statement::PointSelect,
        name: "point select",
        kind: OpKind::Get,
        many: 82_000,
        has_target: true,
    },
    Work {
        statement: Statement::Update,
        name: "update",
        kind: OpKind::Put,
        many: 42_000,
        has_target: false,
    },
];
