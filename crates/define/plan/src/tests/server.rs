//! Tests of experiments on SQL servers.

use application::testing::SHIPPED;
use miette::Diagnostic as _;
use model::{Address, Experiment, Load, Nanos, OpUnit, Password, Placement, StopRule};
use reader::error::PlanError;

use crate::checked::Checked;
use crate::experiment::load;
use crate::overrides::{Overrides, QuickVariants};
use crate::quick::quick;
use crate::tests::sample::{MACHINE, TestCatalog};

const FILE: &str = r#"
[experiment]
name = "servers"
question = "?"

[benchmark]
workload = "ibench-2023"
steps = ["l.i0", "l.x", "l.i1", "q100"]
rows = "1M"
duration = "10s"

[factors]
clients = [2]

[[variant]]
name = "a"
engine = "pg@15.10"
"#;

fn checked_with(replaced: &[(&str, &str)], known: &TestCatalog) -> Result<Checked, PlanError> {
    let text = replaced.iter().fold(FILE.to_owned(), |text, (old, new)| {
        assert_eq!(text.matches(old).count(), 1, "{old}");
        text.replacen(old, new, 1)
    });
    load("here/servers.toml", &text, &Overrides::default(), known, MACHINE)
}

fn experiment(replaced: &[(&str, &str)]) -> Experiment {
    checked_with(replaced, &TestCatalog::default()).expect("a right experiment").experiment
}

/// Returns message with remedy, and the full report.
fn refused(replaced: &[(&str, &str)]) -> (String, String) {
    let error = checked_with(replaced, &TestCatalog::default()).unwrap_err();
    let help = error.help().map_or(String::new(), |help| format!(" | {help}"));
    (format!("{error}{help}"), format!("{:?}", miette::Report::new(error)))
}

fn message(old: &str, new: &str) -> String {
    refused(&[(old, new)]).0
}

#[test]
fn an_applications_steps_end_by_rows_or_by_duration() {
    let experiment_ = experiment(&[]);
    assert_eq!(
        (experiment_.data.rows, experiment_.data.row_bytes(), experiment_.workload.as_deref()),
        (1_000_000, 45, None)
    );
    let steps = experiment_.steps_for(2);
    let stops: Vec<_> = steps.iter().map(|step| (step.clients, step.stop, step.unit)).collect();
    assert_eq!(
        stops,
        [
            (2, StopRule::Operations(10_000), OpUnit::Row),
            (2, StopRule::Operations(3), OpUnit::Rows(1_000_100)),
            (2, StopRule::Operations(20_000), OpUnit::Row),
            (2, StopRule::Duration(Nanos::from_secs(10)), OpUnit::Operation),
        ]
    );
    assert_eq!(steps[3].warmup, Nanos::from_secs(1));
    // A minute, and a second for each million rows; twenty minutes at most.
    assert_eq!(steps[0].settle_cap, Nanos::from_secs(61));
    let many = experiment(&[("\"1M\"", "\"2B\"")]);
    assert_eq!(many.steps[0].settle_cap, Nanos::from_secs(1200));
}

#[test]
fn steps_of_a_file_are_preceded_by_those_they_need() {
    let written = "steps = [\"l.i0\", \"l.x\", \"l.i1\", \"q100\"]";
    let names = |steps: &str| {
        let steps = experiment(&[(written, steps)]).steps;
        steps.into_iter().map(|step| step.name).collect::<Vec<_>>()
    };
    let own = "steps = [{ step = \"q100\", duration = \"3s\" }, \"q500\"]";
    assert_eq!(names(own), ["l.i0", "l.x", "q100", "q500"]);
    assert_eq!(names("steps = [\"l.i0\", \"q100\"]"), ["l.i0", "l.x", "q100"]);
}

#[test]
fn rows_too_few_for_an_application_are_refused_with_the_fewest_it_takes() {
    let few = [("\"ibench-2023\"", "\"tproc-c\""), ("\"1M\"", "\"20k\"")];
    let steps = ("steps = [\"l.i0\", \"l.x\", \"l.i1\", \"q100\"]", "steps = [\"mix\"]");
    let (message, report) = refused(&[few[0], few[1], steps]);
    assert_eq!(
        message,
        "20000 rows are too few for tproc-c | set `rows` to 100000 or more (--rows 100000)"
    );
    assert!(report.contains("servers.toml") && report.contains("\"20k\""), "{report}");
}

#[test]
fn without_steps_the_applications_order_is_run() {
    let experiment_ = experiment(&[("steps = [\"l.i0\", \"l.x\", \"l.i1\", \"q100\"]\n", "")]);
    let names: Vec<_> = experiment_.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names, ["l.i0", "l.x", "l.i1", "q100", "q500", "q1000"]);
}

