//! Warnings about a step, and reasons that make a run invalid.

use std::fmt::Write as _;

use fold::{INVALID_MIN, Validity, is_usable};
use model::record::{Finding, Severity};
use model::units::thousands;
use model::validity::{
    InvalidCause, InvalidIntervals, LoadStatus, Outcome, Purpose, RUN_QUEUE_SHARE, SearchRecord,
};
use model::{Nanos, Placement, Readings, StepRecord, metric, percent, rule_code};

use super::attribution::Pauses;
use crate::validity::evidence::Setting;

/// Busy threads per CPU from which there are more than CPUs: CPUs used, and clients that wait for
/// one. The last 2 % are what any scheduler takes to share them.
/// Source: [Callaghan 2022-07-20], "busy threads <= cores".
const BUSY_SHARE: f64 = 1.02;
/// Shortest span with a warning about busy threads: the kernel's accounts are in ticks of 4 to
/// 10 ms.
const BUSY_THREADS_FROM: Nanos = Nanos::from_millis(500);

/// Returns warnings about the load status, invalid intervals and an unsuccessful search.
///
/// The rules of `lint` derive the others from the record.
pub(crate) fn warnings(step: &StepRecord) -> Vec<Finding> {
    [load_finding(step), invalid_finding(step), search_finding(step)]
        .into_iter()
        .flatten()
        .collect()
}

/// Returns why a step makes its run invalid, if it does.
pub(crate) fn invalid(step: &StepRecord) -> Option<String> {
    let intervals = step.invalid_intervals.as_ref().filter(|intervals| !is_usable(intervals))?;
    Some(format!("{}: {}", step.step.name, intervals.phrase()))
}

/// Returns the warning about a closed loop with too many invalid intervals.
///
/// A closed loop has no schedule that its client can miss: the step counts as a whole, with a
/// warning, which blocks the step where no interval is valid: one alone may be chance. An open loop
/// in the same place is invalid.
pub(crate) fn busy_host(invalid_intervals: &InvalidIntervals) -> Finding {
    let InvalidIntervals { intervals, of_intervals, .. } = *invalid_intervals;
    let them = if intervals == 1 { "this interval" } else { "these intervals" };
    let finding = warning(
        rule_code::A021,
        format!("{}; the figures of a closed loop include {them}", invalid_intervals.phrase()),
        "stop the other processes of the host, and repeat: the figures include the effect of these \
         processes",
    );
    let is_nothing_left = intervals == of_intervals && intervals as usize >= INVALID_MIN;
    let severity = if is_nothing_left { Severity::Blocking } else { finding.severity };
    Finding { severity, ..finding }
}

fn warning(code: &str, evidence: String, remedy: &str) -> Finding {
    let (code, remedy) = (code.to_owned(), remedy.to_owned());
    Finding { code, severity: Severity::Warning, evidence, remedy }
}

/// Returns the warning about an open loop that was not sustained.
fn load_finding(step: &StepRecord) -> Option<Finding> {
    match step.load_status.as_ref()? {
        LoadStatus::Sustained => None,
        // The invalid intervals have a finding of their own.
        LoadStatus::ClientBound { .. } if invalid(step).is_some() => None,
        LoadStatus::Overloaded { evidence } => Some(warning(
            rule_code::A004,
            format!("overloaded: {evidence}"),
            "no steady response time exists at this rate: lower the rate, or search for the \
             highest rate within a latency limit",
        )),
        LoadStatus::ClientBound { evidence } => {
            let remedy = "this result does not describe the engine: lower the rate, or give the \
                          client more CPUs";
            let finding = warning(rule_code::A008, format!("client-bound: {evidence}"), remedy);
            Some(Finding { severity: Severity::Blocking, ..finding })
        }
    }
}

