//! Hashes of files: XXH3, whose cost is that of reading them.

use std::fs::{File, OpenOptions};
use std::hash::Hasher as _;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;
use twox_hash::XxHash3_64;

/// Bytes that are read at a time.
const BLOCK: usize = 1 << 20;

/// Opens a regular file, and follows no link at its name.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let flags = i32::try_from(flags).map_err(io::Error::other)?;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("not a regular file")) }
}

/// Returns the hash of a file's content, in hex.
///
/// Source: Collet 2019, XXH3 (`xxHash` 0.8); it finds accidents, and is no protection against an
/// attacker, who cannot write below the store's directory.
pub(crate) fn of(mut file: &File) -> io::Result<String> {
    let mut hasher = XxHash3_64::with_seed(0);
    let mut block = vec![0; BLOCK];
    loop {
        match file.read(&mut block)? {
            0 => return Ok(format!("{:016x}", hasher.finish())),
            n => hasher.write(&block[..n]),
        }
    }
}
