//! A small application: the base of invalid ones.

/// A valid application, the base of invalid ones.
pub(super) const SMALL: &str = r#"
name = "small"
about = "one table of accounts"
source = "Author"
row_bytes = 20
order = ["fill", "pay"]

[parameters]
batch = 2

[values]
account = { integer = [1, "loaded"], distribution = "zipf:0.5" }
amount = { real = 100, plus = "account", scale = 0.5 }
note = { payload = [3, 9], random = 0.5 }
when = { moment = 10, once = true }
few = { draw = "id", count = 3 }
code = { pattern = "A-##" }

[[table]]
name = "account"
copies = 2
id = "id"
create.postgres = "CREATE TABLE {table} (id SERIAL, a INT, b REAL, c TEXT, d TIMESTAMP)"
create.mysql = ["CREATE TABLE {table} (id SERIAL, a INT, b REAL, c TEXT, d DATETIME)"]

[procedure.open]
kind = "insert"
rows = "batch"
row = "(:account, :amount, :note, :when)"
sql = "INSERT INTO {table} (a, b, c, d) VALUES {rows}"

[procedure.find]
kind = "multi_get"
returns = 3
sql = "SELECT a::int, ':no' FROM {table} WHERE id IN (:few) LIMIT {batch * 10}"

[procedure.move]
kind = "transaction"
transaction = true
sql = [{ times = 2, sql = "UPDATE {table} SET c = :code WHERE a = :account" }, "SELECT 1"]

[[step]]
name = "fill"
about = "opens accounts"
role = "load"
clients = ["open"]
rows = "100%"
unit = "row"

[[step]]
name = "pay"
about = "moves money"
role = "read-write"
clients = { find = 3, move = 1 }
background = { procedures = ["open"], rows_per_s = 10 }
needs = ["fill"]
"#;
