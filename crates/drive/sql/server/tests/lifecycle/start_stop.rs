//! Set-up, start, readiness, death and stop of one server.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use engine::conformance::wait_until;
use server::ServerError;

use crate::fake::{child_pid, is_alive, start, start_with};

const SOON: Duration = server::READY_WITHIN;

#[test]
fn server_is_set_up_once_and_keeps_its_data() {
    let dir = tempfile::tempdir().unwrap();
    let site = dir.path().join("site");
    let mut running = start(&site, "none", SOON).unwrap();
    let (pid, child) = (running.pid(), child_pid(&running));
    assert!(is_alive(pid) && is_alive(child) && running.death().is_none());
    assert_ne!(fs::read_to_string(site.join("data/user")).unwrap().trim(), "0");
    let names: Vec<_> =
        running.files().iter().map(|file| file.file_name().unwrap().to_owned()).collect();
    assert_eq!(names, ["server.log", "fake.conf"]);
    let private: PathBuf = running.site.socket.parent().unwrap().into();
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
fn rejected_option_is_reported_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let error = start(dir.path(), "rejects", SOON).err().unwrap();
    let ServerError::Refused(error) = error else { panic!("{error}") };
    assert_eq!(error.refused_option(), Some("fault"));
}

#[test]
fn unresponsive_server_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let error = start(dir.path(), "mute", Duration::from_millis(100)).err().unwrap();
    assert!(matches!(error, ServerError::NotReady { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("set up") && text.contains("the socket file is missing"), "{text}");
}

#[test]
fn dead_server_is_reported_with_its_last_log_line() {
    let dir = tempfile::tempdir().unwrap();
    let mut running = start(dir.path(), "none", SOON).unwrap();
    let child = child_pid(&running);
    let pid = rustix::process::Pid::from_raw(i32::try_from(running.pid()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    assert!(wait_until(|| running.death().is_some()));
    let death = running.death().unwrap().to_string();
    assert_eq!(death, "signal 9; last log line: listening");
    assert!(matches!(running.stop(SOON), Err(ServerError::Died(_))));
    assert!(!is_alive(child), "its child works in its directory");
}

#[test]
fn server_that_ignores_stop_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let mut running = start(dir.path(), "stubborn", SOON).unwrap();
    let (pid, child) = (running.pid(), child_pid(&running));
    let error = running.stop(Duration::from_millis(50)).unwrap_err();
    assert!(matches!(error, ServerError::NotStopped { .. }), "{error}");
    assert!(!is_alive(pid) && !is_alive(child));
}

#[test]
fn second_server_is_copied_from_the_template_with_a_password_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let mut passwords = Vec::new();
    for name in ["first", "second"] {
        let site = dir.path().join(name);
        drop(start_with(&site, "none", SOON, Some(dir.path())).unwrap());
        let log = fs::read_to_string(site.join("server.log")).unwrap();
        assert_eq!(log.contains("set up"), name == "first", "{log}");
        let password = fs::read_to_string(site.join("password")).unwrap();
        assert_eq!(fs::read_to_string(site.join("data/password")).unwrap(), password);
        passwords.push(password);
    }
    assert_ne!(passwords[0], passwords[1]);
    let found =
        fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path().join("data.tar"));
    let stored = found.filter(|data| data.exists()).map(|data| fs::read(data).unwrap());
    let texts: Vec<_> = stored.map(|data| String::from_utf8_lossy(&data).into_owned()).collect();
    assert_eq!(texts.len(), 1);
    assert!(passwords.iter().all(|password| !texts[0].contains(password)), "a stored password");
}
