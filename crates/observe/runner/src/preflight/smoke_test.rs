//! Smoke test of an engine library in a process of its own.
//!
//! A library that is no engine may crash the process that loads it.

use std::io::Write;
use std::path::Path;

use engine::conformance;
use engine::{Driver, EngineError};
use load::{Clock, SteadyClock};
use model::{Nanos, SmokeTestFailure};

use crate::error::RunnerError;
use crate::message::Message;
use crate::supervisor::process::{Process, WorkerEvent, WorkerProgram, bad_end};
use crate::supervisor::workbench::WATCH_EVERY;

/// Longest time of a smoke test; it takes less than a second on an idle machine.
const SMOKE_TEST_MAX: Nanos = Nanos::from_secs(60);

/// The child's part: tests a driver in the empty directory `dir`.
///
/// # Errors
/// When the pipe breaks.
pub fn serve_smoke_test(
    driver: Result<Box<dyn Driver>, EngineError>,
    dir: &Path,
    mut output: impl Write,
) -> Result<(), String> {
    let message = match driver {
        Ok(driver) => {
            Message::SmokeTested { failure: conformance::smoke_test(&*driver, dir).err() }
        }
        Err(error) => Message::Refused { refusal: error.into() },
    };
    let line = serde_json::to_string(&message).map_err(|error| error.to_string())?;
    // An engine may have written half a line before.
    let written = writeln!(output, "\n{line}").and_then(|()| output.flush());
    written.map_err(|error| format!("the parent does not read: {error}"))
}

/// The parent's part: `program` tests a library in `dir`.
///
/// # Errors
/// [`RunnerError::Spawn`] when the program does not start.
pub fn smoke_test(
    program: &WorkerProgram,
    dir: &Path,
) -> Result<Option<SmokeTestFailure>, RunnerError> {
    let mut process = Process::start(program, dir, None, &[])?;
    let clock = SteadyClock::kernel();
    let deadline = clock.now().after(SMOKE_TEST_MAX);
    let mut result = None;
    loop {
        match process.receive(WATCH_EVERY) {
            WorkerEvent::Message(message) => {
                if let Message::Refused { refusal } = *message {
                    result = Some(Some(SmokeTestFailure::NotLoaded(refusal.to_string())));
                } else if let Message::SmokeTested { failure } = *message {
                    result = Some(failure.map(SmokeTestFailure::Wrong));
                }
            }
            WorkerEvent::EngineOutput | WorkerEvent::Silence => {}
            WorkerEvent::End => break,
        }
        if clock.now() > deadline {
            process.kill();
            let reason = format!(
                "it hangs: no end of the smoke test after {} s",
                SMOKE_TEST_MAX.0 / 1_000_000_000
            );
            return Ok(Some(SmokeTestFailure::Died(reason)));
        }
    }
    let (status, stderr) = process.ended();
    Ok(match (result, bad_end(status, &stderr)) {
        (Some(Some(failure)), _) => Some(failure),
        (_, Some(end)) => Some(SmokeTestFailure::Died(format!("it died in the smoke test: {end}"))),
        (Some(None), None) => None,
        (None, None) => {
            Some(SmokeTestFailure::Died("it ended the process in the smoke test".to_owned()))
        }
    })
}
