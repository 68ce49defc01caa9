//! `assay engine add` tries a library before it keeps it: one that is another engine, does not fit
//! its headers or ends its process is refused with the reason, and nothing is kept.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use insta::assert_snapshot;

use crate::maven::library;
use crate::place::{PerDialect, Place};
use crate::refusal::unwrapped;

/// Returns the distribution's library of that name; without one, the skip is told.
#[expect(clippy::print_stdout, reason = "a test that is skipped says why")]
fn installed(name: &str, package: &str) -> Option<PathBuf> {
    let triplet = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
    let dirs = [triplet.as_str(), "/usr/lib64", "/usr/lib"];
    let found = dirs.iter().map(|dir| Path::new(dir).join(name)).find(|path| path.is_file());
    if found.is_none() {
        println!("skipped: no {name}: apt install {package}");
    }
    found
}

/// Compiles a library in the place; without a C compiler, the skip is told.
#[expect(clippy::print_stdout, reason = "a test that is skipped says why")]
fn compiled(place: &Place, name: &str, source: &str) -> Option<()> {
    place.write("source.c", source);
    let (from, to) = (place.path("source.c"), place.path(name));
    let made = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([to, from]).status();
    if made.is_err() {
        println!("skipped: no C compiler: apt install gcc libc6-dev");
        return None;
    }
    assert!(made.is_ok_and(|status| status.success()), "the library is compiled");
    Some(())
}

/// Returns what `assay engine add` says of what it does not keep.
fn refusal(place: &Place, arguments: &[&str]) -> String {
    let said = place.assay(&[&["engine", "add"], arguments].concat());
    refusal_of(place, &said)
}

fn refusal_of(place: &Place, said: &PerDialect) -> String {
    assert_eq!((said.code, said.out.as_str()), (1, ""), "{}", said.err);
    let listed = place.assay(&["engine", "list"]);
    assert!(listed.out.contains("none yet"), "{}", listed.out);
    unwrapped(&said.err)
}

#[test]
fn a_library_of_another_engine_is_told_by_the_function_it_lacks() {
    let Some(sqlite) = installed("libsqlite3.so.0", "libsqlite3-0") else { return };
    let (place, path) = (Place::new(), sqlite.display().to_string());
    let said = refusal(&place, &["rocksdb", &path, "--version", "mine"]);
    assert!(said.contains("rocksdb@mine is not kept: "), "{said}");
    assert!(said.contains(" is not RocksDB: it lacks `rocksdb_open`"), "{said}");
    assert!(!said.contains(".partial"), "the user's own path is named: {said}");
    let said = refusal(&place, &["leveldb", &path]);
    assert!(said.contains("it lacks `leveldb_"), "{said}");
    let said = refusal(&place, &["splinterdb", &path]);
    assert!(
        said.contains("is not splinterdb: it has no function whose name begins with"),
        "{said}"
    );
}

#[test]
fn a_library_that_ends_its_process_ends_no_other() {
    let place = Place::new();
    let dies = "__attribute__((constructor)) static void begin(void) { *(volatile int *)0 = 1; }";
    if compiled(&place, "dies.so", dies).is_none() {
        return;
    }
    let said = refusal(&place, &["leveldb", "dies.so", "--version", "mine"]);
    assert!(said.contains("leveldb@mine is not kept: it died in the proof: signal 11"), "{said}");
    // It looks like a library, but the loader says otherwise.
    place.write("header.so", library("a header and nothing else"));
    let said = refusal(&place, &["rocksdb", "header.so", "--version", "mine"]);
    assert!(said.contains("rocksdb@mine is not kept: ") && said.contains("header.so"), "{said}");
}

#[test]
fn a_library_that_works_is_kept_under_its_name() {
    let Some(leveldb) = installed("libleveldb.so.1d", "libleveldb1d") else { return };
    let (place, path) = (Place::new(), leveldb.display().to_string());
    let add = |version: &str| {
        ["engine", "add", "leveldb", &path, "--version", version].map(str::to_owned)
    };
    let said = place.assay(&add("mine").each_ref().map(String::as_str));
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.starts_with("leveldb@mine  ") && said.out.contains("  added from /"));
    let again = place.assay(&add("mine").each_ref().map(String::as_str));
    assert_eq!(again.out, said.out, "the same once more changes nothing");
    place.write("other.so", library("other"));
    let said = place.assay(&["engine", "add", "leveldb", "other.so", "--version", "mine"]);
    let said = unwrapped(&said.err);
    assert!(said.contains("leveldb@mine is cached already, from elsewhere"), "{said}");
    assert!(
        said.contains("choose another name, or run `assay engine remove leveldb@mine`"),
        "{said}"
    );
    let said = place.assay(&add("system").each_ref().map(String::as_str));
    assert!(said.err.contains("leveldb@system is the name of an official build"), "{}", said.err);
}

#[test]
fn a_shim_needs_the_headers_of_its_library_and_a_compiler() {
    let place = Place::new();
    if compiled(&place, "libtoy.so", "int splinterdb_open(void) { return 1; }\n").is_none() {
        return;
    }
    let said = refusal(&place, &["splinterdb", "libtoy.so", "--version", "toy"]);
    assert!(said.contains("no header `splinterdb/splinterdb.h` for splinterdb@toy"), "{said}");
    assert!(said.contains("/usr/include): say where they are with --headers DIR"), "{said}");
    let headed = ["splinterdb", "libtoy.so", "--version", "toy", "--headers", "elsewhere"];
    let said = refusal(&place, &headed);
    assert!(said.contains("(searched: elsewhere, elsewhere/"), "{said}");
    fs::create_dir_all(place.path("elsewhere/splinterdb")).expect("a directory");
    place.write("elsewhere/splinterdb/splinterdb.h", "int splinterdb_open(void);\n");
    let said = refusal(&place, &headed);
    assert!(said.contains("the shim of splinterdb does not compile against the headers"), "{said}");
    assert!(said.contains("assay-splinterdb.c:") && said.contains("error:"), "{said}");
    let absent = [&["engine", "add"], &headed[..]].concat();
    let said = place.program(&absent).env("CC", "cc-that-is-not-there").output();
    let said = refusal_of(&place, &PerDialect::of(said.expect("the program starts")));
    assert!(said.contains("no C compiler (`cc-that-is-not-there`) on this machine"), "{said}");
}

#[test]
fn what_has_no_builds_to_add_is_refused_before_the_library_is_read() {
    let place = Place::new();
    assert_snapshot!(refusal(&place, &["squlite", "absent.so"]), @"
    × no engine is named `squlite`
    help: did you mean `sqlite`?
    ");
    assert_snapshot!(refusal(&place, &["redb", "absent.so"]), @"  × redb is linked into Assay: it has no other builds");
    assert_snapshot!(refusal(&place, &["rocksdb", "absent.so", "--headers", "include"]), @"
    × rocksdb is driven through its C functions: no headers are needed
    help: leave out --headers
    ");
    assert_snapshot!(refusal(&place, &["leveldb", "absent.so"]), @"  × cannot read absent.so: No such file or directory (os error 2)");
    place.write("text.so", "this is no library, whatever its name says");
    assert_snapshot!(refusal(&place, &["splinterdb", "text.so"]), @"  × text.so cannot be loaded here: it is not an ELF shared library");
}
