//! Explanations of synthetic records with known components.

use model::record::{OpSummary, Percentiles};
use model::validity::Calibration;
use model::{Load, Metric, OpKind, OpenLoad, Pace, Pacing, Rate, RunRecord, metric};
use proptest::prelude::*;

use super::*;
use crate::testing::{experiment, run, summary};
use crate::{Comparison, compare};

/// Operations of a run of the base: 10,000 by two clients in two seconds are 400 us each.
pub(super) const OPS: u64 = 10_000;

/// A run of the sample's step with its counters per operation, us; the client itself costs 1 us.
pub(super) fn made(
    variant: &str,
    repetition: u32,
    ops: u64,
    per_op: &[(Metric, f64)],
) -> RunRecord {
    let mut run = run(variant, repetition, ops);
    run.calibration = Some(Calibration {
        clients: 2,
        closed_ns_per_op: 1_000.0,
        ceiling_ops_per_s: 1e6,
        start_lag: None,
        start_lag_ops_per_s: None,
    });
    for (name, us) in per_op {
        run.steps[0].counters.set(*name, us * ops as f64);
    }
    run
}

/// Three runs each: the base's operations take 400 us, the variant's twice as long but for a hair.
pub(super) fn runs(base: &[(Metric, f64)], variant: &[(Metric, f64)]) -> Vec<RunRecord> {
    let each = |name: &'static str, ops: u64, per_op: &[(Metric, f64)]| -> Vec<RunRecord> {
        (1..=3).map(|number| made(name, number, ops + u64::from(number), per_op)).collect()
    };
    [each("a", OPS, base), each("b", OPS / 2, variant)].concat()
}

/// A thousandth of noise between the repetitions.
pub(super) fn noise(run: &RunRecord) -> f64 {
    1.0 + 0.001 * (f64::from(run.cell.repetition) - 2.0)
}

fn compared(runs: &[RunRecord]) -> Comparison {
    compare(runs, &experiment(&["a", "b"], 3), "a", &crate::NoiseHistory::default()).unwrap()
}

fn explained_as(runs: &[RunRecord], blocking: &[String]) -> Explanation {
    explained_metric(runs, None, blocking)
}

pub(super) fn explained_metric(
    runs: &[RunRecord],
    metric: Option<Metric>,
    blocking: &[String],
) -> Explanation {
    let (experiment, comparison) = (experiment(&["a", "b"], 3), compared(runs));
    explain(&Question {
        experiment: &experiment,
        runs,
        comparison: &comparison,
        step: &comparison.steps[0],
        variant: "b",
        metric,
        cpus: model::CpuCount::of(2),
        blocking,
        profiles: StepProfiles::default(),
    })
    .unwrap()
}

pub(super) fn explained(runs: &[RunRecord]) -> Explanation {
    explained_as(runs, &[])
}

const BASE: &[(Metric, f64)] = &[
    (metric::CLIENT_CPU_USER_US, 50.0),
    (metric::CLIENT_CPU_KERNEL_US, 20.0),
    (metric::CLIENT_RUN_QUEUE_US, 10.0),
    (metric::CLIENT_STORAGE_WAIT_US, 300.0),
    (metric::CLIENT_SLEEP_US, 20.0),
];

/// The base with one account of another size.
fn with(name: Metric, us: f64) -> Vec<(Metric, f64)> {
    BASE.iter().map(|(known, old)| (*known, if *known == name { us } else { *old })).collect()
}

pub(super) fn rules(explanation: &Explanation) -> Vec<Rule> {
    explanation.refusals.iter().map(|refusal| refusal.rule).collect()
}

#[test]
fn a_wait_that_grew_accounts_for_the_whole_change() {
    let found = explained(&runs(BASE, &with(metric::CLIENT_STORAGE_WAIT_US, 700.0)));
    assert_eq!((found.rung, &found.refusals[..]), (Rung::Association, &[][..]));
    let account = found.account.unwrap();
    let first = &account.components[0];
    assert_eq!(first.part, Part::Storage);
    assert!((first.us.difference - 400.0).abs() < 1e-9 && first.us.is_apart());
    let share = account.share(&first.us).unwrap();
    assert!((share - 1.0).abs() < 0.01, "{share}");
    assert!((account.component(Part::ClientCpu).unwrap().us.base - 1.0).abs() < 1e-9);
    assert!((account.component(Part::EngineCpu).unwrap().us.base - 49.0).abs() < 1e-9);
    assert!(account.missing.is_empty());
    assert_eq!(found.runs, (3, 3));
}

