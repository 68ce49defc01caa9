//! What a hostile server, or a process of another account, can reach.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use server::testing::{assert_confined, is_root, maps_every_id};

use crate::fake::{PLANTS, child_pid, start, start_with};

const SOON: Duration = server::READY_WITHIN;
/// Id of the system's unprivileged user.
const UNPRIVILEGED: u32 = 65_534;

/// Goal: no file of root is written, given away or read for a server.
/// Method: the server's own account and another one plant links to one in every place that they can
/// write: at set-up, while it is stored as a template, copied from it, started and started again.
#[test]
fn planted_links_leave_files_of_root_as_they_were() {
    if !is_root() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let victim = dir.path().join("victim");
    fs::write(&victim, "of root").unwrap();
    fs::set_permissions(&victim, Permissions::from_mode(0o600)).unwrap();
    let fault = format!("{PLANTS}{}", victim.display());
    let sites = ["first", "second"].map(|name| dir.path().join(name));
    let places = sites.each_ref().map(|site| site.join("data").display().to_string());
    let script = format!(
        "while :; do for dir in {}; do ln -sfn {} $dir/fake.conf; ln -sfn {} $dir/base; done; done",
        places.join(" "),
        victim.display(),
        victim.display()
    );
    // It ends with this thread, after a panic too.
    let mut other = Command::new("setpriv");
    let id = UNPRIVILEGED.to_string();
    other.args(["--reuid", &id, "--regid", &id, "--clear-groups", "--pdeathsig", "KILL"]);
    let mut other = other.args(["sh", "-c", &script]).stderr(Stdio::null()).spawn().unwrap();
    for site in [&sites[0], &sites[1], &sites[0]] {
        let mut running = start_with(site, &fault, SOON, Some(dir.path())).unwrap();
        running.stop(SOON).unwrap();
        let files = running.files();
        assert_eq!(files.len(), 2, "log and configuration: {files:?}");
        for file in files {
            assert!(!fs::read_to_string(file).unwrap().contains("of root"));
        }
    }
    other.kill().unwrap();
    other.wait().unwrap();
    for site in &sites {
        assert!(site.join("data/base").is_symlink(), "the link was planted and copied as a link");
    }
    let meta = fs::symlink_metadata(&victim).unwrap();
    assert_eq!((meta.uid(), meta.gid(), meta.mode() & 0o777), (0, 0, 0o600));
    assert_eq!(fs::read_to_string(&victim).unwrap(), "of root");
}

#[test]
fn server_has_no_rights_and_an_account_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let [first, second] =
        ["first", "second"].map(|name| start(&dir.path().join(name), "none", SOON).unwrap());
    for running in [&first, &second] {
        assert_confined(running);
    }
    if maps_every_id() {
        let owner = |pid: u32| fs::metadata(format!("/proc/{pid}")).unwrap().uid();
        assert_eq!(owner(first.pid()), owner(child_pid(&first)));
        assert_ne!(owner(first.pid()), owner(second.pid()));
    }
}

#[test]
fn closed_or_shared_data_directory_is_rejected_with_the_remedy() {
    if !is_root() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    for (mode, expected) in [(0o700, "cannot enter"), (0o777, "any account can write")] {
        fs::set_permissions(dir.path(), Permissions::from_mode(mode)).unwrap();
        let error = start(&dir.path().join("site"), "none", SOON).err().unwrap().to_string();
        assert!(error.contains(expected) && error.contains("--data-dir"), "{error}");
    }
    assert!(Path::new("/tmp").metadata().unwrap().mode() & 0o1000 != 0, "a sticky one is taken");
}
