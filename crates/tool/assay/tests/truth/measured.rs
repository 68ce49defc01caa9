//! Records of a run, and disturbances of the host meanwhile.

use std::process::Command;

use model::record::{OpSummary, Percentiles};
use model::validity::{ArrivalsRecord, InvalidCause, LoadStatus};
use model::{IntervalRecord, Nanos, OpKind, RunRecord, StepRecord};

use crate::sandbox::{Sandbox, joined_text, note};

/// Exit codes of `assay run` when every run is complete: measured, or nothing measured in time.
const RAN: &[i32] = &[0, 3];
/// What a load beyond a busy host is rejected with.
pub(crate) const BUSY: &str = "the host was busy, which is the likely cause";
/// The step that is offered a load in most of these tests.
pub(crate) const STEP: &str = "readrandom";
/// CPU use of others, as a share of one CPU, that makes a host busy.
const BUSY_SHARE: f64 = 0.03;

/// Start lag that no quiet host causes: a tick of its scheduler.
const LONG_SLEEP: Nanos = Nanos::from_millis(4);

/// Runs a command; returns whether it measured, and not that the host is too busy for its load.
pub(crate) fn measures(command: &mut Command) -> bool {
    let output = command.output().expect("it runs");
    let text = joined_text(&output);
    if text.contains(BUSY) {
        note(&format!("skipped: {text}"));
        return false;
    }
    let code = output.status.code();
    assert!(code.is_some_and(|code| RAN.contains(&code)), "{code:?}: {text}");
    true
}

/// A run of one cell, with its intervals.
pub(crate) struct Run {
    pub(crate) record: RunRecord,
    pub(crate) intervals: Vec<IntervalRecord>,
}

impl Run {
    /// Reads the run of a cell.
    pub(crate) fn of(sandbox: &Sandbox, cell: &str) -> Self {
        let mut records = sandbox.records();
        let names: Vec<String> = records.keys().cloned().collect();
        let record = records.remove(cell).unwrap_or_else(|| panic!("no {cell} in {names:?}"));
        Self { record, intervals: sandbox.intervals(cell) }
    }

    /// Returns the step that was offered a load.
    pub(crate) fn step(&self) -> &StepRecord {
        let found = self.record.steps.iter().find(|step| step.step.name == STEP);
        found.unwrap_or_else(|| panic!("no {STEP}: {:?}", self.record.end))
    }

    /// Returns the summary of its reads; empty when a search found nothing.
    pub(crate) fn reads(&self) -> OpSummary {
        self.step().clients.get(&OpKind::Get).copied().unwrap_or_default()
    }

    /// Returns the counts of its arrivals.
    pub(crate) fn arrivals(&self) -> &ArrivalsRecord {
        self.step().arrivals.as_ref().expect("an open loop records its arrivals")
    }

    /// Returns the intervals of that step, those of its warm-up left out.
    pub(crate) fn measured(&self) -> impl Iterator<Item = &IntervalRecord> {
        self.intervals.iter().filter(|interval| interval.step == STEP && !interval.is_warmup)
    }

    /// Returns the causes of invalid intervals of that step, each once.
    pub(crate) fn causes(&self) -> Vec<InvalidCause> {
        let invalid_intervals = self.step().invalid_intervals.as_ref();
        invalid_intervals
            .iter()
            .flat_map(|invalid_intervals| invalid_intervals.causes.iter().map(|(cause, _)| *cause))
            .collect()
    }

    /// Returns whether the host disturbed the client, and prints why.
    ///
    /// Two conditions: the run has invalid intervals, and others used the CPUs or a client slept
    /// for long, since a virtual machine may be paused without other evidence.
    pub(crate) fn is_disturbed(&self) -> bool {
        let is_invalid = |interval: &IntervalRecord| interval.invalid.is_some();
        let is_late = self.record.invalid.is_some() || self.intervals.iter().any(is_invalid);
        let reason = self.disturbance().or_else(|| self.long_sleep()).filter(|_| is_late);
        if let Some(reason) = &reason {
            note(&format!("skipped in part: {reason}"));
        }
        reason.is_some()
    }

    /// Describes how late a waiting client woke up, if very late.
    fn long_sleep(&self) -> Option<String> {
        let lags = self.measured().filter_map(|interval| interval.start_lag.as_ref());
        let longest = Nanos(lags.map(|lag| lag.max_ns).max()?);
        (longest >= LONG_SLEEP).then(|| format!("host asleep (a client woke up {longest} late)"))
    }

    /// Describes the load of others during the run, if any.
    pub(crate) fn disturbance(&self) -> Option<String> {
        self.intervals.iter().find_map(|interval| {
            let us = |name: &str| interval.readings.get(name).copied().unwrap_or_default();
            let share = us("others_cpu_us") / 1e6 / interval.length_ns.as_secs_f64();
            let stolen_ms = us("host_steal_us") / 1e3;
            let at = interval.start_ns;
            (share > BUSY_SHARE || stolen_ms > 0.0).then(|| {
                format!(
                    "host busy (at {at}: others used {:.0} % of a CPU, {stolen_ms} ms stolen)",
                    share * 100.0
                )
            })
        })
    }

    /// Returns the evidence of delays, for failure messages.
    pub(crate) fn diagnosis(&self) -> String {
        let step = self.step();
        let seconds: Vec<String> = self.measured().map(second).collect();
        format!(
            "\nload status {:?}\ninvalid {:?}\ninvalid intervals {:?}\narrivals {:?}\nreads \
             {:?}\n{}",
            step.load_status,
            self.record.invalid,
            step.invalid_intervals.as_ref().map(|invalid_intervals| (
                &invalid_intervals.causes,
                invalid_intervals.of_intervals
            )),
            step.arrivals,
            self.reads(),
            seconds.join("\n")
        )
    }

    /// Returns whether the engine is reported as overloaded.
    pub(crate) fn is_overloaded(&self) -> bool {
        matches!(self.step().load_status, Some(LoadStatus::Overloaded { .. }))
    }

    /// Returns whether the client is reported as the bottleneck.
    pub(crate) fn is_client_bound(&self) -> bool {
        matches!(self.step().load_status, Some(LoadStatus::ClientBound { .. }))
    }
}

/// Returns an interval in one line.
fn second(interval: &IntervalRecord) -> String {
    let lag = interval.start_lag.as_ref().map_or(0, |lag: &Percentiles| lag.p99_ns);
    let names = [
        "others_cpu_us",
        "host_steal_us",
        "client_run_queue_us",
        "pause_us",
        "client_context_switches_involuntary",
        "cgroup_throttled_us",
        "backlog_us",
    ];
    let readings: Vec<String> = names
        .iter()
        .filter_map(|name| Some(format!("{name} {}", interval.readings.get(*name)?)))
        .collect();
    format!(
        "  {} lag p99 {lag} ns, {}: {:?}",
        interval.start_ns,
        readings.join(", "),
        interval.invalid
    )
}
