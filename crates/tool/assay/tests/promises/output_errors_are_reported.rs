//! Only a closed pipe is quiet: any other error of the output ends in a failure.

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError};

use assert_cmd::cargo::cargo_bin;

use crate::workspace::{Workspace, without_phases};

/// One step of one variant, to be run again and again.
const BRIEF: &str = r#"[experiment]
name = "brief"
question = "Is it printed?"

[benchmark]
steps = ["fillseq"]
rows = 100

[[variant]]
name = "one"
engine = "memory"
"#;

/// The stored pair of variants, for all tests of this file; what to run, and a server to add.
///
/// Runs leave their results elsewhere: those that are read stay as they are.
pub(crate) static RUN: LazyLock<Workspace> = LazyLock::new(|| {
    let workspace = Workspace::with_pair().with_profiles();
    workspace.write("brief.toml", BRIEF);
    workspace.recorded(&["run", "brief.toml", "--results", "runs"]);
    let exported = workspace.assay(&["export", "brief", "-o", "brief.assay", "--results", "runs"]);
    assert_eq!(exported.code, 0, "{}", exported.err);
    workspace.write("nightly.csv", "time,ops\na,1\nb,2\nc,1\nd,2\ne,1\nf,2\n");
    for dir in ["server/bin", "server/share/english"] {
        fs::create_dir_all(workspace.path(dir)).expect("a directory");
    }
    workspace.write("server/share/english/errmsg.sys", "");
    workspace.write("server/bin/mysqld", "#!/bin/sh\necho \"$0  Ver 8.0.31 for Linux (fake)\"\n");
    let executable = Permissions::from_mode(0o755);
    fs::set_permissions(workspace.path("server/bin/mysqld"), executable).expect("a program");
    workspace.until_exit()
});

/// Held by each call: some replace files that others read.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Calls of every command: each prints, can be repeated and succeeds when all is well.
pub(crate) const CALLS: &[&str] = &[
    "plan pair.toml",
    "run brief.toml --results runs --disk-floor 1MiB",
    "list",
    "list pair",
    "show pair",
    "show pair one.c1.r1",
    "show pair --format json",
    "compare pair",
    "compare pair --costs",
    "compare pair --format markdown",
    "compare pair --format csv",
    "compare pair --format json",
    "compare pair --metric throughput_ops_per_s",
    "explain one two --in pair",
    "flame pair one readrandom",
    "flame pair one readrandom --versus two --format svg",
    "lint --rules",
    "lint --explain A003",
    "history --import nightly.csv --higher-is-better ops",
    "report pair",
    "site public",
    "verify",
    "verify pair",
    "export pair -o pair.assay",
    "archive parquet",
    "archive merge results",
    "export-job slurm brief.toml --results runs --disk-floor 1MiB",
    JOB,
    "import pair.assay",
    "rerun brief.assay --results runs --disk-floor 1MiB",
    "snapshot",
    "snapshot list",
    "snapshot show",
    "snapshot verify",
    "snapshot remove --all",
    "durability --engine memory --level process --cuts 1",
    "micro --kernel crc32c --block 4KiB --rounds 1 --span 1ms",
    DEVICE,
    SHOW_DEVICE,
    "device list",
    "doctor",
    "workload",
    "workload sysbench",
    "engine add mysql@mine server",
    "engine get mysql@mine",
    "engine list",
    "engine show memory",
    "engine test memory",
    BUILD,
    REMOVE,
    "completions bash",
    "help",
    "help compare",
    "--help",
    "--version",
];
/// Needs fio; measures for a second, in which it waits for the storage.
const DEVICE: &str = "device --path . --size 16MiB --jobs 1 --test fdatasync-4k --access buffered \
                      --repetitions 1 --minutes 0.02 --disk-floor 1MiB";
/// Needs the profile that the other leaves.
const SHOW_DEVICE: &str = "device show";
const JOB: &str = "export-job kubernetes brief.toml --results runs --disk-floor 1MiB --image i \
                   --claim c --pod-cpus 1 --pod-memory 1GiB";
