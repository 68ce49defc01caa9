//! MariaDB with MyRocks out of Debian's packages, unpacked but not installed: `mariadb@10.11`.
//!
//! Nothing of the system changes. Where the system's lists of packages are missing or out of date,
//! lists of our own are fetched into a scratch directory, for which no privilege is needed.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use model::BuildRef;

use super::maven::without_addresses;
use super::{Fetched, Progress, Source, add_call};
use crate::error::SupplyError;
use crate::release::parse;
use crate::server::{missing_libraries, package_of};

/// The engine.
const ENGINE: &str = "mariadb";

/// Versions known to work.
const KNOWN: &[&str] = &["10.11"];

/// The package of the server's program, whose version is the build's.
const MAIN: &str = "mariadb-server-core";

/// What is unpacked beside it: MyRocks, and a library that few machines have.
const MORE: [&str; 2] = ["mariadb-plugin-rocksdb", "liburing2"];

/// Files whose libraries must be found, from the tree's root.
const CHECKED: [&str; 2] = ["usr/sbin/mariadbd", "usr/lib/mysql/plugin/ha_rocksdb.so"];

/// Libraries bring libraries; no chain of theirs is longer.
const ROUNDS_MAX: usize = 4;

/// Debian's packages of a server, through apt.
#[derive(Debug, Clone, Copy)]
pub struct Debian;

impl Source for Debian {
    fn offers(&self, build: &BuildRef) -> bool {
        build.engine == ENGINE && build.version.as_deref().and_then(parse).is_some()
    }

    fn example(&self, build: &BuildRef) -> Option<&'static str> {
        self.known(&build.engine).last().copied()
    }

    fn known(&self, engine: &str) -> &[&'static str] {
        if engine == ENGINE { KNOWN } else { &[] }
    }

    fn fetch(
        &self,
        build: &BuildRef,
        place: &Path,
        progress: Progress<'_>,
    ) -> Result<Fetched, SupplyError> {
        let mut apt = Apt { build, work: place.with_extension("debian"), has_own_lists: false };
        fs::create_dir_all(&apt.work).map_err(SupplyError::io("create", &apt.work))?;
        let mut packages = vec![MAIN.to_owned()];
        packages.extend(MORE.map(str::to_owned));
        progress(&format!("asking apt for {} (11 MB)", packages.join(", ")));
        let version = match apt.obtain(&packages) {
            Err(SupplyError::ClientFailed { .. } | SupplyError::NoPackage { .. }) => {
                progress("not in this system's lists of packages: fetching fresh ones (10 MB)");
                apt.update()?;
                apt.obtain(&packages)?
            }
            other => other?,
        };
        progress(&format!("unpacking {MAIN} {version}"));
        apt.unpack(place)?;
        for _round in 0..ROUNDS_MAX {
            let lacking = lacking(place, &packages);
            if lacking.is_empty() {
                break;
            }
            progress(&format!("asking apt for what it lacks here: {}", lacking.join(", ")));
            apt.download(&lacking)?;
            apt.unpack(place)?;
            packages.extend(lacking);
        }
        let mut fetched = Fetched::of(format!("Debian package {MAIN} {version}"));
        fetched.facts.insert("packages".to_owned(), packages.join(" "));
        fetched.facts.insert("package_version".to_owned(), version);
        Ok(fetched)
    }
}

/// Returns the packages that would bring what the files in the tree lack here, but those had.
fn lacking(tree: &Path, had: &[String]) -> Vec<String> {
    let missing = CHECKED.iter().flat_map(|file| missing_libraries(&tree.join(file), tree));
    let packages = missing.filter_map(|library| package_of(&library)).map(str::to_owned);
    let packages: BTreeSet<_> = packages.filter(|package| !had.contains(package)).collect();
    packages.into_iter().collect()
}

/// apt, working in a directory of ours.
struct Apt<'a> {
    build: &'a BuildRef,
    work: PathBuf,
    has_own_lists: bool,
}

