//! No argument, environment or limit ends a command by a panic or a signal.
//!
//! The commands are those of `assay --help`: a new one is called too. A test alone tries a sample
//! of the commands in each setting; `ASSAY_CAMPAIGN=long` tries all.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::process::Output;
use std::sync::LazyLock;

use crate::group::Group;
use crate::output_errors_are_reported::{CALLS, COMMANDS, called_after, calls, is_of};
use crate::sample::Sample;

/// Limits on threads and processes, the program's first included: from none further to what
/// all but runs of many clients have.
const THREADS: [u32; 5] = [1, 2, 4, 9, 24];

/// Limits on open files; below the first no library of the program can be loaded.
const FILES: [u32; 3] = [4, 6, 12];

/// Settings that each command is tried in: one of so many, and all in a long campaign.
const ONE_IN: u64 = 3;

/// Variables that name files, programs and accounts.
const VARIABLES: [&str; 7] = [
    "HOME",
    "XDG_CACHE_HOME",
    "CC",
    "LD_LIBRARY_PATH",
    "TMPDIR",
    "ASSAY_SERVER_USER",
    "MALLOC_CONF",
];

/// An argument that is not UTF-8, and one that a terminal would obey.
const ODD: [&[u8]; 2] = [b"r\xff", "x\u{1b}[31m\u{9b}2J\u{202e}".as_bytes()];

/// How the first call of each command ends without a limit: some find something on this machine.
static USUAL: LazyLock<BTreeMap<&str, Option<i32>>> = LazyLock::new(|| {
    let first = COMMANDS.iter().filter_map(|command| first_call(CALLS, command));
    first.map(|call| (call, called_after("", call, &[]).status.code())).collect()
});

