//! What the operations of one variant waited for.

use model::{Load, RunRecord, StepRecord};
use serde::Serialize;

use super::account::{Part, Subject, account};

/// A part of the time in which no CPU was used.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Wait {
    /// What an operation waited for.
    pub name: String,
    /// How long, us per operation.
    #[serde(rename = "us_per_op")]
    pub us: f64,
}

/// Returns what an operation of a closed loop waited for: means over the runs, us per operation.
///
/// Waiting for a server is divided by event where the server was sampled. Empty for other loads,
/// whose clients also wait for the next arrival, and where the waits are unknown.
pub(crate) fn waiting(runs: &[(&RunRecord, &StepRecord)]) -> Vec<Wait> {
    let is_closed = runs.iter().all(|(_, step)| step.step.load == Load::Closed);
    let Some(account) =
        account(Subject::TimePerOperation, runs, runs).filter(|_| is_closed && !runs.is_empty())
    else {
        return Vec::new();
    };
    let wait = |name: &str, us: f64| Wait { name: name.to_owned(), us };
    let mut waits = Vec::new();
    for part in [Part::RunQueue, Part::Storage, Part::Sleep, Part::ServerWait] {
        let Some(component) = account.component(part) else { continue };
        match account.waits.as_ref().filter(|_| part == Part::ServerWait) {
            Some(server) => {
                waits.extend(server.parts.iter().map(|one| wait(&one.name, one.us.base)));
                waits.push(wait("waiting for the server in no event", server.residual.base));
            }
            None => waits.push(wait(part.phrase(), component.us.base)),
        }
    }
    waits.retain(|one| one.us > 0.0);
    waits
}

#[cfg(test)]
mod tests {
    use model::metric;

    use super::*;
    use crate::testing::{readings, run};

    #[test]
    fn the_waits_of_a_closed_loop_are_per_operation() {
        let mut run = run("a", 1, 1_000);
        let counters = [
            (metric::CLIENT_RUN_QUEUE_US, 2_000.0),
            (metric::CLIENT_STORAGE_WAIT_US, 0.0),
            (metric::CLIENT_SLEEP_US, 500.0),
        ];
        run.steps[0].counters = readings(&counters);
        let waits = |run: &RunRecord| waiting(&[(run, &run.steps[0])]);
        let of = |name: &str, us| Wait { name: name.to_owned(), us };
        assert_eq!(
            waits(&run),
            [of("waiting for a CPU", 2.0), of("waiting for a lock or a timer", 0.5)]
        );
        run.steps[0].step.load = Load::FindClients;
        assert_eq!(waits(&run), []);
        assert_eq!(waiting(&[]), []);
    }
}