/// Returns the warning about invalid intervals.
fn invalid_finding(step: &StepRecord) -> Option<Finding> {
    let invalid_intervals = step.invalid_intervals.as_ref()?;
    let causes = invalid_intervals.causes.iter();
    let most = causes.filter(|(cause, _)| *cause != InvalidCause::Aftermath).max_by_key(|it| it.1);
    let most = most.map_or(InvalidCause::Client, |(cause, _)| *cause);
    let evidence = invalid_intervals.phrase() + &left_out(step, invalid_intervals);
    let mut finding = warning(rule_code::A011, evidence, remedy(most));
    if invalid(step).is_some() {
        finding.severity = Severity::Blocking;
    }
    Some(finding)
}

/// Names the operations that no rate and no time counts, if the longest of all is among them.
fn left_out(step: &StepRecord, invalid_intervals: &InvalidIntervals) -> String {
    let them = if invalid_intervals.intervals == 1 { "this interval" } else { "these intervals" };
    match invalid_intervals.left_out(&step.clients) {
        (1, Some(longest)) => {
            format!("; the only operation in {them} took {longest} and is left out")
        }
        (count @ 2.., Some(longest)) => {
            let count = thousands(count);
            format!("; {count} operations in {them} are left out, and the longest took {longest}")
        }
        _ => String::new(),
    }
}

/// Returns the remedy for a cause.
const fn remedy(cause: InvalidCause) -> &'static str {
    match cause {
        InvalidCause::Paused => {
            "let nothing stop the worker (a debugger, a freezer, a suspend), and repeat on a host \
             with dedicated CPUs: a hypervisor may take CPU time without reporting it"
        }
        InvalidCause::Throttled => "raise the CPU cap of the control group in which assay runs",
        InvalidCause::Steal => "repeat on a host whose CPUs are not shared with other guests",
        InvalidCause::Neighbours => "stop the other processes of the host, and repeat",
        InvalidCause::Client | InvalidCause::Aftermath => {
            "lower the rate or the number of clients, or pace them with `spin` on separate CPUs"
        }
    }
}

/// Returns the warning about pauses that readings would have covered.
pub(super) fn paused(pauses: &Pauses) -> Option<Finding> {
    let remedy = "let nothing pause Assay or its workers (Ctrl-Z, a debugger, a freezer, a \
                  suspend), and repeat; the step's totals are correct for the time they cover";
    pauses.describe().map(|evidence| warning(rule_code::A059, evidence, remedy))
}

/// Share of its median below which a step's clock has fallen.
///
/// Our choice: above the steps of 100 MHz and the noise of one reading, below any throttling.
const CLOCK_SHARE: f64 = 0.95;
/// Share of a step's readings from which on a fallen clock is reported.
///
/// Our choice: the reading after the clients have stopped may be slow.
const SLOW_READINGS: f64 = 0.1;

/// Returns the warning about a clock that fell within a step.
///
/// A step that is slow in more than half of its seconds has a slow median: of these the kernel's
/// counts of throttling are the evidence.
pub(super) fn slow_clock(clocks_mhz: &[f64]) -> Option<Finding> {
    let median = stats::median(clocks_mhz)?;
    let slow = clocks_mhz.iter().filter(|clock| **clock < CLOCK_SHARE * median);
    let slow: Vec<f64> = slow.copied().collect();
    let share = slow.len() as f64 / clocks_mhz.len() as f64;
    let lowest = slow.into_iter().reduce(f64::min).filter(|_| share > SLOW_READINGS)?;
    let evidence = format!(
        "the fastest CPU's clock fell to {lowest:.0} MHz, from a median of {median:.0} MHz, in \
         {} of the readings",
        percent(share)
    );
    let remedy =
        "keep the CPU clock constant (governor `performance`, boost off), and cool the machine";
    Some(warning(rule_code::A018, evidence, remedy))
}

/// Returns the warning about a search without a reproducible result.
fn search_finding(step: &StepRecord) -> Option<Finding> {
    let search = step.search.as_ref()?;
    if search.found.is_none() {
        let limit = search.limit.map(|limit| format!(" within {limit}")).unwrap_or_default();
        let probes = match search.probes.len() {
            1 => "1 probe".to_owned(),
            count => format!("{count} probes"),
        };
        let evidence = format!("found nothing{limit} in {probes}: {}", search.ended);
        return Some(warning(rule_code::A041, evidence, remedy_of_search(search)));
    }
    search.is_path_dependent.then(|| {
        warning(
            rule_code::A003,
            "a rate that had passed failed after a probe at a higher rate".to_owned(),
            "probes left deferred work that waiting does not complete: repeat the search several \
             times, each on fresh data",
        )
    })
}

