//! The conformance battery and behaviour of the linked fjall.
//!
//! The battery covers class `sync` by reopening, and runs the rest on the class given here.

use engine::conformance::battery;
use engine::{Engine, EngineError, Maintenance, OpenSpec, Rows};
use model::{DataShape, Durability, Op, Options, Outcome, Settings};

fn settings(durability: Durability) -> Settings {
    Settings { durability, ..Settings::default() }
}

/// Values of 256 bytes and more go to blob files.
fn separated() -> Options {
    [("kv_separation", "true"), ("separation_threshold", "256")].into_iter().collect()
}

#[test]
fn class_none_conforms() {
    // What the battery checks only where a driver states it.
    assert_eq!(driver_fjall::driver().capabilities().key_bytes_max, Some(65_535));
    battery(&*driver_fjall::driver(), &settings(Durability::None), &Options::new());
}

#[test]
fn class_os_conforms() {
    battery(&*driver_fjall::driver(), &settings(Durability::Os), &Options::new());
}

#[test]
fn class_none_with_separated_values_conforms() {
    battery(&*driver_fjall::driver(), &settings(Durability::None), &separated());
}

#[test]
fn class_os_with_separated_values_conforms() {
    battery(&*driver_fjall::driver(), &settings(Durability::Os), &separated());
}

#[test]
fn compression_with_a_small_memtable_conforms() {
    let settings = Settings { compression: Some("lz4".to_owned()), ..settings(Durability::Os) };
    let options = [("max_memtable_size", "64KiB"), ("l0_threshold", "2")].into_iter().collect();
    battery(&*driver_fjall::driver(), &settings, &options);
}

fn open(
    dir: &std::path::Path,
    durability: Durability,
    options: &Options,
) -> Result<Box<dyn Engine>, EngineError> {
    let data = DataShape { rows: 1000, key_bytes: 20, value_bytes: 400, compressible_to: 0.5 };
    let (settings, options) = (settings(durability), options.clone());
    driver_fjall::driver()
        .open(&OpenSpec { options, ..OpenSpec::embedded(dir.to_owned(), settings, data) })
}

fn persist_of(engine: &dyn Engine) -> String {
    let options = engine.effective_options().expect("fjall responds");
    options.get("assay.persist_after_write").expect("the driver reports it").to_owned()
}

/// Goal: a class is a floor also for data that was created with a weaker one.
/// Method: create with `none`, reopen with the others, read the persist mode of writes.
#[test]
fn reopened_data_has_the_class_it_is_opened_with() {
    let dir = tempfile::tempdir().unwrap();
    for (class, persist) in
        [(Durability::None, "none"), (Durability::Os, "Buffer"), (Durability::Sync, "SyncData")]
    {
        let engine = open(dir.path(), class, &Options::new()).unwrap();
        assert_eq!(persist_of(&*engine), persist);
        engine.close().unwrap();
    }
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path(), Durability::Os, &Options::new()).unwrap();
    assert_eq!(persist_of(&*engine), "none");
    engine.close().unwrap();
}

#[test]
fn data_created_with_other_options_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    open(dir.path(), Durability::Os, &Options::new()).unwrap().close().unwrap();
    let error = open(dir.path(), Durability::Os, &separated()).err();
    assert!(error.as_ref().and_then(EngineError::refused_option) == Some("kv_separation"));
    open(dir.path(), Durability::Os, &Options::new()).unwrap().close().unwrap();
}

/// Goal: separated values are in blob files, the others in the tree.
/// Method: one large value, flushed; the engine's statistics and the driver's readings have the
/// files.
#[test]
fn large_values_go_to_blob_files_only_when_separated() {
    for (options, files) in [(Options::new(), 0), (separated(), 1)] {
        let dir = tempfile::tempdir().unwrap();
        let engine = open(dir.path(), Durability::None, &options).unwrap();
        let mut session = engine.session().unwrap();
        let op = Op::Put { key: b"key", value: &[7; 10_000] };
        assert_eq!(session.execute(&op, &mut Rows::new()), Ok(Outcome::Done));
        drop(session);
        assert_eq!(engine.maintain(Maintenance::CompactAll), Ok(true));
        let text = engine.statistics_text().unwrap();
        assert!(text.contains(&format!("blob_file_count {files}\n")), "{text}");
        let state = engine.state().unwrap();
        assert_eq!(state.own_counters.get("table_count"), Some(&1.0), "{state:?}");
        let readings = state.readings;
        let reading = |name: &str| readings.get(name).copied();
        if files == 0 {
            assert_eq!(reading("engine_blob_files"), None);
        } else {
            assert_eq!(reading("engine_blob_files"), Some(1.0));
            assert_eq!(reading("engine_blob_garbage_bytes"), Some(0.0));
            assert!(reading("engine_blob_bytes") >= Some(10_000.0), "{readings:?}");
        }
        engine.close().unwrap();
    }
}

/// Goal: a full compaction empties level 0, also right after a flush began.
/// Method: several memtables, a flush without a wait, then the compaction.
#[test]
fn compacting_everything_includes_what_is_being_flushed() {
    let dir = tempfile::tempdir().unwrap();
    let options = [("max_memtable_size", "256KiB")].into_iter().collect();
    let engine = open(dir.path(), Durability::None, &options).unwrap();
    let mut session = engine.session().unwrap();
    for row in 0..4000_u32 {
        let op = Op::Put { key: &row.to_be_bytes(), value: &[7; 400] };
        assert_eq!(session.execute(&op, &mut Rows::new()), Ok(Outcome::Done));
    }
    drop(session);
    engine.maintain(Maintenance::Flush).unwrap();
    assert_eq!(engine.maintain(Maintenance::CompactAll), Ok(true));
    let state = engine.state().unwrap();
    let levels = state.levels.expect("fjall has levels");
    assert_eq!(levels[0].files, 0, "{levels:?}");
    assert!(levels.iter().map(|level| level.bytes).sum::<u64>() > 1_000_000, "{levels:?}");
    engine.close().unwrap();
}
