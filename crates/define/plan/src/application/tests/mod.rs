//! Tests of application files: shipped ones, and every error.

use miette::Diagnostic as _;
use model::sql::{CallMix, Draw, Part, Procedure, Statement, Table};
use model::{Application, Dialect};

use super::read::{Described, describe, read};
use crate::error::{PlanError, Source};
use crate::tests::sample::{SHIPPED, TestCatalog};

mod parameters;

/// A valid application, the base of invalid ones.
const SMALL: &str = r#"
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

fn loaded(name: &str, text: &str, rows: u64) -> Result<Described, PlanError> {
    let source = Source { name: format!("{name}.toml"), text: text.to_owned() };
    read(&source, (&Source::default(), &Vec::new()), (rows, 1), &TestCatalog::default())
}

/// Returns a statement with its placeholders in angle brackets; long lists are shortened.
fn statement_text(statement: &Statement) -> String {
    let part = |part: &Part| match part {
        Part::Text(text) => text.clone(),
        Part::Table => "<table>".to_owned(),
        Part::OtherTable(position) => format!("<table {position}>"),
        Part::Argument(position) => format!("<{position}>"),
        Part::RowArgument(position) => format!("<row {position}>"),
        Part::Rows(row) => {
            let row = Statement { parts: row.clone(), ..Statement::default() };
            format!("<rows of {}>", statement_text(&row))
        }
    };
    let text: String = statement.parts.iter().map(part).collect();
    let text = statement
        .conditions
        .iter()
        .rev()
        .fold(text, |text, condition| format!("if {condition:?}: {text}"));
    let text = match statement.reads.as_slice() {
        [] => text,
        reads => {
            let read: Vec<_> = reads.iter().map(|read| format!("<{}>", read.argument)).collect();
            format!("{text} into {}", read.join(" "))
        }
    };
    let short = |text: String, last: usize| {
        let list: Vec<_> = (0..=last).map(|place| format!("<{place}>")).collect();
        text.replace(&list.join(", "), &format!("<0> to <{last}>"))
    };
    [99, 9].into_iter().fold(text, short)
}

fn draw(draw: &Draw) -> String {
    match draw {
        Draw::Integer { distribution, from, count } => format!("{distribution} {from} + {count}"),
        Draw::Real { below, plus, scale } => format!("(0..{below} + {plus:?}) * {scale}"),
        Draw::Payload { bytes_min, bytes_max, random } => {
            format!("{bytes_min}..{bytes_max} bytes, {random} random")
        }
        Draw::Pattern(pattern) => format!("pattern of {}", pattern.len()),
        Draw::Moment { calls_per_second } => format!("moment {calls_per_second}"),
        Draw::Id => "id".to_owned(),
        Draw::FirstId => "first id".to_owned(),
        Draw::Number => "number".to_owned(),
        Draw::Nurand { a, c, from, count } => format!("nurand({a}) + {c}, {from} + {count}"),
        Draw::Syllables { of, .. } => format!("syllables of {of}"),
        Draw::Chance(_) | Draw::Part { .. } | Draw::Other { .. } | Draw::Read(_) => {
            format!("{draw:?}")
        }
    }
}

/// Returns draws in a line; equal neighbours are counted.
fn draws(draws: &[Draw]) -> String {
    if let [first, .., last] = draws
        && draws.len() > 50
        && first != last
    {
        return format!("{}; {} more; {}", draw(first), draws.len() - 2, draw(last));
    }
    let chunks = draws.chunk_by(|one, next| one == next);
    let one = |alike: &[Draw]| match alike {
        [exclusive_call] => draw(exclusive_call),
        [first, ..] => format!("{} x {}", alike.len(), draw(first)),
        [] => String::new(),
    };
    chunks.map(one).collect::<Vec<_>>().join("; ")
}

