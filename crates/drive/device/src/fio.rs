//! The program fio, run as a child process.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use child::Role;
use model::IoSample;

use crate::counters::read_stat;
use crate::error::DeviceError;
use crate::job::Job;
use crate::output;

/// The installed fio.
#[derive(Debug, Clone)]
pub struct Fio {
    version: String,
}

impl Fio {
    /// Finds fio on the search path.
    ///
    /// # Errors
    /// When it cannot be run, with the remedy.
    pub fn find() -> Result<Self, DeviceError> {
        let output = child::command(Role::Program, "fio").arg("--version").output();
        let output = output.map_err(DeviceError::Missing)?;
        let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Ok(Self { version })
    }

    /// Returns its version as it reports it: `fio-3.33`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Runs one job in `dir`, and waits for its end.
    ///
    /// `sys_dir` is the directory of the device whose counters are read before and after it.
    ///
    /// Ctrl-C on a terminal reaches fio too: it ends at once, and the result is an error or that of
    /// a part of the time.
    ///
    /// # Errors
    /// When fio cannot be run, reports an error, or its output cannot be read.
    pub fn run(
        &self,
        job: &Job<'_>,
        dir: &Path,
        sys_dir: Option<&Path>,
    ) -> Result<IoSample, DeviceError> {
        let before = sys_dir.and_then(read_stat);
        let mut process = child::command(Role::Program, "fio")
            .args(["--output-format=json", "-"])
            .current_dir(dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(DeviceError::Missing)?;
        let sent = match process.stdin.take() {
            Some(mut stdin) => stdin.write_all(job.text().as_bytes()),
            None => Ok(()),
        };
        let output = process.wait_with_output().map_err(DeviceError::Missing)?;
        let after = sys_dir.and_then(read_stat);
        let sample = output::parse(&String::from_utf8_lossy(&output.stdout));
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr);
            // Its first line has the cause.
            let first = message.lines().find(|line| !line.trim().is_empty());
            return Err(match (first, sample) {
                (Some(line), _) => DeviceError::Fio(line.trim_start_matches("fio: ").to_owned()),
                (None, Err(error)) => error,
                (None, Ok(_)) => DeviceError::Fio(format!("it ended with {}", output.status)),
            });
        }
        // A job file that fio did not read whole is its error, reported above.
        sent.map_err(DeviceError::Missing)?;
        let issued = before.zip(after).and_then(|(before, after)| after.since(before));
        Ok(IoSample { issued, ..sample? })
    }
}
