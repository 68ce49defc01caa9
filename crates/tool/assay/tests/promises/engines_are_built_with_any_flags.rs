//! `assay engine build` compiles a release with any compiler and flags, names it after them, goes
//! on where it was stopped, and lets the compiler speak when it refuses.
//!
//! LMDB is compiled: two files of C, from a crate that this workspace has anyway.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use insta::assert_snapshot;

use crate::place::{PerDialect, Place};
use crate::refusal::unwrapped;

/// The release that is compiled.
const RELEASE: &str = "lmdb@0.9.70";

/// Compiles with the next compiler in the path, notes what, and, while told to, kills the program
/// that called it at `midl.c`.
const GCC: &str = r#"#!/bin/sh
home="${0%/*}"
case "$*" in
*midl.c*) [ -e "$home/kill" ] && rm "$home/kill" && exec kill -KILL "$PPID" ;;
*mdb.c*) echo mdb.c >>"$home/compiled" ;;
esac
PATH="${PATH#*:}" exec gcc "$@"
"#;

/// Returns what a machine without compiler or source lacks; the test is skipped then.
fn lacks() -> Option<&'static str> {
    let is_there = |program: &str| {
        let mut command = Command::new(program);
        command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    match (is_there("gcc"), is_there("cargo")) {
        (false, _) => Some("skipped: no gcc here (Debian: apt install gcc)"),
        (_, false) => Some("skipped: no cargo here (Debian: apt install cargo)"),
        _ => None,
    }
}

/// Returns the program about to build; cargo is to find all it needs where the workspace has it.
fn building(place: &Place, arguments: &[&str]) -> assert_cmd::Command {
    let mut program = place.program(&[&["engine", "build"], arguments].concat());
    program.env("CARGO_NET_OFFLINE", "true");
    program
}

/// Returns what `assay engine build` says.
fn build(place: &Place, arguments: &[&str]) -> PerDialect {
    PerDialect::of(building(place, arguments).output().expect("the program starts"))
}

/// Returns what it says when it cannot.
fn refusal(arguments: &[&str]) -> String {
    let said = build(&Place::new(), arguments);
    assert_eq!((said.code, said.out.as_str()), (1, ""), "{}", said.err);
    unwrapped(&said.err)
}

/// Goal: builds of one release are told apart by their flags, wherever one of them is seen.
/// Method: two are compiled, listed, shown and run; the run's manifest is read.
#[test]
fn two_sets_of_flags_are_two_builds_that_tell_how_they_were_made() {
    if let Some(lack) = lacks() {
        return println!("{lack}");
    }
    let place = Place::new();
    for (flags, name) in [("-O0", "plain"), ("-O2 -fno-plt", "fast")] {
        build_twice(&place, flags, name);
    }
    let listed = place.assay(&["engine", "list"]).out;
    assert!(listed.contains(&format!("{RELEASE}-plain")), "{listed}");
    assert!(listed.contains(" 0.9.21 0.9.24 0.9.70\n"), "{listed}");
    // The same name for other flags would make two things one.
    let said = build(&place, &[RELEASE, "--cflags", "-O1", "--name", "plain"]);
    assert!(said.err.contains("is cached already") && said.code == 1, "{}", said.err);
    let objects = fs::read_dir(place.path("cache/assay/build")).expect("where objects were");
    assert_eq!(objects.count(), 0, "objects are removed");
    let shown = place.assay(&["engine", "show", &format!("{RELEASE}-fast")]);
    assert!(shown.out.contains("\n  compiler: gcc"), "{}{}", shown.out, shown.err);
    assert!(shown.out.contains("\n  compiler_flags: -O2 -fno-plt\n"), "{}", shown.out);
    let manifest =
        manifest_of_a_run(&place, &format!("{RELEASE}-plain"), &format!("{RELEASE}-fast"));
    for flags in ["-O0", "-O2 -fno-plt"] {
        let fact = format!("\"compiler_flags\": \"{flags}\"");
        assert_eq!(manifest.matches(&fact).count(), 1, "{manifest}");
    }
}

/// Compiles the release, and asks for the same again, which compiles nothing.
fn build_twice(place: &Place, flags: &str, name: &str) {
    let arguments = [RELEASE, "--cflags", flags, "--name", name];
    let said = build(place, &arguments);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.starts_with(&format!("{RELEASE}-{name}  ")), "{}", said.out);
    assert!(said.out.contains("  compiled from lmdb-master-sys 0.2.6 by gcc"), "{}", said.out);
    assert!(said.out.ends_with(&format!(" with {flags}\n")), "{}", said.out);
    let again = build(place, &arguments);
    assert_eq!((again.code, &again.out), (0, &said.out));
    assert_eq!(again.err, format!("{RELEASE}-{name} was compiled before\n"));
}

