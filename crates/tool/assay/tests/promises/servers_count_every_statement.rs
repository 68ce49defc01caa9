//! Every statement of an application has the server's totals, whose calls are the clients'.
//!
//! `ASSAY_CAMPAIGN=long` runs both workloads on each server; a test alone runs each on two.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use engine::{ApplicationSetup, Engine, OpenSpec};
use model::sql::{Check, Copies, Part, PerDialect, Statement, Table};
use model::{Application, DataShape, Dialect, Endpoint, Options, RunRecord, Settings, StepRecord};
use server::testing::started;

use crate::applications_on_servers::order_workload_keeps_its_conditions::{
    EXPERIMENT, PREPARED, TEXT,
};
use crate::applications_on_servers::{run_at, variant_at};
use crate::scale::is_long;

/// The Insert Benchmark on two small tables.
const INSERTS: &str = r#"[experiment]
name = "inserts"
question = "Are all statements counted?"

[benchmark]
workload = "ibench-current"
steps = ["l.i0", "l.x", "l.i1", "qr1000", "qp1000"]
rows = "4k"
duration = "300ms"
warmup = "0s"
parameters = { inserts = "2k" }

[factors]
clients = [2]

[[variant]]
name = "own"
engine = "SERVER"

[[variant]]
name = "prepared"
engine = "SERVER"
options = { "assay.protocol" = "prepared" }

[[variant]]
name = "text"
engine = "SERVER"
options = { "assay.protocol" = "text" }
"#;

/// Statements of an application that are found in the server's statistics by hand: the procedure,
/// the statement's number, and a pattern that no other statement of the run has.
type Patterns = [(&'static str, u32, &'static str)];

/// Of ranges and deletes, whose limits are numbers in their text.
const OF_INSERTS: &Patterns = &[
    ("market", 1, "SELECT%productid%>=%ORDER BY%customerid%price%LIMIT%"),
    ("register", 1, "SELECT%cashregisterid%>%ORDER BY%customerid%price%LIMIT%"),
    ("pdc", 1, "SELECT%price%>=%ORDER BY%dateandtime%customerid%LIMIT%"),
    ("delete50", 1, "DELETE%transactionid%>=%ORDER BY%LIMIT%"),
    ("pk", 1, "SELECT%data%FROM%pi%transactionid%IN%"),
];
/// Of the mix: numbers behind keywords, and statements that are executed for each line.
const OF_ORDERS: &Patterns = &[
    ("new_order", 3, "UPDATE%district%d_next_o_id%=%"),
    ("new_order", 8, "UPDATE%stock%s_quantity%CASE WHEN%THEN%"),
    ("payment", 8, "SELECT CASE WHEN%c_credit%THEN%FOR UPDATE%"),
    ("order_status", 5, "SELECT%o_entry_d%ORDER BY%o_id%DESC LIMIT%"),
    ("delivery", 1, "SELECT%no_o_id%ORDER BY%no_o_id%LIMIT%FOR UPDATE%"),
    ("stock_level", 2, "SELECT COUNT%DISTINCT%s_i_id%"),
];

/// Servers of a test alone: each way to find a statement is tried, and each kind of server.
const OF_INSERTS_ON: [&str; 2] = ["postgres@12.20", "mysql@8.0.31"];
const OF_ORDERS_ON: [&str; 2] = ["postgres@15.10", "mariadb@10.11"];

/// A kind of server, and the programs that are tested.
struct Kind {
    dialect: Dialect,
    kind: &'static dyn server::Kind,
    driver: fn() -> Box<dyn engine::Driver>,
    builds: &'static [&'static str],
    option: (&'static str, &'static str),
    /// Calls of the statements that match a pattern.
    calls: &'static str,
    /// Largest percentage of calls that is not counted. MySQL and MariaDB add to a digest's totals
    /// without a lock. Source: MySQL's source, `aggregate_value` in `pfs_stat.h`.
    lost: u64,
}

