//! Tables and routines of a user with the names of a run's: refused or left alone, never dropped.

use std::sync::Arc;

use engine::{ApplicationSetup, EngineError, Rows};
use model::OpKind;
use model::sql::Copies;

use crate::application::{application, procedure};
use crate::calls::{call, first_column, foreign, just_call, statements};
use crate::newest::newest;
use crate::test_server::{TestServer, open, spec};

/// The schema of [`as_user`], which no run has in its path.
const AUDIT: &str = "audit";
/// A table of a user, with a row.
const MINE: [&str; 2] =
    ["CREATE TABLE public.item1 (mine text)", "INSERT INTO public.item1 VALUES ('row')"];
/// Reads the row.
const READ: &str = "SELECT mine FROM public.item1";

/// Starts a server with the schemas of the tests; prints why if there is none.
fn server() -> Option<TestServer> {
    let server = TestServer::new(&newest()?, &[]);
    let schemas = [AUDIT, "bench", "\"My \"\"Bench's\""];
    let create = schemas.map(|schema| format!("CREATE SCHEMA {schema}"));
    run(&server, "public", statements(&create.each_ref().map(String::as_str))).unwrap();
    Some(server)
}

/// Opens the application as a run of its own, with that search path, and calls each procedure.
fn run(server: &TestServer, path: &str, setup: ApplicationSetup) -> Result<(), EngineError> {
    let dir = tempfile::tempdir().unwrap();
    let procedures = setup.application.procedures.len();
    let mut spec = spec(dir.path(), foreign(server, "postgres"), Some(setup));
    spec.options.set("search_path", path);
    let engine = open(&spec)?;
    let mut session = engine.session()?;
    for number in 0..u16::try_from(procedures).unwrap() {
        just_call(&mut *session, number)?;
    }
    drop(session);
    engine.close()
}

/// Runs the application without procedures in schema `public`.
fn plain_run(server: &TestServer) -> Result<(), EngineError> {
    run(server, "public", statements(&[]))
}

/// Executes statements whose names have a schema; returns the first column of the last answer.
fn as_user(server: &TestServer, sql: &[&str]) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let mut spec = spec(dir.path(), foreign(server, "postgres"), Some(statements(sql)));
    spec.options.set("search_path", AUDIT);
    let engine = open(&spec).unwrap();
    let mut session = engine.session().unwrap();
    let mut rows = Rows::new();
    for number in 0..u16::try_from(sql.len()).unwrap() {
        call(&mut *session, (number, 0), (&[], b""), &mut rows)
            .unwrap_or_else(|error| panic!("{}: {error}", sql[usize::from(number)]));
    }
    let found = rows.stored().map(|(_, row)| first_column(row)).collect();
    drop(session);
    engine.close().unwrap();
    found
}

