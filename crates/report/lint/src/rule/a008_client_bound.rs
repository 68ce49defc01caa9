//! A008: the client is a large part of what is measured.

use model::record::Severity;
use model::{Load, StepRecord, percent};

use super::{Observation, Rule, code};
use crate::context::ComparisonContext;
use crate::facts::requests;

pub(crate) static RULE: Rule = Rule {
    code: code::A008,
    name: "client-bound",
    severity: Severity::Blocking,
    trigger: "the client, and not the engine, failed to keep up with an open loop; or in a closed \
              loop an operation of the `null` engine takes more than 85 % of the step's time per \
              operation; a warning above 10 %",
    why: "What the client costs is the same for every engine: it dilutes their differences, by 1 / \
          (1 - share) at most, until nothing is left; and where the client is late the engine is \
          idle.",
    remedy: "make operations larger (batches, ranges), or lower the rate, or give the client CPUs",
    source: "[Callaghan 2023-01-05] (the client uses too much CPU); our choice: shares",
    is_recorded: true,
    comparison: Some(comparison),
    ..Rule::EMPTY
};

/// Share of an operation's time that may be the client's without a warning. Our choice.
const SHARE: f64 = 0.1;
/// Share from which nothing is left of the engine. Our choice: as of an open loop's client.
const NOTHING_LEFT: f64 = 0.85;

/// Reports closed loops by the lowest calibration: one with a busy neighbour measures the
/// neighbour.
fn comparison(context: &ComparisonContext<'_>) -> Vec<Observation> {
    let costs = context.valid().filter_map(|run| run.calibration.as_ref());
    let Some(own_ns) = costs.map(|cost| cost.closed_ns_per_op).reduce(f64::min) else {
        return Vec::new();
    };
    let of_run = |run: &'_ model::RunRecord| -> Vec<Observation> {
        let evidence = run.steps.iter().filter_map(|step| harness(step, own_ns));
        evidence.map(|evidence| evidence.variant(&run.cell.variant).run(&run.id)).collect()
    };
    context.valid().flat_map(of_run).collect()
}

fn harness(step: &StepRecord, own_ns: f64) -> Option<Observation> {
    if step.step.load != Load::Closed {
        return None;
    }
    let busy_ns = step.duration_ns.as_secs_f64() * 1e9 * f64::from(step.step.clients.max(1));
    let whole_ns = busy_ns / requests(step)?;
    let share = own_ns / whole_ns;
    (share > SHARE).then(|| {
        let mut evidence = format!(
            "{} of an operation's {whole_ns:.0} ns is the client's own work, {own_ns:.0} ns",
            percent(share)
        );
        let is_severe = share > NOTHING_LEFT;
        if !is_severe {
            let times = 1.0 / (1.0 - share);
            evidence += &format!(
                "; differences between engines are at most {times:.2} times diluted by it, and \
                 so is \"no difference beyond the margin\""
            );
        }
        let evidence = Observation::new(evidence).step(&step.step.name);
        evidence.blocking_if(is_severe).ranked("harness", share)
    })
}

#[cfg(test)]
mod tests {
    use model::record::Severity;
    use model::validity::Calibration;

    use super::*;
    use crate::testing::{experiment, in_runs, runs};

    fn with(closed_ns_per_op: f64) -> Vec<(Severity, String)> {
        let mut runs = runs(&["a"]);
        for run in &mut runs {
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
        assert_eq!(with(9_000.0), []);
        let evidence = "readrandom of a: 12 % of an operation's 100000 ns is the client's own work, \
                    12000 ns; differences between engines are at most 1.14 times diluted by it, \
                    and so is \"no difference beyond the margin\" (3 runs)";
        assert_eq!(with(12_000.0), [(Severity::Warning, evidence.to_owned())]);
        let [(severity, evidence)] = &with(90_000.0)[..] else { panic!("one finding") };
        assert_eq!(*severity, Severity::Blocking);
        assert!(evidence.contains("90 % of an operation's") && !evidence.contains("diluted"));
    }
}
