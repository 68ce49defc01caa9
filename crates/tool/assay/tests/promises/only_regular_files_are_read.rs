//! Files that users name, and those of a stranger's archive: only regular files are read.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use archive::Results;
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
        "plan readrandom --engine rocksdb@9.10.0 --engine-profile ./pipe.toml --rows 1k",
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
        workspace.assay(&[&engine[..], &["--engine-profile", profile]].concat())
    };
    let planned = plan("./my profiles/small.toml");
    assert_eq!(planned.code, 0, "{}", planned.err);
    assert!(planned.out.contains("variant   rocksdb-9.10.0-small: "), "{}", planned.out);
    let absent = plan("./mine.toml");
    let reason = "cannot read the profile ./mine.toml: No such file";
    assert!(absent.code == 1 && absent.err.contains(reason), "{}", absent.err);
}

/// Makes something else in the place of a file or directory.
type Plant = fn(&Path, &Path);

/// What a stranger may put in the place of a file, and its name; a link leads to the file.
const PLANTS: [(&str, Plant); 3] = [
    ("pipe", |path, _| mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR).expect("a pipe")),
    ("directory", |path, _| fs::create_dir(path).expect("a directory")),
    ("link", |path, moved| symlink(moved, path).expect("a link")),
];

/// Goal: no verb waits for what lies in the place of a file of an archive, or follows a link out.
/// Method: each file in turn is replaced by a pipe, a directory and a link to itself elsewhere;
/// every reading verb runs on each of them, and ends with a message that names the file.
#[test]
fn what_is_no_file_of_an_archive_is_refused_by_every_verb() {
    let workspace = Workspace::with_pair();
    let dir = Results::at(&workspace.path("results")).find("pair").expect("it was run");
    let run = dir.run_dir("one.c1.r1");
    let moved = workspace.path("moved");
    let mut calls = 0;
    let mut check = |path: &Path, what: &str, calls_of_file: &[&str]| {
        for call in calls_of_file {
            let arguments: Vec<_> = call.split(' ').collect();
            let output = workspace.program(&arguments).timeout(LIMIT).output().expect("it starts");
            let output = ProgramOutput::of(output);
            let text = unwrapped(&output.err) + &output.out;
            let name = path.file_name().expect("a name").to_string_lossy();
            // A list names what is damaged, and goes on.
            assert!(output.code != 0 || *call == "list", "{call}: {what} {name}: {text}");
            assert!(
                ["not a regular file", "no regular file", "a link"]
                    .iter()
                    .any(|it| text.contains(it)),
                "{call}: {text}"
            );
            assert!(text.contains(&*name), "{call}: {what} {name}: {text}");
            calls += 1;
        }
    };
    let records = ["show pair", "compare pair", "report pair", "lint pair", "explain one two"];
    let record = [&records[..], &["list", "verify"]].concat();
    let files: [(_, &[&str]); 5] = [
        (dir.path().join("manifest.json"), &["show pair", "compare pair", "list", "verify"]),
        (run.join("record.json"), &record),
        (run.join("intervals.jsonl"), &["report pair", "verify"]),
        (run.join("response.hlog"), &["verify"]),
        (run.join("checksums"), &["verify"]),
    ];
    for (path, calls_of_file) in &files {
        for (what, plant) in PLANTS {
            fs::rename(path, &moved).expect("it was written");
            plant(path, &moved);
            check(path, what, calls_of_file);
            let removed = fs::remove_file(path).or_else(|_directory| fs::remove_dir(path));
            removed.and_then(|()| fs::rename(&moved, path)).expect("it is put back");
        }
    }
    for path in [run.clone(), dir.path().join("runs")] {
        fs::rename(&path, &moved).expect("it was written");
        symlink(&moved, &path).expect("a link");
        check(&path, "link", &["show pair", "verify"]);
        fs::remove_file(&path).and_then(|()| fs::rename(&moved, &path)).expect("it is put back");
    }
    assert_eq!(workspace.assay(&["verify"]).code, 0);
    println!("{calls} calls on an archive with a pipe, a directory or a link: all refused");
}

/// Goal: what is written into a stranger's archive stays in it.
/// Method: cache, page and lock are links to a directory and files elsewhere.
#[test]
fn nothing_is_written_through_a_link_of_an_archive() {
    let workspace = Workspace::with_pair();
    let dir = Results::at(&workspace.path("results")).find("pair").expect("it was run");
    fs::create_dir(workspace.path("mine")).expect("a directory");
    workspace.write("mine.txt", "mine");
    drop(fs::remove_dir_all(dir.path().join("derived")));
    symlink(workspace.path("mine"), dir.path().join("derived")).expect("a link");
    for name in ["report.html", "lock"] {
        symlink(workspace.path("mine.txt"), dir.path().join(name)).expect("a link");
    }
    for call in ["list", "compare pair", "report pair"] {
        let output = workspace.assay(&call.split(' ').collect::<Vec<_>>());
        // Its runs vary by too much to decide anything.
        assert_eq!(output.code, if call == "compare pair" { 3 } else { 0 }, "{}", output.err);
    }
    let resumed = workspace.assay(&["run", "--resume", "pair"]);
    assert!(resumed.code != 0 && resumed.err.contains("not a regular file"), "{}", resumed.err);
    assert_eq!(fs::read_dir(workspace.path("mine")).expect("a directory").count(), 0);
    assert_eq!(fs::read_to_string(workspace.path("mine.txt")).expect("a file"), "mine");

    // What a kill left half written is removed below the experiment's own directories alone.
    workspace.write("mine/file.new", "mine");
    fs::remove_file(dir.path().join("lock")).expect("the link");
    symlink(workspace.path("mine"), dir.path().join("runs/linked")).expect("a link");
    let half = dir.path().join("manifest.json.new");
    fs::write(&half, "{").expect("the archive");
    workspace.assay(&["run", "--resume", "pair"]);
    assert!(!half.exists() && workspace.path("mine/file.new").exists());
}