/// Measures two builds for a moment and returns what is kept of them.
fn manifest_of_a_run(place: &Place, one: &str, other: &str) -> String {
    let how = ["--rows", "500", "--duration", "50ms"];
    let what = ["run", "fillseq", "readrandom", "--engine", one, "--engine", other];
    let said = place.assay(&[&what[..], &how].concat());
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let only = |dir: PathBuf| {
        let entries = fs::read_dir(dir).expect("it was run");
        entries.last().expect("one directory").expect("an entry").path()
    };
    let run = only(only(place.path("results")));
    fs::read_to_string(run.join("manifest.json")).expect("a manifest")
}

/// Goal: a killed build goes on where it was.
/// Method: a compiler that kills its caller at the second file, once.
#[test]
fn a_build_that_was_killed_goes_on_where_it_was() {
    if let Some(lack) = lacks() {
        return println!("{lack}");
    }
    let place = Place::new();
    fs::create_dir(place.path("bin")).expect("a directory");
    place.write("bin/gcc", GCC);
    place.write("bin/kill", "");
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(place.path("bin/gcc"), executable).expect("an executable file");
    let mut path = place.path("bin").into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let build = || {
        let mut program = building(&place, &[RELEASE, "--cflags", "-O0", "--jobs", "1"]);
        program.env("PATH", &path).output().expect("the program starts")
    };
    assert_eq!(build().status.code(), None, "it was killed");
    let said = PerDialect::of(build());
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("1 of 2 files were compiled before"), "{}", said.err);
    let compiled = fs::read_to_string(place.path("bin/compiled")).expect("the compiler's notes");
    assert_eq!(compiled.lines().count(), 1, "{compiled}");
}

#[test]
fn what_the_compiler_refuses_is_told_in_its_words() {
    if let Some(lack) = lacks() {
        return println!("{lack}");
    }
    let said = refusal(&[RELEASE, "--cflags", "-O2 -fno-such-flag"]);
    assert!(said.contains("gcc does not take the flags -O2 -fno-such-flag:"), "{said}");
    assert!(said.contains("unrecognized command-line option"), "{said}");
    let said = refusal(&[RELEASE, "--cflags", "-O0 -DMDB_IDL_LOGN=oops", "--jobs", "1"]);
    assert!(said.contains("gcc did not compile ") && said.contains("error: "), "{said}");
    assert!(said.contains("oops"), "{said}");
    assert!(said.contains("the same call goes on from there"), "{said}");
}

#[test]
fn what_cannot_be_built_is_refused_with_the_remedy() {
    assert_snapshot!(refusal(&["lmdb@0.9.71"]), @"  × no crate carries the source of lmdb@0.9.71: the nearest that can be compiled is lmdb@0.9.70");
    assert_snapshot!(refusal(&["rocksdb"]), @"  × no crate carries the source of rocksdb: say which version, as in rocksdb@11.8.1");
    assert_snapshot!(refusal(&["redb@4.4.0"]), @"  × no crate carries the source of redb@4.4.0: engines that can be compiled: rocksdb, leveldb, sqlite, lmdb");
    assert_snapshot!(refusal(&[RELEASE, "--cc", "icc"]), @"  × `icc` is no compiler that is known: write gcc or clang, or one with its version as gcc-13");
    assert_snapshot!(refusal(&[RELEASE, "--cc", "gcc-99"]), @"  × no compiler `gcc-99` on this machine: install it (Debian: apt install gcc-99)");
    if let Some(lack) = lacks() {
        return println!("{lack}");
    }
    assert_snapshot!(refusal(&[RELEASE, "--cflags", "main.c"]), @"  × `main.c` is no flag: each begins with a dash; one with a value is one word, as in --param=NAME=VALUE");
    assert_snapshot!(refusal(&[RELEASE, "--cflags", "-O2 -c"]), @"  × `-c` would keep the compiler from making the library");
    // A compiler, but no cargo.
    let place = Place::new();
    fs::create_dir(place.path("bin")).expect("a directory");
    for program in ["gcc", "as", "ld"] {
        let target = format!("/usr/bin/{program}");
        symlink(target, place.path(&format!("bin/{program}"))).expect("a link");
    }
    let mut program = building(&place, &[RELEASE]);
    let said = PerDialect::of(program.env("PATH", place.path("bin")).output().expect("it starts"));
    assert!(unwrapped(&said.err).contains("no `cargo` on this machine"), "{}", said.err);
}
