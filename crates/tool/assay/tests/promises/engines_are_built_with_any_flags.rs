//! `assay engine build` compiles releases with any compiler and flags.
//!
//! Builds are named after them, resume where they stopped, and quote compiler errors.
//!
//! LMDB is compiled: two files of C, from a crate that this workspace depends on.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use insta::assert_snapshot;

use crate::rejection::unwrapped;
use crate::workspace::{ProgramOutput, Workspace};

/// The release that is compiled.
const RELEASE: &str = "lmdb@0.9.70";

/// Wraps the next compiler in the path and logs what it compiles.
///
/// While the file `kill` exists it kills its caller at `midl.c`.
const GCC: &str = r#"#!/bin/sh
home="${0%/*}"
case "$*" in
*midl.c*) [ -e "$home/kill" ] && rm "$home/kill" && exec kill -KILL "$PPID" ;;
*mdb.c*) echo mdb.c >>"$home/compiled" ;;
esac
PATH="${PATH#*:}" exec gcc "$@"
"#;

/// Returns why the test is skipped, if compiler or cargo is missing.
fn missing_tools() -> Option<&'static str> {
    let is_there = |program: &str| {
        let mut command = Command::new(program);
        command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        match command.status() {
            Ok(status) => {
                assert!(status.success(), "{program} is damaged: {status}");
                true
            }
            Err(_absent) => false,
        }
    };
    match (is_there("gcc"), is_there("cargo")) {
        (false, _) => Some("skipped: no gcc here (Debian: apt install gcc)"),
        (_, false) => Some("skipped: no cargo here (Debian: apt install cargo)"),
        _ => None,
    }
}

/// Returns the build command, with cargo offline.
fn building(workspace: &Workspace, arguments: &[&str]) -> assert_cmd::Command {
    let mut program = workspace.program(&[&["engine", "build"], arguments].concat());
    program.env("CARGO_NET_OFFLINE", "true");
    program
}

/// Returns the output of `assay engine build`.
fn build(workspace: &Workspace, arguments: &[&str]) -> ProgramOutput {
    ProgramOutput::of(building(workspace, arguments).output().expect("the program starts"))
}

/// Returns its stderr when it fails.
fn rejection(arguments: &[&str]) -> String {
    let output = build(&Workspace::new(), arguments);
    assert_eq!((output.code, output.out.as_str()), (1, ""), "{}", output.err);
    unwrapped(&output.err)
}

/// Goal: builds of one release are distinguished by their flags in every output.
/// Method: two are compiled, listed, shown and run; the run's manifest is read.
#[test]
fn builds_record_their_compiler_flags() {
    if let Some(missing) = missing_tools() {
        return println!("{missing}");
    }
    let workspace = Workspace::new();
    for (flags, name) in [("-O0", "plain"), ("-O2 -fno-plt", "fast")] {
        build_twice(&workspace, flags, name);
    }
    let listed = workspace.assay(&["engine", "list"]).out;
    assert!(listed.contains(&format!("{RELEASE}-plain")), "{listed}");
    assert!(listed.contains(" 0.9.21 0.9.24 0.9.70\n"), "{listed}");
    // The same name for other flags is rejected.
    let output = build(&workspace, &[RELEASE, "--cflags", "-O1", "--name", "plain"]);
    assert!(output.err.contains("is cached already") && output.code == 1, "{}", output.err);
    let objects =
        fs::read_dir(workspace.path("cache/assay/build")).expect("the directory of objects");
    assert_eq!(objects.count(), 0, "objects are removed");
    let shown = workspace.assay(&["engine", "show", &format!("{RELEASE}-fast")]);
    assert!(shown.out.contains("\n  compiler: gcc"), "{}{}", shown.out, shown.err);
    assert!(shown.out.contains("\n  compiler_flags: -O2 -fno-plt\n"), "{}", shown.out);
    let manifest =
        manifest_of_a_run(&workspace, &format!("{RELEASE}-plain"), &format!("{RELEASE}-fast"));
    for flags in ["-O0", "-O2 -fno-plt"] {
        let fact = format!("\"compiler_flags\": \"{flags}\"");
        assert_eq!(manifest.matches(&fact).count(), 1, "{manifest}");
    }
}

/// Compiles the release twice; the second call compiles nothing.
fn build_twice(workspace: &Workspace, flags: &str, name: &str) {
    let arguments = [RELEASE, "--cflags", flags, "--name", name];
    let output = build(workspace, &arguments);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(output.out.starts_with(&format!("{RELEASE}-{name}  ")), "{}", output.out);
    assert!(output.out.contains("  compiled from lmdb-master-sys 0.2.6 by gcc"), "{}", output.out);
    assert!(output.out.ends_with(&format!(" with {flags}\n")), "{}", output.out);
    let again = build(workspace, &arguments);
    assert_eq!((again.code, &again.out), (0, &output.out));
    assert_eq!(again.err, format!("{RELEASE}-{name} is already compiled\n"));
}

