//! Tests of drivers: bodies in child processes, and durability after a crash.
//!
//! A process loads one engine library only.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{env, fs, thread};

use model::{DataShape, Direction, Durability, Op, Outcome, Settings};

use crate::{Driver, Engine, OpenSpec, Rows};

/// Environment variable: the library the child loads.
const LIBRARY: &str = "ASSAY_TEST_LIBRARY";

/// Where a test body ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestRun {
    /// In this process, the child.
    Here,
    /// In the child, with its output.
    InChild(String),
    /// Not at all; the reason is printed.
    Skipped,
}

/// Why a library is missing, and how to get it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Absent {
    /// Available as a package or download: a failure where `CI` is `true`, else skipped.
    Required(String),
    /// Not packaged: skipped everywhere.
    Optional(String),
}

/// Returns the version of a crate that is an engine, from the workspace's lock file.
///
/// # Panics
/// When the lock file cannot be read, or lacks the crate.
pub fn locked_version(package: &str) -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../Cargo.lock");
    let lock = fs::read_to_string(path).expect("the workspace has a lock file");
    let head = format!("name = \"{package}\"\nversion = \"");
    let version = lock.split_once(&head).and_then(|(_, rest)| rest.split_once('"'));
    version.expect("the crate is locked").0.to_owned()
}

/// Runs `body` on a library in a child process.
///
/// `find` returns the library or the reason to skip the test. `test` is the calling test's whole
/// name, modules included: the child is this test program, running that test alone. There `find` is
/// not called, and nothing is loaded before `body` loads it. Scratch folders of the child are in
/// memory where the system offers it.
///
/// ```no_run
/// use engine::conformance::{Absent, TestRun, on_library};
///
/// let find = || Err(Absent::Optional("no liboak.so: build it with make".to_owned()));
/// let ran = on_library("oak_conforms", find, |path| println!("loads {}", path.display()));
/// assert_eq!(ran, TestRun::Skipped);
/// ```
///
/// # Panics
/// When the child fails, with its output; when `test` names no test; when a required library is
/// absent where `CI` is `true`.
pub fn on_library(
    test: &str,
    find: impl FnOnce() -> Result<PathBuf, Absent>,
    body: impl FnOnce(&Path),
) -> TestRun {
    if let Some(path) = env::var_os(LIBRARY) {
        body(Path::new(&path));
        return TestRun::Here;
    }
    let path = match find() {
        Ok(path) => path,
        Err(Absent::Required(reason)) if env::var_os("CI").is_some_and(|ci| ci == "true") => {
            panic!("{reason}")
        }
        Err(Absent::Required(reason) | Absent::Optional(reason)) => {
            skip(&reason);
            return TestRun::Skipped;
        }
    };
    let program = env::current_exe().expect("a test knows its program");
    let child = Command::new(program)
        .args([test, "--exact", "--nocapture"])
        .env(LIBRARY, &path)
        .env("TMPDIR", scratch_dir())
        .output()
        .expect("the test's program starts");
    let output = String::from_utf8_lossy(&child.stdout) + String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{}: {}\n{output}", path.display(), child.status);
    // A wrong name would run no test, and pass.
    assert!(output.contains("1 passed"), "`{test}` is not the name of the calling test\n{output}");
    print_skips(&output);
    TestRun::InChild(output.into_owned())
}

/// Returns the distribution's library `file`, such as `liblmdb.so.0`.
///
/// # Errors [`Absent::Required`], with the Debian `package` to install, when the loader's usual
/// directories lack it.
pub fn distribution_library(file: &str, package: &str) -> Result<PathBuf, Absent> {
    let triplet = format!("/usr/lib/{}-linux-gnu", env::consts::ARCH);
    let dirs = [&triplet, "/usr/lib64", "/usr/lib", "/usr/local/lib"];
    let found = dirs.iter().map(|dir| Path::new(dir).join(file)).find(|path| path.is_file());
    found.ok_or_else(|| Absent::Required(format!("no {file} here: apt-get install {package}")))
}

/// Prints what a test's child skipped, and why, as the test's own output.
///
/// The child's test harness may have begun the line.
#[expect(clippy::print_stdout, reason = "a skipped test prints the reason")]
pub fn print_skips(output: &str) {
    for line in output.lines() {
        if let Some(at) = line.find("skipped: ").or_else(|| line.find("skipped in part: ")) {
            println!("{}", &line[at..]);
        }
    }
}

/// Pause between two polls of [`wait_until`], and how many there are at most: five minutes, which
/// only end a test that would hang.
const POLLS: (Duration, u32) = (Duration::from_millis(5), 60_000);

/// Waits until a condition holds; returns whether it did.
#[expect(clippy::disallowed_methods, reason = "a test waits for what runs elsewhere")]
pub fn wait_until(mut holds: impl FnMut() -> bool) -> bool {
    let (pause, most) = POLLS;
    (0..most).any(|_| {
        let is_over = holds();
        if !is_over {
            thread::sleep(pause);
        }
        is_over
    })
}

#[expect(clippy::print_stdout, reason = "a skipped test prints the reason")]
fn skip(reason: &str) {
    println!("skipped: {reason}");
}

