//! Waiting for the server, divided by event.

use std::collections::{BTreeMap, BTreeSet};

use model::waits::COMMIT;
use model::{RunRecord, StepRecord, WaitProfile, metric};
use serde::Serialize;
use stats::{MeanDifference, difference};

use crate::machines::factor::means_by_machine;
use crate::metrics::primary_operations;

/// Share of the whole, on the side where it is larger, below which events are one part together.
///
/// Our choice: of a thousand samples of one session ten.
const NAMED_SHARE: f64 = 0.01;
/// Name of the events below it.
const OTHERS: &str = "other events";
/// Name of the time on run queues that is in no event.
const RUN_QUEUE: &str = "server threads ready to run, without a free CPU";
/// Name of the time in which `MyRocks` delayed writers, by its own counter.
const WRITE_STALL: &str = "MyRocks:write stall";
/// Name of the waiting that lies in a commit whose CPU is not known, or in no event.
const COMMIT_OR_NONE: &str = "commit or no event";

/// A part of waiting for the server.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WaitPart {
    /// The event, under the server's own name.
    pub name: String,
    /// Its means over the runs and their difference, us per operation.
    pub us: MeanDifference,
}

/// Waiting for the server and what it is made of.
///
/// `waiting = parts + residual`, for each side and for the difference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WaitAccount {
    /// Its parts, the largest difference first.
    pub parts: Vec<WaitPart>,
    /// Waiting in no event, us per operation: wake-ups, the way between client and server.
    pub residual: MeanDifference,
    /// Samples of each side, over its runs; `None` where a run has none.
    pub samples: Option<(u64, u64)>,
}

/// Runs of one side, and the waiting of each for its server, us per operation.
pub(super) type Waited<'a> = (&'a [(&'a RunRecord, &'a StepRecord)], &'a [f64]);

/// Divides the waiting of two variants; `None` without evidence in every run.
pub(super) fn waits(base: Waited<'_>, variant: Waited<'_>) -> Option<WaitAccount> {
    let all = || base.0.iter().chain(variant.0);
    let has_profile = all().all(|(_, step)| step.waits.is_some());
    let has_queue = all().all(|(_, step)| step.counters.has(metric::SERVER_RUN_QUEUE_US));
    if !has_profile && !has_queue {
        return None;
    }
    let mut sides = [base, variant].map(|(runs, waited)| -> Vec<BTreeMap<String, f64>> {
        let runs = runs.iter().zip(waited);
        let of_run = |((_, step), waited): (&(_, &StepRecord), &f64)| {
            let profile = step.waits.as_deref().filter(|it| has_profile && it.samples > 0);
            let queued = step.counters.value(metric::SERVER_RUN_QUEUE_US).filter(|_| has_queue);
            parts(step, *waited, profile, queued)
        };
        runs.map(of_run).collect()
    });
    let wholes = [base.1, variant.1];
    merge_small(&mut sides, &wholes);
    let means = |side: usize, values: Vec<f64>| {
        means_by_machine([base, variant][side].0.iter().map(|(run, _)| *run), values)
    };
    let names: BTreeSet<&String> = sides.iter().flatten().flat_map(BTreeMap::keys).collect();
    let compare = |name: &String| {
        let of = |at: usize| {
            let values = sides[at].iter().map(|run| run.get(name).copied().unwrap_or(0.0));
            means(at, values.collect())
        };
        let us = difference(&of(0), &of(1))?;
        Some(WaitPart { name: name.clone(), us })
    };
    let mut parts: Vec<WaitPart> = names.into_iter().filter_map(compare).collect();
    parts.sort_by(|a, b| b.us.difference.abs().total_cmp(&a.us.difference.abs()));
    let rest = |side: usize| -> Vec<f64> {
        let runs = wholes[side].iter().zip(&sides[side]);
        means(side, runs.map(|(whole, parts)| whole - parts.values().sum::<f64>()).collect())
    };
    let samples = |(runs, _): Waited<'_>| -> Option<u64> {
        runs.iter().map(|(_, step)| Some(step.waits.as_ref()?.samples)).sum()
    };
    Some(WaitAccount {
        parts,
        residual: difference(&rest(0), &rest(1))?,
        samples: samples(base).zip(samples(variant)),
    })
}

