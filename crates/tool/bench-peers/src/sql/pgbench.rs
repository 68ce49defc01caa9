//! pgbench, Postgres' own benchmark, and what our driver does beside it.

use std::fs;
use std::path::{Path, PathBuf};

use model::{Address, Endpoint};

use super::application::{Ask, Word, integer};
use super::duel::{Build, Done, Duel, Words};
use super::work::{ROWS, Statement};
use crate::setting::path_of;

/// Its program.
const PROGRAM: &str = "pgbench";

/// Where Debian keeps it, a folder for each version; what is on the path there is a script.
const DEBIAN: &str = "/usr/lib/postgresql";

pub(super) const DUEL: Duel = Duel {
    peer: PROGRAM,
    package: "postgresql",
    driver: driver_postgres::driver,
    builds: &[Build { name: "postgres@15.10", kind: || &driver_postgres::KIND }],
    target: 1.0,
    options: &[("autovacuum", "off")],
    find,
    fill,
    words,
    parse,
    ask,
};

/// The update: that of the accounts in pgbench's own transaction.
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

fn fill(endpoint: &Endpoint) -> Words {
    let mut words = ["--initialize", "--scale=1", "--quiet"].map(str::to_owned).to_vec();
    words.extend(place(endpoint)?);
    Ok(words)
}

fn words(endpoint: &Endpoint, (statement, count): (Statement, u64), scratch: &Path) -> Words {
    let mut words = ["--no-vacuum", "--protocol=prepared", "--client=1", "--jobs=1"]
        .map(str::to_owned)
        .to_vec();
    words.push(format!("--transactions={count}"));
    words.push(match statement {
        Statement::PointSelect => "--select-only".to_owned(),
        Statement::Update => {
            let script = scratch.join("update.sql");
            fs::write(&script, UPDATE).map_err(|error| error.to_string())?;
            format!("--file={}", script.display())
        }
    });
    words.extend(place(endpoint)?);
    Ok(words)
}

/// Returns the words that say where the server is: a Postgres socket is named by its port.
fn place(endpoint: &Endpoint) -> Words {
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

/// Reads `number of transactions actually processed: 50000/50000` and `tps = 70478.02 (...)`.
///
/// It has printed a rate after its server's disk was full: the number counts, too.
/// Source: the project's reference, servers, section 0.
fn parse(printed: &str) -> Result<Done, String> {
    let after = |name: &str| {
        let line = printed.lines().find_map(|line| line.strip_prefix(name));
        line.ok_or_else(|| format!("{PROGRAM} printed no `{name}`: {printed}"))
    };
    let done = after("number of transactions actually processed: ")?;
    let per_s = after("tps = ")?;
    let statements = done.split('/').next().and_then(|word| word.trim().parse().ok());
    let per_s = per_s.split(' ').next().and_then(|word| word.parse().ok());
    match (statements, per_s) {
        (Some(statements), Some(per_s)) => Ok(Done { statements, per_s }),
        _ => Err(format!("{PROGRAM}'s result is not understood: {printed}")),
    }
}

fn ask(statement: Statement) -> Ask {
    let row = integer(1, ROWS);
    match statement {
        Statement::PointSelect => Ask {
            words: vec![
                Word::Text("SELECT abalance FROM pgbench_accounts WHERE aid = "),
                Word::Value(0),
            ],
            values: vec![row],
        },
        Statement::Update => Ask {
            words: vec![
                Word::Text("UPDATE pgbench_accounts SET abalance = abalance + "),
                Word::Value(0),
                Word::Text(" WHERE aid = "),
                Word::Value(1),
            ],
            values: vec![integer(-5_000, 10_001), row],
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_and_the_number_are_read() {
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
    fn a_socket_is_named_by_folder_and_port() {
        let mut endpoint = Endpoint {
            address: Address::Socket("/tmp/x/.s.PGSQL.5499".into()),
            user: "bench".to_owned(),
            password: None,
            database: "postgres".to_owned(),
            is_foreign: false,
        };
        let words = ["--host=/tmp/x", "--port=5499", "--username=bench", "postgres"];
        assert_eq!(place(&endpoint).unwrap(), words);
        endpoint.address = Address::Socket("/tmp/x/mysql.sock".into());
        assert_eq!(place(&endpoint).unwrap_err(), "/tmp/x/mysql.sock is no Postgres socket");
    }
}
