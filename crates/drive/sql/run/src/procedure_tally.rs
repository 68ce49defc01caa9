//! Calls of an application by procedure: counts, times, retries.
//!
//! The load loop counts by kind of operation, and several procedures may be of one kind.

use std::collections::BTreeMap;

use engine::EndedStatement;
use hdrhistogram::Histogram;
use model::record::{FailureCounts, Percentiles, ProcedureRecord, StatementTiming};
use model::{Application, Nanos, Outcome};

/// Digits of a service time: 1 %, so that each client's table is 20 KiB.
const DIGITS: u8 = 2;
/// Digits of a statement's time: a call has up to a few dozen statements, whose tables are 3 KiB.
const STATEMENT_DIGITS: u8 = 1;

/// One call that has ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EndedCall {
    /// How it ended; `None` when it failed.
    pub(crate) outcome: Option<Outcome>,
    /// Ended - started, retries included.
    pub(crate) service: Nanos,
    /// Failed attempts that were repeated.
    pub(crate) retried: FailureCounts,
    /// Time until the last attempt began.
    pub(crate) retrying: Nanos,
}

/// Calls by procedure.
#[derive(Debug, Default)]
pub(crate) struct ProcedureTallies(BTreeMap<u16, ProcedureTally>);

/// Calls of one procedure.
#[derive(Debug)]
struct ProcedureTally {
    /// Counts of all but those done.
    counts: ProcedureRecord,
    service: TimeTally,
    /// Statements by number.
    statements: BTreeMap<u32, TimeTally>,
}

impl Default for ProcedureTally {
    fn default() -> Self {
        Self {
            counts: ProcedureRecord::default(),
            service: TimeTally::new(DIGITS),
            statements: BTreeMap::new(),
        }
    }
}

/// Times of one kind.
#[derive(Debug, Clone)]
struct TimeTally {
    times: Histogram<u32>,
    sum_ns: f64,
}

impl TimeTally {
    fn new(digits: u8) -> Self {
        let times = Histogram::new_with_bounds(1, model::histogram::LONGEST_NS, digits);
        Self { times: times.expect("the bounds are constants"), sum_ns: 0.0 }
    }

    #[inline]
    fn record(&mut self, time: Nanos) {
        self.sum_ns += time.0 as f64;
        let longest = self.times.high();
        self.times.record(time.0.min(longest)).expect("it is in range");
    }

    fn merge(&mut self, other: &Self) {
        self.times.add(&other.times).expect("all tallies of a kind have one layout");
        self.sum_ns += other.sum_ns;
    }

    fn percentiles(&self) -> Percentiles {
        let at = |quantile| self.times.value_at_quantile(quantile);
        let count = self.times.len();
        Percentiles {
            count,
            mean_ns: if count == 0 { 0.0 } else { self.sum_ns / count as f64 },
            p50_ns: at(0.5),
            p90_ns: at(0.9),
            p99_ns: at(0.99),
            p999_ns: at(0.999),
            p9999_ns: at(0.9999),
            max_ns: self.times.max(),
        }
    }
}

impl ProcedureTally {
    fn merge(&mut self, other: &Self) {
        let (own, others) = (&mut self.counts, &other.counts);
        own.done += others.done;
        own.failed += others.failed;
        own.rolled_back += others.rolled_back;
        own.retried.merge(&others.retried);
        own.retry_ns = own.retry_ns.after(others.retry_ns);
        if let Some(within) = others.within_limit {
            *own.within_limit.get_or_insert(0) += within;
        }
        self.service.merge(&other.service);
        for (number, times) in &other.statements {
            self.statement(*number).merge(times);
        }
    }

    fn statement(&mut self, number: u32) -> &mut TimeTally {
        self.statements.entry(number).or_insert_with(|| TimeTally::new(STATEMENT_DIGITS))
    }
}

