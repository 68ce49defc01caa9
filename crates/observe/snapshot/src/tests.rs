//! A store with a toy database: two directories, three files.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};

use model::{Bytes, DataShape, Options, Settings, Step, StopRule, Transfer};
use tempfile::TempDir;

use crate::{Key, Made, SnapshotError, SnapshotRecord, Store};

const FILES: [(&str, &str); 3] =
    [("db/000001.sst", "rows"), ("db/deep/MANIFEST", "levels"), ("note", "a token")];

struct Toy {
    dir: TempDir,
    store: Store,
}

impl Toy {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::below(dir.path());
        Self { dir, store }
    }

    /// Makes a run's directory with the toy database.
    fn run(&self, name: &str) -> PathBuf {
        let run = self.dir.path().join(name);
        for (path, text) in FILES {
            let path = run.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::write(run.join("server.log"), "ready").unwrap();
        run
    }

    fn empty(&self, name: &str) -> PathBuf {
        let run = self.dir.path().join(name);
        fs::create_dir(&run).unwrap();
        run
    }

    fn save(&self, run: &Path, rows: u64) -> Result<SnapshotRecord, SnapshotError> {
        let made = Made {
            key: key(rows),
            made_by: format!("an-experiment/{}", run.display()),
            made_at: "2026-11-23T19:00:00Z".to_owned(),
            steps: Vec::new(),
            immutable: vec![".sst".to_owned()],
            left_out: &["server.log"],
        };
        self.store.save(run, made)
    }

    fn restore(&self, saved: &SnapshotRecord, name: &str) -> Result<Transfer, SnapshotError> {
        let run = self.empty(name);
        let restored = self.store.restore(saved, &run, false, &|| false)?;
        assert_eq!(restored.bytes, saved.bytes());
        Ok(restored.transfer)
    }

    /// Returns the path of a saved file.
    fn saved(&self, record: &SnapshotRecord, file: &str) -> PathBuf {
        self.store.dir().join(&record.id).join("files").join(file)
    }

    fn is_whole(&self, name: &str) -> bool {
        let run = self.dir.path().join(name);
        FILES.iter().all(|(path, text)| {
            fs::read_to_string(run.join(path)).is_ok_and(|found| found == *text)
        })
    }
}

fn key(rows: u64) -> Key {
    Key {
        engine: "toy".to_owned(),
        version: "1".to_owned(),
        build: "abc".to_owned(),
        options: Options::new(),
        settings: Settings::default(),
        data: DataShape { rows, key_bytes: 8, value_bytes: 8, compressible_to: 0.3 },
        seed: 1,
        steps: vec![Step::new("fillseq", StopRule::Operations(rows))],
        application: None,
        clients_max: None,
        memory_bytes: None,
        file_system: "ext4".to_owned(),
        account: None,
    }
}

#[test]
fn a_database_is_saved_found_by_its_key_and_restored() {
    let toy = Toy::new();
    let saved = toy.save(&toy.run("first"), 7).unwrap();
    assert!(!toy.is_whole("first"), "its files are the snapshot's now");
    assert!(toy.dir.path().join("first/server.log").exists(), "left out");
    assert_eq!(toy.store.find(&key(7)).as_ref(), Some(&saved));
    assert_eq!(toy.store.find(&key(8)), None, "of other rows");
    let other = key(7).with_build("2".to_owned(), "def".to_owned());
    assert_eq!(toy.store.find(&other), None, "from another build");
    toy.restore(&saved, "second").unwrap();
    assert!(toy.is_whole("second"));
    toy.store.verify(&saved.id).unwrap();
}

