//! Debian packages through apt, unpacked without installing.
//!
//! The system is not changed. Where its package lists are missing or out of date, fresh lists are
//! fetched into a scratch directory, which needs no privilege.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use child::Role;
use model::BuildRef;

use super::{Client, Fetched, Progress, client_failed, no_client};
use crate::error::{Result, SupplyError};
use crate::program::{self, files_in, first_error, without_addresses};
use crate::server::{library_dirs, missing_libraries, open_to_all, package_of};

/// Longest chain of dependencies between libraries.
const DEPENDENCY_DEPTH_MAX: usize = 4;

/// apt, working in a scratch directory.
pub(super) struct Apt<'a> {
    build: &'a BuildRef,
    work: PathBuf,
    has_own_lists: bool,
}

impl<'a> Apt<'a> {
    /// Returns apt working in a new directory.
    pub(super) fn new(build: &'a BuildRef, work: PathBuf) -> Result<Self> {
        fs::create_dir_all(&work).map_err(SupplyError::io("create", &work))?;
        Ok(Self { build, work, has_own_lists: false })
    }

    /// Runs an operation that needs package lists; retries it with fresh lists.
    pub(super) fn with_lists<T>(
        &mut self,
        progress: Progress<'_>,
        mut operation: impl FnMut(&Self) -> Result<T>,
    ) -> Result<T> {
        match operation(self) {
            Err(SupplyError::ClientFailed(_) | SupplyError::Unpublished(_)) => {
                progress("the package is not in this system's lists: fetching fresh lists (10 MB)");
                self.update()?;
                operation(self)
            }
            other => other,
        }
    }

    /// Fetches fresh package lists.
    fn update(&mut self) -> Result<()> {
        self.has_own_lists = true;
        for dir in ["lists", "cache"].map(|name| self.work.join(name)) {
            fs::create_dir_all(&dir).map_err(SupplyError::io("create", &dir))?;
        }
        // Otherwise it succeeds without having reached anything.
        self.succeed("apt-get", &["update", "-qq", "-oAPT::Update::Error-Mode=any"])
    }

    /// Downloads packages into the work directory.
    pub(super) fn download(&self, packages: &[String]) -> Result<()> {
        let mut arguments = vec!["download", "-qq"];
        arguments.extend(packages.iter().map(String::as_str));
        self.succeed("apt-get", &arguments)
    }

    /// Unpacks every package in the work directory, and removes it.
    pub(super) fn unpack(&self, into: &Path) -> Result<()> {
        for package in files_in(&self.work, &["deb"])? {
            let [package_text, into] = [&package, into].map(Path::to_string_lossy);
            self.succeed("dpkg-deb", &["-x", &package_text, &into])?;
            fs::remove_file(&package).map_err(SupplyError::io("remove", &package))?;
        }
        Ok(())
    }

    /// Puts the libraries of packages into the directory `into`.
    fn install_libraries(&self, packages: &[String], into: &Path) -> Result<()> {
        self.download(packages)?;
        let unpacked = self.work.join("unpacked");
        self.unpack(&unpacked)?;
        fs::create_dir_all(into).map_err(SupplyError::io("create", into))?;
        let from = library_dirs(&unpacked);
        from.iter().try_for_each(|dir| move_files(dir, into))
    }

    /// Runs a command that must succeed.
    fn succeed(&self, command: &'static str, arguments: &[&str]) -> Result<()> {
        let output = self.run(command, arguments)?;
        if output.status.success() {
            return Ok(());
        }
        Err(client_failed(
            self.build,
            command,
            &without_addresses(first_error(&program::text(&output.stderr), "E: ")),
        ))
    }