impl ProcedureTallies {
    /// Counts a call of a procedure with that limit.
    #[inline]
    pub(crate) fn record(&mut self, procedure: u16, limit: Option<Nanos>, call: &EndedCall) {
        let tally = self.0.entry(procedure).or_default();
        let counts = &mut tally.counts;
        counts.retried.merge(&call.retried);
        counts.retry_ns = counts.retry_ns.after(call.retrying);
        let Some(outcome) = call.outcome else {
            counts.failed += 1;
            return;
        };
        counts.done += 1;
        counts.rolled_back += u64::from(outcome == Outcome::RolledBack);
        if let Some(limit) = limit {
            *counts.within_limit.get_or_insert(0) += u64::from(call.service <= limit);
        }
        tally.service.record(call.service);
    }

    /// Counts the statements of a call's attempts.
    #[inline]
    pub(crate) fn record_statements(
        &mut self,
        procedure: u16,
        ended: impl Iterator<Item = EndedStatement>,
    ) {
        let tally = self.0.entry(procedure).or_default();
        ended.for_each(|one| tally.statement(one.number).record(one.service));
    }

    /// Adds the calls of another client.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (procedure, tally) in &other.0 {
            self.0.entry(*procedure).or_default().merge(tally);
        }
    }

    /// Returns the calls as a record stores them, in the order of the application.
    pub(crate) fn records(&self, application: &Application) -> Vec<ProcedureRecord> {
        let one = |(at, tally): (&u16, &ProcedureTally)| {
            let procedure = application.procedure(*at)?;
            Some(ProcedureRecord {
                name: procedure.name.clone(),
                service: tally.service.percentiles(),
                statements: tally
                    .statements
                    .iter()
                    .map(|(number, times)| StatementTiming {
                        number: *number,
                        service: times.percentiles(),
                    })
                    .collect(),
                limit_ns: procedure.policy.limit,
                ..tally.counts.clone()
            })
        };
        self.0.iter().filter_map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use model::record::FailureClass;

    use super::*;
    use crate::testing::application;

    fn call(outcome: Option<Outcome>, ms: u64) -> EndedCall {
        EndedCall {
            outcome,
            service: Nanos::from_millis(ms),
            retried: FailureCounts::default(),
            retrying: Nanos(0),
        }
    }

    #[test]
    fn calls_are_counted_by_procedure_and_limit() {
        let limit = Some(Nanos::from_millis(5));
        let (mut one, mut other) = (ProcedureTallies::default(), ProcedureTallies::default());
        one.record(0, limit, &call(Some(Outcome::Done), 4));
        one.record(0, limit, &call(Some(Outcome::RolledBack), 6));
        let mut retried = FailureCounts::default();
        retried.add(FailureClass::Deadlock);
        let late = EndedCall { retried, retrying: Nanos(70), ..call(Some(Outcome::Done), 5) };
        other.record(0, limit, &late);
        other.record(0, limit, &call(None, 1));
        other.record(1, None, &call(Some(Outcome::Done), 100));
        let ended = |(number, ms)| EndedStatement { number, service: Nanos::from_millis(ms) };
        one.record_statements(0, [(1, 2), (3, 1)].into_iter().map(ended));
        other.record_statements(0, [(1, 4)].into_iter().map(ended));
        one.merge(&other);
        let [first, second] = &one.records(&application())[..] else { panic!("two procedures") };
        assert_eq!((first.done, first.failed, first.rolled_back), (3, 1, 1));
        assert_eq!((first.within_limit, first.committed()), (Some(2), 2));
        assert_eq!((first.retried.of(FailureClass::Deadlock), first.retry_ns), (1, Nanos(70)));
        assert!((first.service.mean_ns - 5e6).abs() < 1.0, "{:?}", first.service);
        assert!(first.service.p50_ns.abs_diff(5_000_000) < 50_000, "{:?}", first.service);
        let timed = |number| first.timing(number).unwrap();
        assert_eq!((timed(1).count, timed(3).count, first.timing(2)), (2, 1, None));
        assert!((timed(1).mean_ns - 3e6).abs() < 1.0, "{:?}", timed(1));
        assert!(timed(1).max_ns.abs_diff(4_000_000) < 400_000, "{:?}", timed(1));
        assert_eq!((second.done, second.within_limit, second.share_within()), (1, None, None));
    }
}
