//! `assay engine` caches builds, detects damage and rejects unloadable libraries.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use insta::assert_snapshot;

use crate::maven::{foreign_library, library, member};
use crate::rejection::{TINY, check_rejection, unwrapped};
use crate::workspace::Workspace;

/// Path of the cached build of these tests.
const CACHED: &str = "cache/assay/engines/rocksdb/9.10.0/librocksdb.so";

/// Returns a workspace with a client that has release 9.10.0.
fn workspace() -> Workspace {
    let workspace = Workspace::new();
    workspace.install_maven();
    workspace.publish("rocksdbjni-9.10.0.jar", &[(&member(), &library("nine"))]);
    workspace
}

/// Returns the stdout of `assay engine`.
fn result_of(workspace: &Workspace, arguments: &[&str]) -> String {
    let output = workspace.assay_with_maven(&[&["engine"], arguments].concat());
    assert_eq!(output.code, 0, "{}", output.err);
    output.out
}

/// Returns the stderr of a failed `assay engine`.
fn rejection(workspace: &Workspace, arguments: &[&str]) -> String {
    let output = workspace.assay_with_maven(&[&["engine"], arguments].concat());
    assert_eq!((output.code, output.out.as_str()), (1, ""), "{}", output.err);
    output.err
}

#[test]
fn build_is_fetched_once_listed_and_removed() {
    let workspace = workspace();
    assert!(
        result_of(&workspace, &["list"]).contains("none yet: assay engine get rocksdb@VERSION")
    );
    let fetched = result_of(&workspace, &["get", "rocksdb@9.10.0"]);
    assert!(fetched.starts_with("rocksdb@9.10.0  68 B  sha256 "), "{fetched}");
    assert!(fetched.ends_with("  Maven artifact org.rocksdb:rocksdbjni:9.10.0\n"), "{fetched}");
    assert!(result_of(&workspace, &["list"]).contains(&format!("  {fetched}")));
    // From here on there is no client.
    fs::remove_file(workspace.path("bin/mvn")).expect("the client is removed");
    assert_eq!(result_of(&workspace, &["get", "rocksdb@9.10.0"]), fetched);
    assert_eq!(workspace.request_count(), 1);
    assert_snapshot!(result_of(&workspace, &["remove", "rocksdb@9.10.0"]), @"removed rocksdb@9.10.0");
    assert_snapshot!(rejection(&workspace, &["remove", "rocksdb@9.10.0"]), @"  × rocksdb@9.10.0 is not cached: `assay engine list` shows the cached builds");
}

#[test]
fn damaged_build_error_names_the_remedy() {
    let workspace = workspace();
    let fetched = result_of(&workspace, &["get", "rocksdb@9.10.0"]);
    fs::write(workspace.path(CACHED), library("ten!")).expect("damage");
    let output = unwrapped(&rejection(&workspace, &["get", "rocksdb@9.10.0"]));
    assert!(
        output.contains("the cached rocksdb@9.10.0 in ") && output.contains(" is damaged "),
        "{output}"
    );
    assert!(output.contains("`, then `assay engine get rocksdb@9.10.0`"), "{output}");
    let listed = workspace.assay_with_maven(&["engine", "list"]);
    assert_eq!(listed.code, 0);
    assert!(listed.err.starts_with("damaged: the cached rocksdb@9.10.0"), "{}", listed.err);
    // A run rejects it too, and the remedy works.
    workspace.write("mine.toml", TINY.replace("\"sqlite\"", "\"rocksdb@9.10.0\""));
    let output = workspace.assay_with_maven(&["run", "mine.toml"]);
    let output = unwrapped(&check_rejection(&workspace, &output));
    assert!(output.contains("run `assay engine remove rocksdb@9.10.0`"), "{output}");
    result_of(&workspace, &["remove", "rocksdb@9.10.0"]);
    assert_eq!(result_of(&workspace, &["get", "rocksdb@9.10.0"]), fetched);
}

