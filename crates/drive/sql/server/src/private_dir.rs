//! The private directory of a server, with a note for clean-up.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use model::Bytes;
use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::process::Signal;
use serde::{Deserialize, Serialize};
use tempfile::{NamedTempFile, TempDir};

use crate::error::ServerError;
use crate::process::{ProcessIdentity, boot_id, descendants, in_cgroup, kill_all, working_in};
use crate::shared;
use crate::user::{self, User};

/// First parent of the private directories, where the clean-up of any Assay finds them.
const ROOT: &str = "/tmp";
/// Longest path of another parent: a unix socket's path has room for 107 bytes, of which the names
/// below the parent take up to 38. Source: unix(7), `sun_path`.
const ROOT_BYTES_MAX: usize = 107 - 38;
/// Files that a server has there, with their usual size: note, sockets and locks. Our choice, above
/// the 5 files of Postgres.
const FILES: usize = 8;
const FILE_BYTES: usize = 4 << 10;
/// Prefix of their names, before the id of the process that made them.
const PREFIX: &str = "assay-";
/// File name of the note.
const NOTE: &str = "note.json";
/// The socket directory's name.
const SOCKET: &str = "s";

/// What clean-up needs when the process that started a server was killed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Note {
    boot: String,
    /// The process that started the server; while it runs, clean-up leaves the server alone.
    parent: ProcessIdentity,
    /// The server once it runs, or the set-up program while it runs.
    pub(crate) server: Option<ProcessIdentity>,
    /// The directory of its data, made for it.
    pub(crate) dir: PathBuf,
    /// Directories of its control groups, made for it.
    pub(crate) groups: Vec<PathBuf>,
    /// Id of the user it runs as.
    uid: u32,
    /// Named shared memory that it has mapped.
    shared: Vec<PathBuf>,
}

/// A server's private directory; removed when dropped.
#[derive(Debug)]
pub(crate) struct PrivateDir {
    dir: TempDir,
    /// The locked directory: clean-up from another PID namespace sees no process of this one.
    _lock: File,
    pub(crate) note: Note,
}

impl PrivateDir {
    /// Makes it, with a socket directory that belongs to `user`.
    pub(crate) fn make(user: &User, dir: &Path, groups: &[PathBuf]) -> Result<Self, ServerError> {
        let made = make_below(&roots())?;
        let lock = open_dir(made.path()).and_then(|dir| {
            flock(&dir, FlockOperation::LockExclusive)?;
            Ok(dir)
        });
        let lock = lock.map_err(ServerError::file(made.path()))?;
        let note = Note {
            boot: boot_id(),
            parent: ProcessIdentity::own(),
            server: None,
            dir: dir.to_owned(),
            groups: groups.to_vec(),
            uid: user.uid,
            shared: Vec::new(),
        };
        let private_dir = Self { dir: made, _lock: lock, note };
        private_dir.write()?;
        let path = private_dir.dir.path();
        let fail = || ServerError::file(path);
        fs::set_permissions(path, Permissions::from_mode(0o711)).map_err(fail())?;
        DirBuilder::new().mode(0o700).create(private_dir.socket()).map_err(fail())?;
        user.give(&private_dir.socket()).map_err(fail())?;
        Ok(private_dir)
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.dir.path().join(SOCKET)
    }

    /// Records the process of the server, or of a set-up program, in the note.
    pub(crate) fn record_server(&mut self, server: ProcessIdentity) -> Result<(), ServerError> {
        self.note.server = Some(server);
        self.write()
    }

    /// Records the shared memory that the server has mapped.
    pub(crate) fn record_shared_memory(&mut self) -> Result<(), ServerError> {
        let now = shared::mapped_by(&self.note.processes());
        let count = self.note.shared.len();
        let is_new = |path: &PathBuf| !self.note.shared.contains(path);
        let more: Vec<PathBuf> = now.into_iter().filter(is_new).collect();
        self.note.shared.extend(more);
        if self.note.shared.len() == count { Ok(()) } else { self.write() }
    }

    fn write(&self) -> Result<(), ServerError> {
        let path = self.dir.path().join(NOTE);
        let text = serde_json::to_vec(&self.note).expect("a note is always valid JSON");
        // Replaced as a whole: a kill leaves a note that clean-up can read.
        let written = NamedTempFile::new_in(self.dir.path()).and_then(|mut new| {
            new.write_all(&text)?;
            Ok(new.persist(&path)?)
        });
        written.map(drop).map_err(ServerError::file(&path))
    }
}

