//! A standby of an own server.

use std::fs;
use std::time::Duration;

use engine::conformance::scratch_dir;
use engine::{Engine, Rows};
use model::server::REPLICA;
use model::{Durability, Op, Outcome, Settings};
use rustix::process::{Pid, Signal, kill_process};
use server::testing::assert_waits;
use server::{Running, STOP_WITHIN};

use crate::program::programs_from_12;
use crate::test_server::{open, spec, started};

/// A wait for the end of a server whose standby was killed, and how many there are at most.
const WAIT: (Duration, u32) = (Duration::from_millis(10), 3_000);

/// Writes rows, each in a commit.
fn write(engine: &dyn Engine, rows: u32) {
    let mut session = engine.session().unwrap();
    let mut none = Rows::new();
    for row in 0..rows {
        let put = Op::Put { key: &row.to_be_bytes(), value: &[7; 300] };
        assert_eq!(session.execute(&put, &mut none), Ok(Outcome::Done));
    }
}

/// Returns the first process of the standby.
fn standby_pid(running: &Running) -> Pid {
    let data = running.site.data.with_file_name("replica");
    let file = fs::read_to_string(data.join("postmaster.pid")).unwrap();
    Pid::from_raw(file.lines().next().unwrap().parse().unwrap()).unwrap()
}

/// Returns the processes that a process started.
fn children(pid: Pid) -> Vec<Pid> {
    let pid = pid.as_raw_nonzero();
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    children.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().unwrap())).collect()
}

/// Goal: commits wait for the standby, how far it is behind is known, its loss ends the server.
/// Method: every release from 12 on; the directory is used twice, as by the runs of a saved load.
/// The second standby follows without commits that wait.
#[test]
fn a_standby_follows_and_its_loss_is_noticed() {
    for program in programs_from_12() {
        let place = tempfile::tempdir_in(scratch_dir()).unwrap();
        for (replica, names) in [("sync", "*"), ("async", "")] {
            let options = [(REPLICA, replica)].into_iter().collect();
            let mut running = started(&program, place.path(), &Settings::default(), &options);
            assert!(running.facts()["server_replica"].contains("on this machine"));
            let dir = tempfile::tempdir().unwrap();
            let mut spec = spec(dir.path(), running.endpoint.clone(), None);
            spec.settings.durability = Durability::Os;
            let engine = open(&spec).unwrap();
            let effective = engine.effective_options().unwrap();
            assert_eq!(effective.get("synchronous_standby_names"), Some(names));
            write(&*engine, 50);
            let readings = engine.state().unwrap().readings;
            assert!(readings["engine_replica_lag_bytes"] >= 0.0, "{readings:?}");
            let standby = standby_pid(&running);
            assert_waits(&children(standby), replica == "sync", || write(&*engine, 1));
            engine.close().unwrap();
            if replica == "sync" {
                running.stop(STOP_WITHIN).unwrap();
                continue;
            }
            kill_process(standby, Signal::KILL).unwrap();
            let (wait, most) = WAIT;
            let death = (0..most).find_map(|_| running.death_within(wait).cloned()).unwrap();
            assert!(death.last_log_lines.starts_with("of the standby: "), "{death}");
        }
    }
}
