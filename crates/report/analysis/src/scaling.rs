//! Throughput over numbers of clients: sweeps and client searches.
//!
//! Checks a rule of thumb with figures. Source: busy threads, which are clients and background
//! threads, should not exceed the CPU cores [Callaghan 2022-07-20].

use std::collections::BTreeMap;

use model::validity::{Outcome, ProbeRecord, SearchRecord};
use model::{CpuCount, Host, Limit, Load, RunRecord, StepRecord, metric};
use serde::Serialize;
use stats::Spread;

use crate::metrics::{client_threads, rate_metrics};
use crate::usl::{Fit, NoFit, Observation, fit};

/// One variant's throughput over numbers of clients, in one step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scaling {
    /// The variant's name.
    pub variant: String,
    /// Position of the step in the run, 0-based.
    pub step_index: u32,
    /// The step's name.
    pub step: String,
    /// Where the levels come from.
    pub origin: Origin,
    /// The limit of goodput.
    pub limit: Option<Limit>,
    /// CPUs of the host; absent when it is not known.
    pub cpus: Option<CpuCount>,
    /// The levels, by clients ascending; two or more.
    pub levels: Vec<Level>,
    /// The law fitted to throughput.
    pub throughput_fit: Result<Fit, NoFit>,
}

/// Source of the levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The clients factor: each level has runs of its own.
    Factor,
    /// Probes of searches for a number of clients.
    Search,
}

/// One number of clients.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Level {
    /// Clients.
    pub clients: u32,
    /// Throughput of each run, operations per second.
    pub throughputs: Vec<f64>,
    /// Throughput over the runs, operations per second.
    pub throughput: Spread,
    /// Goodput over the runs, operations per second; absent without a limit.
    pub goodput: Option<Spread>,
    /// Threads and CPUs; absent for probes, which do not record CPU.
    pub busy: Option<Busy>,
    /// Whether clients exceed CPUs; absent when the CPUs are unknown.
    pub is_beyond_cpus: Option<bool>,
}

/// Busy threads against the CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Busy {
    /// Clients and background writers.
    pub client_threads: u32,
    /// Background threads of the engine; absent without a setting.
    pub background_threads: Option<u32>,
    /// CPUs used on average by worker and server, over the runs.
    pub busy_threads: Option<Spread>,
    /// Run-queue share of the clients' time, over the runs.
    pub run_queue_share: Option<Spread>,
    /// Whether client and background threads exceed the CPUs, if known.
    pub is_over_cpus: Option<bool>,
    /// Whether the median run-queue share is above 5 %, if known.
    pub is_waiting: Option<bool>,
}

/// Run-queue share above which clients count as waiting.
///
/// Our choice: about the noise of throughput, so that less waiting is not visible in it.
pub(crate) const WAITING_SHARE: f64 = 0.05;

/// Returns the scaling of each variant and step with several levels.
///
/// Closed loops only: in an open loop the rate is given. Invalid runs and probes are left out.
/// `host` is the one the runs were made on.
pub fn scalability(runs: &[RunRecord], host: &Host) -> Vec<Scaling> {
    // Clients on other hosts do not compete with the server for its CPUs.
    let is_elsewhere = runs.iter().any(|run| !run.client_hosts.is_empty());
    let cpus = Some(host.cpus).filter(|cpus| !is_elsewhere && *cpus > CpuCount::default());
    let mut drafts: BTreeMap<Key, Draft> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.is_counted()) {
        for step in &run.steps {
            let Some((origin, evidence)) = levels_in(run, step) else { continue };
            let name = step.step.name.clone();
            let key = (run.cell.variant.clone(), step.index, name, origin);
            let draft = drafts.entry(key).or_default();
            draft.limit = step.step.limit;
            for (clients, one) in evidence {
                draft.levels.entry(clients).or_default().push(one);
            }
        }
    }
    drafts.into_iter().filter_map(|(key, draft)| draft.finish(key, cpus)).collect()
}

/// Variant, position and name of the step, and source of the levels.
type Key = (String, u32, String, Origin);

/// One run's result at one level.
struct LevelRun {
    throughput: f64,
    goodput: Option<f64>,
    threads: Option<Threads>,
}

/// Threads of one run, with their CPU and run-queue shares.
#[derive(Clone, Copy)]
struct Threads {
    client: u32,
    background: Option<u32>,
    busy: Option<f64>,
    run_queue_share: Option<f64>,
}

fn levels_in(run: &RunRecord, step: &StepRecord) -> Option<(Origin, Vec<(u32, LevelRun)>)> {
    match (&step.step.load, &step.search) {
        (Load::Closed | Load::Pipelined(_), _) => {
            let one = of_step(run, step)?;
            Some((Origin::Factor, vec![(step.step.clients, one)]))
        }
        (Load::FindClients, Some(search)) => Some((Origin::Search, of_probes(step, search))),
        (Load::FindClients, None) | (Load::Open(_) | Load::FindRate(_), _) => None,
    }
}

