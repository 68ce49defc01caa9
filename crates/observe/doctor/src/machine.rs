//! What checks need of the machine besides its files.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use child::Role;

use crate::measure;

/// Longest run of a program, seconds: a drive that does not respond must not hold the doctor.
const LIMIT_S: &str = "10";
/// Exit code of `timeout` for a program that is not there. Source: timeout(1).
const NOT_FOUND: i32 = 127;

/// Size of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// Used, and free for users, bytes.
    pub total: u64,
    /// Free for users, bytes.
    pub free: u64,
}

/// A machine: its programs, its times and its file systems.
pub trait Machine {
    /// Returns what a program printed.
    ///
    /// # Errors
    /// The reason when it is missing, is refused, or prints nothing.
    fn output(&self, program: &str, args: &[&str]) -> Result<String, String>;

    /// Returns the time of one read of the kernel's clock, ns.
    fn clock_read_ns(&self) -> f64;

    /// Returns the time of one switch between two threads on one CPU, ns; `None` if that fails.
    fn context_switch_ns(&self) -> Option<f64>;

    /// Returns the size of the file system that holds a directory.
    fn space(&self, dir: &Path) -> Option<Space>;

    /// Returns whether files in a directory can bypass the page cache; `None` if none can be made.
    fn takes_direct_io(&self, dir: &Path) -> Option<bool>;

    /// Waits while other processes run.
    fn wait(&self, span: Duration);
}

/// The machine this process runs on.
#[derive(Debug, Clone, Copy)]
pub struct ThisMachine;

impl Machine for ThisMachine {
    fn output(&self, program: &str, args: &[&str]) -> Result<String, String> {
        let mut command = child::command(Role::Program, "timeout");
        command.args(["--kill-after=1", LIMIT_S, program]).args(args).stdin(Stdio::null());
        // Drives are examined by programs that stand where only root searches.
        let path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
        let output = command.env("PATH", path).env("LC_ALL", "C").output();
        let output = output.map_err(|error| {
            format!("cannot start {program}: {error}; `timeout` of coreutils starts it")
        })?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.code() == Some(NOT_FOUND) {
            return Err(format!("{program} is not installed"));
        }
        // smartctl reports findings of the drive by its exit code, with its whole output.
        if output.status.success() || text.trim_start().starts_with('{') {
            return Ok(text);
        }
        let message = String::from_utf8_lossy(&output.stderr);
        let message = message.lines().chain(text.lines()).next().unwrap_or("no message");
        Err(format!("{program} failed ({message})"))
    }

    fn clock_read_ns(&self) -> f64 {
        measure::clock_read_ns()
    }

    fn context_switch_ns(&self) -> Option<f64> {
        measure::context_switch_ns().ok()
    }

    fn space(&self, dir: &Path) -> Option<Space> {
        let found = rustix::fs::statvfs(dir).ok()?;
        // As `df` has it: without the blocks that are set aside for root.
        let used = found.f_blocks.checked_sub(found.f_bfree)?;
        let total = used.checked_add(found.f_bavail)?.checked_mul(found.f_frsize)?;
        Some(Space { total, free: found.f_bavail * found.f_frsize })
    }

    fn takes_direct_io(&self, dir: &Path) -> Option<bool> {
        Some(sampler::direct_io_error(dir).is_none())
    }

    #[expect(clippy::disallowed_methods, reason = "the only wait: others run meanwhile")]
    fn wait(&self, span: Duration) {
        std::thread::sleep(span);
    }
}
