//! An application for tests.

use model::sql::{
    Background, CallMix, Connections, Copies, Draw, Hold, PerDialect, Procedure, RowCount, Table,
    TrafficSpec,
};
use model::{Application, Nanos, OpKind, OpUnit, StepRole};

/// Returns a procedure without statements.
fn procedure(name: &str, kind: OpKind, rows: u32) -> Procedure {
    Procedure { rows, ..Procedure::new(name, kind) }
}

/// Returns a step that ends by rows.
fn step(name: &str, clients: CallMix) -> TrafficSpec {
    TrafficSpec {
        about: "does it".to_owned(),
        clients: Some(clients),
        rows: Some(RowCount { share: 1.0, fixed: 0 }),
        unit: OpUnit::Row,
        ..TrafficSpec::new(name, StepRole::Write)
    }
}

/// Returns an application of one table per client: load, index, churn, and queries with writers.
pub fn application() -> Application {
    let background = Background {
        call_mix: CallMix::InTurn(vec![0, 1]),
        rows_per_s: 500.0,
        connections: Connections::One,
    };
    Application {
        about: "a toy".to_owned(),
        row_bytes: 9,
        tables: vec![Table {
            name: "pi".to_owned(),
            copies: Copies::PerClient,
            create: PerDialect::default(),
            id: Some("id".to_owned()),
        }],
        procedures: vec![
            Procedure { row: vec![Draw::Number], ..procedure("insert", OpKind::Insert, 10) },
            Procedure { arguments: vec![Draw::FirstId], ..procedure("delete", OpKind::Delete, 10) },
            Procedure {
                arguments: vec![Draw::Id; 4],
                rows_expected: Some(4.0),
                ..procedure("points", OpKind::MultiGet, 0)
            },
            procedure("index", OpKind::Define, 0),
        ],
        steps: vec![
            step("load", CallMix::InTurn(vec![0])),
            TrafficSpec { unit: OpUnit::Rows(400), ..step("index", CallMix::Once(vec![3])) },
            TrafficSpec { settles: true, ..step("churn", CallMix::InTurn(vec![0, 1])) },
            TrafficSpec {
                connections: Connections::Own,
                ..step("apart", CallMix::InTurn(vec![0, 1]))
            },
            TrafficSpec {
                background: Some(Background {
                    connections: Connections::Own,
                    ..background.clone()
                }),
                hold: Some(Hold { procedure: 2, time_ns: Nanos::from_millis(50) }),
                rows: None,
                unit: OpUnit::Operation,
                ..step("hold", CallMix::Mix(vec![(2, 1)]))
            },
            TrafficSpec {
                background: Some(background),
                rows: None,
                unit: OpUnit::Operation,
                ..step("query", CallMix::Mix(vec![(2, 1)]))
            },
        ],
        ..Application::new("toy")
    }
}
