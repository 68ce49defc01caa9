//! Whether the client, and not the engine, was late in an interval, and who kept it.
//!
//! Pure functions over evidence. An interval is void when the client was late *and* the cause lies
//! outside the engine: an embedded engine's own threads, and calls into it, are the engine's work,
//! whomever they keep from the CPU. Lateness is told by the client's own accounts; the host's
//! accounts, which are of nearly the same time only, tell the cause.
//!
//! Every threshold of the judgement stands at the top of this file, with its reason.

use std::fmt::Write as _;

use model::Nanos;
use model::units::thousands;
use model::validity::{InvalidCause, InvalidReason};

use crate::evidence::{Evidence, Outside, Setting, StartLag};

/// Start lag that is no lateness yet, where the limit asks for no more.
/// Source: the project's reference, analysis, section 5.2.
const LAG_MIN: Nanos = Nanos(100_000);
/// The same as a share of the limit: what the client adds must be small beside it.
/// Source: the project's reference, analysis, section 5.2.
const LAG_LIMIT_SHARE: f64 = 0.05;
/// Start lag as a multiple of the calibrated one that is this host's own, and no lateness: waking a
/// thread takes a virtual machine hundreds of microseconds, quiet or not, and a calibration is too
/// short to see more than its order. Reason, not a source: in quiet runs on a virtual machine of
/// two CPUs, seconds without steal had up to three times the p99 of the calibration.
const LAG_CALIBRATED: u64 = 3;
/// Most of that: a host that starts clients later than this cannot time them.
const LAG_CALIBRATED_MAX: Nanos = Nanos(500_000);
/// Share of the starts that may be late: the p99 of the start lag is what is judged.
/// Source: the project's reference, analysis, section 5.2.
const LATE_SHARE: f64 = 0.01;
/// How surely more than that share must be late, in standard deviations of the count: a quiet host
/// whose p99 lies near what is allowed is void in one second of a thousand.
const LATE_SIGMAS: f64 = 3.0;
/// Part of what a limit allows to be late that clients may use up by themselves: a quarter moves
/// the highest rate found by a percent or two, as late operations grow steeply there.
/// Reason, not a source: no reference has one.
const HARM_SHARE: f64 = 0.25;

/// Time the worker must have stood still: the longest of some waits for a CPU on a busy host
/// reach 10 ms, and an interval has ten such waits.
const PAUSE_MIN_US: f64 = 30_000.0;

/// Share of an interval that a wait for a CPU does not reach: a fair scheduler keeps nobody away
/// for half a second, unless there are some hundred hogs on each CPU (at 3 ms a turn).
const STOPPED_SHARE: f64 = 0.5;

/// Throttling that counts although no client was seen late, as a share of the interval: in half a
/// percent of the time, a percentile of 99.5 and above is the cap's.
/// Source: the project's reference, analysis, section 7, L22, which doubts any.
const THROTTLED_SHARE: f64 = 0.005;
/// Steal that counts although no client was seen late, as a share of the interval: twice the 2 %
/// that the reference doubts over ten seconds, and above the noise of an account in ticks of 10 ms.
/// Source: the project's reference, analysis, section 7, L21.
const STEAL_SHARE: f64 = 0.05;
/// Steal or throttling that can be the cause of a lateness that was seen: one tick.
const TICK_US: f64 = 10_000.0;

/// Share of their working time that clients may wait for a CPU before somebody is in their way.
/// Source: the project's reference, analysis, section 7, L09.
const RUN_QUEUE_SHARE: f64 = 0.05;
/// Wait for a CPU that is too short to matter, as a share of the interval.
const RUN_QUEUE_MIN_SHARE: f64 = 0.005;
/// Share of all CPUs from which other processes can be the cause of any wait.
const OTHERS_SHARE: f64 = 0.05;
/// Error of the account of other processes per root of CPUs and seconds: it is the difference of
/// an account in ticks and one to the nanosecond. At 250 ticks a second and a CPU in use half of
/// the time, the standard deviation is 4 ms x sqrt(250 / 4) = 32 ms; this is three of them.
const OTHERS_NOISE_US: f64 = 95_000.0;
/// Share of a lateness, or of a wait, that a cause must be able to explain.
const EXPLAINS_SHARE: f64 = 0.5;

