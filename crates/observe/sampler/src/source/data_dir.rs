//! Size of the run's data directory on storage.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use model::{Readings, metric};

use crate::targets::IsLog;

/// Unit of `st_blocks` on every file system. Source: stat(2).
const BLOCK_BYTES: u64 = 512;

/// Measures the data directory; files may come and go meanwhile.
///
/// `is_log` gets paths below it.
pub(crate) fn sample(dir: &Path, is_log: Option<&IsLog>) -> Readings {
    let is_log_below =
        |path: &Path| is_log.is_some_and(|is_log| is_log(path.strip_prefix(dir).unwrap_or(path)));
    let mut sizes = Sizes::default();
    let mut readings = Readings::new();
    if sizes.walk(dir, &is_log_below).is_err() {
        return readings;
    }
    readings.set(metric::DATA_DIR_BYTES, sizes.all);
    // An engine whose logs cannot be identified by name has an unknown log size, not none.
    readings.set(metric::LOG_BYTES, is_log.map(|_| sizes.logs));
    readings
}

/// Sizes found so far, bytes on storage.
#[derive(Default)]
struct Sizes {
    all: u64,
    logs: u64,
    linked: BTreeSet<(u64, u64)>,
}

impl Sizes {
    /// Adds what lies in `dir`.
    fn walk(&mut self, dir: &Path, is_log: &dyn Fn(&Path) -> bool) -> io::Result<()> {
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            let Some(meta) = if_there(entry.metadata())? else { continue };
            let bytes = self.count(&meta);
            self.all += bytes;
            if meta.is_dir() {
                if_there(self.walk(&entry.path(), is_log))?;
            } else if is_log(&entry.path()) {
                self.logs += bytes;
            }
        }
        Ok(())
    }

    /// Returns what an entry takes, 0 when another name of the same file was counted already.
    fn count(&mut self, meta: &Metadata) -> u64 {
        let is_shared = !meta.is_dir() && meta.nlink() > 1;
        if is_shared && !self.linked.insert((meta.dev(), meta.ino())) {
            return 0;
        }
        meta.blocks() * BLOCK_BYTES
    }
}

/// Returns `None` for what vanished: compaction deletes files while they are counted.
fn if_there<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
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
        assert_eq!(if_there::<()>(Err(ErrorKind::NotFound.into())).unwrap(), None);
        assert!(if_there::<()>(Err(ErrorKind::PermissionDenied.into())).is_err());
        assert!(super::sample(Path::new("/nonexistent"), None).is_empty());
    }

    /// Goal: counting while files come and go never fails.
    /// Method: one thread creates and deletes files and folders until the other has counted often.
    #[test]
    fn counting_survives_a_busy_engine() {
        use std::sync::atomic::{AtomicBool, Ordering};
        let dir = tempfile::tempdir().unwrap();
        let is_done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    let below = dir.path().join("below");
                    fs::create_dir(&below).unwrap();
                    for n in 0..20 {
                        fs::write(below.join(n.to_string()), "x").unwrap();
                    }
                    fs::remove_dir_all(&below).unwrap();
                }
            });
            for _ in 0..300 {
                sizes(dir.path(), &[".log"]);
            }
            is_done.store(true, Ordering::Relaxed);
        });
    }
}
