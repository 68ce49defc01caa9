//! Free inodes of a file system: each new file and directory takes one.

use std::io;
use std::path::Path;

use model::SystemNeeds;

use super::{Limit, Shortage};
use crate::block_device::nearest_existing;

pub(crate) static LIMIT: Limit = Limit { name: "inodes", check };

/// Free inodes with which a failure may be one of inodes: an engine that fails removes a few files.
const FEW: u64 = 8;
/// Errors of a full file system: the system's, and the text of SQLite.
const FULL: [&str; 2] = ["No space left on device", "disk is full"];

/// Returns the inodes that this user may still take; `None` without a limit, as on btrfs.
///
/// Source: statvfs(3), `f_favail`; Linux, fs/btrfs/super.c, `btrfs_statfs`.
fn free_inodes(dir: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(nearest_existing(dir)).ok()?;
    (found.f_files > 0).then_some(found.f_favail)
}

/// Checks that files and directories can be made in a directory, which need not exist.
///
/// # Errors
/// The need and the free inodes.
pub fn check_inodes(dir: &Path, needed: u64) -> io::Result<()> {
    free_inodes(dir).map_or(Ok(()), |free| allow(dir, needed, free))
}

fn allow(dir: &Path, needed: u64, free: u64) -> io::Result<()> {
    if needed <= free {
        return Ok(());
    }
    Err(io::Error::other(format!(
        "the run may make {needed} files and directories, and the file system of {} has {free} \
         free inodes (`df -i` shows them)",
        dir.display()
    )))
}

/// Describes the first of these directories whose file system has next to no free inodes.
pub fn lack_of_inodes(dirs: &[&Path]) -> Option<String> {
    dirs.iter().find_map(|dir| {
        let (free, dir) = (free_inodes(dir).filter(|free| *free < FEW)?, dir.display());
        Some(format!("the file system of {dir} has {free} free inodes: remove files (`df -i`)"))
    })
}

/// Returns the lack of inodes that is the cause of an error, if it is one of a full file system.
pub fn cause_of_full(error: &str, dirs: &[&Path]) -> Option<String> {
    FULL.iter().any(|text| error.contains(text)).then(|| lack_of_inodes(dirs)).flatten()
}

fn check(needs: &SystemNeeds, data: &Path) -> Result<(), Shortage> {
    check_inodes(data, needs.files).map_err(|error| Shortage {
        limit: LIMIT.name,
        reason: error.to_string(),
        remedy: "remove files there, or name a directory on another file system with --data-dir"
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_without_inodes_are_refused_with_the_figures() {
        assert!(allow(Path::new("/d"), 20, 20).is_ok());
        let text = allow(Path::new("/d"), 21, 20).unwrap_err().to_string();
        assert!(text.contains("make 21 files") && text.contains("of /d has 20 free inodes"));
        let dir = tempfile::tempdir().unwrap();
        assert!(check_inodes(&dir.path().join("not/made"), 1).is_ok());
        assert_eq!(lack_of_inodes(&[dir.path()]), None);
        assert_eq!(cause_of_full("No space left on device", &[dir.path()]), None);
    }
}
