//! What a server tells of itself, and what it is told to do between steps.

use engine::{Engine, Maintenance};
use model::Op;

use crate::application::sales;
use crate::opened::Place;
use crate::procedures::insert;

/// Looks at a server that should come to rest before the test gives up.
const LOOKS: usize = 2_000;

pub(crate) fn state_identity_and_options_are_told(place: &Place) {
    let (engine, _dir) = place.open(sales());
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
    assert_eq!(identity.engine, place.driver.identity().engine);
    assert!(identity.version.starts_with(['8', '1']), "{identity:?}");
    // One machine has one clock.
    let told = ["version_comment", "server_clock"].map(|name| identity.facts.contains_key(name));
    assert_eq!(told, [true, false], "{identity:?}");
    let options = engine.effective_options().expect("the server answers");
    assert_eq!(options.get("innodb_lock_wait_timeout"), Some("1"));
    assert_eq!((options.get("assay.protocol"), options.get("datadir")), (Some("prepared"), None));
    let text = engine.statistics_text().expect("it has some");
    assert!(text.contains("==== SHOW ENGINE INNODB STATUS") && text.contains("Uptime"), "{text}");
}

/// Writes rows, and asks for some of that work.
fn work(engine: &dyn Engine, work: Maintenance) -> bool {
    let mut session = engine.session().expect("there is room");
    let mut rows = engine::Rows::new();
    for number in 0..200u32 {
        let op = Op::Put { key: &number.to_be_bytes(), value: &[7; 900] };
        session.execute(&op, &mut rows).expect("the row is written");
    }
    engine.maintain(work).expect("the server does it")
}

pub(crate) fn innodb_comes_to_rest(place: &Place) {
    let (spec, _dir) = place.fresh(None);
    let engine = place.driver.open(&spec).expect("the server is good");
    let lazy = |engine: &dyn Engine| {
        let options = engine.effective_options().expect("the server answers");
        options.get("innodb_max_dirty_pages_pct").expect("it has one").to_owned()
    };
    let before = lazy(&*engine);
    assert!(work(&*engine, Maintenance::Flush));
    let rested = (0..LOOKS).any(|_| engine.state().expect("it answers").is_idle == Some(true));
    assert!(rested, "{:?}", engine.state());
    assert_eq!(lazy(&*engine), before, "what made it hurry is taken back");
    assert!(work(&*engine, Maintenance::CompactAll));
    assert!(!work(&*engine, Maintenance::CompactLevel0));
    assert!(work(&*engine, Maintenance::Clean));
    assert_ne!(lazy(&*engine), before);
    drop(engine.session().expect("there is room"));
    assert_eq!(lazy(&*engine), before, "clients are not hurried");
    assert!(work(&*engine, Maintenance::Flush));
    engine.close().expect("it closes");
    let engine = place.driver.open(&spec).expect("the server is good");
    assert_eq!(lazy(&*engine), before, "also when it did not come to rest");
}

pub(crate) fn myrocks_flushes_and_compacts(place: &Place) {
    let (spec, _dir) = place.fresh(None);
    let engine = place.driver.open(&spec).expect("the server is good");
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
