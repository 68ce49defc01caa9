//! Whether a server's program runs on this machine: it is asked for its version.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use crate::error::SupplyError;

/// A program that has not told its version after this long is not what it was taken for.
const PATIENCE: Duration = Duration::from_secs(20);

/// How often a program that is busy is tried again: a second in all.
const BUSY_TRIES: u32 = 100;

/// How long a program that is busy is left alone.
const BUSY_PAUSE: Duration = Duration::from_millis(10);

/// More than any server says of its version, in bytes.
const SAID_MAX: u64 = 1 << 16;

/// The Debian packages of the libraries that servers ask for; newer releases add `t64` to some.
const PACKAGES: &[(&str, &str)] = &[
    ("libaio.so.1", "libaio1"),
    ("libcrypt.so.1", "libcrypt1"),
    ("libgcc_s.so.1", "libgcc-s1"),
    ("liblz4.so.1", "liblz4-1"),
    ("liblzma.so.5", "liblzma5"),
    ("libncurses.so.5", "libncurses5"),
    ("libncurses.so.6", "libncurses6"),
    ("libnuma.so.1", "libnuma1"),
    ("libpcre2-8.so.0", "libpcre2-8-0"),
    ("libreadline.so.8", "libreadline8"),
    ("libsnappy.so.1", "libsnappy1v5"),
    ("libcrypto.so.3", "libssl3"),
    ("libssl.so.3", "libssl3"),
    ("libstdc++.so.6", "libstdc++6"),
    ("libsystemd.so.0", "libsystemd0"),
    ("libtinfo.so.5", "libtinfo5"),
    ("libtinfo.so.6", "libtinfo6"),
    ("liburing.so.2", "liburing2"),
    ("libxml2.so.2", "libxml2"),
    ("libz.so.1", "zlib1g"),
    ("libzstd.so.1", "libzstd1"),
];

/// Returns the Debian package that brings a library.
pub(crate) fn package_of(library: &str) -> Option<&'static str> {
    PACKAGES.iter().find(|(name, _)| *name == library).map(|(_, package)| *package)
}

/// Returns the directories of a tree in which libraries lie as distributions lay them.
///
/// A server that is not installed finds them there only when the loader is told.
pub(crate) fn library_dirs(root: &Path) -> Vec<PathBuf> {
    let triplet = format!("{}-linux-gnu", std::env::consts::ARCH);
    let dirs = ["usr/lib", "lib"].map(|dir| root.join(dir).join(&triplet));
    dirs.into_iter().filter(|dir| dir.is_dir()).collect()
}

/// Returns what a program below `root` says of its version: every line, its own path left out.
///
/// # Errors
/// When it does not start, lacks libraries, fails, or takes too long.
pub(crate) fn version_of(program: &Path, root: &Path) -> Result<String, SupplyError> {
    let refused = |reason: String| SupplyError::DoesNotRun { program: program.to_owned(), reason };
    let mut command = told_of_libraries(program, root);
    let (status, said) = said_by(command.arg("--version")).map_err(|error| {
        if error.kind() == io::ErrorKind::TimedOut {
            return refused(format!("`--version` did not end within {} s", PATIENCE.as_secs()));
        }
        refused(error.to_string())
    })?;
    if status.success() {
        return Ok(without_path(&said, program));
    }
    let missing = missing_libraries(program, root);
    if missing.is_empty() {
        let words = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("nothing").trim();
        return Err(refused(format!("`--version` failed ({status}), it says: {words}")));
    }
    Err(refused(lacks(&missing)))
}

/// Returns the libraries that a program or library below `root` asks for and that are not here.
pub(crate) fn missing_libraries(file: &Path, root: &Path) -> Vec<String> {
    // Without `ldd` nothing is known to be missing, and the loader's own words are told.
    let told = said_by(told_of_libraries(Path::new("ldd"), root).arg(file));
    told.map_or_else(|_no_ldd| Vec::new(), |(_, said)| not_found(&said))
}

/// Returns the names that `ldd` says are not found.
///
/// Source: ldd(1): `NAME => not found`.
fn not_found(said: &str) -> Vec<String> {
    let mut missing: Vec<_> = said
        .lines()
        .filter_map(|line| line.trim().strip_suffix("=> not found"))
        .map(|name| name.trim().to_owned())
        .collect();
    missing.sort_unstable();
    missing.dedup();
    missing
}

