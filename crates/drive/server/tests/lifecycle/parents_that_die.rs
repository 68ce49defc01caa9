//! A server ends with its parent, and what the parent left is removed by the next one.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::fake::{below, is_alive, start};

/// Tells the child which directory to use.
const DIR: &str = "ASSAY_TEST_SERVER_DIR";

/// Goal: no process and no directory outlives a parent that was killed.
/// Method: this test, started again, starts a server, says so and waits to be killed.
#[test]
fn what_a_killed_parent_left_is_cleaned_up() {
    if let Some(dir) = env::var_os(DIR) {
        let running = start(Path::new(&dir), "none", Duration::from_secs(60)).unwrap();
        let private = running.site().socket.parent().unwrap();
        println!("ready {} {} {}", running.pid(), below(&running), private.display());
        loop {
            std::thread::park();
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let site = dir.path().join("site");
    let test = "parents_that_die::what_a_killed_parent_left_is_cleaned_up";
    let mut parent = Command::new(env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture"])
        .env(DIR, &site)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(parent.stdout.take().unwrap()).lines().map(Result::unwrap);
    let ready = lines.filter_map(|line| Some(line.split_once("ready ")?.1.to_owned())).next();
    let ready = ready.expect("the server started");
    let mut words = ready.split(' ');
    let (pid, child): (u32, u32) =
        (words.next().unwrap().parse().unwrap(), words.next().unwrap().parse().unwrap());
    let private = PathBuf::from(words.next().unwrap());
    assert!(is_alive(pid) && is_alive(child) && site.exists());
    server::clean_up();
    assert!(is_alive(pid), "its parent lives");

    parent.kill().unwrap();
    parent.wait().unwrap();
    while is_alive(pid) {
        std::thread::yield_now();
    }
    server::clean_up();
    assert!(!is_alive(child) && !private.exists());
    assert!(!fs::exists(&site).unwrap());
}
