//! A scratch directory per test, in which Assay runs an experiment.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use archive::{ExperimentDir, Results};
use assert_cmd::assert::OutputAssertExt;
use model::RunRecord;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// Name of the experiment in every sandbox.
pub(crate) const NAME: &str = "bad-days";
/// Interval between checks of a predicate.
const POLL: Duration = Duration::from_millis(2);

/// A scratch directory with an experiment in it.
pub(crate) struct Sandbox {
    dir: TempDir,
}

impl Sandbox {
    /// Makes a sandbox whose experiment has these variants: name, engine, fault.
    pub(crate) fn of(benchmark: &str, variants: &[(&str, &str, &str)]) -> Self {
        let option = |fault: &str| match fault {
            "" => String::new(),
            fault => format!("fault = \"{fault}\""),
        };
        let variants: Vec<_> =
            variants.iter().map(|(name, engine, fault)| (*name, *engine, option(fault))).collect();
        Self::with_options(benchmark, &variants)
    }

    /// Makes a sandbox whose experiment has these variants: name, engine, options in TOML.
    pub(crate) fn with_options(benchmark: &str, variants: &[(&str, &str, String)]) -> Self {
        let mut text = format!(
            "[experiment]\nname = \"{NAME}\"\nquestion = \"Which variant survives?\"\nbase = \
             \"{}\"\n[benchmark]\n{benchmark}\n",
            variants[0].0
        );
        for (name, engine, options) in variants {
            text += &format!("[[variant]]\nname = \"{name}\"\nengine = \"{engine}\"\n");
            text += &format!("options = {{ {options} }}\n");
        }
        let dir = tempfile::tempdir().expect("a scratch directory");
        fs::write(dir.path().join("experiment.toml"), text).expect("a scratch directory");
        Self { dir }
    }

    /// Makes a sandbox of one variant that reads for `duration` after filling 2,000 rows.
    pub(crate) fn reading(duration: &str, variants: &[(&str, &str, &str)]) -> Self {
        let benchmark = format!(
            "steps = [\"filluniquerandom\", \"readrandom\"]\nrows = \"2k\"\n\
             duration = \"{duration}\""
        );
        Self::of(&benchmark, variants)
    }

