//! Programs that obtain and compile builds, and the files they write.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use trust::Entries;

use crate::error::{Result, SupplyError};

/// Longest excerpt of a program's output in an error.
const EXCERPT_CHARS: usize = 300;

/// Retries of a busy program, a second in all, and the pause before each.
const BUSY_TRIES: u32 = 100;
const BUSY_PAUSE: Duration = Duration::from_millis(10);
/// Error of a helper that starts a busy program. Source: errno(3), `ETXTBSY`.
const BUSY: &str = "Text file busy";

/// Runs a program to its end, again while it is busy.
///
/// A program just written is, while a process started by another thread still has it open.
pub(crate) fn unless_busy(mut run: impl FnMut() -> io::Result<Output>) -> io::Result<Output> {
    let mut ended = run();
    for _try in 0..BUSY_TRIES {
        let is_busy = match &ended {
            Err(error) => error.kind() == ErrorKind::ExecutableFileBusy,
            Ok(ended) => !ended.status.success() && text(&ended.stderr).contains(BUSY),
        };
        if !is_busy {
            break;
        }
        thread::park_timeout(BUSY_PAUSE);
        ended = run();
    }
    ended
}

/// Runs a program to its end; `absent` is the error when it is not installed.
///
/// Package managers obey settings in the home directory, and some name programs: root runs none
/// with the home of another account.
pub(crate) fn run(command: &mut Command, absent: impl FnOnce() -> String) -> Result<Output> {
    let home = command.get_envs().find(|(name, _)| *name == "HOME").and_then(|(_, home)| home);
    if let Some(home) = home.filter(|home| !home.is_empty()) {
        trust::check(Path::new(home), Entries::Closed).map_err(|error| {
            SupplyError::Unavailable(format!(
                "{} would obey the settings in HOME, and {error}; or set HOME to a directory of root",
                command.get_program().display()
            ))
        })?;
    }
    command.stdin(Stdio::null());
    unless_busy(|| command.output()).map_err(|error| {
        if error.kind() == ErrorKind::NotFound {
            return SupplyError::NoProgram(absent());
        }
        SupplyError::io("run", Path::new(command.get_program()))(error)
    })
}

/// Returns whether a program is on the search path of the programs that obtain builds.
pub(crate) fn is_installed(name: &str) -> bool {
    let command = child::command(child::Role::Program, name);
    let path = command.get_envs().find(|(variable, _)| *variable == "PATH");
    let path = path.and_then(|(_, path)| path).unwrap_or_default();
    std::env::split_paths(path).any(|dir| dir.join(name).is_file())
}

/// Returns what a program printed as text.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the lines of a text that are not blank, trimmed.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

/// Returns the first line that begins with `prefix`, without it; else the first line of all.
pub(crate) fn first_error<'t>(text: &'t str, prefix: &str) -> &'t str {
    let error = lines(text).find_map(|line| line.strip_prefix(prefix));
    error.or_else(|| lines(text).next()).unwrap_or("nothing").trim()
}

/// Returns paths as a list for a message.
pub(crate) fn listed(paths: impl IntoIterator<Item = PathBuf>) -> String {
    let paths: Vec<_> = paths.into_iter().map(|path| path.display().to_string()).collect();
    paths.join(", ")
}

/// Returns the files in `dir` that end with one of `extensions`, in the order of their names.
pub(crate) fn files_in(dir: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(dir).map_err(SupplyError::io("list", dir))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| {
            let extension = path.extension().and_then(|extension| extension.to_str());
            extension.is_some_and(|extension| extensions.contains(&extension))
        })
        .collect();
    files.sort_unstable();
    Ok(files)
}

/// Returns the line without addresses and host names, or its end.
pub(crate) fn without_addresses(line: &str) -> String {
    let is_end = |c: char| c.is_whitespace() || matches!(c, ')' | ',' | '"' | '\'' | ']');
    let mut clean = line.to_owned();
    while let Some(scheme) = clean.find("://") {
        let start =
            clean[..scheme].rfind(|c: char| !c.is_ascii_alphanumeric()).map_or(0, |i| i + 1);
        let rest = &clean[scheme + 3..];
        let end = scheme + 3 + rest.find(is_end).unwrap_or(rest.len());
        let host: String =
            rest.chars().take_while(|&c| !is_end(c) && !matches!(c, '/' | ':')).collect();
        clean.replace_range(start..end, "(address)");
        if !host.is_empty() {
            clean = clean.replace(&host, "(host)");
        }
    }
    // The reason comes last.
    match clean.char_indices().nth_back(EXCERPT_CHARS) {
        Some((before, c)) => format!("...{}", &clean[before + c.len_utf8()..]),
        None => clean,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_line_is_truncated() {
        let long = without_addresses(&"x".repeat(10 * EXCERPT_CHARS));
        assert_eq!(long.len(), EXCERPT_CHARS + 3);
    }

    #[test]
    fn first_error_is_quoted_without_addresses() {
        let text = "W: something\nE: Failed to fetch http://deb.example/x.deb  404  Not Found\n";
        let quoted = without_addresses(first_error(text, "E: "));
        assert_eq!(quoted, "Failed to fetch (address)  404  Not Found");
        assert_eq!(first_error("", "E: "), "nothing");
    }
}
