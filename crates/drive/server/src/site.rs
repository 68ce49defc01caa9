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
        if !self.is_kept() {
            return Ok(false);
        }
        copy(&self.dir.join("data"), &site.data, user).map_err(ServerError::file(&site.data))?;
        Ok(true)
    }

    /// Keeps a data directory that was just set up; a disk without room for it keeps none.
    ///
    /// It is copied elsewhere and moved into its place whole: others may read or make it meanwhile,
    /// and the first who makes it is who keeps it.
    pub(crate) fn keep(&self, site: &Site, user: &User) {
        let kept = || -> io::Result<()> {
            let root = self.dir.parent().unwrap_or(Path::new("."));
            let made = tempfile::Builder::new().prefix(TEMPLATE).tempdir_in(root)?;
            let data = made.path().join("data");
            fs::create_dir(&data)?;
            copy(&site.data, &data, user)?;
            fs::write(made.path().join("asked"), &self.asked)?;
            let moved = fs::rename(made.path(), &self.dir);
            if moved.is_ok() || self.is_kept() {
                return Ok(());
            }
            // Of another set-up with the same hash, or of a time when it was not moved whole.
            fs::remove_dir_all(&self.dir)?;
            fs::rename(made.path(), &self.dir)
        };
        // Without it the next server is set up as this one was.
        kept().ok();
    }

    /// Returns whether it is there, and is what was asked for.
    fn is_kept(&self) -> bool {
        fs::read_to_string(self.dir.join("asked")).is_ok_and(|known| known == self.asked)
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
pub(crate) fn last_log_lines(log: &Path) -> String {
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

    /// Goal: nobody is filled from half a template. Method: several set up, keep and fill at once.
    #[test]
    fn servers_that_are_set_up_at_the_same_time_get_whole_templates() {
        const FILES: usize = 200;
        let root = tempfile::tempdir().unwrap();
        let user = User::find(None).unwrap();
        let set_up = |number: usize| {
            let dir = root.path().join(format!("site-{number}"));
            let site = site(&dir);
            make(&site, &dir, &user).unwrap();
            let template = Template::of(root.path(), "h", &[task(&site, "-k")], &site);
            if !template.fill(&site, &user).unwrap() {
                for file in 0..FILES {
                    fs::write(site.data.join(file.to_string()), "rows").unwrap();
                }
                template.keep(&site, &user);
            }
            assert_eq!(fs::read_dir(&site.data).unwrap().count(), FILES);
        };
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let set_up = &set_up;
                scope.spawn(move || (0..8).for_each(|turn| set_up(8 * thread + turn)));
            }
        });
        let left = fs::read_dir(root.path()).unwrap().flatten();
        let is_template = |name: String| name.starts_with(TEMPLATE);
        let kept = left.filter(|entry| is_template(entry.file_name().to_string_lossy().into()));
        assert_eq!(kept.count(), 1);
    }

    #[test]
    fn the_last_words_are_the_last_line_that_says_anything() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        assert_eq!(last_log_lines(&log), "nothing");
        fs::write(&log, "starting\nFATAL: no room\n\n  \n").unwrap();
        assert_eq!(last_log_lines(&log), "FATAL: no room");
        fs::write(&log, "x".repeat(200_000)).unwrap();
        assert_eq!(last_log_lines(&log).len(), WORDS_MAX);
    }
}
