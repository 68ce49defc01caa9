//! A small file of a stranger takes little memory and time in every verb that reads.
//!
//! A test alone reads each file with a sample of the verbs; `ASSAY_CAMPAIGN=long` with all.

use std::fs::{self, File};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use assert_cmd::cargo::cargo_bin;
use serde_json::json;
use tar::EntryType;

use crate::hostile::HostileBundle;
use crate::sample::Sample;
use crate::workspace::Workspace;

/// Size of the files that the limits are about.
const FILE_BYTES: usize = 10_000_000;
/// Most memory of a verb.
const MEMORY_KIB: u64 = 256 << 10;
/// Most CPU of a verb, seconds.
///
/// The product's limit is 5 s; a debug build takes up to ten times as long as a release.
const CPU_S: f64 = 60.0;
/// Time between two readings of what a verb has taken.
const POLL: Duration = Duration::from_millis(2);
/// Readings after which a verb is ended: a busy host may give it a small part of a CPU.
const POLLS_MAX: u32 = 300_000;
/// Ticks of a second in `/proc`. Source: Linux, proc(5), `USER_HZ`.
const TICKS_PER_S: f64 = 100.0;

/// What a verb took and returned.
struct Usage {
    code: Option<i32>,
    err: String,
    memory_kib: u64,
    cpu_s: f64,
}

/// Runs the program, and reads what it takes until it ends.
#[expect(clippy::disallowed_methods, reason = "what a child takes is read while it runs")]
fn measured(workspace: &Workspace, arguments: &[&str]) -> Usage {
    let [out, err] = ["stdout", "stderr"].map(|name| workspace.path(name));
    let file = |path| File::create(path).expect("the workspace is writable");
    let mut command = Command::new(cargo_bin("assay"));
    command.args(arguments).current_dir(workspace.path(""));
    command.env("XDG_CACHE_HOME", workspace.path("cache")).env("TMPDIR", workspace.path(""));
    command.stdin(Stdio::null()).stdout(file(&out)).stderr(file(&err));
    let mut child = command.spawn().expect("the program starts");
    let (mut memory_kib, mut cpu_s) = (0, 0.0_f64);
    for poll in 0.. {
        memory_kib = memory_kib.max(largest_memory_kib(&child).unwrap_or(0));
        let state = state(&child);
        cpu_s = cpu_s.max(state.as_ref().map_or(0.0, |state| state.cpu_s));
        let is_over = poll > POLLS_MAX || cpu_s > CPU_S || memory_kib > MEMORY_KIB;
        if is_over {
            child.kill().expect("own child");
        }
        // Its CPU is known until it is waited for.
        if is_over || state.is_none_or(|state| state.is_ended) {
            break;
        }
        sleep(POLL);
    }
    let code = child.wait().expect("own child").code();
    let err = String::from_utf8_lossy(&fs::read(err).expect("it was made")).into_owned();
    assert!(!err.contains("panicked"), "{arguments:?}: {err}");
    Usage { code, err, memory_kib, cpu_s }
}

/// Returns the most memory that the program had so far; `None` before its start and after its end.
///
/// The process that becomes the program has the memory of this test until then.
fn largest_memory_kib(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    status.strip_prefix("Name:\tassay\n")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

/// The CPU of a process, and whether it waits to be waited for.
struct ProcessState {
    cpu_s: f64,
    is_ended: bool,
}

fn state(child: &Child) -> Option<ProcessState> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).ok()?;
    let (_, fields) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = fields.split(' ').collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    let cpu_s = (ticks(11)? + ticks(12)?) / TICKS_PER_S;
    Some(ProcessState { cpu_s, is_ended: fields[0] == "Z" })
}

/// Checks that a call ends within the limits, and returns what it printed as an error.
#[expect(clippy::print_stdout, reason = "tests print what they measured")]
fn within_limits(workspace: &Workspace, call: &str, what: &str) -> Usage {
    let usage = measured(workspace, &call.split(' ').collect::<Vec<_>>());
    let Usage { memory_kib, cpu_s, code, err } = &usage;
    println!("{what}, {call}: {} MiB, {cpu_s:.2} s, code {code:?}", memory_kib >> 10);
    assert!(*memory_kib <= MEMORY_KIB, "{what}, {call}: {memory_kib} KiB");
    assert!(*cpu_s <= CPU_S, "{what}, {call}: {cpu_s} s");
    assert!(code.is_some(), "{what}, {call}: {err}");
    usage
}

/// Verbs that read a result in one file.
const READERS: [&str; 11] = [
    "list x.assay",
    "show x.assay",
    "compare x.assay",
    "compare x.assay --costs --format json",
    "compare x.assay --rum",
    "compare x.assay x.assay --across hosts",
    "explain v0 v1 --in x.assay",
    "lint x.assay",
    "report x.assay",
    "verify x.assay",
    "export x.assay -o y.assay",
];

