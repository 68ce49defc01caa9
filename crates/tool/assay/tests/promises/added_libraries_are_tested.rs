//! `assay engine add` tests a library before it is cached.
//!
//! One of another engine, one that does not fit its headers and one that crashes are rejected.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use insta::assert_snapshot;

use crate::maven::library;
use crate::rejection::unwrapped;
use crate::workspace::{ProgramOutput, Workspace};

/// Returns the distribution's library of that name; prints why if absent.
#[expect(clippy::print_stdout, reason = "a skipped test prints why")]
fn installed(name: &str, package: &str) -> Option<PathBuf> {
    let triplet = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
    let dirs = [triplet.as_str(), "/usr/lib64", "/usr/lib"];
    let found = dirs.iter().map(|dir| Path::new(dir).join(name)).find(|path| path.is_file());
    if found.is_none() {
        println!("skipped: no {name}: apt install {package}");
    }
    found
}

/// Compiles a library in the workspace; prints why without a C compiler.
#[expect(clippy::print_stdout, reason = "a skipped test prints why")]
fn compiled(workspace: &Workspace, name: &str, source: &str) -> Option<()> {
    workspace.write("source.c", source);
    let (from, to) = (workspace.path("source.c"), workspace.path(name));
    let made = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([to, from]).status();
    if made.is_err() {
        println!("skipped: no C compiler: apt install gcc libc6-dev");
        return None;
    }
    assert!(made.is_ok_and(|status| status.success()), "the library is compiled");
    Some(())
}

/// Returns the error of `assay engine add` for a rejected library.
fn rejection(workspace: &Workspace, arguments: &[&str]) -> String {
    let output = workspace.assay(&[&["engine", "add"], arguments].concat());
    rejection_of(workspace, &output)
}

fn rejection_of(workspace: &Workspace, output: &ProgramOutput) -> String {
    assert_eq!((output.code, output.out.as_str()), (1, ""), "{}", output.err);
    let listed = workspace.assay(&["engine", "list"]);
    assert!(listed.out.contains("none yet"), "{}", listed.out);
    unwrapped(&output.err)
}

#[test]
fn library_of_another_engine_is_identified_by_a_missing_function() {
    let Some(sqlite) = installed("libsqlite3.so.0", "libsqlite3-0") else { return };
    let (workspace, path) = (Workspace::new(), sqlite.display().to_string());
    let output = rejection(&workspace, &["rocksdb@mine", &path]);
    assert!(output.contains("rocksdb@mine is not cached: "), "{output}");
    assert!(output.contains(" is not RocksDB: it lacks `rocksdb_open`"), "{output}");
    assert!(!output.contains(".partial"), "the user's own path is named: {output}");
    let output = rejection(&workspace, &["leveldb", &path]);
    assert!(output.contains("it lacks `leveldb_"), "{output}");
    let output = rejection(&workspace, &["splinterdb", &path]);
    assert!(
        output.contains("is not splinterdb: it has no function whose name begins with"),
        "{output}"
    );
}

#[test]
fn crashing_library_does_not_crash_assay() {
    let workspace = Workspace::new();
    let dies = "__attribute__((constructor)) static void begin(void) { *(volatile int *)0 = 1; }";
    if compiled(&workspace, "dies.so", dies).is_none() {
        return;
    }
    let output = rejection(&workspace, &["leveldb@mine", "dies.so"]);
    assert!(
        output.contains("leveldb@mine is not cached: it died in the smoke test: signal 11"),
        "{output}"
    );
    // It has the header of a library, but the loader rejects it.
    workspace.write("header.so", library("a header and nothing else"));
    let output = rejection(&workspace, &["rocksdb@mine", "header.so"]);
    assert!(
        output.contains("rocksdb@mine is not cached: ") && output.contains("header.so"),
        "{output}"
    );
}