/// Goal: what a restored run writes never reaches the snapshot.
/// Method: a file that may be linked is replaced, the others are written in place.
#[test]
fn writes_of_a_run_do_not_reach_the_snapshot() {
    let toy = Toy::new();
    let saved = toy.save(&toy.run("first"), 7).unwrap();
    let transfer = toy.restore(&saved, "second").unwrap();
    let run = toy.dir.path().join("second");
    let has_links = fs::hard_link(run.join("note"), toy.dir.path().join("link")).is_ok();
    drop(fs::remove_file(toy.dir.path().join("link")));
    let names = |file: &str| fs::metadata(run.join(file)).unwrap().nlink();
    match transfer {
        Transfer::HardLinks => assert_eq!((names("db/000001.sst"), names("note")), (2, 1)),
        Transfer::Reflink => println!("skipped in part: this file system shares without links"),
        Transfer::Copy => {
            assert!(!has_links, "links are possible here");
            println!("skipped in part: this file system has no links");
        }
    }
    fs::remove_file(run.join("db/000001.sst")).unwrap();
    fs::write(run.join("note"), "another").unwrap();
    fs::write(run.join("db/deep/MANIFEST"), "more levels").unwrap();
    toy.store.verify(&saved.id).unwrap();
    toy.restore(&saved, "third").unwrap();
    assert!(toy.is_whole("third"));
}

#[test]
fn a_flipped_byte_is_named_and_the_snapshot_not_used_again() {
    let toy = Toy::new();
    for file in ["db/000001.sst", "note"] {
        let saved = toy.save(&toy.run(&format!("of {file}").replace('/', "-")), 7).unwrap();
        let path = toy.saved(&saved, file);
        let mut bytes = fs::read(&path).unwrap();
        bytes[0] ^= 1;
        fs::write(&path, bytes).unwrap();
        let error = toy.restore(&saved, &format!("to {file}").replace('/', "-")).unwrap_err();
        assert!(matches!(error, SnapshotError::Damaged(..)), "{error}");
        assert!(error.to_string().contains(file), "{error}");
        assert!(toy.store.verify(&saved.id).is_err());
        toy.store.set_damaged(&saved.id, &error).unwrap();
        assert_eq!(toy.store.find(&key(7)), None);
        let listed = toy.store.list().remove(0);
        assert_eq!(listed.key, Some(key(7)), "a run of another load does not name it");
        assert_eq!(listed.record.unwrap_err().to_string(), error.to_string());
        toy.store.remove(&saved.id).unwrap();
    }
}

/// Goal: a snapshot whose files are not where they were saved is damaged, however equal they are.
#[test]
fn links_absent_and_added_files_are_damage() {
    type Change = fn(&Path, &Path);
    let swap = |place: &Path, elsewhere: &Path| {
        fs::rename(place, elsewhere).unwrap();
        symlink(elsewhere, place).unwrap();
    };
    let changes: [(&str, &str, Change); 6] = [
        ("db/000001.sst", "db/000001.sst is a link", swap),
        ("db/deep", "db/deep is a link", swap),
        ("", "its directory of files is absent, or a link", swap),
        ("note", "note is absent", |place, _| fs::remove_file(place).unwrap()),
        ("db/more", "db/more is not what was saved", |place, _| fs::write(place, "").unwrap()),
        ("note", "note is a pipe or a device", |place, _| {
            fs::remove_file(place).unwrap();
            let mode = rustix::fs::Mode::RUSR;
            let kind = rustix::fs::FileType::Fifo;
            rustix::fs::mknodat(rustix::fs::CWD, place, kind, mode, 0).unwrap();
        }),
    ];
    for (number, (file, reason, change)) in changes.into_iter().enumerate() {
        let toy = Toy::new();
        let saved = toy.save(&toy.run("first"), 7).unwrap();
        let place = toy.saved(&saved, file);
        let place = place.to_str().unwrap().trim_end_matches('/');
        change(Path::new(place), &toy.dir.path().join("elsewhere"));
        for error in [toy.store.verify(&saved.id).err(), toy.restore(&saved, "second").err()] {
            let Some(SnapshotError::Damaged(_, found)) = error else { panic!("{number}") };
            assert_eq!(found, reason);
        }
        assert_eq!(fs::read_dir(toy.dir.path().join("second")).unwrap().count(), 0);
    }
    let toy = Toy::new();
    let saved = toy.save(&toy.run("first"), 7).unwrap();
    let (place, elsewhere) = (toy.store.dir().join(&saved.id), toy.dir.path().join("elsewhere"));
    swap(&place, &elsewhere);
    let error = toy.store.verify(&saved.id).unwrap_err();
    assert!(
        error.to_string().contains("a link or a file stands in the place of its directory"),
        "{error}"
    );
    toy.store.set_damaged(&saved.id, &error).unwrap();
    assert!(!elsewhere.join("damaged").exists(), "nothing is written through the link");
}

