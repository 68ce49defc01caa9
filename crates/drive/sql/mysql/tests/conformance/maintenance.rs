//! State, identity, options and maintenance.

use engine::conformance::wait_until;
use engine::{Engine, Maintenance};
use model::Op;

use crate::application::sales;
use crate::fixture::Fixture;
use crate::procedures::insert;

pub(crate) fn state_identity_and_options_are_reported(fixture: &Fixture) {
    let (engine, _dir) = fixture.open(sales());
    let mut session = engine.session().expect("there is room");
    let before = engine.state().expect("the server answers");
    insert(&mut *session, 1).expect("rows are inserted");
    let after = engine.state().expect("the server answers");
    for name in ["engine_cache_hits", "engine_cache_misses", "engine_wal_write_bytes"] {
        assert!(after.readings[name] >= before.readings[name], "{name}");
    }
    for name in ["engine_commits", "engine_fsyncs", "engine_stalls", "engine_rollbacks"] {
        assert!(after.readings.contains_key(name), "{name}: {after:?}");
    }
    for name in after.readings.keys() {
        assert!(model::metric::find(name).is_some(), "{name} is no metric");
    }
    assert!(after.own_counters["handler_write"] >= before.own_counters["handler_write"] + 3.0);
    assert!(after.is_idle.is_some());
    let identity = engine.identity();
    assert_eq!(identity.engine, fixture.driver.identity().engine);
    assert!(identity.version.starts_with(['8', '1']), "{identity:?}");
    assert!(identity.facts.contains_key("version_comment"), "{identity:?}");
    let options = engine.effective_options().expect("the server answers");
    assert_eq!(options.get("innodb_lock_wait_timeout"), Some("1"));
    assert_eq!((options.get("assay.protocol"), options.get("datadir")), (Some("prepared"), None));
    let text = engine.statistics_text().expect("it has some");
    assert!(text.contains("==== SHOW ENGINE INNODB STATUS") && text.contains("Uptime"), "{text}");
}

/// Writes rows, then runs maintenance.
fn work(engine: &dyn Engine, work: Maintenance) -> bool {
    let mut session = engine.session().expect("there is room");
    let mut rows = engine::Rows::new();
    for number in 0..200u32 {
        let op = Op::Put { key: &number.to_be_bytes(), value: &[7; 900] };
        session.execute(&op, &mut rows).expect("the row is written");
    }
    engine.maintain(work).expect("the server does it")
}

pub(crate) fn innodb_becomes_idle(fixture: &Fixture) {
    let (spec, _dir) = fixture.fresh(None);
    let engine = fixture.driver.open(&spec).expect("the server is good");
    let dirty_pages_max = |engine: &dyn Engine| {
        let options = engine.effective_options().expect("the server answers");
        options.get("innodb_max_dirty_pages_pct").expect("it has one").to_owned()
    };
    let before = dirty_pages_max(&*engine);
    assert!(work(&*engine, Maintenance::Flush));
    let is_idle = wait_until(|| engine.state().expect("it answers").is_idle == Some(true));
    let state = engine.state().expect("it answers");
    assert!(is_idle && state.readings["engine_disk_bytes"] > 1e5, "{state:?}");
    assert_eq!(dirty_pages_max(&*engine), before, "variables are restored");
    assert!(work(&*engine, Maintenance::CompactAll));
    assert!(!work(&*engine, Maintenance::CompactLevel0));
    assert!(work(&*engine, Maintenance::Clean));
    assert_ne!(dirty_pages_max(&*engine), before);
    drop(engine.session().expect("there is room"));
    assert_eq!(dirty_pages_max(&*engine), before, "restored before clients run");
    assert!(work(&*engine, Maintenance::Flush));
    engine.close().expect("it closes");
    let engine = fixture.driver.open(&spec).expect("the server is good");
    assert_eq!(dirty_pages_max(&*engine), before, "restored at close when never idle");
}

pub(crate) fn myrocks_flushes_and_compacts(fixture: &Fixture) {
    let (spec, _dir) = fixture.fresh(None);
    let engine = fixture.driver.open(&spec).expect("the server is good");
    for done in [
        Maintenance::Flush,
        Maintenance::CompactLevel0,
        Maintenance::CompactAll,
        Maintenance::Clean,
    ] {
        assert!(work(&*engine, done), "{done:?}");
    }
    let state = engine.state().expect("the server answers");
    assert!(state.readings["engine_flush_write_bytes"] > 0.0, "{state:?}");
    assert!(state.readings["engine_compaction_write_bytes"] > 0.0, "{state:?}");
    assert!(state.levels.is_some_and(|levels| !levels.is_empty()));
    let options = engine.effective_options().expect("the server answers");
    assert_eq!(options.get("tx_isolation"), Some("READ-COMMITTED"));
}
