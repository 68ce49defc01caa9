//! The proof of a library: whether it is the engine it claims to be, and works.
//!
//! It is tried in a process of its own, for what is no engine may end the process that loads it.

use std::io::Write;
use std::path::Path;

use engine::conformance;
use engine::{Driver, EngineError};
use load::{Clock, SteadyClock};
use model::{Nanos, SmokeTestFailure};

use crate::error::RunnerError;
use crate::experiment::WATCH_EVERY;
use crate::message::Message;
use crate::process::{Heard, Process, WorkerProgram, bad_end};

/// Longest time a proof may take; it takes less than a second on an idle machine.
const PROOF_MAX: Nanos = Nanos::from_secs(60);

/// Tries a driver in the empty directory `dir` and tells the parent: the child's half.
///
/// # Errors
/// When the pipe breaks.
pub fn serve_smoke_test(
    driver: Result<Box<dyn Driver>, EngineError>,
    dir: &Path,
    mut output: impl Write,
) -> Result<(), String> {
    let message = match driver {
        Ok(driver) => Message::Proven { failure: conformance::smoke_test(&*driver, dir).err() },
        // What is not supported here is told as the driver says it.
        Err(EngineError::Unsupported(reason) | EngineError::Fatal(reason)) => {
            Message::Refused { option: None, reason, known: Vec::new() }
        }
        Err(error) => {
            Message::Refused { option: None, reason: error.to_string(), known: Vec::new() }
        }
    };
    let line = serde_json::to_string(&message).map_err(|error| error.to_string())?;
    // An engine may have written half a line before.
    let told = writeln!(output, "\n{line}").and_then(|()| output.flush());
    told.map_err(|error| format!("the parent does not read: {error}"))
}

/// Has `program` try a library in the directory `dir`: the parent's half.
///
/// # Errors
/// [`RunnerError::Spawn`] when the program does not start.
pub fn smoke_test(
    program: &WorkerProgram,
    dir: &Path,
) -> Result<Option<SmokeTestFailure>, RunnerError> {
    let mut process = Process::start(program, dir, None, &[])?;
    let clock = SteadyClock::kernel();
    let deadline = clock.now().after(PROOF_MAX);
    let mut told = None;
    loop {
        match process.hear(WATCH_EVERY) {
            Heard::Message(message) => {
                if let Message::Refused { reason, .. } = *message {
                    told = Some(Some(SmokeTestFailure::NotLoaded(reason)));
                } else if let Message::Proven { failure } = *message {
                    told = Some(failure.map(SmokeTestFailure::Wrong));
                }
            }
            Heard::Chatter | Heard::Silence => {}
            Heard::End => break,
        }
        if clock.now() > deadline {
            process.kill();
            let reason =
                format!("it hangs: no end after {} s in the proof", PROOF_MAX.0 / 1_000_000_000);
            return Ok(Some(SmokeTestFailure::Died(reason)));
        }
    }
    let (status, said) = process.ended();
    Ok(match (told, bad_end(status, &said)) {
        (Some(Some(failure)), _) => Some(failure),
        (_, Some(end)) => Some(SmokeTestFailure::Died(format!("it died in the proof: {end}"))),
        (Some(None), None) => None,
        (None, None) => {
            Some(SmokeTestFailure::Died("it ended the process in the proof".to_owned()))
        }
    })
}
