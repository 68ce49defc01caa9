//! Records samples of processes in spans.

use std::path::Path;

use child::Role;
use model::{Nanos, ProfileTarget, Unwinder};

use crate::data_file::DataFile;
use crate::error::ProfilerError;
use crate::fold::{self, Folded};
use crate::perf_process::{Answer, PerfProcess, now};
use crate::profiler::Profiler;
use crate::span::Span;

/// Attempts to start `perf`, which fails without a message where a thread ends while it begins.
///
/// Our choice: with threads that begin and end all the time, one start of six failed.
const ATTEMPTS: usize = 5;

/// Bytes of the stack that each sample copies for unwinding by tables.
///
/// Our choice: with 8 kB, 70 to 76 % of the samples of RocksDB reach the client's call, with 32 kB
/// 98 %. `perf` allows less than 64 kB.
const STACK: &str = "dwarf,32768";

/// Returns the buffer of each CPU for samples with a copy of the stack, MiB.
///
/// Our choice: a third of a second, in which a busy host runs `perf` again, but at most 8 MiB. The
/// default of 512 kB lost 17 of 900 samples on such a host, 2 MiB at 999 Hz up to 13 %. A power of
/// two, see perf-record(1), `--mmap-pages`.
fn buffer_mib(hz: u32) -> u32 {
    hz.div_ceil(100).next_power_of_two().min(8)
}

/// A `perf` process that samples processes, switched on for spans.
///
/// The thread that starts it must outlive it, as of every child. What it has written is removed
/// when it is dropped.
#[derive(Debug)]
pub struct Recorder {
    process: PerfProcess,
    data: DataFile,
    event: String,
    spans: Vec<Span>,
}

impl Recorder {
    /// Starts sampling of processes, switched off, and waits until `perf` is ready.
    ///
    /// Their threads and children of later times are sampled too. `file` is the file of samples,
    /// which must not exist.
    ///
    /// # Errors
    /// The kernel refuses, a process has ended, or `perf` fails or does not answer.
    pub fn start(profiler: &Profiler, pids: &[u32], file: &Path) -> Result<Self, ProfilerError> {
        let attempt = || Self::attempt(profiler, pids, file);
        let is_final = |tried: &Result<Self, ProfilerError>| match tried {
            Err(ProfilerError::Failed { messages, .. }) => !messages.is_empty(),
            _ => true,
        };
        let mut first = (1..ATTEMPTS).map(|_| attempt());
        first.find(is_final).unwrap_or_else(attempt)
    }

    fn attempt(profiler: &Profiler, pids: &[u32], file: &Path) -> Result<Self, ProfilerError> {
        let mut command = child::command(Role::Program, profiler.perf());
        // The settings of the account must not change what is recorded; messages in English are
        // classified.
        command.env("PERF_CONFIG", "/dev/null").env("LC_ALL", "C");
        // An event without samples has the records of new threads and libraries, at all times.
        command.args([
            "record",
            "-e",
            "dummy",
            "-e",
            profiler.event(),
            "-F",
            &profiler.hz().to_string(),
        ]);
        match profiler.unwinder() {
            Unwinder::FramePointers => command.arg("-g"),
            // Compressed: a copied stack is mostly zeros, and the disk under test writes the file.
            Unwinder::Dwarf => command.args(["--call-graph", STACK, "-z"]),
        };
        // An ordinary account may not lock that much; perf chooses what it may.
        if profiler.unwinder() == Unwinder::Dwarf && rustix::process::geteuid().is_root() {
            command.arg("-m").arg(format!("{}M", buffer_mib(profiler.hz())));
        }
        let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
        command.args(["--no-buildid", "--no-buildid-cache", "-k", "CLOCK_MONOTONIC"]);
        command.args(["--control", "fd:0,1", "-p", &pids.join(","), "-o"]).arg(file);
        let data = DataFile(file.to_owned());
        let mut process = PerfProcess::start(command, file)?;
        let event = profiler.event().to_owned();
        match process.request("ping")? {
            Answer::Done => {
                process.request(&format!("disable {event}"))?;
                Ok(Self { process, data, event, spans: Vec::new() })
            }
            Answer::Ended => Err(ProfilerError::Ended),
        }
    }

    /// Begins the next span, and returns when samples are taken.
    ///
    /// # Errors
    /// `perf` failed or does not answer, or the processes have ended.
    pub fn enable(&mut self) -> Result<(), ProfilerError> {
        self.spans.push(Span { from: now(), until: None });
        match self.process.request(&format!("enable {}", self.event))? {
            Answer::Done => Ok(()),
            Answer::Ended => Err(ProfilerError::Ended),
        }
    }

    /// Ends the span, and returns when no more samples are taken.
    ///
    /// # Errors
    /// `perf` failed or does not answer.
    pub fn disable(&mut self) -> Result<(), ProfilerError> {
        // Processes that have ended take no more samples.
        self.process.request(&format!("disable {}", self.event))?;
        if let Some(span) = self.spans.last_mut() {
            span.until.get_or_insert_with(now);
        }
        Ok(())
    }

    /// Returns the CPU time of `perf`; 0 where the kernel does not account it.
    pub(crate) fn cpu(&self) -> Nanos {
        self.process.cpu()
    }

    /// Ends `perf`, and returns what it has recorded.
    ///
    /// # Errors
    /// `perf` failed or does not end.
    pub fn stop(mut self) -> Result<Recording, ProfilerError> {
        if self.process.request("stop")? == Answer::Done {
            self.process.wait()?;
        }
        Ok(Recording { data: self.data, spans: self.spans })
    }
}

/// The samples of a recorder that has ended, removed when it is dropped.
#[derive(Debug)]
pub struct Recording {
    data: DataFile,
    spans: Vec<Span>,
}

impl Recording {
    /// Returns the folded samples of spans, in the order of `spans`.
    ///
    /// Spans are counted from 0, in the order in which [`Recorder::enable`] began them. The file is
    /// read once. A span that was not recorded has no sample.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn fold(
        &self,
        target: ProfileTarget,
        spans: &[usize],
    ) -> Result<Vec<Folded>, ProfilerError> {
        fold::fold(&self.data, target, &self.times(spans))
    }

    /// Returns the file of samples.
    pub(crate) fn data(&self) -> &DataFile {
        &self.data
    }

    /// Returns the times of spans.
    fn times(&self, spans: &[usize]) -> Vec<Span> {
        let none = Span { from: Nanos(u64::MAX), until: None };
        spans.iter().map(|span| self.spans.get(*span).copied().unwrap_or(none)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffer_holds_a_third_of_a_second() {
        assert_eq!([19, 99, 149, 199, 299, 999].map(buffer_mib), [1, 1, 2, 2, 4, 8]);
    }
}
