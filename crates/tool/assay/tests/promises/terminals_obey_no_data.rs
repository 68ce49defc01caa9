//! A terminal obeys nothing that comes from a file, an argument or another program.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output, Stdio};

use assert_cmd::cargo::cargo_bin;

use crate::workspace::Workspace;

/// What a terminal would obey: a title, a cleared screen, hidden text, a reversed line.
const HOSTILE: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{1b}[8m\u{9b}2J\u{202e}";
/// What of it must not reach the terminal.
const OBEYED: [&str; 5] = ["\u{1b}]0", "\u{1b}[2J", "\u{1b}[8m", "\u{9b}", "\u{202e}"];

/// Runs the program on a terminal of its own.
fn on_a_terminal(workspace: &Workspace, arguments: &[&str]) -> std::io::Result<Output> {
    let quoted = arguments.iter().map(|argument| model::shell_word(argument));
    let line = [cargo_bin("assay").display().to_string()].into_iter().chain(quoted);
    // The shell that `script` starts must know `$'...'`.
    let mut command = Command::new("script");
    command
        .args(["-qec", &line.collect::<Vec<_>>().join(" "), "/dev/null"])
        .env("SHELL", "/bin/bash");
    command.current_dir(workspace.path("")).stdin(Stdio::null()).env_remove("NO_COLOR");
    command.env("XDG_CACHE_HOME", workspace.path("cache")).env("TERM", "xterm-256color");
    command.env("CC", workspace.path("hostile")).output()
}

#[test]
fn a_terminal_obeys_no_data() {
    let workspace = Workspace::with_pair();
    let toml = format!(
        "[experiment]\nname = \"x\"\nquestion = \"{0}\"\n[benchmark]\n\"{0}\" = 1\n",
        "\\u001b[2J"
    );
    workspace.write("escaped.toml", toml);
    workspace.write("raw.toml", format!("[experiment]\n\"name{HOSTILE}\" = 1 # {HOSTILE}\n"));
    workspace.write("raw.csv", format!("time,{HOSTILE}\na,1\nb,{HOSTILE}\n"));
    workspace.write("hostile", format!("#!/bin/sh\nprintf '%s\\n' '{HOSTILE}' >&2\nexit 1\n"));
    fs::create_dir_all(workspace.path("server/bin")).expect("a directory");
    fs::copy(workspace.path("hostile"), workspace.path("server/bin/mysqld")).expect("a copy");
    for program in ["hostile", "server/bin/mysqld"] {
        let executable = Permissions::from_mode(0o755);
        fs::set_permissions(workspace.path(program), executable).expect("a program");
    }
    let hostile = HOSTILE.replace('\0', "");
    let mut shown = 0;
    for call in [
        &["plan", "raw.toml"][..],
        &["plan", "escaped.toml"],
        &["plan", &hostile],
        &[&hostile],
        &["run", "fillseq", "--engine", &hostile],
        &["run", "fillseq", "--engine", "lmdb", "--option", &hostile],
        &["show", &hostile],
        &["compare", "pair", "--metric", &hostile],
        &["compare", "pair", "--format", &hostile],
        &["list", "--results", &hostile],
        &["history", "--import", "raw.csv"],
        &["history", "--import", &hostile],
        &["engine", "add", "mysql@mine", "server"],
        &["engine", "add", "own@mine", "hostile"],
        &["workload", &hostile],
        &["completions", &hostile],
    ] {
        let output = match on_a_terminal(&workspace, call) {
            Ok(output) => output,
            Err(error) => return println!("skipped: script does not run: {error}"),
        };
        let text = String::from_utf8_lossy(&output.stdout);
        for obeyed in OBEYED {
            assert!(!text.contains(obeyed), "{call:?}: {obeyed:?} in {text:?}");
        }
        assert!(!text.contains("panicked"), "{call:?}: {text}");
        shown += usize::from(text.contains("\\u{"));
    }
    assert!(shown > 8, "{shown} messages show what they escape");
}