/// Returns the remedy for a search that found nothing.
fn remedy_of_search(search: &SearchRecord) -> &'static str {
    let invalid = search.probes.iter().filter(|probe| probe.outcome == Outcome::Invalid).count();
    if invalid > search.probes.len() / 3 {
        return "repeat on a quiet host: many probes were invalid";
    }
    if search.probes.iter().all(|probe| probe.purpose == Purpose::Capacity) {
        return "make the step longer (--duration), or lower the percentile of the limit: no rate \
                could be tested";
    }
    "loosen the limit, or find in the probes what exceeded the limit (assay show)"
}

/// Returns how many CPUs the server used on average over the whole step; 0 when there is none.
///
/// Not over the valid intervals only: while one statement takes longer than an interval, intervals
/// are reported late, and the server's CPU is sampled when they are.
fn server_cpus(step: &StepRecord) -> f64 {
    let used_us: f64 =
        metric::SERVER_CPU_US.iter().filter_map(|part| step.counters.value(*part)).sum();
    used_us / (step.duration_ns.as_secs_f64() * 1e6).max(1.0)
}

/// The valid intervals of a span, as far as busy threads show in them.
pub(crate) struct BusySpan {
    length: Nanos,
    /// Growth of counters.
    readings: Readings,
    /// Intervals in which clients began late: the engine had the CPUs.
    engine_had_the_cpus: u32,
}

impl BusySpan {
    pub(crate) fn of(validity: &Validity, engine_had_the_cpus: u32) -> Self {
        let (length, readings) = (validity.valid_ns, validity.readings.clone());
        Self { length, readings, engine_had_the_cpus }
    }
}

/// Returns the warning about more busy threads than CPUs, over the valid intervals.
///
/// None where client and server share one CPU by the experiment's placement.
pub(crate) fn busy_threads(
    step: &StepRecord,
    busy: &BusySpan,
    setting: &Setting,
) -> Option<Finding> {
    let length_us = busy.length.as_secs_f64() * 1e6;
    if busy.length < BUSY_THREADS_FROM || setting.placement == Placement::SameCpu {
        return None;
    }
    let cpus = setting.cpus;
    let worker_us = busy.readings.sum(&metric::PROCESS_CPU_US)?;
    let server = if setting.is_elsewhere { 0.0 } else { server_cpus(step) };
    let used = worker_us / length_us + server;
    let found = step.search.as_ref().and_then(|search| search.found);
    let clients = found.map_or(step.step.clients, |found| found.clients);
    let waiting = busy.readings.value(metric::CLIENT_RUN_QUEUE_US)? / length_us;
    let share = waiting / f64::from(step.step.threads(clients).max(1));
    let late = busy.engine_had_the_cpus;
    let is_full = used + waiting > BUSY_SHARE * cpus.value();
    if !is_full && late == 0 && share <= RUN_QUEUE_SHARE {
        return None;
    }
    let outside = [metric::OTHERS_CPU_US, metric::HOST_STEAL_US]
        .map(|name| busy.readings.value(name).unwrap_or(0.0) / length_us);
    if !setting.is_elsewhere && late == 0 && outside[0] + outside[1] > used {
        return Some(crowded_out(share, used, outside));
    }
    let mut evidence = format!(
        "more busy threads than CPUs: {used:.2} of {cpus} CPUs used, and clients waited {:.1} % \
         of their time for a CPU",
        share * 100.0
    );
    if late > 0 {
        // Writing to a text does not fail.
        let intervals = if late == 1 { "interval" } else { "intervals" };
        write!(evidence, "; because of it, clients began late in {late} {intervals}").ok();
    }
    let remedy = "use fewer clients or background threads, or read the result as a test of a \
                  saturated machine";
    Some(warning(rule_code::A009, evidence, remedy))
}

