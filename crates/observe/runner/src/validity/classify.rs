//! Decides whether an interval is valid, and why not.
//!
//! Pure functions over evidence. An interval is invalid when the client was late *and* the cause
//! lies outside the engine: an embedded engine's own threads, and calls into it, are the engine's
//! work, even where they delay clients. Lateness is measured by the client's own accounts; the
//! host's accounts, which cover nearly the same time only, give the cause.
//!
//! Every threshold stands at the top of this file, with its reason.

use std::fmt::Write as _;

use model::units::thousands;
use model::validity::RUN_QUEUE_SHARE;
use model::validity::{InvalidCause, InvalidReason};
use model::{Nanos, float, whole};

use super::evidence::{Evidence, Outside, Setting, StartLag};

/// Start lag that is no lateness yet, where the limit allows no more.
/// Our choice: twice the kernel's default timer slack of 50 us ([prctl 2]).
const LAG_MIN: Nanos = Nanos(100_000);
/// The same as a share of the limit: the client's own lag must be small against it. Our choice.
const LAG_LIMIT_SHARE: f64 = 0.05;
/// Start lag, as a multiple of the calibrated one, that is the host's own and no lateness.
///
/// Our choice: waking a thread takes a virtual machine hundreds of microseconds, quiet or not, and
/// a calibration is too short to measure more than its order; in quiet runs on a virtual machine
/// of two CPUs, seconds without steal had up to three times the p99 of the calibration.
const LAG_CALIBRATED: u64 = 3;
/// Most of that: a host that starts clients later than this cannot time them.
const LAG_CALIBRATED_MAX: Nanos = Nanos(500_000);
/// Share of the starts that may be late: the p99 of the start lag decides. Our choice: 1 % of late
/// starts leaves percentiles up to the p99 intact.
const LATE_SHARE: f64 = 0.01;
/// Standard deviations of the count by which more than that share must be late: a quiet host whose
/// p99 lies near the allowed lag has one invalid second in a thousand.
const LATE_SIGMAS: f64 = 3.0;
/// Part of the limit's late operations that clients may cause by themselves. Our choice: a quarter
/// moves the highest rate found by a percent or two, as late operations grow steeply there.
const HARM_SHARE: f64 = 0.25;

/// Least time for which the worker was stopped: the longest waits for a CPU on a busy host reach
/// 10 ms, and an interval has ten such waits.
const PAUSE_MIN_US: f64 = 30_000.0;

/// Share of an interval that a wait for a CPU does not reach: a fair scheduler delays no thread
/// for half a second, unless there are some hundred busy threads per CPU (at 3 ms a turn).
const STOPPED_SHARE: f64 = 0.5;

/// Throttling that counts without a late client, as a share of the interval. Our choice: at half a
/// percent of the time, percentiles of 99.5 and above are the cap's.
const THROTTLED_SHARE: f64 = 0.005;
/// Steal that counts without a late client, as a share of the interval. Our choice: above the noise
/// of an account in ticks of 10 ms.
const STEAL_SHARE: f64 = 0.05;
/// Least steal or throttling that can be the cause of a lateness: one tick.
const TICK_US: f64 = 10_000.0;

/// Wait for a CPU that is negligible, as a share of the interval.
const RUN_QUEUE_MIN_SHARE: f64 = 0.005;
/// Share of all CPUs from which other processes can be the cause of any wait.
const OTHERS_SHARE: f64 = 0.05;
/// Error of the account of other processes per root of CPUs and seconds: it is the difference of
/// an account in ticks and one to the nanosecond. At 250 ticks a second and a CPU in use half of
/// the time, the standard deviation is 4 ms x sqrt(250 / 4) = 32 ms; this is three of them.
const OTHERS_NOISE_US: f64 = 95_000.0;
/// Share of a lateness, or of a wait, that a cause must be able to explain.
const EXPLAINS_SHARE: f64 = 0.5;

/// Classifies a step's intervals in order, those of the warm-up included.
pub(crate) struct IntervalClassifier {
    setting: Setting,
    /// The host's previous readings, for an interval reported at once after another.
    before: Option<Outside>,
    /// Time the worker was stopped that is not charged to an interval yet, us.
    pause_left_us: f64,
    /// The longest backlog at the end of a valid interval.
    usual_backlog: Nanos,
    /// Backlog at the end of the last interval.
    backlog: Nanos,
    aftermath: Option<Aftermath>,
}

