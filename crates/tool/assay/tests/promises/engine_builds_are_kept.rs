//! `assay engine` gets builds once, keeps them, names what is damaged, and refuses what cannot be
//! loaded here.

use std::fs;

use insta::assert_snapshot;

use crate::maven::{foreign_library, library, member};
use crate::place::Place;
use crate::refusal::{TINY, refused_as, unwrapped};

/// Where the cache keeps the build of these tests.
const KEPT: &str = "cache/assay/engines/rocksdb/9.10.0/librocksdb.so";

/// Returns a place with a client that has release 9.10.0.
fn place() -> Place {
    let place = Place::new();
    place.install_maven();
    place.publish("rocksdbjni-9.10.0.jar", &[(&member(), &library("nine"))]);
    place
}

/// Returns what `assay engine` answers.
fn answer(place: &Place, arguments: &[&str]) -> String {
    let said = place.assay_with_maven(&[&["engine"], arguments].concat());
    assert_eq!(said.code, 0, "{}", said.err);
    said.out
}

/// Returns what `assay engine` says when it cannot.
fn refusal(place: &Place, arguments: &[&str]) -> String {
    let said = place.assay_with_maven(&[&["engine"], arguments].concat());
    assert_eq!((said.code, said.out.as_str()), (1, ""), "{}", said.err);
    said.err
}

#[test]
fn a_build_is_fetched_once_listed_and_removed() {
    let place = place();
    assert!(answer(&place, &["list"]).contains("none yet: assay engine get rocksdb@VERSION"));
    let got = answer(&place, &["get", "rocksdb@9.10.0"]);
    assert!(got.starts_with("rocksdb@9.10.0  24 B  sha256 "), "{got}");
    assert!(got.ends_with("  Maven artifact org.rocksdb:rocksdbjni:9.10.0\n"), "{got}");
    assert!(answer(&place, &["list"]).contains(&format!("  {got}")));
    // From here on there is no client at all.
    fs::remove_file(place.path("bin/mvn")).expect("the client is removed");
    assert_eq!(answer(&place, &["get", "rocksdb@9.10.0"]), got);
    assert_eq!(place.times_asked(), 1);
    assert_snapshot!(answer(&place, &["remove", "rocksdb@9.10.0"]), @"removed rocksdb@9.10.0");
    assert_snapshot!(refusal(&place, &["remove", "rocksdb@9.10.0"]), @"  × rocksdb@9.10.0 is not cached: `assay engine list` shows what is");
}

#[test]
fn a_damaged_build_is_named_with_the_way_back() {
    let place = place();
    let got = answer(&place, &["get", "rocksdb@9.10.0"]);
    fs::write(place.path(KEPT), library("ten!")).expect("damage");
    let said = unwrapped(&refusal(&place, &["get", "rocksdb@9.10.0"]));
    assert!(
        said.contains("the cached rocksdb@9.10.0 in ") && said.contains(" is damaged "),
        "{said}"
    );
    assert!(said.contains("`, then `assay engine get rocksdb@9.10.0`"), "{said}");
    let listed = place.assay_with_maven(&["engine", "list"]);
    assert_eq!(listed.code, 0);
    assert!(listed.err.starts_with("damaged: the cached rocksdb@9.10.0"), "{}", listed.err);
    // A run refuses it too, and following the advice helps.
    place.write("mine.toml", TINY.replace("\"sqlite\"", "\"rocksdb@9.10.0\""));
    let said = place.assay_with_maven(&["run", "mine.toml"]);
    let said = unwrapped(&refused_as(&place, &said));
    assert!(said.contains("run `assay engine remove rocksdb@9.10.0`"), "{said}");
    answer(&place, &["remove", "rocksdb@9.10.0"]);
    assert_eq!(answer(&place, &["get", "rocksdb@9.10.0"]), got);
}

#[test]
fn what_cannot_be_loaded_here_is_refused_when_it_is_added() {
    let place = place();
    place.write("foreign.so", foreign_library());
    let said = refusal(&place, &["add", "rocksdb", "foreign.so"]);
    assert!(said.contains("foreign.so cannot be loaded here: it was built for "), "{said}");
    place.write("text.so", "this is no library, whatever its name says");
    assert_snapshot!(refusal(&place, &["add", "rocksdb", "text.so"]), @"  × text.so cannot be loaded here: it is not an ELF shared library");
    assert_snapshot!(refusal(&place, &["add", "rocksdb", "absent.so"]), @"  × cannot read absent.so: No such file or directory (os error 2)");
}

