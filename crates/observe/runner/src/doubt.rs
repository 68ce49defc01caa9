//! What should be doubted about a step, and what makes a run invalid.

use std::fmt::Write as _;

use model::record::{Finding, Severity};
use model::validity::{InvalidCause, InvalidIntervals, LoadStatus, Outcome};
use model::{Nanos, Placement, StepRecord};

use crate::evidence::Setting;
use crate::load_status::too_many_voids;
use crate::span::Part;

/// Busy threads per CPU from which there are more than CPUs: CPUs used, and clients that wait for
/// one. The last 2 % are what any scheduler takes to share them.
/// Source: Callaghan, "busy threads <= cores".
const BUSY_SHARE: f64 = 1.02;
/// Share of their time that clients may wait for a CPU.
/// Source: the project's reference, analysis, section 7, L09.
const RUN_QUEUE_SHARE: f64 = 0.05;
/// Shortest span of which busy threads are told: the kernel's accounts are in ticks of 4 to 10 ms.
const TOLD_FROM: Nanos = Nanos::from_millis(500);

/// Returns who could not keep up with a step, what of it is void, and what a search did not find.
///
/// What else a record shows, the rules of `lint` see.
pub(crate) fn doubts(step: &StepRecord) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(unkept(step));
    findings.extend(voids(step));
    findings.extend(searched(step));
    findings
}

/// Returns why a step makes its run invalid, if it does.
pub(crate) fn invalid(step: &StepRecord) -> Option<String> {
    let invalid_intervals = step
        .invalid_intervals
        .as_ref()
        .filter(|invalid_intervals| !is_usable(invalid_intervals))?;
    Some(format!("{}: {}", step.step.name, seen_of(invalid_intervals)))
}

/// Returns whether what is left of a step speaks for the whole.
pub(crate) fn is_usable(invalid_intervals: &InvalidIntervals) -> bool {
    too_many_voids(invalid_intervals.intervals as usize, invalid_intervals.of_intervals as usize)
        .is_none()
}

/// Tells of a closed loop that was in somebody's way too often to leave it out.
///
/// A closed loop promises no schedule, so its client cannot have missed one: the step counts as a
/// whole, and is doubted. An open loop in the same place is invalid.
pub(crate) fn busy_host(invalid_intervals: &InvalidIntervals) -> Finding {
    doubt(
        "A021",
        format!("{}; a closed loop counts them all the same", seen_of(invalid_intervals)),
        "stop the other processes of the host, and repeat: the figures are the host's as well",
    )
}

fn doubt(code: &str, evidence: String, remedy: &str) -> Finding {
    let (code, remedy) = (code.to_owned(), remedy.to_owned());
    Finding { code, severity: Severity::Warning, evidence, remedy }
}

/// Tells of an open loop that was not kept up with.
fn unkept(step: &StepRecord) -> Option<Finding> {
    match step.load_status.as_ref()? {
        LoadStatus::Sustained => None,
        // The void intervals are told by themselves.
        LoadStatus::ClientBound { .. } if invalid(step).is_some() => None,
        LoadStatus::Overloaded { evidence } => Some(doubt(
            "A004",
            format!("overloaded: {evidence}"),
            "no steady response time exists at this rate: lower it, or search one with a limit",
        )),
        LoadStatus::ClientBound { evidence } => {
            let remedy = "this says nothing of the engine: lower the rate, or give the client CPUs";
            let told = doubt("A008", format!("client-bound: {evidence}"), remedy);
            Some(Finding { severity: Severity::Blocking, ..told })
        }
    }
}

/// Tells of intervals that do not count.
fn voids(step: &StepRecord) -> Option<Finding> {
    let invalid_intervals = step.invalid_intervals.as_ref()?;
    let most =
        invalid_intervals.causes.iter().filter(|(cause, _)| *cause != InvalidCause::Aftermath);
    let most =
        most.max_by_key(|(_, count)| *count).map_or(InvalidCause::Client, |(cause, _)| *cause);
    let mut finding = doubt("A011", seen_of(invalid_intervals), remedy(most));
    if invalid(step).is_some() {
        finding.severity = Severity::Blocking;
    }
    Some(finding)
}

