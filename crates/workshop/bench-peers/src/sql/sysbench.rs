//! Runs sysbench with prepared statements.

use std::path::Path;

use model::Endpoint;
use model::sql::{Dialect, Draw};

use super::peer::{Peer, ROWS, Statement, integer, password_of, socket_of};
use crate::pairs::Done;
use crate::process::{Result, path_of, write_secret};

/// Its program.
const PROGRAM: &str = "sysbench";

/// The pattern of column `c`: ten groups of eleven digits.
///
/// Source: sysbench 1.0.20, `oltp_common.lua`, `c_value_template`.
const PATTERN: &str = "###########-###########-###########-###########-###########-\
                       ###########-###########-###########-###########-###########";

pub(super) const PEER: Peer = Peer {
    name: PROGRAM,
    find: || path_of(PROGRAM, PROGRAM),
    dialect: Dialect::Mysql,
    builds: &[
        ("mysql@8.0.31", || driver_mysql::KIND_MYSQL),
        ("mariadb@10.11", || driver_mysql::KIND_MARIADB),
    ],
    options: &[],
    target: 0.5,
    fill: |endpoint, dir| args(&["oltp_point_select", "prepare"], endpoint, dir),
    args: run_args,
    parse,
    statements,
};

fn run_args(
    endpoint: &Endpoint,
    (statement, count): (&Statement, u64),
    scratch: &Path,
) -> Result<Vec<String>> {
    let script = if statement.is_update { "oltp_update_non_index" } else { "oltp_point_select" };
    let count = format!("--events={count}");
    let own = [script, "--time=0", "--threads=1", "--rand-type=uniform", &count, "run"];
    args(&own, endpoint, scratch)
}

/// Adds the arguments of the server, its password in a file, and of its table.
fn args(own: &[&str], endpoint: &Endpoint, scratch: &Path) -> Result<Vec<String>> {
    let password = format!("mysql-password={}\n", password_of(endpoint));
    let file = write_secret(&scratch.join("sysbench.conf"), &password)?;
    let server = [
        format!("--config-file={file}"),
        "--tables=1".to_owned(),
        format!("--table-size={ROWS}"),
        format!("--mysql-user={}", endpoint.user),
        format!("--mysql-db={}", endpoint.database),
        format!("--mysql-socket={}", socket_of(endpoint).display()),
    ];
    Ok(own.iter().map(|arg| (*arg).to_owned()).chain(server).collect())
}

/// Parses `queries: 50000 (41274.47 per sec.)`, and requires zero errors.
fn parse(printed: &str) -> Result<Done> {
    let line = |name: &str| {
        let line = printed.lines().find_map(|line| line.trim().strip_prefix(name));
        line.ok_or_else(|| format!("{PROGRAM} printed no `{name}`: {printed}"))
    };
    for lost in ["ignored errors:", "reconnects:"] {
        if !line(lost)?.trim().starts_with("0 ") {
            return Err(format!("{PROGRAM} had {lost} {printed}").into());
        }
    }
    let (operations, rate) = line("queries:")?.split_once('(').unwrap_or_default();
    let per_s = rate.split(' ').next().unwrap_or_default().parse()?;
    Ok(Done { operations: operations.trim().parse()?, per_s })
}

fn statements() -> [Statement; 2] {
    let row = integer(1, ROWS);
    let pattern = Draw::Pattern(PATTERN.to_owned());
    [
        Statement::select("SELECT c FROM sbtest1 WHERE id=?", vec![row.clone()]),
        Statement::update("UPDATE sbtest1 SET c=? WHERE id=?", vec![pattern, row]),
    ]
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
        let done = Done { operations: 50_000, per_s: 41_274.5 };
        assert_eq!(parse(PRINTED).unwrap(), done);
    }

    #[test]
    fn ignored_errors_are_errors() {
        let printed = PRINTED.replace("errors:                      0", "errors: 3");
        let error = parse(&printed).unwrap_err().to_string();
        assert!(error.starts_with("sysbench had ignored errors:"), "{error}");
        assert!(parse("FATAL: no").unwrap_err().to_string().contains("printed no"));
    }

    #[test]
    fn pattern_fills_column_c() {
        // sbtest1's column c is char(120), the last character of which is never written.
        assert_eq!(PATTERN.len(), 119);
    }
}