#[test]
fn parameters_of_the_application_are_set_by_the_experiment() {
    let set = |replaced: &str| {
        let replaced = format!("\"1M\"\n[benchmark.parameters]\n{replaced}\n[benchmark.x]\n");
        let text = FILE.replacen("duration = \"10s\"\n", "", 1).replacen("\"1M\"\n", &replaced, 1);
        let text = text.replacen("[benchmark.x]\n", "", 1);
        load("s.toml", &text, &Overrides::default(), &TestCatalog::default(), MACHINE)
    };
    let calls = |replaced: &str| set(replaced).expect("right").experiment.steps_for(2)[2].stop;
    assert_eq!(calls("inserts = \"10%\""), StopRule::Operations(2_000));
    assert_eq!(calls("inserts = 500"), StopRule::Operations(10));
    let error = set("insert = 500").unwrap_err();
    assert_eq!(error.to_string(), "the application has no parameter `insert`");
    let error = set("inserts = \"lots\"").unwrap_err();
    assert!(error.to_string().starts_with("no parameter is named `lots`"), "{error}");
    let typed = Overrides { parameters: vec!["inserts=20%".to_owned()], ..Overrides::default() };
    let found = load("s.toml", FILE, &typed, &TestCatalog::default(), MACHINE).expect("right");
    assert_eq!(found.experiment.steps_for(2)[2].stop, StopRule::Operations(4_000));
}

#[test]
fn parameters_of_a_size_replace_the_files() {
    let file = FILE.replacen(
        "[factors]",
        "parameters = { inserts = \"10%\", tables = 1 }\n[size.big]\nparameters = { inserts = \
         \"40%\" }\n[factors]",
        1,
    );
    let calls = |size: Option<&str>| {
        let of = Overrides { size: size.map(str::to_owned), ..Overrides::default() };
        let found = load("s.toml", &file, &of, &TestCatalog::default(), MACHINE).expect("right");
        found.experiment.steps_for(2)[2].stop
    };
    assert_eq!(calls(None), StopRule::Operations(2_000));
    assert_eq!(calls(Some("big")), StopRule::Operations(8_000));
}

#[test]
fn loads_and_maintenance_work_with_an_applications_steps() {
    let experiment_ = experiment(&[(
        "\"l.i1\", \"q100\"",
        "\"l.i1\", \"settle\", { step = \"q100\", load = { rate = \"5k/s\" } }, { step = \
        \"q500\", load = { sla = \"p99 < 2ms\" } }",
    )]);
    assert!(
        matches!(experiment_.steps[4].load, Load::Open(_)) && experiment_.steps[3].name == "settle"
    );
    assert!(matches!(experiment_.steps[5].load, Load::FindRate(_)));
}

#[test]
fn transactions_are_never_pipelined() {
    let experiment_ = |step: &str| {
        let steps =
            format!("[\"load\", \"index\", {{ step = \"{step}\", load = {{ pipeline = 4 }} }}]");
        let replaced = [
            ("\"ibench-2023\"", "\"sysbench\""),
            ("[\"l.i0\", \"l.x\", \"l.i1\", \"q100\"]", steps.as_str()),
        ];
        checked_with(&replaced, &TestCatalog::default())
    };
    let experiment = experiment_("point-query").expect("one statement").experiment;
    assert_eq!(experiment.steps[2].load, Load::Pipelined(4));
    assert_eq!(
        experiment_("read-only").unwrap_err().to_string(),
        "step read-only: a client can have only one call in flight: procedure `read_only` is a \
         transaction"
    );
    assert_eq!(
        message("\"l.x\"", "{ step = \"l.x\", load = { pipeline = 4 } }"),
        "step l.x: a client can have only one call in flight: the step does everything once | set \
         a load in the step, such as load = \"closed\""
    );
}

#[test]
fn a_users_application_is_read_relative_to_the_experiment() {
    let own = SHIPPED[0].1.replacen("name      = \"ibench-2023\"", "name = \"mine\"", 1);
    let known = TestCatalog {
        applications: vec![
            ("here/mine.toml", own.clone()),
            ("here/odd.toml", own.replace("[[step]]", "[[steps]]")),
        ],
        ..TestCatalog::default()
    };
    let found = checked_with(&[("\"ibench-2023\"", "\"./mine.toml\"")], &known).expect("right");
    assert_eq!(found.experiment.application.expect("an application").name, "mine");
    let error = checked_with(&[("\"ibench-2023\"", "\"odd.toml\"")], &known).unwrap_err();
    assert_eq!(error.to_string(), "unknown key `steps` in the application");
    assert!(format!("{:?}", miette::Report::new(error)).contains("here/odd.toml"));
    assert_eq!(
        message("\"ibench-2023\"", "\"none.toml\""),
        "cannot read the application here/none.toml: no such file | give a path relative to the \
         experiment file or, on the command line, to the current directory"
    );
}