#[test]
fn a_changed_record_is_not_read() {
    let toy = Toy::new();
    let saved = toy.save(&toy.run("first"), 7).unwrap();
    let path = toy.store.dir().join(&saved.id).join("record.json");
    let text = fs::read_to_string(&path).unwrap();
    for (was, now) in [("\"abc\"", "\"abd\""), ("\"rows\": 7", "\"rows\": 8"), ("{", "")] {
        assert!(text.contains(was), "{was}");
        fs::write(&path, text.replacen(was, now, 1)).unwrap();
        assert_eq!(toy.store.find(&key(7)), None);
        let listed = toy.store.list();
        assert!(matches!(listed[0].record, Err(SnapshotError::Damaged(..))), "{listed:?}");
    }
}

#[test]
fn what_a_killed_process_left_is_listed_never_found_and_removed() {
    let toy = Toy::new();
    let saved = toy.save(&toy.run("first"), 7).unwrap();
    let place = toy.store.dir().join(&saved.id);
    fs::rename(&place, toy.store.dir().join(".unfinished-abcdef")).unwrap();
    assert_eq!(toy.store.find(&key(7)), None);
    let listed = toy.store.list();
    let reason = listed[0].record.as_ref().unwrap_err().to_string();
    assert!(reason.contains("unfinished: a killed process left it"), "{reason}");
    let held = fs::File::open(toy.store.dir().join(".unfinished-abcdef")).unwrap();
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let running = toy.store.list().remove(0).record.unwrap_err();
    assert!(matches!(running, SnapshotError::InUse(_)), "{running}");
    toy.store.clean_up();
    assert_eq!(toy.store.list().len(), 1, "its process lives");
    rustix::fs::flock(&held, rustix::fs::FlockOperation::Unlock).unwrap();
    toy.store.clean_up();
    assert!(toy.store.list().is_empty());
}

#[test]
fn the_least_recently_used_makes_room_and_one_in_use_stays() {
    let toy = Toy::new();
    let [old, new] = [7, 8].map(|rows| toy.save(&toy.run(&rows.to_string()), rows).unwrap());
    let used = toy.store.dir().join(&old.id).join("used");
    let long_ago = std::time::SystemTime::UNIX_EPOCH;
    fs::File::options().write(true).open(used).unwrap().set_modified(long_ago).unwrap();
    let bytes = old.bytes().0;
    assert!(toy.store.evict(Bytes(0), Bytes(2 * bytes)).unwrap().is_empty());
    let removed = toy.store.evict(Bytes(bytes), Bytes(2 * bytes)).unwrap();
    assert_eq!(removed, [old.id]);
    let error = toy.store.evict(Bytes(9), Bytes(8)).unwrap_err();
    assert!(matches!(error, SnapshotError::NoRoom(..)), "{error}");
    let held = fs::File::open(toy.store.dir().join(&new.id)).unwrap();
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockShared).unwrap();
    assert_eq!(toy.store.evict_one(), None);
    rustix::fs::flock(&held, rustix::fs::FlockOperation::Unlock).unwrap();
    assert_eq!(toy.store.evict_one(), Some(new.id));
}

