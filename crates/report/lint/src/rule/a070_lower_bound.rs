//! A070: bytes written of which only a lower bound is known.

use analysis::run_metrics;
use model::metric;
use model::record::Severity;

use super::{Checks, Observation, Rule};
use crate::context::RunContext;

pub(crate) static RULE: Rule = Rule {
    code: "A070",
    name: "bytes written not counted",
    severity: Severity::Note,
    trigger: "a run puts rows, its engine writes also without write calls (files mapped for \
              writing, AIO, io_uring), and the engine has no counters of all bytes that it writes",
    why: "The bytes written per byte put are a lower bound. The true value may be many times as \
          high, so the variant is ranked neither best nor worst.",
    remedy: "compare the bytes that reached storage in runs of durability class sync, enable the \
             engine's counters (SplinterDB: use_stats), or let the engine use write calls (LMDB: \
             without MDB_WRITEMAP)",
    source: "[proc(5)], /proc/pid/io: wchar counts bytes of write calls, and counts no bytes of \
             mapped files, AIO and io_uring",
    ..Rule::of(Checks { run: Some(run), ..Checks::NONE })
};

fn run(context: &RunContext<'_>) -> Vec<Observation> {
    let metrics = run_metrics(context.run, &context.experiment.data);
    let bound = metrics.value(metric::BYTES_WRITTEN_PER_BYTE_PUT_MIN);
    let one = |bound: f64| {
        let evidence = format!("the engine wrote at least {bound:.2} bytes per byte put");
        Observation::new(evidence).ranked("", bound)
    };
    bound.map(one).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use model::OpKind;

    use super::*;
    use crate::testing::{set, summary, when};

    /// Findings where the engine of `b` puts rows with so many maps for writing.
    fn with(maps: f64) -> Vec<(Severity, String)> {
        when(&RULE, |step| {
            step.clients = [(OpKind::Put, summary(1_000))].into();
            set(&mut step.counters, &[(metric::PROCESS_WRITE_CALL_BYTES, 1e9)]);
            set(&mut step.gauges_max, &[(metric::UNCOUNTED_WRITE_MAPS, maps)]);
        })
    }

    #[test]
    fn engine_that_writes_without_write_calls_is_noted() {
        let [(Severity::Note, evidence)] = &with(1.0)[..] else { panic!("{:?}", with(1.0)) };
        assert!(evidence.starts_with("b: the engine wrote at least "), "{evidence}");
    }

    #[test]
    fn engine_that_writes_by_calls_is_silent() {
        assert_eq!(with(0.0), []);
        assert_eq!(when(&RULE, |_| {}), []);
    }
}
