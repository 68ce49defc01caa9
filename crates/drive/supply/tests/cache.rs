//! The cache with a scripted Maven client.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use model::BuildRef;
use supply::{
    Artifact, Client, Distribution, Engines, Maven, Source, Store, SupplyError, UserBuild,
    default_cache_dir,
};
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// A Maven client that copies jars from its own directory and logs requests.
const FAKE_MAVEN: &str = r#"
for argument in "$@"; do
    case "$argument" in
    -Dartifact=*) artifact="${argument#-Dartifact=}" ;;
    -DoutputDirectory=*) out="${argument#-DoutputDirectory=}" ;;
    --offline) offline=yes ;;
    esac
done
home="$(dirname "$0")"
pwd >"$home/where"
echo "$artifact" >>"$home/requests"
if [ -f "$home/down" ] && [ -z "$offline" ]; then
    echo '[ERROR] Could not transfer artifact from r (https://repo.example/x): Unknown host repo.example'
    exit 1
fi
IFS=: read -r group name version kind classifier <<END
$artifact
END
jar="$name-$version${classifier:+-$classifier}.jar"
if [ -f "$home/$jar" ]; then
    exec cp "$home/$jar" "$out/"
fi
printf '\033[0m[\033[1;31mERROR\033[m] Failed to execute goal x:y:1:copy on project z: '
printf 'Unable to find/resolve artifact. '
printf 'Could not find artifact %s in r (https://repo.example/)\n' "$artifact"
exit 1
"#;

/// A fake repository and a cache over it.
struct Bench {
    root: TempDir,
}

