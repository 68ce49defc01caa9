//! Errors in SQL, and servers with too few connections, are reported before anything is loaded.

use super::shared_server::SharedServer;
use crate::rejection::{check_rejection, unwrapped};
use crate::workspace::{ProgramOutput, Workspace};

/// Two tables for each client; a transfer writes to the client's own copy of both.
const BANK: &str = r#"name = "bank"
about = "accounts that pay each other"
row_bytes = 40
order = ["fill", "index", "pay"]

[values]
id = "id"
owner = { pattern = "owner-########" }
amount = { integer = [1, 100] }

[[table]]
name = "account"
copies = "per client"
id = "id"
create.postgres = "CREATE TABLE {table} (id SERIAL PRIMARY KEY, owner VARCHAR(20), cents INT NOT NULL)"
create.mysql = "CREATE TABLE {table} (id INT AUTO_INCREMENT PRIMARY KEY, owner VARCHAR(20), cents INT NOT NULL)"

[[table]]
name = "history"
copies = "per client"
create = "CREATE TABLE {table} (account INT NOT NULL, cents INT NOT NULL, FOREIGN KEY (account) REFERENCES {account} (id))"

[[table]]
name = "bank"
create = "CREATE TABLE {table} (payments INT NOT NULL)"

[procedure.open]
kind = "insert"
table = "account"
rows = 10
row = "(:owner, :amount)"
sql = "INSERT INTO {table} (owner, cents) VALUES {rows}"

[procedure.found]
kind = "insert"
table = "bank"
sql = "INSERT INTO {bank} (payments) VALUES (0)"

[procedure.index]
kind = "define"
table = "account"
sql = "CREATE INDEX {table}_owner ON {table} (owner)"

[procedure.pay]
kind = "transaction"
table = "account"
transaction = true
sql = [
    "UPDATE {table} SET cents = cents + :amount WHERE id = :id",
    "INSERT INTO {history} (account, cents) VALUES (:id, :amount)",
    { times = 2, sql = "UPDATE {bank} SET payments = payments + 1" },
    "SELECT count(*) FROM {account}",
]

[procedure.audit]
kind = "scan"
table = "history"
sql = "SELECT sum(cents) FROM {history}"

[[step]]
name = "fill"
about = "opens the accounts"
role = "load"
clients = ["open"]
rows = "100%"
unit = "row"

[[step]]
name = "index"
about = "makes the index and the bank"
role = "write"
clients = { once = ["index", "found"] }
unit = "operation"
needs = ["fill"]

[[step]]
name = "pay"
about = "moves money"
role = "read-write"
clients = { pay = 9, audit = 1 }
unit = "operation"
needs = ["index"]
"#;

/// One read by each of many clients.
const MANY: &str = r#"[experiment]
name = "many"
question = "Do they get their connections?"

[benchmark]
steps = ["fillseq", { step = "readrandom", operations = 320 }]
rows = 500
warmup = "0s"

[factors]
clients = [320]

[[variant]]
name = "postgres"
engine = "postgres@15.10"
profile = "postgres"
"#;

/// A server of each dialect.
const SERVERS: [&str; 2] = ["postgres@15.10", "mysql@8.0.31"];

/// A short run of the application.
const EXPERIMENT: &str = r#"[experiment]
name = "bank"
question = "Is every statement checked?"

[benchmark]
workload = "./bank.toml"
steps = ["fill", "index", "pay"]
rows = 200
duration = "100ms"
warmup = "0s"

[[variant]]
name = "server"
"#;

/// Returns the output of a run of the application on a shared server.
fn run(server: &'static str, application: &str) -> Option<(Workspace, ProgramOutput)> {
    let workspace = Workspace::new();
    workspace.write("bank.toml", application);
    let server = SharedServer::of(server)?;
    let _turn = server.take_turn();
    workspace.write("experiment.toml", format!("{EXPERIMENT}{}\n", server.variant));
    let output = workspace.assay(&["run", "experiment.toml"]);
    Some((workspace, output))
}

/// Returns the output of a run of the application by two clients, on a server that it starts.
fn run_alone(server: &str, more: &[&str]) -> Option<(Workspace, ProgramOutput)> {
    let args = ["run", "--workload", "./bank.toml", "--engine", server, "--rows", "200"];
    let short = ["--duration", "100ms", "--warmup", "0s", "--clients", "2"];
    let workspace = Workspace::new();
    workspace.write("bank.toml", BANK);
    let output = start_and_run(server, &workspace, &[&args[..], &short, more].concat())?;
    Some((workspace, output))
}

