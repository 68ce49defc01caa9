//! Random bytes of the kernel.

use std::fs::File;
use std::io::{self, Read};

/// Returns random bytes, which no other process can know.
///
/// # Errors
/// When the kernel's generator cannot be read.
pub fn random<const BYTES: usize>() -> io::Result<[u8; BYTES]> {
    let mut bytes = [0; BYTES];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}
