//! Writes dirty pages of mapped files to their file system, without a sync.
#![expect(unsafe_code, reason = "neither rustix nor nix has sync_file_range")]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;

/// Sends the kernel's dirty pages of a file to its file system, which gets them as writes.
///
/// Source: sync_file_range(2): with all three flags it writes and waits, and syncs nothing.
pub(crate) fn write_back(file: &File) -> io::Result<()> {
    let flags = libc::SYNC_FILE_RANGE_WAIT_BEFORE
        | libc::SYNC_FILE_RANGE_WRITE
        | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    // SAFETY: the descriptor is open for the call, and the call reads and writes no memory of ours.
    match unsafe { libc::sync_file_range(file.as_raw_fd(), 0, 0, flags) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