fn procedure(known: &Procedure, tables: &[Table]) -> Vec<String> {
    let table = &tables[usize::from(known.table)].name;
    let transaction = if known.is_transaction { ", a transaction" } else { "" };
    let protocol = match (known.protocol.postgres, known.protocol.mysql) {
        (None, None) => String::new(),
        (postgres, mysql) => format!(", sent as {postgres:?} and {mysql:?}"),
    };
    let mut lines = vec![format!(
        "{} {} of {table}, {} rows, returns {:?}{transaction}{protocol}",
        known.kind, known.name, known.rows, known.rows_expected
    )];
    if !known.arguments.is_empty() {
        lines.push(format!("  once {}", draws(&known.arguments)));
    }
    if !known.row.is_empty() {
        lines.push(format!("  row  {}", draws(&known.row)));
    }
    let texts =
        |dialect| known.statements.by(dialect).iter().map(statement_text).collect::<Vec<_>>();
    let (postgres, mysql) = (texts(Dialect::Postgres), texts(Dialect::Mysql));
    if postgres == mysql {
        lines.extend(postgres.iter().map(|text| format!("  both {text}")));
    } else {
        lines.extend(postgres.iter().map(|text| format!("  post {text}")));
        lines.extend(mysql.iter().map(|text| format!("  my   {text}")));
    }
    let myrocks = known.myrocks.iter().map(statement_text);
    lines.extend(myrocks.map(|text| format!("  rock {text}")));
    lines
}

/// Returns an application in lines: tables, procedures, steps with their calls by three clients.
fn summary(application: &Application, rows: u64) -> String {
    let mut lines = vec![format!("{}: {}", application.name, application.about)];
    for table in &application.tables {
        lines.push(format!("table {} {:?} id {:?}", table.name, table.copies, table.id));
        lines.extend(
            table.create.postgres.iter().map(|one| format!("  post {}", statement_text(one))),
        );
        lines
            .extend(table.create.mysql.iter().map(|one| format!("  my   {}", statement_text(one))));
    }
    let procedures = application.procedures.iter();
    lines.extend(procedures.flat_map(|known| procedure(known, &application.tables)));
    let name = |position: &u16| application.procedures[usize::from(*position)].name.clone();
    let call_mix = |call_mix: &CallMix| match call_mix {
        CallMix::Mix(weights) => {
            let one = |(position, weight): &(u16, u32)| format!("{} x{weight}", name(position));
            weights.iter().map(one).collect::<Vec<_>>().join(" or ")
        }
        CallMix::InTurn(list) => list.iter().map(name).collect::<Vec<_>>().join(" then "),
        CallMix::Once(list) => {
            format!("once {}", list.iter().map(name).collect::<Vec<_>>().join(" then "))
        }
    };
    for step in &application.steps {
        let clients = step.clients.as_ref().map_or_else(|| "nothing".to_owned(), call_mix);
        let background = step.background.as_ref().map_or(String::new(), |background| {
            let (mix, apart) = (call_mix(&background.call_mix), background.connections);
            format!(" with {mix} at {}/s on {apart} connection", background.rows_per_s)
        });
        let apart = if step.connections.is_one() { "" } else { " on own connections" };
        let hold =
            step.hold.map_or(String::new(), |hold| format!(", holds {}", name(&hold.procedure)));
        let calls = application.calls(step, rows, 3);
        let settles = if step.settles { ", settles" } else { "" };
        lines.push(format!(
            "step {} {:?} {:?}: {clients}{apart}{background}, calls {calls:?}{hold}{settles}",
            step.name, step.role, step.unit
        ));
    }
    lines.push(format!("order {}", application.order.join(" ")));
    lines.join("\n")
}

#[test]
fn shipped_applications_match_their_snapshots() {
    for (name, text) in SHIPPED {
        // A warehouse is a hundred thousand rows.
        let rows = if name == "tproc-c" { 200_000 } else { 30_000 };
        let loaded = loaded(name, text, rows).expect("a right application");
        assert_eq!(loaded.application.name, name);
        assert!(loaded.published_by.is_some_and(|source| source.len() > 10));
        insta::assert_snapshot!(name, summary(&loaded.application, rows));
    }
}

#[test]
fn a_small_application_is_read() {
    let small = loaded("small", SMALL, 1000).expect("a right application");
    insta::assert_snapshot!(summary(&small.application, 1000));
    assert_eq!(small.needs["pay"], ["fill"]);
}

