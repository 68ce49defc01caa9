//! The test file, in a directory of our own.

use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use fiemap::{Fiemap, FiemapExtentFlags, FiemapFlags};
use model::{Access, Bytes};
use rustix::fs::OFlags;
use rustix::io::{FdFlags, fcntl_setfd};
use tempfile::TempDir;
use trust::Entries;

use crate::error::DeviceError;
use crate::fio::Fio;
use crate::job::{Job, Place, Work, WriteTarget};

/// Start of the name of the directory.
const PREFIX: &str = "assay-device-";

/// Name of the file in it.
const NAME: &str = "data";

/// Length of one run that fills, after which a request to stop is noticed.
///
/// Our choice: 5 s at 200 MB/s.
const FILL_BYTES: u64 = 1 << 30;

/// A file for tests; its directory is removed when it is dropped.
#[derive(Debug)]
pub struct TestFile {
    // Closed before its directory is removed.
    file: File,
    dir: TempDir,
    place: Place,
}

impl TestFile {
    /// Creates a sparse file in a new directory below `parent`.
    ///
    /// # Errors
    /// When less than `floor` would stay free, or the file system reports an error.
    pub fn create(parent: &Path, size: Bytes, floor: Bytes) -> Result<Self, DeviceError> {
        let space = rustix::fs::statvfs(parent).map_err(|e| DeviceError::file(parent)(e.into()))?;
        let free = Bytes(space.f_bavail.saturating_mul(space.f_frsize));
        if free.0 < size.0.saturating_add(floor.0) {
            return Err(DeviceError::NoRoom(parent.to_owned(), size, free, floor));
        }
        check_parent(parent)?;
        let dir = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent);
        let dir = dir.map_err(DeviceError::file(parent))?;
        let path = dir.path().join(NAME);
        let made = File::create_new(&path).and_then(|file| {
            file.set_len(size.0)?;
            // Held until this process and its fio have ended.
            file.lock()?;
            // fio inherits it: the file is this one, whatever is put in its place.
            fcntl_setfd(&file, FdFlags::empty())?;
            Ok(file)
        });
        let file = made.map_err(DeviceError::file(&path))?;
        let descriptor = Some(file.as_raw_fd());
        Ok(Self { file, dir, place: Place { file: NAME.to_owned(), descriptor, size } })
    }

    /// Returns the size of a file that makes the file system so full, a share; 0 when it is fuller.
    ///
    /// # Errors
    /// When the file system reports an error.
    pub fn size_at(parent: &Path, full: f64) -> Result<Bytes, DeviceError> {
        let space = rustix::fs::statvfs(parent).map_err(|e| DeviceError::file(parent)(e.into()))?;
        let used = space.f_blocks.saturating_sub(space.f_bfree);
        // As `df` has it: without the blocks that are set aside for root.
        let wanted = model::whole(full * used.saturating_add(space.f_bavail) as f64);
        Ok(Bytes(wanted.saturating_sub(used).saturating_mul(space.f_frsize)))
    }

    /// Returns the directories that killed processes left behind: no process holds their file.
    pub fn leftovers(parent: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
        let is_ours = |path: &PathBuf| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX))
        };
        // Without a file a directory is just being made.
        let is_left = |dir: &PathBuf| {
            // Neither a link nor a pipe that another account put there is followed or waited for.
            let flags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).bits().cast_signed();
            let file = File::options().read(true).custom_flags(flags).open(dir.join(NAME));
            file.is_ok_and(|file| file.try_lock().is_ok())
        };
        entries.map(|entry| entry.path()).filter(is_ours).filter(is_left).collect()
    }

    /// Returns the directory, in which fio runs.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Returns the file as jobs name it.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Writes the whole file with data that cannot be compressed, and syncs it.
    ///
    /// `goes_on` is called with the bytes written before each part; false ends it.
    ///
    /// # Errors
    /// Those of fio.
    pub fn fill(
        &self,
        fio: &Fio,
        goes_on: &mut dyn FnMut(Bytes) -> bool,
    ) -> Result<(), DeviceError> {
        let (place, access, dir) = (&self.place, Access::Buffered, self.dir());
        fill(fio, WriteTarget { place, access, dir }, goes_on)
    }

    /// Returns the share of the file that was never written: holes and unwritten extents.
    ///
    /// # Errors
    /// When the file system does not report extents.
    pub fn never_written(&self) -> Result<f64, DeviceError> {
        let path = self.dir().join(NAME);
        let file = self.file.try_clone().map_err(DeviceError::file(&path))?;
        let mut written = 0;
        for extent in Fiemap::with_flags(file, FiemapFlags::SYNC) {
            let extent = extent.map_err(DeviceError::file(&path))?;
            if !extent.fe_flags.contains(FiemapExtentFlags::UNWRITTEN) {
                // The last one may reach beyond the end of the file.
                let end = extent.fe_logical.saturating_add(extent.fe_length);
                written += end.min(self.place.size.0).saturating_sub(extent.fe_logical);
            }
        }
        Ok(1.0 - written as f64 / self.place.size.0.max(1) as f64)
    }
}

