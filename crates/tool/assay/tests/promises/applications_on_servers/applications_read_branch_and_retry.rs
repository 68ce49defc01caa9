//! Applications read values back, branch on them, roll back, retry and are checked.

use std::collections::BTreeMap;

use model::Label;
use serde_json::Value;

use super::run::run_on;
use super::shared_server::SERVERS;
use crate::workspace::ProgramOutput;

/// Accounts whose transfers number themselves: a few counters that all clients update.
///
/// A transfer reads the next number of one of two counters and inserts a row with it; one in four
/// rolls back. The checks hold only if every number is used once, whatever deadlocks there were:
/// transfers lock two counters in any order.
const SHOP: &str = r#"name = "shop"
about = "orders that number themselves"
row_bytes = 20
order = ["fill", "buy"]

[values]
n = "number"
row = { part = "n", add = 1 }
shop = { integer = [1, 2], once = true }
second = { other = "shop", share = 1.0, among = [1, 2] }
lines = { integer = [0, 3], once = true }
line = { integer = [1, 1], apart = 1 }
bad = { chance = 0.25 }
absent = { integer = [7, 8] }
next = { read = "integer", once = true }
none = { read = "integer" }
label = { read = "text" }
rate = { read = "real" }

[[table]]
name = "counter"
create = "CREATE TABLE {table} (id INTEGER NOT NULL PRIMARY KEY, next INTEGER NOT NULL, label VARCHAR(10), rate DECIMAL(5,2))"

[[table]]
name = "orders"
create = "CREATE TABLE {table} (shop INTEGER NOT NULL, number INTEGER NOT NULL, label VARCHAR(10), total DECIMAL(8,2), PRIMARY KEY (shop, number))"

[[table]]
name = "line"
create = "CREATE TABLE {table} (shop INTEGER NOT NULL, number INTEGER NOT NULL, line INTEGER NOT NULL, PRIMARY KEY (shop, number, line))"

[procedure.open]
kind = "insert"
table = "counter"
calls = 2
rows = 1
row = "(:row, 1, 'it''s', 2.5)"
sql = "INSERT INTO {table} (id, next, label, rate) VALUES {rows}"

[procedure.buy]
kind = "transaction"
table = "orders"
transaction = true
keying_ms = 1
think_ms = 1
limit_ms = 60000
retry = { attempts = 50, pause_ms = 1, pause_max_ms = 20 }
sql = [
    { sql = "SELECT next, label, rate FROM {counter} WHERE id = :shop FOR UPDATE", into = ["next", "label", "rate"] },
    "UPDATE {counter} SET rate = rate WHERE id = :second",
    "UPDATE {counter} SET next = :next + 1 WHERE id = :shop",
    "INSERT INTO {table} (shop, number, label, total) VALUES (:shop, :next, :label, CAST(:rate AS DECIMAL(5,2)) * 2)",
    { times = "lines", sql = "INSERT INTO {line} (shop, number, line) VALUES (:shop, :next, :line)" },
    "SAVEPOINT before_more",
    "INSERT INTO {line} (shop, number, line) VALUES (:shop, :next, 99)",
    "ROLLBACK TO SAVEPOINT before_more",
    { sql = "SELECT next FROM {counter} WHERE id = :absent", into = ["none"] },
    { if = "found", sql = "INSERT INTO {line} (shop, number, line) VALUES (:shop, :next, :none)" },
    { unless = "found", sql = "UPDATE {table} SET label = 'done' WHERE shop = :shop AND number = :next" },
    { if = "bad", sql = "ROLLBACK" },
]

[[step]]
name = "fill"
about = "makes the counters"
role = "load"
clients = { once = ["open"] }

[[step]]
name = "buy"
about = "buys"
role = "read-write"
clients = ["buy"]

[[check]]
name = "every number is used once"
table = "counter"
sql = "SELECT id, next FROM {table} WHERE next - 1 <> (SELECT COUNT(*) FROM {orders} WHERE shop = id)"
expect = "no rows"

[[check]]
name = "orders are as they were read"
table = "orders"
sql = "SELECT COUNT(*) FROM {table} WHERE label <> 'done' OR total <> 5"
expect = 0

[[check]]
name = "savepoints were rolled back to"
table = "line"
sql = "SELECT COUNT(*) FROM {table} WHERE line > 3"
expect = 0
"#;

/// Transfers between the copies of a table: the sum of all of them stays.
const BANK: &str = r#"name = "bank"
about = "transfers between four copies of a table"
row_bytes = 20
order = ["fill", "transfer"]

[values]
id = "id"
from = { integer = [1, 4], once = true }
to = { other = "from", share = 1.0, among = [1, 4] }

[[table]]
name = "account"
copies = 4
id = "id"
create.postgres = "CREATE TABLE {table} (id SERIAL PRIMARY KEY, cents INTEGER NOT NULL)"
create.mysql = "CREATE TABLE {table} (id INTEGER AUTO_INCREMENT PRIMARY KEY, cents INTEGER NOT NULL)"

[procedure.open]
kind = "insert"
rows = 10
row = "(1000)"
sql = "INSERT INTO {table} (cents) VALUES {rows}"

