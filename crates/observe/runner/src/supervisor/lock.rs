//! A shared lock on a file, and who holds it meanwhile.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// Length of one wait for the lock.
const WAIT: Duration = Duration::from_millis(100);
/// Waits before the holder is reported: a second.
const REPORTED_AFTER: u32 = 10;
/// Waits at most: an hour. Another Assay may be removing terabytes of a killed run.
const WAITS_MAX: u32 = 36_000;

/// Waits for a shared lock; reports who holds another one when that takes a second.
pub(crate) fn lock_shared(file: &File, on_wait: &mut dyn FnMut(&str)) -> io::Result<()> {
    for wait in 0..WAITS_MAX {
        match flock(file, FlockOperation::NonBlockingLockShared) {
            Err(Errno::WOULDBLOCK) => {}
            locked => return Ok(locked?),
        }
        if wait == REPORTED_AFTER {
            on_wait(&holder(file));
        }
        thread::park_timeout(WAIT);
    }
    Err(io::Error::other(format!("{} still holds its lock", holder(file))))
}

/// Returns the process that holds a lock on a file.
fn holder(file: &File) -> String {
    let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
    let inode = file.metadata().map(|facts| facts.ino()).unwrap_or_default();
    let Some(pid) = locks.lines().find_map(|line| holder_of(line, inode)) else {
        return "another process".to_owned();
    };
    let name = child::process_file(pid, "comm").unwrap_or_default();
    format!("process {pid} ({})", name.trim())
}

/// Returns the process of a line of `/proc/locks`, if its lock is on that file; waiting ones are
/// indented by an arrow. A process of another PID namespace has no number.
///
/// Source: proc(5), `/proc/locks`.
fn holder_of(line: &str, inode: u64) -> Option<u32> {
    let mut fields = line.split_ascii_whitespace().skip(1);
    let is_flock = fields.next()? == "FLOCK";
    let pid = fields.nth(2)?.parse().ok().filter(|pid| *pid > 0)?;
    let place = fields.next()?;
    let is_it = place.rsplit(':').next()?.parse() == Ok(inode);
    (is_flock && is_it).then_some(pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holders_are_found_in_the_table_of_the_kernel() {
        let line = "1: FLOCK  ADVISORY  WRITE 4711 00:1f:1234 0 EOF";
        assert_eq!(holder_of(line, 1234), Some(4711));
        assert_eq!(holder_of(line, 234), None);
        assert_eq!(holder_of("1: -> FLOCK  ADVISORY  WRITE 4712 00:1f:1234 0 EOF", 1234), None);
        assert_eq!(holder_of("2: POSIX  ADVISORY  WRITE 4711 00:1f:1234 0 EOF", 1234), None);
        assert_eq!(holder_of("3: FLOCK  ADVISORY  WRITE 0 00:1f:1234 0 EOF", 1234), None);
    }

    #[test]
    fn who_holds_a_lock_is_reported_and_waited_for() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let held = file.reopen().unwrap();
        flock(&held, FlockOperation::LockExclusive).unwrap();
        let mut reported = Vec::new();
        lock_shared(file.as_file(), &mut |holder| {
            reported.push(holder.to_owned());
            flock(&held, FlockOperation::Unlock).unwrap();
        })
        .unwrap();
        assert_eq!(reported.len(), 1);
        let own = format!("process {} (", std::process::id());
        assert!(reported[0].starts_with(&own) || reported[0] == "another process", "{reported:?}");
    }
}