/// Consequences of an invalid interval for the following ones.
#[derive(Debug, Clone, Copy)]
struct Aftermath {
    /// When it ended.
    since: Nanos,
    /// The longest backlog it left: a longer one is the engine's.
    backlog_max: Nanos,
}

/// Classification of an interval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Classification {
    /// The client did its part.
    InTime,
    /// Clients began late because the engine's own work had the CPUs; valid.
    EngineHadTheCpus,
    /// Invalid, with the reason.
    Invalid(InvalidReason),
}

/// A client that was late.
struct Late {
    /// The longest lateness, us.
    longest_us: f64,
    /// Lateness of all late starts together, us.
    total_us: f64,
    /// The observed lateness, as text.
    evidence: String,
}

impl IntervalClassifier {
    /// Returns the state before a step's first interval.
    pub(crate) fn new(setting: Setting) -> Self {
        Self {
            setting,
            before: None,
            pause_left_us: 0.0,
            usual_backlog: Nanos(0),
            backlog: Nanos(0),
            aftermath: None,
        }
    }

    /// Classifies the next interval.
    pub(crate) fn classify(&mut self, reported: &Evidence) -> Classification {
        let length_us = reported.length.as_micros_f64();
        let mut evidence = *reported;
        // Reported right after another: most of the host's readings arrived with that one.
        let is_burst = reported.outside.span.0 < reported.length.0 / 2;
        let before = self.before.filter(|_| is_burst);
        let outside = before.map_or(reported.outside, |before| reported.outside.and(&before));
        self.before = Some(outside);
        evidence.outside = outside.scaled_to(reported.length);
        let pause_us = reported.own.pause.unwrap_or(0.0) + self.pause_left_us;
        self.pause_left_us = (pause_us - length_us).max(0.0);
        evidence.own.pause = reported.own.pause.map(|_| pause_us.min(length_us));

        let mut classification = classify_alone(&evidence, &self.setting);
        let end = reported.start.after(reported.length);
        if matches!(classification, Classification::Invalid(_)) {
            let backlog_max = self.aftermath.map_or(Nanos(0), |aftermath| aftermath.backlog_max);
            let backlog_max = backlog_max.max(reported.backlog);
            self.aftermath = Some(Aftermath { since: end, backlog_max });
        } else if let Some(evidence) = self.left_over(reported) {
            classification =
                Classification::Invalid(InvalidReason { cause: InvalidCause::Aftermath, evidence });
        } else {
            self.aftermath = None;
            self.usual_backlog = self.usual_backlog.max(reported.backlog);
        }
        self.backlog = reported.backlog;
        classification
    }

    /// Describes consequences of an earlier invalid interval, if there are any.
    ///
    /// These are a backlog not longer than it left (a longer one is the engine's own), or an
    /// operation that was due before it had ended.
    fn left_over(&self, reported: &Evidence) -> Option<String> {
        let aftermath = self.aftermath?;
        let usual = self.usual_backlog.max(lag_allowed(&self.setting));
        if self.backlog > usual && self.backlog <= aftermath.backlog_max {
            let left = aftermath.backlog_max;
            return Some(format!(
                "it began with {} of the backlog of {left} that an invalid interval left",
                self.backlog
            ));
        }
        let age = reported.start.after(reported.length).since(aftermath.since);
        (reported.response_max > age).then(|| {
            format!(
                "an operation that took {} was due before an invalid interval had ended",
                reported.response_max
            )
        })
    }
}

/// Classifies an interval by its own evidence.
fn classify_alone(evidence: &Evidence, setting: &Setting) -> Classification {
    let late = late(evidence, setting);
    if let Some((cause, evidence)) = outside_cause(evidence, setting, late.as_ref()) {
        let evidence = match late {
            Some(late) => format!("{evidence}; {}", late.evidence),
            None => evidence,
        };
        return Classification::Invalid(InvalidReason { cause, evidence });
    }
    let Some(Late { total_us, evidence: mut detail, .. }) = late else {
        return Classification::InTime;
    };
    if engine_had_the_cpus(evidence, setting, total_us) {
        return Classification::EngineHadTheCpus;
    }
    if let Some(preemptions) = evidence.own.preemptions {
        // Writing to a text does not fail.
        write!(detail, "; clients were preempted {preemptions:.0} times").ok();
    }
    Classification::Invalid(InvalidReason { cause: InvalidCause::Client, evidence: detail })
}