#[test]
fn working_library_is_cached_under_its_name() {
    let Some(leveldb) = installed("libleveldb.so.1d", "libleveldb1d") else { return };
    let (workspace, path) = (Workspace::new(), leveldb.display().to_string());
    let output = workspace.assay(&["engine", "add", "leveldb@mine", &path]);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(output.out.starts_with("leveldb@mine  ") && output.out.contains("  added from /"));
    let again = workspace.assay(&["engine", "add", "leveldb@mine", &path]);
    assert_eq!(again.out, output.out, "adding it again changes nothing");
    workspace.write("other.so", library("other"));
    let output = workspace.assay(&["engine", "add", "leveldb@mine", "other.so"]);
    let output = unwrapped(&output.err);
    assert!(output.contains("leveldb@mine is cached already, from elsewhere"), "{output}");
    assert!(
        output.contains("choose another name, or run `assay engine remove leveldb@mine`"),
        "{output}"
    );
    let output = workspace.assay(&["engine", "add", "leveldb@system", &path]);
    assert!(
        output.err.contains("leveldb@system is the name of an official build"),
        "{}",
        output.err
    );
}

#[test]
fn shim_needs_headers_and_a_compiler() {
    let workspace = Workspace::new();
    if compiled(&workspace, "libtoy.so", "int splinterdb_open(void) { return 1; }\n").is_none() {
        return;
    }
    let output = rejection(&workspace, &["splinterdb@toy", "libtoy.so"]);
    assert!(output.contains("no header `splinterdb/splinterdb.h` for splinterdb@toy"), "{output}");
    assert!(
        output.contains("/usr/include): name the directory of the headers with --headers DIR"),
        "{output}"
    );
    let headed = ["splinterdb@toy", "libtoy.so", "--headers", "elsewhere"];
    let output = rejection(&workspace, &headed);
    assert!(output.contains("cannot use elsewhere: the directory does not exist"), "{output}");
    fs::create_dir(workspace.path("elsewhere")).expect("a directory");
    let output = rejection(&workspace, &headed);
    assert!(output.contains("(searched: elsewhere, elsewhere/"), "{output}");
    fs::create_dir_all(workspace.path("elsewhere/splinterdb")).expect("a directory");
    workspace.write("elsewhere/splinterdb/splinterdb.h", "int splinterdb_open(void);\n");
    let output = rejection(&workspace, &headed);
    assert!(
        output.contains("the shim of splinterdb does not compile against the headers"),
        "{output}"
    );
    assert!(output.contains("assay-splinterdb.c:") && output.contains("error:"), "{output}");
    let absent = [&["engine", "add"], &headed[..]].concat();
    let output = workspace.program(&absent).env("CC", "cc-that-is-not-there").output();
    let output = rejection_of(&workspace, &ProgramOutput::of(output.expect("the program starts")));
    assert!(output.contains("no C compiler (`cc-that-is-not-there`) on this machine"), "{output}");
}

#[test]
fn engine_without_builds_is_rejected_before_the_library_is_read() {
    let workspace = Workspace::new();
    assert_snapshot!(rejection(&workspace, &["squlite", "absent.so"]), @"
    × no library: cannot read absent.so: No such file or directory (os error 2)
    help: name the file of a shared library that this account can read
    ");
    assert_snapshot!(rejection(&workspace, &["redb", "absent.so"]), @"  × redb is linked into Assay: it has no other builds");
    assert_snapshot!(rejection(&workspace, &["rocksdb", "absent.so", "--headers", "include"]), @"
    × rocksdb is driven through its C functions: no headers are needed
    help: leave out --headers
    ");
    assert_snapshot!(rejection(&workspace, &["leveldb", "absent.so"]), @"
    × no library: cannot read absent.so: No such file or directory (os error 2)
    help: name the file of a shared library that this account can read
    ");
    workspace.write("text.so", "this is no library in spite of its name");
    assert_snapshot!(rejection(&workspace, &["splinterdb", "text.so"]), @"  × text.so cannot be loaded here: it is not a shared library; take a library compiled for this machine");
}
