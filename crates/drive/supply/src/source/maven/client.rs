//! The Maven client: copies one artifact into a directory.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::failure::classify_failure;
use super::request::{GOAL, Request};
use crate::error::SupplyError;

/// Timeout of a connection, ms: a wrong proxy fails within half a minute.
const CONNECT_TIMEOUT_MS: u32 = 20_000;

/// Timeout of a read, ms; Maven's default is half an hour.
const READ_TIMEOUT_MS: u32 = 120_000;

/// An installed Maven client.
#[derive(Debug, Clone)]
pub(super) struct Client {
    /// The program and its first arguments.
    pub(super) command: Vec<String>,
}

impl Client {
    /// Copies an artifact into `dir` and returns the jar.
    pub(super) fn copy_artifact(
        &self,
        request: &Request<'_>,
        dir: &Path,
    ) -> Result<PathBuf, SupplyError> {
        std::fs::create_dir_all(dir).map_err(SupplyError::io("create", dir))?;
        match self.run_copy(request, dir, "--update-snapshots") {
            // Maven requests an artifact's description even when it has the artifact itself.
            Err(unreachable @ SupplyError::Unreachable { .. }) => {
                self.run_copy(request, dir, "--offline").map_err(|_not_had| unreachable)?;
            }
            other => other?,
        }
        only_jar(dir)?.ok_or_else(|| request.failed("it succeeded but copied no jar".to_owned()))
    }

    /// Runs Maven's copy goal.
    ///
    /// `mode` is `--offline`, or `--update-snapshots`: retry artifacts that were missing before.
    fn run_copy(&self, request: &Request<'_>, dir: &Path, mode: &str) -> Result<(), SupplyError> {
        let (program, arguments) =
            self.command.split_first().map_or(("mvn", &[][..]), |(first, rest)| (first, rest));
        // Maven reads a pom.xml in its working directory: run it where there is none.
        let output = Command::new(program)
            .args(arguments)
            .args(["-q", "-B", "--strict-checksums", mode])
            .arg(format!("-Daether.connector.connectTimeout={CONNECT_TIMEOUT_MS}"))
            .arg(format!("-Daether.connector.requestTimeout={READ_TIMEOUT_MS}"))
            .arg(GOAL)
            .arg(format!("-Dartifact={}", request.artifact))
            .arg(format!("-DoutputDirectory={}", dir.display()))
            .arg("-Dmdep.useBaseVersion=true")
            .current_dir(dir)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| {
                if error.kind() == io::ErrorKind::NotFound {
                    return SupplyError::NoMaven {
                        command: program.to_owned(),
                        own: request.own.clone(),
                    };
                }
                SupplyError::io("run", Path::new(program))(error)
            })?;
        if !output.status.success() {
            let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
            text.push_str(&String::from_utf8_lossy(&output.stderr));
            return Err(classify_failure(request, &text));
        }
        Ok(())
    }
}

/// Returns the jar in `dir`.
fn only_jar(dir: &Path) -> Result<Option<PathBuf>, SupplyError> {
    let entries = std::fs::read_dir(dir).map_err(SupplyError::io("list", dir))?;
    let jar = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "jar"));
    Ok(jar)
}
