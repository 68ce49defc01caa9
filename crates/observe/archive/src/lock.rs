//! Which experiments a process is writing runs of.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;

use rustix::fs::{major, minor};

use crate::experiment::{ExperimentDir, LOCK};

/// Bytes of a read. The kernel fills a page at most.
const READ_BYTES: usize = 64 << 10;

/// The locks that processes of this host hold, without taking one.
///
/// A container sees the locks of its own processes alone.
#[derive(Debug, Default)]
pub struct HeldLocks {
    /// Process by the device and inode of the locked file, as the kernel writes them.
    holders: BTreeMap<String, u32>,
}

impl HeldLocks {
    /// Reads the locks; none where the kernel does not list them.
    ///
    /// Between two reads of the file the kernel counts entries, so a lock is left out if another
    /// one is released meanwhile: with 30 locks that change and reads of 32 bytes, half of the
    /// lists lacked a lock that was held all the time; with reads of a page, one in 200. So a read
    /// has room for all, and the list is read three times.
    ///
    /// Source: Linux, proc_locks(5): `1: FLOCK ADVISORY WRITE 5433 08:01:7864448 0 EOF`.
    pub fn read() -> Self {
        let texts = [(); 3].map(|()| list().unwrap_or_default());
        let holders = texts.iter().flat_map(|text| text.lines()).filter_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let is_flock = fields.get(1) == Some(&"FLOCK");
            // A signal to process 0 would go to the own process group.
            let holder = fields.get(4)?.parse().ok().filter(|pid| is_flock && *pid > 0)?;
            Some(((*fields.get(5)?).to_owned(), holder))
        });
        Self { holders: holders.collect() }
    }

    /// Returns the process that writes runs of an experiment; `None` where none does.
    pub fn writer(&self, experiment: &ExperimentDir) -> Option<u32> {
        let file = fs::symlink_metadata(experiment.path().join(LOCK)).ok()?;
        let (device, inode) = (file.dev(), file.ino());
        let place = format!("{:02x}:{:02x}:{inode}", major(device), minor(device));
        self.holders.get(&place).copied()
    }
}

/// Returns the kernel's list of locks.
fn list() -> io::Result<String> {
    let mut file = File::open("/proc/locks")?;
    let (mut bytes, mut room) = (Vec::new(), vec![0; READ_BYTES]);
    loop {
        match file.read(&mut room)? {
            0 => return Ok(String::from_utf8_lossy(&bytes).into_owned()),
            count => bytes.extend_from_slice(&room[..count]),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::results::Results;

    #[test]
    fn the_writer_of_an_experiment_is_known_while_it_holds_the_lock() {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/schema-1");
        let mut manifest = Results::at(&fixture).find("quick").unwrap().manifest().unwrap();
        let root = tempfile::tempdir().unwrap();
        let results = Results::at(root.path());
        let held = results.create(&mut manifest).unwrap();
        let reader = results.find("quick").unwrap();
        assert_eq!(HeldLocks::read().writer(&reader), Some(std::process::id()));
        // Other locks that are taken and released meanwhile hide none.
        let others = || {
            let files: Vec<_> = (0..40).map(|_| tempfile::tempfile().unwrap()).collect();
            for file in files.iter().cycle().take(4_000) {
                file.lock().unwrap();
                file.unlock().unwrap();
            }
        };
        std::thread::scope(|scope| {
            let changing = scope.spawn(others);
            while !changing.is_finished() {
                assert_eq!(HeldLocks::read().writer(&reader), Some(std::process::id()));
            }
        });
        drop(held);
        assert_eq!(HeldLocks::read().writer(&reader), None);
    }
}
