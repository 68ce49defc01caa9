//! The statement of a comparison as an application of our driver.

use model::sql::{
    CallMix, Copies, Draw, Part, PerDialect, Procedure, Statement, Table, TrafficSpec,
};
use model::{Application, OpUnit, StepRole};

use super::work::Work;

/// A statement with the draws of its values.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StatementSpec {
    /// SQL text, in which each `?` is the next value.
    pub(super) sql: &'static str,
    /// Draws of the values.
    pub(super) values: Vec<Draw>,
}

/// The step that executes it.
pub(super) const STEP: &str = "statement";

/// Returns a uniform draw of `count` integers from `from` on.
pub(super) fn integer(from: i64, count: u64) -> Draw {
    Draw::Integer { distribution: "uniform".to_owned(), from, count }
}

/// Returns an application of one statement.
///
/// Its own table stays empty: the statement names the peer's table.
pub(super) fn application(work: &Work, statement_spec: StatementSpec) -> Application {
    let texts = statement_spec.sql.split('?').map(|text| Part::Text(text.to_owned()));
    let parts = (0..).zip(texts).flat_map(|(at, text)| [text, Part::Argument(at)]);
    // No value follows the last text.
    let parts = parts.take(2 * statement_spec.values.len() + 1).collect();
    let statements = vec![Statement { parts }];
    let procedure = Procedure {
        name: STEP.to_owned(),
        kind: work.kind,
        table: 0,
        is_transaction: false,
        statements: PerDialect { postgres: statements.clone(), mysql: statements },
        arguments: statement_spec.values,
        row: Vec::new(),
        rows: u32::from(work.kind.is_write()),
        rows_expected: (!work.kind.is_write()).then_some(1.0),
    };
    let create = [Part::Text("CREATE TABLE ".to_owned()), Part::Table];
    let columns = Part::Text(" (id integer PRIMARY KEY)".to_owned());
    let create = vec![Statement { parts: create.into_iter().chain([columns]).collect() }];
    let step = TrafficSpec {
        name: STEP.to_owned(),
        about: "one statement again and again".to_owned(),
        role: if work.kind.is_write() { StepRole::Write } else { StepRole::Read },
        clients: Some(CallMix::InTurn(vec![0])),
        background: None,
        rows: None,
        unit: OpUnit::Operation,
        settles: false,
    };
    Application {
        name: "bench-peers".to_owned(),
        about: "the statement of a peer".to_owned(),
        row_bytes: 100,
        tables: vec![Table {
            name: "bench_peers".to_owned(),
            copies: Copies::Fixed(1),
            create: PerDialect { postgres: create.clone(), mysql: create },
            id: None,
        }],
        procedures: vec![procedure],
        steps: vec![step],
        order: vec![STEP.to_owned()],
    }
}
