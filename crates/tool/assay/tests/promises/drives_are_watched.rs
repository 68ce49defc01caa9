//! What a drive reports of its health is recorded before and after each run.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::process::Command;

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;

use crate::workspace::{ProgramOutput, Workspace};

/// Options of `unshare` for mounts of a program's own.
const UNSHARE: [&str; 2] = ["--map-root-user", "--mount"];

/// A drive that counts an error of its medium, and 1,000 units written, at every call.
const SMARTCTL: &str = r#"#!/bin/sh
count=$(cat "${0%/*}/calls" 2>/dev/null || echo 0)
echo $((count + 1)) >"${0%/*}/calls"
cat <<END
{"smart_status": {"passed": true}, "nvme_smart_health_information_log": {"percentage_used": 7,
"available_spare": 100, "media_errors": $count, "warning_temp_time": 3,
"data_units_written": $((count * 1000))}}
END
"#;

/// Goal: errors that a drive counts in a run are recorded, shown and found by lint.
/// Method: a fake smartctl in the first directory that is searched for one, which a mount of the
/// program's own puts there.
#[test]
fn errors_that_a_drive_counts_in_a_run_are_reported() {
    let workspace = Workspace::new();
    fs::create_dir(workspace.path("bin")).expect("a directory");
    workspace.write("bin/smartctl", SMARTCTL);
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(workspace.path("bin/smartctl"), executable).expect("an executable file");
    let may_mount = Command::new("unshare").args(UNSHARE).arg("true").status();
    if !may_mount.is_ok_and(|status| status.success()) {
        println!("skipped: unshare {UNSHARE:?} does not work for this user");
        return;
    }
    let args = ["run", "fillseq", "--engine", "memory", "--rows", "1k", "--disk-floor", "1MiB"];
    let mut command = Command::new("unshare");
    command.args(UNSHARE).args(["sh", "-c", "mount --bind \"$0\" /usr/local/sbin && exec \"$@\""]);
    command.arg(workspace.path("bin")).arg(cargo_bin("assay")).args(args);
    let output = command.current_dir(workspace.path("")).output().expect("it starts");
    let output = ProgramOutput::of(output).recorded();
    let place = output.out.lines().find_map(|line| line.strip_prefix("Stored in "));
    let runs = workspace.path(place.expect("it is stored")).join("runs");
    let run = fs::read_dir(runs).expect("runs").flatten().next().expect("one").path();
    let record = fs::read(run.join("record.json")).expect("a record");
    let record: Value = serde_json::from_slice(&record).expect("JSON");
    // File systems without a device of their own have the major number 0.
    let device = fs::metadata(workspace.path("results")).expect("results").dev();
    if rustix::fs::major(device) == 0 {
        println!("skipped: the temporary directory lies on no block device");
        return;
    }
    let drive = &record["drive"];
    assert_eq!(drive["before"]["wear_percent"], 7);
    assert_eq!(
        drive["after"]["media_errors"].as_u64().unwrap(),
        1 + drive["before"]["media_errors"].as_u64().unwrap()
    );
    let name = workspace.path(place.expect("it is stored")).display().to_string();
    let shown = workspace.assay(&["show", &name]).out;
    let account = "the drive's own account: 488 MiB written, 1 media errors";
    assert!(shown.contains(account), "{shown}");
    let lint = workspace.assay(&["lint", &name]).out;
    assert!(lint.contains("A064") && lint.contains("the drive counted 1 media errors"), "{lint}");
}
