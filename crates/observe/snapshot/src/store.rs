//! The snapshots below one directory.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Component, Path, PathBuf};

use model::{Bytes, StepRecord, Transfer};
use rustix::fs::{FlockOperation, flock};
use trust::Entries;

use crate::checksum;
use crate::error::SnapshotError;
use crate::key::{Key, sha256, sha256_of};
use crate::record::{FORMAT, FileEntry, SnapshotRecord};
use crate::transfer::{Stop, for_each, restore};
use crate::tree;

/// Name of the store's directory in a data directory.
pub const DIR: &str = "snapshots";
/// Prefix of a snapshot that is being made or removed.
const UNFINISHED: &str = ".unfinished-";
/// File that describes a snapshot; written last.
const RECORD: &str = "record.json";
/// Directory of its files.
const FILES: &str = "files";
/// File whose time of change is that of the last use.
const USED: &str = "used";
/// File that describes why a snapshot is not used any more.
const DAMAGED: &str = "damaged";
/// File with the SHA-256 of the record.
const RECORD_SUM: &str = "record.sha256";
/// Digits of an identifier.
const ID_DIGITS: usize = 12;

/// The snapshots below one directory, which no other account can write.
#[derive(Debug, Clone)]
pub struct Store {
    dir: PathBuf,
}

/// A snapshot that is made of a run's files.
#[derive(Debug)]
pub struct Made<'a> {
    /// What the database depends on.
    pub key: Key,
    /// Identifier of the run.
    pub made_by: String,
    /// Now, UTC, RFC 3339.
    pub made_at: String,
    /// The load's measurements.
    pub steps: Vec<StepRecord>,
    /// Ends of the names of files that the engine never rewrites.
    pub immutable: Vec<String>,
    /// Names in the run's directory that are not part of the database.
    pub left_out: &'a [&'a str],
}

/// How a snapshot was restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restored {
    /// How its files came.
    pub transfer: Transfer,
    /// Their length.
    pub bytes: Bytes,
}

/// An entry of the store's list: a record, or why it cannot be used.
#[derive(Debug)]
pub struct Listed {
    /// Identifier: the directory's name.
    pub id: String,
    /// Seconds since 1970 of its last use.
    pub used_at_s: i64,
    /// What its database depends on; `None` when that is not readable.
    pub key: Option<Key>,
    /// Its record, or why it is not used.
    pub record: Result<SnapshotRecord, SnapshotError>,
}

impl Store {
    /// Returns the store below a data directory; nothing is made yet.
    pub fn below(data: &Path) -> Self {
        Self { dir: data.join(DIR) }
    }

    /// Returns its directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Lists the snapshots, the last used first.
    pub fn list(&self) -> Vec<Listed> {
        let dir = self.is_closed().then(|| fs::read_dir(&self.dir));
        let entries = dir.into_iter().flatten().flatten().flatten();
        let ids = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut all: Vec<_> = ids
            .map(|id| {
                let record = self.read(&id);
                let key = record.as_ref().ok().map(|record| record.key.clone());
                let record = record.and_then(|record| self.check_undamaged(record));
                Listed { used_at_s: self.used_at(&id), key, record, id }
            })
            .collect();
        all.sort_by(|a, b| b.used_at_s.cmp(&a.used_at_s).then(a.id.cmp(&b.id)));
        all
    }

    /// Returns the last used snapshot of a key.
    pub fn find(&self, key: &Key) -> Option<SnapshotRecord> {
        let sha256 = key.sha256();
        let known = self.list().into_iter().filter_map(|listed| listed.record.ok());
        known.into_iter().find(|record| record.key_sha256 == sha256)
    }

