//! Throughput of both clients in interleaved pairs on one core.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::environment::{Environment, Side, run};
use crate::interval::{Median, median};
use crate::peer;
use crate::task::Work;

/// Pairs, half of them in each order.
pub(crate) const PAIRS: usize = 12;

/// Results of all pairs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairedThroughput {
    /// Operations per second of `db_bench`.
    pub(crate) peer: Median,
    /// Operations per second of our client.
    pub(crate) ours: Median,
    /// Ours divided by the peer's, pair by pair.
    pub(crate) ratio: Median,
}

/// Calls `act` with this process and its children pinned to the last permitted core.
pub(crate) fn on_one_core<T>(act: impl FnOnce() -> T) -> T {
    let allowed = sched_getaffinity(None).expect("a process may read its own cores");
    let last = (0..CpuSet::MAX_CPU).rev().find(|core| allowed.is_set(*core));
    let mut one = CpuSet::new();
    one.set(last.expect("a running process has a core"));
    sched_setaffinity(None, &one).expect("a core of those allowed");
    let done = act();
    sched_setaffinity(None, &allowed).expect("the cores it had");
    done
}

/// Times one work in the order ABBA, so that a drift affects both sides alike.
pub(crate) fn measure_pairs(
    environment: &Environment,
    work: &Work,
) -> Result<PairedThroughput, String> {
    let (mut peers, mut ours) = (Vec::new(), Vec::new());
    for pair in 0..PAIRS {
        let sides = if pair % 2 == 0 { [Side::Peer, Side::Ours] } else { [Side::Ours, Side::Peer] };
        for side in sides {
            let args = environment.args(side, work, work.operations)?;
            let printed = run(&args)?;
            match side {
                Side::Peer => peers.push(peer::ops_per_s(work, &printed)?),
                Side::Ours => ours.push(own_ops_per_s(&printed)?),
            }
        }
    }
    let ratios = ours.iter().zip(&peers).map(|(ours, peer)| ours / peer).collect();
    Ok(PairedThroughput { peer: median(peers), ours: median(ours), ratio: median(ratios) })
}

fn own_ops_per_s(printed: &str) -> Result<f64, String> {
    printed.trim().parse().map_err(|error| format!("our result `{printed}`: {error}"))
}