#[test]
fn unloadable_library_is_rejected_when_added() {
    let workspace = workspace();
    workspace.write("foreign.so", foreign_library());
    let output = rejection(&workspace, &["add", "rocksdb", "foreign.so"]);
    assert!(output.contains("foreign.so cannot be loaded here: it was built for "), "{output}");
    workspace.write("text.so", "this is no library in spite of its name");
    assert_snapshot!(rejection(&workspace, &["add", "rocksdb", "text.so"]), @"
    × text.so cannot be loaded here: it is not a shared library; take a library compiled for this
    │ machine
    ");
    assert_snapshot!(rejection(&workspace, &["add", "rocksdb", "absent.so"]), @"
    × no library: cannot read absent.so: No such file or directory (os error 2)
    help: name the file of a shared library that this account can read
    ");
}

#[test]
fn unavailable_versions_are_rejected_with_the_reason() {
    let workspace = workspace();
    assert_snapshot!(rejection(&workspace, &["get", "rocksdb@9.10.7"]), @"
    rocksdb@9.10.7: requesting org.rocksdb:rocksdbjni:9.10.7 from Maven (12 to 92 MB unless cached)
      × rocksdb@9.10.7 does not exist: the nearest known is rocksdb@9.10.0 or rocksdb@10.0.1
    ");
    assert_snapshot!(rejection(&workspace, &["get", "rocksdb@4.0.0"]), @"  × rocksdb@4.0.0 is too old: the oldest supported release is rocksdb@5.18.4");
    assert_snapshot!(rejection(&workspace, &["get", "rocksdb"]), @"
    × no source offers rocksdb: try rocksdb@11.8.1 or rocksdb@system, or compile one with `assay
    │ engine build rocksdb@VERSION`, or add your own with `assay engine add rocksdb PATH`
    ");
    assert_snapshot!(rejection(&workspace, &["get", "rocksdb@nightly"]), @"
    × no source offers rocksdb@nightly: try rocksdb@11.8.1 or rocksdb@system, or compile one with
    │ `assay engine build rocksdb@VERSION`, or add your own with `assay engine add rocksdb PATH`
    ");
    assert_snapshot!(rejection(&workspace, &["get", "redb"]), @"  × redb is linked into Assay: it has no other builds");
    assert_snapshot!(rejection(&workspace, &["show", "redb@3.0"]), @"  × redb is linked into Assay: it has no other builds");
    assert_snapshot!(rejection(&workspace, &["get", "splinterdb@mine"]), @"  × no source offers splinterdb@mine: add your own with `assay engine add splinterdb PATH`");
    assert_snapshot!(rejection(&workspace, &["get", "sqlite"]), @"
    × sqlite without a version is the build linked into Assay
    help: name another build, as in sqlite@system
    ");
    assert_snapshot!(rejection(&workspace, &["show", "squlite"]), @"
    × no engine is named `squlite`
    help: did you mean `sqlite`?
    ");
    workspace.publish("rocksdbjni-8.6.7.jar", &[("librocksdbjni-win64.dll", b"w")]);
    let output = unwrapped(&rejection(&workspace, &["get", "rocksdb@8.6.7"]));
    assert!(output.contains("has no native library `librocksdbjni-"), "{output}");
    assert!(
        output.contains("(it has: win64)") && output.contains("engine add rocksdb PATH"),
        "{output}"
    );
}

#[test]
fn nonexistent_version_is_rejected_at_its_variant() {
    let workspace = workspace();
    workspace.write("mine.toml", TINY.replace("\"sqlite\"", "\"rocksdb@9.10.7\""));
    let output = workspace.assay_with_maven(&["run", "mine.toml"]);
    assert_snapshot!(check_rejection(&workspace, &output), @r#"
    rocksdb@9.10.7: requesting org.rocksdb:rocksdbjni:9.10.7 from Maven (12 to 92 MB unless cached)
      × variant one: rocksdb@9.10.7 does not exist: the nearest known is rocksdb@9.10.0 or
      │ rocksdb@10.0.1
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
fn missing_maven_error_has_two_remedies() {
    let workspace = Workspace::new();
    workspace.write("mine.toml", TINY.replace("\"sqlite\"", "\"rocksdb@9.10.0\""));
    let output =
        workspace.program(&["run", "mine.toml"]).env("PATH", workspace.path("bin")).output();
    let output = crate::workspace::ProgramOutput::of(output.expect("the program starts"));
    assert_snapshot!(check_rejection(&workspace, &output), @r#"
      × variant one: there is no `mvn` on this machine, which obtains rocksdb@9.10.0: install it
      │ (Debian: apt install maven), or add your own with `assay engine add rocksdb PATH`
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

/// Goal: proxies and mirrors that are set for npm and Maven reach them.
/// Method: clients that write down their environment; npm fails, so that Maven is tried.
#[test]
fn clients_get_the_settings_of_proxies_and_mirrors() {
    let workspace = Workspace::new();
    workspace.install_maven();
    for client in ["npm", "mvn"] {
        workspace.write(&format!("bin/{client}"), "#!/bin/sh\nenv >\"$0.env\"\nexit 1\n");
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(workspace.path("bin").join(client), executable).expect("a program");
    }
    let home = workspace.path("").display().to_string();
    let settings = [
        ("HOME", home.as_str()),
        ("HTTPS_PROXY", "http://proxy.example:1"),
        ("https_proxy", "http://proxy.example:2"),
        ("HTTP_PROXY", "http://proxy.example:3"),
        ("NO_PROXY", "mirror.example"),
        ("npm_config_registry", "http://mirror.example/npm"),
        ("NPM_CONFIG_USERCONFIG", "/elsewhere/npmrc"),
        ("MAVEN_OPTS", "-Dhttps.proxyHost=proxy.example"),
        ("CARGO_HTTP_PROXY", "proxy.example:4"),
    ];
    let path = format!("{}:/usr/bin:/bin", workspace.path("bin").display());
    let mut program = workspace.program(&["engine", "get", "postgres@17.5"]);
    let output = program.env("PATH", path).env("SECRET", "no client gets it").envs(settings);
    let output = crate::workspace::ProgramOutput::of(output.output().expect("the program starts"));
    assert_eq!(output.code, 1, "{}", output.err);
    for client in ["npm", "mvn"] {
        let got = fs::read_to_string(workspace.path(&format!("bin/{client}.env")));
        let got = got.unwrap_or_else(|error| panic!("{client}: {error}: {}", output.err));
        for (name, value) in settings.iter().filter(|(name, _)| *name != "MAVEN_OPTS") {
            assert!(got.lines().any(|line| line == format!("{name}={value}")), "{client}: {got}");
        }
        assert!(got.contains("-Dhttps.proxyHost=proxy.example") && !got.contains("SECRET"));
    }
}

#[test]
fn linked_engine_is_shown_with_its_capabilities() {
    assert_snapshot!(result_of(&Workspace::new(), &["show", "lmdb"]), @"
    lmdb 0.9.70 (linked)
      branch: mdb.master, as packed by lmdb-master-sys
      key_bytes_max: 511
      version_string: LMDB 0.9.70: (December 19, 2015)
      operations: get, put, delete, scan, multi_get, partial_update, field_read, append
      durability: none, os, sync
      cache: no, the page cache is the engine's only cache
      compression: no, rows are stored as given
      concurrent_writers: yes
      direct_io: no, reads go through a memory map of the page cache
      field_reads: yes
    ");
}
