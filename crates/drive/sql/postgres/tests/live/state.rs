//! State, identity and maintenance in every release found.

use engine::conformance::wait_until;
use engine::{Engine, Maintenance, Rows};
use model::{EngineState, Op, OpKind, Outcome};

use crate::application::{application, procedure};
use crate::calls::just_call;
use crate::program::programs;
use crate::test_server::{TestServer, open, spec};

/// Rows written, read and written again.
const ROWS: u32 = 2_000;

fn work(engine: &dyn Engine) {
    let mut session = engine.session().unwrap();
    let mut rows = Rows::new();
    for row in (0..ROWS).chain(0..ROWS) {
        let key = row.to_be_bytes();
        let put = Op::Put { key: &key, value: &[7; 300] };
        assert_eq!(session.execute(&put, &mut rows), Ok(Outcome::Done));
        assert_eq!(session.execute(&Op::Get { key: &key }, &mut rows), Ok(Outcome::Done));
    }
}

/// Goal: every release reports state, settings and identity, and runs maintenance.
#[test]
fn every_release_reports_state_and_is_maintained() {
    for program in programs() {
        let server = TestServer::new(&program, &[("autovacuum", "off")]);
        let dir = tempfile::tempdir().unwrap();
        let engine = open(&spec(dir.path(), server.endpoint(), None)).unwrap();
        let identity = engine.identity();
        let major: u32 = identity.version.split('.').next().unwrap().parse().unwrap();
        assert_eq!(identity.facts["data_checksums"], "off");
        assert!(identity.facts.contains_key("compiler") && identity.facts.contains_key("cflags"));
        let options = engine.effective_options().unwrap();
        assert_eq!(options.get("shared_buffers"), Some("128MB"));
        assert_eq!(options.get("assay.protocol"), Some("prepared"));
        counters_grow(&*engine, major);
        maintenance_is_done(&*engine);
        let text = engine.statistics_text().unwrap();
        assert!(text.contains("# pg_stat_database\n{\"datid\""), "{text}");
        engine.close().unwrap();
        server.stop();
    }
}

/// Polls the state until a condition holds: sessions report their counters when they end, which
/// may be a moment later.
fn wait_for(engine: &dyn Engine, what: &str, is_so: impl Fn(&EngineState) -> bool) {
    let version = engine.identity().version;
    let is_reached = wait_until(|| is_so(&engine.state().unwrap()));
    assert!(is_reached, "{what} of {version}: {:?}", engine.state());
}

fn counters_grow(engine: &dyn Engine, major: u32) {
    let before = engine.state().unwrap();
    work(engine);
    assert_eq!(engine.maintain(Maintenance::Flush), Ok(true));
    for (name, least) in [
        ("engine_heap_fetches", f64::from(2 * ROWS)),
        ("engine_garbage_rows", 1.0),
        ("engine_commits", f64::from(4 * ROWS)),
        ("engine_cache_hits", f64::from(2 * ROWS)),
        ("engine_wal_write_bytes", 1e6),
        ("engine_page_write_bytes", 1e6),
        ("engine_checkpoints", 1.0),
    ] {
        wait_for(engine, name, |now| now.readings[name] - before.readings[name] >= least);
    }
    let state = engine.state().unwrap();
    assert!(state.readings["engine_disk_bytes"] > 1e6, "{state:?}");
    for name in ["engine_fsyncs", "engine_wal_page_images"] {
        assert_eq!(state.readings.contains_key(name), major >= 14, "{name}: {state:?}");
    }
    assert!(state.own_counters["tup_inserted"] >= f64::from(ROWS), "{state:?}");
}

fn maintenance_is_done(engine: &dyn Engine) {
    assert_eq!(engine.maintain(Maintenance::Clean), Ok(true));
    wait_for(engine, "garbage", |now| now.readings["engine_garbage_rows"] < 0.5);
    assert_eq!(engine.maintain(Maintenance::CompactAll), Ok(true));
    assert_eq!(engine.maintain(Maintenance::CompactLevel0), Ok(false));
    wait_for(engine, "rest", |now| now.is_idle == Some(true));
}

/// Goal: what a partitioned table holds is what its partitions hold.
/// Method: the rows of a table of one partition are inserted and deleted; each release.
#[test]
fn partitions_are_read_in_the_place_of_their_table() {
    for program in programs() {
        let server = TestServer::new(&program, &[("autovacuum", "off")]);
        let dir = tempfile::tempdir().unwrap();
        let create = "CREATE TABLE {table} (id BIGINT PRIMARY KEY) PARTITION BY RANGE (id); \
                      CREATE TABLE {table}_rest PARTITION OF {table} DEFAULT";
        let work = ["INSERT INTO {table} SELECT generate_series(1, 2000)", "DELETE FROM {table}"];
        let define = |text: &str| procedure(OpKind::Define, &[text], (0, 0, 0));
        let setup = application(create, work.map(define).into());
        let engine = open(&spec(dir.path(), server.endpoint(), Some(setup))).unwrap();
        let mut session = engine.session().unwrap();
        for number in 0..2 {
            just_call(&mut *session, number).unwrap();
        }
        drop(session);
        wait_for(&*engine, "garbage", |now| now.readings["engine_garbage_rows"] >= 2_000.0);
        let tables = engine.state().unwrap().tables;
        let names: Vec<&str> = tables.keys().map(String::as_str).collect();
        assert_eq!(names, ["item1_rest", "item1_rest_pkey", "item2_rest", "item2_rest_pkey"]);
        assert!(tables["item1_rest"]["engine_disk_bytes"] > 2e4, "{tables:?}");
        // A partitioned index has no structure.
        let text = engine.server().unwrap().structure_text().unwrap();
        assert!(text.contains("item1_rest_pkey") && !text.contains("item1_pkey"), "{text}");
        engine.close().unwrap();
        server.stop();
    }
}
