//! Servers installed by the distribution: `postgres@system`.
//!
//! They are used in place. To add one: a line in [`INSTALLED`].

use std::fs;
use std::path::{Path, PathBuf};

use model::BuildRef;

use super::distribution::{SYSTEM, package_of};
use super::{Fetched, Progress, Source};
use crate::error::SupplyError;

/// A server that distributions package.
struct Packaged {
    engine: &'static str,
    /// The program, from the root of the installation.
    program: &'static str,
    /// Directories of installations; `*` stands for a version.
    roots: &'static [&'static str],
    /// Debian's package, shown in errors.
    package: &'static str,
}

/// The servers that distributions package.
#[rustfmt::skip]
static INSTALLED: &[Packaged] = &[
    Packaged { engine: "postgres", program: "bin/postgres", roots: &["usr/lib/postgresql/*", "usr/pgsql-*", "usr"], package: "postgresql" },
    Packaged { engine: "mysql", program: "sbin/mysqld", roots: &["usr"], package: "mysql-server" },
    Packaged { engine: "mariadb", program: "sbin/mariadbd", roots: &["usr"], package: "mariadb-server" },
];

/// Servers of the distribution.
#[derive(Debug, Clone)]
pub struct Installed {
    root: PathBuf,
}

impl Default for Installed {
    /// Searches this system.
    fn default() -> Self {
        Self::new(PathBuf::from("/"))
    }
}

impl Installed {
    /// Returns the source that searches the system whose root directory is `root`.
    #[must_use]
    pub const fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Returns the newest installation of a server.
    fn find(&self, packaged: &Packaged) -> Option<PathBuf> {
        let roots = packaged.roots.iter().flat_map(|pattern| self.roots(pattern));
        roots.into_iter().find(|root| root.join(packaged.program).is_file())
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

/// Returns the package of an engine.
fn packaged(engine: &str) -> Option<&'static Packaged> {
    INSTALLED.iter().find(|packaged| packaged.engine == engine)
}

impl Source for Installed {
    fn offers(&self, build: &BuildRef) -> bool {
        build.version.as_deref() == Some(SYSTEM) && packaged(&build.engine).is_some()
    }

    fn example(&self, build: &BuildRef) -> Option<&'static str> {
        packaged(&build.engine).map(|_| SYSTEM)
    }

    fn fetch(
        &self,
        build: &BuildRef,
        _place: &Path,
        progress: Progress<'_>,
    ) -> Result<Fetched, SupplyError> {
        let packaged = packaged(&build.engine).ok_or_else(|| SupplyError::NoSource {
            build: build.to_string(),
            hint: "distributions have no such server".to_owned(),
        })?;
        let Some(root) = self.find(packaged) else {
            let searched = packaged.roots.iter().map(|root| self.root.join(root));
            let searched: Vec<_> = searched.map(|root| root.display().to_string()).collect();
            return Err(SupplyError::NoDistributionServer {
                build: build.to_string(),
                program: packaged.program,
                package: packaged.package,
                searched: searched.join(", "),
            });
        };
        progress(&format!("found in {}: it is used from there", root.display()));
        let origin = match package_of(&root.join(packaged.program)) {
            Some(package) => format!("distribution package {package}"),
            None => format!("distribution server in {}", root.display()),
        };
        Ok(Fetched::copy_of(root, origin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newest_installation_is_used_in_place() {
        let dir = tempfile::tempdir().unwrap();
        let source = Installed::new(dir.path().to_owned());
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
