//! Version output of a server's program, and its missing libraries.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use child::Role;

use crate::error::SupplyError;
use crate::program::{lines, output, text};

/// Debian packages of libraries servers need; newer releases add `t64` to some.
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

/// Returns the Debian package of a library.
pub(crate) fn package_of(library: &str) -> Option<&'static str> {
    PACKAGES.iter().find(|(name, _)| *name == library).map(|(_, package)| *package)
}

/// Returns the library directories of an unpacked tree.
///
/// The loader finds them only through LD_LIBRARY_PATH.
pub(crate) fn library_dirs(root: &Path) -> Vec<PathBuf> {
    let triplet = format!("{}-linux-gnu", std::env::consts::ARCH);
    let dirs = ["usr/lib", "lib"].map(|dir| root.join(dir).join(&triplet));
    dirs.into_iter().filter(|dir| dir.is_dir()).collect()
}

/// Returns the version output of a program below `root`, its own path left out.
///
/// Errors name it as `shown`.
pub(crate) fn version_of(program: &Path, root: &Path, shown: &str) -> Result<String, SupplyError> {
    let failure =
        |reason: String| SupplyError::Unavailable(format!("{shown} does not run here: {reason}"));
    let ended = output(command_with_libraries(program, root).arg("--version"));
    let Output { status, stdout, stderr } = ended.map_err(|error| failure(error.to_string()))?;
    let output = text(&stdout) + &text(&stderr);
    if status.success() {
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        return Ok(output.replace(&program.display().to_string(), &name).trim().to_owned());
    }
    let missing = missing_libraries(program, root);
    if missing.is_empty() {
        let output = lines(&output).next().unwrap_or("nothing");
        return Err(failure(format!("`--version` failed ({status}), it printed: {output}")));
    }
    Err(failure(missing_libraries_text(&missing)))
}

/// Returns the libraries a file below `root` needs that are not on this machine.
pub(crate) fn missing_libraries(file: &Path, root: &Path) -> Vec<String> {
    // Without `ldd` none is known to be missing; the loader's error is shown instead.
    let result = output(command_with_libraries(Path::new("ldd"), root).arg(file));
    result.map_or_else(|_no_ldd| Vec::new(), |output| parse_missing(&text(&output.stdout)))
}

/// Parses the libraries that `ldd` reports as not found.
///
/// Source: ldd(1): `NAME => not found`.
fn parse_missing(output: &str) -> Vec<String> {
    let missing = lines(output).filter_map(|line| line.strip_suffix("=> not found"));
    let missing: BTreeSet<_> = missing.map(|name| name.trim().to_owned()).collect();
    missing.into_iter().collect()
}

/// Describes the missing libraries and their packages.
fn missing_libraries_text(missing: &[String]) -> String {
    let packages: BTreeSet<_> = missing.iter().filter_map(|name| package_of(name)).collect();
    let output = format!("it lacks {}", missing.join(", "));
    if packages.is_empty() {
        return output;
    }
    let packages = packages.into_iter().collect::<Vec<_>>().join(" ");
    format!("{output}: install their packages (Debian: apt install {packages})")
}

/// Returns a command with the library path of a tree.
fn command_with_libraries(program: &Path, root: &Path) -> Command {
    let mut command = child::command(Role::Program, program);
    // A server may read the working directory, which need not be readable.
    command.current_dir("/");
    let dirs = library_dirs(root);
    if let Some(path) = std::env::join_paths(dirs).ok().filter(|path| !path.is_empty()) {
        command.env("LD_LIBRARY_PATH", path);
    }
    command
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

    fn reported_version(script: &str) -> Result<String, String> {
        let dir = tree(script);
        let program = dir.path().join("bin/server");
        let result = version_of(&program, dir.path(), &program.display().to_string());
        result.map_err(|error| error.to_string().replace(&dir.path().display().to_string(), "ROOT"))
    }

    #[test]
    fn version_omits_the_program_path() {
        assert_eq!(
            reported_version("#!/bin/sh\necho \"$0  Ver 8.0.31\"\n").unwrap(),
            "server  Ver 8.0.31"
        );
    }

    #[test]
    fn failing_program_is_quoted_and_non_program_rejected() {
        assert_eq!(
            reported_version("#!/bin/sh\necho; echo no way >&2; exit 3\n").unwrap_err(),
            "ROOT/bin/server does not run here: `--version` failed (exit status: 3), it printed: \
             no way"
        );
        let text = reported_version("\u{7f}ELF?").unwrap_err();
        assert!(text.contains("does not run here: Exec format error"), "{text}");
    }

    #[test]
    fn missing_libraries_are_named_with_their_packages() {
        let output = "\tlinux-vdso.so.1 (0x00007ffc)\n\tlibaio.so.1 => not found\n\tlibm.so.6 => \
                      /lib/libm.so.6 (0x7f)\n\tlibodd.so.3 => not found\n\tlibaio.so.1 => not \
                      found\n";
        assert_eq!(parse_missing(output), ["libaio.so.1", "libodd.so.3"]);
        assert_eq!(
            missing_libraries_text(&parse_missing(output)),
            "it lacks libaio.so.1, libodd.so.3: install their packages (Debian: apt install \
             libaio1)"
        );
        assert_eq!(missing_libraries_text(&["libodd.so.3".to_owned()]), "it lacks libodd.so.3");
    }
}
