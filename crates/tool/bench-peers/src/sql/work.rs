//! What both clients ask of the server.

use model::OpKind;
use serde::{Deserialize, Serialize};

/// Rows of the table: pgbench's scale 1.
pub(super) const ROWS: u64 = 100_000;

/// Which statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Statement {
    /// One column of one row by its primary key.
    PointSelect,
    /// A column without an index, of one row by its primary key; commits by itself, not synced.
    Update,
}

/// One statement, and how often it is executed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work {
    /// The statement.
    pub(super) statement: Statement,
    /// Its name in the report.
    pub(super) name: &'static str,
    /// Its kind of operation.
    pub(super) kind: OpKind,
    /// Statements of the longer of two processes whose difference counts: one to three seconds.
    pub(super) many: u64,
    /// Whether the target of client CPU is for it.
    pub(super) has_target: bool,
}

/// Statements of the shorter of the two: start-up, logging in and warming up cancel.
pub(super) const FEW: u64 = 2_000;

/// Statements of the two processes whose instructions are counted.
pub(super) const COUNTED: [u64; 2] = [1_000, 6_000];

/// What is compared.
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
