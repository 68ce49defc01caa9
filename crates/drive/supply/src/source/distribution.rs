//! Libraries installed by the distribution: `rocksdb@system`.
//!
//! To add one: a line in [`PACKAGED`].

use std::path::{Path, PathBuf};
use std::process::Command;

use model::BuildRef;

use super::{Fetched, Progress, Source};
use crate::artifact::Artifact;
use crate::error::SupplyError;
use crate::library::digest;

/// The version name of distribution builds.
pub(super) const SYSTEM: &str = "system";

/// An engine that distributions package.
struct Packaged {
    engine: &'static str,
    /// Start of the library's file name; a version follows.
    library: &'static str,
    /// Debian's package, shown in errors; it includes what a shim needs.
    package: &'static str,
    /// Debian's package of the headers, for engines that need a shim.
    headers: Option<&'static str>,
}

/// The engines that distributions package.
#[rustfmt::skip]
static PACKAGED: &[Packaged] = &[
    Packaged { engine: "rocksdb", library: "librocksdb.so.", package: "librocksdb7.8", headers: None },
    Packaged { engine: "wiredtiger", library: "libwiredtiger.so.", package: "libwiredtiger0 libwiredtiger-dev", headers: Some("libwiredtiger-dev") },
    Packaged { engine: "leveldb", library: "libleveldb.so.", package: "libleveldb1d", headers: None },
    Packaged { engine: "sqlite", library: "libsqlite3.so.", package: "libsqlite3-0", headers: None },
    Packaged { engine: "lmdb", library: "liblmdb.so.", package: "liblmdb0", headers: None },
];

/// Returns the package of an engine.
fn packaged(engine: &str) -> Option<&'static Packaged> {
    PACKAGED.iter().find(|packaged| packaged.engine == engine)
}

/// Returns the Debian package of an engine's headers, if any.
pub(crate) fn headers_package(engine: &str) -> Option<&'static str> {
    packaged(engine)?.headers
}

/// Engine libraries of the distribution.
#[derive(Debug, Clone)]
pub struct Distribution {
    dirs: Vec<PathBuf>,
}

impl Default for Distribution {
    /// Searches the loader's usual directories.
    fn default() -> Self {
        let triplet = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
        Self::new([&triplet, "/usr/lib64", "/usr/lib", "/usr/local/lib"].map(PathBuf::from).into())
    }
}

impl Distribution {
    /// Returns a source that searches `dirs` in order.
    #[must_use]
    pub fn new(dirs: Vec<PathBuf>) -> Self {
        Self { dirs }
    }

    /// Returns the newest library of the first directory that has one, links followed.
    fn find(&self, packaged: &Packaged) -> Option<PathBuf> {
        self.dirs.iter().find_map(|dir| newest_library(dir, packaged.library))
    }
}

impl Source for Distribution {
    fn offers(&self, build: &BuildRef) -> bool {
        build.version.as_deref() == Some(SYSTEM) && packaged(&build.engine).is_some()
    }

    fn example(&self, build: &BuildRef) -> Option<&'static str> {
        packaged(&build.engine).map(|_| SYSTEM)
    }

    fn fetch(
        &self,
        build: &BuildRef,
        library: &Path,
        progress: Progress<'_>,
    ) -> Result<Fetched, SupplyError> {
        let packaged = packaged(&build.engine).ok_or_else(|| SupplyError::NoSource {
            build: build.to_string(),
            hint: "distributions have no such engine".to_owned(),
        })?;
        let Some(found) = self.find(packaged) else {
            let searched: Vec<_> = self.dirs.iter().map(|dir| dir.display().to_string()).collect();
            return Err(SupplyError::NoDistributionLibrary {
                library: packaged.library,
                package: packaged.package,
                searched: searched.join(", "),
            });
        };
        progress(&format!("copying {}", found.display()));
        std::fs::copy(&found, library).map_err(SupplyError::io("copy", &found))?;
        let origin = origin(&found);
        Ok(Fetched::copy_of(found, origin))
    }

    fn is_current(&self, cached: &Artifact) -> Result<bool, SupplyError> {
        // The cached copy of an uninstalled package remains usable.
        let found = packaged(&cached.build.engine).and_then(|packaged| self.find(packaged));
        let Some(found) = found else { return Ok(true) };
        Ok(digest(&found)?.0 == cached.sha256)
    }
}

