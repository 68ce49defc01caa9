//! Data directories of runs.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crashfs::Mounted;
use model::Bytes;
use rustix::fs::{FlockOperation, OFlags, flock};

use super::lock::lock_shared;
use crate::error::RunnerError;

/// File that marks a data directory and lists what was made there.
///
/// A directory it does not list, with the inode it had, is never removed: the name alone proves
/// nothing.
const MARKER: &str = ".assay-data";

/// First line of [`MARKER`]; each other is an inode and a name.
const HEAD: &str = "Made by assay; runs put their data here.\n";

/// Prefix of runs' directories.
const RUN: &str = "run-";

/// Directory of templates, shared by an experiment's runs.
const TEMPLATES: &str = "run-templates";

/// A marked directory, with one temporary directory per run below it.
#[derive(Debug)]
pub struct DataRoot {
    path: PathBuf,
    /// The marker, locked as long as runs may be made; the kernel releases it at our exit.
    marker: File,
}

/// Checks that a path is text.
fn check_utf8(path: &Path) -> io::Result<()> {
    let fail = || io::Error::other(format!("the path {} is not UTF-8", path.display()));
    path.to_str().map(drop).ok_or_else(fail)
}

impl DataRoot {
    /// Takes a directory that is new, empty, or was taken before.
    ///
    /// Directories of killed runs are removed, unless another process is using the root; servers
    /// that outlived their runs are ended first. Another process that removes such directories is
    /// waited for, and reported to `on_wait`. Root refuses
    /// one that another account can replace.
    ///
    /// # Errors
    /// [`RunnerError::NotOurs`] when it holds anything else.
    pub fn take(path: &Path, on_wait: &mut dyn FnMut(&str)) -> Result<Self, RunnerError> {
        server::clean_up();
        let fail = |source: io::Error| RunnerError::DataDir(path.into(), source);
        // Before anything is made.
        Self::check(path)?;
        // Servers that root starts can enter what it makes; each run's own directory stays closed.
        let path = trust::Dir::create_open(path).map_err(fail)?.path().to_owned();
        check_utf8(&path).map_err(fail)?;
        let marker = match open_marker(&path, &mut File::options()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let made = open_marker(&path, File::options().create(true).mode(0o600));
                made.and_then(|mut file| file.write_all(HEAD.as_bytes()).map(|()| file))
            }
            opened => opened,
        };
        let root = Self { path, marker: marker.map_err(fail)? };
        if flock(&root.marker, FlockOperation::NonBlockingLockExclusive).is_ok() {
            root.sweep().map_err(fail)?;
        }
        lock_shared(&root.marker, on_wait).map_err(fail)?;
        Ok(root)
    }

    /// Checks that a directory can be taken, and makes nothing.
    ///
    /// # Errors
    /// As [`DataRoot::take`].
    pub fn check(path: &Path) -> Result<(), RunnerError> {
        let fail = |source: io::Error| RunnerError::DataDir(path.into(), source);
        // Workers and servers get the path as text.
        std::path::absolute(path).and_then(|path| check_utf8(&path)).map_err(fail)?;
        trust::check(path, trust::Entries::Closed).map_err(fail)?;
        let existing = sampler::nearest_existing(path);
        // It has no name, so a kill leaves nothing.
        tempfile::tempfile_in(&existing).map_err(fail)?;
        if !path.exists() {
            return Ok(());
        }
        match open_marker(path, &mut File::options()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let is_empty = fs::read_dir(path).map_err(fail)?.next().is_none();
                if is_empty { Ok(()) } else { Err(RunnerError::NotOurs(path.to_owned())) }
            }
            opened => opened.map(drop).map_err(fail),
        }
    }

    /// Returns the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the free space of its file system.
    ///
    /// # Errors
    /// When the file system reports an error.
    pub fn free(&self) -> Result<Bytes, RunnerError> {
        free_space(&self.path)
    }

    /// Makes a run's own empty directory; that of a killed run of the name is removed.
    ///
    /// # Errors
    /// [`RunnerError::NotOurs`] when a directory of that name holds anything and is not listed.
    pub fn fresh(&self, name: &str) -> Result<RunData, RunnerError> {
        let name = format!("{RUN}{name}");
        let path = self.path.join(&name);
        if self.has_made(&path)? {
            trust::remove_dir(&path)
                .map_err(|source| RunnerError::DataDir(path.clone(), source))?;
        }
        self.make(&name, &path)?;
        Ok(RunData { path, disk: None })
    }

    /// Returns the directory of servers' templates, removed after the last experiment.
    pub(crate) fn templates(&self) -> Result<PathBuf, RunnerError> {
        let path = self.path.join(TEMPLATES);
        if !self.has_made(&path)? {
            match self.make(TEMPLATES, &path) {
                // An experiment that began at the same moment made it.
                Err(RunnerError::NotOurs(_)) if self.has_made(&path)? => {}
                made => made?,
            }
        }
        Ok(path)
    }

    /// Removes the directories of runs that were killed with their parent, and their lines.
    fn sweep(&self) -> io::Result<()> {
        self.made()?.iter().try_for_each(|dir| trust::remove_dir(dir))?;
        for entry in fs::read_dir(&self.path)?.flatten() {
            // One that was made but not listed, by a killed process, is empty; no other is removed.
            if entry.file_name().as_encoded_bytes().starts_with(RUN.as_bytes()) {
                fs::remove_dir(entry.path()).ok();
            }
        }
        self.marker.set_len(0)?;
        (&self.marker).write_all(HEAD.as_bytes())
    }

    /// Returns the directories that the marker lists, as far as they are still the ones made.
    fn made(&self) -> io::Result<Vec<PathBuf>> {
        let mut text = String::new();
        (&self.marker).rewind()?;
        (&self.marker).read_to_string(&mut text)?;
        let listed = |line: &str| {
            let (inode, name) = line.split_once(' ')?;
            let inode: u64 = inode.parse().ok()?;
            let is_run = name.starts_with(RUN) && !name.contains('/');
            let path = is_run.then(|| self.path.join(name))?;
            let found = fs::symlink_metadata(&path).ok()?;
            (found.is_dir() && found.ino() == inode).then_some(path)
        };
        Ok(text.lines().filter_map(listed).collect())
    }

    fn has_made(&self, path: &Path) -> Result<bool, RunnerError> {
        let made = self.made();
        let made = made.map_err(|source| RunnerError::DataDir(self.path.clone(), source))?;
        Ok(made.iter().any(|dir| dir == path))
    }

    /// Makes an empty directory and lists it as ours; one that is empty is replaced.
    fn make(&self, name: &str, path: &Path) -> Result<(), RunnerError> {
        let fail = |source: io::Error| RunnerError::DataDir(path.to_path_buf(), source);
        let mut new = tempfile::Builder::new();
        // The umask takes from it what it takes from any new directory.
        new.prefix(RUN).permissions(Permissions::from_mode(0o777));
        let made = new.tempdir_in(&self.path).map_err(fail)?;
        let inode = fs::metadata(made.path()).map_err(fail)?.ino();
        // Listed before it has its name: a process that finds it finds its line. On a line of its
        // own, even after one that a full disk broke off.
        (&self.marker).write_all(format!("\n{inode} {name}\n").as_bytes()).map_err(fail)?;
        match fs::rename(made.path(), path) {
            Err(_taken) if fs::symlink_metadata(path).is_ok() => {
                Err(RunnerError::NotOurs(path.to_path_buf()))
            }
            moved => {
                moved.map_err(fail)?;
                drop(made.keep());
                Ok(())
            }
        }
    }
}