/// Returns which intervals do not count, in words.
fn seen_of(invalid_intervals: &InvalidIntervals) -> String {
    let verb = if invalid_intervals.intervals == 1 { "is" } else { "are" };
    let mut evidence = format!(
        "{} of {} intervals {verb} void",
        invalid_intervals.intervals, invalid_intervals.of_intervals
    );
    for (at, (cause, count)) in invalid_intervals.causes.iter().enumerate() {
        let before = if at == 0 { ": " } else { ", " };
        // Writing to a text does not fail.
        write!(evidence, "{before}{} ({count})", cause.phrase()).ok();
    }
    evidence
}

/// Returns what to do about a cause.
const fn remedy(cause: InvalidCause) -> &'static str {
    match cause {
        InvalidCause::Paused => "let nothing stop the worker: no debugger, no freezer, no suspend",
        InvalidCause::Throttled => "raise the CPU cap of the control group assay runs in",
        InvalidCause::Steal => "repeat on a host whose CPUs are not shared with other guests",
        InvalidCause::Neighbours => "stop the other processes of the host, and repeat",
        InvalidCause::Client | InvalidCause::Aftermath => {
            "lower the rate or the number of clients, or pace them by `spin` on CPUs of their own"
        }
    }
}

/// Tells of a search that found nothing, or not the same twice.
fn searched(step: &StepRecord) -> Option<Finding> {
    let search = step.search.as_ref()?;
    if search.found.is_none() {
        let limit = search.limit.map(|limit| format!(" that keeps {limit}")).unwrap_or_default();
        let invalid =
            search.probes.iter().filter(|probe| probe.outcome == Outcome::Invalid).count();
        let remedy = if invalid > search.probes.len() / 3 {
            "repeat on a quiet host: many probes were void"
        } else {
            "loosen the limit, or see in the probes what broke it (assay show)"
        };
        let probes = search.probes.len();
        let evidence = format!("found nothing{limit} in {probes} probes: {}", search.ended);
        return Some(doubt("A041", evidence, remedy));
    }
    search.is_path_dependent.then(|| {
        doubt(
            "A003",
            "a rate that had passed failed after a probe beyond it".to_owned(),
            "probes left debt that a drain does not remove: search on fresh data, more than once",
        )
    })
}

/// Returns how many CPUs the server used on average over the whole step; 0 when there is none.
///
/// Not over the intervals that count: while one statement takes longer than an interval, these are
/// told late, and the server's CPU is looked at when they are.
fn server_cpus(step: &StepRecord) -> f64 {
    let parts = ["server_cpu_user_us", "server_cpu_kernel_us"];
    let used_us: f64 = parts.iter().filter_map(|name| step.counters.get(*name)).sum();
    used_us / (step.duration_ns.as_secs_f64() * 1e6).max(1.0)
}

/// Tells of more busy threads than CPUs, over the intervals that count.
///
/// Not where client and server share one CPU because it was asked for: they take turns there.
pub(crate) fn busy_threads(step: &StepRecord, part: &Part, setting: &Setting) -> Option<Finding> {
    let length_us = part.valid_length().as_secs_f64() * 1e6;
    if part.valid_length() < TOLD_FROM || setting.placement == Placement::SameCpu {
        return None;
    }
    let cpus = setting.cpus;
    let of = |name: &str| part.readings.get(name).copied();
    let worker_us = of("process_cpu_user_us")? + of("process_cpu_kernel_us")?;
    let used = worker_us / length_us + server_cpus(step);
    let found = step.search.as_ref().and_then(|search| search.found);
    let clients = found.map_or(step.step.clients, |found| found.clients);
    let waiting = of("client_run_queue_us")? / length_us;
    let share = waiting / f64::from(clients.max(1));
    let late = part.engine_had_the_cpus;
    let is_full = used + waiting > BUSY_SHARE * f64::from(cpus);
    if !is_full && late == 0 && share <= RUN_QUEUE_SHARE {
        return None;
    }
    let mut evidence = format!(
        "more busy threads than CPUs: {used:.2} of {cpus} CPUs used, and clients waited {:.1} % of \
         their time for one",
        share * 100.0
    );
    if late > 0 {
        // Writing to a text does not fail.
        write!(evidence, "; in {late} intervals clients began late for it").ok();
    }
    let remedy = "use fewer clients or background threads, or read it as a test of a full machine";
    Some(doubt("A009", evidence, remedy))
}

