//! sysbench with its statements prepared, and what our driver does beside it.

use std::path::{Path, PathBuf};

use model::sql::Draw;
use model::{Address, Endpoint};

use super::application::{Ask, Word, integer};
use super::duel::{Build, Done, Duel, Words};
use super::work::{ROWS, Statement};
use crate::setting::path_of;

/// Its program.
const PROGRAM: &str = "sysbench";

/// The pattern of column `c`: ten groups of eleven digits.
///
/// Source: sysbench 1.0.20, `oltp_common.lua`, `c_value_template`.
const PATTERN: &str = "###########-###########-###########-###########-###########-\
                       ###########-###########-###########-###########-###########";

pub(super) const DUEL: Duel = Duel {
    peer: PROGRAM,
    package: "sysbench",
    driver: driver_mysql::driver,
    builds: &[
        Build { name: "mysql@8.0.31", kind: || driver_mysql::KIND_MYSQL },
        Build { name: "mariadb@10.11", kind: || driver_mysql::KIND_MARIADB },
    ],
    target: 0.5,
    options: &[],
    find,
    fill,
    words,
    parse,
    ask,
};

fn find() -> Option<PathBuf> {
    path_of(PROGRAM)
}

fn fill(endpoint: &Endpoint) -> Words {
    let mut words = vec!["oltp_point_select".to_owned()];
    words.extend(place(endpoint));
    words.push("prepare".to_owned());
    Ok(words)
}

fn words(endpoint: &Endpoint, (statement, count): (Statement, u64), _scratch: &Path) -> Words {
    let script = match statement {
        Statement::PointSelect => "oltp_point_select",
        Statement::Update => "oltp_update_non_index",
    };
    let mut words = vec![script.to_owned()];
    words.extend(place(endpoint));
    words.extend(["--time=0", "--threads=1", "--rand-type=uniform"].map(str::to_owned));
    words.extend([format!("--events={count}"), "run".to_owned()]);
    Ok(words)
}

fn place(endpoint: &Endpoint) -> Vec<String> {
    let mut words = vec![
        "--tables=1".to_owned(),
        format!("--table-size={ROWS}"),
        format!("--mysql-user={}", endpoint.user),
        format!("--mysql-db={}", endpoint.database),
    ];
    match &endpoint.address {
        Address::Socket(path) => words.push(format!("--mysql-socket={}", path.display())),
        Address::Tcp { host, port } => {
            words.extend([format!("--mysql-host={host}"), format!("--mysql-port={port}")]);
        }
    }
    words
}

/// Reads `queries: 50000 (41274.47 per sec.)`, and that none was an error.
fn parse(printed: &str) -> Result<Done, String> {
    let line = |name: &str| {
        let line = printed.lines().find_map(|line| line.trim().strip_prefix(name));
        let words = line.map(|line| line.split_whitespace().collect::<Vec<_>>());
        words.ok_or_else(|| format!("{PROGRAM} printed no `{name}`: {printed}"))
    };
    for lost in ["ignored errors:", "reconnects:"] {
        if line(lost)?.first() != Some(&"0") {
            return Err(format!("{PROGRAM} had {lost} {printed}"));
        }
    }
    let queries = line("queries:")?;
    let statements = queries.first().and_then(|word| word.parse().ok());
    let per_s = queries.get(1).and_then(|word| word.trim_start_matches('(').parse().ok());
    match (statements, per_s) {
        (Some(statements), Some(per_s)) => Ok(Done { statements, per_s }),
        _ => Err(format!("{PROGRAM}'s result is not understood: {printed}")),
    }
}

fn ask(statement: Statement) -> Ask {
    let row = integer(1, ROWS);
    match statement {
        Statement::PointSelect => Ask {
            words: vec![Word::Text("SELECT c FROM sbtest1 WHERE id="), Word::Value(0)],
            values: vec![row],
        },
        Statement::Update => Ask {
            words: vec![
                Word::Text("UPDATE sbtest1 SET c="),
                Word::Value(0),
                Word::Text(" WHERE id="),
                Word::Value(1),
            ],
            values: vec![Draw::Pattern(PATTERN.to_owned()), row],
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "\
SQL statistics:
    queries performed:
        total:                           50000
    transactions:                        50000  (41274.47 per sec.)
    queries:                             50000  (41274.50 per sec.)
    ignored errors:                      0      (0.00 per sec.)
    reconnects:                          0      (0.00 per sec.)
";

    #[test]
    fn the_rate_and_the_number_of_queries_are_read() {
        assert_eq!(parse(PRINTED), Ok(Done { statements: 50_000, per_s: 41_274.5 }));
    }

    #[test]
    fn errors_that_it_ignored_are_not_ignored() {
        let printed = PRINTED.replace("errors:                      0", "errors: 3");
        assert!(parse(&printed).unwrap_err().starts_with("sysbench had ignored errors:"));
        assert!(parse("FATAL: no").unwrap_err().contains("printed no"));
    }

    #[test]
    fn a_row_s_text_is_as_long_as_its_column_holds() {
        // sbtest1's column c is char(120), the last character of which is never written.
        assert_eq!(PATTERN.len(), 119);
    }
}