impl Drop for DataRoot {
    /// Removes shared files of runs, unless another process is using the directory.
    fn drop(&mut self) {
        if flock(&self.marker, FlockOperation::NonBlockingLockExclusive).is_ok() {
            // The next experiment removes what remains.
            drop(self.sweep());
        }
        // A child that another thread is starting has a copy of the descriptor for a moment.
        flock(&self.marker, FlockOperation::Unlock).ok();
    }
}

/// Opens the marker for reading and for lines at its end, in place of any link to it.
///
/// # Errors
/// When there is none, or it is no file that this account alone can have written.
fn open_marker(root: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits());
    let flags = flags.map_err(io::Error::other)?;
    let path = root.join(MARKER);
    let opened = options.read(true).append(true).custom_flags(flags).open(&path);
    let file = opened.map_err(|error| match path.is_symlink() {
        true => io::Error::other(format!("its {MARKER} is a link")),
        false => error,
    })?;
    let facts = file.metadata()?;
    let is_own = facts.uid() == rustix::process::geteuid().as_raw() && facts.nlink() == 1;
    if !(facts.is_file() && is_own) {
        return Err(io::Error::other(format!("its {MARKER} is not this account's own file")));
    }
    if facts.mode() & 0o022 != 0 {
        let path = path.display();
        return Err(io::Error::other(format!(
            "other accounts can write its {MARKER}: if no other account did, `chmod go-w {path}`"
        )));
    }
    if facts.mode() & 0o077 != 0 {
        // Of an older Assay. Another account that can open it can hold its lock for ever.
        file.set_permissions(Permissions::from_mode(0o600))?;
    }
    Ok(file)
}