[procedure.transfer]
kind = "transaction"
transaction = true
retry = { attempts = 50, pause_ms = 1, pause_max_ms = 20 }
sql = [
    { copy = "from", sql = "UPDATE {table} SET cents = cents - 1 WHERE id = :id" },
    { unless = "found", sql = "ROLLBACK" },
    { copy = "to", sql = "UPDATE {table} SET cents = cents + 1 WHERE id = :id" },
    { unless = "found", sql = "ROLLBACK" },
]

[[step]]
name = "fill"
about = "opens the accounts"
role = "load"
clients = ["open"]
rows = "100%"
unit = "row"

[[step]]
name = "transfer"
about = "transfers"
role = "read-write"
clients = ["transfer"]

[[check]]
name = "nothing is lost"
sql = """
    SELECT SUM(cents) FROM (
        SELECT cents FROM account1 UNION ALL SELECT cents FROM account2
        UNION ALL SELECT cents FROM account3 UNION ALL SELECT cents FROM account4) a"""
expect = "1000 * loaded"

[[check]]
name = "something has moved"
sql = "SELECT COUNT(*) FROM {table} WHERE cents <> 1000 HAVING COUNT(*) = 0"
expect = "no rows"
"#;

/// A server with prepared statements.
const EXPERIMENT: &str = r#"[experiment]
name = "shop"
question = "Do transactions hold?"

[benchmark]
workload = "./shop.toml"
steps = ["fill", { step = "buy", operations = 200 }]
rows = 2
warmup = "0s"

[factors]
clients = [4]

[[variant]]
name = "prepared"
engine = "SERVER"
options = { "assay.protocol" = "prepared" }
"#;
/// The same server with statements as text.
const TEXT: &str = r#"
[[variant]]
name = "text"
engine = "SERVER"
options = { "assay.protocol" = "text" }
"#;

/// Runs the application on a server; returns the records by variant.
fn run(
    server: &'static str,
    (application, experiment): (&str, &str),
) -> Option<(ProgramOutput, BTreeMap<String, Value>)> {
    run_on(server, ("shop", experiment), &[("shop.toml", application)])
}

#[test]
fn values_read_back_conditions_savepoints_and_rollbacks_hold_on_every_server() {
    for server in SERVERS {
        let both = format!("{EXPERIMENT}{TEXT}");
        let Some((output, records)) = run(server, (SHOP, &both)) else { continue };
        output.recorded();
        assert_eq!(records.len(), 2, "{server}");
        for (variant, record) in &records {
            let name = format!("{server} {variant}");
            assert_eq!(record["end"]["how"], "complete", "{name}: {}", record["end"]);
            let buy = &record["steps"][1]["procedures"][0];
            let number = |key: &str| buy[key].as_u64().unwrap_or_default();
            let (done, back) = (number("done"), number("rolled_back"));
            assert!(done >= 190 && number("failed") * 20 < done, "{name}: {buy}");
            // A quarter, within 6 standard deviations.
            let spread = 6.0 * (done as f64 * 0.25 * 0.75).sqrt();
            assert!((back as f64 - done as f64 / 4.0).abs() < spread, "{name}: {buy}");
            assert_eq!(number("within_limit"), done, "{name}: {buy}");
            // Counters are locked in two orders: there are deadlocks, and they are repeated.
            assert!(buy["retried"]["deadlock"].as_u64() > Some(0), "{name}: {buy}");
            assert!(number("retry_ns") > 0, "{name}: {buy}");
        }
    }
}

#[test]
fn a_transaction_changes_several_copies_of_a_table() {
    for server in SERVERS {
        let experiment = EXPERIMENT.replace("rows = 2", "rows = 400");
        let experiment = experiment.replace("shop", "bank").replace("\"buy\"", "\"transfer\"");
        let files = [("bank.toml", BANK)];
        let Some((output, records)) = run_on(server, ("bank", &experiment), &files) else {
            continue;
        };
        output.recorded();
        let record = &records["prepared"];
        assert_eq!(record["end"]["how"], "complete", "{server}: {}", record["end"]);
        let transfers = &record["steps"][1]["procedures"][0];
        assert!(transfers["done"].as_u64() > Some(150), "{server}: {transfers}");
    }
}

#[test]
fn a_violated_check_fails_the_run_by_name() {
    let violated = SHOP.replace("next - 1 <>", "next - 2 <>");
    let Some((output, records)) = run(SERVERS[0], (&violated, EXPERIMENT)) else { return };
    assert_eq!(output.code, i32::from(Label::EXIT_FAILED_CHECK), "{}", output.out);
    let shown = output.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("no figure of the run counts"), "{shown}");
    assert!(!shown.contains("TRU"), "it has no label of a result: {shown}");
    let end = &records["prepared"]["end"];
    assert_eq!(end["how"], "failed_check", "{end}");
    let reason = end["reason"].as_str().unwrap_or_default();
    assert!(reason.starts_with("check `every number is used once` is violated"), "{reason}");
}

#[test]
fn a_check_that_the_server_rejects_is_reported_before_the_load() {
    for server in [SERVERS[0], SERVERS[1]] {
        let wrong = SHOP.replace("WHERE line > 3", "WHERE lien > 3");
        let Some((output, records)) = run(server, (&wrong, EXPERIMENT)) else { continue };
        assert_ne!(output.code, 0, "{server}");
        assert!(records.is_empty(), "{server}: nothing is run");
        let error = crate::rejection::unwrapped(&output.err);
        assert!(error.contains("check `savepoints were rolled back to`"), "{server}: {error}");
        assert!(error.contains("lien"), "{server}: {error}");
    }
}