/// Verbs that read an experiment which was imported; `pair` is its name.
const READERS_OF_IMPORTED: [&str; 6] = [
    "list",
    "compare pair",
    "history",
    "history --metric cpu_us_per_op",
    "verify pair",
    "run --resume absent",
];

/// Verbs that read each file: one of so many, and all in a long campaign.
const ONE_IN: u64 = 3;

/// Changes an experiment, and returns it in one file.
type Hostile = fn(HostileBundle) -> Vec<u8>;

/// Files that are refused, and a part of the reason.
const REFUSED: [(&str, &str, Hostile); 14] = [
    ("a name of 5 GiB", "a name in it has more than 512 bytes", |bundle| {
        bundle.pack_with_header(EntryType::GNULongName)
    }),
    ("a link of 5 GiB", "stands where checksums is due", |bundle| {
        bundle.pack_with_header(EntryType::GNULongLink)
    }),
    ("an extension of 5 GiB", "stands where checksums is due", |bundle| {
        bundle.pack_with_header(EntryType::XHeader)
    }),
    ("a manifest of 300 MiB", "more than 8 MiB", |bundle| {
        let text = vec![b' '; 300 << 20];
        bundle.pack_with_manifest(text)
    }),
    ("two million values", "more than 1600000 values", |mut bundle| {
        bundle.manifest["command_line"] = json!(vec![""; 2_000_000]);
        bundle.pack()
    }),
    ("600,000 values", "is in a file of more than 500000 values", |mut bundle| {
        bundle.manifest["command_line"] = json!(vec![""; 600_000]);
        bundle.pack()
    }),
    ("5,000 variants", "variants is 5000, not from 1 to 256", |mut bundle| {
        let variants = vec![bundle.experiment()["variants"][0].clone(); 5_000];
        bundle.experiment()["variants"] = json!(variants);
        bundle.pack()
    }),
    ("5,000 steps", "steps is 5000, not from 1 to 100", |mut bundle| {
        let steps = vec![bundle.experiment()["steps"][0].clone(); 5_000];
        bundle.experiment()["steps"] = json!(steps);
        bundle.pack()
    }),
    ("20,000 cells", "cells is 20000, not from 0 to 10000", |mut bundle| {
        bundle.replan(100, 1, 200);
        bundle.pack()
    }),
    ("199,000 members", "assay.json has more than 16777216 bytes", |bundle| {
        with_members(bundle, 199_000)
    }),
    ("60,000 members", "more than 50000 files", |bundle| with_members(bundle, 60_000)),
    ("256 variants of 100 steps", "make 25600 rows of a comparison", |mut bundle| {
        bundle.replan(256, 100, 1);
        bundle.pack()
    }),
    ("a log that compresses well", "its histogram logs have more than 16 MiB", |mut bundle| {
        let log = bundle.files.get_mut("runs/one.c1.r1/response.hlog").expect("a log");
        *log = log.repeat((20 << 20) / log.len());
        bundle.pack()
    }),
    ("nested lists", "recursion limit", |bundle| {
        let text = vec![b'['; 1_000_000];
        bundle.pack_with_manifest(text)
    }),
];

/// Returns a file with so many empty members.
fn with_members(mut bundle: HostileBundle, members: u32) -> Vec<u8> {
    let name = |number: u32| format!("runs/one.c1.r1/engine/{number}.txt");
    bundle.files.extend((0..members).map(|number| (name(number), Vec::new())));
    bundle.pack()
}

/// Goal: what is larger than any experiment is refused at once.
/// Method: each of the files is read by several verbs, and each verb reads several files.
#[test]
fn small_files_stop_no_verb() {
    let calls: Vec<_> = READERS.into_iter().chain(["import x.assay", "rerun x.assay"]).collect();
    let mut sample = Sample::new(ONE_IN);
    for (place, (what, reason, hostile)) in REFUSED.into_iter().enumerate() {
        let workspace = Workspace::new();
        let file = hostile(HostileBundle::of_pair());
        assert!(file.len() < FILE_BYTES, "{what}: {} bytes", file.len());
        workspace.write("x.assay", file);
        for call in sample.partners(place, &calls) {
            let Usage { code, err, .. } = within_limits(&workspace, call, what);
            let err = crate::rejection::unwrapped(&err);
            assert!(code != Some(0) && err.contains(reason), "{what}, {call}: {err}");
        }
        let left = fs::read_dir(workspace.path("")).expect("a directory").flatten();
        let left = left.filter(|entry| entry.file_name().to_string_lossy().starts_with(".tmp"));
        assert_eq!(left.count(), 0, "{what}: what was unpacked is removed");
    }
    println!("{sample} verbs and files, all refused");
    assert!(sample.tried > 40, "{sample}");
}