/// Returns the start lag that most starts must stay within.
pub(crate) fn lag_allowed(setting: &Setting) -> Nanos {
    let of_limit = setting.limit.map(|limit| Nanos(whole(float(limit.within) * LAG_LIMIT_SHARE)));
    let of_host = setting.calibrated_lag.map(|lag| Nanos(lag.0.saturating_mul(LAG_CALIBRATED)));
    let of_host = of_host.map(|lag| lag.min(LAG_CALIBRATED_MAX));
    LAG_MIN.max(of_limit.unwrap_or_default()).max(of_host.unwrap_or_default())
}

/// Returns a client's lateness in an open loop, if frequent or harmful.
fn late(evidence: &Evidence, setting: &Setting) -> Option<Late> {
    let lag = evidence.start_lag?;
    let StartLag { starts, late, late_total, p99, max, .. } = lag;
    let allowed = lag_allowed(setting);
    let evidence = if is_more_than(LATE_SHARE, late, starts) {
        format!(
            "{:.1} % of {} starts lagged by more than {allowed}; start lag p99 {p99}, max {max}",
            100.0 * float(late) / float(starts),
            thousands(starts)
        )
    } else if is_harmful(evidence, setting, &lag) {
        format!(
            "clients lagged by more than {} for {} in all (up to {max}), and {} of {} operations \
             took longer",
            setting.limit().within,
            lag.over_limit,
            thousands(evidence.over_limit),
            thousands(evidence.done)
        )
    } else {
        return None;
    };
    Some(Late { longest_us: max.as_micros_f64(), total_us: late_total.as_micros_f64(), evidence })
}

/// Returns whether rare but long lags of the clients may have broken the limit.
///
/// While a client lags beyond the limit, arrivals can exceed it too: all of them, when it is the
/// only one or all lag at once. Response times show whether they did.
fn is_harmful(evidence: &Evidence, setting: &Setting, lag: &StartLag) -> bool {
    let share = HARM_SHARE * (1.0 - setting.limit().share);
    let clients_us = f64::from(setting.clients.max(1)) * evidence.length.as_micros_f64();
    lag.over_limit.as_micros_f64() > share * clients_us
        && is_more_than(share, evidence.over_limit, evidence.done)
}

/// Returns whether surely more than a share of `all` are late.
///
/// Source: [Box 2005], section 3.12 (normal approximation to the binomial distribution).
fn is_more_than(share: f64, late: u64, all: u64) -> bool {
    let expected = share * float(all);
    float(late) > expected + LATE_SIGMAS * (expected * (1.0 - share)).sqrt()
}

/// Returns the cause outside the worker, with the figures.
fn outside_cause(
    evidence: &Evidence,
    setting: &Setting,
    late: Option<&Late>,
) -> Option<(InvalidCause, String)> {
    let length_us = evidence.length.as_micros_f64();
    let outside = &evidence.outside;
    let (throttled, steal) = (outside.throttled.unwrap_or(0.0), outside.steal.unwrap_or(0.0));
    let stopped = stopped_us(evidence, setting) - throttled - steal;
    if stopped >= PAUSE_MIN_US {
        let evidence = format!(
            "the worker was stopped for {} of {}",
            Nanos(whole(stopped * 1e3)),
            evidence.length
        );
        return Some((InvalidCause::Paused, evidence));
    }
    // A cause without a lateness must be large; with one, it must be able to explain it.
    let counts = |us: f64, share: f64| match late {
        _ if us >= share * length_us => true,
        Some(late) => us >= TICK_US && us >= EXPLAINS_SHARE * late.longest_us,
        None => false,
    };
    if counts(throttled, THROTTLED_SHARE) {
        let evidence = format!(
            "a CPU cap throttled the worker's control group for {}",
            Nanos(whole(throttled * 1e3))
        );
        return Some((InvalidCause::Throttled, evidence));
    }
    let neighbours = neighbours(evidence, setting, late);
    // Of two possible causes, the one that took more CPU.
    let is_more = neighbours.is_none() || steal > outside.others.unwrap_or(0.0);
    if is_more && counts(steal, STEAL_SHARE) {
        let evidence = format!("another guest took {} of CPU", Nanos(whole(steal * 1e3)));
        return Some((InvalidCause::Steal, evidence));
    }
    neighbours.map(|evidence| (InvalidCause::Neighbours, evidence))
}

