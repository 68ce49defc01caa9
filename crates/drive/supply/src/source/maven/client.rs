//! The Maven client: copies one artifact into a directory.

use std::path::{Path, PathBuf};
use std::process::Command;

use model::BuildRef;

use super::failure::classify_failure;
use crate::error::SupplyError;
use crate::program::{files_in, run, text};
use crate::release::nearest;

/// The goal that copies one artifact; its version is pinned, the default one is of 2013.
const GOAL: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy";

/// Timeout of a connection, ms: a wrong proxy fails within half a minute.
const CONNECT_TIMEOUT_MS: u32 = 20_000;

/// Timeout of a read, ms; Maven's default is half an hour.
const READ_TIMEOUT_MS: u32 = 120_000;

pub(super) struct Request<'a> {
    /// The program and its first arguments.
    pub(super) command: &'a [String],
    pub(super) build: &'a BuildRef,
    pub(super) artifact: &'a str,
    /// Versions known to exist, oldest first.
    pub(super) known: &'static [&'static str],
    /// What the user may give instead, with the command: a library or an installation.
    pub(super) own: String,
}

impl Request<'_> {
    /// Copies the artifact into `dir` and returns the jar.
    pub(super) fn copy_artifact(&self, dir: &Path) -> Result<PathBuf, SupplyError> {
        std::fs::create_dir_all(dir).map_err(SupplyError::io("create", dir))?;
        match self.run_copy(dir, "--update-snapshots") {
            // Maven requests an artifact's description even when it has the artifact itself.
            Err(unreachable @ SupplyError::Unreachable(_)) => {
                self.run_copy(dir, "--offline").map_err(|_not_had| unreachable)?;
            }
            other => other?,
        }
        let jar = files_in(dir, &["jar"])?.pop();
        jar.ok_or_else(|| self.failed("it succeeded but copied no jar"))
    }

    /// Runs Maven's copy goal.
    ///
    /// `mode` is `--offline`, or `--update-snapshots`: retry artifacts that were missing before.
    fn run_copy(&self, dir: &Path, mode: &str) -> Result<(), SupplyError> {
        let mut args = self.command.iter();
        let program = args.next().map_or("mvn", String::as_str);
        let mut command = Command::new(program);
        // Maven reads a pom.xml in its working directory: run it where there is none.
        command.args(args).current_dir(dir).args(["-q", "-B", "--strict-checksums", mode, GOAL]);
        command.args([
            format!("-Daether.connector.connectTimeout={CONNECT_TIMEOUT_MS}"),
            format!("-Daether.connector.requestTimeout={READ_TIMEOUT_MS}"),
            format!("-Dartifact={}", self.artifact),
            format!("-DoutputDirectory={}", dir.display()),
            "-Dmdep.useBaseVersion=true".to_owned(),
        ]);
        let output = run(&mut command, || {
            format!(
                "no Maven client (`{program}`) on this machine: install one (Debian: apt install \
                 maven), or give your own {}",
                self.own
            )
        })?;
        if output.status.success() {
            return Ok(());
        }
        Err(classify_failure(self, &(text(&output.stdout) + &text(&output.stderr))))
    }

    /// Returns the error for a version that was never published.
    pub(super) fn unpublished(&self) -> SupplyError {
        let Self { build, known, .. } = self;
        let nearest = nearest(build.version.as_deref().unwrap_or_default(), known);
        SupplyError::Unpublished(format!(
            "{build} does not exist: the nearest known release is {}@{nearest}",
            build.engine
        ))
    }

    /// Returns the error for a failure of Maven's own.
    pub(super) fn failed(&self, summary: &str) -> SupplyError {
        SupplyError::ClientFailed(format!(
            "{} could not be fetched, Maven reports: {summary}; repeat by hand: mvn {GOAL} \
             -Dartifact={}",
            self.build, self.artifact
        ))
    }
}
