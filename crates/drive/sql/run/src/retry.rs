//! Repetition of a call after a conflict, with back-off.

use engine::{EngineError, Rows, Session};
use load::{Clock, StopFlag};
use model::record::{FailureClass, FailureCounts};
use model::sql::Retry;
use model::{Nanos, Op, Outcome};
use workload::random::{Stream, unit};

/// A call's result after its last attempt.
pub(crate) struct Attempted {
    pub(crate) answer: Result<Outcome, EngineError>,
    /// Failed attempts that were repeated.
    pub(crate) retried: FailureCounts,
    /// When the last attempt began.
    pub(crate) last_began: Nanos,
}

/// How failed calls of a session are repeated.
#[derive(Clone, Copy)]
pub(crate) struct Retrying<'a, C> {
    pub(crate) policy: Option<&'a Retry>,
    pub(crate) clock: &'a C,
    pub(crate) stop: &'a StopFlag,
    /// Random numbers of the session's pauses: clients that met do not meet again.
    pub(crate) spread: Stream,
    /// Number of the call in its session.
    pub(crate) number: u64,
}

/// Returns whether a call that failed so may succeed when it is repeated as it is.
///
/// The server has rolled it back: a constraint would be violated again, and what a lost connection
/// has applied is unknown.
const fn is_conflict(class: FailureClass) -> bool {
    matches!(class, FailureClass::Deadlock | FailureClass::Serialisation | FailureClass::Timeout)
}

/// Executes an operation, and again by the policy while it fails by a conflict.
///
/// Pauses are half to all of the policy's.
pub(crate) fn execute(
    session: &mut dyn Session,
    op: &Op<'_>,
    rows: &mut Rows,
    retrying: Retrying<'_, impl Clock>,
) -> Attempted {
    let Retrying { policy, clock, stop, spread, number } = retrying;
    let mut retried = FailureCounts::default();
    let mut last_began = clock.now();
    for attempt in 1.. {
        let answer = session.execute(op, rows);
        let class = match (&answer, policy) {
            (Err(error), Some(policy)) if attempt < policy.attempts && !stop.is_set() => {
                error.class()
            }
            _ => return Attempted { answer, retried, last_began },
        };
        if !is_conflict(class) {
            return Attempted { answer, retried, last_began };
        }
        retried.add(class);
        let pause = policy.map_or(Nanos(0), |policy| policy.pause_before(attempt + 1));
        let word = spread.branch(number).word(u64::from(attempt));
        let share = 0.5 + unit(word) / 2.0;
        let pause = Nanos(model::whole(pause.0 as f64 * share));
        if pause > Nanos(0) {
            clock.rest_until(clock.now().after(pause));
        }
        rows.clear(rows.is_storing());
        last_began = clock.now();
    }
    unreachable!("the last attempt returns")
}

#[cfg(test)]
mod tests {
    use load::ManualClock;

    use super::*;

    /// A session whose first calls fail.
    struct Failing(Vec<EngineError>);

    impl Session for Failing {
        fn execute(&mut self, _op: &Op<'_>, rows: &mut Rows) -> Result<Outcome, EngineError> {
            rows.push(b"", b"row");
            self.0.pop().map_or(Ok(Outcome::Done), Err)
        }
    }

    fn attempted(errors: &[EngineError], attempts: u32) -> (Attempted, u64) {
        let (pause, pause_max) = (Nanos::from_millis(4), Nanos::from_millis(10));
        let policy = Retry { attempts, pause, pause_max };
        let (clock, mut rows) = (ManualClock::new(Nanos(0)), Rows::new());
        let op = Op::Get { key: b"k" };
        let (stop, spread) = (StopFlag::default(), Stream::fixed(1));
        let mut session = Failing(errors.to_vec());
        let policy = Some(&policy).filter(|_| attempts > 1);
        let retrying = Retrying { policy, clock: &clock, stop: &stop, spread, number: 0 };
        let done = execute(&mut session, &op, &mut rows, retrying);
        (done, rows.count())
    }

    #[test]
    fn conflicts_are_repeated_after_pauses_and_counted() {
        let deadlock = EngineError::Deadlock(String::new());
        let conflict = EngineError::Conflict(String::new());
        let (done, rows) = attempted(&[conflict, deadlock], 5);
        assert_eq!((done.answer, rows), (Ok(Outcome::Done), 1), "rows of the last attempt");
        assert_eq!(done.retried.phrase(), "1 deadlock, 1 serialisation");
        // Two pauses of 4 and 8 ms, each half to whole.
        let waited = done.last_began.0;
        assert!((6_000_000..=12_000_000).contains(&waited), "{waited}");
    }

    #[test]
    fn attempts_have_an_end_and_other_failures_are_not_repeated() {
        let deadlock = || EngineError::Deadlock(String::new());
        let (done, _) = attempted(&[deadlock(), deadlock(), deadlock()], 2);
        assert!(done.answer.is_err());
        assert_eq!(done.retried.of(FailureClass::Deadlock), 1);
        let (done, _) = attempted(&[EngineError::Constraint(String::new())], 9);
        assert!(done.answer.is_err() && done.retried.is_empty());
        let (done, _) = attempted(&[deadlock()], 1);
        assert!(done.answer.is_err() && done.retried.is_empty());
    }
}