fn of_step(run: &RunRecord, step: &StepRecord) -> Option<LevelRun> {
    let metrics = rate_metrics(step);
    let get = |metric| metrics.value(metric);
    Some(LevelRun {
        throughput: get(metric::THROUGHPUT_OPS_PER_S)?,
        goodput: get(metric::GOODPUT_OPS_PER_S),
        threads: Some(Threads {
            client: client_threads(step),
            background: run.variant.settings.background_jobs,
            busy: get(metric::BUSY_THREADS),
            run_queue_share: get(metric::RUN_QUEUE_SHARE),
        }),
    })
}

/// Returns the probes as levels: of each number of clients the longest, then the last.
fn of_probes(step: &StepRecord, search: &SearchRecord) -> Vec<(u32, LevelRun)> {
    let mut longest: BTreeMap<u32, &ProbeRecord> = BTreeMap::new();
    let is_usable = |probe: &&ProbeRecord| {
        probe.offered_ops_per_s.is_none() && probe.outcome != Outcome::Invalid
    };
    for probe in search.probes.iter().filter(is_usable) {
        let known = longest.entry(probe.clients).or_insert(probe);
        if probe.duration_ns >= known.duration_ns {
            *known = probe;
        }
    }
    let evidence = |(clients, probe): (u32, &ProbeRecord)| {
        let goodput = step.step.limit.map(|_| probe.goodput_ops_per_s);
        (clients, LevelRun { throughput: probe.throughput_ops_per_s, goodput, threads: None })
    };
    longest.into_iter().map(evidence).collect()
}

/// Levels as they are gathered.
#[derive(Default)]
struct Draft {
    limit: Option<Limit>,
    levels: BTreeMap<u32, Vec<LevelRun>>,
}

impl Draft {
    /// Returns the levels with their fit; `None` when there are fewer than two levels.
    fn finish(self, key: Key, cpus: Option<CpuCount>) -> Option<Scaling> {
        let (variant, step_index, step, origin) = key;
        if self.levels.len() < 2 {
            return None;
        }
        let observed: Vec<Observation> = self
            .levels
            .iter()
            .flat_map(|(&clients, evidence)| {
                let throughputs = evidence.iter().map(|one| one.throughput);
                throughputs.map(move |ops_per_s| Observation { clients, ops_per_s })
            })
            .collect();
        Some(Scaling {
            variant,
            step_index,
            step,
            origin,
            limit: self.limit,
            cpus,
            throughput_fit: fit(&observed),
            levels: self
                .levels
                .iter()
                .filter_map(|(clients, evidence)| level(*clients, evidence, cpus))
                .collect(),
        })
    }
}

fn level(clients: u32, evidence: &[LevelRun], cpus: Option<CpuCount>) -> Option<Level> {
    let throughputs: Vec<f64> = evidence.iter().map(|evidence| evidence.throughput).collect();
    Some(Level {
        clients,
        throughput: Spread::of(&throughputs)?,
        throughputs,
        goodput: spread_of(evidence, |evidence| evidence.goodput),
        busy: busy(evidence, cpus),
        is_beyond_cpus: cpus.map(|cpus| CpuCount::of(clients) > cpus),
    })
}

fn busy(evidence: &[LevelRun], cpus: Option<CpuCount>) -> Option<Busy> {
    let first = evidence.iter().find_map(|evidence| evidence.threads)?;
    let run_queue_share = spread_of(evidence, |evidence| evidence.threads?.run_queue_share);
    let threads = first.client + first.background.unwrap_or(0);
    Some(Busy {
        client_threads: first.client,
        background_threads: first.background,
        busy_threads: spread_of(evidence, |evidence| evidence.threads?.busy),
        run_queue_share,
        is_over_cpus: cpus.map(|cpus| CpuCount::of(threads) > cpus),
        is_waiting: run_queue_share.map(|share| share.median > WAITING_SHARE),
    })
}

fn spread_of(evidence: &[LevelRun], value: impl Fn(&LevelRun) -> Option<f64>) -> Option<Spread> {
    Spread::of(&evidence.iter().filter_map(value).collect::<Vec<f64>>())
}

#[cfg(test)]
mod tests {
    use model::OpKind;
    use model::validity::Purpose;

    use super::*;
    use crate::testing::{clients_probe, run, search, summary};

    fn host(cpus: u32) -> Host {
        Host { cpus: CpuCount::of(cpus), ..Host::default() }
    }

    /// A run at a level of the factor: 1,000 operations a second for each of up to four clients.
    fn at(clients: u32, repetition: u32) -> RunRecord {
        let done = 2_000 * u64::from(clients.min(4)) + u64::from(repetition);
        let mut run = run("a", repetition, done);
        run.cell.clients = clients;
        run.variant.settings.background_jobs = Some(2);
        let step = &mut run.steps[0];
        step.step.clients = clients;
        step.clients = [(OpKind::Get, summary(done, done))].into();
        let waited = 2e6 * f64::from(clients.saturating_sub(4));
        step.counters.set(metric::CLIENT_RUN_QUEUE_US, waited);
        step.counters.set(metric::PROCESS_CPU_USER_US, 2e6 * f64::from(clients.min(4)));
        step.counters.set(metric::PROCESS_CPU_KERNEL_US, 0.0);
        run
    }

