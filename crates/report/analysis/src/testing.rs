//! Small records for tests.

use std::collections::BTreeMap;

use model::metric::{self, Metric, Readings};
use model::record::{OpCounts, OpSummary, Percentiles, RunEnd, SCHEMA};
use model::sql::{Application, Background, CallMix, Connections, TrafficSpec};
use model::time_profile::{Stalls, TimeProfile, TrendClass};
use model::validity::{Outcome, ProbeRecord, Purpose, SearchRecord, SearchResult};
use model::{
    Bytes, Cell, DataShape, Durability, Experiment, Limit, Nanos, OpKind, Options, ProfileRecord,
    ProfileTarget, RunRecord, Settings, Step, StepRecord, StepRole, StopRule, Variant,
};

pub(crate) const DATA: DataShape =
    DataShape { rows: 1_000, key_bytes: 20, value_bytes: 80, compressible_to: 0.5 };

pub(crate) fn readings(values: &[(Metric, f64)]) -> Readings {
    values.iter().copied().collect()
}

/// A flat profile of so many seconds with this long-run variance.
pub(crate) fn time_profile(seconds: u32, long_run_variance: f64) -> TimeProfile {
    TimeProfile {
        class: TrendClass::Flat,
        steady_from_ns: Nanos(0),
        drifts: BTreeMap::new(),
        cycle: None,
        stalls: Stalls::default(),
        seconds,
        long_run_variance,
        effective_seconds: 40.0,
    }
}

pub(crate) fn summary(done: u64, rows: u64) -> OpSummary {
    let times = |scale: u64| Percentiles {
        count: done,
        mean_ns: 1.0,
        p50_ns: 10 * scale,
        p90_ns: 20 * scale,
        p99_ns: 30 * scale,
        p999_ns: 40 * scale,
        p9999_ns: 50 * scale,
        max_ns: 60 * scale,
    };
    let counts = OpCounts { done, rows, bytes: rows * 100, ..OpCounts::default() };
    OpSummary { counts, response: times(1_000), service: times(100) }
}

/// A step of two seconds in which two clients read 10,000 rows.
pub(crate) fn step(index: u32, name: &str) -> StepRecord {
    let step = Step { clients: 2, ..Step::new(name, StopRule::Operations(10_000)) };
    StepRecord {
        started_at: "2026-11-20T20:15:00Z".to_owned(),
        duration_ns: Nanos::from_secs(2),
        clients: BTreeMap::from([(OpKind::Get, summary(10_000, 10_000))]),
        ..StepRecord::new(index, step)
    }
}

/// As many rows put.
pub(crate) fn put(done: u64) -> (OpKind, OpSummary) {
    (OpKind::Put, summary(done, done))
}

/// A step in which 100 rows of 100 bytes each are put: 10,000 bytes.
pub(crate) fn load(counters: &[(Metric, f64)]) -> StepRecord {
    let clients = [put(100)].into();
    StepRecord { clients, counters: readings(counters), ..step(0, "fillseq") }
}

/// How a process was profiled.
pub(crate) fn profile(target: ProfileTarget) -> ProfileRecord {
    ProfileRecord { target, event: "cpu-clock".to_owned(), hz: 199, ..ProfileRecord::default() }
}

/// A step whose worker, and server if any, are profiled and have so much CPU, us per operation.
pub(crate) fn profiled(worker_us: f64, server_us: Option<f64>) -> StepRecord {
    let mut counters = readings(&[
        (metric::PROCESS_CPU_USER_US, 1e4 * worker_us),
        (metric::PROCESS_CPU_KERNEL_US, 0.0),
        (metric::CLIENT_CPU_USER_US, 1e4 * worker_us),
        (metric::CLIENT_CPU_KERNEL_US, 0.0),
    ]);
    counters.set(metric::SERVER_CPU_USER_US, server_us.map(|us| 1e4 * us));
    counters.set(metric::SERVER_CPU_KERNEL_US, server_us.map(|_| 0.0));
    let profiles = ProfileTarget::ALL.map(profile).into();
    StepRecord { counters, profiles, ..step(0, "readrandom") }
}

