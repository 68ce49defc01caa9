//! Tests of an engine library in a process of its own.
//!
//! A library that is no engine may crash the process that loads it.

use std::io::Write;
use std::path::Path;

use engine::conformance;
use engine::{Driver, EngineError};
use load::{Clock, SteadyClock};
use model::{Nanos, SmokeTestFailure};

use crate::connection::MessageWriter;
use crate::error::RunnerError;
use crate::message::Message;
use crate::supervisor::process::{Process, WorkerEvent, WorkerProgram};
use crate::supervisor::workbench::WATCH_EVERY;

/// Longest time of a smoke test; it takes less than a second on an idle machine.
const SMOKE_TEST_MAX: Nanos = Nanos::from_secs(60);
/// Longest time of one conformance check (our choice); some take seconds on an idle machine.
const CHECK_MAX: Nanos = Nanos::from_secs(600);

/// The child's part: tests a driver in the empty directory `dir`.
///
/// The test is the smoke test, or the conformance check of that name.
///
/// # Errors
/// When the connection has ended.
pub fn serve_library_test(
    driver: Result<Box<dyn Driver>, EngineError>,
    check: Option<&str>,
    dir: &Path,
    output: impl Write,
) -> Result<(), String> {
    let test = |driver: &dyn Driver| match check {
        Some(check) => conformance::check(driver, check, dir),
        None => conformance::smoke_test(driver, dir),
    };
    let message = match driver {
        Ok(driver) => Message::SmokeTested { failure: test(&*driver).err() },
        Err(error) => Message::Refused { refusal: error.into() },
    };
    let sent = MessageWriter::new(output).send(&message);
    sent.map_err(|error| format!("the parent does not read: {error}"))
}

/// The parent's part: `program` tests a library in `dir`.
///
/// `check` is the conformance check it runs; without one it is the smoke test.
///
/// # Errors
/// [`RunnerError::Spawn`] when the program does not start.
pub fn test_library(
    program: &WorkerProgram,
    check: Option<&str>,
    dir: &Path,
) -> Result<Option<SmokeTestFailure>, RunnerError> {
    let (test, most) = match check {
        Some(_) => ("check", CHECK_MAX),
        None => ("smoke test", SMOKE_TEST_MAX),
    };
    let mut process = Process::start(program, dir, None, &[], None)?;
    let clock = SteadyClock::kernel();
    let deadline = clock.now().after(most);
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
            WorkerEvent::Broken(error) => {
                let reason = format!("its messages cannot be trusted: {error}");
                return Ok(Some(SmokeTestFailure::Died(reason)));
            }
            WorkerEvent::Silence => {}
            WorkerEvent::End { .. } => break,
        }
        if clock.now() > deadline {
            process.kill();
            let seconds = most.0 / 1_000_000_000;
            let reason = format!("it hangs: the {test} did not end within {seconds} s");
            return Ok(Some(SmokeTestFailure::Died(reason)));
        }
    }
    Ok(match (result, process.ended().failure()) {
        (Some(Some(failure)), _) => Some(failure),
        (_, Some(end)) => Some(SmokeTestFailure::Died(format!("it died in the {test}: {end}"))),
        (Some(None), None) => None,
        (None, None) => Some(SmokeTestFailure::Died(format!("it ended its process in the {test}"))),
    })
}
