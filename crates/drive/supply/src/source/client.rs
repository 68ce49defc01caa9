//! Programs that download builds from registries, and the errors of their failures.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::Command;

use child::Role;
use model::BuildRef;

use crate::error::{Result, SupplyError, add_own};
use crate::program::{files_in, is_installed, run, text};

/// A program that obtains builds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// The program and its first arguments.
    pub command: Vec<String>,
    /// Its name in messages.
    pub name: &'static str,
    /// Its package in Debian.
    pub package: &'static str,
}

impl Client {
    /// Returns the client that is a program without further arguments.
    pub fn new(program: &str, name: &'static str, package: &'static str) -> Self {
        Self { command: vec![program.to_owned()], name, package }
    }

    /// Returns its program.
    pub fn program(&self) -> &str {
        self.command.first().map_or(self.name, String::as_str)
    }

    /// Returns whether it is installed.
    pub fn is_installed(&self) -> bool {
        is_installed(self.program())
    }

    /// Returns its command, which runs in `dir`.
    pub(super) fn command_in(&self, dir: &Path) -> Command {
        let mut command = child::command(Role::BuildTool, self.program());
        command.args(self.command.iter().skip(1)).current_dir(dir);
        command
    }

    /// Runs its command to its end; returns what it printed if it failed.
    pub(super) fn run(
        &self,
        build: &BuildRef,
        command: &mut Command,
    ) -> Result<Result<(), String>> {
        let output = run(command, || no_client(build, std::slice::from_ref(self)))?;
        let printed = || text(&output.stdout) + &text(&output.stderr);
        Ok(if output.status.success() { Ok(()) } else { Err(printed()) })
    }

    /// Returns the file with that extension which it wrote into `dir`.
    pub(super) fn file_in(&self, build: &BuildRef, dir: &Path, extension: &str) -> Result<PathBuf> {
        let written = files_in(dir, &[extension])?.pop();
        let summary = format!("the command succeeded but wrote no .{extension} file");
        written.ok_or_else(|| client_failed(build, self.name, &summary))
    }
}

/// Returns the text of the error for missing programs, each of which obtains the build.
pub(crate) fn no_client(build: &BuildRef, missing: &[Client]) -> String {
    let programs: Vec<_> = missing.iter().map(Client::program).collect();
    let packages: Vec<_> = missing.iter().map(|client| client.package).collect();
    format!(
        "there is no `{}` on this machine, which obtains {build}: install {} (Debian: apt install \
         {}), or {}",
        programs.join("` or `"),
        if missing.len() > 1 { "one of them" } else { "it" },
        packages.join(", or apt install "),
        add_own(&build.engine)
    )
}

/// Returns the error for a failed program that obtains builds.
pub(crate) fn client_failed(build: impl Display, command: &str, summary: &str) -> SupplyError {
    SupplyError::ClientFailed(format!(
        "{build} could not be fetched, {command} reports: {summary}; check the network and the \
         proxy settings of {command} and repeat; builds already cached keep working"
    ))
}
