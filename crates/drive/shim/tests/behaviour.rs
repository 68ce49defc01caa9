//! Tests with a complete C engine, and with unusable shims.
//!
//! The engine is `sorted.c`, compiled here; a test that finds no C compiler prints `skipped:
//! REASON`.

#![expect(clippy::unwrap_used, reason = "an unwrap in a helper fails the test")]
#![expect(clippy::print_stdout, reason = "a skipped test prints the reason")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use engine::conformance::{battery, print_skips};
use engine::settings_check::refused;
use engine::{Driver, EngineError, Maintenance, OpenSpec, Rows, Setting, VALUE_CHANGES, Way};
use model::capability::{APPENDS, CACHE_SIZE, CONCURRENT_WRITERS, Feature, PARTIAL_UPDATES};
use model::{
    Bytes, Capabilities, DataShape, Durability, Identity, Op, OpKind, Options, Outcome, Settings,
};
use shim::{Binding, HEADER, file_name, open_library};
use tempfile::TempDir;

static SORTED: Binding = Binding {
    capabilities,
    translate: |spec, _| {
        let mut options = spec.options.clone();
        if let Some(jobs) = spec.settings.background_jobs {
            options.set("jobs", jobs.to_string());
        }
        Ok(options)
    },
    settings: &[(Setting::BackgroundJobs, "jobs")],
    own_files: &["rows", "absent"],
};

fn capabilities(_: &Identity) -> Result<Capabilities, EngineError> {
    Ok(Capabilities {
        operations: OpKind::KEY_VALUE.into(),
        durability: [Durability::None].into(),
        key_bytes_max: None,
        value_bytes_max: None,
        features: BTreeMap::from([
            (CONCURRENT_WRITERS.to_owned(), Feature::Yes),
            (CACHE_SIZE.to_owned(), Feature::No("every row is in memory".to_owned())),
        ]),
    })
}

