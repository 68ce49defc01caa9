//! A temporary directory in which the program runs.

use std::fs::{self, Permissions};
use std::mem;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{self, Output, Stdio};
use std::sync::OnceLock;

use assert_cmd::Command;
use runner::DataRoot;
use tempfile::TempDir;

/// Two variants, twice each, in half a second.
const PAIR: &str = r#"[experiment]
name = "pair"
question = "Do twins differ?"

[benchmark]
steps = ["fillseq", "readrandom"]
rows = 500
duration = "50ms"
warmup = "10ms"

[factors]
repetitions = 2

[[variant]]
name = "one"
engine = "sqlite"

[[variant]]
name = "two"
engine = "sqlite"
"#;

/// Free space below which runs of tests end: far less than on a small disk of a test host.
const DISK_FLOOR: [&str; 2] = ["--disk-floor", "1MiB"];

/// The data directory of all servers, used until this process ends: its last user removes what the
/// set-up of one server has stored for the next.
static SERVER_DATA: OnceLock<(Workspace, DataRoot)> = OnceLock::new();

/// A directory with its own results, data and engine builds.
pub(crate) struct Workspace {
    root: TempDir,
}

/// Exit code and output of one call.
pub(crate) struct ProgramOutput {
    /// Exit code.
    pub(crate) code: i32,
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
}

impl Workspace {
    /// Makes an empty directory.
    pub(crate) fn new() -> Self {
        Self { root: tempfile::tempdir().expect("a temporary directory") }
    }

    /// Creates a directory with the experiment `pair.toml`, not yet run.
    pub(crate) fn with_pair_file() -> Self {
        let workspace = Self::new();
        workspace.write("pair.toml", PAIR);
        workspace
    }

    /// Lets a shell remove the directory when this process ends: a static is never dropped.
    ///
    /// However it ends, the pipe that the shell reads is closed.
    pub(crate) fn until_exit(self) -> Self {
        let mut shell = process::Command::new("sh");
        shell.args(["-c", "read -r _; rm -rf \"$0\""]).arg(self.root.path());
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        mem::forget(shell.spawn().expect("a shell starts"));
        self
    }

    /// Returns the path of a file below the directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Writes a file below the directory.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).expect("a file in the workspace");
    }

    /// Returns the program with arguments, not yet started.
    ///
    /// Runs need little free space unless the arguments have a floor.
    pub(crate) fn program(&self, arguments: &[&str]) -> Command {
        let mut command = Command::cargo_bin("assay").expect("the program is built with its tests");
        command.current_dir(self.root.path()).args(arguments);
        let is_run = matches!(arguments, ["run" | "rerun", _, ..]);
        if is_run && !arguments.contains(&DISK_FLOOR[0]) {
            command.args(DISK_FLOOR);
        }
        command.env("XDG_CACHE_HOME", self.path("cache")).env_remove("NO_COLOR");
        command
    }

    /// Runs the program; stdout and stderr are pipes, without escape sequences.
    pub(crate) fn assay(&self, arguments: &[&str]) -> ProgramOutput {
        ProgramOutput::of(self.program(arguments).output().expect("the program starts"))
    }

    /// Runs the program on servers of the ordinary cache, in the data directory of all servers.
    pub(crate) fn assay_on_servers(&self, arguments: &[&str]) -> ProgramOutput {
        let output = self.program_on_servers(arguments).output();
        ProgramOutput::of(output.expect("the program starts"))
    }

    /// Returns that program, not yet started.
    pub(crate) fn program_on_servers(&self, arguments: &[&str]) -> Command {
        let (_, data) = SERVER_DATA.get_or_init(|| {
            let place = Self::new().until_exit();
            // Servers that root starts can enter it, whatever the umask.
            let open = Permissions::from_mode(0o755);
            fs::set_permissions(place.path(""), open).expect("it is ours");
            let data = DataRoot::take(&place.path("data"), &mut |_| ()).expect("it is new");
            (place, data)
        });
        let mut command = self.program(arguments);
        command.env_remove("XDG_CACHE_HOME").arg("--data-dir").arg(data.path());
        command
    }
}

impl ProgramOutput {
    /// Converts the output of a finished program.
    pub(crate) fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("the program prints UTF-8");
        let (out, err) = (text(output.stdout), without_phases(&text(output.stderr)));
        assert!(!out.contains('\u{1b}') && !err.contains('\u{1b}'), "colour in a pipe: {out}{err}");
        assert!(!err.contains("panicked"), "{err}");
        let code = output.status.code().expect("the program ends by itself");
        Self { code, out, err }
    }
}

/// Returns what a command prints without the lines of phases that last: more do on a busy host.
pub(crate) fn without_phases(err: &str) -> String {
    err.split_inclusive('\n').filter(|line| !line.starts_with("waits     for ")).collect()
}