/// Needs a compiler; compiles once.
const BUILD: &str = "engine build lmdb@0.9.70 --cflags -O0 --name plain";
/// Needs [`ADD`] before it.
const REMOVE: &str = "engine remove mysql@old";
const ADD: &str = "engine add mysql@old server";
/// Commands that report progress, or a development build, on standard error.
const PROGRESS: &[&str] =
    &["run ", "rerun ", "engine build ", "durability ", "micro ", "device --path"];
/// Calls that fail, and how.
const FAILURES: &[(&str, i32)] =
    &[("show nothing", 1), ("plan nothing.toml", 1), ("lint nothing", 2), ("nothing", 2)];

/// How a call ended: exit code, standard output and standard error where they are pipes.
type Ended = (Option<i32>, String, String);

/// Runs a call with these standard streams; `redirection` is added in the words of `sh`.
fn called(call: &str, redirection: &str, out: Stdio, err: Stdio) -> Ended {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    if call == REMOVE {
        assert_eq!(spawned(ADD, "", Stdio::null(), Stdio::null()).0, Some(0));
    }
    spawned(call, redirection, out, err)
}

fn spawned(call: &str, redirection: &str, out: Stdio, err: Stdio) -> Ended {
    let mut command = script(&format!("exec \"$0\" \"$@\" {redirection}"));
    command.args(call.split(' '));
    let output = command.stdout(out).stderr(err).spawn();
    let output = output.and_then(std::process::Child::wait_with_output).expect("it starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    let (out, err) = (text(output.stdout), without_phases(&text(output.stderr)));
    assert!(!err.contains("panicked"), "{call} {redirection}: {err}");
    (output.status.code(), out, err)
}

/// Returns a script of `sh`, whose `$0` is the program.
fn script(text: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", text]).arg(cargo_bin("assay"));
    command.current_dir(RUN.path("")).stdin(Stdio::null());
    command.env("XDG_CACHE_HOME", RUN.path("cache")).env("CARGO_NET_OFFLINE", "true");
    command
}

/// Runs a call with these further arguments after what `setting` does in the words of `sh`.
pub(crate) fn called_after(setting: &str, call: &str, more: &[OsString]) -> Output {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut command = script(&format!("{setting} exec \"$0\" \"$@\""));
    command.args(call.split(' ')).args(more).output().expect("it starts")
}

/// Returns a stream that cannot be written because the disk is full.
fn full() -> Stdio {
    File::options().write(true).open("/dev/full").expect("Linux has it").into()
}

/// Returns a pipe that is read no more.
fn broken() -> Stdio {
    let (reader, writer) = io::pipe().expect("a pipe");
    drop(reader);
    writer.into()
}

/// The commands that `assay --help` lists, with the commands of commands.
pub(crate) static COMMANDS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut found = Vec::new();
    let mut open = vec![String::new()];
    while let Some(command) = open.pop() {
        let help = called(format!("{command} --help").trim(), "", Stdio::piped(), Stdio::piped()).1;
        let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
        let listed = listed.map_while(|line| line.strip_prefix("  ")?.split(' ').next());
        let listed: Vec<_> = listed.filter(|name| !name.is_empty()).collect();
        // The help of a command's own commands is that of the program.
        let below = listed.iter().filter(|name| command.is_empty() || **name != "help");
        open.extend(below.map(|name| format!("{command} {name}").trim().to_owned()));
        found.extend(Some(command).filter(|command| listed.is_empty() && !command.is_empty()));
    }
    found.sort();
    assert!(found.len() > 25, "{found:?}");
    found
});

/// Returns the calls that this machine can do; prints which are left out.
#[expect(clippy::print_stdout, reason = "a skipped test prints why")]
pub(crate) fn calls() -> Vec<&'static str> {
    let mut calls = CALLS.to_vec();
    let is_absent = |program: &str| {
        let version = Command::new(program).arg("--version").stdout(Stdio::null()).status();
        version.is_err()
    };
    if is_absent("gcc") {
        println!("skipped in part: `{BUILD}`: no gcc here (Debian: apt install gcc)");
        calls.retain(|call| *call != BUILD);
    }
    if is_absent("fio") {
        println!("skipped in part: `{DEVICE}`: no fio here (Debian: apt install fio)");
        calls.retain(|call| *call != DEVICE && *call != SHOW_DEVICE);
    }
    calls
}

