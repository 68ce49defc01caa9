//! Files that users name: pipes and devices are refused at once, a path is taken as it is.

use std::time::Duration;

use rustix::fs::{CWD, Mode, mkfifoat};

use crate::rejection::unwrapped;
use crate::workspace::{ProgramOutput, Workspace};

/// Longest time of a refusal; a program that waits for a pipe never ends.
const LIMIT: Duration = Duration::from_secs(60);

/// Goal: no file that a user names is waited for.
/// Method: each is a pipe without a writer; the program is ended after [`LIMIT`].
#[test]
fn a_pipe_is_refused_and_not_waited_for() {
    let workspace = Workspace::new();
    for name in ["pipe", "pipe.toml", "pipe.csv"] {
        mkfifoat(CWD, workspace.path(name), Mode::RUSR | Mode::WUSR).expect("a pipe");
    }
    for call in [
        "plan pipe.toml",
        "lint pipe.toml",
        "plan readrandom --engine rocksdb@9.10.0 --profile ./pipe.toml --rows 1k",
        "plan readrandom --engine memory --rows 1k --rate file+pipe",
        "workload ./pipe.toml",
        "history --import pipe.csv",
        "engine add rocksdb@mine pipe",
        "engine add mine@1 pipe",
    ] {
        let arguments: Vec<_> = call.split(' ').map(|word| word.replace('+', " ")).collect();
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        let output = workspace.program(&arguments).timeout(LIMIT).output().expect("it starts");
        let output = ProgramOutput::of(output);
        let err = unwrapped(&output.err);
        assert_ne!(output.code, 0, "{call}: {err}");
        assert!(err.contains("regular file"), "{call}: {err}");
    }
}

#[test]
fn a_profile_is_taken_by_its_path() {
    let workspace = Workspace::new();
    std::fs::create_dir(workspace.path("my profiles")).expect("a directory");
    workspace.write(
        "my profiles/small.toml",
        "engine = \"rocksdb\"\nabout = \"mine\"\nextends = \"base.toml\"\n",
    );
    workspace.write(
        "my profiles/base.toml",
        "engine = \"rocksdb\"\nabout = \"mine\"\n[options]\nwrite_buffer_size = \"1M\"\n",
    );
    let plan = |profile: &str| {
        let engine = ["plan", "readrandom", "--engine", "rocksdb@9.10.0", "--rows", "1k"];
        workspace.assay(&[&engine[..], &["--profile", profile]].concat())
    };
    let planned = plan("./my profiles/small.toml");
    assert_eq!(planned.code, 0, "{}", planned.err);
    assert!(planned.out.contains("variant   rocksdb-9.10.0-small: "), "{}", planned.out);
    let absent = plan("./mine.toml");
    let reason = "cannot read the profile ./mine.toml: No such file";
    assert!(absent.code == 1 && absent.err.contains(reason), "{}", absent.err);
}
