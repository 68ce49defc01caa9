//! Root measures servers from a closed home, without naming a data directory.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use assert_cmd::Command;

use crate::rejection::unwrapped;
use crate::workspace::{ProgramOutput, Workspace};

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
    let is_root = rustix::process::geteuid().is_root();
    let missing = supply::testing::build("postgres@15.10").err();
    if let Some(why) = missing.or_else(|| (!is_root).then(|| "needs root".to_owned())) {
        println!("skipped: {why}");
        return;
    }
    let workspace = Workspace::new();
    fs::set_permissions(workspace.path(""), Permissions::from_mode(0o700)).expect("ours");
    let line = format!("data      in {OPEN_DATA_DIR}: the account of servers cannot use ");

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