/// Judges a step's intervals in order, those of the warm-up included.
#[derive(Debug)]
pub(crate) struct Judge {
    setting: Setting,
    /// What the parent saw before, for an interval that is told at once after another.
    before: Option<Outside>,
    /// Time the worker stood still that has not been shared out yet, us.
    pause_left_us: f64,
    /// The longest backlog at the end of an interval without trouble.
    usual_backlog: Nanos,
    /// Backlog at the end of the last interval.
    backlog: Nanos,
    aftermath: Option<Aftermath>,
}

/// What a void interval leaves behind.
#[derive(Debug, Clone, Copy)]
struct Aftermath {
    /// When it ended.
    since: Nanos,
    /// The longest backlog it left: a longer one is the engine's.
    backlog_max: Nanos,
}

/// What an interval is found to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// The client did its part.
    InTime,
    /// Clients began late for want of a CPU that the engine's own work had; it counts.
    EngineHadTheCpus,
    /// It does not count.
    Invalid(InvalidReason),
}

/// A client that was late.
struct Late {
    /// The longest lateness, us.
    longest_us: f64,
    /// Lateness of all late starts together, us.
    total_us: f64,
    /// What was seen, with the figures.
    evidence: String,
}

impl Judge {
    /// Returns a judge who has seen nothing yet.
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

    /// Judges the next interval.
    pub(crate) fn judge(&mut self, told: &Evidence) -> Judgement {
        let length_us = micros(told.length);
        let mut evidence = *told;
        // Told in the wake of another: most of what was seen meanwhile was seen with that one.
        let is_burst = told.outside.span.0 < told.length.0 / 2;
        let before = self.before.filter(|_| is_burst);
        let outside = before.map_or(told.outside, |before| told.outside.and(&before));
        self.before = Some(outside);
        evidence.outside = outside.scaled_to(told.length);
        let pause_us = told.own.pause.unwrap_or(0.0) + self.pause_left_us;
        self.pause_left_us = (pause_us - length_us).max(0.0);
        evidence.own.pause = told.own.pause.map(|_| pause_us.min(length_us));

        let mut judgement = judge_alone(&evidence, &self.setting);
        let end = told.start.after(told.length);
        if matches!(judgement, Judgement::Invalid(_)) {
            let backlog_max = self.aftermath.map_or(Nanos(0), |aftermath| aftermath.backlog_max);
            let backlog_max = backlog_max.max(told.backlog);
            self.aftermath = Some(Aftermath { since: end, backlog_max });
        } else if let Some(evidence) = self.left_over(told) {
            judgement =
                Judgement::Invalid(InvalidReason { cause: InvalidCause::Aftermath, evidence });
        } else {
            self.aftermath = None;
            self.usual_backlog = self.usual_backlog.max(told.backlog);
        }
        self.backlog = told.backlog;
        judgement
    }

    /// Returns in words what a void interval before this one has left to it, if anything.
    ///
    /// That is a backlog not longer than what it left (a longer one the engine has made itself),
    /// or an operation that was due before the void interval had ended.
    fn left_over(&self, told: &Evidence) -> Option<String> {
        let aftermath = self.aftermath?;
        let usual = self.usual_backlog.max(lag_allowed(&self.setting));
        if self.backlog > usual && self.backlog <= aftermath.backlog_max {
            let left = aftermath.backlog_max;
            return Some(format!(
                "it began with a backlog of {}, of the {left} that a void interval left",
                self.backlog
            ));
        }
        let age = told.start.after(told.length).since(aftermath.since);
        (told.response_max > age).then(|| {
            format!(
                "an operation that took {} was due before a void interval had ended",
                told.response_max
            )
        })
    }
}

/// Judges an interval by its own evidence.
fn judge_alone(evidence: &Evidence, setting: &Setting) -> Judgement {
    let late = late(evidence, setting);
    if let Some((cause, evidence)) = outside_cause(evidence, setting, late.as_ref()) {
        let evidence = match late {
            Some(late) => format!("{evidence}; {}", late.evidence),
            None => evidence,
        };
        return Judgement::Invalid(InvalidReason { cause, evidence });
    }
    let Some(Late { total_us, evidence: mut detail, .. }) = late else { return Judgement::InTime };
    if engine_had_the_cpus(evidence, setting, total_us) {
        return Judgement::EngineHadTheCpus;
    }
    if let Some(put_off) = evidence.own.put_off {
        // Writing to a text does not fail.
        write!(detail, "; clients were put off the CPU {put_off:.0} times").ok();
    }
    Judgement::Invalid(InvalidReason { cause: InvalidCause::Client, evidence: detail })
}