impl Note {
    /// Returns the processes of the server that still run.
    pub(crate) fn processes(&self) -> Vec<ProcessIdentity> {
        let mut found = Vec::new();
        if let Some(server) = self.server.filter(ProcessIdentity::is_alive) {
            found.push(server);
            found.extend(descendants(server.pid));
        }
        found.extend(self.groups.iter().flat_map(|dir| in_cgroup(dir)));
        found.extend(working_in(&self.dir, self.uid));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Ends the processes and removes the shared memory that they leave behind.
    pub(crate) fn end(&self) {
        // Stopped before the scan: none starts another or maps more after it.
        self.processes().iter().for_each(|process| process.signal(Signal::STOP));
        let processes = self.processes();
        let mut shared = shared::mapped_by(&processes);
        shared.extend(self.shared.iter().cloned());
        kill_all(&processes);
        // They may have started others meanwhile.
        kill_all(&self.processes());
        let creators = [processes, Vec::from_iter(self.server)].concat();
        let is_own = user::is_own_id(self.uid);
        if is_own {
            // Also of processes that were killed before they were found.
            shared.extend(shared::owned_by(self.uid));
        }
        shared::remove_named(&shared, self.uid);
        shared::remove_segments((!is_own).then_some(&creators), self.uid);
    }

    /// Returns whether the process that started the server is gone.
    fn is_orphaned(&self) -> bool {
        self.boot != boot_id() || !self.parent.is_alive()
    }
}

/// Returns the parents of private directories, in the order in which they are tried: where `/tmp`
/// cannot be written, as in many containers, `TMPDIR` names another.
fn roots() -> Vec<PathBuf> {
    let mut roots = vec![PathBuf::from(ROOT), std::env::temp_dir()];
    roots.dedup();
    roots
}

/// Checks that a private directory can be made.
///
/// # Errors
/// As for a server that is started.
pub(crate) fn check() -> Result<(), ServerError> {
    make_below(&roots()).map(drop)
}

/// Makes a private directory below the first parent in which one can be made.
fn make_below(roots: &[PathBuf]) -> Result<TempDir, ServerError> {
    let prefix = format!("{PREFIX}{}-", std::process::id());
    let mut errors = Vec::new();
    for root in roots {
        let is_long = root.as_os_str().len() > ROOT_BYTES_MAX;
        let length = || format!("a unix socket needs a path of at most {ROOT_BYTES_MAX} bytes");
        let checked = if is_long { Err(io::Error::other(length())) } else { Ok(()) };
        let made =
            checked.and_then(|()| trust::check(root, trust::Entries::Shared)).and_then(|()| {
                // No other account can open it and hold the lock that is taken next.
                let closed = Permissions::from_mode(0o700);
                tempfile::Builder::new().prefix(&prefix).permissions(closed).tempdir_in(root)
            });
        match made.and_then(with_room) {
            Ok(made) => return Ok(made),
            Err(error) => errors.push(format!("{}: {error}", root.display())),
        }
    }
    Err(ServerError::fatal(format!(
        "no directory for the sockets of servers ({}): set TMPDIR to one that can be written and \
         entered by every account, with {} and {FILES} inodes free and a path of at most \
         {ROOT_BYTES_MAX} bytes",
        errors.join("; "),
        Bytes((FILES * FILE_BYTES) as u64),
    )))
}

/// Returns a directory in which the files of a server can be made.
fn with_room(dir: TempDir) -> io::Result<TempDir> {
    let files = (0..FILES).map(|number| dir.path().join(number.to_string()));
    let made = files.clone().try_for_each(|file| fs::write(file, [0; FILE_BYTES]));
    files.for_each(|file| drop(fs::remove_file(file)));
    made.map(|()| dir)
}

/// Kills servers whose Assay was killed and removes their directories.
///
/// Returns how many there were. Called before the first server is started. Touches only what a
/// note of this user names, and only processes with the start time of the note. A directory that
/// is locked belongs to a running Assay, in whatever PID namespace.
pub fn clean_up() -> usize {
    roots().iter().map(|root| clean_up_in(root)).sum()
}

fn clean_up_in(root: &Path) -> usize {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    let mut cleaned = 0;
    for entry in ours {
        let dir = entry.path();
        // Held to the end: no other clean-up ends the same processes.
        let Some(_lock) = unused(&dir) else { continue };
        let Some(note) = own_note(&dir) else {
            if is_abandoned(&dir) {
                // Without a note only an empty directory is removed.
                cleaned += usize::from(fs::remove_dir(&dir).is_ok());
            }
            continue;
        };
        if !note.is_orphaned() {
            continue;
        }
        if note.boot == boot_id() {
            note.end();
        }
        // What cannot be removed now is tried again by the next Assay, as the note stays.
        let is_removed = is_removed(&note.dir);
        for group in &note.groups {
            fs::remove_dir(group).ok();
        }
        if is_removed && fs::remove_dir_all(&dir).is_ok() {
            cleaned += 1;
        }
    }
    cleaned
}

fn is_removed(dir: &Path) -> bool {
    fs::remove_dir_all(dir).is_ok() || !dir.exists()
}

/// Returns whether only this user could have written a file or directory.
fn is_own(path: &Path) -> bool {
    let own = nix::unistd::geteuid().as_raw();
    fs::symlink_metadata(path)
        .is_ok_and(|meta| !meta.is_symlink() && meta.uid() == own && meta.mode() & 0o022 == 0)
}

/// Opens a directory, and no link to one.
fn open_dir(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

/// Locks a directory of this user; `None` when a running Assay has locked it.
fn unused(dir: &Path) -> Option<File> {
    let lock = is_own(dir).then(|| open_dir(dir).ok()).flatten()?;
    flock(&lock, FlockOperation::NonBlockingLockExclusive).ok().map(|()| lock)
}

/// Returns whether a directory was made by a process that was killed before its first note.
fn is_abandoned(dir: &Path) -> bool {
    let name = dir.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let maker = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('-'));
    let maker = maker.and_then(|(pid, _)| pid.parse().ok());
    let has_ended = maker.is_some_and(|pid| ProcessIdentity::of(pid).is_none());
    has_ended && is_own(dir) && !dir.join(NOTE).exists()
}

/// Returns the note in a directory, when only this user could have written both.
fn own_note(dir: &Path) -> Option<Note> {
    let path = dir.join(NOTE);
    if !is_own(dir) || !is_own(&path) {
        return None;
    }
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::process::{Child, Command};

    use super::*;

    /// Writes a note of a server, played by `sleep`, below a root of its own.
    fn noted(root: &Path, change: impl FnOnce(&mut Note)) -> (PathBuf, Child) {
        let dir = root.join("assay-xyz");
        let data = root.join("data");
        fs::create_dir(&dir).unwrap();
        fs::create_dir(&data).unwrap();
        let child = Command::new("sleep").arg("60").spawn().unwrap();
        let mut note = Note {
            boot: boot_id(),
            parent: ProcessIdentity { pid: std::process::id(), started: 1 },
            server: ProcessIdentity::of(child.id()),
            dir: data,
            groups: Vec::new(),
            uid: 1,
            shared: Vec::new(),
        };
        change(&mut note);
        fs::write(dir.join(NOTE), serde_json::to_vec(&note).unwrap()).unwrap();
        fs::set_permissions(dir.join(NOTE), Permissions::from_mode(0o600)).unwrap();
        fs::set_permissions(&dir, Permissions::from_mode(0o711)).unwrap();
        (dir, child)
    }

    #[test]
    fn sockets_lie_in_the_first_directory_that_can_be_written() {
        let root = tempfile::tempdir_in("/tmp").unwrap();
        let long = root.path().join("x".repeat(ROOT_BYTES_MAX));
        fs::create_dir(&long).unwrap();
        let absent = PathBuf::from("/dev/null/none");
        let roots = [absent, long, root.path().to_owned()];
        let made = make_below(&roots).unwrap();
        assert_eq!(made.path().parent(), Some(root.path()));
        let error = make_below(&roots[..2]).unwrap_err().to_string();
        assert!(error.contains("/dev/null/none: Not a directory"), "{error}");
        assert!(error.contains("at most 69 bytes") && error.contains("set TMPDIR"), "{error}");
    }

    #[test]
    fn orphaned_server_is_killed_and_its_directories_removed() {
        let root = tempfile::tempdir().unwrap();
        let (dir, mut child) = noted(root.path(), |_| ());
        assert_eq!(clean_up_in(root.path()), 1);
        assert!(!dir.exists() && !root.path().join("data").exists());
        assert!(!child.wait().unwrap().success());
    }

    #[test]
    fn processes_of_others_are_left_alone() {
        let is_untouched = |change: fn(&mut Note)| {
            let root = tempfile::tempdir().unwrap();
            let (dir, mut child) = noted(root.path(), change);
            let cleaned = clean_up_in(root.path());
            let is_running = child.try_wait().unwrap().is_none();
            child.kill().unwrap();
            child.wait().unwrap();
            (cleaned, is_running, dir.exists())
        };
        let alive = is_untouched(|note| note.parent = ProcessIdentity::own());
        assert_eq!(alive, (0, true, true), "its parent runs");
        let reused = is_untouched(|note| note.server.as_mut().unwrap().started += 1);
        assert_eq!(reused, (1, true, false), "the process id was used again");
        let earlier = is_untouched(|note| note.boot = "another".to_owned());
        assert_eq!(earlier, (1, true, false), "the machine was booted since");
    }

    #[test]
    fn directory_of_a_process_killed_before_its_note_is_removed() {
        let root = tempfile::tempdir().unwrap();
        let mut ended = Command::new("true").spawn().unwrap();
        ended.wait().unwrap();
        let dir = |pid: u32| root.path().join(format!("assay-{pid}-xyz"));
        let dirs = [dir(ended.id()), dir(std::process::id()), root.path().join("assay-other")];
        for dir in &dirs {
            fs::create_dir(dir).unwrap();
            fs::set_permissions(dir, Permissions::from_mode(0o700)).unwrap();
        }
        assert_eq!(clean_up_in(root.path()), 1);
        assert_eq!(dirs.map(|dir| dir.exists()), [false, true, true]);
    }

    /// Goal: a user's directory with such a name survives, whatever the number in it.
    #[test]
    fn directory_without_a_note_is_removed_only_when_empty() {
        let root = tempfile::tempdir().unwrap();
        let mut ended = Command::new("true").spawn().unwrap();
        ended.wait().unwrap();
        let dir = root.path().join(format!("assay-{}-results", ended.id()));
        fs::create_dir(&dir).unwrap();
        fs::set_permissions(&dir, Permissions::from_mode(0o700)).unwrap();
        for name in ["thesis", NOTE] {
            fs::write(dir.join(name), "years of work").unwrap();
            fs::set_permissions(dir.join(name), Permissions::from_mode(0o600)).unwrap();
            assert_eq!(clean_up_in(root.path()), 0);
        }
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 2);
    }