/// Returns the error of the small application in which `old` is replaced by `new`: line, text,
/// message and remedy.
fn refused(old: &str, new: &str) -> String {
    assert_eq!(SMALL.matches(old).count(), 1, "{old}");
    let text = SMALL.replacen(old, new, 1);
    let error = match loaded("small", &text, 1000) {
        Ok(_) => panic!("{new} is not rejected"),
        Err(error) => error,
    };
    let label = error.labels().and_then(|mut labels| labels.next());
    let place = label.map_or_else(
        || "nowhere".to_owned(),
        |label| {
            let place = &text[label.offset()..label.offset() + label.len()];
            let line = text[..label.offset()].matches('\n').count() + 1;
            format!("line {line} `{}`", place.lines().next().unwrap_or(""))
        },
    );
    let help = error.help().map_or(String::new(), |help| format!("\n    help: {help}"));
    format!("{place}: {error}{help}")
}

/// Errors: texts of the small application, and their replacements.
const WRONG: &[(&str, &[(&str, &str)])] = &[
    (
        "names",
        &[
            ("row_bytes = 20", "row_byte = 20"),
            ("copies = 2", "copys = 2"),
            ("returns = 3", "return = 3"),
            ("unit = \"row\"", "units = \"row\""),
            ("rows_per_s = 10", "rows_s = 10"),
            ("create.mysql", "create.mysq"),
            ("payload =", "payloads ="),
            ("(:few)", "(:fee)"),
            ("row = \"(:account", "row = \"(:acount"),
            ("{batch * 10}", "{batsh * 10}"),
            ("rows = \"batch\"", "rows = \"batches\""),
            ("clients = [\"open\"]", "clients = [\"opn\"]"),
            ("{ find = 3, move = 1 }", "{ finds = 3, move = 1 }"),
            ("order = [\"fill\", \"pay\"]", "order = [\"fill\", \"play\"]"),
            ("needs = [\"fill\"]", "needs = [\"file\"]"),
            ("kind = \"multi_get\"", "table = \"acount\"\nkind = \"multi_get\""),
            ("kind = \"multi_get\"", "kind = \"multiget\""),
            ("plus = \"account\"", "plus = \"acount\""),
            ("role = \"read-write\"", "role = \"readwrite\""),
            ("unit = \"row\"", "unit = \"rows\""),
            ("draw = \"id\"", "draw = \"ids\""),
            ("returns = 3", "extends = \"fund\""),
            ("returns = 3", "extends = \"find\""),
            ("name = \"account\"", "name = \"Account\""),
            ("name = \"account\"", "name = \"account1\""),
            ("[procedure.find]", "[procedure.\"fi nd\"]"),
            ("[procedure.find]", "[procedure.once]"),
            ("batch = 2", "table = 2"),
            ("name = \"fill\"", "name = \"f ill\""),
            ("name = \"pay\"", "name = \"fill\""),
        ],
    ),
    (
        "values",
        &[
            ("code = {", "spare = \"number\"\ncode = {"),
            ("[1, \"loaded\"]", "[5, 4]"),
            ("[1, \"loaded\"]", "[1]"),
            ("[1, \"loaded\"]", "[1, \"loaded / 0\"]"),
            ("zipf:0.5", "zipff:0.5"),
            ("real = 100", "real = -1"),
            ("plus = \"account\"", "plus = \"code\""),
            ("plus = \"account\"", "plus = \"note\""),
            ("payload = [3, 9]", "payload = [9, 3]"),
            ("random = 0.5", "random = 1.5"),
            ("random = 0.5", "scale = 1.5"),
            ("\"A-##\"", "\"A-1\""),
            ("moment = 10", "moment = 0"),
            ("moment = 10, once", "moment = 10, real = 2, once"),
            ("moment = 10, once = true", "once = true"),
            ("count = 3", "count = 0"),
            ("count = 3", "count = 70000"),
            ("count = 3", "apart = 3"),
            ("id = \"id\"\n", "\n"),
            ("batch = 2", "batch = \"two\""),
        ],
    ),
    (
        "sql",
        &[
            ("':no'", "':no"),
            ("LIMIT {batch * 10}", "LIMIT {batch * 10"),
            ("LIMIT {batch * 10}", "LIMIT ?"),
            ("LIMIT {batch * 10}", "LIMIT $1"),
            ("LIMIT {batch * 10}", "; SELECT 2"),
            ("\"SELECT 1\"", "\" \""),
            ("VALUES {rows}", "VALUES (1)"),
            ("row = \"(:account, :amount, :note, :when)\"", ""),
            ("rows = \"batch\"", ""),
            ("rows = \"batch\"", "rows = 0"),
            ("rows = \"batch\"", "rows = 40000"),
            (":note, :when)", ":few, :when)"),
            ("\"SELECT 1\"", "\"SELECT :account\""),
            ("\"SELECT 1\"", "\"SELECT {rows}\""),
            ("times = 2", "times = 0"),
            ("times = 2", "times = 70000"),
            ("id SERIAL, a INT, b REAL, c TEXT, d DATETIME)", "{rows}"),
            ("id SERIAL, a INT, b REAL, c TEXT, d DATETIME)", ":note"),
            (
                "sql = \"SELECT a::int, ':no' FROM {table} WHERE id IN (:few) LIMIT {batch * 10}\"",
                "",
            ),
            (
                "sql = \"SELECT a::int, ':no' FROM {table} WHERE id IN (:few) LIMIT {batch * 10}\"",
                "sql = []",
            ),
            (
                "sql = \"SELECT a::int, ':no' FROM {table} WHERE id IN (:few) LIMIT {batch * 10}\"",
                "sql = {}",
            ),
            ("returns = 3", "returns = -3"),
            ("kind = \"multi_get\"\n", "\n"),
        ],
    ),
    (
        "steps",
        &[
            ("{ find = 3, move = 1 }", "{ find = 0, move = 1 }"),
            ("{ find = 3, move = 1 }", "{}"),
            ("clients = [\"open\"]", "clients = []"),
            ("clients = [\"open\"]", "clients = { once = [\"open\"] }"),
            ("clients = [\"open\"]", "clients = \"open\""),
            ("clients = [\"open\"]", "clients = [\"find\"]"),
            ("rows = \"100%\"\n", "\n"),
            ("rows = \"100%\"", "rows = \"100% of batsh\""),
            ("rows = \"100%\"", "rows = \"100% off\""),
            ("rows = \"100%\"", "rows = \"100% +\""),
            ("rows = \"100%\"", "rows = \"200%\""),
            ("rows = \"100%\"", "rows = 0"),
            ("role = \"load\"", "role = \"write\""),
            ("role = \"load\"", "role = \"maintain\""),
            ("role = \"read-write\"", "role = \"read\""),
            ("clients = { find = 3, move = 1 }\n", "\n"),
            ("procedures = [\"open\"]", "procedures = [\"find\"]"),
            ("procedures = [\"open\"]", "procedures = { once = [\"open\"] }"),
            ("rows_per_s = 10", "rows_per_s = 0"),
            ("needs = [\"fill\"]", "unit = \"all rows\""),
            ("unit = \"row\"", "needs = [\"pay\"]"),
            ("order = [\"fill\", \"pay\"]", "order = []"),
            ("copies = 2", "copies = 0"),
            ("copies = 2", "copies = 5000"),
            ("copies = 2", "copies = \"per table\""),
        ],
    ),
];

