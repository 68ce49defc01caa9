//! Builds installed by the distribution: `rocksdb@system`, `postgres@system`.
//!
//! A library is copied, a server is used in place. To add one: a line in [`PACKAGED`].

use std::fs;
use std::path::{Path, PathBuf};

use model::BuildRef;

use super::{Fetched, Offer, Progress, Source};
use crate::artifact::Artifact;
use crate::error::{Result, SupplyError};
use crate::library::digest;
use crate::program::listed;

/// The version name of distribution builds.
const SYSTEM: &str = "system";

/// An engine that distributions package.
struct Packaged {
    engine: &'static str,
    /// Start of a library's file name, a version follows; a server's program from its root.
    file: &'static str,
    /// Roots of a server's installations, `*` stands for a version; empty for a library.
    roots: &'static [&'static str],
    /// How its package is installed, with what a shim needs. Debian has no MySQL.
    install: &'static str,
    /// Debian's package of the headers, for engines that need a shim.
    headers: Option<&'static str>,
}

#[rustfmt::skip]
static PACKAGED: &[Packaged] = &[
    Packaged { engine: "rocksdb", file: "librocksdb.so.", roots: &[], install: "Debian: apt install librocksdb-dev", headers: None },
    Packaged { engine: "wiredtiger", file: "libwiredtiger.so.", roots: &[], install: "Debian: apt install libwiredtiger-dev", headers: Some("libwiredtiger-dev") },
    Packaged { engine: "leveldb", file: "libleveldb.so.", roots: &[], install: "Debian: apt install libleveldb1d", headers: None },
    Packaged { engine: "sqlite", file: "libsqlite3.so.", roots: &[], install: "Debian: apt install libsqlite3-0", headers: None },
    Packaged { engine: "lmdb", file: "liblmdb.so.", roots: &[], install: "Debian: apt install liblmdb0", headers: None },
    Packaged { engine: "postgres", file: "bin/postgres", roots: &["usr/lib/postgresql/*", "usr/pgsql-*", "usr"], install: "Debian: apt install postgresql", headers: None },
    Packaged { engine: "mysql", file: "sbin/mysqld", roots: &["usr"], install: "Ubuntu: apt install mysql-server", headers: None },
    Packaged { engine: "mariadb", file: "sbin/mariadbd", roots: &["usr"], install: "Debian: apt install mariadb-server", headers: None },
];

fn packaged(engine: &str) -> Option<&'static Packaged> {
    PACKAGED.iter().find(|packaged| packaged.engine == engine)
}

/// Returns the Debian package of an engine's headers, if any.
pub(crate) fn headers_package(engine: &str) -> Option<&'static str> {
    packaged(engine)?.headers
}

/// Libraries and servers of the distribution.
#[derive(Debug, Clone)]
pub struct Distribution {
    root: PathBuf,
}

impl Default for Distribution {
    /// Searches this system.
    fn default() -> Self {
        Self::new(PathBuf::from("/"))
    }
}

impl Distribution {
    /// Returns the source that searches the system whose root directory is `root`.
    pub const fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Returns the release of an installed library, by the name of its file: 7.8.3 of
    /// `librocksdb.so.7.8.3`.
    pub fn release(&self, build: &BuildRef) -> Option<String> {
        let packaged = packaged(&build.engine).filter(|_| self.offers(build))?;
        let found = self.find(packaged)?;
        found.file_name()?.to_str()?.strip_prefix(packaged.file).map(str::to_owned)
    }

    /// Returns the loader's usual directories.
    pub(crate) fn library_dirs(&self) -> [PathBuf; 4] {
        let triplet = format!("usr/lib/{}-linux-gnu", std::env::consts::ARCH);
        [&triplet, "usr/lib64", "usr/lib", "usr/local/lib"].map(|dir| self.root.join(dir))
    }

    /// Returns the newest library, links followed, or the root of the newest installation.
    fn find(&self, packaged: &Packaged) -> Option<PathBuf> {
        if packaged.roots.is_empty() {
            let dirs = self.library_dirs();
            return dirs.iter().find_map(|dir| newest_library(dir, packaged.file));
        }
        let mut roots = packaged.roots.iter().flat_map(|pattern| self.roots(pattern));
        roots.find(|root| root.join(packaged.file).is_file())
    }

    /// Returns what [`Self::find`] finds of a build.
    fn installed(&self, build: &BuildRef) -> Result<PathBuf> {
        let packaged = packaged(&build.engine).expect("only packaged engines are offered");
        let Packaged { file, roots, install, .. } = packaged;
        self.find(packaged).ok_or_else(|| {
            let (version, searched) = match roots {
                [] => ("N", listed(self.library_dirs())),
                roots => ("", listed(roots.iter().map(|root| self.root.join(root)))),
            };
            SupplyError::Unavailable(format!(
                "no {file}{version} of {build} is installed (searched: {searched}): install it \
                 ({install})"
            ))
        })
    }

