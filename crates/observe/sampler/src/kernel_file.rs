//! Files of the kernel: reading and parsing.

use std::path::Path;

/// Returns the file's text; `None` when it cannot be read.
///
/// A kernel built or booted without a feature has no file for it, or a file that refuses reads
/// (`EOPNOTSUPP`, as `/proc/pressure/io` with `psi=0`); a process may end while its file is read.
/// The name that a process gives itself, and a path, may be no UTF-8.
pub(crate) fn read(path: impl AsRef<Path>) -> Option<String> {
    Some(String::from_utf8_lossy(&std::fs::read(path).ok()?).into_owned())
}

/// Returns a file of `/proc/PID`; `None` when the process has ended, or the kernel has none.
pub(crate) fn read_of_process(pid: u32, name: &str) -> Option<String> {
    read(format!("/proc/{pid}/{name}"))
}

/// Returns the trimmed text of a file that may not be there; `None` for an empty one.
pub(crate) fn read_trimmed(path: impl AsRef<Path>) -> Option<String> {
    let text = read(path)?;
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!text.is_empty()).then(|| text.to_owned())
}

/// Returns the number after `key` in a text of lines `key: 12 kB` or `key 12`.
///
/// Keys are compared whole: `Pss` does not find `Pss_Dirty`.
pub(crate) fn value_of(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let rest = line.strip_prefix(key)?;
        let rest = rest.strip_prefix(':').unwrap_or(rest);
        if !rest.starts_with(char::is_whitespace) {
            return None;
        }
        rest.split_ascii_whitespace().next()?.parse().ok()
    })
}

/// Returns the time of so many of the kernel's clock ticks, us.
pub(crate) fn micros(ticks: u64) -> u64 {
    ticks * 1_000_000 / rustix::param::clock_ticks_per_second().max(1)
}

/// Returns the number after `key` in a text of lines `key: 12 kB`, in bytes.
pub(crate) fn bytes_of(text: &str, key: &str) -> Option<u64> {
    value_of(text, key)?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_compared_whole_in_both_notations() {
        let text = "Pss_Dirty:           116 kB\nPss:                 266 kB\nthrottled_usec 17\n";
        assert_eq!(value_of(text, "Pss"), Some(266));
        assert_eq!(bytes_of(text, "Pss"), Some(266 * 1024));
        assert_eq!(value_of(text, "throttled_usec"), Some(17));
        assert_eq!(value_of(text, "throttled"), None);
    }

    #[test]
    fn text_without_a_number_is_unknown() {
        assert_eq!(value_of("memory max\n", "memory"), None);
        assert_eq!(value_of("memory:\n", "memory"), None);
    }

    #[test]
    fn files_that_the_kernel_lacks_and_those_of_ended_processes_are_absent() {
        assert!(read("/proc/no-such-file").is_none());
        assert!(read_of_process(std::process::id(), "no-such-file").is_none());
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        assert!(read_of_process(child.id(), "status").is_none());
    }
}