/// Returns the library with the highest version in `dir`, links followed.
fn newest_library(dir: &Path, prefix: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(dir).ok()?;
    entries
        .filter_map(|entry| {
            let name = entry.ok()?.file_name().into_string().ok()?;
            let parts = parts(name.strip_prefix(prefix)?)?;
            let path = dir.join(&name).canonicalize().ok()?;
            Some((parts, path))
        })
        .max()
        .map(|(_, path)| path)
}

/// Parses a library's version into numbers with suffixes: `1d` is (1, d).
fn parts(version: &str) -> Option<Vec<(u32, String)>> {
    let part = |text: &str| {
        let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
        Some((text[..digits].parse().ok()?, text[digits..].to_owned()))
    };
    version.split('.').map(part).collect()
}

/// Describes the origin: the package when the package manager names one.
fn origin(library: &Path) -> String {
    match package_of(library) {
        Some(package) => format!("distribution package {package}"),
        None => format!("distribution library {}", library.display()),
    }
}

/// Returns the package that owns a file, from dpkg or rpm.
pub(super) fn package_of(library: &Path) -> Option<String> {
    let run = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).arg(library).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let is_name = |text: &&str| !text.is_empty() && !text.contains(char::is_whitespace);
    let from_dpkg = run("dpkg-query", &["--search"]);
    if let Some(package) = from_dpkg.as_deref().and_then(|text| text.split(':').next()) {
        return Some(package).filter(is_name).map(str::to_owned);
    }
    let from_rpm = run("rpm", &["--query", "--queryformat", "%{NAME}", "--file"]);
    from_rpm.as_deref().map(str::trim).filter(is_name).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system() -> BuildRef {
        "rocksdb@system".parse().unwrap()
    }

    #[test]
    fn newest_library_is_used_and_links_followed() {
        let dir = tempfile::tempdir().unwrap();
        for (name, tail) in [("librocksdb.so.7.8.3", "a"), ("librocksdb.so.10.2.1", "b")] {
            std::fs::write(dir.path().join(name), tail).unwrap();
        }
        std::os::unix::fs::symlink("librocksdb.so.7.8.3", dir.path().join("librocksdb.so.7.8"))
            .unwrap();
        std::fs::write(dir.path().join("librocksdb.so.old"), "").unwrap();
        let found = Distribution::new(vec![dir.path().join("absent"), dir.path().to_owned()]);
        assert!(
            found.find(packaged("rocksdb").unwrap()).unwrap().ends_with("librocksdb.so.10.2.1")
        );
        let library = dir.path().join("copy.so");
        let fetched = found.fetch(&system(), &library, &mut |_| ()).unwrap();
        assert!(fetched.origin.starts_with("distribution library"), "{}", fetched.origin);
        assert_eq!(std::fs::read(library).unwrap(), b"b");
    }

    #[test]
    fn versions_may_contain_letters() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["libleveldb.so.1.22", "libleveldb.so.1d", "libleveldb.so.d1", "libleveldb.so."]
        {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        let found = newest_library(dir.path(), "libleveldb.so.").unwrap();
        assert!(found.ends_with("libleveldb.so.1d"), "{}", found.display());
        assert!(parts("9.10") > parts("9.9"));
    }

    #[test]
    fn missing_package_error_names_the_package() {
        let dir = tempfile::tempdir().unwrap();
        let source = Distribution::new(vec![dir.path().to_owned()]);
        let error = source.fetch(&system(), &dir.path().join("x"), &mut |_| ()).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("apt install librocksdb7.8"), "{text}");
        assert!(text.contains(&dir.path().display().to_string()), "{text}");
    }

    #[test]
    fn owning_package_is_named() {
        let Some(owned) =
            ["/usr/bin/dpkg", "/usr/bin/rpm"].map(Path::new).into_iter().find(|p| p.exists())
        else {
            println!("skipped: neither dpkg nor rpm here");
            return;
        };
        assert_eq!(
            origin(owned),
            format!("distribution package {}", owned.file_name().unwrap().display())
        );
    }
}