pub(crate) fn experiment(variants: &[&str], repetitions: u32) -> Experiment {
    let variant = |name: &&str| Variant {
        dsn: None,
        name: (*name).to_owned(),
        build: "null".parse().unwrap(),
        profile: None,
        options: Options::new(),
        settings: Settings { durability: Durability::Os, ..Settings::default() },
        is_control: false,
    };
    Experiment {
        application: None,
        is_profiled: false,
        hosts: None,
        cuts: None,
        placement: model::Placement::Free,
        load: model::LoadSharing::default(),
        name: "sample".to_owned(),
        size: None,
        question: "Which?".to_owned(),
        base: variants[0].to_owned(),
        workload: None,
        data: DATA,
        memory_bytes: Some(Bytes::GIB),
        seed: 1,
        clients: vec![1],
        repetitions,
        steps: vec![step(0, "readrandom").step],
        measure: Vec::new(),
        answer: Vec::new(),
        margin: model::experiment::MARGIN_DEFAULT,
        waivers: Vec::new(),
        device: None,
        published: Vec::new(),
        variants: variants.iter().map(variant).collect(),
    }
}

/// A complete run whose only step did `ops` operations in two seconds.
pub(crate) fn run(variant: &str, repetition: u32, ops: u64) -> RunRecord {
    let mut only = step(0, "readrandom");
    only.clients.insert(OpKind::Get, summary(ops, ops));
    let experiment = experiment(&[variant], 1);
    let id = format!("{variant}.c1.r{repetition}");
    RunRecord {
        schema: SCHEMA,
        id: format!("sample/{id}"),
        cell: Cell { id, variant: variant.to_owned(), clients: 1, repetition, seed: 1 },
        variant: experiment.variants[0].clone(),
        identity: None,
        effective_options: Options::new(),
        clock: None,
        calibration: None,
        invalid: None,
        load: None,
        durability: None,
        drive: None,
        machine: None,
        client_hosts: Vec::new(),
        started_at: "2026-11-20T20:15:00Z".to_owned(),
        ended_at: None,
        steps: vec![only],
        end: RunEnd::Complete,
    }
}

/// A minute's probe at an offered rate that was served in full, one operation in 1,000 late.
pub(crate) fn probe(number: u32, offered_ops_per_s: f64, outcome: Outcome) -> ProbeRecord {
    ProbeRecord {
        number,
        purpose: Purpose::Bisect,
        clients: 2,
        offered_ops_per_s: Some(offered_ops_per_s),
        throughput_ops_per_s: offered_ops_per_s,
        goodput_ops_per_s: offered_ops_per_s * 0.999,
        late_share: 0.001,
        late_interval: (0.0008, 0.0012),
        response: summary(5_000, 0).response,
        service: summary(5_000, 0).service,
        duration_ns: Nanos::from_secs(60),
        debt_bytes: None,
        settle_time_ns: Nanos(0),
        outcome,
        reason: "0.08 to 0.12 % were late".to_owned(),
    }
}

/// A closed loop's probe of a number of clients.
pub(crate) fn clients_probe(number: u32, clients: u32, ops_per_s: f64) -> ProbeRecord {
    ProbeRecord {
        purpose: Purpose::Clients,
        clients,
        offered_ops_per_s: None,
        throughput_ops_per_s: ops_per_s,
        ..probe(number, 0.0, Outcome::Passed)
    }
}

/// A search with these probes that found a rate, and one above it that failed.
pub(crate) fn search(probes: Vec<ProbeRecord>, found: Option<f64>) -> SearchRecord {
    let found = found.map(|ops_per_s| SearchResult {
        ops_per_s,
        failed_ops_per_s: Some(ops_per_s * 1.02),
        clients: 2,
    });
    let limit = Some(Limit::parse("p99 < 2ms").unwrap());
    let ended = "the rates that pass and fail are within 2 %".to_owned();
    SearchRecord { limit, probes, found, ended, is_path_dependent: false }
}

/// An application of one step with background inserts at this rate for each client.
pub(crate) fn application(step: &str, rows_per_s: f64) -> Application {
    let background = Background {
        call_mix: CallMix::Mix(Vec::new()),
        rows_per_s,
        connections: Connections::One,
    };
    let traffic_spec = TrafficSpec {
        about: "queries with inserts".to_owned(),
        background: Some(background),
        ..TrafficSpec::new(step, StepRole::ReadWrite)
    };
    Application {
        about: "a sample".to_owned(),
        row_bytes: 100,
        steps: vec![traffic_spec],
        order: vec![step.to_owned()],
        ..Application::new("sample")
    }
}