/// Goal: the residual decides. Method: the change is 400 us, and that much of it is measured.
#[test]
fn a_fifth_of_the_change_may_be_left_and_no_more() {
    let found = explained(&runs(BASE, &with(metric::CLIENT_SLEEP_US, 20.0 + 400.0 * 0.81)));
    assert_eq!(rules(&found), []);
    let found = explained(&runs(BASE, &with(metric::CLIENT_SLEEP_US, 20.0 + 400.0 * 0.79)));
    assert_eq!((rules(&found), found.rung), (vec![Rule::Residual], Rung::Nothing));
    assert!(
        found.refusals[0].evidence.contains("explains 21 % of the change"),
        "{:?}",
        found.refusals
    );
    // So does more than there was.
    let found = explained(&runs(BASE, &with(metric::CLIENT_SLEEP_US, 20.0 + 400.0 * 1.21)));
    assert_eq!(rules(&found), [Rule::Residual]);
}

#[test]
fn a_difference_that_may_be_noise_is_not_explained() {
    let mut all = runs(BASE, BASE);
    for (run, ops) in all.iter_mut().zip([9_000, 10_000, 11_000, 9_500, 10_400, 11_500]) {
        run.steps[0].clients.insert(OpKind::Get, summary(ops, ops));
    }
    assert_eq!(rules(&explained(&all)), [Rule::NotEstablished]);
    let single: Vec<RunRecord> = vec![made("a", 1, 100, BASE), made("b", 1, 50, BASE)];
    assert_eq!(rules(&explained(&single)), [Rule::FewRuns]);
    let blocking = ["A001 durability: a syncs and b does not".to_owned()];
    let found = explained_as(&all, &blocking);
    assert_eq!((rules(&found), &found.refusals[0].evidence), (vec![Rule::Bogus], &blocking[0]));
}

#[test]
fn missing_evidence_is_named() {
    let old = &[(metric::CLIENT_CPU_USER_US, 50.0), (metric::CLIENT_CPU_KERNEL_US, 20.0)];
    let found = explained(&runs(old, old));
    assert_eq!(rules(&found), [Rule::Residual]);
    let needed = &found.refusals[0].needed;
    assert!(needed.contains("waits for storage and locks"), "{needed}");
    let found = explained(&runs(&[], &[]));
    assert_eq!(rules(&found), [Rule::NoEvidence]);
    let mut uncalibrated = runs(BASE, BASE);
    uncalibrated.iter_mut().for_each(|run| run.calibration = None);
    let account = explained(&uncalibrated).account.unwrap();
    assert_eq!(account.component(Part::EngineCpu), None, "it would hold the client's own");
}

#[test]
fn cpu_of_background_writers_is_no_part_of_an_operation() {
    let mut all = runs(BASE, &with(metric::CLIENT_STORAGE_WAIT_US, 700.0));
    for run in &mut all {
        let step = &mut run.steps[0];
        step.step.writer_bytes_per_s = Some(model::Bytes(1_000));
        *step.counters.get_mut(metric::CLIENT_CPU_USER_US.name).unwrap() += 123_456.0;
        for (name, us) in
            [(metric::WRITER_CPU_USER_US, 123_456.0), (metric::WRITER_CPU_KERNEL_US, 0.0)]
        {
            step.counters.set(name, us);
        }
    }
    let account = explained(&all).account.unwrap();
    assert!((account.component(Part::EngineCpu).unwrap().us.base - 49.0).abs() < 1e-6);
    // Unless it is not known.
    for run in &mut all {
        run.steps[0].counters.remove(metric::WRITER_CPU_USER_US.name);
    }
    let account = explained(&all).account.unwrap();
    assert!(account.component(Part::EngineCpu).is_none());
    assert_eq!(account.missing, ["the client's CPU (calibration)", "the clients' CPU"]);
}