/// Returns the start lag that most starts must stay within.
pub(crate) fn lag_allowed(setting: &Setting) -> Nanos {
    let of_limit = setting.limit.map(|limit| share_of(limit.within, LAG_LIMIT_SHARE));
    let of_host = setting.calibrated_lag.map(|lag| Nanos(lag.0.saturating_mul(LAG_CALIBRATED)));
    let of_host = of_host.map(|lag| lag.min(LAG_CALIBRATED_MAX));
    LAG_MIN.max(of_limit.unwrap_or_default()).max(of_host.unwrap_or_default())
}

/// Returns how a client was late in an open loop, if it was: often, or so much that it shows.
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
            "clients lagged beyond {} for {} in all, longest {max}, and {} operations of {} took \
             longer",
            setting.limit().within,
            lag.over_limit,
            thousands(evidence.over_limit),
            thousands(evidence.done)
        )
    } else {
        return None;
    };
    Some(Late { longest_us: micros(max), total_us: micros(late_total), evidence })
}

/// Returns whether rare but long lags of the clients may have broken the limit.
///
/// While a client lags beyond the limit, arrivals can pass it too: all of them, when it is the only
/// one or all lag at once. Whether they did is seen in the response times.
fn is_harmful(evidence: &Evidence, setting: &Setting, lag: &StartLag) -> bool {
    let share = HARM_SHARE * (1.0 - setting.limit().share);
    let clients_us = f64::from(setting.clients.max(1)) * micros(evidence.length);
    micros(lag.over_limit) > share * clients_us
        && is_more_than(share, evidence.over_limit, evidence.done)
}

/// Returns whether surely more than a share of `all` are late.
///
/// Source: Box, Hunter and Hunter, 2005, Statistics for Experimenters, section 3.12 (normal
/// approximation to the binomial distribution).
fn is_more_than(share: f64, late: u64, all: u64) -> bool {
    let expected = share * float(all);
    float(late) > expected + LATE_SIGMAS * (expected * (1.0 - share)).sqrt()
}

/// Returns who outside the worker was in the way, with the figures.
fn outside_cause(
    evidence: &Evidence,
    setting: &Setting,
    late: Option<&Late>,
) -> Option<(InvalidCause, String)> {
    let length_us = micros(evidence.length);
    let outside = &evidence.outside;
    let (throttled, steal) = (outside.throttled.unwrap_or(0.0), outside.steal.unwrap_or(0.0));
    let still = stood_still(evidence, setting) - throttled - steal;
    if still >= PAUSE_MIN_US {
        let evidence = format!("the worker stood still for {} of {}", span(still), evidence.length);
        return Some((InvalidCause::Paused, evidence));
    }
    // A cause without a lateness must be large; with one, it must be able to explain it.
    let counts = |us: f64, share: f64| match late {
        _ if us >= share * length_us => true,
        Some(late) => us >= TICK_US && us >= EXPLAINS_SHARE * late.longest_us,
        None => false,
    };
    if counts(throttled, THROTTLED_SHARE) {
        let evidence = format!("a CPU cap held the worker's group for {}", span(throttled));
        return Some((InvalidCause::Throttled, evidence));
    }
    let neighbours = neighbours(evidence, setting, late);
    // Of two who may have been in the way, the one who took more.
    let is_more = neighbours.is_none() || steal > outside.others.unwrap_or(0.0);
    if is_more && counts(steal, STEAL_SHARE) {
        let evidence = format!("another guest took {} of CPU", span(steal));
        return Some((InvalidCause::Steal, evidence));
    }
    neighbours.map(|evidence| (InvalidCause::Neighbours, evidence))
}