/// Goal: what is just within the limits is read within them.
/// Method: of a sample, each verb reads one of the two.
#[test]
fn as_many_variants_steps_and_runs_as_allowed_are_read() {
    let shapes: [(&str, [usize; 3]); 2] =
        [("200 variants of 30 steps", [200, 30, 1]), ("2 variants, 500 runs", [2, 2, 250])];
    let calls = [&READERS[..], &READERS_OF_IMPORTED].concat();
    let mut sample = Sample::new(2);
    for (place, (what, [variants, steps, repetitions])) in shapes.into_iter().enumerate() {
        let mut bundle = HostileBundle::of_pair();
        let record = bundle.record("one.c1.r1");
        bundle.replan(variants, steps, repetitions);
        bundle.add_runs(&record);
        let file = bundle.pack();
        assert!(file.len() < FILE_BYTES, "{what}: {} bytes", file.len());
        let workspace = Workspace::new();
        workspace.write("x.assay", file);
        within_limits(&workspace, "import x.assay", what);
        for call in sample.partners(place, &calls) {
            within_limits(&workspace, call, what);
        }
        assert_eq!(workspace.assay(&["verify", "pair"]).code, 0, "{what}: it was imported");
    }
    println!("{sample} verbs and files, all within the limits");
    assert!(sample.tried >= calls.len(), "{sample}");
}

/// A change to one figure or name of an experiment.
type Forgery = fn(&mut HostileBundle);

/// Forged files, and the field or name that the refusal states.
const FORGED: [(&str, Forgery); 12] = [
    ("its experiment is \".devices\"", |bundle| bundle.experiment()["name"] = json!(".devices")),
    ("its experiment is \"-rf\"", |bundle| bundle.experiment()["name"] = json!("-rf")),
    ("its experiment is \"pa\\u{202e}ir\"", |bundle| {
        bundle.experiment()["name"] = json!("pa\u{202e}ir");
    }),
    ("its id is \"-x\"", |bundle| bundle.manifest["id"] = json!("-x")),
    ("plan.experiment.variant is \"a\\u{200b}\"", |bundle| {
        bundle.experiment()["variants"][1]["name"] = json!("a\u{200b}");
    }),
    ("plan.experiment.margin is 1e308", |bundle| bundle.experiment()["margin"] = json!(1e308)),
    ("plan.experiment.margin is 2e0", |bundle| bundle.experiment()["margin"] = json!(2.0)),
    ("plan.experiment.clients is 0", |bundle| bundle.experiment()["clients"] = json!([0])),
    ("steps[1].duration_ns is -1", |bundle| {
        change_record(bundle, |record| record["steps"][1]["duration_ns"] = json!(-1));
    }),
    ("more than 2^53", |bundle| {
        change_record(bundle, |record| {
            record["steps"][1]["seconds"]["seconds"] = json!(1_u64 << 63)
        });
    }),
    ("service.p50_ns is", |bundle| {
        change_record(bundle, |record| {
            record["steps"][1]["clients"]["get"]["service"]["p50_ns"] =
                json!(3_000_000_000_000_u64);
        });
    }),
    ("seconds.stalled_seconds is 77", |bundle| {
        change_record(bundle, |record| {
            record["steps"][1]["seconds"]["stalled_seconds"] = json!(77);
        });
    }),
];

fn change_record(bundle: &mut HostileBundle, change: fn(&mut serde_json::Value)) {
    let mut record = bundle.record("one.c1.r1");
    change(&mut record);
    let text = serde_json::to_vec(&record).expect("JSON");
    bundle.files.insert("runs/one.c1.r1/record.json".to_owned(), text);
}

/// Goal: no forged name reaches the archive, and no figure that no run has is shown.
#[test]
fn forged_names_and_figures_are_refused_by_import_and_by_readers() {
    for (reason, forge) in FORGED {
        let workspace = Workspace::new();
        let mut bundle = HostileBundle::of_pair();
        forge(&mut bundle);
        workspace.write("x.assay", bundle.pack());
        for call in ["import x.assay", "compare x.assay", "show x.assay"] {
            let output = workspace.assay(&call.split(' ').collect::<Vec<_>>());
            let err = crate::rejection::unwrapped(&output.err);
            assert!(output.code == 1 && err.contains(reason), "{reason}, {call}: {err}");
        }
        let left = fs::read_dir(workspace.path("results")).expect("it was made").count();
        assert_eq!(left, 0, "{reason}");
    }
}
