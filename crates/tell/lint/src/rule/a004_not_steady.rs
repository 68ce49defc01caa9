//! A004: what was measured is not a steady state.

use model::record::Severity;
use model::{Course, CourseClass, Nanos, StepRecord, StopRule};

use super::{Rule, Seen};
use crate::context::RunContext;
use crate::look::percent;

/// Throughput did not become steady, or arrivals were not kept up with.
pub(crate) static RULE: Rule = Rule {
    code: "A004",
    name: "not steady",
    severity: Severity::Doubt,
    trigger: "throughput drifts over the whole step, or no part of it that is long enough is \
              steady (a note for steps that end by count); a warm-up or slow-down was counted, \
              because little would be left without it or --whole asked for it; an open loop that \
              was overloaded",
    why: "The mean of a step that is still changing depends on when it was stopped: it is no \
          property of the engine.",
    remedy: "measure for longer, warm up for longer, or read it as the course that it is",
    source: "seed 003, \"How I do RocksDB performance tests, part 2\" (throughput over time); \
             reference, analysis, sections 3 and 5.2 and section 7, L04",
    is_recorded: true,
    run: Some(run),
    ..Rule::SILENT
};

fn run(context: &RunContext<'_>) -> Vec<Seen> {
    context.run.steps.iter().filter_map(unsteady).collect()
}

fn unsteady(step: &StepRecord) -> Option<Seen> {
    let course = step.course.as_ref()?;
    let (kind, seen) = match course.class {
        CourseClass::Drift => ("drift", drift(course)),
        CourseClass::NotSteady => {
            ("not steady", "no part that is long enough was steady".to_owned())
        }
        CourseClass::WarmUp | CourseClass::SlowDown if is_counted(step, course) => {
            let (before, from) = (course.class.phrase(), course.steady_from_ns);
            ("counted whole", format!("{before} from {from} on, and what came before is counted"))
        }
        CourseClass::Flat
        | CourseClass::WarmUp
        | CourseClass::SlowDown
        | CourseClass::Cyclic
        | CourseClass::TooShort => return None,
    };
    let seen = Seen::new(seen).step(&step.step.name).sized(kind, slope(course).abs());
    Some(match step.step.stop {
        // The whole of the work was measured, be it steady or not.
        StopRule::Operations(_) => seen.graded(Severity::Note),
        StopRule::Duration(_) => seen,
    })
}

/// Returns whether what came before the steady part is in the step's figures.
///
/// A step that ends by count is its whole work; one that ends by duration should have been cut.
fn is_counted(step: &StepRecord, course: &Course) -> bool {
    let is_timed = matches!(step.step.stop, StopRule::Duration(_));
    is_timed && step.cut_ns.unwrap_or(Nanos(0)) < course.steady_from_ns
}

/// Returns how much throughput grew over the kept part, as a share.
fn slope(course: &Course) -> f64 {
    course.drifts.get("throughput_ops_per_s").map_or(0.0, |drift| drift.over_part)
}

fn drift(course: &Course) -> String {
    let slope = slope(course);
    let way = if slope < 0.0 { "fell" } else { "rose" };
    format!("throughput {way} all the way, by {}", percent(slope.abs()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use model::course::Drift;

    use super::*;
    use crate::testing::{course, when};

    #[test]
    fn a_drift_is_told_and_a_steady_course_is_not() {
        let falling = Drift { per_hour: -7.2, over_part: -0.12, is_real: true };
        let with = |class, stop: Option<StopRule>| {
            when(&RULE, |step| {
                let drifts = BTreeMap::from([("throughput_ops_per_s".to_owned(), falling)]);
                step.course = Some(Course { class, drifts, ..course() });
                step.step.stop = stop.unwrap_or(step.step.stop);
            })
        };
        assert_eq!(with(CourseClass::WarmUp, None), []);
        let seen = "readrandom of b: throughput fell all the way, by 12 % (3 runs)".to_owned();
        assert_eq!(with(CourseClass::Drift, None), [(Severity::Doubt, seen.clone())]);
        let by_count = Some(StopRule::Operations(600_000));
        assert_eq!(with(CourseClass::Drift, by_count), [(Severity::Note, seen)]);
        assert_eq!(with(CourseClass::NotSteady, None).len(), 1);
    }

    #[test]
    fn a_warm_up_that_is_counted_is_told_and_one_that_was_cut_is_not() {
        let with = |cut_s: Option<u64>| {
            when(&RULE, |step| {
                let steady_from_ns = Nanos::from_secs(12);
                let class = CourseClass::WarmUp;
                step.course = Some(Course { class, steady_from_ns, ..course() });
                step.cut_ns = cut_s.map(Nanos::from_secs);
            })
        };
        let seen = "readrandom of b: warm-up, then steady from 12.0 s on, and what came before is \
                    counted (3 runs)";
        assert_eq!(with(None), [(Severity::Doubt, seen.to_owned())]);
        assert_eq!(with(Some(12)), []);
        assert_eq!(with(Some(15)), []);
    }
}