/// Returns the time the whole worker stood still, us: no more than the CPUs were unused.
///
/// A coordinator that waits for a CPU is late too, but then the CPUs are in use, and the clients
/// wait as it does; their waits are known better than the use of the CPUs, which is counted in
/// ticks. One that waited for most of the interval was stopped, whoever had the CPUs: the worker
/// did nothing meanwhile.
fn stood_still(evidence: &Evidence, setting: &Setting) -> f64 {
    let Some(pause) = evidence.own.pause else { return 0.0 };
    let cpus = f64::from(setting.cpus.max(1));
    let half_us = STOPPED_SHARE * micros(evidence.length);
    // An engine that keeps the coordinator waiting uses all CPUs.
    if pause >= half_us && evidence.own.process_cpu.is_some_and(|cpu| cpu < half_us) {
        return pause;
    }
    let known = evidence.own.process_cpu.unwrap_or(0.0) + evidence.outside.others.unwrap_or(0.0);
    let used = known.max(evidence.outside.busy.unwrap_or(0.0));
    let waited = evidence.own.run_queue.unwrap_or(0.0) / f64::from(setting.clients.max(1));
    (pause.min(micros(evidence.length) - used / cpus) - waited).max(0.0)
}

/// Returns in words how other processes were in the way, if they were.
fn neighbours(evidence: &Evidence, setting: &Setting, late: Option<&Late>) -> Option<String> {
    let others = evidence.outside.others?;
    let length_us = micros(evidence.length);
    let cpus = f64::from(setting.cpus.max(1));
    let queued = queued(evidence, setting);
    let wait = match (late, queued) {
        (Some(late), _) => late.longest_us,
        (None, Some(queued)) => queued,
        (None, None) => return None,
    };
    let noise = OTHERS_NOISE_US * (cpus * length_us / 1e6).sqrt();
    let wanted = (EXPLAINS_SHARE * wait).min(OTHERS_SHARE * cpus * length_us).max(noise);
    (others >= wanted).then(|| {
        let waited = evidence
            .own
            .run_queue
            .map_or(String::new(), |us| format!(" while clients waited {} for one", span(us)));
        format!("other processes used {} of CPU{waited}", span(others))
    })
}

/// Returns the time clients waited for a CPU, us, when it was more than what always happens.
fn queued(evidence: &Evidence, setting: &Setting) -> Option<f64> {
    let queued = evidence.own.run_queue?;
    let length_us = micros(evidence.length);
    let is_much = queued > RUN_QUEUE_SHARE * worked(evidence, setting)
        && queued > RUN_QUEUE_MIN_SHARE * length_us;
    is_much.then_some(queued)
}

/// Returns the time the measured clients had an operation to do, us, all of them together.
fn worked(evidence: &Evidence, setting: &Setting) -> f64 {
    let all = f64::from(setting.clients) * micros(evidence.length);
    (all - evidence.own.idle.unwrap_or(0.0)).max(0.0)
}

/// Returns whether clients that were late waited for CPUs on which the engine's work ran.
///
/// That is its own threads, what the kernel does for it, and more calls into it than there are
/// CPUs. A wait for a CPU makes one start late at most, by no more than the wait.
fn engine_had_the_cpus(evidence: &Evidence, setting: &Setting, late_us: f64) -> bool {
    let Some(queued) = evidence.own.run_queue else { return false };
    if queued < EXPLAINS_SHARE * late_us {
        return false;
    }
    let engine = evidence.own.engine_cpu().unwrap_or(0.0);
    let kernel = kernel_cpu(evidence).unwrap_or(0.0);
    let calls = worked(evidence, setting) / micros(evidence.length).max(1.0);
    engine + kernel >= EXPLAINS_SHARE * queued || calls > f64::from(setting.cpus)
}

/// Returns the CPU of the host that no process used in user mode and the worker did not use: the
/// kernel's own threads, mostly.
fn kernel_cpu(evidence: &Evidence) -> Option<f64> {
    let outside = &evidence.outside;
    Some((outside.busy? - outside.others? - evidence.own.process_cpu?).max(0.0))
}

#[expect(clippy::cast_precision_loss, reason = "an interval's operations are far below 2^53")]
const fn float(count: u64) -> f64 {
    count as f64
}

fn micros(span: Nanos) -> f64 {
    span.as_secs_f64() * 1e6
}

/// Returns microseconds as a span, for people.
#[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
#[expect(clippy::cast_sign_loss, reason = "the cast saturates")]
fn span(us: f64) -> Nanos {
    Nanos((us * 1e3) as u64)
}

#[expect(clippy::cast_precision_loss, reason = "spans stay far below 2^53 ns")]
#[expect(clippy::cast_possible_truncation, reason = "a share of a span is no longer than it")]
#[expect(clippy::cast_sign_loss, reason = "both factors are positive")]
fn share_of(span: Nanos, share: f64) -> Nanos {
    Nanos((span.0 as f64 * share) as u64)
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
