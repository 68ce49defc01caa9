//! pgbench, Postgres' own benchmark.

use std::fs;
use std::path::{Path, PathBuf};

use model::Endpoint;
use model::sql::Dialect;

use super::peer::{Peer, ROWS, Statement, integer, password_of, socket_of};
use crate::pairs::Done;
use crate::process::{Result, path_of, write_secret};

/// Its program.
const PROGRAM: &str = "pgbench";

/// Debian's folder of it, by version; the one on the path is a script.
const DEBIAN: &str = "/usr/lib/postgresql";

pub(super) const PEER: Peer = Peer {
    name: PROGRAM,
    find,
    dialect: Dialect::Postgres,
    builds: &[("postgres@15.10", || &driver_postgres::KIND)],
    options: &[("autovacuum", "off")],
    target: 1.0,
    fill: |endpoint, dir| args(&["--initialize", "--scale=1", "--quiet"], endpoint, dir),
    args: run_args,
    parse,
    statements,
};

/// The update of accounts in pgbench's TPC-B-like transaction.
const UPDATE: &str = "\
\\set aid random(1, 100000 * :scale)
\\set delta random(-5000, 5000)
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
";

fn find() -> std::result::Result<PathBuf, String> {
    let versions = fs::read_dir(DEBIAN).into_iter().flatten().flatten();
    let programs = versions.map(|version| version.path().join("bin").join(PROGRAM));
    let newest = programs.filter(|path| path.is_file()).max();
    newest.map_or_else(|| path_of(PROGRAM, "postgresql"), Ok)
}

fn run_args(
    endpoint: &Endpoint,
    (statement, count): (&Statement, u64),
    scratch: &Path,
) -> Result<Vec<String>> {
    let script = scratch.join("update.sql");
    fs::write(&script, UPDATE)?;
    let script = match statement.is_update {
        true => format!("--file={}", script.display()),
        false => "--select-only".to_owned(),
    };
    let count = format!("--transactions={count}");
    let own = ["--no-vacuum", "--protocol=prepared", "--client=1", "--jobs=1", &count, &script];
    args(&own, endpoint, scratch)
}

/// Adds the arguments of the server: a socket is named by folder and port, the password by a file.
fn args(own: &[&str], endpoint: &Endpoint, scratch: &Path) -> Result<Vec<String>> {
    let socket = socket_of(endpoint);
    let name = socket.file_name().unwrap_or_default().to_string_lossy();
    let port = name.strip_prefix(".s.PGSQL.").unwrap_or_default();
    let host = socket.parent().unwrap_or(Path::new("/")).display();
    let server = [format!("--host={host}"), format!("--port={port}")];
    let password = format!("*:*:*:*:{}\n", password_of(endpoint));
    let passfile = write_secret(&scratch.join("pgpass"), &password)?;
    let database = format!("dbname={} passfile={passfile}", endpoint.database);
    let user = [format!("--username={}", endpoint.user), database];
    Ok(own.iter().map(|arg| (*arg).to_owned()).chain(server).chain(user).collect())
}

/// Parses `number of transactions actually processed: 50000/50000` and `tps = 70478.02 (...)`.
///
/// The count is checked because pgbench prints a rate even after its server's disk was full (our
/// observation).
fn parse(printed: &str) -> Result<Done> {
    let after = |name: &str| {
        let line = printed.lines().find_map(|line| line.strip_prefix(name));
        let end = |c: char| !c.is_ascii_digit() && c != '.';
        line.and_then(|line| line.split(end).next()).unwrap_or_default()
    };
    let operations = after("number of transactions actually processed: ").parse();
    let done = operations.ok().zip(after("tps = ").parse().ok());
    let done = done.map(|(operations, per_s)| Done { operations, per_s });
    done.ok_or_else(|| format!("{PROGRAM}'s result cannot be parsed: {printed}").into())
}

fn statements() -> [Statement; 2] {
    let row = integer(1, ROWS);
    [
        Statement::select("SELECT abalance FROM pgbench_accounts WHERE aid = ?", vec![row.clone()]),
        Statement::update(
            "UPDATE pgbench_accounts SET abalance = abalance + ? WHERE aid = ?",
            vec![integer(-5_000, 10_001), row],
        ),
    ]
}

#[cfg(test)]
mod tests {
    use model::Address;

    use super::*;

    #[test]
    fn rate_and_count_are_parsed() {
        let printed = "pgbench (15.18, server 15.10)\nquery mode: prepared\n\
            number of transactions per client: 50000\n\
            number of transactions actually processed: 49999/50000\n\
            number of failed transactions: 0 (0.000%)\n\
            initial connection time = 2.071 ms\n\
            tps = 70478.024247 (without initial connection time)\n";
        let done = Done { operations: 49_999, per_s: 70_478.024_247 };
        assert_eq!(parse(printed).unwrap(), done);
        assert!(parse("tps = 4 (x)").unwrap_err().to_string().contains("cannot be parsed"));
    }

    #[test]
    fn socket_is_passed_as_folder_and_port_and_the_password_as_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let endpoint = Endpoint {
            address: Address::Socket("/tmp/x/.s.PGSQL.5499".into()),
            user: "bench".to_owned(),
            password: Some(model::Password("hush".to_owned())),
            database: "postgres".to_owned(),
            is_foreign: false,
            login: model::LoginOptions::default(),
        };
        let file = dir.path().join("pgpass");
        let database = format!("dbname=postgres passfile={}", file.display());
        let expected = ["--host=/tmp/x", "--port=5499", "--username=bench", &database];
        assert_eq!(args(&[], &endpoint, dir.path()).unwrap(), expected);
        assert_eq!(fs::read_to_string(file).unwrap(), "*:*:*:*:hush\n");
    }
}