#[test]
fn links_and_files_with_several_names_are_not_saved_and_the_run_keeps_its_files() {
    let toy = Toy::new();
    let run = toy.run("linked");
    symlink("/etc/passwd", run.join("db/passwd")).unwrap();
    let error = toy.save(&run, 7).unwrap_err();
    assert!(error.to_string().contains("a link"), "{error}");
    assert!(toy.is_whole("linked"));
    fs::remove_file(run.join("db/passwd")).unwrap();
    fs::hard_link(run.join("note"), run.join("db/other")).unwrap();
    let error = toy.save(&run, 7).unwrap_err();
    assert!(error.to_string().contains("several names"), "{error}");
    assert!(toy.is_whole("linked") && toy.store.list().is_empty());
    let error = toy.save(&toy.empty("empty"), 7).unwrap_err();
    assert!(matches!(error, SnapshotError::Nothing), "{error}");
}

#[test]
fn a_snapshot_that_cannot_be_restored_is_given_back() {
    let toy = Toy::new();
    let run = toy.run("first");
    let saved = toy.save(&run, 7).unwrap();
    let stopped = toy.store.restore(&saved, &toy.empty("second"), true, &|| true);
    assert!(matches!(stopped.unwrap_err(), SnapshotError::Stopped));
    toy.store.give_back(&saved.id, &run).unwrap();
    assert!(toy.is_whole("first") && toy.store.list().is_empty());
}

#[test]
fn an_identifier_is_never_a_path() {
    let toy = Toy::new();
    toy.save(&toy.run("first"), 7).unwrap();
    for id in ["", ".", "..", "../first", "/etc", "files", "0123456789ab"] {
        assert!(matches!(toy.store.remove(id), Err(SnapshotError::Unknown(_))), "{id}");
        assert!(matches!(toy.store.verify(id), Err(SnapshotError::Unknown(_))), "{id}");
    }
}

#[test]
fn a_store_that_others_can_enter_is_not_used() {
    use std::os::unix::fs::PermissionsExt as _;
    let toy = Toy::new();
    fs::create_dir(toy.store.dir()).unwrap();
    fs::set_permissions(toy.store.dir(), fs::Permissions::from_mode(0o755)).unwrap();
    assert!(toy.save(&toy.run("first"), 7).is_err());
    assert!(toy.is_whole("first"));
}

/// Goal: files that another account may have put there are not restored, listed or removed.
#[test]
fn a_snapshot_in_a_store_that_was_opened_is_not_used() {
    use std::os::unix::fs::PermissionsExt as _;
    let toy = Toy::new();
    let saved = toy.save(&toy.run("first"), 7).unwrap();
    let open = |mode| fs::set_permissions(toy.store.dir(), fs::Permissions::from_mode(mode));
    open(0o755).unwrap();
    assert!(toy.store.find(&saved.key).is_none() && toy.store.list().is_empty());
    assert!(toy.restore(&saved, "second").is_err() && toy.store.remove(&saved.id).is_err());
    open(0o700).unwrap();
    assert_eq!(toy.store.find(&saved.key).map(|found| found.id), Some(saved.id));
}

/// Goal: holes stay holes and every byte is there, whatever the size.
#[test]
fn sparse_files_are_restored_sparse() {
    use std::os::unix::fs::FileExt as _;
    let toy = Toy::new();
    let run = toy.empty("first");
    let file = fs::File::create(run.join("data")).unwrap();
    file.set_len(64 << 20).unwrap();
    file.write_all_at(b"rows", 20 << 20).unwrap();
    drop(file);
    let saved = toy.save(&run, 7).unwrap();
    toy.restore(&saved, "second").unwrap();
    let found = fs::metadata(toy.dir.path().join("second/data")).unwrap();
    assert_eq!(found.len(), 64 << 20);
    assert!(found.blocks() * 512 < 1 << 20, "{} blocks", found.blocks());
}
