//! Server directories: creation, templates, end of the log.

use std::fs::{self, File, Permissions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use model::Password;
use trust::{Dir, Entries};

use crate::error::ServerError;
use crate::kind::{Site, Task};
use crate::launch::{tar, write_secret};
use crate::user::{MOVE_DATA, User, random};

/// Bytes read from the end of a log.
const TAIL_BYTES: u64 = 64 << 10;
/// Level of the line with which Postgres gives up; it shuts down in several more.
const PANIC: &str = "PANIC:";
/// Longest log line that is reported, in characters.
const LINE_CHARS_MAX: usize = 400;
/// Prefix of the names of templates.
const TEMPLATE: &str = "template-";
/// File of a template: its data, packed.
const DATA: &str = "data.tar";
/// File of a server's password, which only this process's user can read.
const PASSWORD: &str = "password";

/// Creates missing directories; data and temporary files are the user's.
///
/// # Errors
/// When another account could replace `dir`, or the file system reports an error.
pub(crate) fn make(site: &Site, dir: &Path, user: &User) -> Result<(), ServerError> {
    let fail = ServerError::file;
    let made = Dir::create(dir, Entries::Closed);
    let opened = made.and_then(|dir| dir.file().set_permissions(Permissions::from_mode(0o711)));
    opened
        .map_err(|error| ServerError::fatal(format!("{}: {error}; {MOVE_DATA}", dir.display())))?;
    for dir in [&site.data, &site.temporary] {
        fs::create_dir_all(dir).map_err(fail(dir))?;
        fs::set_permissions(dir, Permissions::from_mode(0o700)).map_err(fail(dir))?;
        user.give(dir).map_err(fail(dir))?;
    }
    Ok(())
}

/// Returns the password of the data in `dir`, drawn when they are new.
pub(crate) fn password(dir: &Path, is_new: bool) -> Result<Password, ServerError> {
    let path = dir.join(PASSWORD);
    if !is_new && path.exists() {
        return fs::read_to_string(&path).map(Password).map_err(ServerError::file(&path));
    }
    let Some(bytes) = random() else {
        let text = "the kernel's random generator gives no password: see getrandom(2)";
        return Err(ServerError::fatal(text.to_owned()));
    };
    let password = Password(bytes.iter().map(|byte| format!("{byte:02x}")).collect());
    write_secret(&path, &password, None).map_err(ServerError::file(&path))?;
    Ok(password)
}

/// Returns whether a directory holds nothing.
pub(crate) fn is_empty(dir: &Path) -> Result<bool, ServerError> {
    let mut entries = fs::read_dir(dir).map_err(ServerError::file(dir))?;
    Ok(entries.next().is_none())
}

/// A data directory right after set-up, stored for the next server of its kind.
#[derive(Debug)]
pub(crate) struct Template {
    dir: PathBuf,
    /// Everything the set-up depends on.
    key: String,
}

impl Template {
    /// Returns the template of these set-up tasks, below `root`.
    ///
    /// Its key is the program's hash and the tasks' text, without the site's own directories.
    pub(crate) fn of(root: &Path, fingerprint: &str, tasks: &[Task], site: &Site) -> Self {
        let mut key = format!("{fingerprint} {tasks:?}");
        let dirs = [&site.data, &site.temporary, &site.socket, &site.log];
        for (number, dir) in dirs.into_iter().enumerate() {
            key = key.replace(&*dir.to_string_lossy(), &format!("<{number}>"));
        }
        if let Some(dir) = site.data.parent() {
            key = key.replace(&*dir.to_string_lossy(), "<>");
        }
        key = key.replace(&site.port.to_string(), "<port>");
        // It only names a directory: the key is compared whole.
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        Self { dir: root.join(format!("{TEMPLATE}{:016x}", hasher.finish())), key }
    }

    /// Unpacks the template into the data directory; returns `false` without one.
    pub(crate) fn fill(&self, site: &Site, user: &User) -> Result<bool, ServerError> {
        if !self.is_stored() {
            return Ok(false);
        }
        let unpacked = File::open(self.dir.join(DATA))
            .and_then(|data| tar(user, &["-xpf", "-"], &site.data, data.into(), Stdio::null()));
        unpacked.map_err(ServerError::file(&site.data))?;
        Ok(true)
    }

    /// Stores a data directory right after set-up; skipped when the disk is full.
    ///
    /// Packed elsewhere, then moved into place whole: others may read or store it meanwhile, and
    /// the first one stored is used.
    pub(crate) fn store(&self, site: &Site, user: &User) {
        let stored = || -> io::Result<()> {
            let root = self.dir.parent().unwrap_or(Path::new("."));
            let mut new = tempfile::Builder::new();
            new.prefix(TEMPLATE).permissions(Permissions::from_mode(0o700));
            let made = new.tempdir_in(root)?;
            let data = File::create(made.path().join(DATA))?;
            tar(user, &["-cf", "-", "."], &site.data, Stdio::null(), data.into())?;
            fs::write(made.path().join("key"), &self.key)?;
            let moved = fs::rename(made.path(), &self.dir);
            if moved.is_ok() || self.is_stored() {
                return Ok(());
            }
            // Of another set-up with the same hash, or incomplete.
            fs::remove_dir_all(&self.dir)?;
            fs::rename(made.path(), &self.dir)
        };
        // Without it the next server is set up as this one was.
        stored().ok();
    }

    /// Returns whether the template exists with this key.
    fn is_stored(&self) -> bool {
        fs::read_to_string(self.dir.join("key")).is_ok_and(|known| known == self.key)
    }
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

/// Returns the last line of a log that has the reason of a death, else the last not blank.
pub(crate) fn last_log_lines(log: &Path) -> String {
    let tail = tail(log);
    let lines = || tail.lines().rev().map(str::trim);
    let line = lines().find(|line| line.contains(PANIC));
    let line = line.or_else(|| lines().find(|line| !line.is_empty()));
    line.unwrap_or("the log is empty").chars().take(LINE_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use model::Transport;

    use super::*;

    fn site(dir: &Path) -> Site {
        Site {
            data: dir.join("data"),
            socket: "/tmp/assay-x/s".into(),
            temporary: dir.join("tmp"),
            log: dir.join("server.log"),
            port: 20_001,
            transport: Transport::Unix,
            address: None,
            password: Password("hush".to_owned()),
        }
    }

    fn task(site: &Site, flag: &str) -> Task {
        let arguments = vec![format!("--datadir={}", site.data.display()), flag.to_owned()];
        Task { program: "/opt/initdb".into(), arguments, ..Task::default() }
    }

    /// Goal: a template serves sites elsewhere, and nothing that differs in any other way.
    #[test]
    fn template_key_covers_program_and_set_up() {
        let root = tempfile::tempdir().unwrap();
        let user = User::find(None, Path::new("/nonexistent"), false).unwrap();
        let (here, there) = (site(&root.path().join("a")), site(&root.path().join("b")));
        for site in [&here, &there] {
            make(site, site.data.parent().unwrap(), &user).unwrap();
        }
        fs::create_dir(here.data.join("base")).unwrap();
        fs::write(here.data.join("base/1"), "rows").unwrap();
        let of = |site: &Site, hash: &str, flag: &str| {
            Template::of(root.path(), hash, &[task(site, flag)], site)
        };
        of(&here, "h1", "-k").store(&here, &user);
        for (hash, flag) in [("h2", "-k"), ("h1", "-q")] {
            assert!(!of(&there, hash, flag).fill(&there, &user).unwrap());
        }
        assert!(is_empty(&there.data).unwrap());
        assert!(of(&there, "h1", "-k").fill(&there, &user).unwrap());
        assert_eq!(fs::read_to_string(there.data.join("base/1")).unwrap(), "rows");
    }

    /// Goal: no partial template is copied. Method: several threads set up, store and fill at once.
    #[test]
    fn concurrent_set_ups_copy_whole_templates() {
        const FILES: usize = 200;
        const SITES: usize = 64;
        let fills = AtomicUsize::new(0);
        let root = tempfile::tempdir().unwrap();
        let user = User::find(None, Path::new("/nonexistent"), false).unwrap();
        let set_up = |number: usize| {
            let dir = root.path().join(format!("site-{number}"));
            let site = site(&dir);
            make(&site, &dir, &user).unwrap();
            let template = Template::of(root.path(), "h", &[task(&site, "-k")], &site);
            if template.fill(&site, &user).unwrap() {
                fills.fetch_add(1, Ordering::Relaxed);
            } else {
                for file in 0..FILES {
                    fs::write(site.data.join(file.to_string()), "rows").unwrap();
                }
                template.store(&site, &user);
            }
            assert_eq!(fs::read_dir(&site.data).unwrap().count(), FILES);
        };
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let set_up = &set_up;
                scope.spawn(move || (0..SITES / 8).for_each(|turn| set_up(8 * thread + turn)));
            }
        });
        // Each thread sets up its first site at most.
        assert!(fills.into_inner() >= SITES - 8);
        let left = fs::read_dir(root.path()).unwrap().flatten();
        let is_template = |name: String| name.starts_with(TEMPLATE);
        let stored = left.filter(|entry| is_template(entry.file_name().to_string_lossy().into()));
        assert_eq!(stored.count(), 1);
    }

    #[test]
    fn last_log_line_skips_blank_lines() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        assert_eq!(last_log_lines(&log), "the log is empty");
        fs::write(&log, "starting\nFATAL: no room\n\n  \n").unwrap();
        assert_eq!(last_log_lines(&log), "FATAL: no room");
        fs::write(&log, "PANIC:  no space\nLOG:  shut down\n").unwrap();
        assert_eq!(last_log_lines(&log), "PANIC:  no space");
        fs::write(&log, "x".repeat(200_000)).unwrap();
        assert_eq!(last_log_lines(&log).len(), LINE_CHARS_MAX);
    }
}