/// Compiles `source` as the shim of an empty library; `None` without a compiler.
fn compiled(source: &str) -> Option<TempDir> {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    fs::write(path("assay_engine.h"), HEADER).unwrap();
    fs::write(path("shim.c"), source).unwrap();
    fs::write(path("libsorted.so"), "the engine is in the shim").unwrap();
    let run = Command::new("cc")
        .args(["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(dir.path())
        .arg(path("shim.c"))
        .arg("-o")
        .arg(path(&file_name("sorted")))
        .output();
    match run {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(dir)
        }
        Err(error) => {
            println!("skipped: no C compiler `cc` ({error}): install gcc or clang");
            None
        }
    }
}

/// Runs `body` in a child process, since a process loads one library.
fn in_child(test: &str, body: impl FnOnce()) {
    const CHILD: &str = "ASSAY_TEST_SHIM";
    if env::var_os(CHILD).is_some() {
        return body();
    }
    let program = env::current_exe().unwrap();
    let mut child = Command::new(program);
    child.args([test, "--exact", "--nocapture"]).env(CHILD, "1");
    let output = child.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    print_skips(&text);
}

fn with_driver(body: impl FnOnce(&dyn Driver, &Path)) {
    if let Some(dir) = compiled(include_str!("sorted.c")) {
        let library = dir.path().join("libsorted.so");
        body(&*open_library(&library, "sorted", &SORTED).unwrap(), dir.path());
    }
}

fn refusal(source: &str) -> Option<String> {
    let dir = compiled(source)?;
    match open_library(&dir.path().join("libsorted.so"), "sorted", &SORTED) {
        Ok(_) => panic!("took it"),
        Err(error) => Some(error.to_string()),
    }
}

fn spec(dir: &Path, options: Options) -> OpenSpec {
    OpenSpec {
        options,
        ..OpenSpec::embedded(
            dir.to_owned(),
            Settings { durability: Durability::None, ..Settings::default() },
            DataShape { rows: 9, key_bytes: 8, value_bytes: 8, compressible_to: 1.0 },
        )
    }
}

/// Goal: an engine written as one C file passes the conformance battery.
#[test]
fn third_party_engine_conforms() {
    in_child("third_party_engine_conforms", || {
        with_driver(|driver, _| {
            battery(driver, &Settings::default(), &Options::new());
            battery(driver, &Settings::default(), &whole_values());
        });
    });
}

/// Options of reads and writes of whole values, though the engine has a way of its own.
fn whole_values() -> Options {
    [(VALUE_CHANGES, "read-modify-write")].into_iter().collect()
}

/// Goal: parts of values are changed in the way that the option selects.
/// Method: the engine counts both ways.
#[test]
fn parts_of_values_are_changed_in_either_way() {
    in_child("parts_of_values_are_changed_in_either_way", || with_driver(check_changes));
}

fn check_changes(driver: &dyn Driver, dir: &Path) {
    assert!(driver.capabilities().has(PARTIAL_UPDATES) && driver.capabilities().has(APPENDS));
    for (options, modifies) in [(Options::new(), 2.0), (whole_values(), 0.0)] {
        let engine = driver.open(&spec(dir, options)).unwrap();
        for kind in [OpKind::PartialUpdate, OpKind::Append] {
            let way = if modifies > 0.0 { Way::Native } else { Way::ReadModifyWrite };
            assert_eq!(engine.way(kind), Some(way));
        }
        assert_eq!(engine.way(OpKind::FieldRead), None);
        let (mut session, mut rows) = (engine.session().unwrap(), Rows::new());
        let key = b"k";
        for op in [
            Op::Put { key, value: b"value" },
            Op::PartialUpdate { key, offset: 1, bytes: b"o" },
            Op::Append { key, bytes: b"s" },
        ] {
            rows.clear(false);
            assert_eq!(session.execute(&op, &mut rows), Ok(Outcome::Done));
        }
        assert_eq!((rows.count(), rows.bytes()), (1, 2), "a change counts, with its bytes");
        rows.clear(true);
        let field = Op::FieldRead { key, offset: 1, length: 5 };
        assert_eq!(session.execute(&field, &mut rows), Ok(Outcome::Done));
        assert_eq!(rows.stored().next(), Some((&key[..], &b"olues"[..])));
        drop(session);
        let counters = engine.state().unwrap().own_counters;
        assert_eq!((counters["modifies"], counters["puts"]), (modifies, 3.0 - modifies));
        engine.close().unwrap();
    }
    let wrong = [(VALUE_CHANGES, "merge")].into_iter().collect();
    let error = driver.open(&spec(dir, wrong)).err();
    assert_eq!(error, Some(refused(VALUE_CHANGES, "write modify or read-modify-write")));
}

/// Goal: a library without the optional function is an engine, and cannot be requested to use it.
#[test]
fn library_without_a_modify_reads_and_writes_whole_values() {
    in_child("library_without_a_modify_reads_and_writes_whole_values", || {
        let lacking = include_str!("sorted.c").replace("int assay_modify", "int skipped");
        let Some(dir) = compiled(&lacking) else { return };
        let library = dir.path().join("libsorted.so");
        let driver = open_library(&library, "sorted", &SORTED).unwrap();
        assert!(!driver.capabilities().has(APPENDS));
        battery(&*driver, &Settings::default(), &whole_values());
        let requested = [(VALUE_CHANGES, "modify")].into_iter().collect();
        let error = driver.open(&spec(dir.path(), requested)).err().unwrap();
        assert!(error.to_string().contains("no function `assay_modify`"), "{error}");
    });
}

/// Goal: the driver returns everything the engine reports.
#[test]
fn reports_of_the_engine_are_returned() {
    in_child("reports_of_the_engine_are_returned", || with_driver(check_reports));
}

fn check_reports(driver: &dyn Driver, dir: &Path) {
    let identity = driver.identity();
    assert_eq!((&*identity.engine, &*identity.version), ("sorted", "1.0"));
    assert!(identity.facts.contains_key("compiler"), "{identity:?}");
    assert_eq!(identity.facts["shim_sha256"].len(), 64);
    assert_ne!(identity.sha256.as_ref(), Some(&identity.facts["shim_sha256"]));
    let requested = spec(dir, [("room", "64")].into_iter().collect());
    let engine = driver.open(&requested).unwrap();
    assert_eq!(engine.effective_options().unwrap(), requested.options);
    let (mut session, mut rows) = (engine.session().unwrap(), Rows::new());
    let put = Op::Put { key: b"k", value: b"v" };
    assert_eq!(session.execute(&put, &mut rows), Ok(Outcome::Done));
    drop(session);
    let state = engine.state().unwrap();
    assert_eq!(state.readings["engine_memtable_bytes"].to_bits(), 1536f64.to_bits());
    assert_eq!(state.own_counters["puts"].to_bits(), 1f64.to_bits());
    assert_eq!(state.is_idle, Some(true));
    assert_eq!(engine.statistics_text().unwrap(), "** rows **\n1 rows\n");
    assert_eq!(engine.own_files(), [] as [&Path; 0]);
    assert_eq!(engine.maintain(Maintenance::CompactAll), Ok(false));
    assert_eq!(engine.maintain(Maintenance::Flush), Ok(true));
    assert_eq!(engine.own_files(), [dir.join("rows")]);
    engine.close().unwrap();
}

/// Goal: a refusal carries the engine's message and has no side effect.
#[test]
fn refusals_carry_the_engines_message() {
    in_child("refusals_carry_the_engines_message", || with_driver(check_refusals));
}

fn check_refusals(driver: &dyn Driver, dir: &Path) {
    let wrong = driver.open(&spec(dir, [("rooms", "1")].into_iter().collect())).err();
    assert_eq!(wrong, Some(refused("rooms", "sorted: not an option")));
    let error = driver.open(&spec(dir, [("jobs", "2")].into_iter().collect())).err();
    assert_eq!(error, Some(EngineError::capability("jobs", "sorted: it has no threads")));
    let mut threads = spec(dir, Options::new());
    threads.settings.background_jobs = Some(2);
    let reason = "background_jobs: sorted: it has no threads";
    let error = driver.open(&threads).err();
    assert_eq!(error, Some(EngineError::setting(Setting::BackgroundJobs, reason)));
    let requested = spec(dir, Options::new());
    let engine = driver.open(&requested).unwrap();
    let second = driver.open(&requested).err().unwrap();
    assert!(second.to_string().contains("a second open engine"), "{second}");
    engine.close().unwrap();
    fs::write(dir.join("rows"), [255; 20]).unwrap();
    let damaged = driver.open(&requested).err().unwrap();
    assert_eq!(damaged.to_string(), "sorted: the file of rows is damaged");
    let mut lacking = requested;
    lacking.settings.cache_bytes = Some(Bytes(1));
    let lacks = driver.open(&lacking).err().unwrap();
    assert!(lacks.to_string().contains("every row is in memory"), "{lacks}");
}

#[test]
fn shim_of_another_version_is_refused() {
    in_child("shim_of_another_version_is_refused", || {
        let Some(text) = refusal("unsigned assay_abi(void) { return 7; }") else { return };
        assert!(text.contains("has version 7 of Assay's C interface"), "{text}");
    });
}

#[test]
fn library_without_the_functions_is_refused() {
    in_child("library_without_the_functions_is_refused", || {
        let Some(text) = refusal("int add(int a, int b) { return a + b; }") else { return };
        assert!(text.contains("it lacks `assay_abi`"), "{text}");
    });
}

#[test]
fn missing_function_is_named() {
    in_child("missing_function_is_named", || {
        let source = include_str!("sorted.c").replace("int assay_scan", "int assay_skim");
        let Some(text) = refusal(&source) else { return };
        assert!(text.contains("it lacks `assay_scan`"), "{text}");
    });
}

#[test]
fn shim_for_other_headers_is_diagnosed() {
    in_child("shim_for_other_headers_is_diagnosed", || {
        let source = "int splinter(void);\nunsigned assay_abi(void) { return splinter(); }";
        let Some(text) = refusal(source) else { return };
        assert!(text.contains("undefined symbol: splinter"), "{text}");
        assert!(text.contains("against headers of another build"), "{text}");
    });
}

#[test]
fn missing_shim_names_the_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let library = dir.path().join("libsorted.so");
    let error_text = |path: &Path| open_library(path, "sorted", &SORTED).err().unwrap().to_string();
    assert!(error_text(&library).contains("No such file"));
    fs::write(&library, "").unwrap();
    assert!(error_text(&library).contains("`assay engine add sorted PATH --headers DIR`"));
}