    /// Makes a snapshot of a run's files: they are moved, and `run` is left without them.
    ///
    /// # Errors
    /// When they cannot be saved: they are in `run` again, if the file system lets them.
    pub fn save(&self, run: &Path, made: Made<'_>) -> Result<SnapshotRecord, SnapshotError> {
        self.make_dir()?;
        let fresh = tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(&self.dir);
        let fresh = fresh.map_err(SnapshotError::at(&self.dir))?;
        // The next process removes what no process holds.
        let lock = File::open(fresh.path()).map_err(SnapshotError::at(fresh.path()))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)
            .map_err(|errno| SnapshotError::File(fresh.path().to_owned(), errno.into()))?;
        let files = fresh.path().join(FILES);
        fs::create_dir(&files).map_err(SnapshotError::at(&files))?;
        let saved = move_all(run, &files, made.left_out)
            .and_then(|()| describe(&files, made))
            .and_then(|record| {
                write(fresh.path(), &record)?;
                File::create(fresh.path().join(USED)).map_err(SnapshotError::at(fresh.path()))?;
                let place = self.dir.join(&record.id);
                fs::rename(fresh.path(), &place).map_err(SnapshotError::at(&place))?;
                sync_dir(&self.dir)?;
                Ok(record)
            });
        if saved.is_err() {
            // The run goes on with its files where they were.
            move_all(&files, run, &[])?;
        } else {
            // It has another name now.
            drop(fresh.keep());
        }
        saved
    }

    /// Restores a snapshot into a run's empty directory.
    ///
    /// `keeps_cached` leaves the files in the page cache, from which they were just checked.
    ///
    /// # Errors
    /// [`SnapshotError::Damaged`] when a file is not the one saved; `run` then holds what was
    /// restored until then.
    pub fn restore(
        &self,
        record: &SnapshotRecord,
        run: &Path,
        keeps_cached: bool,
        stop: Stop<'_>,
    ) -> Result<Restored, SnapshotError> {
        let dir = self.dir.join(&record.id);
        let _shared = self.lock(&record.id, FlockOperation::NonBlockingLockShared)?;
        tree::check(record, &dir.join(FILES))?;
        let transfer = restore(record, &dir.join(FILES), run, keeps_cached, stop)?;
        let used = dir.join(USED);
        File::create(&used).map_err(SnapshotError::at(&used))?;
        Ok(Restored { transfer, bytes: record.bytes() })
    }

    /// Moves the files of a snapshot back into a run's directory; the snapshot is gone.
    ///
    /// # Errors
    /// When another run uses it, or the file system refuses.
    pub fn give_back(&self, id: &str, run: &Path) -> Result<(), SnapshotError> {
        let _alone = self.lock(id, FlockOperation::NonBlockingLockExclusive)?;
        let unfinished = self.set_aside(id)?;
        move_all(&unfinished.join(FILES), run, &[])?;
        fs::remove_dir_all(&unfinished).map_err(SnapshotError::at(&unfinished))
    }

    /// Removes a snapshot.
    ///
    /// # Errors
    /// When there is none, or a run is restoring it.
    pub fn remove(&self, id: &str) -> Result<(), SnapshotError> {
        let _alone = self.lock(id, FlockOperation::NonBlockingLockExclusive)?;
        let unfinished = self.set_aside(id)?;
        fs::remove_dir_all(&unfinished).map_err(SnapshotError::at(&unfinished))
    }

    /// Checks every file of a snapshot, and that there is no other one.
    ///
    /// # Errors
    /// [`SnapshotError::Damaged`] with the first file that differs.
    pub fn verify(&self, id: &str) -> Result<SnapshotRecord, SnapshotError> {
        let record = self.check_undamaged(self.read(id)?)?;
        let _shared = self.lock(id, FlockOperation::NonBlockingLockShared)?;
        let files = self.dir.join(id).join(FILES);
        tree::check(&record, &files)?;
        for_each(&record.files, &|| false, |file| {
            let opened = checksum::open(&files.join(&file.path));
            match opened.and_then(|opened| checksum::of(&opened)) {
                Ok(found) if found == file.xxh3 => Ok(()),
                Ok(_) => Err(SnapshotError::changed(id, &file.path)),
                Err(error) => {
                    let what = format!("{}: {error}", file.path.display());
                    Err(SnapshotError::Damaged(id.to_owned(), what))
                }
            }
        })?;
        Ok(record)
    }

    /// Makes room: removes the least recently used until all take at most `limit` less `needed`.
    ///
    /// Returns the identifiers of those removed; one in use stays.
    ///
    /// # Errors
    /// [`SnapshotError::NoRoom`] when `needed` alone is more.
    pub fn evict(&self, needed: Bytes, limit: Bytes) -> Result<Vec<String>, SnapshotError> {
        let Some(most) = limit.0.checked_sub(needed.0) else {
            return Err(SnapshotError::NoRoom(needed, limit));
        };
        let mut removed = Vec::new();
        while self.bytes().0 > most {
            let Some(id) = self.evict_one() else { break };
            removed.push(id);
        }
        Ok(removed)
    }

    /// Removes the least recently used snapshot that no run uses; returns its identifier.
    pub fn evict_one(&self) -> Option<String> {
        let mut oldest = self.list().into_iter().rev().map(|listed| listed.id);
        oldest.find(|id| self.remove(id).is_ok())
    }

    /// Notes that a snapshot is damaged: it is not used again.
    ///
    /// # Errors
    /// When that cannot be noted.
    pub fn set_damaged(&self, id: &str, why: &SnapshotError) -> Result<(), SnapshotError> {
        let dir = self.dir.join(id);
        // A link in its place is not used, and nothing is written through it.
        if !fs::symlink_metadata(&dir).is_ok_and(|found| found.is_dir()) {
            return Ok(());
        }
        let path = dir.join(DAMAGED);
        fs::write(&path, why.reason()).map_err(SnapshotError::at(&path))
    }

    /// Returns the length of all snapshots' files.
    pub fn bytes(&self) -> Bytes {
        let all = self.list().into_iter().filter_map(|listed| listed.record.ok());
        Bytes(all.map(|record| record.bytes().0).fold(0, u64::saturating_add))
    }

    /// Removes what killed processes left unfinished.
    pub fn clean_up(&self) {
        let dir = self.is_closed().then(|| fs::read_dir(&self.dir));
        for entry in dir.into_iter().flatten().flatten().flatten() {
            let is_unfinished =
                entry.file_name().as_encoded_bytes().starts_with(UNFINISHED.as_bytes());
            let Ok(dir) = File::open(entry.path()) else { continue };
            if is_unfinished && flock(&dir, FlockOperation::NonBlockingLockExclusive).is_ok() {
                // What stays takes room, and is never used.
                drop(fs::remove_dir_all(entry.path()));
            }
        }
    }

    /// Makes the store's directory, which only this account can enter.
    fn make_dir(&self) -> Result<(), SnapshotError> {
        match fs::DirBuilder::new().mode(0o700).create(&self.dir) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(SnapshotError::File(self.dir.clone(), error))
            }
            _ if self.is_closed() => Ok(()),
            _ => Err(SnapshotError::NotSaved(self.dir.clone(), "open to other accounts")),
        }
    }

    /// Returns whether the directory is this account's, and only it can enter: another account
    /// could have put any files into an open one.
    fn is_closed(&self) -> bool {
        let own = rustix::process::geteuid().as_raw();
        fs::symlink_metadata(&self.dir)
            .is_ok_and(|found| found.is_dir() && found.mode() & 0o077 == 0 && found.uid() == own)
            && trust::check(&self.dir, Entries::Closed).is_ok()
    }

    /// Returns a record, unless its snapshot was found damaged before.
    fn check_undamaged(&self, record: SnapshotRecord) -> Result<SnapshotRecord, SnapshotError> {
        match fs::read_to_string(self.dir.join(&record.id).join(DAMAGED)) {
            Ok(why) => Err(SnapshotError::Damaged(record.id, why.trim().to_owned())),
            Err(_absent) => Ok(record),
        }
    }

    /// Reads a snapshot's record, whatever its files are.
    fn read(&self, id: &str) -> Result<SnapshotRecord, SnapshotError> {
        let damaged = |what: &str| SnapshotError::Damaged(id.to_owned(), what.to_owned());
        if id.starts_with(UNFINISHED) {
            // A process that saves or removes it holds its lock.
            self.lock(id, FlockOperation::NonBlockingLockShared)?;
            return Err(SnapshotError::Unfinished(id.to_owned()));
        }
        let dir = self.dir.join(id);
        let Some(found) = fs::symlink_metadata(&dir).ok().filter(|_| is_id(id) && self.is_closed())
        else {
            return Err(SnapshotError::Unknown(id.to_owned()));
        };
        if !found.is_dir() {
            return Err(damaged("a link or a file stands in the place of its directory"));
        }
        let read = |name: &str| fs::read(dir.join(name)).map_err(|_absent| damaged("no record"));
        let (text, sum) = (read(RECORD)?, read(RECORD_SUM)?);
        if sha256(&text).as_bytes() != sum {
            return Err(damaged("its record was changed"));
        }
        let record: SnapshotRecord =
            serde_json::from_slice(&text).map_err(|_invalid| damaged("its record is not valid"))?;
        if record.format != FORMAT || record.id != id {
            return Err(damaged("another version of Assay made it"));
        }
        let paths = record.files.iter().map(|file| &file.path);
        let mut paths = paths.chain(record.dirs.iter().map(|dir| &dir.path));
        let is_below =
            |path: &PathBuf| path.components().all(|part| matches!(part, Component::Normal(_)));
        if !paths.all(is_below) {
            return Err(damaged("its record names files elsewhere"));
        }
        Ok(record)
    }

    fn used_at(&self, id: &str) -> i64 {
        fs::metadata(self.dir.join(id).join(USED)).map_or(0, |found| found.mtime())
    }

    /// Takes a snapshot's lock until the file is dropped.
    fn lock(&self, id: &str, how: FlockOperation) -> Result<File, SnapshotError> {
        let dir = File::open(self.dir.join(id)).ok().filter(|_| is_id(id) && self.is_closed());
        let Some(dir) = dir else { return Err(SnapshotError::Unknown(id.to_owned())) };
        flock(&dir, how).map_err(|_held| SnapshotError::InUse(id.to_owned()))?;
        Ok(dir)
    }

    /// Gives a snapshot the name of an unfinished one: from now on it is not used.
    fn set_aside(&self, id: &str) -> Result<PathBuf, SnapshotError> {
        let unfinished = self.dir.join(format!("{UNFINISHED}{id}"));
        fs::rename(self.dir.join(id), &unfinished).map_err(SnapshotError::at(&unfinished))?;
        Ok(unfinished)
    }
}