impl Bench {
    fn new() -> Self {
        let root = tempfile::tempdir().expect("a temporary directory");
        fs::write(root.path().join("mvn.sh"), FAKE_MAVEN).expect("the script");
        Self { root }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Publishes a jar with the named members.
    fn publish(&self, jar: &str, members: &[(&str, &[u8])]) {
        let mut zip = ZipWriter::new(fs::File::create(self.path(jar)).expect("a file"));
        for (name, content) in members {
            zip.start_file(*name, SimpleFileOptions::default()).expect("a member");
            zip.write_all(content).expect("its content");
        }
        zip.finish().expect("a jar");
    }

    /// Opens the cache with the scripted client and an empty distribution.
    fn store(&self) -> Store {
        let script = self.path("mvn.sh").display().to_string();
        let sources: Vec<Box<dyn Source>> = vec![
            Box::new(Distribution::new(self.path("system"))),
            Box::new(Maven {
                client: Client {
                    command: vec!["sh".to_owned(), script],
                    ..Maven::default().client
                },
            }),
        ];
        Store::with_sources(self.path("cache"), sources).expect("a cache")
    }

    /// Returns the requested artifacts, in order.
    fn requests(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("requests")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

/// Returns a file image that passes for a library of this machine, with `tail` after its header.
fn library(tail: &str) -> Vec<u8> {
    let machine: u16 = match std::env::consts::ARCH {
        "x86_64" => 62,
        "aarch64" => 183,
        "riscv64" => 243,
        "s390x" => 22,
        _ => 21,
    };
    let mut image = b"\x7fELF\x02".to_vec();
    image.push(if cfg!(target_endian = "big") { 2 } else { 1 });
    image.resize(16, 0);
    image.extend(3_u16.to_ne_bytes());
    image.extend(machine.to_ne_bytes());
    image.resize(64, 0);
    image.extend(tail.as_bytes());
    image
}

/// Returns the classifier of this machine.
fn native() -> String {
    match std::env::consts::ARCH {
        "x86_64" => "linux64".to_owned(),
        other => format!("linux-{other}"),
    }
}

/// Returns the name of this machine's library in a jar.
fn member() -> String {
    format!("librocksdbjni-{}.so", native())
}

fn build(text: &str) -> BuildRef {
    text.parse().expect("a build's name")
}

fn get(store: &Store, text: &str) -> Result<Artifact, SupplyError> {
    store.get(&build(text), &mut |_| ())
}

/// Adds a library of RocksDB.
fn add(store: &Store, library: &Path, version: Option<&str>) -> Result<Artifact, SupplyError> {
    let own = UserBuild { engine: "rocksdb", library, version, headers: None };
    store.add(&own, &mut |_| ())
}

/// Goal: a full disk is reported before anything is requested or left behind.
#[test]
fn build_is_not_fetched_onto_a_full_disk() {
    let bench = Bench::new();
    let check_room = |dir: &Path| Err(format!("only 1 KiB free on {}, of 2 GiB", dir.display()));
    let store = bench.store().with_engines(Engines { check_room, ..Engines::default() });
    let error = store.get(&"rocksdb@9.10.0".parse().unwrap(), &mut |_| ()).unwrap_err();
    let cache = bench.path("cache");
    assert_eq!(
        error.to_string(),
        format!(
            "rocksdb@9.10.0 is not obtained: only 1 KiB free on {}, of 2 GiB: free space first",
            cache.display()
        )
    );
    assert_eq!(bench.requests(), Vec::<String>::new());
}

#[test]
fn main_jar_is_fetched_once_then_found_offline() {
    let bench = Bench::new();
    bench.publish("rocksdbjni-9.10.0.jar", &[("x.class", b"x"), (&member(), &library("nine"))]);
    let store = bench.store();
    assert!(store.find(&build("rocksdb@9.10.0")).unwrap().is_none());
    let mut messages = Vec::new();
    let fetched =
        store.get(&build("rocksdb@9.10.0"), &mut |line| messages.push(line.to_owned())).unwrap();
    assert_eq!(fetched.origin, "Maven artifact org.rocksdb:rocksdbjni:9.10.0");
    assert_eq!(fs::read(&fetched.library).unwrap(), library("nine"));
    assert!(fetched.library.ends_with("engines/rocksdb/9.10.0/librocksdb.so"));
    assert_eq!(messages.len(), 3, "{messages:?}");
    // From here on there is no client.
    fs::remove_file(bench.path("mvn.sh")).unwrap();
    assert_eq!(get(&store, "rocksdb@9.10.0").unwrap(), fetched);
    assert_eq!(bench.store().find(&build("rocksdb@9.10.0")).unwrap(), Some(fetched));
    assert_eq!(bench.requests(), ["org.rocksdb:rocksdbjni:9.10.0"]);
    let place = fs::read_to_string(bench.path("where")).unwrap();
    assert_eq!(place.trim(), "/", "Maven obeys files in the directories above that where it runs");
}

#[test]
fn main_jar_without_natives_falls_back_to_the_classifier() {
    let bench = Bench::new();
    bench.publish("rocksdbjni-10.4.2.jar", &[("x.class", b"x")]);
    let classified = format!("rocksdbjni-10.4.2-{}.jar", native());
    bench.publish(&classified, &[(&member(), &library("ten"))]);
    let fetched = get(&bench.store(), "rocksdb@10.4.2").unwrap();
    let artifact = format!("org.rocksdb:rocksdbjni:10.4.2:jar:{}", native());
    assert_eq!(fetched.origin, format!("Maven artifact {artifact}"));
    assert_eq!(bench.requests(), ["org.rocksdb:rocksdbjni:10.4.2", &artifact]);
}

#[test]
fn natives_of_other_machines_are_listed() {
    let bench = Bench::new();
    let others: &[(&str, &[u8])] =
        &[("librocksdbjni-win64.dll", b"w"), ("librocksdbjni-osx.jnilib", b"m")];
    bench.publish("rocksdbjni-9.10.0.jar", others);
    let error = get(&bench.store(), "rocksdb@9.10.0").unwrap_err();
    assert!(matches!(error, SupplyError::Unavailable(_)), "{error}");
    assert!(error.to_string().contains("it has: osx, win64"), "{error}");
}

#[test]
fn native_for_another_machine_is_not_cached() {
    let bench = Bench::new();
    bench.publish("rocksdbjni-9.10.0.jar", &[(&member(), b"MZ, not a library of ours at all")]);
    let store = bench.store();
    let error = get(&store, "rocksdb@9.10.0").unwrap_err();
    assert!(matches!(error, SupplyError::Unavailable(_)), "{error}");
    assert!(store.find(&build("rocksdb@9.10.0")).unwrap().is_none());
}

#[test]
fn unpublished_version_error_names_the_nearest() {
    let bench = Bench::new();
    let error = get(&bench.store(), "rocksdb@9.10.7").unwrap_err().to_string();
    assert_eq!(
        error,
        "rocksdb@9.10.7 does not exist: the nearest known is rocksdb@9.10.0 or rocksdb@10.0.1"
    );
}

#[test]
fn offline_fetch_uses_the_local_maven_repository() {
    let bench = Bench::new();
    fs::write(bench.path("down"), "").unwrap();
    let store = bench.store();
    let error = get(&store, "rocksdb@9.10.0").unwrap_err();
    assert!(matches!(error, SupplyError::ClientFailed(_)), "{error}");
    assert!(!error.to_string().contains("repo.example"), "{error}");
    bench.publish("rocksdbjni-9.10.0.jar", &[(&member(), &library("nine"))]);
    get(&store, "rocksdb@9.10.0").unwrap();
}

#[test]
fn missing_maven_error_has_two_remedies() {
    let bench = Bench::new();
    let client = Client::new("mvn-that-is-not-installed", "Maven", "maven");
    let sources: Vec<Box<dyn Source>> = vec![Box::new(Maven { client })];
    let store = Store::with_sources(bench.path("cache"), sources).unwrap();
    let error = get(&store, "rocksdb@9.10.0").unwrap_err();
    assert!(matches!(error, SupplyError::NoProgram(_)), "{error}");
    let text = error.to_string();
    assert!(text.contains("apt install maven") && text.contains("engine add rocksdb"), "{text}");
}

#[test]
fn unknown_build_is_rejected_before_any_request() {
    let bench = Bench::new();
    let store = bench.store();
    let refusal = |text: &str| get(&store, text).unwrap_err().to_string();
    assert!(refusal("rocksdb").contains("try rocksdb@11.8.1 or rocksdb@system, or compile one"));
    assert!(refusal("rocksdb@latest").contains("or add your own with `assay engine add rocksdb"));
    assert!(refusal("leveldb@1.23").contains("leveldb@1.23: try leveldb@system, or "));
    assert!(refusal("rocksdb@5.17.2").contains("oldest supported release is rocksdb@5.18.4"));
    let none = "no source offers oak@1: add your own with `assay engine add oak PATH`";
    assert_eq!(refusal("oak@1"), none);
    assert!(refusal("rocksdb@system").contains("apt install librocksdb-dev"));
    let climbing = BuildRef { engine: "rocksdb".to_owned(), version: Some("../../x".to_owned()) };
    let error = store.get(&climbing, &mut |_| ()).unwrap_err();
    assert!(matches!(error, SupplyError::Unavailable(_)), "{error}");
    assert!(bench.requests().is_empty());
}

/// Damages the entry in a directory.
type Damage = fn(&Path);

#[test]
fn damage_is_detected_and_the_remedy_works() {
    let bench = Bench::new();
    bench.publish("rocksdbjni-9.10.0.jar", &[(&member(), &library("nine"))]);
    let store = bench.store();
    let fetched = get(&store, "rocksdb@9.10.0").unwrap();
    let dir = fetched.library.parent().unwrap();
    let damages: [(&str, Damage); 4] = [
        ("the sha256 of librocksdb.so begins ", |dir| {
            fs::write(dir.join("librocksdb.so"), library("ning")).unwrap()
        }),
        ("cannot read", |dir| fs::remove_file(dir.join("librocksdb.so")).unwrap()),
        ("artifact.json", |dir| fs::write(dir.join("artifact.json"), "{").unwrap()),
        ("artifact.json", |dir| fs::remove_file(dir.join("artifact.json")).unwrap()),
    ];
    for (sign, damage) in damages {
        damage(dir);
        let text = get(&store, "rocksdb@9.10.0").unwrap_err().to_string();
        assert!(text.contains(sign) && text.contains(&dir.display().to_string()), "{text}");
        assert!(text.contains("`assay engine remove rocksdb@9.10.0`, then `assay engine get"));
        assert_eq!(store.damaged().len(), 1);
        store.remove(&build("rocksdb@9.10.0")).unwrap();
        assert_eq!(get(&store, "rocksdb@9.10.0").unwrap(), fetched);
    }
    assert!(store.damaged().is_empty());
}

/// Goal: concurrent requests for a build all succeed, with one fetch.
/// Method: eight threads with stores of their own (a file lock is held per open file, so threads
/// exclude each other as processes do); the client logs its requests.
#[test]
fn concurrent_requests_fetch_a_build_once() {
    let bench = Bench::new();
    bench.publish("rocksdbjni-9.10.0.jar", &[(&member(), &library("nine"))]);
    let artifacts: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| get(&bench.store(), "rocksdb@9.10.0").unwrap()))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(artifacts.iter().all(|artifact| *artifact == artifacts[0]));
    assert_eq!(bench.requests().len(), 1);
}

#[test]
fn leftovers_of_a_killed_fetch_are_ignored() {
    let bench = Bench::new();
    bench.publish("rocksdbjni-9.10.0.jar", &[(&member(), &library("nine"))]);
    let store = bench.store();
    let partial = bench.path("cache/engines/rocksdb/.9.10.0.partial/ready");
    fs::create_dir_all(&partial).unwrap();
    fs::write(partial.join("librocksdb.so"), "half").unwrap();
    assert!(store.list().is_empty());
    assert!(store.find(&build("rocksdb@9.10.0")).unwrap().is_none());
    get(&store, "rocksdb@9.10.0").unwrap();
    assert!(!partial.exists());
}

#[test]
fn user_library_is_copied_and_named_by_hash() {
    let bench = Bench::new();
    let store = bench.store();
    let own = bench.path("librocksdb-mine.so");
    fs::write(&own, library("mine")).unwrap();
    let added = add(&store, &own, None).unwrap();
    let version = added.build.version.clone().unwrap();
    assert_eq!(version, format!("user-{}", &added.sha256[..12]));
    assert!(added.origin.starts_with("added from /") && added.origin.ends_with("-mine.so"));
    assert_eq!(add(&store, &own, None).unwrap(), added);
    fs::remove_file(&own).unwrap();
    assert_eq!(store.get(&added.build, &mut |_| ()).unwrap(), added);
    fs::write(&added.library, "x").unwrap();
    let text = store.find(&added.build).unwrap_err().to_string();
    assert!(text.contains("then add your own with `assay engine add rocksdb PATH`"), "{text}");
}

#[test]
fn duplicate_and_official_names_are_rejected() {
    let bench = Bench::new();
    let store = bench.store();
    let own = bench.path("own.so");
    fs::write(&own, library("one")).unwrap();
    add(&store, &own, Some("patched")).unwrap();
    fs::write(&own, library("two")).unwrap();
    let error = add(&store, &own, Some("patched")).unwrap_err();
    assert!(matches!(error, SupplyError::Unavailable(_)), "{error}");
    let error = add(&store, &own, Some("9.10.0")).unwrap_err().to_string();
    assert!(error.contains("official build") && error.contains("9.10.0-mine"), "{error}");
    let error = add(&store, &own, Some("../up")).unwrap_err();
    assert!(matches!(error, SupplyError::Unavailable(_)), "{error}");
    fs::write(&own, "#!/bin/sh, which is no library").unwrap();
    let error = add(&store, &own, None).unwrap_err();
    assert!(error.to_string().contains("it is not a shared library"), "{error}");
}

#[test]
fn list_is_sorted_by_version_and_removal_shortens_it() {
    let bench = Bench::new();
    let store = bench.store();
    for version in ["9.10.0", "10.0.1", "9.9.3"] {
        let jar = format!("rocksdbjni-{version}.jar");
        bench.publish(&jar, &[(&member(), &library(version))]);
        get(&store, &format!("rocksdb@{version}")).unwrap();
    }
    let own = bench.path("own.so");
    fs::write(&own, library("own")).unwrap();
    add(&store, &own, Some("mine")).unwrap();
    let names = || store.list().iter().map(|a| a.build.to_string()).collect::<Vec<_>>();
    assert_eq!(names(), ["rocksdb@9.9.3", "rocksdb@9.10.0", "rocksdb@10.0.1", "rocksdb@mine"]);
    store.remove(&build("rocksdb@9.10.0")).unwrap();
    assert_eq!(names(), ["rocksdb@9.9.3", "rocksdb@10.0.1", "rocksdb@mine"]);
    let error = store.remove(&build("rocksdb@9.10.0")).unwrap_err();
    assert!(matches!(error, SupplyError::Unavailable(_)), "{error}");
}

#[test]
fn system_library_follows_the_package_until_uninstalled() {
    let bench = Bench::new();
    let store = bench.store();
    fs::create_dir_all(bench.path("system/usr/lib")).unwrap();
    let installed = bench.path("system/usr/lib/librocksdb.so.7.8.3");
    fs::write(&installed, library("old")).unwrap();
    let first = get(&store, "rocksdb@system").unwrap();
    assert_eq!(first.origin, format!("distribution library {}", installed.display()));
    assert_eq!(get(&store, "rocksdb@system").unwrap(), first);
    fs::write(&installed, library("new")).unwrap();
    let second = get(&store, "rocksdb@system").unwrap();
    assert_ne!(second.sha256, first.sha256);
    fs::remove_file(&installed).unwrap();
    assert_eq!(get(&store, "rocksdb@system").unwrap(), second);
}

#[test]
fn cache_directory_follows_xdg() {
    let dir = |home, xdg| default_cache_dir(home, xdg).map(|dir| dir.display().to_string());
    assert_eq!(dir(Some("/home/a"), None).as_deref(), Some("/home/a/.cache/assay"));
    assert_eq!(dir(Some("/home/a"), Some("/var/c")).as_deref(), Some("/var/c/assay"));
    assert_eq!(dir(Some("/home/a"), Some("")).as_deref(), Some("/home/a/.cache/assay"));
    assert_eq!(dir(None, Some("relative")), None);
}

/// Goal: the real client and the real artifact still have the shape this crate expects.
/// Method: fetch the smallest release (15 MB) into an empty cache.
#[test]
fn oldest_release_is_fetched_from_the_real_repository() {
    let bench = Bench::new();
    let store = Store::open(bench.path("cache")).unwrap();
    match get(&store, "rocksdb@5.18.4") {
        Ok(artifact) => {
            let image = fs::read(&artifact.library).unwrap();
            assert!(image.len() > 1 << 20);
            let symbol = b"rocksdb_open\0";
            assert!(image.windows(symbol.len()).any(|window| window == symbol));
        }
        Err(error @ (SupplyError::NoProgram(_) | SupplyError::ClientFailed(_))) => {
            println!("skipped: {error}");
        }
        Err(error) => panic!("{error}"),
    }
}
