//! Whether the file system of the data lets files bypass the page cache.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use model::SystemNeeds;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::{Limit, Shortage};
use crate::block_device::nearest_existing;

pub(crate) static LIMIT: Limit = Limit { name: "direct_io", check };

/// Size and alignment of the block that is written: enough for every drive. Source: open(2).
const BLOCK: usize = 4096;

/// Returns the error of a direct write to a new file below a directory, or its nearest parent.
///
/// The file has no name, and is gone when it is closed. `None` where the write succeeds, or where
/// no such file can be made for another reason.
pub fn direct_io_error(dir: &Path) -> Option<io::Error> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC | OFlags::DIRECT;
    let opened = rustix::fs::open(nearest_existing(dir), flags, Mode::from_raw_mode(0o600));
    let written = opened.map_err(io::Error::from).and_then(|file| {
        let buffer = vec![0; 2 * BLOCK];
        let at = buffer.as_ptr().align_offset(BLOCK);
        File::from(file).write_all(&buffer[at..at + BLOCK])
    });
    written.err().filter(|error| error.raw_os_error() == Some(Errno::INVAL.raw_os_error()))
}

fn check(needs: &SystemNeeds, data: &Path) -> Result<(), Shortage> {
    let error = needs.direct_io.then(|| direct_io_error(data)).flatten();
    error.map_or(Ok(()), |error| {
        Err(Shortage {
            limit: LIMIT.name,
            reason: format!(
                "direct_io: the file system of {} refuses direct I/O ({error})",
                data.display()
            ),
            remedy: "put the data on another file system with --data-dir, or leave direct_io out"
                .to_owned(),
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
}
