//! The comparison with pgbench, Postgres' own benchmark.

use std::fs;
use std::path::{Path, PathBuf};

use model::{Address, Endpoint};

use super::application::{StatementSpec, integer};
use super::comparison::{Args, Build, Comparison, Done};
use super::work::{ROWS, Statement};
use crate::environment::path_of;

/// Its program.
const PROGRAM: &str = "pgbench";

/// Debian's folder of it, by version; the one on the path is a script.
const DEBIAN: &str = "/usr/lib/postgresql";

pub(super) const COMPARISON: Comparison = Comparison {
    peer: PROGRAM,
    package: "postgresql",
    driver: driver_postgres::driver,
    builds: &[Build { name: "postgres@15.10", kind: || &driver_postgres::KIND }],
    target: 1.0,
    options: &[("autovacuum", "off")],
    find,
    fill,
    args,
    parse,
    statement_spec,
};

/// The update of accounts in pgbench's TPC-B-like transaction.
const UPDATE: &str = "\
\\set aid random(1, 100000 * :scale)
\\set delta random(-5000, 5000)
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
";

fn find() -> Option<PathBuf> {
    let versions = fs::read_dir(DEBIAN).into_iter().flatten().flatten();
    let programs = versions.map(|version| version.path().join("bin").join(PROGRAM));
    programs.filter(|path| path.is_file()).max().or_else(|| path_of(PROGRAM))
}

fn fill(endpoint: &Endpoint) -> Args {
    let mut args = ["--initialize", "--scale=1", "--quiet"].map(str::to_owned).to_vec();
    args.extend(connection_args(endpoint)?);
    Ok(args)
}

fn args(endpoint: &Endpoint, (statement, count): (Statement, u64), scratch: &Path) -> Args {
    let mut args = ["--no-vacuum", "--protocol=prepared", "--client=1", "--jobs=1"]
        .map(str::to_owned)
        .to_vec();
    args.push(format!("--transactions={count}"));
    args.push(match statement {
        Statement::PointSelect => "--select-only".to_owned(),
        Statement::Update => {
            let script = scratch.join("update.sql");
            fs::write(&script, UPDATE).map_err(|error| error.to_string())?;
            format!("--file={}", script.display())
        }
    });
    args.extend(connection_args(endpoint)?);
    Ok(args)
}

/// Returns the arguments of the server: a Postgres socket is named by its port.
fn connection_args(endpoint: &Endpoint) -> Args {
    let (host, port) = match &endpoint.address {
        Address::Tcp { host, port } => (host.clone(), port.to_string()),
        Address::Socket(path) => {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let port = name.strip_prefix(".s.PGSQL.");
            let port = port.ok_or_else(|| format!("{} is no Postgres socket", path.display()))?;
            let dir = path.parent().unwrap_or(Path::new("/"));
            (dir.display().to_string(), port.to_owned())
        }
    };
    Ok(vec![
        format!("--host={host}"),
        format!("--port={port}"),
        format!("--username={}", endpoint.user),
        endpoint.database.clone(),
    ])
}

/// Parses `number of transactions actually processed: 50000/50000` and `tps = 70478.02 (...)`.
///
/// The count is checked because pgbench prints a rate even after its server's disk was full (our
/// observation).
fn parse(printed: &str) -> Result<Done, String> {
    let after = |name: &str| {
        let line = printed.lines().find_map(|line| line.strip_prefix(name));
        line.ok_or_else(|| format!("{PROGRAM} printed no `{name}`: {printed}"))
    };
    let done = after("number of transactions actually processed: ")?;
    let per_s = after("tps = ")?;
    let statements = done.split('/').next().and_then(|token| token.trim().parse().ok());
    let per_s = per_s.split(' ').next().and_then(|token| token.parse().ok());
    statements
        .zip(per_s)
        .map(|(statements, per_s)| Done { statements, per_s })
        .ok_or_else(|| format!("{PROGRAM}'s result cannot be parsed: {printed}"))
}

fn statement_spec(statement: Statement) -> StatementSpec {
    let row = integer(1, ROWS);
    let (sql, values) = match statement {
        Statement::PointSelect => {
            ("SELECT abalance FROM pgbench_accounts WHERE aid = ?", vec![row])
        }
        Statement::Update => (
            "UPDATE pgbench_accounts SET abalance = abalance + ? WHERE aid = ?",
            vec![integer(-5_000, 10_001), row],
        ),
    };
    StatementSpec { sql, values }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_and_count_are_parsed() {
        let printed = "pgbench (15.18, server 15.10)\nquery mode: prepared\n\
            number of transactions per client: 50000\n\
            number of transactions actually processed: 49999/50000\n\
            number of failed transactions: 0 (0.000%)\n\
            initial connection time = 2.071 ms\n\
            tps = 70478.024247 (without initial connection time)\n";
        assert_eq!(parse(printed), Ok(Done { statements: 49_999, per_s: 70_478.024_247 }));
        assert!(parse("tps = 4 (x)").unwrap_err().contains("actually processed"));
    }

    #[test]
    fn socket_is_passed_as_folder_and_port() {
        let mut endpoint = Endpoint {
            address: Address::Socket("/tmp/x/.s.PGSQL.5499".into()),
            user: "bench".to_owned(),
            password: None,
            database: "postgres".to_owned(),
            is_foreign: false,
        };
        let args = ["--host=/tmp/x", "--port=5499", "--username=bench", "postgres"];
        assert_eq!(connection_args(&endpoint).unwrap(), args);
        endpoint.address = Address::Socket("/tmp/x/mysql.sock".into());
        assert_eq!(
            connection_args(&endpoint).unwrap_err(),
            "/tmp/x/mysql.sock is no Postgres socket"
        );
    }
}