/// Returns the first call of a command.
fn first_call(calls: &[&'static str], command: &str) -> Option<&'static str> {
    calls.iter().copied().find(|call| is_of(call, command))
}

/// Checks that a command ended by itself, stated why it failed, and printed nothing that a terminal
/// obeys; returns whether it ended as ever, and what it printed.
fn ended(call: &str, what: &str, output: &Output) -> (bool, String) {
    let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    let printed = format!("{out}{err}");
    let code = output.status.code();
    assert!(code.is_some_and(|code| code != 101), "{what}: {:?}: {printed}", output.status);
    for obeyed in ["panicked", "\u{1b}", "\u{9b}", "\u{202e}"] {
        assert!(!printed.contains(obeyed), "{what}: {obeyed:?} in {printed}");
    }
    assert!(code == Some(0) || !printed.trim().is_empty(), "{what} fails without a word");
    (code == USUAL[call], printed)
}

/// Returns one call of each command that this machine can do.
fn first_calls() -> Vec<&'static str> {
    let can = calls();
    COMMANDS.iter().filter_map(|command| first_call(&can, command)).collect()
}

/// Runs commands after each setting in the words of `sh`, a sample of all pairs; returns what those
/// printed that fail there only.
#[expect(clippy::print_stdout, reason = "a campaign prints its count")]
fn failures(settings: &[String]) -> Vec<String> {
    let (calls, mut sample) = (first_calls(), Sample::new(ONE_IN));
    let mut failed = Vec::new();
    for (place, setting) in settings.iter().enumerate() {
        for call in sample.partners(place, &calls) {
            let what = format!("{setting} assay {call}");
            let (is_done, printed) = ended(call, &what, &called_after(setting, call, &[]));
            if !is_done {
                failed.push(format!("{what}: {printed}"));
            }
        }
    }
    println!("{sample} commands and limits tried, {} failed", failed.len());
    assert!(failed.len() > 2, "{failed:?}");
    failed
}

#[test]
fn commands_that_get_no_thread_or_process_name_the_limit() {
    let limit = [("pids.max", "max".to_owned())];
    let group = match Group::make("pids", &limit, &limit) {
        Ok(group) => group,
        Err(reason) => return println!("skipped: {reason}"),
    };
    let (processes, limit) = (group.processes(), group.processes().with_file_name("pids.max"));
    let settings = THREADS.map(|threads| {
        format!("echo {threads} > {}; echo $$ > {};", limit.display(), processes.display())
    });
    for failure in failures(&settings) {
        let is_named = ["thread", "process", "temporarily unavailable", "cannot be run"]
            .iter()
            .any(|text| failure.contains(text));
        assert!(is_named, "{failure}");
    }
}

#[test]
fn commands_that_get_no_file_name_it() {
    for failure in failures(&FILES.map(|files| format!("ulimit -n {files};"))) {
        assert!(failure.contains("open files") || failure.contains("cannot"), "{failure}");
    }
}

#[test]
fn odd_environments_end_in_an_error_or_a_result() {
    let export = |name: &str| format!("export {name}=\"$(printf '/tmp/r\\377')\";");
    let variables: String = VARIABLES.map(export).concat();
    let settings = [
        variables.as_str(),
        "unset HOME XDG_CACHE_HOME;",
        "mkdir gone && cd gone && rmdir ../gone;",
        "cd \"$(printf 'r\\377')\" || mkdir \"$(printf 'r\\377')\" && cd \"$(printf 'r\\377')\";",
        "exec 0>&- 1>&- 2>&-;",
    ];
    let (calls, mut sample) = (first_calls(), Sample::new(ONE_IN));
    for (place, setting) in settings.into_iter().enumerate() {
        for call in sample.partners(place, &calls) {
            let output = called_after(setting, call, &[]);
            if !setting.contains("1>&-") {
                ended(call, &format!("{setting} assay {call}"), &output);
            }
            let code = output.status.code();
            assert!(code.is_some_and(|code| code != 101), "{setting} {call}: {:?}", output.status);
        }
    }
    println!("{sample} commands and environments, each with an error or a result");
    assert!(sample.tried > 40, "{sample}");
}

/// Goal: an argument that is not UTF-8, or that a terminal would obey, is used or named.
/// Method: each is given to every command as an operand, and as the value of every option that
/// the help of the command lists; of a sample, each option of a command gets one of them.
#[test]
fn odd_arguments_are_used_or_named() {
    let mut sample = Sample::new(ODD.len() as u64);
    for (place, command) in COMMANDS.iter().enumerate() {
        // A server has no call that ends by itself.
        let Some(call) = first_call(CALLS, command) else { continue };
        let help = called_after("", &format!("{command} --help"), &[]);
        let help = String::from_utf8(help.stdout).expect("UTF-8");
        let options = help.lines().filter_map(|line| {
            let (option, rest) = line[line.find("--")?..].split_once(' ')?;
            rest.starts_with('<').then(|| OsString::from(option))
        });
        // An operand has no option before it.
        let before: Vec<_> = options.map(Some).chain([None]).collect();
        for (number, odd) in ODD.map(OsStr::from_bytes).into_iter().enumerate() {
            for option in sample.partners(place + number, &before) {
                assert_used_or_named(call, option.as_ref(), odd);
            }
        }
    }
    println!("{sample} odd arguments, all used or named");
    assert!(sample.tried > 200, "{sample}");
}

/// Checks that an odd value of an option, or an odd operand, is used or named.
fn assert_used_or_named(call: &str, option: Option<&OsString>, odd: &OsStr) {
    let ended_with = |value: &OsStr| {
        let more: Vec<_> = option.into_iter().cloned().chain([value.to_owned()]).collect();
        ended(call, &format!("assay {call} {more:?}"), &called_after("", call, &more))
    };
    let (is_done, printed) = ended_with(odd);
    let is_named = printed.contains("r\u{fffd}") || printed.contains("x\\u{1b}[31m");
    // A value that nothing is wrong with fails alike: something else is the matter.
    let is_alike = || ended_with(OsStr::new("abc")).1 == printed;
    assert!(is_done || is_named || is_alike(), "assay {call} {option:?} {odd:?}: {printed}");
}