/// Returns the exit codes of a call whose output can be written.
fn expected(call: &str) -> Vec<i32> {
    match call.split(' ').next() {
        // What it finds is this machine's matter: a call just before finds the same.
        Some("doctor") => vec![called(call, "", Stdio::null(), Stdio::null()).0.expect("a code")],
        // A busy host may leave no result.
        // The runs of `pair` vary by too much to decide anything.
        Some("run" | "compare") => vec![0, 3],
        _ => vec![0],
    }
}

/// Returns how a call ended, after checking that it ended as it does with good streams.
fn ended_well(call: &str, redirection: &str, out: Stdio, err: Stdio) -> Ended {
    let codes = expected(call);
    let ended = called(call, redirection, out, err);
    let is_expected = ended.0.is_some_and(|code| codes.contains(&code));
    assert!(is_expected, "{call} {redirection}: {ended:?} instead of {codes:?}");
    ended
}

/// Checks that an output which is not wanted changes nothing.
fn assert_quiet(call: &str, redirection: &str, out: Stdio) {
    let (_, _, err) = ended_well(call, redirection, out, Stdio::piped());
    let has_progress = PROGRESS.iter().any(|command| call.starts_with(command));
    assert!(err.is_empty() || (has_progress && !err.contains("cannot write")), "{call}: {err}");
}