/// Returns one run's waiting by event, us per operation; no part is negative, nor is the rest.
///
/// With n samples of a span of length t, an event found c times took c / n x t of the sessions
/// together; events that by chance took more than the waiting are scaled to it. A thread that is
/// ready after an event is sampled in it: of the run queue only what the events leave is a part of
/// its own. A stage of a commit holds its CPU, at most all of the server's: what it took beyond
/// that is waiting in the commit, and the rest of it is waiting in the commit or in no event.
///
/// Source: Little's law [Little 1961].
fn parts(
    step: &StepRecord,
    waited: f64,
    profile: Option<&WaitProfile>,
    queued: Option<f64>,
) -> BTreeMap<String, f64> {
    let ops = primary_operations(step) as f64;
    let mut parts = BTreeMap::new();
    let mut in_commits = 0.0;
    if let Some(profile) = profile {
        let us_per_count = step.duration_ns.as_micros_f64() / profile.samples as f64 / ops;
        for (name, count) in profile.clients.of_server() {
            *parts.entry(name.to_owned()).or_default() += count as f64 * us_per_count;
        }
        in_commits = profile.clients.in_commit_stages() as f64 * us_per_count;
    }
    let stalled = step.counters.value(metric::ENGINE_STALL_US).filter(|us| *us > 0.0);
    if let Some(stalled) = stalled.map(|us| us / ops) {
        parts.insert(WRITE_STALL.to_owned(), stalled);
        in_commits = (in_commits - stalled).max(0.0);
    }
    let sum: f64 = parts.values().sum();
    if sum > waited {
        parts.values_mut().for_each(|us| *us *= waited / sum);
    }
    let mut left = (waited - sum).max(0.0);
    if in_commits > 0.0 {
        let cpu = step.counters.sum(&metric::SERVER_CPU_US).map_or(in_commits, |us| us / ops);
        let certain = (in_commits - cpu).clamp(0.0, left);
        *parts.entry(COMMIT.to_owned()).or_default() += certain;
        (in_commits, left) = (in_commits - certain, left - certain);
    }
    if let Some(queued) = queued.map(|us| (us / ops).min(left)) {
        parts.insert(RUN_QUEUE.to_owned(), queued);
        left -= queued;
    }
    if in_commits > 0.0 {
        parts.insert(COMMIT_OR_NONE.to_owned(), in_commits.min(left));
    }
    parts
}

