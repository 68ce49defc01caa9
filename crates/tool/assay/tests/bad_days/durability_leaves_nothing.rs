//! Whatever ends `assay durability`, no mount, loop device, process or directory is left.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Child;
use std::time::Duration;

use rustix::process::Signal;

use crate::sandbox::{
    Sandbox, joined_text, note, on_disk_of, output_text, send, wait_until, wrapped,
};

/// Longest time for anything here, on a busy host.
const LONG: Duration = Duration::from_secs(120);
/// Levels with mounts, and the arguments of cuts that do not end by themselves.
const LEVELS: [&str; 2] = ["file", "block"];
const ENDLESS: &[&str] = &["durability", "--engine", "sqlite", "--cuts", "100000"];

fn sandbox() -> Sandbox {
    Sandbox::reading("1s", &[("only", "memory", "")])
}

/// Returns whether cuts of a level can be made here; prints why not.
fn can_cut(sandbox: &Sandbox, level: &str) -> bool {
    let probe = ["durability", "--engine", "memory", "--level", level, "--cut", "0"];
    let output = sandbox.assay(&probe).output().expect("it runs");
    let text = joined_text(&output);
    let is_lacking = text.contains("cannot be made here");
    if is_lacking {
        note(&format!("skipped in part: {text}"));
    }
    assert!(is_lacking || output.status.success(), "{text}");
    !is_lacking
}

/// Returns the processes of a sandbox: those whose working directory is below it.
fn processes(sandbox: &Sandbox) -> Vec<u32> {
    let root = fs::canonicalize(sandbox.path("")).expect("the sandbox");
    let all = fs::read_dir("/proc").expect("/proc is mounted").flatten();
    let is_inside =
        |path: &Path| fs::read_link(path.join("cwd")).is_ok_and(|cwd| cwd.starts_with(&root));
    let inside = all.filter(|process| is_inside(&process.path()));
    inside.filter_map(|process| process.file_name().to_str()?.parse().ok()).collect()
}

/// Returns the child processes of one: those of each thread.
fn children(pid: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|it| fs::read_to_string(it.path().join("children")).ok());
    lists
        .flat_map(|it| it.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect()
}

/// Returns the mounts and the loop devices that name the sandbox.
fn mounts(sandbox: &Sandbox) -> Vec<String> {
    let root = fs::canonicalize(sandbox.path("")).expect("the sandbox").display().to_string();
    let mounts = fs::read_to_string("/proc/mounts").expect("/proc is mounted");
    let loops = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let images = loops.filter_map(|it| {
        let image = fs::read_to_string(it.path().join("loop/backing_file")).ok()?;
        Some(format!("{}: {image}", it.file_name().display()))
    });
    let all = mounts.lines().map(str::to_owned).chain(images);
    all.filter(|line| line.contains(&root)).collect()
}

/// Starts endless cuts; waits until the host of the cuts has started a store, which is cut.
///
/// The first cut is a try of the engine, and known stores follow.
fn start(sandbox: &Sandbox, level: &str) -> Child {
    let command = [ENDLESS, &["--level", level]].concat();
    let child = sandbox.assay(&command).spawn().expect("it runs");
    let first_child = |pid| children(pid).first().copied();
    // `unshare`, the host in the namespace, its store.
    let is_cut = || first_child(child.id()).and_then(first_child).and_then(first_child).is_some();
    assert!(wait_until(LONG, is_cut), "no cut begins");
    child
}

/// Checks that nothing is left, except what the next command removes.
fn assert_clean(sandbox: &Sandbox, case: &str) {
    let is_clean = || processes(sandbox).is_empty() && mounts(sandbox).is_empty();
    let has_ended = wait_until(LONG, is_clean);
    assert!(has_ended, "{case}: {:?} {:?}", processes(sandbox), mounts(sandbox));
    let next = ["durability", "--engine", "memory", "--level", "process", "--cut", "0"];
    let output = sandbox.assay(&next).output().expect("it runs");
    assert!(output.status.success(), "{case}: {}", output_text(&output));
    assert_eq!(sandbox.data_left(), [""; 0], "{case}");
}