#[test]
fn steps_that_an_application_lacks_are_rejected() {
    let first = "[\"l.i0\", \"l.x\", \"l.i1\", \"q100\"]";
    insta::assert_snapshot!(
        [
            message("\"ibench-2023\"", "\"ibench2023\""),
            message("\"ibench-2023\"", "\"tpcc\""),
            message(first, "[\"l.x\", \"l.i0\"]"),
            message(first, "[\"l.i0\", \"q100\", \"l.x\"]"),
            message(first, "[\"l.i0\", \"l.x\", \"l.i0\"]"),
            message(first, "[\"l.i0\", \"readrandom\"]"),
            message(first, "[\"fillseq\"]"),
            message(first, "[\"l.i0\", \"lx\"]"),
            message(first, "[]"),
            message(first, "[\"l.i0\", { step = \"l.x\", operations = 5 }]"),
            message(first, "[\"l.i0\", { step = \"l.x\", duration = \"5s\" }]"),
            message(first, "[\"l.i0\", { step = \"l.x\", load = { rate = \"5/s\" } }]"),
            message(first, "[\"l.i0\", { step = \"l.x\", clients = 1 }]"),
            message(first, "[{ step = \"l.i0\", distribution = \"uniform\" }]"),
            message("clients = [2]", "clients = \"adaptive\""),
            message("rows = \"1M\"", "rows = \"1M\"\nkey_bytes = 8"),
            message("rows = \"1M\"", "rows = \"1M\"\nwriter_rate = \"1MiB/s\""),
            message("rows = \"1M\"\n", "\n"),
            message("rows = \"1M\"", "rows = 0"),
            message("\"pg@15.10\"", "\"tree\""),
            message("workload = \"ibench-2023\"", "parameters = { a = 1 }"),
        ]
        .join("\n")
    );
}

#[test]
fn sql_in_one_dialect_is_for_its_servers_only() {
    let one = SHIPPED[2].1.replacen(
        "sql  = \"DELETE FROM {table} WHERE id = :id\"",
        "sql.mysql = \"DELETE FROM {table} WHERE id = :id\"",
        1,
    );
    let known =
        TestCatalog { applications: vec![("here/one.toml", one)], ..TestCatalog::default() };
    let replaced = [
        ("\"ibench-2023\"", "\"one.toml\""),
        ("[\"l.i0\", \"l.x\", \"l.i1\", \"q100\"]", "[\"load\"]"),
    ];
    let error = checked_with(&replaced, &known).unwrap_err();
    assert_eq!(error.to_string(), "sysbench lacks `delete` in the SQL of pg");
    let on_mysql = [replaced[0], replaced[1], ("\"pg@15.10\"", "\"my@8\"")];
    assert!(checked_with(&on_mysql, &known).is_ok());
}

#[test]
fn typed_steps_follow_those_they_need() {
    let overrides = Overrides::default().with("rows", "1k").with("workload", "ibench-current");
    let variants = QuickVariants { engines: vec!["pg@15".to_owned()], ..QuickVariants::default() };
    let steps = |typed: &[&str]| -> Result<Vec<String>, PlanError> {
        let typed: Vec<_> = typed.iter().map(|step| (*step).to_owned()).collect();
        let known = TestCatalog::default();
        let found = quick(&typed, &variants, &overrides, &known, MACHINE)?;
        Ok(found.experiment.steps.into_iter().map(|step| step.name).collect())
    };
    assert_eq!(steps(&["qr100"]).unwrap(), ["l.i0", "l.x", "qr100"]);
    assert_eq!(
        steps(&["l.i1", "settle", "qp100"]).unwrap(),
        ["l.i0", "l.x", "l.i1", "settle", "qp100"]
    );
    assert_eq!(steps(&["q100"]).unwrap_err().to_string(), "unknown step `q100`");
}

