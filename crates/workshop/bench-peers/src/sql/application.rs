//! The statement of a peer as an application of our driver.

use model::sql::Part;
use model::{Application, OpKind, StepRole};
use serde_json::json;

use super::peer::Statement;
use crate::process::Result;

/// Returns an application of one statement.
///
/// Its own table stays empty: the statement names the peer's table.
pub(super) fn application(statement: &Statement) -> Result<Application> {
    let Statement { name, is_update, sql, values, .. } = statement;
    let texts = sql.split('?').map(|text| Part::Text(text.to_owned()));
    let parts = (0..).zip(texts).flat_map(|(at, text)| [text, Part::Argument(at)]);
    // No value follows the last text.
    let parts: Vec<Part> = parts.take(2 * values.len() + 1).collect();
    let create = vec![Part::Text("CREATE TABLE bench_peers1 (id integer PRIMARY KEY)".to_owned())];
    let both =
        |parts: Vec<Part>| json!({"postgres": [{"parts": parts}], "mysql": [{"parts": parts}]});
    let table = json!({"name": "bench_peers", "copies": {"fixed": 1}, "create": both(create)});
    let procedure = json!({
        "name": name,
        "kind": if *is_update { OpKind::Put } else { OpKind::Get },
        "table": 0,
        "is_transaction": false,
        "statements": both(parts),
        "arguments": values,
        "row": [],
        "rows": u32::from(*is_update),
        "rows_expected": (!is_update).then_some(1.0),
    });
    let step = json!({
        "name": name,
        "about": "one statement again and again",
        "role": if *is_update { StepRole::Write } else { StepRole::Read },
        "clients": {"in_turn": [0]},
        "unit": "operation",
        "settles": false,
    });
    Ok(serde_json::from_value(json!({
        "name": "bench-peers",
        "about": "the statement of a peer",
        "row_bytes": 100,
        "tables": [table],
        "procedures": [procedure],
        "steps": [step],
        "order": [name],
    }))?)
}

#[cfg(test)]
mod tests {
    use super::super::peer::integer;
    use super::*;

    #[test]
    fn statement_is_a_procedure_with_its_values() {
        let statement = Statement::update("UPDATE t SET a = ? WHERE b=?", vec![integer(0, 9); 2]);
        let application = application(&statement).unwrap();
        let parts = &application.procedures[0].statements.mysql[0].parts;
        assert_eq!(
            parts[1..4],
            [Part::Argument(0), Part::Text(" WHERE b=".to_owned()), Part::Argument(1)]
        );
        assert!(application.step("update").is_some());
    }
}