#[cfg(test)]
mod tests {
    use model::record::OpSummaries;
    use model::{IntervalRecord, Step, StopRule};

    use super::*;
    use crate::innocence::Judgement;
    use crate::span::{Judged, Span};

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
    fn a_closed_loop_on_a_busy_host_is_doubted_as_a_whole() {
        assert!(is_usable(&invalid_intervals(2)) && !is_usable(&invalid_intervals(3)));
        let told = busy_host(&invalid_intervals(7));
        assert_eq!((told.code.as_str(), told.severity), ("A021", Severity::Warning));
        assert!(
            told.evidence.starts_with("7 of 10 intervals are void: other processes"),
            "{told:?}"
        );
        assert!(told.evidence.ends_with("counts them all the same"), "{told:?}");
    }

    /// Ten seconds by two clients on two CPUs, of which so much was used and waited for.
    fn busy(used_s: f64, waited_s: f64, step: &StepRecord) -> Option<Finding> {
        let mut span = Span::default();
        let readings = [
            ("process_cpu_user_us", used_s * 1e6),
            ("process_cpu_kernel_us", 0.0),
            ("client_run_queue_us", waited_s * 1e6),
        ];
        let record = IntervalRecord {
            step_index: 0,
            step: "readrandom".to_owned(),
            is_warmup: false,
            start_ns: Nanos(0),
            length_ns: Nanos::from_secs(10),
            clients: OpSummaries::new(),
            writers: OpSummaries::new(),
            probe: None,
            invalid: None,
            start_lag: None,
            within_limit: None,
            readings: readings.map(|(name, value)| (name.to_owned(), value)).into(),
        };
        let judgement = &Judgement::InTime;
        let (backlog, unit) = (Nanos(0), model::OpUnit::Operation);
        span.add(&Judged { record: &record, clients: &[], backlog, judgement, unit });
        let placement = Placement::Free;
        let setting = Setting { clients: 1, cpus: 2, placement, limit: None, calibrated_lag: None };
        let shared = Setting { placement: Placement::SameCpu, ..setting };
        assert_eq!(busy_threads(step, &span.part, &shared), None, "as asked for");
        busy_threads(step, &span.part, &setting)
    }

    #[test]
    fn busy_threads_are_those_that_run_and_those_that_wait() {
        let step = closed();
        assert_eq!(busy(19.9, 0.2, &step), None, "two clients fill two CPUs and nobody waits");
        let told = busy(19.8, 0.9, &step).unwrap();
        assert_eq!(told.code, "A009");
        let evidence = "more busy threads than CPUs: 1.98 of 2 CPUs used, and clients waited 4.5 % of \
                    their time for one";
        assert_eq!(told.evidence, evidence);
        assert!(busy(9.0, 1.1, &step).is_some(), "they wait although CPUs are free: pinned");
    }

    #[test]
    fn what_is_void_is_a_doubt_and_too_much_of_it_is_blocking() {
        let mut step = closed();
        for (intervals, severity) in [(2, Severity::Warning), (3, Severity::Blocking)] {
            step.invalid_intervals = Some(invalid_intervals(intervals));
            let [told] = &doubts(&step)[..] else { panic!("one finding") };
            assert_eq!((told.code.as_str(), told.severity), ("A011", severity));
            assert_eq!(invalid(&step).is_some(), severity == Severity::Blocking);
        }
        // The client's part is told once.
        step.load_status = Some(LoadStatus::ClientBound { evidence: String::new() });
        assert_eq!(doubts(&step).len(), 1);
        step.invalid_intervals = None;
        assert_eq!(doubts(&step)[0].code, "A008");
        step.load_status = Some(LoadStatus::Overloaded { evidence: "88.0 % served".to_owned() });
        assert_eq!(doubts(&step)[0].evidence, "overloaded: 88.0 % served");
    }

    fn closed() -> StepRecord {
        let step = Step {
            clients: 2,
            ..Step::new("readrandom", StopRule::Duration(Nanos::from_secs(10)))
        };
        StepRecord { duration_ns: Nanos::from_secs(10), ..StepRecord::new(0, step) }
    }
}