/// Checks that no other account can replace the directory of test files.
///
/// # Errors
/// For root, the first part of its path that one can replace.
pub fn check_parent(parent: &Path) -> Result<(), DeviceError> {
    trust::check(parent, Entries::Shared).map_err(|error| {
        DeviceError::Refused(parent.to_owned(), format!("{error}; give another one to --path"))
    })
}

/// Writes a place from its start to its end, in parts.
pub(crate) fn fill(
    fio: &Fio,
    target: WriteTarget<'_>,
    goes_on: &mut dyn FnMut(Bytes) -> bool,
) -> Result<(), DeviceError> {
    let WriteTarget { place, access, dir } = target;
    let mut offset = 0;
    while offset < place.size.0 && goes_on(Bytes(offset)) {
        let length = FILL_BYTES.min(place.size.0 - offset);
        let work = Work::Fill(Bytes(offset), Bytes(length));
        fio.run(&Job { place, access, work, jobs: 1, seed: offset + 1 }, dir, None)?;
        offset += length;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{Seek as _, SeekFrom, Write as _};

    use super::*;

    #[test]
    fn a_sparse_file_was_never_written_and_a_half_written_one_to_a_half() {
        let parent = tempfile::tempdir().unwrap();
        let size = Bytes(4 << 20);
        let file = TestFile::create(parent.path(), size, Bytes(0)).unwrap();
        let share = match file.never_written() {
            Ok(share) => share,
            Err(error) => {
                println!("skipped: {error}");
                return;
            }
        };
        assert!((share - 1.0).abs() < 1e-9, "{share}");
        let mut data = File::options().write(true).open(file.dir().join(NAME)).unwrap();
        data.seek(SeekFrom::Start(2 << 20)).unwrap();
        data.write_all(&vec![7; 2 << 20]).unwrap();
        assert!((file.never_written().unwrap() - 0.5).abs() < 1e-9);
        rustix::fs::fallocate(&data, rustix::fs::FallocateFlags::empty(), 0, 1 << 20).unwrap();
        let share = file.never_written().unwrap();
        assert!((share - 0.5).abs() < 1e-9, "allocated and not written: {share}");
    }

    #[test]
    fn the_directory_is_removed_and_the_floor_respected() {
        let parent = tempfile::tempdir().unwrap();
        let file = TestFile::create(parent.path(), Bytes(1 << 20), Bytes(0)).unwrap();
        assert!(TestFile::leftovers(parent.path()).is_empty(), "a process holds it");
        let killed = file.dir().with_extension("killed");
        std::fs::create_dir(&killed).unwrap();
        std::fs::write(killed.join(NAME), "").unwrap();
        assert_eq!(TestFile::leftovers(parent.path()), std::slice::from_ref(&killed));
        std::fs::remove_dir_all(killed).unwrap();
        drop(file);
        let refusal = TestFile::create(parent.path(), Bytes(1 << 20), Bytes(u64::MAX / 2));
        let refusal = refusal.unwrap_err().to_string();
        assert!(
            refusal.contains("would leave less than") && refusal.contains("--size"),
            "{refusal}"
        );
        assert!(std::fs::read_dir(parent.path()).unwrap().next().is_none());
    }
}