    /// Returns a path in the sandbox.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Returns a command of Assay in this sandbox, with its own directories.
    pub(crate) fn assay(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("assay"));
        command.current_dir(self.dir.path()).args(arguments);
        command.args(["--results", "results", "--data-dir", "data"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Returns the command that runs the experiment.
    pub(crate) fn run(&self, more: &[&str]) -> Command {
        let mut command = self.assay(&["run", "experiment.toml", "--disk-floor", "1MiB"]);
        command.args(more);
        command
    }

    /// Returns the command that completes the experiment.
    pub(crate) fn resume(&self) -> Command {
        self.assay(&["run", "--resume", NAME, "--disk-floor", "1MiB"])
    }

    /// Returns the stdout of a command that must succeed; a busy host may leave no result (3).
    pub(crate) fn result_of(&self, arguments: &[&str]) -> String {
        let output = self.assay(arguments).assert().code(&[0, 3, 4][..]).get_output().clone();
        String::from_utf8(output.stdout).expect("Assay writes UTF-8")
    }

    /// Returns the newest experiment, if any.
    pub(crate) fn experiment(&self) -> Option<ExperimentDir> {
        Results::at(&self.path("results")).find(NAME).ok()
    }

    /// Returns the records of the newest experiment, by cell; those of complete runs agree with
    /// their seconds and histograms.
    pub(crate) fn records(&self) -> BTreeMap<String, RunRecord> {
        let Some(dir) = self.experiment() else { return BTreeMap::new() };
        let manifest = dir.manifest().expect("a manifest is always readable");
        let records = dir.runs(&manifest).expect("a record is always readable");
        for record in records.iter().filter(|record| record.end.is_complete()) {
            let found = archive::recount(&dir.run_dir(&record.cell.id), record);
            let differing = found.expect("its logs are readable").differing;
            assert_eq!(differing, [""; 0], "{}", record.cell.id);
        }
        records.into_iter().map(|record| (record.cell.id.clone(), record)).collect()
    }

    /// Returns the intervals of a cell's run.
    pub(crate) fn intervals(&self, cell: &str) -> Vec<model::IntervalRecord> {
        let dir = self.experiment().expect("the experiment was begun");
        dir.intervals(cell).expect("intervals are always readable")
    }

    /// Returns Assay's worker processes: their working directory is the data directory.
    pub(crate) fn workers(&self) -> Vec<u32> {
        let Ok(data) = fs::canonicalize(self.path("data")) else { return Vec::new() };
        let processes = fs::read_dir("/proc").expect("/proc is mounted").filter_map(Result::ok);
        let works_there =
            |path: &Path| fs::read_link(path.join("cwd")).is_ok_and(|cwd| cwd == data);
        let inside = processes.filter(|process| works_there(&process.path()));
        inside.filter_map(|process| process.file_name().to_str()?.parse().ok()).collect()
    }

    /// Returns the entries of the data directory, except Assay's marker file.
    pub(crate) fn data_left(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path("data")) else { return Vec::new() };
        let names = entries.map(|entry| entry.expect("readable").file_name());
        let names = names.map(|name| name.to_string_lossy().into_owned());
        names.filter(|name| name != ".assay-data").collect()
    }
}

/// Runs a command that measures: it succeeds, or a busy host leaves no result (3).
pub(crate) fn ran(command: &mut Command) -> Output {
    command.assert().code(&[0, 3][..]).get_output().clone()
}

/// Returns the command run by an unprivileged user; prints why if impossible.
///
/// The sandbox is opened to that user, who creates results and data.
pub(crate) fn as_unprivileged(sandbox: &Sandbox, command: &Command) -> Option<Command> {
    if !rustix::process::geteuid().is_root() {
        return Some(wrapped(&[], command));
    }
    let all = fs::Permissions::from_mode(0o777);
    fs::set_permissions(sandbox.path(""), all).expect("the sandbox");
    let ids = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let mut probe = wrapped(&ids, &sandbox.assay(&["list"]));
    match probe.output() {
        Ok(output) if output.status.success() => Some(wrapped(&ids, command)),
        Ok(output) => {
            note(&format!("skipped: user 65534 cannot run this program: {}", joined_text(&output)));
            None
        }
        Err(error) => {
            note(&format!("skipped: setpriv does not run: {error}"));
            None
        }
    }
}

/// Waives the rule against data in memory, as which [`on_disk_of`] mounts a small disk.
pub(crate) const IN_MEMORY: [&str; 2] = ["--waive", "A071=a small disk is in memory"];

/// Runs a command, then `then`, with a new file system mounted at `place`.
///
/// Prints why and returns `None` where none can be mounted. The file system ends with the command;
/// it takes as much memory as is written.
pub(crate) fn on_disk_of(size: &str, place: &str, command: &Command, then: &str) -> Option<Output> {
    let script = format!(
        "mkdir -p {place} && mount -t tmpfs -o size={size},mode=755 none {place} || exit 77
         \"$@\"; code=$?; {then}; exit $code"
    );
    let prefix = ["unshare", "--map-root-user", "--mount", "sh", "-c", &script, "sh"];
    let output = wrapped(&prefix, command).output();
    match output {
        Err(error) => note(&format!("skipped: unshare does not run: {error}")),
        Ok(output)
            if output.status.code() == Some(77) || output_text(&output).contains("unshare: ") =>
        {
            note(&format!("skipped: no file system can be mounted: {}", output_text(&output)));
        }
        Ok(output) => return Some(output),
    }
    None
}

/// Returns the command with a prefix that runs it.
pub(crate) fn wrapped(prefix: &[&str], command: &Command) -> Command {
    let mut all = prefix.iter().map(OsString::from).collect::<Vec<_>>();
    all.push(command.get_program().to_owned());
    all.extend(command.get_args().map(ToOwned::to_owned));
    let mut wrapped = Command::new(&all[0]);
    wrapped.args(&all[1..]).current_dir(command.get_current_dir().expect("the sandbox"));
    wrapped.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    wrapped
}

/// Returns stdout and stderr of a process.
pub(crate) fn output_text(output: &Output) -> String {
    let texts = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    texts.join("\n")
}

/// Returns the output of a process with wrapped lines joined.
pub(crate) fn joined_text(output: &Output) -> String {
    let text = output_text(output);
    let parts = text.split_whitespace().filter(|word| !matches!(*word, "│" | "×" | "╰─▶"));
    parts.collect::<Vec<_>>().join(" ")
}

/// Prints why a test was skipped, or its figures.
#[expect(clippy::print_stdout, reason = "a skipped test prints why")]
pub(crate) fn note(text: &str) {
    println!("{text}");
}

/// Returns the time.
#[expect(clippy::disallowed_methods, reason = "a test waits for processes in real time")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Waits until `holds`, at most `limit`; returns whether it did.
#[expect(clippy::disallowed_methods, reason = "a test waits for processes in real time")]
pub(crate) fn wait_until(limit: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let begun = now();
    while !holds() {
        if begun.elapsed() > limit {
            return false;
        }
        thread::sleep(POLL);
    }
    true
}

/// Sends a signal, also to a process that has just ended.
pub(crate) fn send(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a process id");
    match kill_process(pid, signal) {
        Ok(()) | Err(Errno::SRCH) => {}
        Err(errno) => panic!("{pid:?} cannot be sent {signal:?}: {errno}"),
    }
}
