//! Stalls of a step are marked with what ran in those seconds.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::busy_host::too_busy;
use crate::rejection::unwrapped;
use crate::workspace::{ProgramOutput, Workspace};

/// The example of an engine in C.
const SORTED: &str = include_str!("../../../../drive/shim/tests/sorted.c");

/// Reads take a millisecond without using a CPU. They stall for 2.3 s from 3, 8 and 13 s after the
/// first one on. In the first and the last of these stalls a checkpoint runs, which writes 64 MiB.
const STALLS: &str = r#"#include <time.h>
static volatile double running, written;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void stall(void) {
    static double begun;
    static int stalls;
    nanosleep(&(struct timespec){0, 1000000}, NULL);
    if (begun == 0) begun = now();
    if (stalls == 3 || now() - begun < 3 + 5 * stalls) return;
    int is_checkpoint = stalls != 1;
    running = is_checkpoint;
    nanosleep(&(struct timespec){2, 300000000}, NULL);
    running = 0;
    if (is_checkpoint) written += 64 << 20;
    stalls++;
}

int assay_get("#;

const EXPERIMENT: &str = r#"[experiment]
name = "stalls"
question = "What runs when it stalls?"

[benchmark]
steps = ["fillseq", { step = "readrandom", duration = "24s" }]
rows = 500
warmup = "0s"
durability = "none"

[factors]
repetitions = 1

[[variant]]
name = "sorted"
engine = "sorted@mine"
"#;

/// Compiles the engine that stalls; prints why without a compiler.
#[expect(clippy::print_stdout, reason = "a skipped test prints why")]
fn stalling() -> Option<Workspace> {
    let workspace = Workspace::new();
    let source = SORTED.replacen("int assay_get(", STALLS, 1);
    let source = source.replacen(
        "    sorted *s = session;\n    bool is_there;\n    pthread_rwlock_rdlock",
        "    sorted *s = session;\n    bool is_there;\n    stall();\n    pthread_rwlock_rdlock",
        1,
    );
    let source = source.replacen(
        "    count(to, \"puts\", s->puts);",
        "    count(to, \"puts\", s->puts);\n    count(to, \"engine_checkpoints_running\", running);\n    \
         count(to, \"engine_checkpoint_write_bytes\", written);",
        1,
    );
    workspace.write("sorted.c", source);
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.."));
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O2", "-I"]).arg(root.join("crates/drive/shim/include"));
    compiler.arg(workspace.path("sorted.c")).arg("-o").arg(workspace.path("libsorted.so"));
    let Ok(output) = compiler.output() else {
        println!("skipped: no {compiler:?}: apt install gcc libc6-dev");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(workspace)
}

fn show(workspace: &Workspace, more: &[&str]) -> ProgramOutput {
    workspace.assay(&[&["show", "stalls", "sorted.c1.r1", "--timeline"], more].concat())
}

/// Goal: stalls are found at their seconds, and the checkpoint is marked in two of three.
#[test]
fn scripted_checkpoint_is_marked_in_its_stalls_and_in_no_other() {
    let Some(workspace) = stalling() else { return };
    let added = workspace.assay(&["engine", "add", "sorted@mine", "./libsorted.so"]);
    assert_eq!(added.code, 0, "{}", added.err);
    workspace.write("stalls.toml", EXPERIMENT);
    let Some(_) = workspace.measured(&["run", "stalls.toml", "--clients", "1"]) else { return };

    let output = show(&workspace, &["readrandom", "--format", "json"]).out;
    let timelines: Value = serde_json::from_str(&output).expect("JSON");
    let timeline = &timelines[0];
    let stalls = timeline["stalls"].as_array().expect("a list");
    let seconds = |value: &Value| value.as_f64().expect("a number");
    // Seconds in which others took the CPU are in no stall.
    match workspace.disturbance() {
        Some(reason) if stalls.len() != 3 => return too_busy(&reason),
        _ => assert_eq!(stalls.len(), 3, "{output}"),
    }
    for (stall, (from, ran)) in stalls.iter().zip([(3.0, true), (8.0, false), (13.0, true)]) {
        // A stall of 2.3 s holds one or two whole seconds.
        let (begun, ended) = (seconds(&stall["from_s"]), seconds(&stall["to_s"]));
        assert!(begun > from - 1.0 && ended < from + 3.5 && ended > begun, "{stall}");
        let activities = stall["activities"].as_array().expect("a list");
        assert_eq!(activities.iter().any(|it| it == "checkpoint"), ran, "{stall}");
    }
    let activities = timeline["activities"].as_array().expect("a list");
    let checkpoint = activities.iter().find(|it| it["label"] == "checkpoint").expect("it ran");
    assert_eq!(checkpoint["stalls"], 2);
    let spans = checkpoint["spans"].as_array().expect("a list");
    let bytes: f64 = spans.iter().map(|span| seconds(&span["bytes"])).sum();
    assert_eq!((spans.len(), bytes), (2, f64::from(128 << 20)), "{checkpoint}");

    let text = show(&workspace, &["readrandom"]).out;
    assert!(text.contains("checkpoint: in 2 of 3 stalls"), "{text}");
    let csv = show(&workspace, &["readrandom", "--format", "csv"]).out;
    assert!(csv.contains(",engine_checkpoint_write_bytes_per_s,,"), "{csv}");
    let report = workspace.assay(&["report", "stalls", "--output", "page.html"]);
    assert_eq!(report.code, 0, "{}", report.err);
    let page = std::fs::read_to_string(workspace.path("page.html")).expect("a page");
    assert!(page.contains("id=\"timeline-1-c1\""), "it has the picture of the step");
    rejected(&workspace);
}

/// Goal: what has no time line is refused, with what has one.
fn rejected(workspace: &Workspace) {
    let unknown = show(workspace, &["readseq"]);
    assert_eq!(unknown.code, 1);
    let error = unwrapped(&unknown.err);
    assert!(error.contains("no step is named `readseq`"), "{error}");
    assert!(error.contains("steps: fillseq, readrandom"), "{error}");
    let without = workspace.assay(&["show", "stalls", "--format", "csv"]);
    assert_eq!((without.code, without.out.as_str()), (1, ""), "{}", without.err);
    let error = unwrapped(&without.err);
    assert!(error.contains("name a step with --timeline"), "{error}");
}
