//! Version output of a server's program, and its missing libraries.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Output;

use dynlib::read_regular;
use object::Endianness;
use object::elf::{DT_NEEDED, DT_RPATH, DT_RUNPATH};
use object::read::elf::ElfFile64;

use crate::error::{Result, SupplyError};
use crate::program::{lines, text, unless_busy};
use crate::source::Distribution;

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
pub(crate) fn version_of(program: &Path, root: &Path, shown: &str) -> Result<String> {
    let failure =
        |reason: String| SupplyError::Unavailable(format!("{shown} does not run here: {reason}"));
    let dirs = std::env::join_paths(library_dirs(root)).ok().filter(|path| !path.is_empty());
    let dirs = dirs.map(|path| ("LD_LIBRARY_PATH".to_owned(), path.to_string_lossy().into_owned()));
    let environment: Vec<_> = dirs.into_iter().collect();
    let ended = unless_busy(|| ::server::version_output(program, &environment));
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
///
/// Read from the files, as the loader would search them: nothing of the tree is run. A file that
/// cannot be parsed needs none.
pub(crate) fn missing_libraries(file: &Path, root: &Path) -> Vec<String> {
    let mut dirs = library_dirs(root);
    dirs.extend(Distribution::default().library_dirs());
    let (mut todo, mut known, mut missing) = (vec![file.to_owned()], BTreeSet::new(), Vec::new());
    while let Some(file) = todo.pop() {
        let (needed, own_dirs) = needed_by(&file).unwrap_or_default();
        dirs.splice(0..0, own_dirs);
        for name in needed {
            if known.contains(&name) {
                continue;
            }
            match dirs.iter().map(|dir| dir.join(&name)).find(|path| path.is_file()) {
                Some(found) => todo.push(found),
                None => missing.push(name.clone()),
            }
            known.insert(name);
        }
    }
    missing.sort();
    missing
}

/// Returns the names of the libraries that a file needs, and where it searches them first.
///
/// Source: ELF, "Dynamic Section" (`DT_NEEDED`, `DT_RPATH`, `DT_RUNPATH`); ld.so(8), `$ORIGIN`.
fn needed_by(file: &Path) -> Option<(Vec<String>, Vec<PathBuf>)> {
    let image = read_regular(file).ok()?;
    let elf = ElfFile64::<Endianness>::parse(&*image).ok()?;
    let table = elf.elf_dynamic_table().ok()?;
    let origin = file.parent()?.to_string_lossy();
    let (mut needed, mut dirs) = (Vec::new(), Vec::new());
    for entry in table.iter() {
        let text = || Some(String::from_utf8_lossy(table.string(entry).ok()?).into_owned());
        match entry.tag {
            DT_NEEDED => needed.extend(text()),
            DT_RPATH | DT_RUNPATH => {
                let path = text()?.replace("${ORIGIN}", &origin).replace("$ORIGIN", &origin);
                dirs.extend(path.split(':').map(PathBuf::from));
            }
            _ => {}
        }
    }
    Some((needed, dirs))
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
        assert!(text.contains("does not run here: `--version` failed"), "{text}");
    }

    /// Goal: libraries are searched without running anything of the tree.
    /// Method: a copy of this program needs a library of another name, which is then put in place.
    #[test]
    fn missing_libraries_are_named_with_their_packages() {
        let own = std::env::current_exe().unwrap();
        assert_eq!(missing_libraries(&own, Path::new("/nowhere")), Vec::<String>::new());
        let dir = tree("");
        let program = dir.path().join("bin/server");
        let image = fs::read(&own).unwrap();
        let at = image.windows(10).position(|it| it == b"libc.so.6\0").unwrap();
        fs::write(&program, [&image[..at], b"libq", &image[at + 4..]].concat()).unwrap();
        let missing = missing_libraries(&program, dir.path());
        assert_eq!(missing, ["libq.so.6"]);
        assert_eq!(missing_libraries_text(&missing), "it lacks libq.so.6");
        let lib = dir.path().join("lib").join(format!("{}-linux-gnu", std::env::consts::ARCH));
        fs::create_dir_all(&lib).unwrap();
        fs::write(lib.join("libq.so.6"), "").unwrap();
        assert_eq!(missing_libraries(&program, dir.path()), Vec::<String>::new());
        assert_eq!(missing_libraries(&own.with_file_name("absent"), dir.path()), [""; 0]);
        let both = ["libaio.so.1", "libodd.so.3"].map(str::to_owned);
        assert_eq!(
            missing_libraries_text(&both),
            "it lacks libaio.so.1, libodd.so.3: install their packages (Debian: apt install \
             libaio1)"
        );
    }

    #[test]
    fn a_fetched_program_does_not_run_as_root() {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: only root has rights to give up");
            return;
        }
        let output = reported_version(
            "#!/bin/sh\nid -u; grep -E '^(NoNewPrivs|CapEff)' /proc/self/status\n",
        );
        let output = output.unwrap();
        let lines: Vec<_> = output.lines().map(str::trim).collect();
        assert_ne!(lines[0], "0", "{output}");
        assert!(output.contains("CapEff:\t0000000000000000"), "{output}");
        assert!(output.contains("NoNewPrivs:\t1"), "{output}");
    }
}
