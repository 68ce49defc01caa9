//! Runs on a host that others use, and what a test may require of them.

use archive::{ExperimentDir, Results};
use assert_cmd::Command;
use model::validity::InvalidCause;
use model::{IntervalRecord, metric};

use crate::workspace::{ProgramOutput, Workspace};

/// CPU use of others, as a share of one CPU, that makes a host busy: above the error of the
/// account in ticks.
const BUSY_SHARE: f64 = 0.03;
/// Exit code of a run without a result.
const NOTHING: i32 = 3;

impl Workspace {
    /// Runs an experiment of which the test reads records or texts, and no figure.
    pub(crate) fn recorded(&self, arguments: &[&str]) -> ProgramOutput {
        self.assay(arguments).recorded()
    }

    /// Runs an experiment of which the test reads figures; prints why a busy host gives none.
    pub(crate) fn measured(&self, arguments: &[&str]) -> Option<ProgramOutput> {
        self.measured_by(self.program(arguments))
    }

    /// Does the same with a command that is ready to start.
    pub(crate) fn measured_by(&self, mut command: Command) -> Option<ProgramOutput> {
        let output = ProgramOutput::of(command.output().expect("the program starts"));
        if output.code == NOTHING {
            let is_undecided = output.out.contains("NOTHING DECIDED");
            let noise = || is_undecided.then(|| "the runs vary by too much".to_owned());
            let reason = self.disturbance().or_else(noise).expect("a quiet host gives a result");
            too_busy(&reason);
            return None;
        }
        assert_eq!(output.code, 0, "{}{}", output.out, output.err);
        Some(output)
    }

    /// Describes how the host delayed the clients of a run here, if the record shows it.
    pub(crate) fn disturbance(&self) -> Option<String> {
        let all = Results::at(&self.path("results")).newest();
        all.iter().flat_map(intervals).find_map(|interval| host_delay(&interval))
    }
}

impl ProgramOutput {
    /// Checks that an experiment was run; a busy host may leave it without a result.
    pub(crate) fn recorded(self) -> Self {
        assert!([0, NOTHING].contains(&self.code), "{}: {}{}", self.code, self.out, self.err);
        self
    }
}

/// Prints that the host is too busy for the figures of a test.
#[expect(clippy::print_stdout, reason = "a skipped test prints why")]
pub(crate) fn too_busy(reason: &str) {
    println!("skipped: host too busy ({reason})");
}

/// Returns the intervals of all runs of an experiment.
fn intervals(dir: &ExperimentDir) -> Vec<IntervalRecord> {
    let cells = dir.manifest().expect("a manifest").plan.cells;
    cells.iter().flat_map(|cell| dir.intervals(&cell.id).expect("intervals")).collect()
}

/// Describes how the host delayed the clients of an invalid interval.
fn host_delay(interval: &IntervalRecord) -> Option<String> {
    let invalid = interval.invalid.as_ref()?;
    let us = |metric| interval.readings.value(metric).unwrap_or_default();
    let share = us(metric::OTHERS_CPU_US) / interval.length_ns.as_micros_f64();
    if share > BUSY_SHARE {
        return Some(format!("others used {:.0} % of a CPU", share * 100.0));
    }
    let is_host = invalid.cause == InvalidCause::Paused || us(metric::HOST_STEAL_US) > 0.0;
    is_host.then(|| invalid.evidence.clone())
}