#[test]
fn every_error_is_reported_with_its_place_and_remedy() {
    for (what, wrong) in WRONG.iter().chain(parameters::WRONG) {
        let lines = wrong.iter().map(|(old, new)| {
            let new_line = new.replace('\n', " | ");
            format!("{old} -> {new_line}\n    {}", refused(old, new))
        });
        let lines: Vec<_> = lines.collect();
        insta::assert_snapshot!(format!("refused_{what}"), lines.join("\n"));
    }
}

#[test]
fn a_procedure_with_two_tables_must_name_one() {
    let two = SMALL.replacen(
        "[[table]]",
        "[[table]]\nname = \"other\"\ncreate = \"CREATE ...\"\n\n[[table]]",
        1,
    );
    let error = loaded("small", &two, 1000).unwrap_err();
    assert_eq!(error.to_string(), "procedure open names no table");
}

#[test]
fn an_application_is_found_by_name_and_a_typo_gets_a_suggestion() {
    let known = TestCatalog::default();
    let sysbench = describe("sysbench", &known).unwrap();
    assert_eq!(sysbench.parameters[0], ("tables".to_owned(), "1".to_owned()));
    assert!(sysbench.published_by.is_some() && sysbench.application.steps.len() > 20);
    let slip = describe("sysbenhc", &known).unwrap_err();
    assert_eq!(slip.to_string(), "no application is named `sysbenhc`");
    let lost = describe("lost.toml", &known).unwrap_err();
    assert_eq!(lost.to_string(), "cannot read the application lost.toml: no such file");
}