/// Goal: an open loop's response time is waiting and service, whatever the clients do meanwhile.
#[test]
fn an_open_loop_s_response_is_waiting_and_service() {
    let mut all = runs(&[], &[]);
    for run in &mut all {
        let is_base = run.cell.variant == "a";
        let noise = f64::from(run.cell.repetition);
        let times = |mean_us: f64| Percentiles {
            count: OPS,
            mean_ns: 1e3 * (mean_us + noise),
            ..Percentiles::default()
        };
        let (service, response) = if is_base { (100.0, 150.0) } else { (160.0, 500.0) };
        let step = &mut run.steps[0];
        let counts = summary(OPS, OPS).counts;
        let one = OpSummary { counts, response: times(response), service: times(service) };
        step.clients.insert(OpKind::Get, one);
        let pace = Pace { arrivals: model::Arrivals::Poisson, pacing: Pacing::Spin };
        step.step.load = Load::Open(OpenLoad { rate: Rate::constant(5_000.0), pace });
    }
    let found = explained(&all);
    assert_eq!((found.subject, found.rung), (Subject::ResponseTime, Rung::Association));
    let account = found.account.unwrap();
    let parts: Vec<Part> = account.components.iter().map(|one| one.part).collect();
    assert_eq!(parts, [Part::Waiting, Part::Service]);
    for (component, expected) in account.components.iter().zip([290.0, 60.0]) {
        assert!((component.us.difference - expected).abs() < 1e-6, "{component:?}");
    }
    assert!(account.residual.difference.abs() < 1e-6 && found.effect.is_none());
    // It is no explanation where a side could not keep up.
    let evidence = "88 % served".to_owned();
    all[4].steps[0].load_status = Some(model::validity::LoadStatus::Overloaded { evidence });
    assert_eq!(rules(&explained(&all)), [Rule::Overloaded]);
}

#[test]
fn metrics_moving_along_come_first() {
    let mut all = runs(BASE, &with(metric::CLIENT_STORAGE_WAIT_US, 700.0));
    for run in &mut all {
        let ops = run.steps[0].clients[&OpKind::Get].counts.done as f64;
        let is_base = run.cell.variant == "a";
        let counters = [
            // Twice the reads where it is slower; a tenth of the writes too.
            (metric::DEVICE_READS, if is_base { 1.0 } else { 2.0 }),
            (metric::DEVICE_READ_BYTES, if is_base { 4_096.0 } else { 7_168.0 }),
            (metric::DEVICE_WRITES, if is_base { 0.05 } else { 0.005 }),
            // Three times next to nothing.
            (metric::ENGINE_FSYNCS, if is_base { 0.001 } else { 0.003 }),
        ];
        let ops = ops * noise(run);
        for (name, per_op) in counters {
            run.steps[0].counters.set(name, per_op * ops);
        }
    }
    let found = explained(&all);
    let names: Vec<(&str, bool)> =
        found.moved.iter().map(|one| (one.metric, one.is_along)).collect();
    let expected = [
        (metric::DEVICE_READS_PER_OP.name, true),
        (metric::DEVICE_READ_KIB_PER_OP.name, true),
        (metric::DEVICE_WRITES_PER_OP.name, false),
    ];
    assert_eq!(names, expected);
    // 300 us for one read became 700 us for two: 350 us each.
    let [reads, each] = &found.identities[0].factors;
    assert!((each.base - 300.0).abs() < 0.01 && (each.variant - 350.0).abs() < 0.01);
    assert!((reads.adds + each.adds - 400.0).abs() < 1e-6 && reads.adds > 300.0);
}