    /// Runs a Debian command in the work directory.
    pub(super) fn run(&self, command: &'static str, arguments: &[&str]) -> Result<Output> {
        let mut it = child::command(Role::BuildTool, command);
        it.current_dir(&self.work).env("LC_ALL", "C");
        if command != "dpkg-deb" {
            // The work directory may be closed to apt's own user.
            it.arg("-oAPT::Sandbox::User=root");
        }
        if self.has_own_lists && command != "dpkg-deb" {
            let at = |name: &str| self.work.join(name).display().to_string();
            it.arg(format!("-oDir::State::Lists={}", at("lists")));
            it.arg(format!("-oDir::Cache={}", at("cache")));
        }
        let package = if command == "dpkg-deb" { "dpkg" } else { "apt" };
        let client = || Client::new(command, command, package);
        program::run(it.args(arguments), || no_client(self.build, &[client()]))
    }
}

/// Adds the libraries that a fetched program lacks on this machine.
///
/// Without apt or network the error comes later: the program is tested before it is cached.
pub(crate) fn with_missing_libraries(
    build: &BuildRef,
    tree: &Path,
    mut fetched: Fetched,
    progress: Progress<'_>,
) -> Result<Fetched> {
    let programs = ["bin/mysqld", "bin/mariadbd", "bin/postgres"];
    let Some(program) = programs.into_iter().find(|program| tree.join(program).is_file()) else {
        return Ok(fetched);
    };
    let mut apt = Apt::new(build, tree.with_extension("libraries"))?;
    match install_missing_libraries(&mut apt, tree, &[program], progress) {
        Ok(installed) if installed.is_empty() => {}
        Ok(installed) => {
            fetched.facts.insert("packages".to_owned(), installed.join(" "));
        }
        Err(error) => progress(&format!("the missing libraries could not be installed: {error}")),
    }
    Ok(fetched)
}

/// Adds the libraries that files of a tree lack; returns their packages.
///
/// They go where a server's library path points: the architecture's directory in `lib/` next to the
/// directory of its program.
///
/// # Errors
/// When apt is installed and fails; without apt nothing is added.
pub(super) fn install_missing_libraries(
    apt: &mut Apt<'_>,
    tree: &Path,
    files: &[&str],
    progress: Progress<'_>,
) -> Result<Vec<String>> {
    // Before a file is put below it: no link of the archive leads out of the tree from here on.
    open_to_all(tree)?;
    let program = tree.join(files.first().copied().unwrap_or_default());
    let base = program.ancestors().nth(2).unwrap_or(tree);
    let into = base.join("lib").join(format!("{}-linux-gnu", std::env::consts::ARCH));
    let mut installed = Vec::new();
    for _round in 0..DEPENDENCY_DEPTH_MAX {
        let missing_packages = missing_packages(tree, files, &installed);
        if missing_packages.is_empty() {
            break;
        }
        progress(&format!("requesting missing packages from apt: {}", missing_packages.join(", ")));
        match apt.with_lists(progress, |apt| apt.install_libraries(&missing_packages, &into)) {
            Err(SupplyError::NoProgram(_)) => break,
            other => other?,
        }
        installed.extend(missing_packages);
    }
    Ok(installed)
}

/// Returns the packages of missing libraries, except those installed.
fn missing_packages(tree: &Path, files: &[&str], installed: &[String]) -> Vec<String> {
    let missing = files.iter().flat_map(|file| missing_libraries(&tree.join(file), tree));
    let packages = missing.filter_map(|library| package_of(&library)).map(str::to_owned);
    let packages: BTreeSet<_> = packages.filter(|package| !installed.contains(package)).collect();
    packages.into_iter().collect()
}

/// Moves the entries of a directory into another.
fn move_files(from: &Path, to: &Path) -> Result<()> {
    for entry in fs::read_dir(from).map_err(SupplyError::io("list", from))? {
        let path = entry.map_err(SupplyError::io("list", from))?.path();
        let place = to.join(path.file_name().unwrap_or_default());
        fs::rename(&path, place).map_err(SupplyError::io("move", &path))?;
    }
    Ok(())
}
