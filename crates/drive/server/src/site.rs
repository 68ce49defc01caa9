//! The directories of a server: made, filled from a template, read for its last words.

use std::fs::{self, File, Permissions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::error::ServerError;
use crate::kind::{Site, Task};
use crate::user::User;

/// Bytes of a log that are read for its last words.
const TAIL_BYTES: u64 = 64 << 10;
/// Longest last words, in characters.
const WORDS_MAX: usize = 400;
/// Begin of the names of templates, below the directory they are kept in.
const TEMPLATE: &str = "run-template-";

/// Makes the directories that are not there, all of them the user's.
pub(crate) fn make(site: &Site, dir: &Path, user: &User) -> Result<(), ServerError> {
    let fail = ServerError::file;
    fs::create_dir_all(dir).map_err(fail(dir))?;
    fs::set_permissions(dir, Permissions::from_mode(0o711)).map_err(fail(dir))?;
    for dir in [&site.data, &site.temporary] {
        fs::create_dir_all(dir).map_err(fail(dir))?;
        fs::set_permissions(dir, Permissions::from_mode(0o700)).map_err(fail(dir))?;
        user.own(dir).map_err(fail(dir))?;
    }
    Ok(())
}

/// Returns whether a directory holds nothing.
pub(crate) fn is_empty(dir: &Path) -> Result<bool, ServerError> {
    let mut entries = fs::read_dir(dir).map_err(ServerError::file(dir))?;
    Ok(entries.next().is_none())
}

/// A data directory just set up, kept so that the next server of its kind need not be.
#[derive(Debug)]
pub(crate) struct Template {
    dir: PathBuf,
    /// Everything that was asked of the set-up.
    asked: String,
}

impl Template {
    /// Returns the place below `root` of what these tasks of a program make.
    ///
    /// The program is told by its hash, the tasks by their words; the site's own directories are
    /// left out of them.
    pub(crate) fn of(root: &Path, fingerprint: &str, tasks: &[Task], site: &Site) -> Self {
        let mut asked = format!("{fingerprint} {} {tasks:?}", site.user);
        let dirs = [&site.data, &site.temporary, &site.socket, &site.log];
        for (number, dir) in dirs.into_iter().enumerate() {
            asked = asked.replace(&*dir.to_string_lossy(), &format!("<{number}>"));
        }
        if let Some(dir) = site.data.parent() {
            asked = asked.replace(&*dir.to_string_lossy(), "<>");
        }
        asked = asked.replace(&site.port.to_string(), "<port>");
        Self { dir: root.join(format!("{TEMPLATE}{:016x}", fnv(asked.as_bytes()))), asked }
    }

    /// Fills the data directory; returns whether there was something to fill it from.
    pub(crate) fn fill(&self, site: &Site, user: &User) -> Result<bool, ServerError> {
        let known = fs::read_to_string(self.dir.join("asked")).unwrap_or_default();
        if known != self.asked {
            return Ok(false);
        }
        copy(&self.dir.join("data"), &site.data, user).map_err(ServerError::file(&site.data))?;
        Ok(true)
    }

    /// Keeps a data directory that was just set up; a disk without room for it keeps none.
    pub(crate) fn keep(&self, site: &Site, user: &User) {
        let kept = || {
            fs::remove_dir_all(&self.dir).ok();
            fs::create_dir(&self.dir)?;
            fs::create_dir(self.dir.join("data"))?;
            copy(&site.data, &self.dir.join("data"), user)?;
            // Last, so that a copy that was cut short is none.
            fs::write(self.dir.join("asked"), &self.asked)
        };
        if kept().is_err() {
            fs::remove_dir_all(&self.dir).ok();
        }
    }
}

/// Returns the 64-bit FNV-1a hash of some bytes.
///
/// Source: Fowler, Noll, Vo, "The FNV Non-Cryptographic Hash Algorithm", RFC 9923. It names a
/// directory only: what was asked is compared whole.
fn fnv(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Copies what lies in one directory to another, for the user.
fn copy(from: &Path, to: &Path, user: &User) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            fs::create_dir(&target)?;
            fs::set_permissions(&target, fs::metadata(&source)?.permissions())?;
            copy(&source, &target, user)?;
        } else if kind.is_symlink() {
            symlink(fs::read_link(&source)?, &target)?;
            continue;
        } else if kind.is_file() {
            fs::copy(&source, &target)?;
        } else {
            continue;
        }
        user.own(&target)?;
    }
    Ok(())
}

/// Returns the end of a log.
pub(crate) fn tail(log: &Path) -> String {
    let read = || {
        let mut file = File::open(log)?;
        let bytes = file.metadata()?.len();
        file.seek(SeekFrom::Start(bytes.saturating_sub(TAIL_BYTES)))?;
        let mut tail = Vec::new();
        file.take(TAIL_BYTES).read_to_end(&mut tail)?;
        io::Result::Ok(String::from_utf8_lossy(&tail).into_owned())
    };
    read().unwrap_or_default()
}

/// Returns the last line of a log that says anything.
pub(crate) fn last_words(log: &Path) -> String {
    let tail = tail(log);
    let line = tail.lines().rev().map(str::trim).find(|line| !line.is_empty());
    line.unwrap_or("nothing").chars().take(WORDS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(dir: &Path) -> Site {
        Site {
            data: dir.join("data"),
            socket: "/tmp/assay-x/s".into(),
            temporary: dir.join("tmp"),
            log: dir.join("server.log"),
            port: 20_001,
            user: "nobody".to_owned(),
        }
    }

    fn task(site: &Site, word: &str) -> Task {
        let arguments = vec![format!("--datadir={}", site.data.display()), word.to_owned()];
        Task { program: "/opt/initdb".into(), arguments, ..Task::default() }
    }

    /// Goal: a template serves sites elsewhere, and nothing that differs in any other way.
    #[test]
    fn a_template_is_of_one_program_and_one_set_up() {
        let root = tempfile::tempdir().unwrap();
        let user = User::find(None).unwrap();
        let (here, there) = (site(&root.path().join("a")), site(&root.path().join("b")));
        for site in [&here, &there] {
            make(site, site.data.parent().unwrap(), &user).unwrap();
        }
        fs::create_dir(here.data.join("base")).unwrap();
        fs::write(here.data.join("base/1"), "rows").unwrap();
        let of = |site: &Site, hash: &str, word: &str| {
            Template::of(root.path(), hash, &[task(site, word)], site)
        };
        of(&here, "h1", "-k").keep(&here, &user);
        for (hash, word) in [("h2", "-k"), ("h1", "-q")] {
            assert!(!of(&there, hash, word).fill(&there, &user).unwrap());
        }
        assert!(is_empty(&there.data).unwrap());
        assert!(of(&there, "h1", "-k").fill(&there, &user).unwrap());
        assert_eq!(fs::read_to_string(there.data.join("base/1")).unwrap(), "rows");
    }

    #[test]
    fn the_last_words_are_the_last_line_that_says_anything() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        assert_eq!(last_words(&log), "nothing");
        fs::write(&log, "starting\nFATAL: no room\n\n  \n").unwrap();
        assert_eq!(last_words(&log), "FATAL: no room");
        fs::write(&log, "x".repeat(200_000)).unwrap();
        assert_eq!(last_words(&log).len(), WORDS_MAX);
    }
}