/// Returns a directory for databases, in memory where it has room.
///
/// Engines sync every file they create, a hundred a second with the small memtables of tests.
pub fn scratch_dir() -> PathBuf {
    let memory = Path::new("/dev/shm");
    let has_room = rustix::fs::statvfs(memory)
        .is_ok_and(|room| room.f_bavail.saturating_mul(room.f_frsize) >= SCRATCH_BYTES_MIN);
    if has_room { memory.to_owned() } else { env::temp_dir() }
}

/// Room for the databases of tests that run at once.
const SCRATCH_BYTES_MIN: u64 = 1 << 30;

/// Rows written before the crash.
const ROWS: u32 = 300;
/// A value large enough that the rows fill several pages.
const VALUE: [u8; 900] = [7; 900];
/// What is changed or added in two of three rows.
const PART: &[u8] = b"a part of a value";

/// Checks that acknowledged writes, and changes of parts of values, survive a process crash.
///
/// For the classes `os` and `sync`. The crash is simulated: rows are written, the directory is
/// copied as the operating system has it while the engine is open, and the copy is opened.
///
/// # Panics
/// When the engine fails, or a row is missing or another; the text names the class.
pub fn survives_process_crash(driver: &dyn Driver) {
    for class in [Durability::Os, Durability::Sync] {
        let dir = tempfile::tempdir().expect("a directory can be made");
        let image = tempfile::tempdir().expect("a directory can be made");
        let engine = open(driver, dir.path(), class);
        write_rows(engine.as_ref());
        copy(dir.path(), image.path());
        engine.close().expect("the engine closes");

        let engine = open(driver, image.path(), class);
        check_rows(engine.as_ref(), class);
        engine.close().expect("the engine closes");
    }
}

fn open(driver: &dyn Driver, dir: &Path, durability: Durability) -> Box<dyn Engine> {
    let settings = Settings { durability, ..Settings::default() };
    let data = DataShape { rows: 1000, key_bytes: 4, value_bytes: 900, compressible_to: 0.5 };
    let spec = OpenSpec::embedded(dir.to_owned(), settings, data);
    driver.open(&spec).expect("the directory is good")
}

/// Returns the operations that write a row, and its value after them.
fn writes(key: &[u8], row: u32) -> (Vec<Op<'_>>, Vec<u8>) {
    let put = Op::Put { key, value: &VALUE };
    let mut value = VALUE.to_vec();
    let part = match row % 3 {
        0 => return (vec![put], value),
        1 => {
            value[500..500 + PART.len()].copy_from_slice(PART);
            Op::PartialUpdate { key, offset: 500, bytes: PART }
        }
        _ => {
            value.extend_from_slice(PART);
            Op::Append { key, bytes: PART }
        }
    };
    (vec![put, part], value)
}

fn write_rows(engine: &dyn Engine) {
    let mut session = engine.session().expect("there is room for a client");
    let mut rows = Rows::new();
    for row in 0..ROWS {
        for op in writes(&row.to_be_bytes(), row).0 {
            let outcome = session.execute(&op, &mut rows).expect("the row is written");
            assert_eq!(outcome, Outcome::Done, "{op:?}");
        }
    }
}

fn check_rows(engine: &dyn Engine, class: Durability) {
    let mut session = engine.session().expect("there is room for a client");
    let mut rows = Rows::new();
    rows.clear(true);
    let op = Op::Scan { start: &[0], limit: u32::MAX, direction: Direction::Forward };
    session.execute(&op, &mut rows).expect("the rows are read");
    assert_eq!(rows.count(), u64::from(ROWS), "class {class}");
    for (row, (key, value)) in (0..ROWS).zip(rows.stored()) {
        let is_right = key == row.to_be_bytes() && value == writes(key, row).1;
        assert!(is_right, "class {class}: row {row} is another");
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("the directory is there") {
        let entry = entry.expect("the directory can be read");
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            fs::create_dir(&target).expect("the copy can be made");
            copy(&source, &target);
        } else {
            fs::copy(&source, &target).expect("the copy can be made");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: the body runs only in the child, on the path found.
    /// Method: the child prints its process id, which differs from the parent's.
    #[test]
    fn body_runs_in_a_child_process() {
        let test = "conformance::testing::tests::body_runs_in_a_child_process";
        let body = |path: &Path| println!("pid {} on {}", std::process::id(), path.display());
        match on_library(test, || Ok(PathBuf::from("/lib/liboak.so")), body) {
            TestRun::Here => {}
            TestRun::InChild(output) => {
                assert!(output.contains("on /lib/liboak.so"), "{output}");
                assert!(!output.contains(&format!("pid {} ", std::process::id())), "{output}");
            }
            TestRun::Skipped => panic!("a library was found"),
        }
    }

    #[test]
    fn optional_library_is_skipped() {
        let find = || Err(Absent::Optional("no liboak.so".to_owned()));
        assert_eq!(on_library("any", find, |_| panic!("there is no library")), TestRun::Skipped);
    }

    #[test]
    fn missing_package_is_named() {
        let absent = distribution_library("liboak.so.0", "liboak0");
        let reason = "no liboak.so.0 here: apt-get install liboak0".to_owned();
        assert_eq!(absent, Err(Absent::Required(reason)));
    }

    #[test]
    #[should_panic(expected = "is not the name of the calling test")]
    fn wrong_test_name_panics() {
        on_library("no_such_test", || Ok(PathBuf::new()), |_| ());
    }

    #[test]
    fn memory_survives_a_process_crash() {
        survives_process_crash(&crate::memory::MemoryDriver);
    }
}