impl Apt<'_> {
    /// Downloads packages, of which the first has the version asked for; returns that version.
    fn obtain(&self, packages: &[String]) -> Result<String, SupplyError> {
        let version = self.candidate()?;
        let asked = self.build.version.as_deref().unwrap_or_default();
        if !is_of(upstream(&version), asked) {
            let has = upstream(&version);
            let series: Vec<_> = has.split('.').take(2).collect();
            return Err(SupplyError::OtherVersion {
                build: self.build.to_string(),
                has: has.to_owned(),
                nearest: format!("{ENGINE}@{}", series.join(".")),
                add: add_call(self.build),
            });
        }
        self.download(packages)?;
        Ok(version)
    }

    /// Returns the version of the main package that would be downloaded.
    fn candidate(&self) -> Result<String, SupplyError> {
        let output = self.run("apt-cache", &["policy", MAIN])?;
        let text = String::from_utf8_lossy(&output.stdout);
        let found = text.lines().find_map(|line| line.trim().strip_prefix("Candidate:"));
        match found.map(str::trim) {
            Some(version) if version != "(none)" => Ok(version.to_owned()),
            _ => Err(SupplyError::NoPackage {
                build: self.build.to_string(),
                package: MAIN,
                add: add_call(self.build),
            }),
        }
    }

    /// Fetches lists of packages of our own.
    fn update(&mut self) -> Result<(), SupplyError> {
        self.has_own_lists = true;
        for dir in ["lists", "cache"].map(|name| self.work.join(name)) {
            fs::create_dir_all(&dir).map_err(SupplyError::io("create", &dir))?;
        }
        self.succeed("apt-get", &["update", "-qq"])
    }

    /// Downloads packages into the work directory.
    fn download(&self, packages: &[String]) -> Result<(), SupplyError> {
        let mut arguments = vec!["download", "-qq"];
        arguments.extend(packages.iter().map(String::as_str));
        self.succeed("apt-get", &arguments)
    }

    /// Unpacks every package in the work directory, and throws it away.
    fn unpack(&self, into: &Path) -> Result<(), SupplyError> {
        for entry in fs::read_dir(&self.work).map_err(SupplyError::io("list", &self.work))? {
            let package = entry.map_err(SupplyError::io("list", &self.work))?.path();
            if package.extension().is_some_and(|extension| extension == "deb") {
                let arguments = [Path::new("-x"), &package, into].map(Path::to_string_lossy);
                let arguments: Vec<&str> = arguments.iter().map(|it| &**it).collect();
                self.succeed("dpkg-deb", &arguments)?;
                fs::remove_file(&package).map_err(SupplyError::io("remove", &package))?;
            }
        }
        gather_libraries(into)
    }

    /// Runs a command that must succeed.
    fn succeed(&self, command: &'static str, arguments: &[&str]) -> Result<(), SupplyError> {
        let output = self.run(command, arguments)?;
        if output.status.success() {
            return Ok(());
        }
        Err(SupplyError::ClientFailed {
            build: self.build.to_string(),
            command,
            summary: summary(&String::from_utf8_lossy(&output.stderr)),
        })
    }

    /// Runs a command of Debian's in the work directory.
    fn run(&self, command: &'static str, arguments: &[&str]) -> Result<Output, SupplyError> {
        let mut it = Command::new(command);
        it.current_dir(&self.work).env("LC_ALL", "C").stdin(Stdio::null());
        if command != "dpkg-deb" {
            // It may write where we write, so it need not become another user to download.
            it.arg("-oAPT::Sandbox::User=root");
        }
        if self.has_own_lists && command != "dpkg-deb" {
            let at = |name: &str| self.work.join(name).display().to_string();
            it.arg(format!("-oDir::State::Lists={}", at("lists")));
            it.arg(format!("-oDir::Cache={}", at("cache")));
        }
        it.args(arguments).output().map_err(|error| {
            if error.kind() == io::ErrorKind::NotFound {
                return SupplyError::NoClient {
                    command,
                    build: self.build.to_string(),
                    package: if command == "dpkg-deb" { "dpkg" } else { "apt" },
                    add: add_call(self.build),
                };
            }
            SupplyError::io("run", Path::new(command))(error)
        })
    }
}

/// Returns the part of a package's version that its authors gave: `10.11.19` of
/// `1:10.11.19-0+deb12u1`.
///
/// Source: Debian Policy 4.6, section 5.6.12, "Version".
fn upstream(version: &str) -> &str {
    let without_epoch = version.split_once(':').map_or(version, |(_, rest)| rest);
    without_epoch.rsplit_once('-').map_or(without_epoch, |(version, _)| version)
}

/// Returns whether a version is the one asked for, or of the series asked for.
fn is_of(version: &str, asked: &str) -> bool {
    version.strip_prefix(asked).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Moves libraries that lie in `lib/` to those in `usr/lib/`, where all are looked for.
fn gather_libraries(tree: &Path) -> Result<(), SupplyError> {
    let triplet = format!("{}-linux-gnu", std::env::consts::ARCH);
    let (from, to) = (tree.join("lib").join(&triplet), tree.join("usr/lib").join(&triplet));
    if !from.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(&to).map_err(SupplyError::io("create", &to))?;
    for entry in fs::read_dir(&from).map_err(SupplyError::io("list", &from))? {
        let path = entry.map_err(SupplyError::io("list", &from))?.path();
        let place = to.join(path.file_name().unwrap_or_default());
        fs::rename(&path, place).map_err(SupplyError::io("move", &path))?;
    }
    fs::remove_dir(&from).map_err(SupplyError::io("remove", &from))
}

/// Returns the first error of apt's, without addresses.
fn summary(text: &str) -> String {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines().find_map(|line| line.strip_prefix("E: ")).or_else(|| lines().next());
    without_addresses(first.unwrap_or("nothing"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_is_asked_for_or_one_version_of_it() {
        assert_eq!(upstream("1:10.11.19-0+deb12u1"), "10.11.19");
        assert_eq!(upstream("2.3"), "2.3");
        assert!(is_of("10.11.19", "10.11") && is_of("10.11.19", "10.11.19"));
        assert!(!is_of("10.11.19", "10.1") && !is_of("11.8.2", "10.11"));
    }

    #[test]
    fn what_apt_refuses_is_told_without_addresses() {
        let text = "W: something\nE: Failed to fetch http://deb.example/x.deb  404  Not Found\n";
        assert_eq!(summary(text), "Failed to fetch (address)  404  Not Found");
        assert_eq!(summary(""), "nothing");
    }

    #[test]
    fn libraries_end_up_in_one_directory() {
        let dir = tempfile::tempdir().unwrap();
        let triplet = format!("{}-linux-gnu", std::env::consts::ARCH);
        let from = dir.path().join("lib").join(&triplet);
        fs::create_dir_all(&from).unwrap();
        fs::write(from.join("libaio.so.1"), "a").unwrap();
        gather_libraries(dir.path()).unwrap();
        assert!(dir.path().join("usr/lib").join(triplet).join("libaio.so.1").is_file());
        assert!(!from.exists());
        gather_libraries(dir.path()).unwrap();
    }
}
