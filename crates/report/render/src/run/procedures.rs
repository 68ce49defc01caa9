//! Calls of an application by procedure: rates, times, retries, limits.

use analysis::committed_per_min;
use analysis::metrics::Percentile;
use model::record::ProcedureRecord;
use model::{Application, Nanos, StepRecord, Unit, float};

use super::kinds::shown;
use crate::document::{Part, Table, known};
use crate::figure::{count, figure, percent};

/// Columns behind step and procedure.
const COLUMNS: [&str; 11] = [
    "done",
    "committed\n/min",
    "rolled\nback",
    "failed",
    "attempts\nrepeated",
    "time\nlost",
    "service\np50",
    "\np90",
    "\np99",
    "limit",
    "within\nlimit",
];

/// Returns a row per step and procedure; nothing for steps of keys and values.
pub(super) fn procedures(steps: &[&StepRecord], application: Option<&Application>) -> Vec<Part> {
    let mut table = Table::new(["step", "<procedure"].into_iter().chain(COLUMNS));
    for step in steps {
        step.procedures.iter().for_each(|procedure| table.push(row(step, procedure)));
    }
    let title = "By procedure, calls that began in the measured span; committed calls are calls \
                 done and not rolled back; times are service times with all attempts and their \
                 pauses";
    let disclaimer = application.and_then(|application| application.disclaimer.clone());
    let mut parts = Part::Text(title.to_owned()).above([Part::Table(table)]);
    parts.extend(disclaimer.filter(|_| !parts.is_empty()).map(Part::Text));
    parts
}

fn row(step: &StepRecord, procedure: &ProcedureRecord) -> Vec<String> {
    let per_minute = committed_per_min(step, procedure);
    let span = |ns: Nanos| figure(Unit::Nanos, float(ns.0));
    let is_retried = !procedure.retried.is_empty();
    let mut row = vec![step.step.name.clone(), procedure.name.clone(), count(procedure.done)];
    row.push(known(per_minute.map(|rate| figure(Unit::Count, rate))));
    row.extend([procedure.rolled_back, procedure.failed].map(count));
    row.push(if is_retried { procedure.retried.phrase() } else { count(0) });
    row.push(if is_retried { span(procedure.retry_ns) } else { count(0) });
    let times = [Percentile::P50, Percentile::P90, Percentile::P99];
    row.extend(times.map(|one| shown(one, &procedure.service)));
    row.push(known(procedure.limit_ns.map(span)));
    row.push(known(procedure.share_within().map(percent)));
    row
}

#[cfg(test)]
mod tests {
    use model::record::{FailureClass, FailureCounts, Percentiles};
    use model::{Step, StopRule};

    use super::*;
    use crate::document::Document;
    use crate::style::Style;

    #[test]
    fn each_procedure_has_its_rate_times_and_share_within_the_limit() {
        let mut step = StepRecord::new(0, Step::new("mix", StopRule::Operations(9)));
        step.duration_ns = Nanos::from_secs(30);
        let mut retried = FailureCounts::default();
        retried.add(FailureClass::Deadlock);
        let service = Percentiles { count: 1_000, p50_ns: 2_000_000, ..Percentiles::default() };
        step.procedures = vec![ProcedureRecord {
            name: "new_order".to_owned(),
            done: 1_010,
            rolled_back: 10,
            service,
            retried,
            retry_ns: Nanos::from_millis(3),
            limit_ns: Some(Nanos::from_secs(5)),
            within_limit: Some(505),
            ..ProcedureRecord::default()
        }];
        let shown = Document::from([procedures(&[&step], None)]);
        let shown = shown.text(Style::default());
        let last = shown.trim_end().lines().last().unwrap();
        for figure in ["new_order", "1,010", "2.00 k", "1 deadlock", "3.00 ms", "5.00 s", "50 %"] {
            assert!(last.contains(figure), "{figure}: {shown}");
        }
        step.procedures.clear();
        assert!(procedures(&[&step], None).is_empty());
    }
}
