//! Calls of an application by procedure: counts, times, retries.
//!
//! The load loop counts by kind of operation, and several procedures may be of one kind.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use model::record::{FailureCounts, Percentiles, ProcedureRecord};
use model::{Application, Nanos, Outcome};

/// Digits of a service time: 1 %, so that each client's table is 20 KiB.
const DIGITS: u8 = 2;

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
    service: Histogram<u32>,
    /// Sum of the service times, ns.
    sum_ns: f64,
}

impl Default for ProcedureTally {
    fn default() -> Self {
        let longest_ns = model::histogram::LONGEST_NS;
        let service = Histogram::new_with_bounds(1, longest_ns, DIGITS);
        let service = service.expect("the bounds are constants");
        Self { counts: ProcedureRecord::default(), service, sum_ns: 0.0 }
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
        self.service.add(&other.service).expect("all tallies have one layout");
        self.sum_ns += other.sum_ns;
    }

    fn percentiles(&self) -> Percentiles {
        let at = |quantile| self.service.value_at_quantile(quantile);
        let count = self.service.len();
        Percentiles {
            count,
            mean_ns: if count == 0 { 0.0 } else { self.sum_ns / count as f64 },
            p50_ns: at(0.5),
            p90_ns: at(0.9),
            p99_ns: at(0.99),
            p999_ns: at(0.999),
            p9999_ns: at(0.9999),
            max_ns: self.service.max(),
        }
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
        tally.sum_ns += call.service.0 as f64;
        let longest = tally.service.high();
        tally.service.record(call.service.0.min(longest)).expect("it is in range");
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
                service: tally.percentiles(),
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
    use crate::worker::tests::toy::application;

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
        one.merge(&other);
        let [first, second] = &one.records(&application())[..] else { panic!("two procedures") };
        assert_eq!((first.done, first.failed, first.rolled_back), (3, 1, 1));
        assert_eq!((first.within_limit, first.committed()), (Some(2), 2));
        assert_eq!((first.retried.of(FailureClass::Deadlock), first.retry_ns), (1, Nanos(70)));
        assert!((first.service.mean_ns - 5e6).abs() < 1.0, "{:?}", first.service);
        assert!(first.service.p50_ns.abs_diff(5_000_000) < 50_000, "{:?}", first.service);
        assert_eq!((second.done, second.within_limit, second.share_within()), (1, None, None));
    }
}
