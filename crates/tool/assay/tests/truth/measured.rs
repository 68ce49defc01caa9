//! Records of a run, and disturbances of the host meanwhile.

use std::num::NonZero;
use std::process::{Command, Output};
use std::thread;

use model::record::{OpSummary, Percentiles};
use model::validity::{ArrivalsRecord, InvalidCause, LoadStatus};
use model::{IntervalRecord, Metric, OpKind, RunRecord, StepRecord, metric};

use crate::disturbance::HostWatch;
use crate::sandbox::{Sandbox, joined_text};

/// Exit codes of `assay run` when every run is complete: measured, or nothing measured in time.
const RAN: &[i32] = &[0, 3];
/// What a load beyond a busy host is rejected with.
const BUSY: &str = "the host was busy, which is the likely cause";
/// The step that is offered a load in most of these tests.
pub(crate) const STEP: &str = "readrandom";
/// CPU use of others in an interval, as a share of one CPU, that makes a host busy.
const OTHERS_MAX: f64 = 0.05;
/// Error of that account per root of CPUs and seconds, see `runner`.
const OTHERS_NOISE_S: f64 = 0.095;
/// Share of an interval that other guests may take from a quiet host.
const STOLEN_MAX: f64 = 0.02;
/// Share of an interval that the device is busy only for others: these tests hardly use it.
const DEVICE_MAX: f64 = 0.5;

/// Runs a command that measures.
pub(crate) fn measure(command: &mut Command) {
    let output = command.output().expect("it runs");
    assert_ran(&output);
}

/// Checks that a run was neither rejected on a busy host nor failed.
pub(crate) fn assert_ran(output: &Output) {
    let text = joined_text(output);
    assert!(!text.contains(BUSY), "rejected: {text}");
    let code = output.status.code();
    assert!(code.is_some_and(|code| RAN.contains(&code)), "{code:?}: {text}");
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

    /// Reads the run of a cell, and notes what its intervals recorded of others.
    pub(crate) fn on(host: &HostWatch, sandbox: &Sandbox, cell: &str) -> Self {
        let run = Self::of(sandbox, cell);
        host.note(run.disturbance());
        run
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

    /// Returns the load of others that its intervals recorded, if any.
    pub(crate) fn disturbance(&self) -> Option<String> {
        let cpus = thread::available_parallelism().map_or(1, NonZero::get) as f64;
        self.intervals.iter().find_map(|interval| {
            let length_s = interval.length_ns.as_secs_f64();
            let share = |metric: Metric| {
                interval.readings.value(metric).unwrap_or_default() / 1e6 / length_s
            };
            let noise = OTHERS_NOISE_S * (cpus / length_s).sqrt();
            let known = [
                ("others used", "of a CPU", metric::OTHERS_CPU_US, OTHERS_MAX + noise),
                ("other guests took", "of a CPU", metric::HOST_STEAL_US, STOLEN_MAX),
                ("the device was busy for", "of it", metric::DEVICE_BUSY_US, DEVICE_MAX),
            ];
            let (who, of, metric, _) = known.into_iter().find(|one| share(one.2) > one.3)?;
            let (at, percent) = (interval.start_ns, share(metric) * 100.0);
            Some(format!("in the interval at {at} {who} {percent:.0} % {of}"))
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
