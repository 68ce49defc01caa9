//! A010: operations that a closed loop omits.

use model::record::Severity;
use model::{Load, Nanos, StepRecord};

use super::{Checks, Observation, Rule};
use crate::context::RunContext;
use crate::facts::requests;

pub(crate) static RULE: Rule = Rule {
    code: "A010",
    name: "coordinated omission",
    severity: Severity::Note,
    trigger: "during the longest operation of a closed loop, its client would have sent at least \
              10 more operations",
    why: "A client that waits omits the operations that were due in the meantime. Its percentiles \
          describe the operations it sent, not the operations that were due.",
    remedy: "use an open loop (--rate), which counts every operation that was due; the response \
             times of a closed loop are response times of clients that wait",
    source: "[Callaghan 2022-08-23] (coordinated omission); [Tene 2015]",
    ..Rule::of(Checks { steps: &[omitted], ..Checks::NONE })
};

/// Omitted operations from which a step is reported. Our choice.
const OMITTED: f64 = 10.0;

/// Reports the operations a client would have sent during the longest one.
///
/// That is the longest service time times the rate per client. Source: [Tene 2015].
fn omitted(_: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    if !matches!(step.step.load, Load::Closed | Load::Pipelined(_) | Load::FindClients) {
        return None;
    }
    let found = step.search.as_ref().and_then(|search| search.found);
    let clients = found.map_or(step.step.clients, |found| found.clients);
    let seconds = step.duration_ns.as_secs_f64();
    let per_client = requests(step)? / seconds / f64::from(step.step.threads(clients).max(1));
    let longest = Nanos(step.clients.values().map(|one| one.service.max_ns).max()?);
    let omitted = longest.as_secs_f64() * per_client;
    (seconds > 0.0 && omitted >= OMITTED).then(|| {
        let evidence = format!(
            "closed loop: during its longest operation, {longest}, a client would have sent \
             {omitted:.0} more operations"
        );
        Observation::new(evidence).ranked("", omitted)
    })
}

#[cfg(test)]
mod tests {
    use model::record::Severity;
    use model::{OpKind, OpenLoad, Pace, Rate};

    use super::*;
    use crate::testing::{summary, when};

    #[test]
    fn operations_that_a_closed_loop_omits_are_a_note() {
        let with = |max_ns: u64, is_open: bool| {
            when(&RULE, |step| {
                let mut reads = summary(600_000);
                reads.service.max_ns = max_ns;
                step.clients.insert(OpKind::Get, reads);
                if is_open {
                    let (rate, pace) = (Rate::constant(10_000.0), Pace::default());
                    step.step.load = Load::Open(OpenLoad { rate, pace });
                }
            })
        };
        assert_eq!(with(900_000, false), []);
        assert_eq!(with(4_000_000, true), []);
        let evidence = "readrandom of b: closed loop: during its longest operation, 4.00 ms, a \
                        client would have sent 40 more operations (3 runs)";
        assert_eq!(with(4_000_000, false), [(Severity::Note, evidence.to_owned())]);
    }
}