/// Returns the output of a run on a server that it starts; prints why without one.
#[expect(clippy::print_stdout, reason = "a skipped test prints why")]
fn start_and_run(server: &str, workspace: &Workspace, arguments: &[&str]) -> Option<ProgramOutput> {
    if let Err(reason) = supply::testing::build(server) {
        println!("skipped: {reason}");
        return None;
    }
    Some(workspace.assay_on_servers(arguments))
}

/// Checks that a replacement in the application is rejected at the text, with the server's message.
fn rejects(server: &'static str, (old, new): (&str, &str), expected: &[&str]) {
    assert_eq!(BANK.matches(old).count(), 1, "{old}");
    let Some((workspace, output)) = run(server, &BANK.replace(old, new)) else { return };
    let error = unwrapped(&check_rejection(&workspace, &output));
    for expected in expected {
        assert!(error.contains(expected), "{server}: {expected}\n{error}");
    }
}

#[test]
fn transaction_reaches_its_own_copy_of_every_table() {
    for server in SERVERS {
        let Some((_, output)) = run_alone(server, &[]) else { continue };
        output.recorded();
    }
}

#[test]
fn wrong_column_is_reported_with_line_procedure_and_statement() {
    let renamed = ("INTO {history} (account, cents)", "INTO {history} (account, cent)");
    let place =
        ["bank.toml:", "procedure `pay`: statement 2 is rejected", "rejected by the server"];
    let unknown =
        [r#"column "cent" of relation "history1" does not exist"#, "Unknown column 'cent'"];
    for (server, unknown) in SERVERS.into_iter().zip(unknown) {
        rejects(server, renamed, &[&place[..], &[unknown]].concat());
    }
    // A repeated statement has one line, and as many numbers.
    let last = ("SELECT count(*) FROM {account}", "SELECT count(*) FROM {account} WHERE x = 1");
    rejects(SERVERS[0], last, &["procedure `pay`: statement 5 is rejected", "WHERE x = 1"]);
}

#[test]
fn wrong_type_is_reported_before_the_load() {
    let typed = ("WHERE id = :id\",", "WHERE id = :owner\",");
    let inserted = ("VALUES (:id, :amount)", "VALUES (:id, :owner)");
    let pg = "invalid input syntax for type integer";
    rejects(SERVERS[0], typed, &["procedure `pay`: statement 1 is rejected", pg]);
    rejects(SERVERS[0], inserted, &["procedure `pay`: statement 2 is rejected", pg]);
    let mysql = "Incorrect integer value";
    rejects(SERVERS[1], inserted, &["procedure `pay`: statement 2 is rejected", mysql]);
    let updated = ("SET cents = cents + :amount", "SET cents = :owner");
    rejects(SERVERS[1], updated, &["procedure `pay`: statement 1 is rejected", mysql]);
}

#[test]
fn wrong_definitions_are_reported_before_the_load() {
    let table = ("payments INT NOT NULL", "payments INTT NOT NUL");
    let index = ("ON {table} (owner)", "ON {table} (owners)");
    for server in SERVERS {
        rejects(server, table, &["table `bank`: statement 1 is rejected", "bank.toml:"]);
        rejects(server, index, &["procedure `index`: statement 1 is rejected", "owners"]);
    }
}

#[test]
fn more_clients_than_connections_are_configured_or_rejected() {
    for server in SERVERS {
        let few = ["--option", "max_connections=9"];
        let Some((workspace, output)) = run_alone(server, &few) else { continue };
        let error = unwrapped(&check_rejection(&workspace, &output));
        assert!(error.contains("option `max_connections` is rejected"), "{server}: {error}");
        assert!(error.contains("set `max_connections = 11`"), "{server}: {error}");
    }
    // A shipped profile does not limit them: without clients the server allows 300.
    let workspace = Workspace::new();
    workspace.write("many.toml", MANY);
    let run = ["run", "many.toml"];
    let Some(output) = start_and_run(SERVERS[0], &workspace, &run) else { return };
    output.recorded();
    let done = workspace.assay(&["list", "many"]).out;
    assert!(done.contains("its run is complete"), "{done}");
}
