//! From an empty directory to a server that answers, and back.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use engine::EngineError;
use server::ServerError;

use crate::fake::{below, is_alive, start, start_with};

const SOON: Duration = Duration::from_secs(60);

#[test]
fn a_server_is_set_up_once_and_goes_on_with_its_data() {
    let dir = tempfile::tempdir().unwrap();
    let site = dir.path().join("site");
    let mut running = start(&site, "none", SOON).unwrap();
    let (pid, child) = (running.pid(), below(&running));
    assert!(is_alive(pid) && is_alive(child) && running.death().is_none());
    assert_ne!(fs::read_to_string(site.join("data/user")).unwrap().trim(), "0");
    let names: Vec<_> =
        running.files().iter().map(|file| file.file_name().unwrap().to_owned()).collect();
    assert_eq!(names, ["server.log", "fake.conf"]);
    let private: PathBuf = running.site().socket.parent().unwrap().into();
    running.stop(SOON).unwrap();
    drop(running);
    assert!(!is_alive(pid) && !is_alive(child) && !private.exists());

    fs::write(site.join("data/rows"), "mine").unwrap();
    let running = start(&site, "none", SOON).unwrap();
    assert!(site.join("data/rows").exists());
    drop(running);
    let log = fs::read_to_string(site.join("server.log")).unwrap();
    assert_eq!(log.matches("set up").count(), 1, "{log}");
    assert_eq!(log.matches("bye").count(), 1, "one was stopped, one killed: {log}");
}

#[test]
fn a_refused_option_is_told_as_such() {
    let dir = tempfile::tempdir().unwrap();
    let error = start(dir.path(), "refuses", SOON).err().unwrap();
    let ServerError::Refused(EngineError::Option { option, .. }) = &error else {
        panic!("{error}")
    };
    assert_eq!(option, "trouble");
}

#[test]
fn a_server_that_never_answers_is_ended() {
    let dir = tempfile::tempdir().unwrap();
    let error = start(dir.path(), "mute", Duration::from_millis(100)).err().unwrap();
    assert!(matches!(error, ServerError::NotReady { .. }), "{error}");
    let told = error.to_string();
    assert!(told.contains("set up") && told.contains("nobody listens"), "{told}");
}

#[test]
fn a_server_that_dies_is_noticed_with_its_last_words_and_leaves_no_process() {
    let dir = tempfile::tempdir().unwrap();
    let mut running = start(dir.path(), "none", SOON).unwrap();
    let child = below(&running);
    let pid = rustix::process::Pid::from_raw(i32::try_from(running.pid()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    while running.death().is_none() {
        std::thread::yield_now();
    }
    let death = running.death().unwrap().to_string();
    assert_eq!(death, "signal 9; its last words: listening");
    assert!(matches!(running.stop(SOON), Err(ServerError::Died(_))));
    assert!(!is_alive(child), "what it had started works in its directory");
}

#[test]
fn a_server_that_does_not_stop_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let mut running = start(dir.path(), "stubborn", SOON).unwrap();
    let (pid, child) = (running.pid(), below(&running));
    let error = running.stop(Duration::from_millis(50)).unwrap_err();
    assert!(matches!(error, ServerError::NotStopped { .. }), "{error}");
    assert!(!is_alive(pid) && !is_alive(child));
}

#[test]
fn the_second_server_of_a_kind_is_copied() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["first", "second"] {
        let site = dir.path().join(name);
        drop(start_with(&site, "none", SOON, Some(dir.path())).unwrap());
        let log = fs::read_to_string(site.join("server.log")).unwrap();
        assert_eq!(log.contains("set up"), name == "first", "{log}");
    }
}
