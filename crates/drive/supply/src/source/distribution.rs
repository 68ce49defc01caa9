//! The library the operating system's distribution installed: `rocksdb@system`.

use std::path::{Path, PathBuf};
use std::process::Command;

use model::BuildRef;

use super::{Fetched, Progress, Source};
use crate::artifact::Artifact;
use crate::error::SupplyError;
use crate::library::digest;

/// The version that stands for "what the distribution has".
const SYSTEM: &str = "system";

/// Start of the library's file name; a version follows.
const PREFIX: &str = "librocksdb.so.";

/// The distribution's `librocksdb`.
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
    /// Returns the source that searches `dirs`, the first that has a library wins.
    #[must_use]
    pub fn new(dirs: Vec<PathBuf>) -> Self {
        Self { dirs }
    }

    /// Returns the newest library of the first directory that has one, links followed.
    fn find(&self) -> Option<PathBuf> {
        self.dirs.iter().find_map(|dir| newest_library(dir))
    }
}

impl Source for Distribution {
    fn offers(&self, build: &BuildRef) -> bool {
        build.engine == "rocksdb" && build.version.as_deref() == Some(SYSTEM)
    }

    fn fetch(
        &self,
        _build: &BuildRef,
        library: &Path,
        progress: Progress<'_>,
    ) -> Result<Fetched, SupplyError> {
        let Some(found) = self.find() else {
            let searched: Vec<_> = self.dirs.iter().map(|dir| dir.display().to_string()).collect();
            return Err(SupplyError::NoDistributionLibrary { searched: searched.join(", ") });
        };
        progress(&format!("copying {}", found.display()));
        std::fs::copy(&found, library).map_err(SupplyError::io("copy", &found))?;
        Ok(Fetched::of(origin(&found)))
    }

    fn is_current(&self, cached: &Artifact) -> Result<bool, SupplyError> {
        // An uninstalled package does not make the cached copy worse.
        let Some(found) = self.find() else { return Ok(true) };
        Ok(digest(&found)?.0 == cached.sha256)
    }
}

/// Returns the library with the highest version in `dir`, links followed.
fn newest_library(dir: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(dir).ok()?;
    entries
        .filter_map(|entry| {
            let name = entry.ok()?.file_name().into_string().ok()?;
            let version = name.strip_prefix(PREFIX)?;
            let parts: Vec<u32> =
                version.split('.').map(str::parse).collect::<Result<_, _>>().ok()?;
            let path = dir.join(&name).canonicalize().ok()?;
            Some((parts, path))
        })
        .max()
        .map(|(_, path)| path)
}

/// Returns the origin in words: the package when the package manager names one.
fn origin(library: &Path) -> String {
    match package_of(library) {
        Some(package) => format!("distribution package {package}"),
        None => format!("distribution library {}", library.display()),
    }
}

/// Returns the package that owns a file, as dpkg or rpm tells.
fn package_of(library: &Path) -> Option<String> {
    let ask = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).arg(library).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let is_name = |text: &&str| !text.is_empty() && !text.contains(char::is_whitespace);
    let from_dpkg = ask("dpkg-query", &["--search"]);
    if let Some(package) = from_dpkg.as_deref().and_then(|text| text.split(':').next()) {
        return Some(package).filter(is_name).map(str::to_owned);
    }
    let from_rpm = ask("rpm", &["--query", "--queryformat", "%{NAME}", "--file"]);
    from_rpm.as_deref().map(str::trim).filter(is_name).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system() -> BuildRef {
        "rocksdb@system".parse().unwrap()
    }

    #[test]
    fn the_newest_library_is_taken_and_its_link_followed() {
        let dir = tempfile::tempdir().unwrap();
        for (name, tail) in [("librocksdb.so.7.8.3", "a"), ("librocksdb.so.10.2.1", "b")] {
            std::fs::write(dir.path().join(name), tail).unwrap();
        }
        std::os::unix::fs::symlink("librocksdb.so.7.8.3", dir.path().join("librocksdb.so.7.8"))
            .unwrap();
        std::fs::write(dir.path().join("librocksdb.so.old"), "").unwrap();
        let found = Distribution::new(vec![dir.path().join("absent"), dir.path().to_owned()]);
        assert!(found.find().unwrap().ends_with("librocksdb.so.10.2.1"));
        let library = dir.path().join("copy.so");
        let fetched = found.fetch(&system(), &library, &mut |_| ()).unwrap();
        assert!(fetched.origin.starts_with("distribution library"), "{}", fetched.origin);
        assert_eq!(std::fs::read(library).unwrap(), b"b");
    }

    #[test]
    fn no_package_is_an_error_that_says_what_to_install() {
        let dir = tempfile::tempdir().unwrap();
        let source = Distribution::new(vec![dir.path().to_owned()]);
        let error = source.fetch(&system(), &dir.path().join("x"), &mut |_| ()).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("apt install librocksdb7.8"), "{text}");
        assert!(text.contains(&dir.path().display().to_string()), "{text}");
    }

    #[test]
    fn the_owning_package_is_named() {
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
