//! Files of acknowledgements: the time of each, by client, in order.
//!
//! A file in memory or on disk survives the kill of its writer, and a write takes less than a
//! microsecond: no operation is slowed by a reader.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use model::Nanos;

/// Bytes of a time.
const TIME: usize = size_of::<u64>();

/// Writes the acknowledgements of one client.
pub(crate) struct Writer(File);

impl Writer {
    /// Creates the file of a client.
    pub(crate) fn create(dir: &Path, client: u32) -> io::Result<Self> {
        File::create_new(path(dir, client)).map(Self)
    }

    /// Adds the acknowledgement of the client's next change.
    pub(crate) fn add(&mut self, at: Nanos) -> io::Result<()> {
        self.0.write_all(&at.0.to_le_bytes())
    }
}

/// Returns the times of a client's acknowledgements; none where it had not begun.
pub(crate) fn read(dir: &Path, client: u32) -> io::Result<Vec<Nanos>> {
    let bytes = match fs::read(path(dir, client)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        bytes => bytes?,
    };
    let times = bytes.as_chunks::<TIME>().0.iter().map(|time| Nanos(u64::from_le_bytes(*time)));
    Ok(times.collect())
}

/// Returns how many changes of all clients are acknowledged.
pub(crate) fn count(dir: &Path, clients: u32) -> u64 {
    let bytes = (0..clients).filter_map(|client| fs::metadata(path(dir, client)).ok());
    bytes.map(|facts| facts.len() / TIME as u64).sum()
}

fn path(dir: &Path, client: u32) -> PathBuf {
    dir.join(client.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_order_and_counted() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = Writer::create(dir.path(), 1).unwrap();
        writer.add(Nanos(5)).unwrap();
        writer.add(Nanos(7)).unwrap();
        assert_eq!(read(dir.path(), 1).unwrap(), [Nanos(5), Nanos(7)]);
        assert_eq!(read(dir.path(), 0).unwrap(), []);
        assert_eq!(count(dir.path(), 2), 2);
    }
}