    /// Returns the directories matching a pattern, newest first.
    fn roots(&self, pattern: &str) -> Vec<PathBuf> {
        let Some(begin) = pattern.strip_suffix('*') else { return vec![self.root.join(pattern)] };
        let (parent, begin) = begin.rsplit_once('/').unwrap_or(("", begin));
        let parent = self.root.join(parent);
        let entries = fs::read_dir(&parent).into_iter().flatten().flatten();
        let mut versions: Vec<(u32, PathBuf)> = entries
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                Some((name.strip_prefix(begin)?.parse().ok()?, entry.path()))
            })
            .collect();
        versions.sort_unstable_by(|a, b| b.cmp(a));
        versions.into_iter().map(|(_, path)| path).collect()
    }
}

impl Source for Distribution {
    fn offers(&self, build: &BuildRef) -> bool {
        build.version.as_deref() == Some(SYSTEM) && packaged(&build.engine).is_some()
    }

    fn offer(&self, engine: &str, _arch: &str) -> Option<Offer> {
        let packaged = packaged(engine)?;
        let note = match self.find(packaged) {
            Some(found) => format!("installed: {}", found.display()),
            None => format!("not installed ({})", packaged.install),
        };
        Some(Offer { client: None, releases: &[SYSTEM], note })
    }

    fn missing_packages(&self, build: &BuildRef) -> Option<&'static str> {
        let packaged = packaged(&build.engine).filter(|it| self.find(it).is_none())?;
        packaged.install.strip_prefix("Debian: apt install ")
    }

    fn fetch(&self, build: &BuildRef, library: &Path, progress: Progress<'_>) -> Result<Fetched> {
        let found = self.installed(build)?;
        let is_server = packaged(&build.engine).is_some_and(|packaged| !packaged.roots.is_empty());
        let shown = found.display();
        if is_server {
            progress(&format!("found in {shown}, and used from there"));
            let origin = format!("distribution server in {shown}");
            return Ok(Fetched::copy_of(found, origin));
        }
        progress(&format!("copying {shown}"));
        fs::copy(&found, library).map_err(SupplyError::io("copy", &found))?;
        let origin = format!("distribution library {shown}");
        Ok(Fetched::copy_of(found, origin))
    }

    fn check(&self, build: &BuildRef) -> Result<()> {
        self.installed(build).map(drop)
    }

    fn is_current(&self, cached: &Artifact) -> Result<bool> {
        // A changed server is detected by its hash. The copy of an uninstalled library stays.
        let packaged = packaged(&cached.build.engine).filter(|it| it.roots.is_empty());
        let Some(found) = packaged.and_then(|packaged| self.find(packaged)) else {
            return Ok(true);
        };
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

#[cfg(test)]
mod tests {
    use super::*;

    fn system() -> BuildRef {
        "rocksdb@system".parse().unwrap()
    }

    #[test]
    fn newest_library_is_used_and_links_followed() {
        let dir = tempfile::tempdir().unwrap();
        let lib = dir.path().join("usr/lib");
        fs::create_dir_all(&lib).unwrap();
        for (name, tail) in [("librocksdb.so.7.8.3", "a"), ("librocksdb.so.10.2.1", "b")] {
            std::fs::write(lib.join(name), tail).unwrap();
        }
        std::os::unix::fs::symlink("librocksdb.so.7.8.3", lib.join("librocksdb.so.7.8")).unwrap();
        std::fs::write(lib.join("librocksdb.so.old"), "").unwrap();
        let found = Distribution::new(dir.path().to_owned());
        assert!(
            found.find(packaged("rocksdb").unwrap()).unwrap().ends_with("librocksdb.so.10.2.1")
        );
        assert_eq!(found.release(&system()).as_deref(), Some("10.2.1"));
        assert_eq!(found.release(&"rocksdb@9.10.0".parse().unwrap()), None);
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
        let source = Distribution::new(dir.path().to_owned());
        let error = source.fetch(&system(), &dir.path().join("x"), &mut |_| ()).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("apt install librocksdb-dev)"), "{text}");
        assert!(text.contains(&dir.path().display().to_string()), "{text}");
    }

    #[test]
    fn newest_installation_is_used_in_place() {
        let dir = tempfile::tempdir().unwrap();
        let source = Distribution::new(dir.path().to_owned());
        let build = "postgres@system".parse().unwrap();
        let error = source.fetch(&build, Path::new(""), &mut |_| ()).unwrap_err().to_string();
        assert!(error.ends_with("install it (Debian: apt install postgresql)"), "{error}");
        for version in ["9", "15", "x"] {
            let bin = dir.path().join("usr/lib/postgresql").join(version).join("bin");
            fs::create_dir_all(&bin).unwrap();
            fs::write(bin.join("postgres"), "").unwrap();
        }
        let fetched = source.fetch(&build, Path::new(""), &mut |_| ()).unwrap();
        assert_eq!(fetched.copied, Some(dir.path().join("usr/lib/postgresql/15")));
    }
}
