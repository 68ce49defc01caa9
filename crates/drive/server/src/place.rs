//! The short private directory of a server, and the note in it that lets a later Assay clean up.

use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::error::ServerError;
use crate::living::{Living, below, boot_id, end_all, in_group, working_in};
use crate::shared;
use crate::user::User;

/// Where the private directories lie: a unix socket's path has room for 107 bytes, and whoever
/// cleans up must know where to look. Source: unix(7), `sun_path`.
const ROOT: &str = "/tmp";
/// Begin of their names.
const PREFIX: &str = "assay-";
/// The note's name.
const NOTE: &str = "note.json";
/// The socket directory's name.
const SOCKET: &str = "s";

/// What is left to do when nobody else does it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Note {
    boot: String,
    /// Who started the server; while it lives, the server is its own affair.
    parent: Living,
    /// The server, once it runs.
    pub(crate) server: Option<Living>,
    /// The directory of its data, made for it.
    pub(crate) dir: PathBuf,
    /// Directories of its control groups, made for it.
    pub(crate) groups: Vec<PathBuf>,
    /// Number of the user it runs as.
    uid: u32,
    /// Named shared memory that it was seen to use.
    shared: Vec<PathBuf>,
}

/// A server's private directory; removed when dropped.
#[derive(Debug)]
pub(crate) struct Place {
    dir: TempDir,
    pub(crate) note: Note,
}

impl Place {
    /// Makes it, with a socket directory that belongs to `user`.
    pub(crate) fn make(user: &User, dir: &Path, groups: &[PathBuf]) -> Result<Self, ServerError> {
        let root = Path::new(ROOT);
        let made = tempfile::Builder::new().prefix(PREFIX).tempdir_in(root);
        let made = made.map_err(ServerError::file(root))?;
        let note = Note {
            boot: boot_id(),
            parent: Living::own(),
            server: None,
            dir: dir.to_owned(),
            groups: groups.to_vec(),
            uid: user.uid(),
            shared: Vec::new(),
        };
        let place = Self { dir: made, note };
        place.write()?;
        let path = place.dir.path();
        let fail = || ServerError::file(path);
        fs::set_permissions(path, Permissions::from_mode(0o711)).map_err(fail())?;
        DirBuilder::new().mode(0o700).create(place.socket()).map_err(fail())?;
        user.own(&place.socket()).map_err(fail())?;
        Ok(place)
    }

    /// Returns the socket directory.
    pub(crate) fn socket(&self) -> PathBuf {
        self.dir.path().join(SOCKET)
    }

    /// Writes down that the server runs.
    pub(crate) fn note_server(&mut self, server: Living) -> Result<(), ServerError> {
        self.note.server = Some(server);
        self.write()
    }

    /// Writes down the shared memory that the server uses now.
    pub(crate) fn note_shared(&mut self) -> Result<(), ServerError> {
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
        fs::write(&path, text).map_err(ServerError::file(&path))
    }
}

impl Note {
    /// Returns the processes of the server that still run.
    pub(crate) fn processes(&self) -> Vec<Living> {
        let mut found = Vec::new();
        if let Some(server) = self.server.filter(Living::is_alive) {
            found.push(server);
            found.extend(below(server.pid));
        }
        found.extend(self.groups.iter().flat_map(|dir| in_group(dir)));
        found.extend(working_in(&self.dir));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Ends the processes and removes the shared memory that they leave behind.
    pub(crate) fn end(&self) {
        let processes = self.processes();
        let mut shared = shared::mapped_by(&processes);
        shared.extend(self.shared.iter().cloned());
        end_all(&processes);
        // They may have started others meanwhile.
        end_all(&self.processes());
        shared::remove_named(&shared, self.uid);
        if let Some(server) = &self.server {
            shared::remove_segments(server, self.uid);
        }
    }

    /// Returns whether the one who started the server is gone.
    fn is_orphaned(&self) -> bool {
        self.boot != boot_id() || !self.parent.is_alive()
    }
}

/// Ends servers whose Assay was killed and removes their directories; returns how many there were.
///
/// Only what a note of this user's own tells of is touched, and no process that began at another
/// time than the note says. Called before the first server is started.
pub fn clean_up() -> usize {
    clean_up_in(Path::new(ROOT))
}

fn clean_up_in(root: &Path) -> usize {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    let mut cleaned = 0;
    for entry in ours {
        let dir = entry.path();
        let Some(note) = own_note(&dir).filter(Note::is_orphaned) else { continue };
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

/// Returns the note in a directory, when both are this user's and nobody else could write them.
fn own_note(dir: &Path) -> Option<Note> {
    let own = nix::unistd::geteuid().as_raw();
    let is_own = |path: &Path| {
        fs::symlink_metadata(path)
            .is_ok_and(|meta| !meta.is_symlink() && meta.uid() == own && meta.mode() & 0o022 == 0)
    };
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

    /// A note of a server that `sleep` stands for, in a root of its own.
    fn noted(root: &Path, change: impl FnOnce(&mut Note)) -> (PathBuf, Child) {
        let dir = root.join("assay-xyz");
        let data = root.join("data");
        fs::create_dir(&dir).unwrap();
        fs::create_dir(&data).unwrap();
        let child = Command::new("sleep").arg("60").spawn().unwrap();
        let mut note = Note {
            boot: boot_id(),
            parent: Living { pid: std::process::id(), started: 1 },
            server: Living::of(child.id()),
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
    fn a_server_that_outlived_its_parent_is_ended_and_its_directories_go() {
        let root = tempfile::tempdir().unwrap();
        let (dir, mut child) = noted(root.path(), |_| ());
        assert_eq!(clean_up_in(root.path()), 1);
        assert!(!dir.exists() && !root.path().join("data").exists());
        assert!(!child.wait().unwrap().success());
    }

    #[test]
    fn what_is_somebody_else_s_is_left_alone() {
        let is_untouched = |change: fn(&mut Note)| {
            let root = tempfile::tempdir().unwrap();
            let (dir, mut child) = noted(root.path(), change);
            let cleaned = clean_up_in(root.path());
            let lives = child.try_wait().unwrap().is_none();
            child.kill().unwrap();
            child.wait().unwrap();
            (cleaned, lives, dir.exists())
        };
        let alive = is_untouched(|note| note.parent = Living::own());
        assert_eq!(alive, (0, true, true), "its parent lives");
        let reused = is_untouched(|note| note.server.as_mut().unwrap().started += 1);
        assert_eq!(reused, (1, true, false), "the process id was used again");
        let earlier = is_untouched(|note| note.boot = "another".to_owned());
        assert_eq!(earlier, (1, true, false), "the machine was booted since");
    }

    #[test]
    fn a_note_that_others_could_have_written_is_not_believed() {
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