/// Checks that a run is refused, and names the thing, the reason and the remedy.
fn refuses(run: Result<(), EngineError>, thing: &str, reason: &str) {
    let error = run.expect_err("it is a user's").to_string();
    for expected in [thing, reason, "drop it or rename it, or name another database in the dsn"] {
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

/// Goal: no other role names tables that a run drops, or has code executed by the run.
#[test]
fn a_marker_that_others_can_write_is_refused() {
    let Some(server) = server() else { return };
    plain_run(&server).unwrap();
    as_user(&server, &["CREATE ROLE other", "CREATE TABLE public.orders (id int)"]);
    for (given, taken, fault) in [
        (
            "GRANT INSERT ON public.assay_tables TO other",
            "REVOKE INSERT ON public.assay_tables FROM other",
            "can be written by other roles",
        ),
        (
            "CREATE TRIGGER own BEFORE UPDATE ON public.assay_tables FOR EACH ROW EXECUTE FUNCTION \
             suppress_redundant_updates_trigger()",
            "DROP TRIGGER own ON public.assay_tables",
            "has a trigger",
        ),
        (
            "ALTER TABLE public.assay_tables OWNER TO other",
            "ALTER TABLE public.assay_tables OWNER TO CURRENT_USER",
            "belongs to the role `other`",
        ),
    ] {
        as_user(&server, &[given]);
        let error = plain_run(&server).expect_err("others can write it").to_string();
        for expected in
            ["table `assay_tables`", fault, "drop `assay_tables`, or name another database"]
        {
            assert!(error.contains(expected), "{expected}: {error}");
        }
        as_user(&server, &[taken]);
    }
    plain_run(&server).unwrap();
    as_user(&server, &["DROP TABLE public.orders", "DROP ROLE other"]);
}

#[test]
fn table_created_anew_by_a_user_is_refused_and_its_row_survives() {
    let Some(server) = server() else { return };
    plain_run(&server).unwrap();
    as_user(&server, &[&["DROP TABLE public.item1"][..], &MINE].concat());
    let anew = "has been changed, or dropped and created anew";
    refuses(plain_run(&server), "table `item1` in schema `public` of database `postgres`", anew);
    assert_eq!(as_user(&server, &[READ]), ["row"]);
    // Other applications do not take it for a leftover; then nothing marks its name.
    let dir = tempfile::tempdir().unwrap();
    open(&spec(dir.path(), foreign(&server, "postgres"), None)).unwrap().close().unwrap();
    assert_eq!(as_user(&server, &[READ]), ["row"]);
    refuses(plain_run(&server), "table `item1`", "was not created by Assay");
    // The remedy helps, and the tables of a run are its own again.
    as_user(&server, &["DROP TABLE public.item1"]);
    plain_run(&server).unwrap();
    plain_run(&server).unwrap();
    // A mark without its table, as a kill leaves it, is no obstacle.
    as_user(&server, &["DROP TABLE public.item1", "DROP TABLE public.item2"]);
    plain_run(&server).unwrap();
    server.stop();
}

#[test]
fn table_of_another_schema_in_the_search_path_survives() {
    let Some(server) = server() else { return };
    let run = |path| run(&server, path, statements(&[]));
    run("bench, public").unwrap();
    as_user(&server, &[&["DROP TABLE bench.item1", "DROP TABLE public.item1"][..], &MINE].concat());
    run("bench, public").unwrap();
    run("bench, public").unwrap();
    assert_eq!(as_user(&server, &[READ]), ["row"]);
    // The marks of one schema are none of another's.
    refuses(run("public, bench"), "table `item1` in schema `public`", "created");
    assert_eq!(as_user(&server, &[READ]), ["row"]);
    let none = run("no_such_schema").expect_err("there is no schema").to_string();
    assert!(none.contains("search_path = no_such_schema: a run creates tables"), "{none}");
    server.stop();
}

#[test]
fn relation_of_any_kind_is_refused_by_its_kind() {
    let Some(server) = server() else { return };
    as_user(&server, &["DROP TABLE public.item1"]);
    for (kind, create) in [
        ("view", "CREATE VIEW public.item1 AS SELECT 1 AS id"),
        ("materialized view", "CREATE MATERIALIZED VIEW public.item1 AS SELECT 1"),
        ("sequence", "CREATE SEQUENCE public.item1"),
        ("composite type", "CREATE TYPE public.item1 AS (a int)"),
        ("index", "CREATE INDEX item1 ON public.item2 (id)"),
        ("table", "CREATE TABLE public.item1 (a int) PARTITION BY RANGE (a)"),
    ] {
        as_user(&server, &[create]);
        refuses(plain_run(&server), &format!("{kind} `item1`"), "Assay");
        let is_there = "SELECT 'yes'::text FROM pg_class WHERE relname = 'item1' AND \
                        relnamespace = 'public'::regnamespace";
        assert_eq!(as_user(&server, &[is_there]), ["yes"], "{kind}");
        let drop = format!("DROP {} public.item1", kind.trim_start_matches("composite "));
        as_user(&server, &[&drop]);
    }
    plain_run(&server).unwrap();
    server.stop();
}

#[test]
fn names_of_other_case_and_quoted_schemas_are_distinguished() {
    let Some(server) = server() else { return };
    as_user(
        &server,
        &[
            "CREATE TABLE public.\"Item1\" (mine text)",
            "INSERT INTO public.\"Item1\" VALUES ('row')",
        ],
    );
    plain_run(&server).unwrap();
    plain_run(&server).unwrap();
    assert_eq!(as_user(&server, &["SELECT mine FROM public.\"Item1\""]), ["row"]);
    let path = "\"My \"\"Bench's\"";
    let quoted = |_| run(&server, path, statements(&["SELECT 1"]));
    assert_eq!([0, 1].map(quoted), [Ok(()), Ok(())]);
    let anew =
        ["DROP TABLE \"My \"\"Bench's\".item2", "CREATE VIEW \"My \"\"Bench's\".item2 AS SELECT 1"];
    as_user(&server, &anew);
    refuses(quoted(2), "view `item2` in schema `My \"Bench's`", "created anew");
    server.stop();
}

#[test]
fn routine_replaced_by_a_user_is_refused_and_survives() {
    let Some(server) = server() else { return };
    let ours = [
        "CREATE OR REPLACE FUNCTION pay(cents int) RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "CREATE PROCEDURE \"Settle\"() LANGUAGE sql AS 'SELECT 1'",
    ];
    let run = || run(&server, "public", statements(&ours));
    // Those of an earlier run are dropped.
    run().unwrap();
    run().unwrap();
    let replace =
        "CREATE OR REPLACE FUNCTION public.pay(cents int) RETURNS int LANGUAGE sql AS 'SELECT 2'";
    as_user(&server, &[replace]);
    refuses(
        run(),
        "routine `pay` in schema `public`",
        "has been changed, or dropped and created anew",
    );
    assert_eq!(as_user(&server, &["SELECT public.pay(0)::text"]), ["2"]);
    as_user(&server, &["DROP FUNCTION public.pay(int)", "DROP PROCEDURE public.\"Settle\"()"]);
    run().unwrap();
    // Another application's leftovers are dropped too, and a user's is none of them.
    as_user(&server, &["DROP FUNCTION public.pay(int)", replace]);
    plain_run(&server).unwrap();
    let left = "SELECT proname::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND \
                proname IN ('pay', 'Settle')";
    assert_eq!(as_user(&server, &[left]), ["pay"]);
    refuses(run(), "routine `pay`", "was not created by Assay");
    assert_eq!(as_user(&server, &["SELECT public.pay(0)::text"]), ["2"]);
    server.stop();
}

#[test]
fn partition_attached_by_a_user_survives() {
    let Some(server) = server() else { return };
    let partitioned = || {
        let mut setup = application(
            "CREATE TABLE {table} (id BIGINT) PARTITION BY RANGE (id)",
            vec![procedure(OpKind::Define, &["SELECT 1"], (0, 0, 0))],
        );
        add_statement(&mut setup, "CREATE TABLE {table}_p1 PARTITION OF {table} DEFAULT");
        run(&server, "public", setup)
    };
    partitioned().unwrap();
    partitioned().unwrap();
    as_user(
        &server,
        &[
            "CREATE TABLE public.mine (id BIGINT)",
            "INSERT INTO public.mine VALUES (7)",
            "ALTER TABLE public.item1 ATTACH PARTITION public.mine FOR VALUES FROM (1) TO (9)",
        ],
    );
    refuses(partitioned(), "table `item1`", "has been changed");
    assert_eq!(as_user(&server, &["SELECT id::text FROM public.mine"]), ["7"]);
    as_user(&server, &["ALTER TABLE public.item1 DETACH PARTITION public.mine"]);
    partitioned().unwrap();
    assert_eq!(as_user(&server, &["SELECT id::text FROM public.mine"]), ["7"]);
    leftovers_that_refer_to_each_other_are_dropped_and_no_table_of_a_user(&server);
    server.stop();
}

/// Method: a table refers to one that is created after it, and is to be dropped before it.
fn leftovers_that_refer_to_each_other_are_dropped_and_no_table_of_a_user(server: &TestServer) {
    let related = || {
        let create = "CREATE TABLE {table} (id BIGINT PRIMARY KEY)";
        let mut setup = application(create, Vec::new());
        let mut later = setup.application.tables[0].clone();
        (later.name, later.copies) = ("part".to_owned(), Copies::Fixed(1));
        Arc::make_mut(&mut setup.application).tables.insert(0, later);
        let refer = "ALTER TABLE item1 ADD FOREIGN KEY (id) REFERENCES {table} (id)";
        add_statement(&mut setup, refer);
        Arc::make_mut(&mut setup.application).tables.reverse();
        run(server, "public", setup)
    };
    related().unwrap();
    related().unwrap();
    let theirs = "CREATE TABLE audit.theirs (id BIGINT REFERENCES public.item1)";
    as_user(server, &[theirs, "INSERT INTO public.part1 VALUES (7)"]);
    as_user(
        server,
        &["INSERT INTO public.item1 VALUES (7)", "INSERT INTO audit.theirs VALUES (7)"],
    );
    let error = plain_run(server).expect_err("a user's table refers to it").to_string();
    for expected in [
        "tables of an earlier run in schema `public`",
        "table `item1`: ",
        "theirs",
        "drop the objects that refer to them, or name another database in the dsn",
    ] {
        assert!(error.contains(expected), "{expected}: {error}");
    }
    let read = "SELECT id::text FROM audit.theirs JOIN public.item1 USING (id)";
    assert_eq!(as_user(server, &[read]), ["7"]);
    as_user(server, &["DROP TABLE audit.theirs"]);
    plain_run(server).unwrap();
    let left = "SELECT count(*)::text FROM pg_class WHERE relname = 'part1'";
    assert_eq!(as_user(server, &[left]), ["0"]);
}

/// Adds a statement to those that create the application's table.
fn add_statement(setup: &mut ApplicationSetup, sql: &str) {
    let other = application(sql, Vec::new());
    let more = other.application.tables[0].create.postgres.clone();
    Arc::make_mut(&mut setup.application).tables[0].create.postgres.extend(more);
}

#[test]
fn sequence_of_a_user_is_not_altered_as_that_of_an_id() {
    let Some(server) = server() else { return };
    let with_sequence = || {
        let mut setup = application("CREATE TABLE {table} (id BIGSERIAL)", Vec::new());
        add_statement(&mut setup, "ALTER SEQUENCE {table}_id_seq CACHE 1000");
        run(&server, "public", setup)
    };
    with_sequence().unwrap();
    with_sequence().unwrap();
    as_user(&server, &["DROP TABLE public.item1", "CREATE SEQUENCE public.item1_id_seq CACHE 7"]);
    refuses(with_sequence(), "sequence `item1_id_seq`", "was not created by Assay");
    let cache = "SELECT seqcache::text FROM pg_sequence WHERE seqrelid = \
                 'public.item1_id_seq'::regclass";
    assert_eq!(as_user(&server, &[cache]), ["7"]);
    server.stop();
}

/// Goal: the marks of an earlier version, which hold no identity, drop nothing.
#[test]
fn marks_without_identity_are_refused_with_the_remedy() {
    let Some(server) = server() else { return };
    let old = [
        "DROP TABLE public.assay_tables",
        "CREATE TABLE public.assay_tables (name text PRIMARY KEY, token text NOT NULL)",
        "INSERT INTO public.assay_tables VALUES ('item1', '0123')",
    ];
    as_user(&server, &old);
    let error = plain_run(&server).expect_err("it has no identity").to_string();
    for expected in
        ["table `assay_tables`", "an earlier version of Assay created", "drop `assay_tables`"]
    {
        assert!(error.contains(expected), "{expected}: {error}");
    }
    let is_there = "SELECT count(*)::text FROM public.item1";
    assert_eq!(as_user(&server, &[is_there]), ["0"]);
    as_user(
        &server,
        &["DROP TABLE public.assay_tables", "CREATE VIEW public.assay_tables AS SELECT 1"],
    );
    refuses(plain_run(&server), "view `assay_tables`", "was not created by Assay");
    server.stop();
}

/// Goal: a kill while a table is created leaves neither a table without its mark nor a mark of a
/// table that is not there. Method: the last statement of a table fails.
#[test]
fn table_whose_creation_breaks_off_is_not_there() {
    let Some(server) = server() else { return };
    let broken = || {
        let mut setup = application("CREATE TABLE {table} (id BIGINT)", Vec::new());
        add_statement(&mut setup, "ALTER TABLE {table} ADD no_such_type no_such_type");
        run(&server, "public", setup).expect_err("the type does not exist").to_string()
    };
    for error in [broken(), broken()] {
        assert!(error.contains("no_such_type"), "{error}");
    }
    let left = "SELECT count(*)::text FROM pg_tables WHERE tablename = 'item1' AND schemaname = \
                'public'";
    assert_eq!(as_user(&server, &[left]), ["0"]);
    plain_run(&server).unwrap();
    server.stop();
}
