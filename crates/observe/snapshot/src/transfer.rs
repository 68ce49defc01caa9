//! Brings a snapshot's files into a run's directory: shared, linked or copied.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use model::Transfer;
use rustix::fs::{Advice, SeekFrom, copy_file_range, fadvise, ioctl_ficlone, seek};
use rustix::io::Errno;

use crate::checksum;
use crate::error::SnapshotError;
use crate::record::{FileEntry, SnapshotRecord};

/// Most bytes that one call copies, so that an error or a full disk shows soon.
const CALL_BYTES: usize = 256 << 20;
/// Returns whether the user requested a stop.
pub(crate) type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

/// Most threads that copy: more do not make a device faster. Our choice.
const THREADS_MAX: usize = 4;

/// Brings the files of `record` from `from` into `to`, which is empty; returns how.
///
/// Every file is checked against its hash where it will be used, and is on storage at the end.
///
/// # Errors
/// [`SnapshotError::Damaged`] for the first file that differs; what was restored stays.
pub(crate) fn restore(
    record: &SnapshotRecord,
    from: &Path,
    to: &Path,
    keeps_cached: bool,
    stop: Stop<'_>,
) -> Result<Transfer, SnapshotError> {
    for dir in &record.dirs {
        let path = to.join(&dir.path);
        fs::create_dir(&path).map_err(SnapshotError::at(&path))?;
        fs::set_permissions(&path, Permissions::from_mode(0o700))
            .map_err(SnapshotError::at(&path))?;
    }
    let transfer = way(record, from, to);
    for_each(&record.files, stop, |file| {
        bring(record, file, from, to, transfer)?;
        if !keeps_cached {
            drop_cached(&to.join(&file.path)).map_err(SnapshotError::at(&file.path))?;
        }
        Ok(())
    })?;
    // Only now can another account write there.
    for dir in record.dirs.iter().rev() {
        let path = to.join(&dir.path);
        own(&path, dir.owner).map_err(SnapshotError::at(&path))?;
        fs::set_permissions(&path, Permissions::from_mode(dir.mode))
            .and_then(|()| File::open(&path)?.sync_all())
            .map_err(SnapshotError::at(&path))?;
    }
    Ok(transfer)
}

/// Returns the first way that the file system offers, tried with the largest file.
fn way(record: &SnapshotRecord, from: &Path, to: &Path) -> Transfer {
    let Some(file) = record.files.first() else { return Transfer::Copy };
    let probe = to.join(".assay-probe");
    let tried = |make: &dyn Fn(&Path) -> io::Result<()>| {
        let is_made = make(&probe).is_ok();
        // A leftover would make the probe that follows fail, and the copies are then tried.
        drop(fs::remove_file(&probe));
        is_made
    };
    let source = from.join(&file.path);
    let reflink = |probe: &Path| {
        let copy = File::create_new(probe)?;
        Ok(ioctl_ficlone(&copy, checksum::open(&source)?)?)
    };
    if tried(&reflink) {
        return Transfer::Reflink;
    }
    let is_linked = record.files.iter().any(|file| record.is_immutable(file));
    if is_linked && tried(&|probe| fs::hard_link(&source, probe)) {
        return Transfer::HardLinks;
    }
    Transfer::Copy
}

/// Brings one file, and checks it.
fn bring(
    record: &SnapshotRecord,
    file: &FileEntry,
    from: &Path,
    to: &Path,
    transfer: Transfer,
) -> Result<(), SnapshotError> {
    let (source, target) = (from.join(&file.path), to.join(&file.path));
    let brought = || -> io::Result<String> {
        if transfer == Transfer::HardLinks && record.is_immutable(file) {
            fs::hard_link(&source, &target)?;
        } else {
            let source = checksum::open(&source)?;
            let target =
                OpenOptions::new().write(true).create_new(true).mode(0o600).open(&target)?;
            match transfer {
                Transfer::Reflink => ioctl_ficlone(&target, &source)?,
                Transfer::HardLinks | Transfer::Copy => copy(&source, &target)?,
            }
            target.set_permissions(Permissions::from_mode(file.mode))?;
            target.sync_all()?;
        }
        own(&target, file.owner)?;
        checksum::of(&checksum::open(&target)?)
    };
    let found = brought().map_err(SnapshotError::at(&target))?;
    let is_saved = found == file.xxh3;
    is_saved.then_some(()).ok_or_else(|| SnapshotError::changed(&record.id, &file.path))
}

/// Copies a file's content within the kernel; its holes stay holes.
fn copy(source: &File, target: &File) -> io::Result<()> {
    let bytes = source.metadata()?.len();
    target.set_len(bytes)?;
    let mut at = 0;
    while at < bytes {
        at = match seek(source, SeekFrom::Data(at)) {
            Ok(data) => data,
            Err(Errno::NXIO) => break,
            Err(error) => return Err(error.into()),
        };
        let end = seek(source, SeekFrom::Hole(at))?;
        while at < end {
            let wanted = usize::try_from(end - at).unwrap_or(CALL_BYTES).min(CALL_BYTES);
            let (mut read_at, mut write_at) = (at, at);
            match copy_file_range(source, Some(&mut read_at), target, Some(&mut write_at), wanted) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(copied) => at += copied as u64,
                // Of another file system, or of an old kernel.
                Err(Errno::XDEV | Errno::NOSYS | Errno::OPNOTSUPP | Errno::INVAL) => {
                    at += copy_block(source, target, at, wanted)?;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(())
}

/// Copies a block through memory; returns its length.
fn copy_block(source: &File, target: &File, at: u64, wanted: usize) -> io::Result<u64> {
    use std::os::unix::fs::FileExt as _;
    let mut block = vec![0; wanted.min(1 << 20)];
    let read = source.read_at(&mut block, at)?;
    target.write_all_at(&block[..read], at)?;
    match read {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        read => Ok(read as u64),
    }
}

/// Gives a path to its owner, where this process may.
fn own(path: &Path, (user, group): (u32, u32)) -> io::Result<()> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    std::os::unix::fs::lchown(path, Some(user), Some(group))
}

/// Removes a file's pages from the page cache; they are on storage.
fn drop_cached(path: &Path) -> io::Result<()> {
    Ok(fadvise(checksum::open(path)?, 0, None, Advice::DontNeed)?)
}

/// Does something for each file, with a few threads, until one fails; returns the first error.
pub(crate) fn for_each<T: Sync>(
    items: &[T],
    stop: Stop<'_>,
    work: impl Fn(&T) -> Result<(), SnapshotError> + Sync,
) -> Result<(), SnapshotError> {
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(None));
    let threads = thread::available_parallelism().map_or(1, |cpus| cpus.get().min(THREADS_MAX));
    let one = || {
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            let done = if stop() { Err(SnapshotError::Stopped) } else { work(item) };
            let Err(error) = done else { continue };
            next.store(items.len(), Ordering::Relaxed);
            failed.lock().expect("no thread panics").get_or_insert(error);
        }
    };
    thread::scope(|scope| {
        // Where no other thread can be made, this one does everything.
        let start = |_| thread::Builder::new().spawn_scoped(scope, one).ok();
        let others: Vec<_> = (1..threads).map_while(start).collect();
        one();
        drop(others);
    });
    failed.into_inner().expect("no thread panics").map_or(Ok(()), Err)
}