#[test]
fn hidden_regression_is_reported() {
    let mut all = runs(BASE, BASE);
    for run in &mut all {
        let us = noise(run) * if run.cell.variant == "a" { 1e6 } else { 1.5e6 };
        let ops = OPS + 10 * u64::from(run.cell.repetition);
        let step = &mut run.steps[0];
        step.clients.insert(OpKind::Get, summary(ops, ops));
        step.counters.set(metric::PROCESS_CPU_USER_US, us);
        step.counters.set(metric::PROCESS_CPU_KERNEL_US, us / 10.0);
    }
    let found = explained(&all);
    assert_eq!(rules(&found), [Rule::NotEstablished]);
    let hidden: Vec<&str> = found.hidden().iter().map(|one| one.metric).collect();
    assert_eq!(hidden, [metric::CPU_US_PER_OP.name, metric::KERNEL_CPU_US_PER_OP.name]);
}

#[test]
fn the_resource_that_is_nine_tenths_used_binds() {
    let cpu = |us: f64| -> Vec<(Metric, f64)> {
        vec![
            (metric::CLIENT_CPU_USER_US, us),
            (metric::CLIENT_CPU_KERNEL_US, 0.0),
            (metric::CLIENT_RUN_QUEUE_US, 1.0),
            (metric::CLIENT_STORAGE_WAIT_US, 0.0),
            (metric::CLIENT_SLEEP_US, 0.0),
            (metric::PROCESS_CPU_USER_US, us + 1.0),
            (metric::PROCESS_CPU_KERNEL_US, 0.0),
            (metric::DEVICE_BUSY_US, 4.0),
        ]
    };
    let found = explained(&runs(&cpu(200.0), &cpu(790.0)));
    let binding: Vec<Option<Resource>> = found.bounds.iter().map(|bound| bound.binding).collect();
    assert_eq!(binding, [None, Some(Resource::Cpus)]);
    let used = found.bounds[0].used.iter().find(|(which, _)| *which == Resource::Cpus).unwrap().1;
    // 201 us of CPU in 400 us of each of two clients, on two CPUs.
    assert!((used - 0.5025).abs() < 0.001, "{used}");
}

#[test]
fn one_thing_set_on_purpose_is_a_cause_and_a_build_is_not() {
    let all = runs(BASE, &with(metric::CLIENT_STORAGE_WAIT_US, 700.0));
    let with_variant = |change: &dyn Fn(&mut model::Variant)| {
        let mut experiment = experiment(&["a", "b"], 3);
        change(&mut experiment.variants[1]);
        let comparison = compared(&all);
        let question = Question {
            experiment: &experiment,
            runs: &all,
            comparison: &comparison,
            step: &comparison.steps[0],
            variant: "b",
            metric: None,
            cpus: model::CpuCount::of(2),
            blocking: &[],
            profiles: StepProfiles::default(),
        };
        let found = explain(&question).unwrap();
        (found.rung, found.declared.changes.len())
    };
    assert_eq!(with_variant(&|_| ()), (Rung::Association, 0));
    assert_eq!(with_variant(&|one| one.options.set("cache", "1")), (Rung::Cause, 1));
    assert_eq!(with_variant(&|one| one.settings.direct_io = true), (Rung::Cause, 1));
    let build = |one: &mut model::Variant| one.build = "null@2".parse().unwrap();
    assert_eq!(with_variant(&build), (Rung::Association, 1));
    let two = |one: &mut model::Variant| {
        one.options.set("cache", "1");
        one.options.set("filter", "1");
    };
    assert_eq!(with_variant(&two), (Rung::Association, 2));
    let control = |one: &mut model::Variant| {
        one.options.set("cache", "1");
        one.is_control = true;
    };
    assert_eq!(with_variant(&control), (Rung::Association, 1));
}

#[test]
fn a_variant_without_the_step_has_no_explanation() {
    let all = runs(BASE, BASE);
    let comparison = compared(&all);
    let experiment = experiment(&["a", "b"], 3);
    let question = Question {
        experiment: &experiment,
        runs: &all[..3],
        comparison: &comparison,
        step: &comparison.steps[0],
        variant: "b",
        metric: None,
        cpus: model::CpuCount::of(2),
        blocking: &[],
        profiles: StepProfiles::default(),
    };
    assert_eq!(explain(&question), None);
}

