//! Tables and routines of a user with the names of a run's: refused or left alone, never dropped.

use engine::{EngineError, OpenSpec};
use model::OpKind;
use model::sql::Application;
use tempfile::TempDir;

use crate::application::{procedure, sales, statement};
use crate::fixture::{Fixture, call};

/// Executes statements over a database of its own; returns the first field of the last answer.
fn as_user(fixture: &Fixture, sql: &[String]) -> Vec<String> {
    let (engine, _dir) = fixture.open(defining(sql));
    let mut session = engine.session().expect("there is room");
    let mut last = Vec::new();
    for (number, sql) in (0..).zip(sql) {
        let done = call(&mut *session, (number, OpKind::Define), &[], &[]);
        last = done.unwrap_or_else(|error| panic!("{sql}: {error}")).2;
    }
    last
}

/// Returns the application with these procedures instead of its own.
fn defining(sql: &[String]) -> Application {
    let define = |text: &String| procedure(OpKind::Define, &[text.as_str()]);
    Application { procedures: sql.iter().map(define).collect(), ..sales() }
}

/// A database in which several runs follow one another.
struct Runs<'f> {
    fixture: &'f Fixture,
    first: OpenSpec,
    _dir: TempDir,
}

impl<'f> Runs<'f> {
    fn new(fixture: &'f Fixture) -> Self {
        let (first, dir) = fixture.fresh(Some(sales()));
        Self { fixture, first, _dir: dir }
    }

    /// Returns a statement in which `DB` stands for the quoted database.
    fn sql(&self, text: &str) -> String {
        let endpoint = self.first.endpoint.as_ref().expect("it is a server");
        text.replace("DB", &format!("`{}`", endpoint.database))
    }

    fn as_user(&self, sql: &[&str]) -> Vec<String> {
        as_user(self.fixture, &sql.iter().map(|text| self.sql(text)).collect::<Vec<_>>())
    }

    /// Opens the application as a run of its own, and calls each procedure.
    fn run(&self, application: Application) -> Result<(), EngineError> {
        let procedures = application.procedures.len();
        let (mut spec, _dir) = self.fixture.fresh(Some(application));
        spec.endpoint.clone_from(&self.first.endpoint);
        let engine = self.fixture.driver.open(&spec)?;
        let mut session = engine.session()?;
        for number in 0..u16::try_from(procedures).expect("a few") {
            call(&mut *session, (number, OpKind::Define), &[], &[])?;
        }
        drop(session);
        engine.close()
    }

    fn plain_run(&self) -> Result<(), EngineError> {
        self.run(defining(&[]))
    }
}

