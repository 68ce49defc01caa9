//! Free space and size of the file system the data lies on.

use std::io;
use std::path::Path;

use model::{Bytes, Readings, metric};
use rustix::fs::StatVfs;

use crate::kernel_file::{bytes_of, read};
use crate::memory_limit::free_memory;
use crate::targets::{RunTargets, Sampler};

/// Starts the sampler.
pub(crate) fn start(targets: &RunTargets<'_>) -> Option<Sampler> {
    let dir = targets.data_dir.clone();
    Some(Box::new(move |is_boundary| sample(&dir, is_boundary)))
}

/// Reads the free space of the file system under `dir`; the size only at boundaries.
fn sample(dir: &Path, is_boundary: bool) -> Readings {
    let mut readings = Readings::new();
    let space = rustix::fs::statvfs(dir).ok().filter(|space| !is_unlimited(space));
    let Some(space) = space else { return readings };
    readings.set(metric::DISK_FREE_BYTES, free(&space));
    readings.set(metric::DISK_SIZE_BYTES, size(&space).filter(|_| is_boundary));
    readings
}

/// Returns what this user may still take of the file system under `dir`.
///
/// # Errors
/// When the file system reports an error.
pub fn free_space(dir: &Path) -> io::Result<Bytes> {
    let space = rustix::fs::statvfs(dir)?;
    if is_unlimited(&space) {
        let available = read("/proc/meminfo").and_then(|text| bytes_of(&text, "MemAvailable"));
        return Ok(free_memory(Bytes(available.unwrap_or(u64::MAX))));
    }
    Ok(Bytes(space.f_bavail.saturating_mul(space.f_frsize)))
}

/// Returns whether a file system has no size, as ramfs and a tmpfs without limit: memory is its
/// limit.
///
/// Source: Linux, Documentation/filesystems/ramfs-rootfs-initramfs.rst and tmpfs.rst (`size=0`).
const fn is_unlimited(space: &StatVfs) -> bool {
    space.f_blocks == 0
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

    #[test]
    fn a_file_system_without_a_size_has_the_free_space_of_memory() {
        // `/proc` has no size either.
        let free = free_space(Path::new("/proc")).unwrap();
        assert!(free > Bytes(0) && free < Bytes(1 << 60), "{free}");
        assert!(sample(Path::new("/proc"), true).is_empty());
    }
}
