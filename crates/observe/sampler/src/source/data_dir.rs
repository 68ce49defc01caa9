//! Size of the run's data directory on storage.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use model::{Readings, metric};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, openat, statat};
use rustix::io::Errno;
use rustix::path::Arg;

use crate::targets::{Foreign, IsLog, RunTargets, Sampler};

/// Unit of `st_blocks` on every file system. Source: stat(2).
const BLOCK_BYTES: u64 = 512;
/// Deepest directory that is counted; no engine comes near, and each level holds a descriptor.
const DEPTH_MAX: usize = 40;

/// Starts the sampler.
pub(crate) fn start(targets: &RunTargets<'_>) -> Option<Sampler> {
    let (dir, is_log) = (targets.data_dir.clone(), targets.is_log.clone());
    let is_here = targets.foreign == Foreign::Nowhere;
    is_here.then(|| -> Sampler { Box::new(move |_| sample(&dir, is_log.as_ref())) })
}

/// Measures the data directory; files may come and go meanwhile.
///
/// It may belong to a server's account: no link is followed. `is_log` gets paths below it.
fn sample(dir: &Path, is_log: Option<&IsLog>) -> Readings {
    let is_log_below = |path: &Path| is_log.is_some_and(|is_log| is_log(path));
    let mut sizes = Sizes::default();
    let mut readings = Readings::new();
    let walked = open(CWD, dir).map_err(io::Error::from);
    if walked.and_then(|dir| sizes.walk(dir, Path::new(""), &is_log_below)).is_err() {
        return readings;
    }
    readings.set(metric::DATA_DIR_BYTES, sizes.all);
    // An engine whose logs cannot be identified by name has an unknown log size, not none.
    readings.set(metric::LOG_BYTES, is_log.map(|_| sizes.logs));
    readings
}

/// Opens a directory in another, unless it is a link.
fn open(parent: impl AsFd, name: impl Arg) -> Result<OwnedFd, Errno> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(parent, name, flags, Mode::empty())
}

/// Sizes found so far, bytes on storage.
#[derive(Default)]
struct Sizes {
    all: u64,
    logs: u64,
    linked: BTreeSet<(u64, u64)>,
}

impl Sizes {
    /// Adds what lies in `dir`, which is `below` the data directory.
    fn walk(
        &mut self,
        dir: OwnedFd,
        below: &Path,
        is_log: &dyn Fn(&Path) -> bool,
    ) -> io::Result<()> {
        if below.components().count() > DEPTH_MAX {
            return Err(io::Error::other("directories are nested too deep"));
        }
        let mut entries = Dir::new(dir)?;
        while let Some(entry) = entries.read().transpose()? {
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            let parent = entries.fd()?;
            let meta = if_there(statat(parent, name, AtFlags::SYMLINK_NOFOLLOW))?;
            let Some(meta) = meta else { continue };
            let bytes = self.count(&meta);
            self.all += bytes;
            let path = below.join(OsStr::from_bytes(name.to_bytes()));
            if is_dir(&meta) {
                let Some(dir) = if_there(open(parent, name))? else { continue };
                self.walk(dir, &path, is_log)?;
            } else if is_log(&path) {
                self.logs += bytes;
            }
        }
        Ok(())
    }

    /// Returns what an entry takes, 0 when another name of the same file was counted already.
    fn count(&mut self, meta: &Stat) -> u64 {
        let is_shared = !is_dir(meta) && meta.st_nlink > 1;
        if is_shared && !self.linked.insert((meta.st_dev, meta.st_ino)) {
            return 0;
        }
        u64::try_from(meta.st_blocks).unwrap_or(0) * BLOCK_BYTES
    }
}

fn is_dir(meta: &Stat) -> bool {
    FileType::from_raw_mode(meta.st_mode).is_dir()
}

