//! Upper bound of the rows that a call returns.

use model::OpKind;
use model::sql::{Draw, Part, Procedure, Statement, Table};

/// Keywords with which a statement may return more rows than it names ids.
const WIDENING: [&str; 5] = ["<", ">", "between", "join", "union"];

/// Returns the most rows that a call of `procedure` on `table` can return.
///
/// Known of a single statement that ends in `LIMIT` and a number, and of a `get` or `multi_get`
/// that only compares the table's ids with drawn ones.
pub(crate) fn most_rows(procedure: &Procedure, table: &Table) -> Option<u64> {
    if procedure.kind.is_write() || procedure.kind == OpKind::Define {
        return None;
    }
    let dialects = [&procedure.statements.postgres, &procedure.statements.mysql];
    let mut most = None;
    for statements in dialects.into_iter().filter(|statements| !statements.is_empty()) {
        let [statement] = statements.as_slice() else { return None };
        let known = limit_of(statement).or_else(|| ids_of(statement, procedure, table))?;
        most = most.max(Some(known));
    }
    most
}

/// Returns the number behind a `LIMIT` at the statement's end.
fn limit_of(statement: &Statement) -> Option<u64> {
    let Some(Part::Text(text)) = statement.parts.last() else { return None };
    let text = text.trim_end_matches(|letter: char| letter == ';' || letter.is_whitespace());
    let (before, number) = text.rsplit_once(char::is_whitespace)?;
    let is_limit = before.trim_end().to_ascii_lowercase().ends_with("limit");
    number.parse().ok().filter(|_| is_limit)
}

/// Returns how many ids are drawn, when every argument is one and the statement only compares ids.
fn ids_of(statement: &Statement, procedure: &Procedure, table: &Table) -> Option<u64> {
    let is_point = matches!(procedure.kind, OpKind::Get | OpKind::MultiGet);
    let draws = &procedure.arguments;
    let are_ids = draws.iter().all(|draw| matches!(draw, Draw::Id | Draw::FirstId));
    let text_of = |part: &Part| match part {
        Part::Text(text) => text.to_ascii_lowercase(),
        Part::Table
        | Part::OtherTable(_)
        | Part::Argument(_)
        | Part::RowArgument(_)
        | Part::Rows(_) => String::new(),
    };
    let text: String = statement.parts.iter().map(text_of).collect();
    let names_id = table.id.as_ref().is_some_and(|id| text.contains(&id.to_ascii_lowercase()));
    let is_wider = WIDENING.iter().any(|word| text.contains(word))
        || procedure.other_tables().next().is_some();
    let is_sure = is_point && are_ids && !draws.is_empty() && names_id && !is_wider;
    is_sure.then_some(draws.len() as u64)
}

#[cfg(test)]
mod tests {
    use model::sql::{Copies, PerDialect};

    use super::*;

    fn most(kind: OpKind, texts: &[&str], arguments: Vec<Draw>) -> Option<u64> {
        let text = |text: &&str| Statement {
            parts: vec![Part::Text((*text).to_owned())],
            ..Statement::default()
        };
        let mysql = texts.iter().map(text).collect();
        let procedure = Procedure {
            statements: PerDialect { postgres: Vec::new(), mysql },
            arguments,
            ..Procedure::new("read", kind)
        };
        let id = Some("transactionid".to_owned());
        let table = Table {
            name: "pi".to_owned(),
            copies: Copies::Fixed(1),
            create: PerDialect::default(),
            id,
        };
        most_rows(&procedure, &table)
    }

    #[test]
    fn a_limit_at_the_end_is_one() {
        let scan = |text| most(OpKind::Scan, &[text], Vec::new());
        assert_eq!(scan("SELECT a FROM t WHERE a >= 1 ORDER BY a LIMIT 10"), Some(10));
        assert_eq!(scan("select a from t limit\n 7 ; "), Some(7));
        assert_eq!(scan("SELECT a FROM t WHERE a = 10"), None);
        assert_eq!(scan("SELECT a FROM t LIMIT 10 OFFSET 5"), None);
        assert_eq!(most(OpKind::Scan, &["a LIMIT 1", "b LIMIT 1"], Vec::new()), None);
        assert_eq!(most(OpKind::Delete, &["DELETE FROM t LIMIT 5"], Vec::new()), None);
    }

    #[test]
    fn ids_that_are_compared_return_one_row_each() {
        let ids = |text, count| most(OpKind::MultiGet, &[text], vec![Draw::Id; count]);
        assert_eq!(ids("SELECT data FROM t WHERE transactionid IN (", 10), Some(10));
        assert_eq!(ids("SELECT data FROM t WHERE transactionid >= ", 1), None);
        assert_eq!(ids("SELECT data FROM t WHERE customerid = ", 1), None);
        let other = vec![Draw::Id, Draw::Number];
        assert_eq!(most(OpKind::Get, &["WHERE transactionid = "], other), None);
    }
}
