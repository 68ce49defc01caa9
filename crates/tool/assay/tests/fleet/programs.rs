//! Programs of the distribution that tests need, and waiting for what they do.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Directories of daemons, which the search path of an account may lack.
const DAEMON_DIRS: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];
/// Interval between checks of a condition that starts a program: 5 % of a CPU.
const POLL: Duration = Duration::from_millis(200);

/// Returns where a program is.
pub(crate) fn path_of(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let dirs = env::split_paths(&path).chain(DAEMON_DIRS.map(PathBuf::from));
    dirs.map(|dir| dir.join(program)).find(|file| file.is_file())
}

/// Returns whether programs and PID namespaces are here; prints why the test is skipped otherwise.
#[expect(clippy::print_stdout, reason = "a skipped test prints why")]
pub(crate) fn are_here(programs: &[&str], packages: &str) -> bool {
    if let Some(missing) = programs.iter().find(|program| path_of(program).is_none()) {
        println!("skipped: no {missing} here: apt-get install {packages}");
        return false;
    }
    let mut probe = Command::new("unshare");
    probe.args(namespace_options()).arg("true");
    let is_allowed = probe.stderr(Stdio::null()).status().is_ok_and(|status| status.success());
    if !is_allowed {
        println!("skipped: unshare cannot make a PID namespace here");
    }
    is_allowed
}

/// Returns the options of `unshare` for a PID namespace that ends with its first process.
///
/// An account other than root needs a user namespace, in which it is itself.
pub(crate) fn namespace_options() -> Vec<&'static str> {
    let mut options = vec!["--pid", "--fork", "--kill-child", "--mount-proc"];
    if !rustix::process::getuid().is_root() {
        options.extend(["--user", "--map-current-user"]);
    }
    options
}

/// Waits until `find` returns a value.
///
/// # Panics
/// After `limit`, with `what` was awaited.
pub(crate) fn wait_for<T>(what: &str, limit: Duration, find: impl FnMut() -> Option<T>) -> T {
    within(limit, find).unwrap_or_else(|| panic!("not within {limit:?}: {what}"))
}

/// Waits until `find` returns a value, at most for `limit`.
#[expect(clippy::disallowed_methods, reason = "a test waits for daemons in real time")]
pub(crate) fn within<T>(limit: Duration, mut find: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + limit;
    loop {
        let found = find();
        if found.is_some() || Instant::now() >= end {
            return found;
        }
        thread::sleep(POLL);
    }
}