/// Returns `None` for what vanished: compaction deletes files while they are counted.
///
/// A directory that has become a link or a file has vanished, too.
fn if_there<T>(result: Result<T, Errno>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Errno::NOENT | Errno::LOOP | Errno::NOTDIR) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::sync::Arc;

    use super::*;

    /// Returns the sizes of all files and of logs.
    fn sizes(dir: &Path, suffixes: &'static [&str]) -> (f64, Option<f64>) {
        let ends =
            |path: &Path| suffixes.iter().any(|suffix| path.to_string_lossy().ends_with(suffix));
        let is_log = (!suffixes.is_empty()).then(|| Arc::new(ends) as IsLog);
        let readings = super::sample(dir, is_log.as_ref());
        (readings[metric::DATA_DIR_BYTES], readings.value(metric::LOG_BYTES))
    }

    #[test]
    fn space_on_storage_counts_and_not_length() {
        let dir = tempfile::tempdir().unwrap();
        let before = sizes(dir.path(), &[]).0;
        let sparse = fs::File::create(dir.path().join("sparse")).unwrap();
        sparse.set_len(1 << 30).unwrap();
        assert!(sizes(dir.path(), &[]).0 - before < 65_536.0);
        fs::create_dir(dir.path().join("below")).unwrap();
        let below = dir.path().join("below/000001.sst");
        fs::write(&below, vec![7; 1 << 20]).unwrap();
        fs::File::open(&below).unwrap().sync_all().unwrap();
        let full = sizes(dir.path(), &[]).0;
        assert!(full - before >= f64::from(1 << 20), "{full} {before}");
        fs::hard_link(&below, dir.path().join("checkpoint.sst")).unwrap();
        let linked = sizes(dir.path(), &[]).0;
        assert!(linked - full < 65_536.0, "a hard link takes no space: {full} {linked}");
    }

    #[test]
    fn logs_are_identified_by_the_end_of_their_name() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["000004.log", "main.db-wal", "LOG", "000005.sst"] {
            let path = dir.path().join(name);
            fs::write(&path, vec![7; 1 << 16]).unwrap();
            fs::File::open(&path).unwrap().sync_all().unwrap();
        }
        let (all, logs) = sizes(dir.path(), &[".log", "-wal"]);
        assert!(all >= logs.unwrap() * 2.0);
        assert!((131_072.0..=200_000.0).contains(&logs.unwrap()), "{logs:?}");
        assert_eq!(sizes(dir.path(), &[]).1, None);
    }

    #[test]
    fn files_that_vanish_are_not_counted_and_the_size_of_a_missing_directory_is_absent() {
        assert_eq!(if_there::<()>(Err(Errno::NOENT)).unwrap(), None);
        assert!(if_there::<()>(Err(Errno::ACCESS)).is_err());
        assert!(
            super::sample(&Path::new(env!("CARGO_MANIFEST_DIR")).join("no directory"), None)
                .is_empty()
        );
    }

    /// Goal: files that are not the engine's own are never counted.
    /// Method: directories turn into links to a large one, and back, while they are counted.
    #[test]
    fn links_lead_nowhere_however_fast_they_are_planted() {
        use std::sync::atomic::{AtomicBool, Ordering};
        const FOREIGN_BYTES: usize = 4 << 20;
        let foreign = tempfile::tempdir().unwrap();
        fs::create_dir(foreign.path().join("below")).unwrap();
        fs::write(foreign.path().join("below/000001.log"), vec![7; FOREIGN_BYTES]).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        symlink(foreign.path(), at("link")).unwrap();
        symlink(foreign.path().join("below/000001.log"), at("000002.log")).unwrap();
        let is_done = AtomicBool::new(false);
        let largest = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    fs::create_dir(at("turns")).unwrap();
                    fs::remove_dir(at("turns")).unwrap();
                    symlink(foreign.path(), at("turns")).unwrap();
                    fs::remove_file(at("turns")).unwrap();
                }
            });
            let largest = (0..3_000).map(|_| sizes(dir.path(), &[".log"]).0).fold(0.0, f64::max);
            is_done.store(true, Ordering::Relaxed);
            largest
        });
        assert!(largest < FOREIGN_BYTES as f64 / 2.0, "{largest}");
        assert!(super::sample(&at("link"), None).is_empty(), "nor is the directory itself a link");
    }

    /// Goal: counting while files come and go never fails.
    /// Method: one thread creates and deletes files and folders until the other has counted often.
    #[test]
    fn counting_survives_a_busy_engine() {
        use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
        let dir = tempfile::tempdir().unwrap();
        let (is_done, rounds) = (AtomicBool::new(false), AtomicU32::new(0));
        std::thread::scope(|scope| {
            let engine = scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    let below = dir.path().join("below");
                    fs::create_dir(&below).unwrap();
                    for n in 0..20 {
                        fs::write(below.join(n.to_string()), "x").unwrap();
                    }
                    fs::remove_dir_all(&below).unwrap();
                    rounds.fetch_add(1, Ordering::Relaxed);
                }
            });
            let mut counts = 0;
            while counts < 300 || (rounds.load(Ordering::Relaxed) < 3 && !engine.is_finished()) {
                let (all, logs) = sizes(dir.path(), &[".log"]);
                assert!(all >= 0.0 && logs == Some(0.0), "{all} {logs:?}");
                counts += 1;
            }
            is_done.store(true, Ordering::Relaxed);
        });
    }
}