/// Goal: a kill of Assay, or of the process that makes the cuts, leaves nothing.
#[test]
fn killed_cuts_leave_nothing() {
    for level in LEVELS {
        let sandbox = sandbox();
        if !can_cut(&sandbox, level) {
            continue;
        }
        let child = start(&sandbox, level);
        send(child.id(), Signal::KILL);
        let output = child.wait_with_output().expect("own child");
        assert_eq!(output.status.signal(), Some(Signal::KILL.as_raw()));
        assert_clean(&sandbox, &format!("{level}, kill of Assay"));
        let mut child = start(&sandbox, level);
        // A host may end by itself before the signal, and the next one starts.
        let has_ended = wait_until(LONG, || {
            children(child.id()).into_iter().for_each(|host| send(host, Signal::KILL));
            child.try_wait().expect("own child").is_some()
        });
        assert!(has_ended, "it goes on without a host");
        let output = child.wait_with_output().expect("own child");
        let text = joined_text(&output);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains("the process that makes the cuts"), "{text}");
        assert_clean(&sandbox, &format!("{level}, kill of the host"));
    }
}

/// Goal: Ctrl-C ends the cuts, reports those that were made, and leaves nothing.
/// Method: the signal comes after the first report of a level, and the JSON has its cuts.
#[test]
fn interrupted_cuts_are_reported_and_leave_nothing() {
    for level in LEVELS {
        let sandbox = sandbox();
        if !can_cut(&sandbox, level) {
            continue;
        }
        let child = start(&sandbox, level);
        send(child.id(), Signal::INT);
        let output = child.wait_with_output().expect("own child");
        assert_eq!(output.status.code(), Some(1), "{}", output_text(&output));
        assert!(joined_text(&output).contains("interrupted: only what was cut"));
        assert_clean(&sandbox, &format!("{level}, Ctrl-C"));
    }
    // The process level has no calibration of minutes.
    let sandbox = sandbox();
    let cuts = [ENDLESS, &["--level", "process", "--format", "json"]].concat();
    let child = sandbox.assay(&cuts).spawn().expect("it runs");
    // The directories of stores have drawn names: one try, six or more known stores, cuts.
    let mut stores = BTreeSet::new();
    assert!(wait_until(LONG, || {
        stores.extend(store_dirs(&sandbox));
        stores.len() >= 30
    }));
    send(child.id(), Signal::INT);
    let output = child.wait_with_output().expect("own child");
    assert_eq!(output.status.code(), Some(1), "{}", output_text(&output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let made = report["campaigns"][0]["campaign"]["cuts"].as_array().expect("a list").len();
    assert!(made > 0, "{report}");
    assert_clean(&sandbox, "process, Ctrl-C");
}

/// Returns the directories of stores that are being cut.
fn store_dirs(sandbox: &Sandbox) -> Vec<String> {
    let runs = fs::read_dir(sandbox.path("data")).into_iter().flatten().flatten();
    let dirs = runs.flat_map(|run| fs::read_dir(run.path()).into_iter().flatten().flatten());
    dirs.map(|dir| dir.file_name().display().to_string()).collect()
}

/// Goal: without space, or with a limit on sizes, an error ends the cuts, and nothing is left.
/// Method: the disk has one page, which has the marker of the data directory.
#[test]
fn a_full_disk_ends_the_cuts_and_nothing_is_left() {
    let then = "echo \"left: $(ls -A data | tr '\\n' ' ')\"; grep \"$PWD/data/\" /proc/mounts";
    let limited = ["bash", "-c", "ulimit -f 1; exec \"$@\"", "bash"];
    for level in ["process", "file"] {
        let sandbox = sandbox();
        if !can_cut(&sandbox, level) {
            continue;
        }
        let command = sandbox.assay(&[ENDLESS, &["--level", level]].concat());
        let Some(output) = on_disk_of("4k", "data", &command, then) else { return };
        let text = output_text(&output);
        assert_eq!(output.status.code(), Some(1), "{level}: {text}");
        assert!(text.contains("left: .assay-data \n") && !text.contains("crashfs"), "{text}");
        let is_named = text.contains("No space left on device") || text.contains("disk is full");
        assert!(is_named, "{level}: {text}");
        let output = wrapped(&limited, &command).output().expect("it runs");
        assert_eq!(output.status.code(), Some(1), "{level}: {}", output_text(&output));
        assert_clean(&sandbox, level);
    }
}
