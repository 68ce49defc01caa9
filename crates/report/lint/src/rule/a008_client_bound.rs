//! A008: the client is a large part of what is measured.

use model::record::Severity;
use model::{Load, StepRecord, percent};

use super::{Checks, Observation, Rule, code};
use crate::context::ComparisonContext;
use crate::facts::requests;

pub(crate) static RULE: Rule = Rule {
    code: code::A008,
    name: "client-bound",
    severity: Severity::Blocking,
    trigger: "Blocking: the client, not the engine, failed to keep up with an open loop. Blocking: \
              in a closed loop, an operation of the `null` engine takes more than 85 % of the \
              step's time per operation, in the lowest calibration of all runs. Warning: in a \
              closed loop, an operation of the `null` engine takes more than 10 % of the step's \
              time per operation, in the highest calibration of all runs",
    why: "The client's work costs the same with every engine, so it dilutes differences between \
          engines. If the client takes a share of the time of an operation, it dilutes differences \
          by a factor of at most 1 / (1 - share). While the client is late, the engine is idle.",
    remedy: "use larger operations (batches, ranges), lower the rate, or give the client more CPUs",
    source: "[Callaghan 2023-01-05] (the client uses too much CPU); our choice: the limits on the \
             share",
    ..Rule::of(Checks { comparison: Some(comparison), ..Checks::NONE })
};

/// Share of an operation's time that may be the client's without a warning. Our choice.
const SHARE: f64 = 0.1;
/// Share from which nothing is left of the engine. Our choice: as of an open loop's client.
const NOTHING_LEFT: f64 = 0.85;

/// The client's own time per operation, ns: least and most over the calibrations.
#[derive(Clone, Copy)]
struct OwnNs {
    least: f64,
    most: f64,
}

impl OwnNs {
    /// Returns the range over the calibrations of all valid runs; `None` without any.
    fn of(context: &ComparisonContext<'_>) -> Option<Self> {
        let known = context.valid().filter_map(|run| run.calibration.as_ref());
        let ns = known.map(|cost| cost.closed_ns_per_op);
        ns.map(|ns| Self { least: ns, most: ns }).reduce(|range, one| Self {
            least: range.least.min(one.least),
            most: range.most.max(one.most),
        })
    }
}

/// Reports closed loops: what blocks by the least calibration, what dilutes by the most.
///
/// A busy neighbour only adds to a calibration. So the least cost is certain, as a verdict that is
/// withheld needs; and only the most is a bound, for no calibration has what the client cost
/// while the step ran.
fn comparison(context: &ComparisonContext<'_>) -> Vec<Observation> {
    let Some(own) = OwnNs::of(context) else { return Vec::new() };
    let of_run = |run: &'_ model::RunRecord| -> Vec<Observation> {
        let evidence = run.steps.iter().filter_map(|step| harness(step, own));
        evidence.map(|evidence| evidence.variant(&run.cell.variant).run(&run.id)).collect()
    };
    context.valid().flat_map(of_run).collect()
}

fn harness(step: &StepRecord, own: OwnNs) -> Option<Observation> {
    if step.step.load != Load::Closed {
        return None;
    }
    let busy_ns = step.duration_ns.as_secs_f64()
        * 1e9
        * f64::from(step.step.threads(step.step.clients).max(1));
    let whole_ns = busy_ns / requests(step)?;
    let (least, most) = (own.least / whole_ns, own.most / whole_ns);
    let is_severe = least > NOTHING_LEFT;
    let known = if is_severe { least } else { most };
    (most > SHARE).then(|| {
        let share = percent(known.min(1.0));
        let of_whole = format!("of an operation's {whole_ns:.0} ns is the client's own work");
        let (evidence, remedy) = match (is_severe, 1.0 / (1.0 - most)) {
            (true, _) => (format!("at least {share} {of_whole}, {:.0} ns", own.least), RULE.remedy),
            (false, times) if most <= NOTHING_LEFT => {
                let evidence = format!(
                    "at most {share} {of_whole}, {:.0} ns; this dilutes differences between \
                     engines by a factor of at most {times:.2}, also where the verdict is \"no \
                     difference beyond the margin\"",
                    own.most
                );
                (evidence, RULE.remedy)
            }
            (false, _) => {
                let evidence = format!(
                    "the client's own work was calibrated at {:.0} to {:.0} ns, and an operation \
                     took {whole_ns:.0} ns: its effect on differences between engines has no upper \
                     bound",
                    own.least, own.most
                );
                (evidence, "repeat on a quiet host, so that the runs' calibrations agree")
            }
        };
        let evidence = Observation::new(evidence).step(&step.step.name).remedy(remedy);
        evidence.blocking_if(is_severe).ranked("harness", known)
    })
}

#[cfg(test)]
mod tests {
    use model::record::Severity;
    use model::validity::Calibration;

    use super::*;
    use crate::testing::{experiment, in_runs, runs};

    /// Findings of three runs whose calibrations are these, in turn.
    fn with(closed_ns_per_op: [f64; 3]) -> Vec<(Severity, String)> {
        let mut runs = runs(&["a"]);
        for (run, closed_ns_per_op) in runs.iter_mut().zip(closed_ns_per_op) {
            run.calibration = Some(Calibration {
                clients: 1,
                closed_ns_per_op,
                ceiling_ops_per_s: 1e6,
                start_lag: None,
                start_lag_ops_per_s: None,
            });
        }
        in_runs(&RULE, &experiment(&["a"]), &runs)
    }

    #[test]
    fn client_that_takes_a_tenth_dilutes_and_one_that_takes_all_blocks() {
        assert_eq!(with([9_000.0; 3]), []);
        let evidence = "readrandom of a: at most 12 % of an operation's 100000 ns is the client's \
                        own work, 12000 ns; this dilutes differences between engines by a factor \
                        of at most 1.14, also where the verdict is \"no difference beyond the \
                        margin\" (3 runs)";
        assert_eq!(with([12_000.0; 3]), [(Severity::Warning, evidence.to_owned())]);
        let [(severity, evidence)] = &with([90_000.0; 3])[..] else { panic!("one finding") };
        assert_eq!(*severity, Severity::Blocking);
        assert!(evidence.contains("at least 90 % of an") && !evidence.contains("dilute"));
    }

    /// Goal: the stated bound holds, and a busy neighbour of one calibration blocks no verdict.
    #[test]
    fn most_calibrated_bounds_the_dilution_and_least_blocks() {
        let [(severity, evidence)] = &with([9_000.0, 20_000.0, 12_000.0])[..] else {
            panic!("one finding")
        };
        assert_eq!(*severity, Severity::Warning);
        assert!(evidence.contains("at most 20 %") && evidence.contains("a factor of at most 1.25"));
        let [(severity, evidence)] = &with([9_000.0, 9_000.0, 95_000.0])[..] else {
            panic!("one finding")
        };
        let unbounded = "readrandom of a: the client's own work was calibrated at 9000 to 95000 \
                         ns, and an operation took 100000 ns: its effect on differences between \
                         engines has no upper bound (3 runs)";
        assert_eq!((*severity, evidence.as_str()), (Severity::Warning, unbounded));
    }
}
