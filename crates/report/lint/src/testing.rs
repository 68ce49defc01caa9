//! Small plans and records for the tests of rules.

use std::collections::BTreeMap;

use model::record::{OpCounts, OpSummary, Percentiles, RunEnd, SCHEMA, Severity};
use model::sql::{Application, Background, CallMix, Connections, TrafficSpec};
use model::validity::{Outcome, ProbeRecord, Purpose, SearchRecord};
use model::{
    Access, Bytes, Cell, CpuCount, DataShape, DeviceCell, DeviceRecord, DeviceTarget, Durability,
    Experiment, Host, IoSample, IoTest, IoTotals, Limit, Machine, Metric, Nanos, OpKind, Options,
    RunRecord, Settings, Step, StepRecord, StepRole, StopRule, Variant,
};

use crate::rule::Rule;
use crate::{ComparisonContext, PlanContext, check_comparison, check_plan};

/// A machine of four CPUs and 16 GiB.
pub(crate) fn host() -> Host {
    Host {
        cpus: CpuCount::of(4),
        memory_bytes: Bytes(16 << 30),
        clocksource: Some("tsc".to_owned()),
        device: Some("vda".to_owned()),
        fingerprint: "sample_4cpu_16gib".to_owned(),
        ..Host::default()
    }
}

/// A minute's step by one client, in which 600,000 reads took 60 us each.
pub(crate) fn step(name: &str) -> StepRecord {
    let step = Step::new(name, StopRule::Duration(Nanos::from_secs(60)));
    StepRecord {
        started_at: "2026-11-20T20:15:00Z".to_owned(),
        duration_ns: Nanos::from_secs(60),
        clients: BTreeMap::from([(OpKind::Get, summary(600_000))]),
        ..StepRecord::new(0, step)
    }
}

/// So many operations of 60 us, the longest of 300 us.
pub(crate) fn summary(done: u64) -> OpSummary {
    let times = Percentiles {
        count: done,
        mean_ns: 60_000.0,
        p50_ns: 60_000,
        p90_ns: 70_000,
        p99_ns: 80_000,
        p999_ns: 90_000,
        p9999_ns: 200_000,
        max_ns: 300_000,
    };
    let counts = OpCounts { done, rows: done, bytes: done * 420, ..OpCounts::default() };
    OpSummary { counts, response: times, service: times }
}

/// A million rows of 420 bytes, one client, one step `readrandom`, three repetitions.
pub(crate) fn experiment(variants: &[&str]) -> Experiment {
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
        placement: model::Placement::Free,
        load: model::LoadSharing::default(),
        name: "sample".to_owned(),
        size: None,
        question: "Which?".to_owned(),
        base: variants[0].to_owned(),
        workload: None,
        data: DataShape { rows: 1_000_000, key_bytes: 20, value_bytes: 400, compressible_to: 0.5 },
        memory_bytes: None,
        is_profiled: false,
        hosts: None,
        cuts: None,
        seed: 1,
        clients: vec![1],
        repetitions: 3,
        steps: vec![step("readrandom").step],
        measure: Vec::new(),
        answer: Vec::new(),
        margin: model::experiment::MARGIN_DEFAULT,
        waivers: Vec::new(),
        device: None,
        published: Vec::new(),
        variants: variants.iter().map(variant).collect(),
    }
}

/// A complete run of one step, `readrandom`; repetitions and variants follow each other in time.
pub(crate) fn run(variant: &str, repetition: u32) -> RunRecord {
    let id = format!("{variant}.c1.r{repetition}");
    let seed = u64::from(repetition);
    let after = variant.bytes().map(u32::from).sum::<u32>() % 60;
    RunRecord {
        schema: SCHEMA,
        id: format!("sample/{id}"),
        cell: Cell { id, variant: variant.to_owned(), clients: 1, repetition, seed },
        variant: experiment(&[variant]).variants[0].clone(),
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
        started_at: format!("2026-11-20T{repetition:02}:{after:02}:00Z"),
        ended_at: None,
        steps: vec![step("readrandom")],
        end: RunEnd::Complete,
    }
}

/// Three runs of each variant.
pub(crate) fn runs(variants: &[&str]) -> Vec<RunRecord> {
    (1..=3).flat_map(|repetition| variants.iter().map(move |name| run(name, repetition))).collect()
}

/// A run of each variant on each of these machines: block n is on the n-th.
pub(crate) fn on_machines(variants: &[&str], machines: &[&str]) -> Vec<RunRecord> {
    let block = |(repetition, machine): (u32, &&str)| -> Vec<RunRecord> {
        let machine = Some(Box::new(Machine { name: (*machine).to_owned(), host: host() }));
        let of = |name: &&str| RunRecord { machine: machine.clone(), ..run(name, repetition) };
        variants.iter().map(of).collect()
    };
    (1..).zip(machines).flat_map(block).collect()
}

/// Severity and evidence of the findings of one rule in a plan.
pub(crate) fn in_plan(rule: &Rule, experiment: &Experiment) -> Vec<(Severity, String)> {
    let cells = [run("a", 1).cell];
    let host = host();
    let found = check_plan(&PlanContext {
        experiment,
        cells: &cells,
        host: Some(&host),
        has_rule: crate::has_rule,
    });
    let own = found.into_iter().filter(|one| one.code == rule.code);
    own.map(|one| (one.severity, one.evidence)).collect()
}