#[test]
fn versions_that_cannot_be_had_are_told_why() {
    let place = place();
    assert_snapshot!(refusal(&place, &["get", "rocksdb@9.10.7"]), @"
    rocksdb@9.10.7: asking Maven for org.rocksdb:rocksdbjni:9.10.7 (12 to 92 MB unless Maven has it)
      × rocksdb@9.10.7 does not exist: the nearest known release is rocksdb@9.10.0
    ");
    assert_snapshot!(refusal(&place, &["get", "rocksdb@4.0.0"]), @"  × rocksdb@4.0.0 is too old: the oldest supported release is rocksdb@5.18.4");
    assert_snapshot!(refusal(&place, &["get", "rocksdb"]), @"
    × no source offers rocksdb: try rocksdb@system or rocksdb@11.8.1, or compile one with `assay
    │ engine build rocksdb@VERSION`, or add your own with `assay engine add rocksdb PATH`
    ");
    assert_snapshot!(refusal(&place, &["get", "rocksdb@nightly"]), @"
    × no source offers rocksdb@nightly: try rocksdb@system or rocksdb@11.8.1, or compile one with
    │ `assay engine build rocksdb@VERSION`, or add your own with `assay engine add rocksdb PATH`
    ");
    assert_snapshot!(refusal(&place, &["get", "redb"]), @"  × redb is linked into Assay: it has no other builds");
    assert_snapshot!(refusal(&place, &["show", "redb@3.0"]), @"  × redb is linked into Assay: it has no other builds");
    assert_snapshot!(refusal(&place, &["get", "splinterdb@mine"]), @"  × no source offers splinterdb@mine: add your own with `assay engine add splinterdb PATH`");
    assert_snapshot!(refusal(&place, &["get", "sqlite"]), @"
    × sqlite without a version is the one that is linked into Assay
    help: name another build, as in sqlite@system
    ");
    assert_snapshot!(refusal(&place, &["show", "squlite"]), @"
    × no engine is named `squlite`
    help: did you mean `sqlite`?
    ");
    place.publish("rocksdbjni-8.6.7.jar", &[("librocksdbjni-win64.dll", b"w")]);
    let said = unwrapped(&refusal(&place, &["get", "rocksdb@8.6.7"]));
    assert!(said.contains("has no native library `librocksdbjni-"), "{said}");
    assert!(said.contains("(it has: win64)") && said.contains("engine add rocksdb PATH"), "{said}");
}

#[test]
fn a_version_that_does_not_exist_stops_the_run_at_its_variant() {
    let place = place();
    place.write("mine.toml", TINY.replace("\"sqlite\"", "\"rocksdb@9.10.7\""));
    let said = place.assay_with_maven(&["run", "mine.toml"]);
    assert_snapshot!(refused_as(&place, &said), @r#"
    rocksdb@9.10.7: asking Maven for org.rocksdb:rocksdbjni:9.10.7 (12 to 92 MB unless Maven has it)
      × variant one: rocksdb@9.10.7 does not exist: the nearest known release is rocksdb@9.10.0
        ╭─[mine.toml:11:8]
     10 │ [[variant]]
     11 │ name = "one"
        ·        ──┬──
        ·          ╰── this variant
     12 │ engine = "rocksdb@9.10.7"
        ╰────
      nothing was run
    "#);
}

#[test]
fn without_a_maven_client_there_are_two_ways_out() {
    let place = Place::new();
    place.write("mine.toml", TINY.replace("\"sqlite\"", "\"rocksdb@9.10.0\""));
    let output = place.program(&["run", "mine.toml"]).env("PATH", place.path("bin")).output();
    let said = crate::place::PerDialect::of(output.expect("the program starts"));
    assert_snapshot!(refused_as(&place, &said), @r#"
    rocksdb@9.10.0: asking Maven for org.rocksdb:rocksdbjni:9.10.0 (12 to 92 MB unless Maven has it)
      × variant one: no Maven client (`mvn`) on this machine: install one (Debian: apt install maven),
      │ or give your own library with `assay engine add rocksdb PATH`
        ╭─[mine.toml:11:8]
     10 │ [[variant]]
     11 │ name = "one"
        ·        ──┬──
        ·          ╰── this variant
     12 │ engine = "rocksdb@9.10.0"
        ╰────
      nothing was run
    "#);
}

#[test]
fn a_linked_engine_is_shown_with_what_it_can_do() {
    assert_snapshot!(answer(&Place::new(), &["show", "lmdb"]), @"
    lmdb 0.9.70 (linked)
      branch: mdb.master, as packed by lmdb-master-sys
      key_bytes_max: 511
      version_string: LMDB 0.9.70: (December 19, 2015)
      operations: get, put, delete, scan, multi_get
      durability: none, os, sync
      cache_size: no, the page cache is its only cache
      compression: no, rows are stored as given
      concurrent_writers: yes
      direct_io: no, reads go through a memory map, that is the page cache
    ");
}