    fn sweep(levels: &[u32]) -> Vec<RunRecord> {
        levels
            .iter()
            .flat_map(|clients| [1, 2, 3].map(|repetition| at(*clients, repetition)))
            .collect()
    }

    #[test]
    fn a_sweep_gives_its_levels_with_every_run() {
        let scalings = scalability(&sweep(&[8, 1, 2]), &host(4));
        let [scaling] = &scalings[..] else { panic!("{scalings:?}") };
        let levels: Vec<_> =
            scaling.levels.iter().map(|it| (it.clients, it.throughput.n)).collect();
        assert_eq!(levels, [(1, 3), (2, 3), (8, 3)]);
        assert_eq!(scaling.levels[0].throughputs, [1_000.5, 1_001.0, 1_001.5]);
        assert_eq!((scaling.origin, scaling.cpus), (Origin::Factor, Some(CpuCount::of(4))));
        assert_eq!(scaling.throughput_fit, Err(NoFit::TooFewLevels { levels: 3, needed: 6 }));
        assert_eq!(scaling.limit, None);
        assert_eq!(scalability(&sweep(&[4]), &host(4)), []);
    }

    #[test]
    fn busy_threads_are_compared_with_cpus_and_waiting() {
        let scalings = scalability(&sweep(&[1, 2, 3, 8]), &host(4));
        let checked = |level: &Level| {
            let busy = level.busy.unwrap();
            (level.is_beyond_cpus.unwrap(), busy.is_over_cpus.unwrap(), busy.is_waiting.unwrap())
        };
        let checked: Vec<_> = scalings[0].levels.iter().map(checked).collect();
        // Two background threads: three clients exceed the CPUs without waiting.
        let expected = [
            (false, false, false),
            (false, false, false),
            (false, true, false),
            (true, true, true),
        ];
        assert_eq!(checked, expected);
        let busy = scalings[0].levels[3].busy.unwrap();
        assert_eq!((busy.client_threads, busy.background_threads), (8, Some(2)));
        assert!((busy.busy_threads.unwrap().median - 4.0).abs() < 1e-9);
        assert!((busy.run_queue_share.unwrap().median - 0.5).abs() < 1e-9);
        let unknown = &scalability(&sweep(&[1, 8]), &host(0))[0];
        assert_eq!((unknown.cpus, unknown.levels[1].is_beyond_cpus), (None, None));
        let mut elsewhere = sweep(&[1, 8]);
        elsewhere[0].client_hosts.push(model::ClientHost::default());
        assert_eq!(scalability(&elsewhere, &host(4))[0].cpus, None);
        assert_eq!(unknown.levels[1].busy.unwrap().is_over_cpus, None);
    }

    #[test]
    fn goodput_is_known_with_a_limit() {
        let mut runs = sweep(&[1, 2, 4, 8, 16, 32]);
        for run in &mut runs {
            let step = &mut run.steps[0];
            step.step.limit = Some(Limit::parse("p99 < 2ms").unwrap());
            // Beyond four clients, goodput falls with each client.
            let within = 8_000 / u64::from(run.cell.clients.max(4));
            step.within_limit = Some(within * u64::from(run.cell.clients.min(4)));
        }
        let scaling = &scalability(&runs, &host(4))[0];
        assert!(scaling.levels[5].goodput.unwrap().max < scaling.levels[5].throughput.min);
    }

    #[test]
    fn probes_of_a_search_are_levels() {
        let mut run = run("a", 1, 5);
        let long = ProbeRecord {
            purpose: Purpose::Confirm,
            duration_ns: model::Nanos::from_secs(600),
            ..clients_probe(3, 2, 1_900.0)
        };
        let invalid = ProbeRecord { outcome: Outcome::Invalid, ..clients_probe(4, 8, 1.0) };
        let probes = vec![
            clients_probe(0, 1, 1_000.0),
            clients_probe(1, 2, 2_000.0),
            clients_probe(2, 4, 2_100.0),
            long,
            invalid,
        ];
        run.steps[0].step.load = Load::FindClients;
        run.steps[0].search = Some(search(probes, Some(1_900.0)));
        let scaling = &scalability(&[run.clone()], &host(4))[0];
        let evidence: Vec<_> =
            scaling.levels.iter().map(|it| (it.clients, it.throughput.median)).collect();
        assert_eq!(evidence, [(1, 1_000.0), (2, 1_900.0), (4, 2_100.0)]);
        assert_eq!((scaling.origin, scaling.levels[0].busy), (Origin::Search, None));
        run.invalid = Some("too many invalid intervals".to_owned());
        assert_eq!(scalability(&[run], &host(4)), []);
    }
}
