//! Waits of a real server are divided by event, and its tables have sizes in time lines.

use std::fs;

use serde_json::Value;

use crate::busy_host::too_busy;
use crate::workspace::Workspace;

/// Four clients update one row, whose lock each holds for 5 ms; then it is synced, or not.
const EXPERIMENT: &str = r#"[experiment]
name = "waits"
question = "What do clients of one row wait for?"

[benchmark]
workload = "./own.toml"
steps = ["load", "index", "update-one"]
rows = "1k"
duration = "2s"
warmup = "0s"

[factors]
clients = [4]
repetitions = 2

[[variant]]
name = "os"
engine = "postgres@15.10"
durability = "os"

[[variant]]
name = "sync"
engine = "postgres@15.10"
durability = "sync"

[[waive]]
code = "A001"
reason = "the question"
"#;

/// Goal: what the events, the run queue and the residual have is the wait for the server, and the
/// lock's part is the largest.
/// Method: a client sleeps in its statement while three wait for its lock, whatever the host does.
#[test]
fn clients_of_one_row_wait_for_its_lock() {
    if let Err(reason) = supply::testing::build("postgres@15.10") {
        println!("skipped: {reason}");
        return;
    }
    let workspace = Workspace::new();
    let sysbench = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../applications/sysbench.toml");
    let text = fs::read_to_string(sysbench).expect("the application");
    let (old, new) = ("WHERE id = 1\"", "WHERE id = 1 RETURNING pg_sleep(0.005)\"");
    assert_eq!(text.matches(old).count(), 1);
    workspace.write("own.toml", text.replace(old, new));
    workspace.write("waits.toml", EXPERIMENT);
    let program = workspace.program_on_servers(&["run", "waits.toml"]);
    let Some(_) = workspace.measured_by(program) else { return };

    let arguments = ["explain", "os", "sync", "update-one", "--in", "waits", "--format", "json"];
    let explained = workspace.assay(&arguments);
    assert_eq!(explained.code, 0, "{}", explained.err);
    let document: Value = serde_json::from_str(&explained.out).expect("JSON");
    let account = &document["explanations"][0]["account"];
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{account:#}"));
    let components = account["components"].as_array().expect("a list");
    let waited = components.iter().find(|one| one["part"] == "server_wait").expect("they waited");
    let whole = number(&waited["us"]["variant"]);
    let waits = &account["waits"];
    let parts = waits["parts"].as_array().expect("a list");
    let of = |part: &Value| number(&part["us"]["variant"]);
    let sum = parts.iter().map(of).sum::<f64>() + number(&waits["residual"]["variant"]);
    assert!((sum / whole - 1.0).abs() < 1e-6, "{account:#}");
    let is_lock = |part: &&Value| part["name"].as_str().is_some_and(|it| it.starts_with("Lock:"));
    let locked: f64 = parts.iter().filter(is_lock).map(of).sum();
    let other = parts.iter().filter(|part| !is_lock(part)).map(of).fold(0.0, f64::max);
    let samples = waits["samples"].as_array().expect("of both sides");
    assert_eq!(samples.len(), 2, "{account:#}");
    assert!(samples.iter().all(|samples| number(samples) >= 1.0), "{account:#}");
    time_line(&workspace);
    // Where others use the CPUs the wait for one may be longer than the wait for the lock.
    match workspace.disturbance() {
        Some(reason) if locked <= other => too_busy(&reason),
        _ => assert!(locked > other, "{account:#}"),
    }
}

/// Goal: the tables have sizes in each second, and the lock's waiters are counted.
/// Method: each second is one reading of the waiters, which may find none; the runs have 8.
fn time_line(workspace: &Workspace) {
    let (mut waiters, mut with_sizes) = (Vec::new(), 0);
    for run in ["os.c4.r1", "os.c4.r2", "sync.c4.r1", "sync.c4.r2"] {
        let arguments = ["show", "waits", run, "--timeline", "update-one", "--format", "json"];
        let shown = workspace.assay(&arguments);
        assert_eq!(shown.code, 0, "{}", shown.err);
        let timelines: Value = serde_json::from_str(&shown.out).expect("JSON");
        let series = timelines[0]["series"].as_array().expect("a list");
        let values = |name: &str, is_of_table: bool| -> Vec<f64> {
            let named = series.iter().filter(|one| one["name"] == name);
            let own = named.filter(|one| one["table"].is_string() == is_of_table);
            let values = own.filter_map(|one| one["values"].as_array());
            values.flatten().filter_map(Value::as_f64).collect()
        };
        let sizes = values("engine_disk_bytes", true);
        with_sizes += usize::from(sizes.iter().any(|size| *size >= 8192.0));
        waiters.extend(values("engine_lock_waiters", false));
    }
    // The readings of a busy host are late: some of its runs may have none.
    let (runs, readings) = workspace.disturbance().map_or((4, 4), |_busy| (1, 1));
    assert!(with_sizes >= runs, "{with_sizes} of 4 runs have sizes");
    assert!(waiters.len() >= readings && waiters.iter().any(|it| *it >= 1.0), "{waiters:?}");
}
