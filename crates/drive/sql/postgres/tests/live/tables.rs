//! Tables on a foreign server: own ones reused or dropped, others untouched.

use std::path::Path;

use engine::{EngineError, OpenSpec, Rows};
use model::{Bytes, Durability, Endpoint, Op, Outcome};

use crate::calls::{foreign, just_call, open_error, statements};
use crate::newest::newest;
use crate::test_server::{TestServer, open, spec};

const GET: Op<'_> = Op::Get { key: b"key" };
const PUT: Op<'_> = Op::Put { key: b"key", value: b"value" };

fn once(spec: &OpenSpec, op: &Op<'_>) -> Result<Outcome, EngineError> {
    let engine = open(spec)?;
    let outcome = engine.session()?.execute(op, &mut Rows::new());
    engine.close()?;
    outcome
}

/// Goal: a directory opened again finds its rows, a new run drops an earlier one's tables, and a
/// foreign table is never touched.
#[test]
fn leftovers_are_dropped_and_foreign_tables_left_alone() {
    let Some(program) = newest() else { return };
    let server = TestServer::new(&program, &[]);
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let at = |dir: &Path| spec(dir, foreign(&server, "postgres"), None);
    assert_eq!(once(&at(first.path()), &PUT), Ok(Outcome::Done));
    assert_eq!(once(&at(first.path()), &GET), Ok(Outcome::Done), "the same data set");
    assert_eq!(once(&at(second.path()), &GET), Ok(Outcome::NotFound), "a new data set");
    assert_eq!(once(&at(first.path()), &GET), Ok(Outcome::NotFound), "made anew");

    concurrent_runs_are_rejected(&at(first.path()), &at(second.path()));
    unavailable_settings_are_rejected(&at(first.path()));

    let role = format!("CREATE ROLE weak LOGIN PASSWORD '{}'", server.running.site.password.0);
    let sql = [
        "CREATE TABLE assay_kv (theirs int)",
        &role,
        "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
        "CREATE DATABASE other",
    ];
    let mut with = at(first.path());
    with.application = Some(statements(&sql));
    let engine = open(&with).unwrap();
    let mut session = engine.session().unwrap();
    // Another definition than the directory's: its key-value table was dropped.
    for number in 0..4 {
        just_call(&mut *session, number).unwrap_or_else(|error| panic!("{number}: {error}"));
    }
    drop(session);
    engine.close().unwrap();
    let error = open_error(&at(first.path())).to_string();
    assert!(error.contains("`assay_kv`") && error.contains("was not created by Assay"), "{error}");

    let other = Endpoint { database: "other".to_owned(), ..foreign(&server, "weak") };
    let other = spec(second.path(), other, None);
    // Since release 15 only its owner may create tables in schema `public` of a new database.
    let error = open_error(&other).to_string();
    assert!(error.contains("`weak` may not create tables in database `other`"), "{error}");
    server.stop();
}

fn concurrent_runs_are_rejected(first: &OpenSpec, second: &OpenSpec) {
    let engine = open(first).unwrap();
    let error = open_error(second).to_string();
    assert!(error.contains("another run of Assay uses database"), "{error}");
    engine.close().unwrap();
}

/// Settings that only the server's owner can change, and unknown options.
fn unavailable_settings_are_rejected(spec: &OpenSpec) {
    let mut cache = spec.clone();
    cache.settings.cache_bytes = Some(Bytes(64 << 20));
    assert!(open_error(&cache).to_string().contains("128"));
    cache.settings.cache_bytes = Some(Bytes(128 << 20));
    open(&cache).unwrap().close().unwrap();
    let mut direct = spec.clone();
    direct.settings.direct_io = true;
    assert!(open_error(&direct).to_string().starts_with("not supported: direct_io"));
    for (name, value) in [("shared_buffers", "1GB"), ("work_mem", "much"), ("work_men", "1MB")] {
        let mut wrong = spec.clone();
        wrong.options.set(name, value);
        let error = open_error(&wrong);
        assert!(error.refused_option() == Some(name), "{error}");
    }
    let mut right = spec.clone();
    right.options.set("work_mem", "7MB");
    right.settings.durability = Durability::Sync;
    let engine = open(&right).unwrap();
    let options = engine.effective_options().unwrap();
    assert_eq!(options.get("work_mem"), Some("7MB"));
    assert_eq!(options.get("synchronous_commit"), Some("on"));
    engine.close().unwrap();
}