    /// Goal: a server of another PID namespace, where its parent's number is unknown, lives on.
    #[test]
    fn a_locked_note_is_of_a_running_assay_whatever_its_process_number() {
        let root = tempfile::tempdir().unwrap();
        let (dir, mut child) = noted(root.path(), |_| ());
        let lock = open_dir(&dir).unwrap();
        flock(&lock, FlockOperation::LockExclusive).unwrap();
        assert_eq!(clean_up_in(root.path()), 0);
        assert!(child.try_wait().unwrap().is_none() && dir.exists());
        // A child that another test is starting has a copy of the descriptor: a close would not do.
        flock(&lock, FlockOperation::Unlock).unwrap();
        assert_eq!(clean_up_in(root.path()), 1);
        assert!(!child.wait().unwrap().success() && !dir.exists());
    }

    #[test]
    fn note_writable_by_others_is_ignored() {
        let root = tempfile::tempdir().unwrap();
        let (dir, mut child) = noted(root.path(), |_| ());
        fs::set_permissions(&dir, Permissions::from_mode(0o777)).unwrap();
        assert_eq!(clean_up_in(root.path()), 0);
        fs::set_permissions(&dir, Permissions::from_mode(0o711)).unwrap();
        let elsewhere = root.path().join("elsewhere");
        fs::rename(&dir, &elsewhere).unwrap();
        symlink(&elsewhere, &dir).unwrap();
        assert_eq!(clean_up_in(root.path()), 0);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