/// Returns in words which libraries are missing and what brings them.
fn lacks(missing: &[String]) -> String {
    let mut packages: Vec<_> = missing.iter().filter_map(|name| package_of(name)).collect();
    packages.sort_unstable();
    packages.dedup();
    let mut words = format!("it lacks {}", missing.join(", "));
    if !packages.is_empty() {
        words.push_str(&format!(
            ": install what brings them (Debian: apt install {})",
            packages.join(" ")
        ));
    }
    words
}

/// Returns a command that finds the libraries of a tree.
fn told_of_libraries(program: &Path, root: &Path) -> Command {
    let mut command = Command::new(program);
    // A server may read the working directory, which need not be readable.
    command.current_dir("/").stdin(Stdio::null()).env_remove("LD_LIBRARY_PATH");
    let dirs = library_dirs(root);
    if let Some(path) = std::env::join_paths(dirs).ok().filter(|path| !path.is_empty()) {
        command.env("LD_LIBRARY_PATH", path);
    }
    command
}

/// Runs a command; returns how it ended and what it said on either stream.
fn said_by(command: &mut Command) -> io::Result<(ExitStatus, String)> {
    let (reader, writer) = io::pipe()?;
    let mut child = spawn(command, writer)?;
    let (send, received) = sync_channel(1);
    thread::spawn(move || {
        let mut said = Vec::new();
        let read = reader.take(SAID_MAX).read_to_end(&mut said);
        // Nobody listens any more when it took too long.
        drop(send.send(read.map(|_| said)));
    });
    match received.recv_timeout(PATIENCE) {
        Ok(said) => {
            let said = String::from_utf8_lossy(&said?).into_owned();
            Ok((child.wait()?, said))
        }
        Err(_too_long) => {
            child.kill()?;
            child.wait()?;
            Err(io::ErrorKind::TimedOut.into())
        }
    }
}

/// Starts a command; only the child keeps the writing end.
///
/// A program just written is busy while a process that another thread starts at that moment still
/// has it open.
fn spawn(command: &mut Command, writer: io::PipeWriter) -> io::Result<Child> {
    command.stdout(writer.try_clone()?).stderr(writer);
    let is_busy = |child: &io::Result<Child>| {
        child.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::ExecutableFileBusy)
    };
    let mut child = command.spawn();
    for _try in 0..BUSY_TRIES {
        if !is_busy(&child) {
            break;
        }
        thread::park_timeout(BUSY_PAUSE);
        child = command.spawn();
    }
    command.stdout(Stdio::null()).stderr(Stdio::null());
    child
}

/// Returns what was said, with the program's name where its path stood.
fn without_path(said: &str, program: &Path) -> String {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    said.replace(&program.display().to_string(), &name).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// Puts a program that is a script at `bin/server` of a new tree.
    fn tree(script: &str) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("bin")).unwrap();
        let program = dir.path().join("bin/server");
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
        dir
    }

    fn asked(script: &str) -> Result<String, String> {
        let dir = tree(script);
        let told = version_of(&dir.path().join("bin/server"), dir.path());
        told.map_err(|error| error.to_string().replace(&dir.path().display().to_string(), "ROOT"))
    }

    #[test]
    fn a_version_is_told_without_the_program_s_path() {
        assert_eq!(asked("#!/bin/sh\necho \"$0  Ver 8.0.31\"\n").unwrap(), "server  Ver 8.0.31");
    }

    #[test]
    fn what_fails_is_quoted_and_what_is_no_program_refused() {
        assert_eq!(
            asked("#!/bin/sh\necho; echo no way >&2; exit 3\n").unwrap_err(),
            "ROOT/bin/server does not run here: `--version` failed (exit status: 3), it says: \
             no way"
        );
        let text = asked("\u{7f}ELF?").unwrap_err();
        assert!(text.contains("does not run here: Exec format error"), "{text}");
    }

    #[test]
    fn missing_libraries_are_named_with_what_brings_them() {
        let said = "\tlinux-vdso.so.1 (0x00007ffc)\n\tlibaio.so.1 => not found\n\
                    \tlibm.so.6 => /lib/libm.so.6 (0x7f)\n\tlibodd.so.3 => not found\n\
                    \tlibaio.so.1 => not found\n";
        assert_eq!(not_found(said), ["libaio.so.1", "libodd.so.3"]);
        assert_eq!(
            lacks(&not_found(said)),
            "it lacks libaio.so.1, libodd.so.3: install what brings them (Debian: apt install \
             libaio1)"
        );
        assert_eq!(lacks(&["libodd.so.3".to_owned()]), "it lacks libodd.so.3");
    }
}