/// Returns the warning about clients that waited for CPUs in use by others.
///
/// `outside` has the CPUs that other processes and other guests used.
fn crowded_out(share: f64, used: f64, outside: [f64; 2]) -> Finding {
    let [others, steal] = outside;
    let evidence = format!(
        "clients waited {:.1} % of their time for a CPU: other processes used {others:.2} CPUs, \
         other guests {steal:.2}, and this run {used:.2}",
        share * 100.0
    );
    let remedy = "stop the other processes of the host, and repeat: the figures include the effect \
                  of these processes";
    warning(rule_code::A021, evidence, remedy)
}

#[cfg(test)]
mod tests {
    use model::record::{OpSummaries, OpSummary};
    use model::{CpuCount, OpKind, Step, StopRule};

    use super::*;

    fn invalid_intervals(intervals: u32) -> InvalidIntervals {
        InvalidIntervals {
            intervals,
            of_intervals: 10,
            causes: vec![(InvalidCause::Neighbours, intervals)],
            valid_ns: Nanos::from_secs(10 - u64::from(intervals)),
            valid: OpSummaries::new(),
            within_limit: None,
        }
    }

    #[test]
    fn a_closed_loop_on_a_busy_host_has_one_warning() {
        assert!(is_usable(&invalid_intervals(2)) && !is_usable(&invalid_intervals(3)));
        let finding = busy_host(&invalid_intervals(7));
        assert_eq!((finding.code.as_str(), finding.severity), (rule_code::A021, Severity::Warning));
        assert!(
            finding.evidence.starts_with("7 of 10 intervals are invalid: other processes"),
            "{finding:?}"
        );
        assert!(
            finding.evidence.ends_with("; the figures of a closed loop include these intervals"),
            "{finding:?}"
        );
        let blocked = busy_host(&invalid_intervals(10));
        assert_eq!(blocked.severity, Severity::Blocking, "{blocked:?}");
        let short = busy_host(&InvalidIntervals { of_intervals: 1, ..invalid_intervals(1) });
        assert_eq!(short.severity, Severity::Warning, "{short:?}");
        let evidence = "the only interval is invalid: other processes took the CPU; the figures of \
                        a closed loop include this interval";
        assert_eq!(short.evidence, evidence);
    }

    /// Goal: a step states the operations that no time counts, when the longest is among them.
    #[test]
    fn left_out_operations_are_named_with_the_longest() {
        let mut step = StepRecord::new(0, Step::new("readrandom", StopRule::Operations(9)));
        let summary = |done, max_ns| {
            let mut summary = OpSummary::default();
            (summary.counts.done, summary.response.max_ns) = (done, max_ns);
            [(OpKind::Get, summary)].into()
        };
        step.clients = summary(1_250, 5_000_000_000);
        let evidence = |step: &StepRecord| invalid_finding(step).unwrap().evidence;
        let valid = |valid| Some(InvalidIntervals { valid, ..invalid_intervals(1) });
        step.invalid_intervals = valid(summary(50, 700));
        let text = evidence(&step);
        assert!(
            text.ends_with(
                "1,200 operations in this interval are left out, and the longest took 5.00 s"
            ),
            "{text}"
        );
        step.invalid_intervals = valid(summary(50, 5_000_000_000));
        assert!(!evidence(&step).contains("left out"));
    }

    /// Ten seconds by two clients on two CPUs, of which so much was used and waited for.
    fn busy(used_s: f64, waited_s: f64, step: &StepRecord) -> Option<Finding> {
        busy_next_to(0.0, used_s, waited_s, step)
    }