/// Returns whether a call is of a command.
pub(crate) fn is_of(call: &str, command: &str) -> bool {
    call.strip_prefix(command).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

#[test]
fn every_command_of_the_command_line_is_called() {
    for command in &*COMMANDS {
        // A server goes on until a signal ends it: its tests have a file of their own.
        let is_called = command == "serve" || CALLS.iter().any(|call| is_of(call, command));
        assert!(is_called, "give CALLS a call of `{command}` that prints and can be repeated");
    }
}

#[test]
fn a_full_disk_fails_every_command_that_prints() {
    let helps = COMMANDS.iter().filter(|command| *command != "help");
    let helps: Vec<_> = helps.map(|command| format!("{command} --help")).collect();
    let calls: Vec<_> = calls().into_iter().chain(helps.iter().map(String::as_str)).collect();
    for call in &calls {
        let (code, _, err) = called(call, "", full(), Stdio::piped());
        assert_ne!(code, Some(0), "{call} reports success");
        assert!(err.contains("cannot write the standard output: No space left"), "{call}: {err}");
    }
    // Findings exit with 1: a failed check is another code.
    assert_eq!(called("lint pair", "", full(), Stdio::null()).0, Some(2));
    println!("{} calls on a full disk, all failed", calls.len());
}

#[test]
fn a_run_whose_answer_is_not_printed_fails_and_stays_complete() {
    let workspace = Workspace::new();
    workspace.write("brief.toml", BRIEF);
    let mut command = Command::new(cargo_bin("assay"));
    command.current_dir(workspace.path("")).args(["run", "brief.toml", "--disk-floor", "1MiB"]);
    let output = command.stdout(full()).stderr(Stdio::piped()).spawn();
    let output = output.and_then(std::process::Child::wait_with_output);
    assert_eq!(output.expect("it starts").status.code(), Some(1));
    let listed = workspace.assay(&["list"]).out;
    assert_eq!(listed.matches("its run is complete").count(), 1, "{listed}");
}

#[test]
fn a_closed_pipe_is_quiet() {
    let calls = calls();
    for call in &calls {
        assert_quiet(call, "", broken());
    }
    println!("{} calls into a closed pipe, all quiet", calls.len());
}

/// Goal: with standard output closed nothing is written elsewhere in its place.
/// Method: the descriptor that a file of the program would get is the one that was closed.
#[test]
fn a_closed_standard_output_is_discarded() {
    let calls = calls();
    for call in &calls {
        assert_quiet(call, ">&-", Stdio::null());
    }
    println!("{} calls without a standard output, all quiet", calls.len());
    called("report pair --output page.html", ">&-", Stdio::null(), Stdio::null());
    let page = fs::read_to_string(RUN.path("page.html")).expect("the page");
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>"), "{page}");
    assert!(called("verify", "", Stdio::piped(), Stdio::null()).1.contains("mismatches: 0"));
}

/// Goal: what cannot be reported changes no result and no exit code.
/// Method: standard error is full for every call; for calls that write to it, it is also closed,
/// and a pipe that is read no more.
#[test]
fn lost_error_messages_change_no_exit_code() {
    let calls = calls();
    let sinks = [("", full as fn() -> Stdio), ("2>&-", Stdio::null), ("", broken)];
    let mut number = 0;
    for (position, (redirection, err)) in sinks.into_iter().enumerate() {
        let writes = |call: &&&str| PROGRESS.iter().any(|command| call.starts_with(command));
        for call in calls.iter().filter(|call| position == 0 || writes(call)) {
            let (_, out, _) = ended_well(call, redirection, Stdio::piped(), err());
            assert!(!out.is_empty(), "{call} {redirection}");
            number += 1;
        }
        for (call, code) in FAILURES {
            let (ended, out, _) = called(call, redirection, Stdio::piped(), err());
            assert_eq!((ended, out.as_str()), (Some(*code), ""), "{call} {redirection}");
            number += 1;
        }
    }
    println!("{number} calls without a standard error, all ended as with one");
    assert!(number > 50, "{number}");
}

#[test]
fn files_that_cannot_be_written_fail() {
    for (call, expected) in [
        ("report pair --output /dev/full", 1),
        ("report pair --output pair.toml/page.html", 1),
        ("report pair --markdown pair.toml/post", 1),
        ("history --import nightly.csv --higher-is-better ops --plot /dev/full", 2),
    ] {
        let (code, _, err) = called(call, "", Stdio::null(), Stdio::piped());
        assert_eq!(code, Some(expected), "{call}: {err}");
        assert!(err.contains("cannot write") || err.contains("cannot use"), "{call}: {err}");
    }
}

/// Goal: every file that a user names has the permissions that the umask gives a new one.
#[test]
fn files_that_a_user_names_obey_the_umask() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    for (umask, mode) in [("022", 0o644), ("077", 0o600)] {
        let dir = RUN.path(&format!("umask{umask}"));
        fs::create_dir(&dir).expect("a directory");
        for call in [
            "export pair -o DIR/pair.assay",
            "report pair -o DIR/page.html",
            "report pair --markdown DIR",
            "history --import nightly.csv --higher-is-better ops --plot DIR/plot.svg",
        ] {
            let call = call.replace("DIR", dir.to_str().expect("UTF-8"));
            let mut command = Command::new("sh");
            command.args(["-c", &format!("umask {umask}; exec \"$0\" \"$@\"")]);
            command.arg(cargo_bin("assay")).current_dir(RUN.path("")).args(call.split(' '));
            let output = command.output().expect("it starts");
            assert!(output.status.success(), "{call}: {}", String::from_utf8_lossy(&output.stderr));
        }
        let files = fs::read_dir(&dir).expect("it is there").map(Result::unwrap);
        let modes: Vec<_> = files
            .map(|file| (file.file_name(), file.metadata().unwrap().permissions().mode() & 0o777))
            .collect();
        assert!(modes.len() >= 4, "{modes:?}");
        assert!(modes.iter().all(|(_, found)| *found == mode), "{modes:?}");
    }
}

/// Goal: the error of a full standard output names the results that are stored.
#[test]
fn results_that_are_stored_are_named_when_their_output_fails() {
    let call = "run fillseq --engine memory --rows 100";
    let place = tempfile::tempdir().expect("a directory");
    let mut command = script("exec \"$0\" \"$@\"");
    command.args(call.split(' ')).current_dir(place.path()).stdout(full());
    let output = command.output().expect("it starts");
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    let help = "only the output is incomplete; the results are stored: assay compare quick-fillseq";
    assert!(err.contains(help), "{err}");
}
