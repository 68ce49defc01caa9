//! Tests of parameters, and of sessions beyond one per client.

use model::Application;
use model::sql::{Copies, Statement};

use super::small::SMALL;
use super::summary::statement_text;
use crate::testing::{SHIPPED, described};

/// Errors: texts of the small application, and their replacements.
pub(super) const WRONG: &[(&str, &[(&str, &str)])] = &[
    (
        "sessions",
        &[
            ("rows_per_s = 10", "rows_per_s = 10, connections = \"two\""),
            ("rows_per_s = 10", "rows_per_s = 10, connections = \"own\""),
            ("needs = [\"fill\"]", "connections = \"own\""),
            ("needs = [\"fill\"]", "hold = { procedure = \"fund\", seconds = 9 }"),
            ("needs = [\"fill\"]", "hold = { procedure = \"open\", seconds = 9 }"),
            ("needs = [\"fill\"]", "hold = { procedure = \"move\", seconds = 9 }"),
            ("needs = [\"fill\"]", "hold = { procedure = \"find\" }"),
            ("needs = [\"fill\"]", "hold = { procedure = \"find\", seconds = -1 }"),
            ("needs = [\"fill\"]", "hold = { procedure = \"find\", seconds = 90000 }"),
            ("needs = [\"fill\"]", "hold = { procedure = \"find\", for = 9 }"),
            ("clients = { find = 3, move = 1 }", "clients = { once = [\"open\"], frist = [] }"),
        ],
    ),
    (
        "variants_of_sql",
        &[
            ("returns = 3", "protocol = \"binary\""),
            ("returns = 3", "protocol.oracle = \"text\""),
            ("times = 2, sql", "when = \"speed > 1\", sql"),
            ("times = 2, sql", "when = \"batch > 1\", times = 0, sql"),
            ("\"SELECT 1\"]", "\"SELECT 1\", \"SELECT {nth > }\"]"),
            (
                "create.mysql = [\"CREATE TABLE {table} (id SERIAL, a INT, b REAL, c TEXT, d DATETIME)\"]",
                "create.mysql = [{ when = \"batch > 2\", sql = \"CREATE TABLE {table} (id SERIAL)\" }]",
            ),
            (
                "create.mysql = [\"CREATE TABLE {table} (id SERIAL, a INT, b REAL, c TEXT, d DATETIME)\"]",
                "create.myrocks = \"CREATE TABLE {table} (id SERIAL)\"",
            ),
            ("copies = 2", "copies = \"batch - 2\""),
            ("batch = 2", "batch = \"batch * 2\""),
            ("batch = 2", "nth = 2"),
        ],
    ),
];

/// Returns the small application's steps after a replacement, and their order.
fn steps_after(old: &str, new: &str) -> (Vec<String>, Vec<String>) {
    assert_eq!(SMALL.matches(old).count(), 1, "{old}");
    let small = described(&SMALL.replacen(old, new, 1), 1000, 1, &[]).expect("it is right");
    let names = small.application.steps.iter().map(|step| step.name.clone()).collect();
    (names, small.application.order)
}

#[test]
fn a_step_without_calls_is_left_out() {
    let mix = "clients = { find = 3, move = 1 }";
    let both = ["fill", "pay"].map(str::to_owned).to_vec();
    let one = "clients = { find = \"batch > 1\", move = \"batch > 2\" }";
    assert_eq!(steps_after(mix, one), (both.clone(), both));
    let none = "clients = { find = \"batch > 2\", move = \"batch > 3\" }";
    let fill = vec!["fill".to_owned()];
    assert_eq!(steps_after(mix, none), (fill.clone(), fill));
}

/// Goal: a shipped application has a valid form for every value of its parameters. Method: the SQL
/// of each, by what must be in it.
#[test]
fn insert_benchmark_has_indexes_tables_and_partitions_as_requested() {
    let shipped = SHIPPED.into_iter().filter(|(name, _)| name.starts_with("ibench"));
    assert_eq!(shipped.clone().count(), 2);
    for (name, text) in shipped {
        let of = |set: &[(&str, &str)]| {
            described(text, 8_000, 4, set).map(|described| described.application)
        };
        let indexes = |application: &Application| {
            let one = application.procedures.iter().find(|it| it.name == "indexes").unwrap();
            let text = |all: &[Statement]| -> String { all.iter().map(statement_text).collect() };
            let [postgres, mysql] =
                [&one.statements.postgres, &one.statements.mysql].map(|it| text(it));
            let myrocks = text(&one.myrocks);
            [(&postgres, "CREATE INDEX"), (&mysql, "ADD INDEX"), (&myrocks, "ALTER TABLE")]
                .map(|(text, word)| text.matches(word).count())
        };
        for count in 0..=3 {
            let application = of(&[("indexes", &count.to_string())]).unwrap();
            assert_eq!(indexes(&application), [count; 3], "{name}");
            let step = application.steps.iter().find(|step| step.name.ends_with("100"));
            let queries =
                step.and_then(|step| step.clients.as_ref()).map(|mix| mix.weights().len());
            let is_left_out = name.ends_with("2023") && count == 0;
            assert!(is_left_out || queries.is_some_and(|it| it == count || count == 0), "{name}");
        }
        assert!(of(&[("indexes", "4")]).is_err());
        let create = |set: &[(&str, &str)]| {
            let table = of(set).unwrap().tables.remove(0);
            (table.copies, table.create.postgres.len(), table.create.mysql.len(), table)
        };
        let (copies, postgres, mysql, _) = create(&[]);
        assert_eq!((copies, postgres, mysql), (Copies::PerClient, 2, 1));
        let (copies, postgres, mysql, table) = create(&[("tables", "1"), ("partitions", "4")]);
        assert_eq!((copies, postgres, mysql), (Copies::Fixed(1), 6, 5));
        // 8,000 rows loaded and as many inserted.
        let text = statement_text(&table.create.postgres[2]);
        assert!(
            text.contains("<table>_p2 PARTITION OF <table> FOR VALUES FROM (4000) TO (8000)"),
            "{text}"
        );
        let text = statement_text(&table.create.mysql[2]);
        assert!(text.contains("PARTITION p2 VALUES LESS THAN (8000)"), "{text}");
        let (.., table) = create(&[("partitions", "2")]);
        let text = statement_text(&table.create.mysql[1]);
        assert!(text.contains("LESS THAN (2000)"), "four clients: {text}");
        let held = of(&[("hold_seconds", "60")]).unwrap();
        let step = held.steps.iter().find(|step| step.name.ends_with("100")).unwrap();
        assert_eq!(step.hold.map(|hold| hold.time_ns), Some(model::Nanos::from_secs(60)));
    }
}