/// Checks that a run is refused, and names the thing, the reason and the remedy.
fn refuses(run: Result<(), EngineError>, thing: &str, reason: &str) {
    let error = run.expect_err("it is a user's").to_string();
    for expected in [thing, reason, "drop it or rename it, or name another database in the dsn"] {
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

const ANEW: &str = "has been changed, or dropped and created anew";

pub(crate) fn table_created_anew_by_a_user_is_refused_and_its_row_survives(fixture: &Fixture) {
    let runs = Runs::new(fixture);
    runs.plain_run().expect("the database is empty");
    runs.plain_run().expect("leftovers are no hindrance");
    let mine = [
        "DROP TABLE DB.sale1",
        "CREATE TABLE DB.sale1 (mine VARCHAR(9))",
        "INSERT INTO DB.sale1 VALUES ('row')",
    ];
    runs.as_user(&mine);
    refuses(runs.plain_run(), "table `sale1` in database", ANEW);
    let row = || runs.as_user(&["SELECT mine FROM DB.sale1"]);
    assert_eq!(row(), ["row"]);
    // Another application does not take it for a leftover; then nothing marks its name.
    let mut other = defining(&[]);
    other.tables[0].name = "other".to_owned();
    runs.run(other).expect("it has another name");
    assert_eq!(row(), ["row"]);
    refuses(runs.plain_run(), "table `sale1`", "was not created by Assay");
    runs.as_user(&["DROP TABLE DB.sale1"]);
    runs.plain_run().expect("the remedy helps");
    // A mark without its table, as a kill leaves it, is no obstacle.
    runs.as_user(&["DROP TABLE DB.sale1", "DROP TABLE DB.sale2"]);
    runs.plain_run().expect("the tables are created again");
}

pub(crate) fn view_is_refused_and_a_name_of_other_case_survives(fixture: &Fixture) {
    let runs = Runs::new(fixture);
    runs.as_user(&["CREATE VIEW DB.sale1 AS SELECT 'row' AS mine"]);
    refuses(runs.plain_run(), "view `sale1`", "was not created by Assay");
    assert_eq!(runs.as_user(&["SELECT mine FROM DB.sale1"]), ["row"]);
    runs.as_user(&[
        "DROP VIEW DB.sale1",
        "CREATE TABLE DB.Sale1 (mine VARCHAR(9))",
        "INSERT INTO DB.Sale1 VALUES ('row')",
    ]);
    for _ in 0..2 {
        runs.plain_run().expect("it is another table");
    }
    assert_eq!(runs.as_user(&["SELECT mine FROM DB.Sale1"]), ["row"]);
}

pub(crate) fn routine_created_anew_by_a_user_is_refused_and_survives(fixture: &Fixture) {
    let runs = Runs::new(fixture);
    let ours = [
        "CREATE PROCEDURE pay(IN cents INT, IN note VARCHAR(9)) BEGIN SELECT 1; END",
        "CREATE FUNCTION due(cents INT) RETURNS DECIMAL(9, 2) DETERMINISTIC RETURN cents + 1",
    ];
    let run = || runs.run(defining(&ours.map(str::to_owned)));
    // Those of an earlier run are dropped.
    run().expect("the database is empty");
    run().expect("leftovers are no hindrance");
    let text = "SELECT routine_definition FROM information_schema.routines WHERE routine_schema = \
                'DB' AND routine_name = ";
    let database = runs.sql("DB").replace('`', "");
    let text = |name: &str| {
        as_user(fixture, &[format!("{}'{name}'", text.replace("DB", &database))]).concat()
    };
    for (kind, name, create) in [
        ("procedure", "pay", "CREATE PROCEDURE DB.pay() SELECT 'mine'"),
        ("function", "due", "CREATE FUNCTION DB.due() RETURNS INT DETERMINISTIC RETURN 7"),
    ] {
        runs.as_user(&[&format!("DROP {kind} DB.{name}"), create]);
        refuses(run(), &format!("{kind} `{name}`"), ANEW);
        let found = text(name);
        assert!(!found.is_empty() && create.ends_with(&found), "{found}");
        runs.as_user(&[&format!("DROP {kind} DB.{name}")]);
        run().expect("the remedy helps");
    }
    runs.as_user(&["DROP PROCEDURE DB.pay", "CREATE PROCEDURE DB.pay() SELECT 'mine'"]);
    // Another application drops what the run left, and no more.
    runs.plain_run().expect("it has no such procedure");
    assert_eq!((text("pay").as_str(), text("due").as_str()), ("SELECT 'mine'", ""));
    refuses(run(), "procedure `pay`", "was not created by Assay");
}

/// Goal: leftovers are dropped whatever refers to what, and no table of a user is.
/// Method: tables refer to others whose names come before theirs, and after.
pub(crate) fn leftovers_that_refer_to_each_other_are_dropped_and_no_table_of_a_user(
    fixture: &Fixture,
) {
    let runs = Runs::new(fixture);
    let related = || {
        let mut application = defining(&[]);
        let refer = "(id BIGINT NOT NULL PRIMARY KEY, FOREIGN KEY (id) REFERENCES sale1 (id))";
        for name in ["after", "zone"] {
            let mut table = application.tables[0].clone();
            table.name = name.to_owned();
            table.create.mysql = vec![statement(&format!("CREATE TABLE {{}} {refer}"))];
            application.tables.push(table);
        }
        runs.run(application)
    };
    if runs.as_user(&["SELECT CAST(@@default_storage_engine AS CHAR)"]) != ["InnoDB"] {
        // Other engines have no references.
        return;
    }
    related().expect("the database is empty");
    related().expect("leftovers are no hindrance");
    runs.as_user(&[
        "CREATE TABLE DB.theirs (id BIGINT NOT NULL, FOREIGN KEY (id) REFERENCES DB.sale1 (id))",
        "INSERT INTO DB.sale1 VALUES (7, '2020-01-01', 1, 1, '')",
        "INSERT INTO DB.theirs VALUES (7)",
    ]);
    let error = runs.plain_run().expect_err("a user's table refers to it").to_string();
    for expected in [
        "tables of an earlier run in database",
        "table `sale1`: ",
        "drop the objects that refer to them, or name another database in the dsn",
    ] {
        assert!(error.contains(expected), "{expected}: {error}");
    }
    let read = "SELECT CAST(id AS CHAR) FROM DB.theirs JOIN DB.sale1 USING (id)";
    assert_eq!(runs.as_user(&[read]), ["7"]);
    // A server that checks no foreign keys loses none, and gives none to new tables either.
    runs.as_user(&["SET GLOBAL foreign_key_checks = 0"]);
    let error = runs.plain_run().expect_err("a user's table refers to it").to_string();
    assert!(error.contains(".theirs` refers to it"), "{error}");
    assert_eq!(runs.as_user(&[read]), ["7"]);
    runs.as_user(&["DROP TABLE DB.sale1"]);
    let error = runs.plain_run().expect_err("its foreign key is left").to_string();
    assert!(error.contains(".theirs` has a foreign key to a table `sale1`"), "{error}");
    runs.as_user(&["SET GLOBAL foreign_key_checks = 1", "DROP TABLE DB.theirs"]);
    runs.plain_run().expect("the remedy helps");
}

/// Goal: a comment of the application stays, and a statement without columns is marked too.
pub(crate) fn tables_are_marked_whatever_their_statements(fixture: &Fixture) {
    let runs = Runs::new(fixture);
    runs.as_user(&["CREATE TABLE DB.base (id BIGINT NOT NULL PRIMARY KEY)"]);
    for create in [
        "CREATE TABLE {} (id BIGINT NOT NULL PRIMARY KEY) COMMENT = 'it''s theirs'",
        "CREATE TABLE {} LIKE base",
        "CREATE TABLE IF NOT EXISTS {} (id BIGINT NOT NULL /* of a sale (1) */ PRIMARY KEY)",
    ] {
        let run = || {
            let mut application = defining(&[]);
            application.tables[0].create.mysql = vec![statement(create)];
            runs.run(application)
        };
        run().unwrap_or_else(|error| panic!("{create}: {error}"));
        run().unwrap_or_else(|error| panic!("{create}: {error}"));
        let database = runs.sql("DB").replace('`', "");
        let comment = as_user(
            fixture,
            &[format!(
                "SELECT table_comment FROM information_schema.tables WHERE table_schema = \
                 '{database}' AND table_name = 'sale1'"
            )],
        );
        let start = if create.contains("theirs") { "it's theirs Assay " } else { "Assay " };
        assert!(comment[0].starts_with(start), "{create}: {comment:?}");
    }
    let mut nameless = defining(&[]);
    nameless.tables[0].create.mysql = vec![statement("CREATE TABLE elsewhere (a INT)")];
    nameless.tables[0].copies = model::sql::Copies::Fixed(1);
    let error = runs.run(nameless).expect_err("there is no table sale1").to_string();
    assert!(error.contains("`sale1` create no table `sale1`"), "{error}");
}

/// Goal: the marks of an earlier version, which hold no identity, drop nothing.
pub(crate) fn marks_without_identity_are_refused_with_the_remedy(fixture: &Fixture) {
    let runs = Runs::new(fixture);
    runs.plain_run().expect("the database is empty");
    runs.as_user(&[
        "DROP TABLE DB.assay_tables",
        "CREATE TABLE DB.assay_tables (name VARBINARY(250) NOT NULL PRIMARY KEY, token \
         VARBINARY(250) NOT NULL)",
        "INSERT INTO DB.assay_tables VALUES ('sale1', '0123')",
    ]);
    let error = runs.plain_run().expect_err("it has no identity").to_string();
    for expected in
        ["table `assay_tables`", "an earlier version of Assay created", "drop `assay_tables`"]
    {
        assert!(error.contains(expected), "{expected}: {error}");
    }
    assert_eq!(runs.as_user(&["SELECT CAST(COUNT(*) AS CHAR) FROM DB.sale1"]), ["0"]);
}
