//! Simulated servers with a known highest sustainable rate.

use model::{Limit, Nanos};
use search::RateSpec;

use crate::server::{Debt, Spec, Spread};

/// A server, a limit, and the true rate.
pub(crate) struct Scenario {
    pub name: &'static str,
    pub spec: Spec,
    /// Share of the operations that must meet the limit.
    pub share: f64,
    /// Highest rate that meets it and is sustained, operations per second.
    pub truth: f64,
    /// Length of a probe, seconds.
    pub probe_s: u64,
    /// Largest accepted errors below and above the true rate, in percent.
    pub accepted: (f64, f64),
}

impl Scenario {
    /// Returns the parameters of the search.
    pub(crate) fn rate_spec(&self) -> RateSpec {
        let probe = Nanos::from_secs(self.probe_s);
        RateSpec {
            limit: Limit { share: self.share, within: Nanos((self.spec.limit_s * 1e9) as u64) },
            clients: self.spec.clients as u32,
            ceiling_ops_per_s: 1e6,
            probe,
            warmup: Nanos::from_secs(1 + self.probe_s / 15),
            precision: RateSpec::precision_for(probe),
        }
    }
}

/// Bursts of 4000 operations a second; each adds 10 kB of debt, of which 20 MB/s are paid.
pub(crate) const DEBT: Debt = Debt {
    initial: 0.0,
    per_op: 10e3,
    paid_per_s: 20e6,
    noise: 0.0,
    batch: 0.0,
    stall_above: 2e9,
    slowdown: 10.0,
    longest_settle_s: 300.0,
    is_reported: true,
};
/// The sustainable rate: 20 MB/s over 10 kB.
const SUSTAINED: f64 = 2000.0;

pub(crate) const DEBTOR: Spec = Spec {
    clients: 4,
    service_s: 1e-3,
    spread: Spread::Exponential,
    limit_s: 20e-3,
    debt: DEBT,
    pauses: (0.0, 0.0),
    invalid_share: 0.0,
};

fn with_debt(debt: Debt) -> Spec {
    Spec { debt, ..DEBTOR }
}

/// One client, exponential service times and no debt: M/M/1.
pub(crate) fn queue(served_per_s: f64, limit_s: f64) -> Spec {
    Spec { clients: 1, service_s: 1.0 / served_per_s, limit_s, debt: Debt::NONE, ..DEBTOR }
}

/// Returns the rate at which this share of an M/M/1 queue's response times are within the limit.
///
/// P(response > L) = exp(-(mu - lambda) L): D. Gross and C. M. Harris, 1998, "Fundamentals of
/// Queueing Theory", 3rd edition, section 2.2.
pub(crate) fn of_queue(spec: &Spec, share: f64) -> f64 {
    1.0 / spec.service_s + (1.0 - share).ln() / spec.limit_s
}

/// Four clients, service times with a long tail, and pauses; no debt.
pub(crate) const LONG_TAIL: Spec = Spec {
    service_s: 2e-4,
    spread: Spread::LogNormal(1.0),
    limit_s: 2.5e-3,
    debt: Debt::NONE,
    pauses: (0.1, 5e-3),
    ..DEBTOR
};
/// Its true rate for p99, simulated for hours; see the test that verifies it.
pub(crate) const LONG_TAIL_RATE: f64 = 16_900.0;

pub(crate) fn all() -> Vec<Scenario> {
    let near = (3.0, 3.0);
    let debtor = |name, debt| Scenario {
        name,
        spec: with_debt(debt),
        share: 0.999,
        truth: SUSTAINED,
        probe_s: 60,
        accepted: near,
    };
    let queue_of = |name, spec: Spec, share, accepted| {
        let truth = of_queue(&spec, share);
        Scenario { name, spec, share, truth, probe_s: 60, accepted }
    };
    let noisy = Spec {
        spread: Spread::LogNormal(1.0),
        limit_s: 50e-3,
        pauses: (0.05, 5e-3),
        ..with_debt(Debt { noise: 0.05, ..DEBT })
    };
    let fast = queue(20_000.0, 0.8e-3);
    // Some hundred late operations in bursts are no more precise; the result errs low.
    let safe = (8.0, 3.0);
    // A confirmation of a minute or two detects growth of some percent, and no less.
    let short = |name, probe_s, debt| Scenario {
        share: 0.99,
        probe_s,
        accepted: (5.0, 5.0),
        ..debtor(name, debt)
    };
    vec![
        debtor("debt, from none", DEBT),
        debtor("debt, from 10 GB", Debt { initial: 10e9, ..DEBT }),
        Scenario {
            // Debt falls only during probes: it can still affect a rate just below.
            accepted: (5.0, 3.0),
            ..debtor("debt, 1 GB, no settle", Debt { initial: 1e9, longest_settle_s: 0.0, ..DEBT })
        },
        debtor("debt, paid in batches", Debt { batch: 256e6, ..DEBT }),
        Scenario {
            name: "debt, noisy engine",
            spec: noisy,
            share: 0.999,
            truth: SUSTAINED,
            probe_s: 60,
            accepted: near,
        },
        short("debt, from none, 10 s", 10, DEBT),
        short("debt, from 10 GB, 10 s", 10, Debt { initial: 10e9, ..DEBT }),
        short("debt, from 10 GB, 5 s", 5, Debt { initial: 10e9, ..DEBT }),
        queue_of("M/M/1, 20k/s, p99", fast, 0.99, near),
        queue_of(
            "M/M/1, 20k/s, p99, invalid intervals",
            Spec { invalid_share: 0.1, ..fast },
            0.99,
            near,
        ),
        Scenario {
            name: "long tail and pauses, p99",
            spec: LONG_TAIL,
            share: 0.99,
            truth: LONG_TAIL_RATE,
            probe_s: 60,
            accepted: near,
        },
        queue_of("M/M/1, 5k/s, p99.9", queue(5000.0, 4e-3), 0.999, safe),
        queue_of("M/M/1, 1k/s, p99", queue(1000.0, 10e-3), 0.99, safe),
    ]
}