    /// The same, while other processes used so much.
    fn busy_next_to(
        others_s: f64,
        used_s: f64,
        waited_s: f64,
        step: &StepRecord,
    ) -> Option<Finding> {
        let readings = [
            (metric::PROCESS_CPU_USER_US, used_s * 1e6),
            (metric::PROCESS_CPU_KERNEL_US, 0.0),
            (metric::CLIENT_RUN_QUEUE_US, waited_s * 1e6),
            (metric::OTHERS_CPU_US, others_s * 1e6),
        ];
        let busy = BusySpan {
            length: Nanos::from_secs(10),
            readings: readings.into(),
            engine_had_the_cpus: 0,
        };
        let placement = Placement::Free;
        let cpus = CpuCount::of(2);
        let setting = Setting {
            clients: 1,
            cpus,
            is_elsewhere: false,
            placement,
            limit: None,
            calibrated_lag: None,
        };
        let shared = Setting { placement: Placement::SameCpu, ..setting };
        assert_eq!(busy_threads(step, &busy, &shared), None, "as requested");
        busy_threads(step, &busy, &setting)
    }

    #[test]
    fn busy_threads_are_those_that_run_and_those_that_wait() {
        let step = closed();
        assert_eq!(busy(19.9, 0.2, &step), None, "two clients fill two CPUs without waits");
        let finding = busy(19.8, 0.9, &step).unwrap();
        assert_eq!(finding.code, rule_code::A009);
        let evidence = "more busy threads than CPUs: 1.98 of 2 CPUs used, and clients waited 4.5 \
                        % of their time for a CPU";
        assert_eq!(finding.evidence, evidence);
        assert!(busy(9.0, 1.1, &step).is_some(), "they wait although CPUs are free: pinned");
    }

    #[test]
    fn waits_are_charged_to_who_used_the_cpus() {
        let step = closed();
        let finding = busy_next_to(19.2, 0.7, 11.9, &step).unwrap();
        assert_eq!(finding.code, rule_code::A021);
        let evidence = "clients waited 59.5 % of their time for a CPU: other processes used 1.92 \
                        CPUs, other guests 0.00, and this run 0.07";
        assert_eq!(finding.evidence, evidence);
        assert_eq!(busy_next_to(2.0, 17.8, 2.7, &step).unwrap().code, rule_code::A009);
    }

    #[test]
    fn invalid_intervals_are_a_warning_and_too_many_are_blocking() {
        let mut step = closed();
        for (intervals, severity) in [(2, Severity::Warning), (3, Severity::Blocking)] {
            step.invalid_intervals = Some(invalid_intervals(intervals));
            let [finding] = &warnings(&step)[..] else { panic!("one finding") };
            assert_eq!((finding.code.as_str(), finding.severity), (rule_code::A011, severity));
            assert_eq!(invalid(&step).is_some(), severity == Severity::Blocking);
        }
        // The client's part is reported once.
        step.load_status = Some(LoadStatus::ClientBound { evidence: String::new() });
        assert_eq!(warnings(&step).len(), 1);
        step.invalid_intervals = None;
        assert_eq!(warnings(&step)[0].code, rule_code::A008);
        step.load_status = Some(LoadStatus::Overloaded { evidence: "88.0 % served".to_owned() });
        assert_eq!(warnings(&step)[0].evidence, "overloaded: 88.0 % served");
    }

    fn closed() -> StepRecord {
        let step = Step {
            clients: 2,
            ..Step::new("readrandom", StopRule::Duration(Nanos::from_secs(10)))
        };
        StepRecord { duration_ns: Nanos::from_secs(10), ..StepRecord::new(0, step) }
    }

    /// Goal: a clock that falls for part of a step is reported with its figures; a steady one, one
    /// slow reading of many, and an unknown one are silent.
    #[test]
    fn a_clock_that_falls_is_reported() {
        let steps = |slow: usize| {
            let mut clocks = vec![3_600.0; 20 - slow];
            clocks.extend(vec![2_400.0; slow]);
            slow_clock(&clocks).map(|finding| finding.evidence)
        };
        assert_eq!(steps(0), None);
        assert_eq!(steps(2), None);
        let evidence = "the fastest CPU's clock fell to 2400 MHz, from a median of 3600 MHz, in \
                        25 % of the readings";
        assert_eq!(steps(5).as_deref(), Some(evidence));
        assert_eq!(slow_clock(&[]), None);
    }
}
