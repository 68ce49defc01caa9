//! Costs of the network in two variants: counters per operation, and the round trip.

use model::{Metric, RunRecord, StepRecord, metric};
use serde::Serialize;
use stats::{MeanDifference, difference};

use crate::machines::factor::means_by_machine;
use crate::metrics::{Percentile, is_of_server, per_op};

/// Costs of the network, of the server's machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Network {
    /// Bytes, packets and CPU per operation; empty where clients use a unix socket.
    pub per_op: Vec<NetworkCost>,
    /// The exchange of an empty query; `None` where a record lacks it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_trip: Option<RoundTrip>,
}

/// A counter per operation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NetworkCost {
    /// Name of the counter's metric.
    pub metric: &'static str,
    /// Its means over the runs and their difference, per operation.
    pub value: MeanDifference,
}

/// Time of the exchange of an empty query.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RoundTrip {
    /// Its means over the runs and their difference, us.
    pub us: MeanDifference,
    /// The same as a share of the median response time of the most frequent kind of operation.
    ///
    /// `None` in steps with too few operations.
    pub share: Option<MeanDifference>,
}

/// The counters; the first is known where clients reach the server by TCP.
const COUNTERS: [Metric; 6] = [
    metric::NETWORK_RECEIVED_BYTES,
    metric::NETWORK_SENT_BYTES,
    metric::NETWORK_RECEIVED_PACKETS,
    metric::NETWORK_SENT_PACKETS,
    metric::TCP_RETRANSMITS,
    metric::HOST_SOFTIRQ_US,
];

type Runs<'a> = [(&'a RunRecord, &'a StepRecord)];

/// Compares what the network costs two variants; `None` without a server or its metrics.
pub(super) fn network(base: &Runs<'_>, variant: &Runs<'_>) -> Option<Network> {
    let compare = |value: &dyn Fn(&StepRecord) -> Option<f64>| {
        let of = |runs: &Runs<'_>| {
            let values = runs.iter().map(|(_, step)| value(step)).collect::<Option<_>>()?;
            Some(means_by_machine(runs.iter().map(|(run, _)| *run), values))
        };
        difference(&of(base)?, &of(variant)?)
    };
    let cost = |metric: &Metric| {
        let value = compare(&|step| per_op(step, *metric))?;
        Some(NetworkCost { metric: metric.name, value })
    };
    let is_served = base.iter().chain(variant).all(|(_, step)| is_of_server(step));
    let counters = COUNTERS.iter().filter(|_| is_served).map_while(cost).collect();
    let round_trip = compare(&round_trip_us).map(|us| RoundTrip {
        us,
        share: compare(&|step| Some(1e3 * round_trip_us(step)? / median_ns(step)?)),
    });
    let network = Network { per_op: counters, round_trip };
    (!network.per_op.is_empty() || network.round_trip.is_some()).then_some(network)
}

/// Returns the round trip after the step.
fn round_trip_us(step: &StepRecord) -> Option<f64> {
    step.gauges_end.value(metric::SERVER_ROUND_TRIP_US)
}

/// Returns the median response time of the most frequent kind of operation.
fn median_ns(step: &StepRecord) -> Option<f64> {
    let most = step.clients.values().max_by_key(|summary| summary.response.count)?;
    Percentile::P50.shown(&most.response).map(|ns| ns.0 as f64).filter(|ns| *ns > 0.0)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{explained, runs};
    use super::*;

    /// Runs of a server whose network takes this much: bytes received per operation, round trip.
    fn served(base: (f64, f64), variant: (f64, f64)) -> Vec<RunRecord> {
        let of = |(bytes, _)| {
            [(metric::SERVER_CPU_USER_US, 10.0), (metric::NETWORK_RECEIVED_BYTES, bytes)]
        };
        let mut all = runs(&of(base), &of(variant));
        for run in &mut all {
            let (_, us) = if run.cell.variant == "a" { base } else { variant };
            run.steps[0].gauges_end.set(metric::SERVER_ROUND_TRIP_US, us);
        }
        all
    }

    #[test]
    fn counters_are_per_operation_and_the_round_trip_a_share_of_the_median() {
        let all = served((300.0, 1.0), (450.0, 1.3));
        let network = explained(&all).network.unwrap();
        let [received] = &network.per_op[..] else { panic!("{network:?}") };
        assert_eq!(received.metric, metric::NETWORK_RECEIVED_BYTES.name);
        assert!((received.value.base - 300.0).abs() < 1e-9, "{received:?}");
        assert!((received.value.difference - 150.0).abs() < 1e-9, "{received:?}");
        let round_trip = network.round_trip.unwrap();
        assert!((round_trip.us.base - 1.0).abs() < 1e-9, "{round_trip:?}");
        let median = |variant: &str| {
            let run = all.iter().find(|run| run.cell.variant == variant).unwrap();
            median_ns(&run.steps[0]).unwrap() / 1e3
        };
        let share = round_trip.share.unwrap();
        assert!((share.base - 1.0 / median("a")).abs() < 1e-3, "{share:?}");
        assert!((share.variant - 1.3 / median("b")).abs() < 1e-3, "{share:?}");
    }

    #[test]
    fn what_a_record_lacks_is_absent() {
        let mut all = served((300.0, 1.0), (450.0, 1.3));
        all[0].steps[0].counters.remove(metric::NETWORK_RECEIVED_BYTES.name);
        assert!(explained(&all).network.unwrap().per_op.is_empty(), "a unix socket");
        all[0].steps[0].gauges_end = model::Readings::new();
        assert_eq!(explained(&all).network, None);
        assert_eq!(explained(&runs(&[], &[])).network, None, "an embedded engine");
    }
}
