//! The comparison with sysbench, its statements prepared.

use std::path::{Path, PathBuf};

use model::sql::Draw;
use model::{Address, Endpoint};

use super::application::{StatementSpec, integer};
use super::comparison::{Args, Build, Comparison, Done};
use super::work::{ROWS, Statement};
use crate::environment::path_of;

/// Its program.
const PROGRAM: &str = "sysbench";

/// The pattern of column `c`: ten groups of eleven digits.
///
/// Source: sysbench 1.0.20, `oltp_common.lua`, `c_value_template`.
const PATTERN: &str = "###########-###########-###########-###########-###########-\
                       ###########-###########-###########-###########-###########";

pub(super) const COMPARISON: Comparison = Comparison {
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
    args,
    parse,
    statement_spec,
};

fn find() -> Option<PathBuf> {
    path_of(PROGRAM)
}

fn fill(endpoint: &Endpoint) -> Args {
    let mut args = vec!["oltp_point_select".to_owned()];
    args.extend(connection_args(endpoint));
    args.push("prepare".to_owned());
    Ok(args)
}

fn args(endpoint: &Endpoint, (statement, count): (Statement, u64), _scratch: &Path) -> Args {
    let script = match statement {
        Statement::PointSelect => "oltp_point_select",
        Statement::Update => "oltp_update_non_index",
    };
    let mut args = vec![script.to_owned()];
    args.extend(connection_args(endpoint));
    args.extend(["--time=0", "--threads=1", "--rand-type=uniform"].map(str::to_owned));
    args.extend([format!("--events={count}"), "run".to_owned()]);
    Ok(args)
}

fn connection_args(endpoint: &Endpoint) -> Vec<String> {
    let mut args = vec![
        "--tables=1".to_owned(),
        format!("--table-size={ROWS}"),
        format!("--mysql-user={}", endpoint.user),
        format!("--mysql-db={}", endpoint.database),
    ];
    match &endpoint.address {
        Address::Socket(path) => args.push(format!("--mysql-socket={}", path.display())),
        Address::Tcp { host, port } => {
            args.extend([format!("--mysql-host={host}"), format!("--mysql-port={port}")]);
        }
    }
    args
}

/// Parses `queries: 50000 (41274.47 per sec.)`, and requires zero errors.
fn parse(printed: &str) -> Result<Done, String> {
    let line = |name: &str| {
        let line = printed.lines().find_map(|line| line.trim().strip_prefix(name));
        let tokens = line.map(|line| line.split_whitespace().collect::<Vec<_>>());
        tokens.ok_or_else(|| format!("{PROGRAM} printed no `{name}`: {printed}"))
    };
    for lost in ["ignored errors:", "reconnects:"] {
        if line(lost)?.first() != Some(&"0") {
            return Err(format!("{PROGRAM} had {lost} {printed}"));
        }
    }
    let queries = line("queries:")?;
    let statements = queries.first().and_then(|token| token.parse().ok());
    let per_s = queries.get(1).and_then(|token| token.trim_start_matches('(').parse().ok());
    statements
        .zip(per_s)
        .map(|(statements, per_s)| Done { statements, per_s })
        .ok_or_else(|| format!("{PROGRAM}'s result cannot be parsed: {printed}"))
}

fn statement_spec(statement: Statement) -> StatementSpec {
    let row = integer(1, ROWS);
    let (sql, values) = match statement {
        Statement::PointSelect => ("SELECT c FROM sbtest1 WHERE id=?", vec![row]),
        Statement::Update => {
            ("UPDATE sbtest1 SET c=? WHERE id=?", vec![Draw::Pattern(PATTERN.to_owned()), row])
        }
    };
    StatementSpec { sql, values }
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
    fn rate_and_query_count_are_parsed() {
        assert_eq!(parse(PRINTED), Ok(Done { statements: 50_000, per_s: 41_274.5 }));
    }

    #[test]
    fn ignored_errors_are_errors() {
        let printed = PRINTED.replace("errors:                      0", "errors: 3");
        assert!(parse(&printed).unwrap_err().starts_with("sysbench had ignored errors:"));
        assert!(parse("FATAL: no").unwrap_err().contains("printed no"));
    }

    #[test]
    fn pattern_fills_column_c() {
        // sbtest1's column c is char(120), the last character of which is never written.
        assert_eq!(PATTERN.len(), 119);
    }
}
