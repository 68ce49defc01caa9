//! Runs tests in namespaces of their own, so that a kill leaves no mount and no process.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crashfs::{Disk, Forgotten, Mounted, Names, Survival};

/// Variable with the directory of a test that runs in its namespaces.
pub(crate) const DIR: &str = "CRASHFS_TEST_DIR";
/// Bytes of memory of a test's disk.
const LIMIT_BYTES: u64 = 256 << 20;

/// Runs a test in namespaces: starts this program again for the test with this path.
#[expect(clippy::print_stdout, reason = "a skipped test prints why")]
pub(crate) fn isolated(test: &str, body: fn(&Path)) {
    if let Some(dir) = std::env::var_os(DIR) {
        match Disk::check() {
            Ok(()) => body(Path::new(&dir)),
            Err(error) => println!("skipped: {error}"),
        }
        return;
    }
    let dir = tempfile::tempdir().expect("a scratch folder");
    let mut command = namespaces();
    command.arg(std::env::current_exe().expect("a program")).env(DIR, dir.path());
    let output = command.args(["--exact", test, "--nocapture"]).output();
    let Ok(output) = output else {
        println!("skipped: unshare is not installed");
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    if text.contains("unshare: ") {
        println!("skipped: this account may not make namespaces: {text}");
        return;
    }
    for line in text.lines().filter_map(|line| line.find("skipped: ").map(|at| &line[at..])) {
        println!("{line}");
    }
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

/// Returns the command that runs a program in its own mount and PID namespace.
pub(crate) fn namespaces() -> Command {
    let mut command = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    command.args(["--mount", "--pid", "--fork", "--kill-child"]);
    command
}

/// A disk and its mount.
pub(crate) struct Machine {
    pub(crate) disk: Disk,
    at: PathBuf,
    mounted: Option<Mounted>,
}

impl Machine {
    /// Returns a machine with an empty disk.
    pub(crate) fn new(dir: &Path, names: Names) -> Self {
        let at = dir.join("disk");
        fs::create_dir(&at).expect("a scratch folder");
        let disk = Disk::new(names, LIMIT_BYTES);
        let mounted = Some(disk.mount(&at).expect("a mount"));
        Self { disk, at, mounted }
    }

    /// Returns the path of a file on the disk.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.at.join(file)
    }

    /// Simulates a power cut and starts again.
    pub(crate) fn cut(&mut self, survival: Survival) -> Forgotten {
        let forgotten = self.disk.cut(survival);
        self.restart();
        forgotten
    }

    /// Mounts the disk again, after changes were frozen.
    pub(crate) fn restart(&mut self) {
        self.mounted = None;
        self.mounted = Some(self.disk.mount(&self.at).expect("a mount"));
        self.disk.thaw();
    }

    /// Returns the names in a directory of the disk.
    pub(crate) fn names(&self, dir: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(dir)).expect("a directory");
        let name = |entry: std::io::Result<fs::DirEntry>| {
            entry.expect("an entry").file_name().into_string().expect("UTF-8")
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }
}

/// Runs a Python program; returns `None` and prints why, if there is no Python.
#[expect(clippy::print_stdout, reason = "a skipped test prints why")]
pub(crate) fn python(program: &str, file: &Path) -> Option<String> {
    let Ok(output) = Command::new("python3").args(["-c", program]).arg(file).output() else {
        println!("skipped in part: python3 is not installed");
        return None;
    };
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
