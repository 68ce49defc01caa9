//! A test's body in a process of its own, since a process takes one engine library.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Tells the child which library to load.
const LIBRARY: &str = "ASSAY_TEST_LIBRARY";

/// Where a test's body ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ran {
    /// In this process, which is the child.
    Here,
    /// In the child, which printed this.
    InChild(String),
    /// Nowhere; the reason is printed.
    Nowhere,
}

/// Why a test cannot have its library, and how to get it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Absent {
    /// A package or a download has it: skipped, but a failure where `CI` is `true`.
    Due(String),
    /// Nobody packs it: skipped everywhere.
    Rare(String),
}

/// Runs `body` on the library that `find` returns, in a child process, or prints why it is skipped.
///
/// `test` is the calling test's whole name, modules included: the child is this very test program,
/// told to run that test alone. There `find` is not called, and nothing is loaded before `body`
/// loads it. Scratch folders of the child lie in memory where the system offers it.
///
/// ```no_run
/// use engine::conformance::{Absent, Ran, on_library};
///
/// let find = || Err(Absent::Rare("no liboak.so: build it with make".to_owned()));
/// let ran = on_library("oak_conforms", find, |path| println!("loads {}", path.display()));
/// assert_eq!(ran, Ran::Nowhere);
/// ```
///
/// # Panics
/// When the child fails, with what it printed; when `test` names no test; when a library that is
/// due is absent where `CI` is `true`.
pub fn on_library(
    test: &str,
    find: impl FnOnce() -> Result<PathBuf, Absent>,
    body: impl FnOnce(&Path),
) -> Ran {
    if let Some(path) = env::var_os(LIBRARY) {
        body(Path::new(&path));
        return Ran::Here;
    }
    let path = match find() {
        Ok(path) => path,
        Err(Absent::Due(reason)) if env::var_os("CI").is_some_and(|ci| ci == "true") => {
            panic!("{reason}")
        }
        Err(Absent::Due(reason) | Absent::Rare(reason)) => {
            skip(&reason);
            return Ran::Nowhere;
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
    Ran::InChild(output.into_owned())
}

/// Returns the distribution's library of that file name, such as `liblmdb.so.0`.
///
/// # Errors
/// [`Absent::Due`], with the Debian `package` to install, when the loader's usual directories lack
/// it.
pub fn distribution_library(file: &str, package: &str) -> Result<PathBuf, Absent> {
    let triplet = format!("/usr/lib/{}-linux-gnu", env::consts::ARCH);
    let dirs = [&triplet, "/usr/lib64", "/usr/lib", "/usr/local/lib"];
    let found = dirs.iter().map(|dir| Path::new(dir).join(file)).find(|path| path.is_file());
    found.ok_or_else(|| Absent::Due(format!("no {file} here: apt-get install {package}")))
}

#[expect(clippy::print_stdout, reason = "a test that is skipped says why")]
fn skip(reason: &str) {
    println!("skipped: {reason}");
}

/// Returns where the child makes its databases: in memory where the system offers it.
///
/// Engines sync every file they make; with the small memtables of tests that is a hundred a second.
fn scratch_dir() -> PathBuf {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { memory.to_owned() } else { env::temp_dir() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: the body runs in the child alone, on the path that was found.
    /// Method: the child prints its process id, which is not ours.
    #[test]
    fn the_body_runs_in_a_process_of_its_own() {
        let test = "conformance::process::tests::the_body_runs_in_a_process_of_its_own";
        let body = |path: &Path| println!("pid {} on {}", std::process::id(), path.display());
        match on_library(test, || Ok(PathBuf::from("/lib/liboak.so")), body) {
            Ran::Here => {}
            Ran::InChild(output) => {
                assert!(output.contains("on /lib/liboak.so"), "{output}");
                assert!(!output.contains(&format!("pid {} ", std::process::id())), "{output}");
            }
            Ran::Nowhere => panic!("a library was found"),
        }
    }

    #[test]
    fn a_library_nobody_packs_is_skipped() {
        let find = || Err(Absent::Rare("no liboak.so".to_owned()));
        assert_eq!(on_library("any", find, |_| panic!("there is no library")), Ran::Nowhere);
    }

    #[test]
    fn what_to_install_is_told() {
        let absent = distribution_library("liboak.so.0", "liboak0");
        let reason = "no liboak.so.0 here: apt-get install liboak0".to_owned();
        assert_eq!(absent, Err(Absent::Due(reason)));
    }

    #[test]
    #[should_panic(expected = "is not the name of the calling test")]
    fn a_wrong_name_of_the_test_is_told() {
        on_library("no_such_test", || Ok(PathBuf::new()), |_| ());
    }
}