const KINDS: [Kind; 2] = [
    Kind {
        dialect: Dialect::Postgres,
        kind: &driver_postgres::KIND,
        driver: driver_postgres::driver,
        builds: &["postgres@12.20", "postgres@15.10", "postgres@18.0"],
        option: ("shared_preload_libraries", "pg_stat_statements"),
        calls: "SELECT coalesce(sum(calls), 0) FROM pg_stat_statements WHERE query LIKE '",
        lost: 0,
    },
    Kind {
        dialect: Dialect::Mysql,
        kind: driver_mysql::KIND_MYSQL,
        driver: driver_mysql::driver,
        builds: &["mysql@8.0.31", "mariadb@10.11"],
        option: ("performance_schema", "ON"),
        calls: "SELECT coalesce(sum(count_star - sum_errors), 0) FROM \
                performance_schema.events_statements_summary_by_digest WHERE digest_text LIKE '",
        lost: 2,
    },
];

impl Kind {
    fn per_dialect<T: Default>(&self, value: T) -> PerDialect<T> {
        match self.dialect {
            Dialect::Postgres => PerDialect { postgres: value, ..PerDialect::default() },
            Dialect::Mysql => PerDialect { mysql: value, ..PerDialect::default() },
        }
    }

    /// Opens the server with a check for each pattern.
    fn open(&self, dir: &Path, endpoint: &Endpoint, patterns: &Patterns) -> Box<dyn Engine> {
        let statement =
            |text: String| Statement { parts: vec![Part::Text(text)], ..Statement::default() };
        let create = match self.dialect {
            Dialect::Postgres => vec!["CREATE EXTENSION IF NOT EXISTS pg_stat_statements"],
            Dialect::Mysql => vec![],
        };
        let create = create.into_iter().map(|sql| statement(sql.to_owned()));
        let [begin, end] = ["CREATE TABLE ", " (id INT)"].map(|text| Part::Text(text.to_owned()));
        let table = Statement { parts: vec![begin, Part::Table, end], ..Statement::default() };
        let table = Table {
            name: "reader".to_owned(),
            copies: Copies::Fixed(1),
            create: self.per_dialect(create.chain([table]).collect()),
            id: None,
        };
        let check = |(_, _, pattern): &(_, _, &str)| Check {
            name: (*pattern).to_owned(),
            table: 0,
            query: self.per_dialect(vec![statement(format!("{}{pattern}'", self.calls))]),
            expected: None,
        };
        let application = Application {
            about: "reads the server's statistics".to_owned(),
            row_bytes: 100,
            tables: vec![table],
            checks: patterns.iter().map(check).collect(),
            ..Application::new("reader")
        };
        let data = DataShape { rows: 1, key_bytes: 20, value_bytes: 100, compressible_to: 0.5 };
        let spec = OpenSpec {
            endpoint: Some(endpoint.clone()),
            application: Some(ApplicationSetup { application: Arc::new(application), clients: 1 }),
            ..OpenSpec::embedded(dir.to_owned(), Settings::default(), data)
        };
        (self.driver)().open(&spec).expect("the server is good")
    }

