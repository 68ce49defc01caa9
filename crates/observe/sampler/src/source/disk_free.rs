//! Free space and size of the file system the data lies on.

use std::path::Path;

use model::{Readings, metric};
use rustix::fs::StatVfs;

/// Reads the free space of the file system under `dir`; the size only at boundaries.
pub(crate) fn sample(dir: &Path, is_boundary: bool) -> Readings {
    let mut readings = Readings::new();
    let Ok(space) = rustix::fs::statvfs(dir) else { return readings };
    readings.set(metric::DISK_FREE_BYTES, free(&space));
    readings.set(metric::DISK_SIZE_BYTES, size(&space).filter(|_| is_boundary));
    readings
}

/// Returns what this user may still take, without root's reserve.
fn free(space: &StatVfs) -> Option<u64> {
    space.f_bavail.checked_mul(space.f_frsize)
}

/// Returns what is used and what this user may still take: the base of the share that `df` prints.
///
/// Source: GNU coreutils, df.c, `get_dev` (used / (used + available)).
fn size(space: &StatVfs) -> Option<u64> {
    let used = space.f_blocks.checked_sub(space.f_bfree)?;
    used.checked_add(space.f_bavail)?.checked_mul(space.f_frsize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_is_read_at_boundaries_and_includes_the_free_space() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(sample(dir.path(), false).len(), 1);
        let readings = sample(dir.path(), true);
        assert!(
            readings[metric::DISK_SIZE_BYTES] >= readings[metric::DISK_FREE_BYTES],
            "{readings:?}"
        );
    }

    #[test]
    fn blocks_set_aside_for_root_are_neither_free_nor_part_of_the_size() {
        let mut space = rustix::fs::statvfs("/proc").unwrap();
        (space.f_frsize, space.f_blocks, space.f_bfree, space.f_bavail) = (4096, 100, 30, 25);
        assert_eq!((free(&space), size(&space)), (Some(25 * 4096), Some(95 * 4096)));
        space.f_bfree = 101;
        assert_eq!(size(&space), None);
    }
}