/// Measures two builds briefly and returns the manifest.
fn manifest_of_a_run(workspace: &Workspace, one: &str, other: &str) -> String {
    let how = ["--rows", "500", "--duration", "50ms"];
    let what = ["run", "fillseq", "readrandom", "--engine", one, "--engine", other];
    workspace.recorded(&[&what[..], &how].concat());
    let only = |dir: PathBuf| {
        let entries = fs::read_dir(dir).expect("it was run");
        entries.last().expect("one directory").expect("an entry").path()
    };
    let run = only(only(workspace.path("results")));
    fs::read_to_string(run.join("manifest.json")).expect("a manifest")
}

/// Goal: a killed build continues where it stopped.
/// Method: a compiler that kills its caller at the second file, once.
#[test]
fn killed_build_continues_where_it_stopped() {
    if let Some(missing) = missing_tools() {
        return println!("{missing}");
    }
    let workspace = Workspace::new();
    fs::create_dir(workspace.path("bin")).expect("a directory");
    workspace.write("bin/gcc", GCC);
    workspace.write("bin/kill", "");
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(workspace.path("bin/gcc"), executable).expect("an executable file");
    let mut path = workspace.path("bin").into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let build = || {
        let mut program = building(&workspace, &[RELEASE, "--cflags", "-O0", "--jobs", "1"]);
        program.env("PATH", &path).output().expect("the program starts")
    };
    assert_eq!(build().status.code(), None, "it was killed");
    let output = ProgramOutput::of(build());
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(output.err.contains("1 of 2 files were compiled before"), "{}", output.err);
    let compiled = fs::read_to_string(workspace.path("bin/compiled")).expect("the compiler's log");
    assert_eq!(compiled.lines().count(), 1, "{compiled}");
}

#[test]
fn compiler_errors_are_quoted() {
    if let Some(missing) = missing_tools() {
        return println!("{missing}");
    }
    let output = rejection(&[RELEASE, "--cflags", "-O2 -fno-such-flag"]);
    assert!(output.contains("gcc rejects the flags -O2 -fno-such-flag:"), "{output}");
    assert!(output.contains("unrecognized command-line option"), "{output}");
    let output = rejection(&[RELEASE, "--cflags", "-O0 -DMDB_IDL_LOGN=oops", "--jobs", "1"]);
    assert!(output.contains("gcc did not compile ") && output.contains("error: "), "{output}");
    assert!(output.contains("oops"), "{output}");
    assert!(output.contains("the same command continues from there"), "{output}");
}

#[test]
fn invalid_build_arguments_are_rejected_with_the_remedy() {
    assert_snapshot!(rejection(&["lmdb@0.9.71"]), @"  × no crate carries the source of lmdb@0.9.71: the nearest that can be compiled is lmdb@0.9.70");
    assert_snapshot!(rejection(&["rocksdb"]), @"  × no crate carries the source of rocksdb: give a version, as in rocksdb@11.8.1");
    assert_snapshot!(rejection(&["redb@4.4.0"]), @"  × no crate carries the source of redb@4.4.0: engines that can be compiled: rocksdb, leveldb, sqlite, lmdb");
    assert_snapshot!(rejection(&[RELEASE, "--cc", "icc"]), @"  × `icc` is not a known compiler: write gcc or clang, or add a version, as in gcc-13");
    assert_snapshot!(rejection(&[RELEASE, "--cc", "gcc-99"]), @"  × there is no compiler `gcc-99` \
                                                                on this machine: install it \
                                                                (Debian: apt install gcc-99)");
    if let Some(missing) = missing_tools() {
        return println!("{missing}");
    }
    assert_snapshot!(rejection(&[RELEASE, "--cflags", "main.c"]), @"  × `main.c` is not a flag: flags begin with a dash; write a value as in --param=NAME=VALUE");
    assert_snapshot!(rejection(&[RELEASE, "--cflags", "-O2 -c"]), @"  × `-c` would prevent the compiler from making the library");
    // A compiler, but no cargo.
    let workspace = Workspace::new();
    fs::create_dir(workspace.path("bin")).expect("a directory");
    for program in ["gcc", "as", "ld"] {
        let target = format!("/usr/bin/{program}");
        symlink(target, workspace.path(&format!("bin/{program}"))).expect("a link");
    }
    let mut program = building(&workspace, &[RELEASE]);
    let output =
        ProgramOutput::of(program.env("PATH", workspace.path("bin")).output().expect("it starts"));
    assert!(unwrapped(&output.err).contains("no `cargo` on this machine"), "{}", output.err);
}
