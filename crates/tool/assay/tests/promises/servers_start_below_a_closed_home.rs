//! Root measures servers from a closed home, without naming a data directory.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use archive::Results;
use assert_cmd::Command;

use crate::rejection::unwrapped;
use crate::workspace::{ProgramOutput, Workspace};

/// Returns whether this test can start servers as root; prints the reason where it cannot.
#[expect(clippy::print_stdout, reason = "a skipped test prints why")]
fn starts_servers_as_root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    let missing = supply::testing::build("postgres@15.10").err();
    let why = missing.or_else(|| (!is_root).then(|| "needs root".to_owned()));
    why.iter().for_each(|why| println!("skipped: {why}"));
    why.is_none()
}

/// Where the data of servers are when the account of servers cannot enter the home.
const OPEN_DATA_DIR: &str = "/var/lib/assay/data";
/// A short run of Postgres.
const RUN: &str =
    "fillseq readrandom --engine postgres@15.10 --rows 1k --duration 100ms --warmup 0s";

/// Runs the program as root with a closed umask; servers lie in the ordinary cache.
fn assay(workspace: &Workspace, arguments: &str) -> ProgramOutput {
    let mut command = Command::new("sh");
    command.args(["-c", "umask 077; exec \"$0\" \"$@\""]).arg(env!("CARGO_BIN_EXE_assay"));
    command.args(arguments.split(' ')).current_dir(workspace.path(""));
    ProgramOutput::of(command.output().expect("the program starts"))
}

/// Goal: an experiment with servers runs from a closed directory, with a line on its data.
///
/// A data directory that the user names there is refused with the remedy.
#[test]
fn servers_find_a_place_for_their_data_below_a_closed_home() {
    if !starts_servers_as_root() {
        return;
    }
    let workspace = Workspace::new();
    fs::set_permissions(workspace.path(""), Permissions::from_mode(0o700)).expect("ours");
    let line = format!("data      in {OPEN_DATA_DIR}: the account that runs servers cannot use ");

    let ran = assay(&workspace, &format!("run {RUN} --disk-floor 1MiB")).recorded();
    assert_eq!(ran.err.matches(&line).count(), 1, "{}", ran.err);
    assert!(!workspace.path("assay-data").exists());
    let marker = fs::read_to_string(Path::new(OPEN_DATA_DIR).join(".assay-data"));
    assert!(marker.expect("it is marked as ours").starts_with("Made by assay"));

    let planned = assay(&workspace, &format!("plan {RUN}"));
    assert!(planned.code == 0 && planned.err.contains(&line), "{}", planned.err);
    let embedded = assay(&workspace, &format!("plan {}", RUN.replace("postgres@15.10", "memory")));
    assert!(embedded.code == 0 && !embedded.err.contains(&line), "{}", embedded.err);

    let named = assay(&workspace, &format!("run {RUN} --data-dir mine"));
    let err = unwrapped(&named.err);
    assert_ne!(named.code, 0);
    assert!(err.contains("cannot enter") && err.contains("move the data with --data-dir"), "{err}");
}

/// Goal: data on one file system never go to another one by themselves.
/// Method: a closed directory in memory; the place of a run's data is in its manifest.
#[test]
fn data_move_to_no_other_file_system() {
    let Ok(dir) = tempfile::Builder::new().prefix("assay-test-").tempdir_in("/dev/shm") else {
        println!("skipped: no /dev/shm");
        return;
    };
    let workspace = Workspace::new();
    let place = dir.path().join("data");
    let run = "run fillseq --engine lmdb --durability none --rows 500 --disk-floor 1MiB";
    assay(&workspace, &format!("{run} --data-dir {}", place.display())).recorded();
    let apart = assay(&workspace, "lint quick-fillseq");
    assert!(apart.out.contains("A072"), "{}", apart.out);
    let stored = Results::at(&workspace.path("results")).find("quick-fillseq").expect("it was run");
    let data = stored.manifest().expect("it has one").host.data.expect("it has a place");
    assert_eq!((Path::new(&data.path), data.is_named), (&*place, true));
    assert!(data.filesystem.starts_with("tmpfs "), "{data:?}");
    assert!(data.results_filesystem.is_some_and(|other| other != data.filesystem));

    let is_apart = |dir: &Path| {
        let device = |dir: &Path| fs::metadata(dir).expect("it is there").dev();
        device(dir) != device(Path::new("/var/lib"))
    };
    if !is_apart(dir.path()) || !starts_servers_as_root() {
        return;
    }
    fs::set_permissions(dir.path(), Permissions::from_mode(0o700)).expect("ours");
    let mut program = Command::new(env!("CARGO_BIN_EXE_assay"));
    let args = format!("run {RUN} --durability none --disk-floor 1MiB");
    program.args(args.split(' ')).current_dir(dir.path());
    let refused = ProgramOutput::of(program.output().expect("the program starts"));
    let err = unwrapped(&refused.err);
    assert_ne!(refused.code, 0, "{}", refused.out);
    assert!(err.contains("cannot enter") && !err.contains(OPEN_DATA_DIR), "{err}");
}
