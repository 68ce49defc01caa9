//! A standby of an own server.
#![expect(clippy::unwrap_used, reason = "an unwrap in a test helper fails the test")]

use std::fs;
use std::ops::Range;
use std::time::Duration;

use engine::conformance::scratch_dir;
use engine::{Engine, Rows};
use model::server::REPLICA;
use model::{Durability, Op, Outcome};
use rustix::process::{Pid, Signal, kill_process};
use server::testing::assert_waits;
use server::{Running, STOP_WITHIN};

use crate::fixture::Fixture;
use crate::test_server::Build;

/// A wait for the end of a server whose standby was killed, and how many there are at most.
const WAIT: (Duration, u32) = (Duration::from_millis(10), 3_000);

/// Writes these rows, each in a commit.
fn write(engine: &dyn Engine, rows: Range<u32>) {
    let mut session = engine.session().unwrap();
    let mut none = Rows::new();
    for row in rows {
        let put = Op::Put { key: &row.to_be_bytes(), value: &[7; 300] };
        assert_eq!(session.execute(&put, &mut none), Ok(Outcome::Done));
    }
}

/// Returns the standby's process: the one that works in its data directory.
fn standby_pid(running: &Running) -> Pid {
    let data = running.site.data.with_file_name(server::standby::DATA);
    let mut processes = fs::read_dir("/proc").unwrap().flatten();
    let works_there = |path: &std::path::Path| {
        fs::read_link(path.join("cwd")).is_ok_and(|directory| directory == data)
    };
    let found = processes.find(|process| works_there(&process.path())).unwrap();
    Pid::from_raw(found.file_name().to_str().unwrap().parse().unwrap()).unwrap()
}

/// Checks that a standby of this build follows, that commits wait for it where they should, and
/// that its loss ends the server.
///
/// The directory is used twice, as by the runs of a saved load.
fn standby_follows(build: &Build, replica: &str) {
    // The scheduler of MySQL waits for the end of the other threads of a server that stops with all
    // of a CPU.
    let options = [(REPLICA, replica), ("event_scheduler", "OFF")];
    let mut dir = tempfile::tempdir_in(scratch_dir()).unwrap();
    for is_last in [false, true] {
        let server = build.start_in(dir, Durability::Os, &options).unwrap();
        let fixture = Fixture::new(&server, build.driver());
        let (mut spec, _place) = fixture.fresh(None);
        spec.settings.durability = Durability::Os;
        spec.options = options.into_iter().collect();
        let engine = fixture.driver.open(&spec).unwrap();
        write(&*engine, 0..50);
        let readings = engine.state().unwrap().readings;
        assert!(readings["engine_replica_lag_bytes"] >= 0.0, "{readings:?}");
        let (mut running, place) = server.into_parts();
        let standby = standby_pid(&running);
        // Rows that are there already would be no change, which is not logged.
        assert_waits(&[standby], replica == "sync", || write(&*engine, 50..51));
        engine.close().unwrap();
        if !is_last {
            running.stop(STOP_WITHIN).unwrap();
            dir = place;
            continue;
        }
        kill_process(standby, Signal::KILL).unwrap();
        let (wait, most) = WAIT;
        let death = (0..most).find_map(|_| running.death_within(wait).cloned()).unwrap();
        assert!(death.last_log_lines.starts_with("of the standby: "), "{death}");
        return;
    }
}

#[test]
fn commits_of_mariadb_wait_for_its_standby() {
    let Some(build) = Build::get("mariadb@10.11") else { return };
    standby_follows(&build, "sync");
}

#[test]
fn standby_of_mysql_follows() {
    let Some(build) = Build::get("mysql@8.0.31") else { return };
    standby_follows(&build, "async");
}

#[test]
fn standby_of_old_mysql_follows() {
    for build in Build::all(&["mysql@5.6.24", "mysql@5.7.22"]) {
        standby_follows(&build, "async");
    }
}
