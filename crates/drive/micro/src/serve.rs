//! The child process: one JSON request and one response per line.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};

use load::SteadyClock;
use model::{Kernel, Nanos};
use serde::{Deserialize, Serialize};

use crate::kernel::Set;
use crate::time::ns_per_block;

/// A request of the parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request {
    /// Which kernels there are.
    Serves,
    /// How long one kernel takes.
    Time {
        /// The kernel.
        kernel: Kernel,
        /// Size of a block, in bytes.
        block_bytes: u32,
        /// How long to measure.
        span: Nanos,
    },
}

/// The response to one request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Response {
    /// What serves each kernel, or why nothing does.
    Serves(BTreeMap<Kernel, Result<String, String>>),
    /// Mean time of a block, in nanoseconds.
    Time(f64),
}

/// Serves requests until the input ends.
///
/// # Errors
/// When a request cannot be read or a response not written.
pub fn serve(
    mut set: Set,
    input: impl BufRead,
    mut output: impl Write,
) -> Result<(), std::io::Error> {
    let clock = SteadyClock::calibrate();
    for line in input.lines() {
        let answer = match serde_json::from_str(&line?)? {
            Request::Serves => Response::Serves(set.serves()),
            Request::Time { kernel, block_bytes, span } => {
                Response::Time(ns_per_block(&mut set, kernel, block_bytes as usize, span, &clock))
            }
        };
        serde_json::to_writer(&mut output, &answer)?;
        output.write_all(b"\n")?;
        output.flush()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_is_timed_and_reported() {
        let time =
            |kernel| Request::Time { kernel, block_bytes: 1024, span: Nanos::from_millis(1) };
        let mut questions = vec![Request::Serves];
        questions.extend(Kernel::ALL.map(time));
        let lines: Vec<String> =
            questions.iter().map(|one| serde_json::to_string(one).unwrap()).collect();
        let mut output = Vec::new();
        serve(Set::crates(), lines.join("\n").as_bytes(), &mut output).unwrap();
        let output = String::from_utf8(output).unwrap();
        let mut answers = output.lines().map(|line| serde_json::from_str(line).unwrap());
        let Some(Response::Serves(serves)) = answers.next() else { panic!("{output}") };
        assert_eq!(serves.len(), Kernel::ALL.len());
        let is_time = |answer: Response| matches!(answer, Response::Time(ns) if ns > 0.0);
        assert_eq!(answers.filter(|answer: &Response| is_time(answer.clone())).count(), 6);
    }
}
