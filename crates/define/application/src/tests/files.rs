//! Application files: shipped ones, and every error.

use miette::Diagnostic as _;

use super::super::read::describe;
use super::parameters;
use super::small::SMALL;
use super::summary::summary;
use crate::testing::{SHIPPED, Shipped, described};

#[test]
fn shipped_applications_match_their_snapshots() {
    for (name, text) in SHIPPED {
        // A warehouse is a hundred thousand rows.
        let rows = if name == "tproc-c" { 200_000 } else { 30_000 };
        let loaded = described(text, rows, 1, &[]).expect("a right application");
        assert_eq!(loaded.application.name, name);
        assert!(loaded.published_by.is_some_and(|source| source.len() > 10));
        insta::assert_snapshot!(name, summary(&loaded.application, rows));
    }
}

#[test]
fn a_small_application_is_read() {
    let small = described(SMALL, 1000, 1, &[]).expect("a right application");
    insta::assert_snapshot!(summary(&small.application, 1000));
    assert_eq!(small.needs["pay"], ["fill"]);
}

/// Returns the error of the small application in which `old` is replaced by `new`: line, text,
/// message and remedy.
fn refused(old: &str, new: &str) -> String {
    assert_eq!(SMALL.matches(old).count(), 1, "{old}");
    let text = SMALL.replacen(old, new, 1);
    let error = match described(&text, 1000, 1, &[]) {
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

/// Goal: a small file takes little memory and time, whatever it multiplies.
#[test]
fn what_a_file_multiplies_is_limited_before_it_is_made() {
    let many = SMALL.replacen("count = 3", "count = 60000", 1);
    let many = many.replacen("(:few)", &format!("({})", [":few"; 2_000].join(", ")), 1);
    let error = described(&many, 100, 1, &[]).unwrap_err().to_string();
    assert!(error.contains("120000000 values are more than one statement may have"), "{error}");
    let values: String = (0..2_000).map(|at| format!("v{at} = \"id\"\n")).collect();
    let long = SMALL.replacen("[values]\n", &format!("[values]\n{values}"), 1);
    let error = described(&long, 100, 1, &[]).unwrap_err().to_string();
    assert!(error.contains("entries, and at most 1000 are read"), "{error}");
}

#[test]
fn a_procedure_with_two_tables_must_name_one() {
    let two = SMALL.replacen(
        "[[table]]",
        "[[table]]\nname = \"other\"\ncreate = \"CREATE ...\"\n\n[[table]]",
        1,
    );
    let error = described(&two, 1000, 1, &[]).unwrap_err();
    assert_eq!(error.to_string(), "procedure open names no table");
}

#[test]
fn an_application_is_found_by_name_and_a_typo_gets_a_suggestion() {
    let known = Shipped;
    let sysbench = describe("sysbench", &known).unwrap();
    assert_eq!(sysbench.parameters[0], ("tables".to_owned(), "1".to_owned()));
    assert!(sysbench.published_by.is_some() && sysbench.application.steps.len() > 20);
    let slip = describe("sysbenhc", &known).unwrap_err();
    assert_eq!(slip.to_string(), "no application is named `sysbenhc`");
    let lost = describe("lost.toml", &known).unwrap_err();
    assert_eq!(lost.to_string(), "cannot read the application lost.toml: no such file");
}
