//! Counters of the processor over spans, from `perf stat`.

use std::fs;
use std::path::{Path, PathBuf};

use child::Role;
use model::{Metric, Readings, metric};

use crate::error::ProfilerError;
use crate::perf_process::{Answer, PerfProcess};
use crate::profiler::Profiler;

/// The counters: event of perf and metric.
///
/// Source: perf-list(1), hardware events and hardware cache events.
const EVENTS: [(&str, Metric); 5] = [
    ("cycles", metric::HARDWARE_CYCLES),
    ("instructions", metric::HARDWARE_INSTRUCTIONS),
    ("cache-misses", metric::HARDWARE_CACHE_MISSES),
    ("branch-misses", metric::HARDWARE_BRANCH_MISSES),
    ("dTLB-load-misses", metric::HARDWARE_TLB_MISSES),
];

/// A `perf stat` process that counts the events of processes in one span.
#[derive(Debug)]
pub struct Counters {
    process: PerfProcess,
    file: PathBuf,
}

impl Counters {
    /// Starts counting of processes, switched off; `None` where the processor has no counters.
    ///
    /// `file` is the file of counts, which must not exist.
    ///
    /// # Errors
    /// The kernel refuses, or `perf` fails or does not answer.
    pub fn start(
        profiler: &Profiler,
        pids: &[u32],
        file: &Path,
    ) -> Result<Option<Self>, ProfilerError> {
        let is_counted = profiler.event().starts_with("cycles");
        let start = || Self::of_events(profiler, &EVENTS.map(|(event, _)| event), pids, file);
        is_counted.then(start).transpose()
    }

    fn of_events(
        profiler: &Profiler,
        events: &[&str],
        pids: &[u32],
        file: &Path,
    ) -> Result<Self, ProfilerError> {
        let mut command = child::command(Role::Program, profiler.perf());
        command.env("PERF_CONFIG", "/dev/null").env("LC_ALL", "C");
        let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
        command.args(["stat", "-x,", "-e", &events.join(","), "-p", &pids.join(",")]);
        command.args(["-D", "-1", "--control", "fd:0,1", "-o"]).arg(file);
        let process = PerfProcess::start(command, file)?;
        Ok(Self { process, file: file.to_owned() })
    }

    /// Begins the span, and returns when events are counted.
    ///
    /// # Errors
    /// `perf` failed or does not answer.
    pub fn enable(&mut self) -> Result<(), ProfilerError> {
        match self.process.request("enable")? {
            Answer::Done => Ok(()),
            Answer::Ended => Err(ProfilerError::Ended),
        }
    }

    /// Ends the span, and returns its counts; what the processor does not count is absent.
    ///
    /// # Errors
    /// `perf` failed, or its file cannot be read.
    pub fn stop(mut self) -> Result<Readings, ProfilerError> {
        Ok(readings(&self.text()?))
    }

    fn text(&mut self) -> Result<String, ProfilerError> {
        if self.process.request("disable")? == Answer::Done {
            // It prints the counts when it is interrupted. Source: perf-stat(1), `-p`.
            self.process.interrupt()?;
        }
        fs::read_to_string(&self.file).map_err(ProfilerError::file(&self.file))
    }
}

impl Drop for Counters {
    fn drop(&mut self) {
        fs::remove_file(&self.file).ok();
    }
}

/// Returns the counts in the text of `perf stat -x,`.
///
/// A count of events that were measured in a part of the time is scaled by perf; one that the
/// processor does not have is `<not supported>`, and one without time `<not counted>`.
///
/// Source: perf-stat(1), "CSV FORMAT": count, unit, event.
fn readings(text: &str) -> Readings {
    let mut readings = Readings::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split(',').collect();
        let [count, _unit, event, ..] = fields[..] else { continue };
        let event = event.split(':').next().unwrap_or_default();
        let known = EVENTS.iter().find(|(name, _)| *name == event);
        if let (Some((_, metric)), Ok(count)) = (known, count.parse::<u64>()) {
            readings.set(*metric, count);
        }
    }
    readings
}

#[cfg(test)]
mod tests {
    use model::Nanos;

    use model::Unwinder;

    use super::*;

    #[test]
    fn counts_are_read_and_what_is_not_supported_is_absent() {
        let text = "# started on Sun Nov 29 20:00:00 2026\n\n\
                    5230111,,cycles:u,1000000,100.00,,\n\
                    8120000,,instructions:u,1000000,100.00,1.55,insn per cycle\n\
                    <not supported>,,cache-misses:u,0,100.00,,\n\
                    <not counted>,,branch-misses:u,0,0.00,,\n\
                    0,,dTLB-load-misses:u,1000000,100.00,,\n";
        let readings = readings(text);
        assert_eq!(readings.value(metric::HARDWARE_CYCLES), Some(5_230_111.0));
        assert_eq!(readings.value(metric::HARDWARE_INSTRUCTIONS), Some(8_120_000.0));
        assert_eq!(readings.value(metric::HARDWARE_TLB_MISSES), Some(0.0));
        assert_eq!(readings.len(), 3);
        assert!(super::readings("").is_empty());
    }

    /// Goal: the counts are those of the span. Method: page faults of this process, an event that
    /// every machine counts.
    #[test]
    fn only_events_of_the_span_are_counted() {
        let Ok(profiler) = Profiler::resumed("cpu-clock", 99, Unwinder::FramePointers, Nanos(0))
        else {
            return println!("skipped: no perf");
        };
        let dir = tempfile::tempdir().unwrap();
        let own = [std::process::id()];
        assert!(Counters::start(&profiler, &own, &dir.path().join("none")).unwrap().is_none());
        let file = dir.path().join("counts");
        let mut counters = match Counters::of_events(&profiler, &["page-faults"], &own, &file) {
            Ok(counters) => counters,
            Err(error) => return println!("skipped: {error}"),
        };
        if let Err(error) = counters.enable() {
            return println!("skipped: {error}");
        }
        let pages: Vec<u8> = vec![1; 64 << 20];
        let text = counters.text().unwrap();
        assert!(pages.iter().all(|byte| *byte == 1));
        let line = text.lines().find(|line| line.contains("page-faults")).unwrap();
        let count: u64 = line.split(',').next().unwrap().parse().unwrap();
        assert!(count > 0, "{text}");
    }
}
