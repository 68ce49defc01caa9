//! An engine of our own behind the C interface, and libraries that are none.
//!
//! The engine is `sorted.c`, compiled here; a test that finds no C compiler prints `skipped: why`.

#![expect(clippy::unwrap_used, reason = "what a test's functions unwrap fails the test")]
#![expect(clippy::print_stdout, reason = "a test says why it is skipped")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use engine::conformance::battery;
use engine::{Driver, EngineError, Maintenance, OpenSpec, Rows};
use model::capability::{CACHE_SIZE, CONCURRENT_WRITERS, Feature};
use model::{
    Bytes, Capabilities, DataShape, Durability, Identity, Op, OpKind, Options, Outcome, Settings,
};
use shim::{Binding, HEADER, file_name, open_library};
use tempfile::TempDir;

static SORTED: Binding = Binding {
    engine: "sorted",
    capabilities,
    translate: |spec, _| Ok(spec.options.clone()),
    own_files: &["rows", "absent"],
};

fn capabilities(_: &Identity) -> Capabilities {
    Capabilities {
        operations: OpKind::ALL.into(),
        durability: [Durability::None].into(),
        key_bytes_max: None,
        value_bytes_max: None,
        features: BTreeMap::from([
            (CONCURRENT_WRITERS.to_owned(), Feature::Yes),
            (CACHE_SIZE.to_owned(), Feature::No("every row is in memory".to_owned())),
        ]),
    }
}

/// Compiles `source` as the shim beside an empty library; `None` without a compiler.
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

/// Runs `body` in a process of its own, since a process takes one library.
fn alone(test: &str, body: impl FnOnce()) {
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
    for line in text.lines().filter(|line| line.starts_with("skipped")) {
        println!("{line}");
    }
}

fn with_driver(body: impl FnOnce(&dyn Driver, &Path)) {
    if let Some(dir) = compiled(include_str!("sorted.c")) {
        let library = dir.path().join("libsorted.so");
        body(&*open_library(&library, &SORTED).unwrap(), dir.path());
    }
}

fn refusal(source: &str) -> Option<String> {
    let dir = compiled(source)?;
    match open_library(&dir.path().join("libsorted.so"), &SORTED) {
        Ok(_) => panic!("took it"),
        Err(error) => Some(error.to_string()),
    }
}

fn spec(dir: &Path, options: Options) -> OpenSpec {
    OpenSpec {
        endpoint: None,
        application: None,
        dir: dir.to_owned(),
        settings: Settings { durability: Durability::None, ..Settings::default() },
        options,
        data: DataShape { rows: 9, key_bytes: 8, value_bytes: 8, compressible_to: 1.0 },
    }
}

/// Goal: an engine whose author wrote one C file passes what every engine must pass.
#[test]
fn an_engine_of_ones_own_conforms() {
    alone("an_engine_of_ones_own_conforms", || {
        with_driver(|driver, _| battery(driver, &Settings::default(), &Options::new()));
    });
}

/// Goal: what the engine tells of itself reaches the record.
#[test]
fn what_the_engine_tells_is_told() {
    alone("what_the_engine_tells_is_told", || with_driver(told));
}

fn told(driver: &dyn Driver, dir: &Path) {
    let identity = driver.identity();
    assert_eq!((&*identity.engine, &*identity.version), ("sorted", "1.0"));
    assert!(identity.facts.contains_key("compiler"), "{identity:?}");
    assert_eq!(identity.facts["shim_sha256"].len(), 64);
    assert_ne!(identity.sha256.as_ref(), Some(&identity.facts["shim_sha256"]));
    let asked = spec(dir, [("room", "64")].into_iter().collect());
    let engine = driver.open(&asked).unwrap();
    assert_eq!(engine.effective_options().unwrap(), asked.options);
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

/// Goal: what the engine refuses is told in its words, and does no harm.
#[test]
fn what_the_engine_refuses_is_told_in_its_words() {
    alone("what_the_engine_refuses_is_told_in_its_words", || with_driver(refused));
}

fn refused(driver: &dyn Driver, dir: &Path) {
    let wrong = driver.open(&spec(dir, [("rooms", "1")].into_iter().collect())).err();
    let reason = "sorted: not an option; known: room".to_owned();
    assert_eq!(wrong, Some(EngineError::Option { option: "rooms".to_owned(), reason }));
    let asked = spec(dir, Options::new());
    let engine = driver.open(&asked).unwrap();
    let second = driver.open(&asked).err().unwrap();
    assert!(second.to_string().contains("a second open engine"), "{second}");
    engine.close().unwrap();
    fs::write(dir.join("rows"), [255; 20]).unwrap();
    let damaged = driver.open(&asked).err().unwrap();
    assert_eq!(damaged.to_string(), "sorted: the file of rows is damaged");
    let mut lacking = asked;
    lacking.settings.cache_bytes = Some(Bytes(1));
    let lacks = driver.open(&lacking).err().unwrap();
    assert!(lacks.to_string().contains("every row is in memory"), "{lacks}");
}

#[test]
fn a_shim_of_another_version_is_refused() {
    alone("a_shim_of_another_version_is_refused", || {
        let refused = refusal("unsigned assay_abi(void) { return 7; }");
        assert!(
            refused.is_none_or(|text| text.contains("speaks version 7 of Assay's C interface"))
        );
    });
}

#[test]
fn a_library_without_the_functions_is_no_shim() {
    alone("a_library_without_the_functions_is_no_shim", || {
        let refused = refusal("int add(int a, int b) { return a + b; }");
        assert!(refused.is_none_or(|text| text.contains("it lacks `assay_abi`")));
    });
}

#[test]
fn a_shim_that_lacks_a_function_is_told_which() {
    alone("a_shim_that_lacks_a_function_is_told_which", || {
        let source = include_str!("sorted.c").replace("int assay_scan", "int assay_skim");
        let refused = refusal(&source);
        assert!(refused.is_none_or(|text| text.contains("it lacks `assay_scan`")));
    });
}

#[test]
fn a_shim_for_other_headers_than_its_library_is_told_so() {
    alone("a_shim_for_other_headers_than_its_library_is_told_so", || {
        let source = "int splinter(void);\nunsigned assay_abi(void) { return splinter(); }";
        let Some(text) = refusal(source) else { return };
        assert!(text.contains("undefined symbol: splinter"), "{text}");
        assert!(text.contains("against headers of another build"), "{text}");
    });
}

#[test]
fn a_library_without_a_shim_is_told_how_to_get_one() {
    let dir = tempfile::tempdir().unwrap();
    let library = dir.path().join("libsorted.so");
    let told = |path: &Path| open_library(path, &SORTED).err().unwrap().to_string();
    assert!(told(&library).contains("No such file"));
    fs::write(&library, "").unwrap();
    assert!(told(&library).contains("`assay engine add sorted PATH --headers DIR`"));
}
