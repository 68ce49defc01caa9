//! A small test application: a table of sales with its procedures.

use model::OpKind;
use model::sql::{Application, Copies, Part, PerDialect, Procedure, Statement, Table};

/// Positions and kinds of the procedures.
pub(crate) const INSERT: (u16, OpKind) = (0, OpKind::Insert);
pub(crate) const DELETE: (u16, OpKind) = (1, OpKind::Delete);
pub(crate) const IN_LIST: (u16, OpKind) = (2, OpKind::Scan);
pub(crate) const MOVE: (u16, OpKind) = (3, OpKind::Transaction);
pub(crate) const BROKEN: (u16, OpKind) = (4, OpKind::Transaction);
pub(crate) const DEFINE: (u16, OpKind) = (5, OpKind::Define);
pub(crate) const ALL: (u16, OpKind) = (6, OpKind::Scan);
pub(crate) const KILL: (u16, OpKind) = (7, OpKind::Get);
pub(crate) const HOLD: (u16, OpKind) = (8, OpKind::Transaction);
pub(crate) const WHO: (u16, OpKind) = (13, OpKind::Get);
pub(crate) const END: (u16, OpKind) = (14, OpKind::Get);
pub(crate) const SET: (u16, OpKind) = (15, OpKind::Transaction);
pub(crate) const OPEN: (u16, OpKind) = (16, OpKind::Scan);
pub(crate) const TAKE: (u16, OpKind) = (17, OpKind::Get);
pub(crate) const GIVE: (u16, OpKind) = (18, OpKind::Get);
pub(crate) const WAITERS: (u16, OpKind) = (19, OpKind::Scan);
/// Each reads another column of every row.
pub(crate) const COLUMNS: [(u16, OpKind); 4] =
    [(9, OpKind::Scan), (10, OpKind::Scan), (11, OpKind::Scan), (12, OpKind::Scan)];

/// Rows of one insert.
pub(crate) const ROWS: u32 = 3;

/// Parses a statement: `{}` is the table, `?` the next argument, `[...]` is repeated per row.
pub(crate) fn statement(text: &str) -> Statement {
    let (mut argument, mut parts) = (0, Vec::new());
    let mut text = text;
    while let Some(at) = text.find(['{', '?', '[']) {
        parts.push(Part::Text(text[..at].to_owned()));
        text = match &text[at..=at] {
            "{" => {
                parts.push(Part::Table);
                &text[at + 2..]
            }
            "?" => {
                parts.push(Part::Argument(argument));
                argument += 1;
                &text[at + 1..]
            }
            _ => {
                let (row, rest) = text[at + 1..].split_once(']').expect("a row ends");
                parts.push(Part::Rows(of_row(row)));
                rest
            }
        };
    }
    parts.push(Part::Text(text.to_owned()));
    Statement { parts, ..Statement::default() }
}

fn of_row(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    for (number, text) in (0u16..).zip(text.split('?')) {
        if number > 0 {
            parts.push(Part::RowArgument(number - 1));
        }
        parts.push(Part::Text(text.to_owned()));
    }
    parts
}

/// Returns a procedure of these statements.
pub(crate) fn procedure(kind: OpKind, statements: &[&str]) -> Procedure {
    let rendered: Vec<_> = statements.iter().map(|text| statement(text)).collect();
    Procedure {
        is_transaction: kind == OpKind::Transaction,
        statements: PerDialect { postgres: Vec::new(), mysql: rendered },
        ..Procedure::new("p", kind)
    }
}

/// Returns the application.
pub(crate) fn sales() -> Application {
    let mut insert = procedure(
        OpKind::Insert,
        &["INSERT INTO {} (at, customer, price, data) VALUES [(?, ?, ?, ?)]"],
    );
    // Only the number of values matters to a driver.
    insert.row = vec![model::sql::Draw::Id; 4];
    insert.rows = ROWS;
    let take = "UPDATE {} SET customer = customer - 1 WHERE id = ?";
    let give = "UPDATE {} SET customer = customer + 1 WHERE id = 2";
    let table = Table {
        name: "sale".to_owned(),
        copies: Copies::PerClient,
        create: PerDialect {
            postgres: Vec::new(),
            mysql: vec![statement(
                "CREATE TABLE {} (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, at DATETIME NOT \
                 NULL, customer INT NOT NULL, price DOUBLE NOT NULL, data VARCHAR(200) NOT NULL)",
            )],
        },
        id: Some("id".to_owned()),
    };
    Application {
        about: "a table of sales".to_owned(),
        row_bytes: 50,
        tables: vec![table],
        procedures: vec![
            insert,
            procedure(DELETE.1, &["DELETE FROM {} WHERE id >= ? ORDER BY id LIMIT 2"]),
            procedure(
                IN_LIST.1,
                &[
                    "SELECT CAST(id AS CHAR), at, price, data FROM {} WHERE id IN (?, ?, ?) ORDER BY id",
                ],
            ),
            procedure(MOVE.1, &[take, give]),
            procedure(BROKEN.1, &[take, "UPDATE {} SET no_such_column = 1"]),
            procedure(DEFINE.1, &["ALTER TABLE {} ADD INDEX by_customer (customer, price)"]),
            procedure(ALL.1, &["SELECT CAST(customer AS CHAR), id FROM {} ORDER BY id"]),
            procedure(KILL.1, &["KILL CONNECTION_ID()"]),
            procedure(HOLD.1, &[take, "DO GET_LOCK('held', 600)"]),
            procedure(OpKind::Scan, &["SELECT CAST(at AS CHAR) FROM {} ORDER BY id"]),
            procedure(OpKind::Scan, &["SELECT CAST(price AS CHAR), at FROM {} ORDER BY id"]),
            procedure(OpKind::Scan, &["SELECT data, price FROM {} ORDER BY id"]),
            procedure(OpKind::Scan, &["SELECT CAST(-customer AS CHAR), NULL FROM {} ORDER BY id"]),
            procedure(WHO.1, &["SELECT CAST(CONNECTION_ID() AS CHAR)"]),
            procedure(END.1, &["KILL ?"]),
            procedure(SET.1, &["UPDATE {} SET customer = ? WHERE id = ?"]),
            procedure(OPEN.1, &["SELECT trx_state FROM information_schema.innodb_trx"]),
            procedure(TAKE.1, &["DO GET_LOCK('held', 600)"]),
            procedure(GIVE.1, &["DO RELEASE_LOCK('held')"]),
            procedure(
                WAITERS.1,
                &["SELECT state FROM information_schema.processlist WHERE state = 'User lock'"],
            ),
        ],
        ..Application::new("sales")
    }
}
