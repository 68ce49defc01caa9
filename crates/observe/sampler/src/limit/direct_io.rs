//! Whether the file system of the data lets files bypass the page cache.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::path::Path;

use model::SystemNeeds;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::{Limit, Shortage};
use crate::block_device::nearest_existing;

pub(crate) static LIMIT: Limit = Limit { name: "direct_io", check };

/// Size and alignment of the block that is written: enough for every drive. Source: open(2).
const BLOCK: usize = 4096;
/// How the file is opened.
const DIRECT: OFlags = OFlags::RDWR.union(OFlags::CLOEXEC).union(OFlags::DIRECT);
/// Rights of the file.
const OWN: Mode = Mode::from_raw_mode(0o600);

/// Returns the error of a direct write to a new file below a directory, or its nearest parent.
///
/// The file has no name, or only while it is opened, and is gone when it is closed. `None` where
/// the write succeeds, or where no file can be made for another reason.
pub fn direct_io_error(dir: &Path) -> Option<io::Error> {
    let written = open_new(&nearest_existing(dir)).map_err(io::Error::from).and_then(|file| {
        let buffer = vec![0; 2 * BLOCK];
        let at = buffer.as_ptr().align_offset(BLOCK);
        File::from(file).write_all(&buffer[at..at + BLOCK])
    });
    written.err().filter(|error| error.raw_os_error() == Some(Errno::INVAL.raw_os_error()))
}

/// Opens a new file for direct I/O.
///
/// FUSE, NFS and older overlays have no files without a name. Source: open(2), `O_TMPFILE`.
fn open_new(dir: &Path) -> Result<OwnedFd, Errno> {
    match rustix::fs::open(dir, DIRECT | OFlags::TMPFILE, OWN) {
        Err(Errno::OPNOTSUPP | Errno::ISDIR) => open_named(dir, DIRECT),
        opened => opened,
    }
}

/// Opens a new file, and removes its name.
fn open_named(dir: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let path = dir.join(format!(".assay-direct-{}", std::process::id()));
    let opened = rustix::fs::open(&path, flags | OFlags::CREATE | OFlags::EXCL, OWN);
    // A kernel may make the file before it refuses the flag.
    if !matches!(opened, Err(Errno::EXIST)) {
        rustix::fs::unlink(&path).ok();
    }
    opened
}

fn check(needs: &SystemNeeds, data: &Path) -> Result<(), Shortage> {
    let needed = needs.direct_io;
    let error = (needed.amount > 0).then(|| direct_io_error(data)).flatten();
    error.map_or(Ok(()), |error| {
        Err(Shortage {
            limit: LIMIT.name,
            reason: format!(
                "direct I/O is required, but the file system of {} refuses it ({error})",
                data.display()
            ),
            remedy: format!(
                "put the data on another file system with --data-dir, or {}",
                needed.instead
            ),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_without_files_of_its_own_refuses_nothing() {
        assert!(direct_io_error(Path::new("/proc/self")).is_none());
        let dir = tempfile::tempdir().unwrap();
        assert!(check(&SystemNeeds::default(), dir.path()).is_ok());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_file_system_without_nameless_files_is_tried_by_one_that_leaves_no_name() {
        let dir = tempfile::tempdir().unwrap();
        let (named, nameless) = (open_named(dir.path(), DIRECT), open_new(dir.path()));
        assert_eq!(named.is_ok(), nameless.is_ok());
        assert!(open_named(dir.path(), OFlags::WRONLY).is_ok());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
