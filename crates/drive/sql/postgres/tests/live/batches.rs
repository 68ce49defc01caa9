//! Transactions of several rows and power failures.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;
use std::time::Duration;

use crashfs::{Disk, Names, Survival};
use engine::conformance::scratch_dir;
use engine::{Engine, Rows};
use model::{Argument, Durability, OpKind, Options, Settings};

use crate::application::{application, procedure};
use crate::calls::{call, first_column};
use crate::newest::newest;
use crate::test_server::{open, spec, started};

const TEST: &str = "batches::a_transaction_survives_a_power_cut_whole_or_not_at_all";
/// Variable that is set in the namespaces of the test.
const INSIDE: &str = "ASSAY_TEST_BATCHES";
const LIMIT_BYTES: u64 = 1 << 30;
/// Fewest acknowledged transactions before a cut; each has four rows.
const ACKNOWLEDGED_MIN: i64 = 50;
const WRITE: u16 = 0;
const PARTIAL: u16 = 1;
const WHOLE: u16 = 2;

/// Goal: no power failure leaves some rows of a transaction, and an acknowledged one is there.
/// Method: one client writes transactions; one of them is in flight at the cut.
#[test]
fn a_transaction_survives_a_power_cut_whole_or_not_at_all() {
    let Some(program) = newest() else { return };
    if !is_inside() {
        return;
    }
    for survival in [Survival::Nothing, Survival::Subset { seed: 7 }, Survival::Everything] {
        let dir = tempfile::tempdir_in(scratch_dir()).unwrap();
        let (acknowledged, partial, whole) = cut(&program, dir.path(), survival);
        assert_eq!(partial, 0, "{survival:?}");
        assert!((acknowledged..=acknowledged + 1).contains(&whole), "{acknowledged}, {whole}");
    }
}

/// Cuts a server; returns the numbers of acknowledged, partial and whole transactions.
fn cut(program: &Path, dir: &Path, survival: Survival) -> (i64, i64, i64) {
    let row = |part| format!("INSERT INTO {{table}} VALUES (4 * {{0}} + {part})");
    let rows = [0, 1, 2, 3].map(row);
    let count = |rows| {
        format!(
            "SELECT count(*)::text FROM (SELECT id / 4 FROM {{table}} GROUP BY id / 4 \
             HAVING count(*) {rows} 4) AS batches"
        )
    };
    let write = procedure(OpKind::Transaction, &rows.each_ref().map(String::as_str), (1, 0, 0));
    let counts = [count("<"), count("=")].map(|text| procedure(OpKind::Scan, &[&*text], (0, 0, 0)));
    let procedures = [write].into_iter().chain(counts).collect();
    let setup = application("CREATE TABLE {table} (id BIGINT PRIMARY KEY)", procedures);
    let settings = Settings { durability: Durability::Sync, ..Settings::default() };
    let [data, client] = ["data", "client"].map(|name| dir.join(name));
    for dir in [&data, &client] {
        std::fs::create_dir(dir).unwrap();
    }
    let disk = Disk::new(Names::Own, LIMIT_BYTES);
    let start = || started(program, &data, &settings, &Options::new());
    let open_at = |endpoint| {
        let mut spec = spec(&client, endpoint, Some(setup.clone()));
        spec.settings = settings.clone();
        open(&spec).unwrap()
    };

    let mounted = disk.mount(&data).unwrap();
    let mut server = start();
    let engine = open_at(server.endpoint.clone());
    disk.sync_all();
    let acknowledged = AtomicI64::new(0);
    thread::scope(|scope| {
        let writer = scope.spawn(|| write_until_a_failure(&*engine, &acknowledged));
        while acknowledged.load(Ordering::Acquire) < ACKNOWLEDGED_MIN && !writer.is_finished() {
            thread::park_timeout(Duration::from_millis(1));
        }
        drop(disk.cut(survival));
        server.kill();
    });
    drop((engine, mounted));
    disk.thaw();

    let _mounted = disk.mount(&data).unwrap();
    let server = start();
    let engine = open_at(server.endpoint.clone());
    let [partial, whole] = [PARTIAL, WHOLE].map(|counted| answer(&*engine, counted));
    (acknowledged.into_inner(), partial, whole)
}

fn write_until_a_failure(engine: &dyn Engine, acknowledged: &AtomicI64) {
    let (mut session, mut rows) = (engine.session().unwrap(), Rows::new());
    for number in 0.. {
        let argument = [Argument::Integer(number)];
        if call(&mut *session, (WRITE, 0), (&argument, b""), &mut rows).is_err() {
            return;
        }
        acknowledged.store(number + 1, Ordering::Release);
    }
}

/// Returns the number that a procedure returns.
fn answer(engine: &dyn Engine, procedure: u16) -> i64 {
    let (mut session, mut rows) = (engine.session().unwrap(), Rows::new());
    call(&mut *session, (procedure, 0), (&[], b""), &mut rows).unwrap();
    first_column(rows.stored().next().unwrap().1).parse().unwrap()
}

/// Returns whether this process is in namespaces that leave no mount; else runs the test there.
fn is_inside() -> bool {
    if std::env::var_os(INSIDE).is_some() {
        let checked = Disk::check();
        checked.as_ref().err().into_iter().for_each(|error| println!("skipped: {error}"));
        return checked.is_ok();
    }
    // A kill of this process ends the namespaces, too.
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "unshare"]);
    if !rustix::process::geteuid().is_root() {
        command.args(["--user", "--map-current-user", "--keep-caps"]);
    }
    command.args(["--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]);
    command.arg(std::env::current_exe().unwrap()).args(["--exact", TEST, "--nocapture"]);
    let Ok(output) = command.env(INSIDE, "1").output() else {
        println!("skipped: util-linux is not installed");
        return false;
    };
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    if text.contains("unshare: ") {
        println!("skipped: this account may not make namespaces: {text}");
        return false;
    }
    for line in text.lines().filter_map(|line| line.find("skipped: ").map(|at| &line[at..])) {
        println!("{line}");
    }
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    false
}
