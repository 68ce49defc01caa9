//! Files of the kernel: reading and parsing.

use std::io::{self, ErrorKind};
use std::path::Path;

use crate::error::SampleError;

/// Returns the file's text; `None` when the kernel has no such file or does not fill it.
///
/// A kernel built or booted without a feature has no file for it, or a file that refuses reads
/// (`EOPNOTSUPP`, as `/proc/pressure/io` with `psi=0`).
pub(crate) fn read_if_there(path: &Path) -> Result<Option<String>, SampleError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if is_absence(&error) => Ok(None),
        Err(error) => Err(SampleError::read(path)(error)),
    }
}

/// Returns whether the error means that the kernel has no such thing.
fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::NotFound | ErrorKind::Unsupported | ErrorKind::PermissionDenied
    )
}

/// Returns a file of `/proc/PID`; `None` when this kernel does not show it.
pub(crate) fn read_of_process(pid: u32, name: &str) -> Result<Option<String>, SampleError> {
    let dir = Path::new("/proc").join(pid.to_string());
    let path = dir.join(name);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Some(text)),
        // The process may end between open and read; that is ESRCH.
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error()) => {
            Err(SampleError::Gone(pid))
        }
        Err(error) if is_absence(&error) => match dir.try_exists() {
            Ok(false) => Err(SampleError::Gone(pid)),
            Ok(true) | Err(_) => Ok(None),
        },
        Err(error) => Err(SampleError::read(&path)(error)),
    }
}

/// Returns the trimmed text of a file that may not be there; `None` for an empty one.
pub(crate) fn read_trimmed(path: impl AsRef<Path>) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
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
    fn a_file_the_kernel_lacks_is_an_absence_and_an_ended_process_is_an_error() {
        assert!(read_if_there(Path::new("/proc/no-such-file")).unwrap().is_none());
        assert!(read_of_process(std::process::id(), "no-such-file").unwrap().is_none());
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let error = read_of_process(child.id(), "status").unwrap_err();
        assert!(matches!(error, SampleError::Gone(_)), "{error}");
    }
}