proptest! {
    #[test]
    fn components_and_residual_are_the_whole(
        base in prop::array::uniform5(0.0..500.0_f64),
        variant in prop::array::uniform5(0.0..500.0_f64),
    ) {
        let named = |us: [f64; 5]| -> Vec<(Metric, f64)> {
            BASE.iter().zip(us).map(|((name, _), us)| (*name, us)).collect()
        };
        let account = explained(&runs(&named(base), &named(variant))).account.unwrap();
        let sides: [fn(&stats::MeanDifference) -> f64; 3] =
            [|us| us.base, |us| us.variant, |us| us.difference];
        for side in sides {
            let parts = account.components.iter().map(|one| side(&one.us));
            let sum = parts.sum::<f64>() + side(&account.residual);
            prop_assert!((sum - side(&account.total)).abs() < 1e-6, "{:?}", account);
        }
    }
}

/// A server's step: the client's 10 us, the rest waited for while the server works.
pub(super) fn served(server: f64, asleep: f64) -> Vec<(Metric, f64)> {
    vec![
        (metric::CLIENT_CPU_USER_US, 7.0),
        (metric::CLIENT_CPU_KERNEL_US, 3.0),
        (metric::CLIENT_RUN_QUEUE_US, 30.0),
        (metric::CLIENT_STORAGE_WAIT_US, 0.0),
        (metric::CLIENT_SLEEP_US, asleep),
        (metric::PROCESS_CPU_USER_US, 7.0),
        (metric::PROCESS_CPU_KERNEL_US, 3.0),
        (metric::SERVER_CPU_USER_US, server * 0.8),
        (metric::SERVER_CPU_KERNEL_US, server * 0.2),
        (metric::SERVER_CONTEXT_SWITCHES, 2.0),
    ]
}

#[test]
fn a_server_that_works_longer_for_an_operation_accounts_for_the_change() {
    let mut all = runs(&served(380.0, 360.0), &served(770.0, 760.0));
    for run in &mut all {
        let by = noise(run);
        run.steps[0].counters.values_mut().for_each(|value| *value *= by);
    }
    let found = explained(&all);
    assert_eq!((found.rung, rules(&found)), (Rung::Association, vec![]));
    let account = found.account.unwrap();
    let parts: Vec<Part> = account.components.iter().map(|component| component.part).collect();
    assert_eq!(parts, [Part::ServerCpu, Part::ServerWait, Part::ClientThreads]);
    let server = &account.components[0].us;
    assert!((server.difference - 390.0).abs() < 1.0 && server.is_apart(), "{server:?}");
    let own = account.component(Part::ClientThreads).unwrap().us;
    assert!((own.base - 10.0).abs() < 0.1 && !own.is_apart(), "{own:?}");
    let moved: Vec<&str> = found.moved.iter().map(|moved| moved.metric).collect();
    assert!(moved.contains(&metric::SERVER_CPU_US_PER_OP.name), "{moved:?}");
    assert!(!moved.contains(&metric::SERVER_CONTEXT_SWITCHES_PER_OP.name), "{moved:?}");
}

#[test]
fn background_server_work_is_excluded() {
    // Two CPUs' worth of background work during 390 us of waiting.
    let found = explained(&runs(&served(700.0, 360.0), &served(900.0, 760.0)));
    let account = found.account.unwrap();
    assert!((account.component(Part::ServerCpu).unwrap().us.base - 390.0).abs() < 1e-6);
    assert!(account.component(Part::ServerWait).unwrap().us.base.abs() < 1e-6);
}

#[test]
fn unknown_server_cpu_is_missing_evidence() {
    let foreign = |asleep: f64| -> Vec<(Metric, f64)> {
        let mut all = served(0.0, asleep);
        all.retain(|(metric, _)| !metric.name.starts_with("server_"));
        all.push((metric::CLIENT_RECONNECTS, 0.0));
        all
    };
    let found = explained(&runs(&foreign(360.0), &foreign(760.0)));
    assert_eq!(rules(&found), [Rule::Residual]);
    assert!(found.refusals[0].needed.contains("the server's CPU"), "{:?}", found.refusals);
}