/// Makes one part of the events that are small on both sides.
fn merge_small(sides: &mut [Vec<BTreeMap<String, f64>>; 2], wholes: &[&[f64]; 2]) {
    let sum_of = |runs: &[BTreeMap<String, f64>], name: &String| -> f64 {
        runs.iter().filter_map(|run| run.get(name)).sum()
    };
    let names: BTreeSet<String> =
        sides.iter().flatten().flat_map(BTreeMap::keys).cloned().collect();
    let is_small = |name: &&String| {
        let mut both = sides.iter().zip(wholes);
        both.all(|(runs, whole)| sum_of(runs, name) < NAMED_SHARE * whole.iter().sum::<f64>())
    };
    let small: Vec<String> = names.iter().filter(is_small).cloned().collect();
    if small.len() < 2 {
        return;
    }
    for run in sides.iter_mut().flatten() {
        let merged: f64 = small.iter().filter_map(|name| run.remove(name)).sum();
        run.insert(OTHERS.to_owned(), merged);
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::explain::tests::{OPS, explained, runs, served};

    /// Goal: waiting for the server is divided by event, and its parts add up.
    /// Method: of 290 us of waiting in the base the sessions spend 200 in a lock and 3 in events
    /// too rare to be named, threads are ready for 20; in the variant the lock takes 400 us more.
    #[test]
    fn waiting_for_the_server_is_divided_by_event() {
        let mut all = runs(&served(100.0, 360.0), &served(100.0, 760.0));
        for run in &mut all {
            let is_base = run.cell.variant == "a";
            let step = &mut run.steps[0];
            let ops = OPS as f64 / if is_base { 1.0 } else { 2.0 };
            step.counters.set(metric::SERVER_RUN_QUEUE_US, 20.0 * ops);
            // Two seconds: the mean number of sessions is time per operation times operations.
            let count = |us: f64| model::whole((us * ops / 2e6 * 1000.0).round());
            let mut profile = WaitProfile { samples: 1000, ..WaitProfile::default() };
            for (event, us) in [
                ("Lock:transactionid", if is_base { 200.0 } else { 600.0 }),
                ("IO:DataFileRead", 2.0),
                ("LWLock:BufferMapping", 1.0),
                (model::waits::RUNNING, 100.0),
                (model::waits::IDLE, 20.0),
            ] {
                (0..count(us)).for_each(|_| profile.clients.add(event));
            }
            step.waits = Some(Box::new(profile));
        }
        let waits = explained(&all).account.unwrap().waits.unwrap();
        let part = |name: &str| waits.parts.iter().find(|part| part.name == name).unwrap().us;
        let lock = part("Lock:transactionid");
        assert!(
            (lock.base - 200.0).abs() < 1.0 && (lock.difference - 400.0).abs() < 1.0,
            "{lock:?}"
        );
        assert!(lock.is_apart() && waits.parts[0].name == "Lock:transactionid", "{waits:?}");
        assert!((part("other events").base - 3.0).abs() < 0.5, "{waits:?}");
        assert!(
            (part(
                "server threads ready to run, without a free \
                       CPU"
            )
            .base
                - 20.0)
                .abs()
                < 0.1,
            "{waits:?}"
        );
        // 10 us of CPU, 390 waited, of which the server's CPU is 100.
        assert!((waits.residual.base - (290.0 - 223.0)).abs() < 1.5, "{waits:?}");
        assert_eq!(waits.samples, Some((3000, 3000)));
        all[0].steps[0].waits = None;
        let waits = explained(&all).account.unwrap().waits.unwrap();
        assert_eq!((waits.parts.len(), waits.samples), (1, None), "only the run queue is known");
        all[0].steps[0].counters.remove(metric::SERVER_RUN_QUEUE_US.name);
        assert_eq!(explained(&all).account.unwrap().waits, None);
    }

    /// The waiting of runs with 100 us of server CPU and 290 of waiting in the base; an event takes
    /// 2 us of an operation there for each time it was found.
    fn in_events(of: &[(&str, u64)]) -> WaitAccount {
        let mut all = runs(&served(100.0, 360.0), &served(100.0, 760.0));
        for run in &mut all {
            let mut profile = WaitProfile { samples: 100, ..WaitProfile::default() };
            for (event, count) in of {
                (0..*count).for_each(|_| profile.clients.add(event));
            }
            run.steps[0].waits = Some(Box::new(profile));
        }
        explained(&all).account.unwrap().waits.unwrap()
    }

    fn base(waits: &WaitAccount, name: &str) -> f64 {
        waits.parts.iter().find(|part| part.name == name).map_or(0.0, |part| part.us.base)
    }

    /// Goal: a commit's CPU is no waiting, and what is in no event is never negative.
    #[test]
    fn stage_of_a_commit_waits_beyond_the_servers_cpu_at_most() {
        // In all samples: 200 us in commits, of which the server's CPU may be 100.
        let half = in_events(&[("stage:query end", 100)]);
        assert!((base(&half, COMMIT) - 100.0).abs() < 0.1, "{half:?}");
        assert!((base(&half, COMMIT_OR_NONE) - 100.0).abs() < 0.1, "{half:?}");
        assert!((half.residual.base - 90.0).abs() < 0.1, "{half:?}");
        // 380 us, of which 290 waited: the rest is CPU.
        let all = in_events(&[("stage:waiting for handler commit", 190)]);
        assert!((base(&all, COMMIT) - 280.0).abs() < 0.1, "{all:?}");
        assert!((base(&all, COMMIT_OR_NONE) - 10.0).abs() < 0.1, "{all:?}");
        assert!(all.residual.base.abs() < 1e-9, "{all:?}");
        // Without CPU of a commit in it: waits alone.
        let waits = in_events(&[("IO:WALSync", 50), ("LWLock:WALWrite", 20)]);
        assert!((base(&waits, COMMIT) - 140.0).abs() < 0.1, "{waits:?}");
        // More than there was, by chance of the samples.
        let more = in_events(&[("Lock:tuple", 200), ("IO:WALSync", 100)]);
        assert!((base(&more, "Lock:tuple") + base(&more, COMMIT) - 290.0).abs() < 0.1, "{more:?}");
        assert!(more.residual.base.abs() < 1e-9, "{more:?}");
    }

    /// Goal: a write stall of MyRocks, which its counter measures, is taken out of the commit.
    #[test]
    fn a_write_stall_lies_within_a_commit() {
        let mut all = runs(&served(100.0, 360.0), &served(100.0, 760.0));
        for run in &mut all {
            let step = &mut run.steps[0];
            step.counters.set(metric::ENGINE_STALL_US, 1e5);
            let mut profile = WaitProfile { samples: 100, ..WaitProfile::default() };
            (0..20).for_each(|_| profile.clients.add("stage:Commit"));
            step.waits = Some(Box::new(profile));
        }
        let waits = explained(&all).account.unwrap().waits.unwrap();
        // 0.2 sessions in commits are 40 us per operation, of which the stalls are 10.
        assert!((base(&waits, WRITE_STALL) - 10.0).abs() < 0.1, "{waits:?}");
        assert!((base(&waits, COMMIT_OR_NONE) - 30.0).abs() < 0.1, "{waits:?}");
    }
}
