//! Servers of killed parents are removed by the next run.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use engine::conformance::wait_until;

use crate::fake::{child_pid, is_alive, start};

/// Names the child's directory.
const DIR: &str = "ASSAY_TEST_SERVER_DIR";

/// Goal: no process and no directory outlives a parent that was killed.
/// Method: this test, started again, starts a server, prints its ids and waits to be killed.
#[test]
fn killed_parent_is_cleaned_up_by_the_next_run() {
    if let Some(dir) = env::var_os(DIR) {
        let running = start(Path::new(&dir), "none", server::READY_WITHIN).unwrap();
        let private = running.site.socket.parent().unwrap();
        println!("ready {} {} {}", running.pid(), child_pid(&running), private.display());
        loop {
            std::thread::park();
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let site = dir.path().join("site");
    let test = "orphans::killed_parent_is_cleaned_up_by_the_next_run";
    let mut parent = Command::new(env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture"])
        .env(DIR, &site)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(parent.stdout.take().unwrap()).lines().map(Result::unwrap);
    let ready = lines.filter_map(|line| Some(line.split_once("ready ")?.1.to_owned())).next();
    let ready = ready.expect("the server started");
    let mut fields = ready.split(' ');
    let (pid, child): (u32, u32) =
        (fields.next().unwrap().parse().unwrap(), fields.next().unwrap().parse().unwrap());
    let private = PathBuf::from(fields.next().unwrap());
    assert!(is_alive(pid) && is_alive(child) && site.exists());
    server::clean_up();
    assert!(is_alive(pid), "its parent runs");

    parent.kill().unwrap();
    parent.wait().unwrap();
    assert!(wait_until(|| !is_alive(pid)));
    server::clean_up();
    assert!(!is_alive(child) && !private.exists());
    assert!(!fs::exists(&site).unwrap());
}
