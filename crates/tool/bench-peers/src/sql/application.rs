//! The statement of a peer as an application of our driver.

use model::sql::{self, CallMix, Copies, Part, PerDialect, Procedure, Table, TrafficSpec};
use model::{Application, OpKind, OpUnit, StepRole};

use super::peer::Statement;

/// Returns an application of one statement.
///
/// Its own table stays empty: the statement names the peer's table.
pub(super) fn application(statement: &Statement) -> Application {
    let Statement { name, is_update, sql, values, .. } = statement;
    let (name, is_update) = (*name, *is_update);
    let texts = sql.split('?').map(|text| Part::Text(text.to_owned()));
    let parts = (0..).zip(texts).flat_map(|(at, text)| [text, Part::Argument(at)]);
    // No value follows the last text.
    let parts = parts.take(2 * values.len() + 1).collect();
    let columns = Part::Text(" (id integer PRIMARY KEY)".to_owned());
    let create = vec![Part::Text("CREATE TABLE ".to_owned()), Part::Table, columns];
    let both = |parts| {
        let statements = vec![sql::Statement { parts }];
        PerDialect { postgres: statements.clone(), mysql: statements }
    };
    let procedure = Procedure {
        name: name.to_owned(),
        kind: if is_update { OpKind::Put } else { OpKind::Get },
        table: 0,
        is_transaction: false,
        statements: both(parts),
        arguments: values.clone(),
        row: Vec::new(),
        rows: u32::from(is_update),
        rows_expected: (!is_update).then_some(1.0),
    };
    let step = TrafficSpec {
        name: name.to_owned(),
        about: "one statement again and again".to_owned(),
        role: if is_update { StepRole::Write } else { StepRole::Read },
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
            create: both(create),
            id: None,
        }],
        procedures: vec![procedure],
        steps: vec![step],
        order: vec![name.to_owned()],
    }
}