/// Severity and evidence of the findings of one rule in a comparison.
pub(crate) fn in_runs(
    rule: &Rule,
    experiment: &Experiment,
    runs: &[RunRecord],
) -> Vec<(Severity, String)> {
    on_hosts(rule, experiment, runs, &[&host()])
}

/// The same for runs of several hosts.
pub(crate) fn on_hosts(
    rule: &Rule,
    experiment: &Experiment,
    runs: &[RunRecord],
    hosts: &[&Host],
) -> Vec<(Severity, String)> {
    with_profiles(rule, experiment, runs, (hosts, &[]))
}

/// The same with stored profiles of storage.
pub(crate) fn with_profiles(
    rule: &Rule,
    experiment: &Experiment,
    runs: &[RunRecord],
    (hosts, profiles): (&[&Host], &[DeviceRecord]),
) -> Vec<(Severity, String)> {
    let noise_history = analysis::NoiseHistory::default();
    let comparison = analysis::compare(runs, experiment, &experiment.base, &noise_history).unwrap();
    let context = ComparisonContext::of(experiment, hosts, runs, &comparison);
    let own = check_comparison(&context.with_profiles(profiles))
        .into_iter()
        .filter(|one| one.code == rule.code);
    own.map(|one| (one.severity, one.evidence)).collect()
}

/// A profile of `vda` on [`host`]: 1000 reads of 4 KiB a second with one job.
pub(crate) fn profile(never_written: f64) -> DeviceRecord {
    let totals = IoTotals { requests: 1000, per_s: 1000.0, ..IoTotals::default() };
    let cell = DeviceCell {
        access: Access::Direct,
        test: IoTest::RANDREAD_4K,
        jobs: 1,
        job_file: String::new(),
        samples: vec![IoSample { read: Some(totals), ..IoSample::default() }],
        traced: None,
        refusal: None,
    };
    let target = DeviceTarget {
        path: "/data".to_owned(),
        is_raw: false,
        device: Some("vda".to_owned()),
        filesystem: None,
        size_bytes: Bytes::GIB,
        never_written: Some(never_written),
        never_written_by: String::new(),
        queue: Vec::new(),
    };
    DeviceRecord {
        schema: model::DEVICE_SCHEMA,
        id: "sample".to_owned(),
        created_at: String::new(),
        assay_version: String::new(),
        fio_version: String::new(),
        host: host(),
        targets: vec![target],
        run_s: 1,
        repetitions: 1,
        cells: vec![cell],
        untraced: None,
        steady: Vec::new(),
        is_complete: true,
    }
}

/// Findings of one rule in runs of `a` and `b`, each step of `b` changed.
pub(crate) fn when(rule: &Rule, change: impl Fn(&mut StepRecord)) -> Vec<(Severity, String)> {
    let mut runs = runs(&["a", "b"]);
    let of_b = runs.iter_mut().filter(|run| run.cell.variant == "b");
    of_b.flat_map(|run| &mut run.steps).for_each(change);
    in_runs(rule, &experiment(&["a", "b"]), &runs)
}

/// Sets readings by name.
pub(crate) fn set(readings: &mut model::Readings, values: &[(Metric, f64)]) {
    readings.extend(values.iter().copied());
}

/// A time profile that is steady from the first second.
pub(crate) fn time_profile() -> model::TimeProfile {
    model::TimeProfile {
        class: model::TrendClass::Flat,
        steady_from_ns: Nanos(0),
        drifts: BTreeMap::new(),
        cycle: None,
        stalls: model::time_profile::Stalls::default(),
        seconds: 60,
        long_run_variance: 1e-4,
        effective_seconds: 60.0,
    }
}

/// A search with these probes and this result, and a failing rate above it.
pub(crate) fn search(outcomes: &[Outcome], found: Option<f64>) -> SearchRecord {
    let probe = |(number, outcome): (u32, &Outcome)| ProbeRecord {
        number,
        purpose: Purpose::Bisect,
        clients: 1,
        offered_ops_per_s: Some(1_000.0),
        throughput_ops_per_s: 1_000.0,
        goodput_ops_per_s: 999.0,
        late_share: 0.001,
        late_interval: (0.0008, 0.0012),
        response: summary(60_000).response,
        service: summary(60_000).service,
        duration_ns: Nanos::from_secs(60),
        debt_bytes: None,
        settle_time_ns: Nanos(0),
        outcome: *outcome,
        reason: "0.08 to 0.12 % were late".to_owned(),
    };
    let found = found.map(|ops_per_s| model::validity::SearchResult {
        ops_per_s,
        failed_ops_per_s: Some(ops_per_s * 1.02),
        clients: 1,
    });
    SearchRecord {
        limit: Some(Limit::parse("p99 < 2ms").unwrap()),
        probes: (0..).zip(outcomes).map(probe).collect(),
        found,
        ended: "the rates that pass and fail are within 2 %".to_owned(),
        is_path_dependent: false,
    }
}

/// An application of one step, with background inserts at this rate.
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

/// The experiment with its variants on these builds.
pub(crate) fn on_builds(builds: &[(&str, &str)]) -> Experiment {
    let names: Vec<&str> = builds.iter().map(|(name, _)| *name).collect();
    let mut spec = experiment(&names);
    for (variant, (_, build)) in spec.variants.iter_mut().zip(builds) {
        variant.build = build.parse().unwrap();
    }
    spec
}
