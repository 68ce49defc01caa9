//! No argument, environment or limit ends a command by a panic or a signal.
//!
//! The commands are those of `assay --help`: a new one is called too.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Output;
use std::sync::LazyLock;

use crate::group::Group;
use crate::output_errors_are_reported::{CALLS, COMMANDS, called_after, calls, is_of};

/// Limits on threads and processes, the program's first included: from none further to what
/// all but runs of many clients have.
const THREADS: [u32; 5] = [1, 2, 4, 9, 24];

/// Limits on open files; below the first no library of the program can be loaded.
const FILES: [u32; 3] = [4, 6, 12];

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

/// How each call ends without a limit: some find something on this machine.
static USUAL: LazyLock<BTreeMap<&str, Option<i32>>> = LazyLock::new(|| {
    let ended = |call| (call, called_after("", call, &[]).status.code());
    CALLS.iter().copied().map(ended).collect()
});

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
    let first = |command| can.iter().copied().find(|call| is_of(call, command));
    COMMANDS.iter().filter_map(|command| first(command)).collect()
}

/// Runs a call of every command after `setting`; returns what those printed that fail there only.
fn failures(setting: &str) -> Vec<String> {
    let mut failed = Vec::new();
    for call in first_calls() {
        let what = format!("{setting} assay {call}");
        let (is_done, printed) = ended(call, &what, &called_after(setting, call, &[]));
        if !is_done {
            failed.push(format!("{what}: {printed}"));
        }
    }
    failed
}

#[test]
fn commands_that_get_no_thread_or_process_name_the_limit() {
    let limit = [("pids.max", "max".to_owned())];
    let group = match Group::make("pids", &limit, &limit) {
        Ok(group) => group,
        Err(reason) => return println!("skipped: {reason}"),
    };
    let limit = group.processes().with_file_name("pids.max");
    let mut number = 0;
    for threads in THREADS {
        let setting = format!(
            "echo {threads} > {}; echo $$ > {};",
            limit.display(),
            group.processes().display()
        );
        for failure in failures(&setting) {
            let is_named = ["thread", "process", "temporarily unavailable", "cannot be run"]
                .iter()
                .any(|text| failure.contains(text));
            assert!(is_named, "{failure}");
            number += 1;
        }
    }
    println!("{number} commands failed for want of threads, each with the reason");
    assert!(number > 10, "{number}");
}

#[test]
fn commands_that_get_no_file_name_it() {
    let mut number = 0;
    for files in FILES {
        for failure in failures(&format!("ulimit -n {files};")) {
            assert!(failure.contains("open files") || failure.contains("cannot"), "{failure}");
            number += 1;
        }
    }
    println!("{number} commands failed for want of descriptors, each with the reason");
    assert!(number > 10, "{number}");
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
    for setting in settings {
        for call in first_calls() {
            let output = called_after(setting, call, &[]);
            if !setting.contains("1>&-") {
                ended(call, &format!("{setting} assay {call}"), &output);
            }
            let code = output.status.code();
            assert!(code.is_some_and(|code| code != 101), "{setting} {call}: {:?}", output.status);
        }
    }
}

/// Goal: an argument that is not UTF-8, or that a terminal would obey, is used or named.
/// Method: each is given to every command as an operand, and as the value of every option that
/// the help of the command lists.
#[test]
fn odd_arguments_are_used_or_named() {
    let mut number = 0;
    for command in &*COMMANDS {
        let call = CALLS.iter().find(|call| is_of(call, command)).expect("every command is called");
        let help = called_after("", &format!("{command} --help"), &[]);
        let help = String::from_utf8(help.stdout).expect("UTF-8");
        let options = help.lines().filter_map(|line| {
            let (option, rest) = line[line.find("--")?..].split_once(' ')?;
            rest.starts_with('<').then_some(option)
        });
        for odd in ODD.map(OsStr::from_bytes) {
            let shown = "r\u{fffd}";
            let operand = [odd.to_owned()];
            let values = options.clone().map(|option| [option.into(), odd.to_owned()].to_vec());
            for more in values.chain([operand.to_vec()]) {
                let what = format!("assay {call} {more:?}");
                let (is_done, printed) = ended(call, &what, &called_after("", call, &more));
                let is_named = printed.contains(shown) || printed.contains("x\\u{1b}[31m");
                // A value that nothing is wrong with fails alike: something else is the matter.
                let plain =
                    more.iter().map(|one| if one == odd { "abc".into() } else { one.clone() });
                let alike =
                    || ended(call, &what, &called_after("", call, &plain.collect::<Vec<_>>()));
                assert!(is_done || is_named || alike().1 == printed, "{what}: {printed}");
                number += 1;
            }
        }
    }
    println!("{number} odd arguments, all used or named");
    assert!(number > 200, "{number}");
}
