//! Library errors as miette reports.

use std::fmt::Display;

use miette::{Report, Result, miette};
use model::secret::masked;

/// Errors of the system, by the end of their text, with what helps; the place is in the message.
///
/// Source: Linux, include/uapi/asm-generic/errno-base.h and errno.h.
const REMEDIES: [(&str, &str); 12] = [
    ("(os error 2)", "check the path: a path without a leading / starts in the current directory"),
    ("(os error 1)", "this account has no permission: compare `id` with `ls -ld PATH`"),
    ("(os error 13)", "this account has no permission: compare `id` with `ls -ld PATH`"),
    ("(os error 11)", "raise the limit on threads and processes: `ulimit -u`, pids.max"),
    ("(os error 12)", "free memory, or raise its limit: `ulimit -v`, memory.max"),
    ("(os error 23)", "raise the system's limit on open files: `sysctl fs.file-max`"),
    ("(os error 24)", "raise the limit on open files: `ulimit -n 65536`"),
    ("(os error 27)", "raise the limit on the size of files: `ulimit -f unlimited`"),
    ("(os error 28)", "free disk space: `df -h` and `df -i` show how full file systems are"),
    ("(os error 30)", "name a directory on another file system: this file system is read-only"),
    ("(os error 111)", "start the server, or correct host and port: no program listens there"),
    ("(os error 122)", "free disk space of this account: `quota` shows the limit"),
];

/// Returns what helps against the system's error that a message ends with.
pub(crate) fn system_remedy(message: &str) -> Option<&'static str> {
    let found = REMEDIES.iter().find(|(end, _)| message.trim_end().ends_with(end));
    found.map(|(_, remedy)| *remedy)
}

/// Results whose error text includes the causes.
///
/// Passwords are masked before long lines are wrapped.
pub(crate) trait IntoReport<T> {
    /// Turns the error into a report of its text.
    ///
    /// `into_diagnostic` would print the cause a second time below it.
    fn into_report(self) -> Result<T>;
}

impl<T, E: Display> IntoReport<T> for Result<T, E> {
    fn into_report(self) -> Result<T> {
        self.map_err(|error| -> Report { miette!("{}", masked(&error.to_string())) })
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn each_error_of_the_system_has_its_own_remedy() {
        let mut found = 0;
        for code in 0..200 {
            let error = io::Error::from_raw_os_error(code);
            let remedy = system_remedy(&format!("cannot read /a/b: {error}"));
            found += usize::from(remedy.is_some());
        }
        assert_eq!(found, REMEDIES.len());
        assert_eq!(system_remedy("cannot read /a/b: it is a directory"), None);
    }
}