    /// Runs an experiment on servers, and compares what it recorded with the statistics.
    #[expect(clippy::print_stdout, reason = "a skipped test prints why")]
    fn check(&self, (name, experiment): (&str, &str), patterns: &Patterns, names: &[&str]) {
        let sample = if name == "inserts" { OF_INSERTS_ON } else { OF_ORDERS_ON };
        for build in self.builds.iter().filter(|build| is_long() || sample.contains(build)) {
            let artifact = match supply::testing::build(build) {
                Ok(artifact) => artifact,
                Err(reason) => {
                    println!("skipped: {reason}");
                    continue;
                }
            };
            let is_mariadb = build.starts_with("mariadb");
            let kind = if is_mariadb { driver_mysql::KIND_MARIADB } else { self.kind };
            let place = tempfile::tempdir_in("/dev/shm").expect("a directory");
            let options: Options = [self.option].into_iter().collect();
            let server = started(kind, &artifact.library, place.path(), &options);
            let dir = tempfile::tempdir().expect("a directory");
            self.open(dir.path(), &server.endpoint, &[]).close().expect("it closes");
            let engine = build.split('@').next().expect("a name");
            let variant = variant_at(engine, &server.endpoint);
            let (output, records) = run_at(&variant, (name, experiment), &[]);
            output.recorded();
            let records: Vec<RunRecord> = records
                .into_values()
                .map(|record| serde_json::from_value(record).expect("a record"))
                .collect();
            assert!(!records.is_empty());
            // MariaDB counts no execution of what is prepared.
            let is_counted = |record: &&RunRecord| !is_mariadb || record.cell.variant != "prepared";
            for record in records.iter().filter(is_counted) {
                let name = format!("{build} {}", record.cell.id);
                record.steps.iter().for_each(|step| assert_counted(&name, step, self.lost));
                let known = |one: &&str| {
                    let mut statements = record.steps.iter().flat_map(|step| &step.statements);
                    statements.any(|it| it.procedure == **one && it.totals.is_some())
                };
                assert_eq!(names.iter().find(|one| !known(one)), None, "{name}");
            }
            let reader = self.open(dir.path(), &server.endpoint, patterns);
            for (at, (procedure, number, pattern)) in (0..).zip(patterns) {
                // Executions of prepared statements have no digest.
                let is_read = |record: &&RunRecord| {
                    self.dialect == Dialect::Postgres || record.cell.variant != "prepared"
                };
                let steps = records.iter().filter(is_read).flat_map(|record| &record.steps);
                let own = steps.flat_map(|step| &step.statements);
                let own = own.filter(|it| it.procedure == *procedure && it.number == *number);
                let recorded: u64 = own.filter_map(|it| it.totals).map(|it| it.calls).sum();
                let server = reader.server().expect("a server");
                let row = server.check_row(at, 0).expect("it answers").expect("a row");
                let name = format!("{build} {procedure} {number} {pattern}");
                assert!(recorded > 0, "{name}");
                // The check before each run executes it too, for each line of an order at most.
                let checked = 15 * records.len() as u64;
                let read: u64 = row[0].parse().expect("a count");
                let is_read = (recorded..=recorded + checked).contains(&read);
                assert!(is_read, "{name}: {read} calls, of which {recorded} are recorded");
            }
            reader.close().expect("it closes");
        }
    }
}

/// Checks that each statement of a step that clients executed has totals of as many calls, but for
/// the share that a server may lose.
fn assert_counted(name: &str, step: &StepRecord, lost: u64) {
    let mut timed = BTreeMap::new();
    for procedure in &step.procedures {
        for timing in &procedure.statements {
            let statement = format!("{} {}", procedure.name, timing.number);
            timed.insert(statement, timing.service.count);
        }
    }
    let step_name = &step.step.name;
    for one in &step.statements {
        let own = one.name();
        let all = one.shared_with.iter().chain([&own]);
        let executed: u64 = all.filter_map(|name| timed.get(name)).sum();
        let calls = one.totals.map_or(0, |totals| totals.calls);
        let shared = &one.shared_with;
        let least = executed - (executed * lost).div_ceil(100);
        let name = format!("{name}, {step_name}: {own}, shared with {shared:?}");
        assert!((least..=executed).contains(&calls), "{name}: {calls} of {executed}");
    }
    // Statements of data definition have no totals.
    let described = |name: &&String| step.statements.iter().any(|one| one.name() == **name);
    let unknown = timed.keys().find(|name| !described(name) && !name.starts_with("index"));
    assert_eq!(unknown, None, "{name}, {step_name}");
}

#[test]
fn statements_of_the_insert_benchmark_are_counted() {
    let names =
        ["insert100", "first100", "insert50", "delete50", "market", "register", "pdc", "pk"];
    KINDS.iter().for_each(|kind| kind.check(("inserts", INSERTS), OF_INSERTS, &names));
}

#[test]
fn statements_of_the_order_workload_are_counted() {
    let experiment = EXPERIMENT.replace("WORKLOAD", "tproc-c") + PREPARED + TEXT;
    let names = ["load_orders", "new_order", "payment", "order_status", "delivery", "stock_level"];
    KINDS.iter().for_each(|kind| kind.check(("orders", &experiment), OF_ORDERS, &names));
}