/// Returns the free space of the file system that `path` lies on.
///
/// # Errors
/// When the file system reports an error.
pub fn free_space(path: &Path) -> Result<Bytes, RunnerError> {
    sampler::free_space(path).map_err(|source| RunnerError::DataDir(path.into(), source))
}

/// Checks that the file system of `path` has at least `floor` free.
///
/// # Errors
/// [`RunnerError::DiskFloor`], or when the file system reports an error.
pub fn check_room(path: &Path, floor: Bytes) -> Result<(), RunnerError> {
    match free_space(path)? {
        free if free < floor => Err(RunnerError::DiskFloor(path.to_owned(), free, floor)),
        _ => Ok(()),
    }
}

/// One run's data directory; removed when dropped.
#[derive(Debug)]
pub struct RunData {
    /// The directory.
    pub path: PathBuf,
    /// The simulated disk with the data, where the experiment has events on the disk.
    pub(super) disk: Option<Mounted>,
}

impl Drop for RunData {
    fn drop(&mut self) {
        self.disk = None;
        // A directory that cannot be removed now is removed by the next run of that name.
        drop(trust::remove_dir(&self.path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(path: &Path) -> Result<DataRoot, RunnerError> {
        DataRoot::take(path, &mut |_| ())
    }

    #[test]
    fn a_directory_with_something_in_it_is_refused_and_untouched() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("thesis.tex"), "years of work").unwrap();
        let error = taken(dir.path()).unwrap_err();
        assert!(matches!(error, RunnerError::NotOurs(_)), "{error}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    /// Goal: a marker that another account planted is neither obeyed nor followed.
    #[test]
    fn planted_markers_are_refused_and_their_targets_untouched() {
        let dir = tempfile::tempdir().unwrap();
        let (data, victim) = (dir.path().join("data"), dir.path().join("victim"));
        fs::write(&victim, "precious").unwrap();
        fs::create_dir(&data).unwrap();
        let marker = data.join(MARKER);
        let plant: [&dyn Fn(); 5] = [
            &|| std::os::unix::fs::symlink(&victim, &marker).unwrap(),
            &|| fs::hard_link(&victim, &marker).unwrap(),
            &|| std::os::unix::fs::symlink(dir.path().join("absent"), &marker).unwrap(),
            &|| drop(std::os::unix::net::UnixListener::bind(&marker).unwrap()),
            &|| {
                fs::write(&marker, HEAD).unwrap();
                fs::set_permissions(&marker, Permissions::from_mode(0o666)).unwrap();
            },
        ];
        for plant in plant {
            plant();
            let error = taken(&data).unwrap_err();
            assert!(matches!(error, RunnerError::DataDir(..)), "{error}");
            assert_eq!(fs::read(&victim).unwrap(), b"precious");
            fs::remove_file(&marker).unwrap();
        }
        assert!(!dir.path().join("absent").exists());
        drop(taken(&data).unwrap());
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::lchown(dir.path(), Some(65_533), None).unwrap();
            let error = taken(&data).unwrap_err().to_string();
            assert!(error.contains("belongs to 65533") && error.contains("--data-dir"), "{error}");
        }
    }

    #[test]
    fn want_of_room_names_path_free_and_needed() {
        let dir = tempfile::tempdir().unwrap();
        check_room(dir.path(), Bytes(0)).unwrap();
        let text = check_room(dir.path(), Bytes(u64::MAX)).unwrap_err().to_string();
        let path = dir.path().display().to_string();
        assert!(text.contains(&path) && text.contains(&Bytes(u64::MAX).to_string()), "{text}");
    }

    #[test]
    fn only_directories_of_killed_runs_are_swept() {
        let dir = tempfile::tempdir().unwrap();
        let root = taken(dir.path()).unwrap();
        std::mem::forget(root.fresh("killed").unwrap());
        fs::write(dir.path().join("run-killed/000004.log"), "rows").unwrap();
        fs::create_dir(dir.path().join("mine")).unwrap();
        let second = taken(dir.path()).unwrap();
        assert!(dir.path().join("run-killed").exists(), "its root is still in use");
        drop((root, second));
        taken(dir.path()).unwrap();
        assert!(!dir.path().join("run-killed").exists() && dir.path().join("mine").exists());
    }

    #[test]
    fn a_directory_that_cannot_be_made_is_not_reported_as_another_s() {
        let dir = tempfile::tempdir().unwrap();
        let root = taken(&dir.path().join("data")).unwrap();
        let error = root.fresh(&"x".repeat(300)).unwrap_err();
        assert!(matches!(error, RunnerError::DataDir(..)), "{error}");
    }

    /// Goal: a kill while a run's directory is made leaves nothing for ever.
    /// Method: one that is not listed yet, and one that is listed after a line that broke off.
    #[test]
    fn directories_of_a_process_killed_while_it_made_them_are_swept() {
        let dir = tempfile::tempdir().unwrap();
        let root = taken(dir.path()).unwrap();
        (&root.marker).write_all(b"4711 run-bro").unwrap();
        std::mem::forget(root.fresh("listed").unwrap());
        fs::write(dir.path().join("run-listed/rows"), "rows").unwrap();
        fs::create_dir(dir.path().join("run-made")).unwrap();
        drop(root);
        let left: Vec<_> = fs::read_dir(dir.path()).unwrap().flatten().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }

    #[test]
    fn a_directory_that_only_has_the_name_of_a_run_is_never_removed() {
        let dir = tempfile::tempdir().unwrap();
        let mine = dir.path().join("run-mine");
        let root = taken(dir.path()).unwrap();
        for other in [&mine, &dir.path().join("run-swapped")] {
            fs::create_dir(other).unwrap();
            fs::write(other.join("thesis.tex"), "years of work").unwrap();
        }
        // Listed once, and replaced since by one of the user's.
        std::mem::forget(root.fresh("made").unwrap());
        fs::rename(dir.path().join("run-made"), dir.path().join("moved")).unwrap();
        fs::rename(dir.path().join("run-swapped"), dir.path().join("run-made")).unwrap();
        for name in ["mine", "made"] {
            let error = root.fresh(name).unwrap_err();
            assert!(matches!(error, RunnerError::NotOurs(_)), "{error}");
        }
        drop(root);
        drop(taken(dir.path()).unwrap());
        assert!(mine.join("thesis.tex").exists());
        assert!(dir.path().join("run-made/thesis.tex").exists());
    }

    /// Goal: no other account can hold the lock of the data, also of an older marker.
    #[test]
    fn the_marker_is_closed_to_other_accounts() {
        let dir = tempfile::tempdir().unwrap();
        let marker = dir.path().join(MARKER);
        let mode = || fs::metadata(&marker).unwrap().mode() & 0o777;
        drop(taken(dir.path()).unwrap());
        assert_eq!(mode(), 0o600);
        fs::set_permissions(&marker, Permissions::from_mode(0o644)).unwrap();
        drop(taken(dir.path()).unwrap());
        assert_eq!(mode(), 0o600);
    }

    /// Goal: an account that can lock the directory itself stops no experiment.
    #[test]
    fn templates_are_made_by_one_of_several_without_a_lock_on_the_directory() {
        let dir = tempfile::tempdir().unwrap();
        let (first, second) = (taken(dir.path()).unwrap(), taken(dir.path()).unwrap());
        let held = File::open(dir.path()).unwrap();
        flock(&held, FlockOperation::LockExclusive).unwrap();
        let templates = first.templates().unwrap();
        fs::write(templates.join("rows"), "rows").unwrap();
        // Begun before the first one had made it.
        let late = second.make(TEMPLATES, &templates).unwrap_err();
        assert!(matches!(late, RunnerError::NotOurs(_)), "{late}");
        assert_eq!(second.templates().unwrap(), templates);
        assert!(templates.join("rows").exists());
        drop((first, second));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn templates_outlive_a_run_and_not_the_experiments() {
        let dir = tempfile::tempdir().unwrap();
        let root = taken(dir.path()).unwrap();
        let templates = root.templates().unwrap();
        fs::write(templates.join("rows"), "rows").unwrap();
        assert_eq!(root.templates().unwrap(), templates);
        assert!(templates.join("rows").exists());
        drop(root);
        assert!(!templates.exists());
    }

    #[test]
    fn a_run_gets_an_empty_directory_and_loses_it() {
        let dir = tempfile::tempdir().unwrap();
        let root = taken(dir.path()).unwrap();
        let run = root.fresh("a.c1.r1").unwrap();
        fs::write(run.path.join("rows"), "rows").unwrap();
        let path = run.path.clone();
        std::mem::forget(run);
        let again = root.fresh("a.c1.r1").unwrap();
        assert_eq!(fs::read_dir(&again.path).unwrap().count(), 0);
        drop(again);
        assert!(!path.exists());
    }
}