/// Returns the time the whole worker was stopped, us: no more than the CPUs were unused.
///
/// A coordinator that waits for a CPU is late too, but then the CPUs are in use, and the clients
/// wait as it does; their waits are known better than the use of the CPUs, which is counted in
/// ticks. One that was late for most of the interval, while no client waited for a CPU, was
/// stopped: a stopped thread is not in the run queue.
fn stopped_us(evidence: &Evidence, setting: &Setting) -> f64 {
    let Some(pause) = evidence.own.pause else { return 0.0 };
    let cpus = setting.cpus.or_one();
    let half_us = STOPPED_SHARE * evidence.length.as_micros_f64();
    let waited = evidence.own.run_queue.unwrap_or(0.0) / f64::from(setting.clients.max(1));
    // An engine that keeps the coordinator waiting uses all CPUs.
    if pause - waited >= half_us && evidence.own.process_cpu.is_some_and(|cpu| cpu < half_us) {
        return pause;
    }
    let known = evidence.own.process_cpu.unwrap_or(0.0) + evidence.outside.others.unwrap_or(0.0);
    let used = known.max(evidence.outside.busy.unwrap_or(0.0));
    (pause.min(evidence.length.as_micros_f64() - used / cpus) - waited).max(0.0)
}

/// Describes the CPU use of other processes, if it can be the cause.
fn neighbours(evidence: &Evidence, setting: &Setting, late: Option<&Late>) -> Option<String> {
    let others = evidence.outside.others?;
    let length_us = evidence.length.as_micros_f64();
    let cpus = setting.cpus.or_one();
    let queued = queued(evidence, setting);
    let wait = match (late, queued) {
        (Some(late), _) => late.longest_us,
        (None, Some(queued)) => queued,
        (None, None) => return None,
    };
    let noise = OTHERS_NOISE_US * (cpus * length_us / 1e6).sqrt();
    let wanted = (EXPLAINS_SHARE * wait).min(OTHERS_SHARE * cpus * length_us).max(noise);
    (others >= wanted).then(|| {
        let waited = evidence.own.run_queue.map_or(String::new(), |us| {
            format!(" while clients waited {} for a CPU", Nanos(whole(us * 1e3)))
        });
        format!("other processes used {} of CPU{waited}", Nanos(whole(others * 1e3)))
    })
}

/// Returns the time clients waited for a CPU, us, when more than usual.
fn queued(evidence: &Evidence, setting: &Setting) -> Option<f64> {
    let queued = evidence.own.run_queue?;
    let length_us = evidence.length.as_micros_f64();
    let is_much = queued > RUN_QUEUE_SHARE * worked(evidence, setting)
        && queued > RUN_QUEUE_MIN_SHARE * length_us;
    is_much.then_some(queued)
}

/// Returns the time the measured clients had an operation to do, us, all of them together.
fn worked(evidence: &Evidence, setting: &Setting) -> f64 {
    let all = f64::from(setting.clients) * evidence.length.as_micros_f64();
    (all - evidence.own.idle.unwrap_or(0.0)).max(0.0)
}

/// Returns whether clients that were late waited for CPUs on which the engine's work ran.
///
/// That is its own threads, the kernel's work for it, and more calls into it than there are CPUs.
/// A wait for a CPU makes one start late at most, by no more than the wait.
fn engine_had_the_cpus(evidence: &Evidence, setting: &Setting, late_us: f64) -> bool {
    let Some(queued) = evidence.own.run_queue else { return false };
    if queued < EXPLAINS_SHARE * late_us {
        return false;
    }
    let engine = evidence.own.engine_cpu().unwrap_or(0.0);
    let kernel = kernel_cpu(evidence).unwrap_or(0.0);
    let calls = worked(evidence, setting) / evidence.length.as_micros_f64().max(1.0);
    engine + kernel >= EXPLAINS_SHARE * queued || calls > setting.cpus.value()
}

/// Returns the host's CPU use outside user mode and the worker, mostly the kernel's threads.
fn kernel_cpu(evidence: &Evidence) -> Option<f64> {
    let outside = &evidence.outside;
    Some((outside.busy? - outside.others? - evidence.own.process_cpu?).max(0.0))
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