/// The variant of the sample at an address.
fn at(dsn: &str) -> [(&'static str, String); 1] {
    [("\"pg@15.10\"", format!("\"pg\"\ndsn = \"{dsn}\""))]
}

fn reached(dsn: &str) -> model::Dsn {
    let replaced = at(dsn);
    let experiment_ = experiment(&[(replaced[0].0, &replaced[0].1)]);
    experiment_.variants[0].dsn.clone().expect("an address")
}

#[test]
fn a_running_server_is_named_by_its_address() {
    let dsn = reached("postgres://me:hush@db:5433/x");
    assert_eq!(dsn.address, Address::tcp("db", 5433));
    assert_eq!(dsn.password, Some(Password("hush".to_owned())));
    assert_eq!(
        reached("postgres://me:${ASSAY_PASSWORD_A}@db/x").password_from,
        Some("ASSAY_PASSWORD_A".to_owned())
    );
}

#[test]
fn no_error_shows_a_password() {
    let wrong = [
        at("postgres://me:hush@db"),
        at("postgres://me:hu#sh@db/x"),
        at("postgres://me:hush@db/x?sslmode=verify"),
        at("mysql://me:hush@db/x"),
        at("oracle://me:hush@db/x"),
        at("postgres://me:hush@db/x\"\ncache = \"1GiB"),
        at("postgres://me:hush@db/x\"\ncash = \"1GiB"),
        [("\"pg@15.10\"", "\"postgres://me:hush@db/x\"".to_owned())],
        [("\"pg@15.10\"", "\"pg@15.10\"\nprofile = \"postgres://me:hush@db/x\"".to_owned())],
        [("\"pg@15.10\"", "\"pg@15.10\"\ndsn = 'postgres://me:hush@db/x".to_owned())],
    ];
    for replaced in wrong {
        let (_, shown) = refused(&[(replaced[0].0, &replaced[0].1)]);
        assert!(!shown.contains("hush") && !shown.contains("hu#sh"), "{shown}");
        assert!(shown.contains("***"), "{shown}");
    }
}

#[test]
fn settings_of_a_running_server_are_rejected() {
    let with = |replaced: &str| {
        let new = format!("\"pg\"\ndsn = \"postgres://me@db/x\"\n{replaced}");
        message("\"pg@15.10\"", &new)
    };
    let shared = |replaced: &str| {
        let variant = at("postgres://me@db/x");
        refused(&[("rows = \"1M\"", replaced), (variant[0].0, &variant[0].1)]).0
    };
    insta::assert_snapshot!(
        [
            with("cache = \"1GiB\""),
            with("profile = \"p\""),
            shared("rows = \"1M\"\nprofile = true"),
            with("[variant.options]\nshared_buffers = \"1GB\""),
            shared("rows = \"1M\"\nmemory = \"1GiB\""),
            shared("rows = \"1M\"\nplacement = \"same-cpu\""),
            message("\"pg@15.10\"", "\"pg@15.10\"\ndsn = \"postgres://me@db/x\""),
            message("\"pg@15.10\"", "\"my\"\ndsn = \"postgres://me@db/x\""),
            message("\"pg@15.10\"", "\"pg\""),
            refused(&[
                ("workload = \"ibench-2023\"\n", ""),
                ("[\"l.i0\", \"l.x\", \"l.i1\", \"q100\"]", "[\"fillseq\"]"),
                ("\"pg@15.10\"", "\"tree\"\ndsn = \"postgres://me@db/x\"")
            ])
            .0,
        ]
        .join("\n")
    );
    let unprofiled = at("postgres://me@db/x");
    let file =
        [("rows = \"1M\"", "rows = \"1M\"\nprofile = false"), (unprofiled[0].0, &unprofiled[0].1)];
    assert!(!experiment(&file).is_profiled);
    let new = "\"pg\"\ndsn = \"postgres://me@db/x\"\ndurability = \
    \"sync\"\n[variant.options]\n\"assay.protocol\" = \"text\"";
    let experiment_ = experiment(&[("\"pg@15.10\"", new)]);
    assert_eq!(experiment_.variants[0].options.get("assay.protocol"), Some("text"));
}

#[test]
fn placement_needs_servers_that_assay_starts() {
    let experiment_ = experiment(&[("rows = \"1M\"", "rows = \"1M\"\nplacement = \"same-cpu\"")]);
    assert_eq!(experiment_.placement, Placement::SameCpu);
    assert_eq!(
        message("rows = \"1M\"", "rows = \"1M\"\nplacement = \"same\""),
        "unknown placement `same` | CPUs of the client and its server: free, same-cpu or split"
    );
    let inside = [
        ("workload = \"ibench-2023\"\n", "placement = \"split\"\n"),
        ("[\"l.i0\", \"l.x\", \"l.i1\", \"q100\"]", "[\"fillseq\"]"),
        ("\"pg@15.10\"", "\"tree\""),
    ];
    assert_eq!(
        refused(&inside).0,
        "placement \"split\" needs a client and a server that Assay starts; variant a: tree is \
        embedded in the client | leave out `placement`, or the variant"
    );
    let keys = [inside[0], inside[1]];
    assert_eq!(experiment(&keys).placement, Placement::Split, "servers do keys and values too");
}
