//! Accuracy of the search for the best number of clients.

use model::validity::{Outcome, Purpose, SearchRecord};
use model::{Limit, Nanos};
use search::{ClientSearch, ClientSpec};

use crate::run;
use crate::scenarios::DEBTOR;
use crate::server::{Debt, Server, Spec, Spread};

const CONTENTION: f64 = 0.05;
const COHERENCY: f64 = 0.005;

/// A server that scales by the Universal Scalability Law; its peak is at 13.8 clients.
const SCALING: Spec =
    Spec { spread: Spread::Scalability(CONTENTION, COHERENCY), debt: Debt::NONE, ..DEBTOR };

/// Returns the throughput of this many clients.
///
/// Source: N. J. Gunther, 2007, "Guerrilla Capacity Planning", chapter 4.
fn throughput(clients: u32) -> f64 {
    let (n, others) = (f64::from(clients), f64::from(clients) - 1.0);
    n / SCALING.service_s / (1.0 + CONTENTION * others + COHERENCY * n * others)
}

fn search(max_clients: u32, limit: Option<Limit>, seed: u64) -> SearchRecord {
    let spec =
        ClientSpec { limit, max_clients, probe: Nanos::from_secs(10), warmup: Nanos::from_secs(1) };
    let limit_s = limit.map_or(f64::INFINITY, |limit| limit.within.as_secs_f64());
    run(&mut ClientSearch::new(spec), &mut Server::new(Spec { limit_s, ..SCALING }, seed))
}

fn tried(record: &SearchRecord) -> Vec<u32> {
    let mut tried: Vec<u32> = record.probes.iter().map(|probe| probe.clients).collect();
    tried.dedup();
    tried
}

#[test]
fn the_smallest_number_near_the_peak_is_found() {
    for seed in 0..4 {
        let record = search(64, None, seed);
        let found = record.found.unwrap();
        // 8: 4902/s, 12: 5429/s, 16: 5424/s, 24: 4884/s.
        assert_eq!(found.clients, 12, "{record:#?}");
        assert!((found.ops_per_s / throughput(12) - 1.0).abs() < 0.02, "{found:?}");
        assert_eq!(tried(&record), [1, 2, 3, 4, 6, 8, 12, 16, 24, 12]);
        let last = record.confirmed().unwrap();
        assert_eq!(last.number as usize, record.probes.len() - 1, "its data are those of the step");
    }
}

#[test]
fn no_more_clients_are_tried_than_allowed() {
    let record = search(10, None, 1);
    assert_eq!(tried(&record), [1, 2, 3, 4, 6, 8, 10]);
    assert_eq!(record.found.unwrap().clients, 10);
    assert!(record.ended.ends_with("more clients were not allowed"), "{}", record.ended);
}

/// Goal: an exceeded limit ends the search, and the result meets it. Method: the mean service time
/// of n clients is n over their throughput; its spread is known, so p99 crosses 2.5 ms between 6
/// clients (1.4 ms mean, 2.7 ms p99 at 30 % spread) and fewer.
#[test]
fn an_exceeded_limit_ends_the_search() {
    let limit = Limit { share: 0.99, within: Nanos(2_500_000) };
    let record = search(64, Some(limit), 1);
    let found = record.found.unwrap();
    let next = record.probes.iter().find(|probe| probe.outcome == Outcome::Failed).unwrap();
    // p99 of the simulated spread is exp(0.3 * 2.326 - 0.045) = 1.92 times the mean.
    let p99_s = |clients: u32| 1.92 * f64::from(clients) / throughput(clients);
    assert!(p99_s(found.clients) < 2.5e-3 && p99_s(next.clients) > 2.5e-3, "{record:#?}");
    assert!(record.ended.ends_with("do not meet the limit"), "{}", record.ended);
    assert_eq!(record.probes.last().unwrap().purpose, Purpose::Confirm);
}

#[test]
fn a_limit_that_one_client_exceeds_is_met_by_none() {
    let limit = Limit { share: 0.9, within: Nanos(1000) };
    let record = search(64, Some(limit), 1);
    assert_eq!((record.probes.len(), record.found), (1, None));
    assert!(record.ended.starts_with("no number of clients meets the limit"), "{}", record.ended);
}