/// Returns whether a text may be an identifier or the name of an unfinished one, and is no path.
fn is_id(text: &str) -> bool {
    match text.strip_prefix(UNFINISHED) {
        Some(rest) => rest.chars().all(|c| c.is_ascii_alphanumeric()),
        None => text.len() == ID_DIGITS && text.chars().all(|c| c.is_ascii_hexdigit()),
    }
}

/// Describes the files of a snapshot, which are on storage afterwards.
fn describe(files: &Path, made: Made<'_>) -> Result<SnapshotRecord, SnapshotError> {
    let tree = tree::list(files)?;
    if tree.files.is_empty() {
        return Err(SnapshotError::Nothing);
    }
    let hashes = std::sync::Mutex::new(Vec::new());
    for_each(&tree.files, &|| false, |(path, found)| {
        if found.nlink() > 1 {
            // It is not the engine's alone.
            return Err(SnapshotError::NotSaved(path.clone(), "a file with several names"));
        }
        let whole = files.join(path);
        let hash = || {
            let file = checksum::open(&whole)?;
            file.sync_all()?;
            checksum::of(&file)
        };
        let xxh3 = hash().map_err(SnapshotError::at(&whole))?;
        let owner = (found.uid(), found.gid());
        let (mode, bytes) = (found.mode() & 0o7777, Bytes(found.len()));
        let entry = FileEntry { path: path.clone(), bytes, xxh3, mode, owner };
        hashes.lock().expect("no thread panics").push(entry);
        Ok(())
    })?;
    let mut files = hashes.into_inner().expect("no thread panics");
    files.sort_by(|a, b| b.bytes.cmp(&a.bytes).then(a.path.cmp(&b.path)));
    let Made { key, made_by, made_at, steps, immutable, left_out: _ } = made;
    let (format, key_sha256, dirs) = (FORMAT, key.sha256(), tree.dirs);
    // It follows from what was saved, when and by which run.
    let id = sha256_of(&(&key_sha256, &made_by, &made_at, &files))[..ID_DIGITS].to_owned();
    Ok(SnapshotRecord {
        format,
        id,
        key_sha256,
        key,
        made_by,
        made_at,
        steps,
        immutable,
        dirs,
        files,
    })
}

/// Moves everything in a directory, but for these names.
fn move_all(from: &Path, to: &Path, left_out: &[&str]) -> Result<(), SnapshotError> {
    for entry in fs::read_dir(from).map_err(SnapshotError::at(from))? {
        let name = entry.map_err(SnapshotError::at(from))?.file_name();
        if left_out.iter().any(|one| name == *one) {
            continue;
        }
        fs::rename(from.join(&name), to.join(&name)).map_err(SnapshotError::at(from))?;
    }
    sync_dir(to)
}

/// Writes a record and its checksum.
fn write(dir: &Path, record: &SnapshotRecord) -> Result<(), SnapshotError> {
    let text = serde_json::to_vec_pretty(record).expect("a record is always valid JSON");
    let sum = sha256(&text).into_bytes();
    for (name, content) in [(RECORD, text), (RECORD_SUM, sum)] {
        let path = dir.join(name);
        let written = File::create_new(&path).and_then(|mut file| {
            file.write_all(&content)?;
            file.sync_all()
        });
        written.map_err(SnapshotError::at(&path))?;
    }
    Ok(())
}

fn sync_dir(dir: &Path) -> Result<(), SnapshotError> {
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(SnapshotError::at(dir))
}
