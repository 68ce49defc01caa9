//! Comparisons of simulated profiles with known truth.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use model::StepRecord;
use model::profile::{Profile, ProfileRecord, ProfileTarget, Unwinder};
use stats::testing::{Noise, cases};

use super::{FunctionAccount, FunctionDifference, Group, ProfiledRun, Scope, compare};
use crate::testing::{profile, profiled};

/// Runs a side.
const RUNS: usize = 10;
/// Samples of a run, on average.
const SAMPLES: f64 = 2000.0;
/// Callers, and for each a callee.
const CALLERS: usize = 20;
/// CPU of an operation, us.
const CPU_US: f64 = 10.0;

/// A stack below the engine's entry, and its CPU as a share of the base's operation.
type Costs = Vec<(String, f64)>;

/// Returns 40 functions, of which each second is called by the one before and costs as much.
fn program(costs: impl Iterator<Item = f64>) -> Costs {
    let costs: Vec<f64> = costs.take(CALLERS).collect();
    let sum: f64 = costs.iter().sum();
    let pair = |(i, cost): (usize, &f64)| {
        let share = cost / sum / 2.0;
        [(format!("lib.so`P{i}"), share), (format!("lib.so`P{i};lib.so`Q{i}"), share)]
    };
    costs.iter().enumerate().flat_map(pair).collect()
}

/// Returns functions of equal cost.
fn equal() -> Costs {
    program(std::iter::repeat(1.0))
}

/// Returns functions of 1 to 12 % of the operation.
fn uneven() -> Costs {
    program([12.0, 10.0, 6.0, 5.0].into_iter().chain(std::iter::repeat(1.0)))
}

/// Returns the functions of a simulated program.
type Program = fn() -> Costs;

const PROGRAMS: [(&str, Program); 2] = [("equal", equal), ("uneven", uneven)];

/// One side's runs: profiles, and CPU per operation.
struct Side {
    runs: Vec<(Profile, StepRecord)>,
}

impl Side {
    /// Draws runs whose CPU per operation varies by 30 %, and whose samples have dispersions from
    /// 2 to 5.
    fn draw(costs: &Costs, noise: &mut Noise) -> Self {
        let total: f64 = costs.iter().map(|(_, cost)| cost).sum();
        let mut run = || {
            let slow = (0.3 * noise.normal() - 0.045).exp();
            let mut text = String::new();
            for (place, (stack, cost)) in costs.iter().enumerate() {
                let mean = SAMPLES * slow * cost / total;
                let dispersion = 2.0 + 3.0 * (place % 7) as f64 / 6.0;
                let count = (mean + (dispersion * mean).sqrt() * noise.normal()).round();
                if count >= 1.0 {
                    writeln!(text, "worker;client;assay`go;lib.so`Get;{stack} {count}").unwrap();
                }
            }
            (Profile::parse(&text).unwrap(), profiled(CPU_US * total * slow, None))
        };
        Self { runs: (0..RUNS).map(|_| run()).collect() }
    }

    fn of(runs: &[(&str, f64)]) -> Self {
        let run = |(text, cpu): &(&str, f64)| (Profile::parse(text).unwrap(), profiled(*cpu, None));
        Self { runs: runs.iter().map(run).collect() }
    }

    fn profiles(&self) -> Vec<ProfiledRun<'_>> {
        self.runs.iter().map(|(profile, step)| ProfiledRun { profile, step }).collect()
    }
}

fn account(base: &Side, variant: &Side) -> FunctionAccount {
    let sides = [&base.profiles()[..], &variant.profiles()];
    let account = compare(sides, Scope::Clients, false).unwrap();
    let sum: f64 = account.listed.iter().map(|one| one.difference_us).sum();
    let parts = sum + account.same_factor_us + account.rest_us;
    assert!((parts - account.total.difference).abs() < 1e-12, "{account:?}");
    account
}

/// Simulates 20 campaigns, or 200 where `ASSAY_CAMPAIGN=long`.
///
/// Returns the shares of campaigns that list any function, and that list the changed
/// function alone as the first one.
fn campaigns(program: Program, change: impl Fn(&mut Costs, usize) -> String) -> (f64, f64) {
    let count = cases(20, 200);
    let (mut any, mut first) = (0.0, 0.0);
    for seed in 0..count {
        let mut noise = Noise::new(seed * 7919 + 11);
        let place = (noise.uniform() * CALLERS as f64).floor();
        let place = (0..CALLERS).find(|i| *i as f64 >= place).unwrap();
        let mut changed = program();
        let wanted = change(&mut changed, place);
        let [base, variant] = [program(), changed].map(|costs| Side::draw(&costs, &mut noise));
        let found = account(&base, &variant);
        let one = 1.0 / count as f64;
        any += if found.listed.is_empty() { 0.0 } else { one };
        let is_wanted = |f: &FunctionDifference| f.name == wanted && f.merged.is_empty();
        first += if found.listed.first().is_some_and(is_wanted) { one } else { 0.0 };
    }
    (any, first)
}

#[test]
fn slowed_function_is_listed_first() {
    // A callee has its caller as the only relative, a caller has 19 siblings.
    for (letter, offset) in [("P", 0), ("Q", 1)] {
        let (any, first) = campaigns(equal, |costs, place| {
            costs[2 * place + offset].1 += 0.05;
            format!("{letter}{place}")
        });
        println!("{letter} slowed by 5 %: listed {any:.3}, first {first:.3}");
        assert!(first >= 0.95, "{letter} {first}");
    }
}

/// Returns 40 callees of one caller, of equal cost.
fn flat() -> Costs {
    (0..2 * CALLERS).map(|i| (format!("lib.so`F{i}"), 0.5 / CALLERS as f64)).collect()
}

/// Goal: siblings that noise makes faster do not hide one that is slower.
/// Method: one of 40 siblings differs by 5 standard errors.
#[test]
fn slowed_function_is_listed_among_siblings_that_vary() {
    let (any, first) = campaigns(flat, |costs, place| {
        costs[place].1 += 0.025;
        format!("F{place}")
    });
    println!("one of 40 siblings slowed by 2.5 %: listed {any:.3}, first {first:.3}");
    assert!(first >= 0.9, "{first}");
}

#[test]
fn equal_sides_list_nothing() {
    for (name, program) in PROGRAMS {
        let (any, _) = campaigns(program, |_, _| String::new());
        println!("{name}, A/A: listed {any:.3}");
        assert!(any <= 0.05, "{name} {any}");
    }
}

#[test]
fn cost_that_moves_is_not_listed() {
    /// Changes the functions from this position on, of that cost.
    type Change = fn(&mut Costs, usize, f64);
    let changes: [(&str, Change); 5] = [
        ("to the callee", |costs, i, cost| {
            costs[i].1 -= 0.8 * cost;
            costs[i + 1].1 += 0.8 * cost;
        }),
        ("to the caller", |costs, i, cost| {
            costs[i].1 += 0.6 * cost;
            costs[i + 1].1 -= 0.6 * cost;
        }),
        ("renamed", |costs, i, _| costs[i + 1].0 = format!("{};lib.so`New<{i}>", costs[i].0)),
        ("inlined", |costs, i, cost| {
            costs[i].1 += cost;
            costs.remove(i + 1);
        }),
        ("split", |costs, i, cost| {
            costs[i].1 = 0.2 * cost;
            costs.push((format!("{};lib.so`New", costs[i].0), 0.4 * cost));
            costs.push((format!("{};lib.so`New;lib.so`Newer", costs[i].0), 0.4 * cost));
        }),
    ];
    for ((program_name, program), (name, change)) in
        PROGRAMS.iter().flat_map(|program| changes.iter().map(move |change| (program, change)))
    {
        let (any, _) = campaigns(*program, |costs, place| {
            let cost = costs[2 * place].1;
            change(costs, 2 * place, cost);
            String::new()
        });
        println!("{program_name}, cost moved, {name}: listed {any:.3}");
        assert!(any <= 0.05, "{program_name} {name}: {any}");
    }
}

#[test]
fn cost_that_moves_and_grows_is_one_entry() {
    let mut noise = Noise::new(5);
    let mut changed = equal();
    changed[6].1 -= 0.02;
    changed[7].1 += 0.09;
    let [base, variant] = [equal(), changed].map(|costs| Side::draw(&costs, &mut noise));
    let found = account(&base, &variant);
    let [one] = &found.listed[..] else { panic!("{found:?}") };
    let merged: Vec<&str> = one.merged.keys().map(String::as_str).collect();
    assert_eq!((one.name.as_str(), merged), ("Q3", vec!["P3", "Q3"]));
    assert!(one.interval_us.0 > 0.0 && one.interval_us.1 < 1.5, "{one:?}");
    assert!((one.difference_us - 0.7).abs() < 0.4, "{one:?}");
    let merged: f64 = one.merged.values().map(|part| part.variant_us).sum();
    assert!((one.cost.variant_us - merged).abs() < 1e-12);
}

/// A run of eight functions of 100 samples, one of which has another number.
fn run(changed: u64, extra: &str) -> String {
    let lines = (0..7).map(|i| format!("worker;client;assay`go;lib.so`F{i} 100\n"));
    let all: String = lines.collect();
    format!("{all}worker;client;assay`go;lib.so`Slow 100\n{extra}")
        .replace("Slow 100", &format!("Slow {changed}"))
}

/// 840 samples of 8.4 us against 1,100 samples of 11.2 us.
fn slowed_account() -> FunctionAccount {
    let new = "worker;client;assay`go;lib.so`Slow;lib.so`Inner 100\n\
               worker;client;assay`go;libc.so.6`malloc 40\nworker;low;a`b 999\n";
    let old = "worker;client;assay`go;libc.so.6`malloc 40\n";
    let [one, other] = [run(100, old), run(260, new)];
    let base = Side::of(&[(&one, 8.0), (&one, 8.8), (&one, 8.4)]);
    let variant = Side::of(&[(&other, 11.0), (&other, 11.2), (&other, 11.4)]);
    account(&base, &variant)
}

#[test]
fn shares_times_cpu_are_exact() {
    let found = slowed_account();
    let [slow] = &found.listed[..] else { panic!("{found:?}") };
    let sample_us = 11.2 / 1100.0;
    assert!((slow.cost.base_us - 1.0).abs() < 1e-12, "{slow:?}");
    assert!((slow.cost.variant_us - 360.0 * sample_us).abs() < 1e-12, "{slow:?}");
    assert!((found.same_factor_us - (840.0 * sample_us - 8.4)).abs() < 1e-9, "{found:?}");
    assert!((slow.difference_us - 260.0 * sample_us).abs() < 1e-9, "{slow:?}");
    assert!(found.rest_us.abs() < 1e-9, "{found:?}");
    let share = slow.share_of_difference.unwrap();
    assert!((share - slow.difference_us / 2.8).abs() < 1e-9, "{share}");
    assert_eq!((slow.is_new, slow.is_gone, slow.merged.len()), (false, false, 0));
    assert_eq!(slow.parts.keys().collect::<Vec<_>>(), ["Inner"]);
    let inner = slow.parts["Inner"];
    assert!(inner.base_us.abs() < 1e-12 && inner.variant_us > 1.0, "{slow:?}");
    assert_eq!((found.tested, found.samples), (9, [2520, 3300]));
    let (low, high) = found.same_factor_interval_us.unwrap();
    assert!(low < found.same_factor_us && found.same_factor_us < high);
}

#[test]
fn groups_add_up_and_are_serialized() {
    let found = slowed_account();
    let groups: Vec<Group> = found.by_group.keys().copied().collect();
    assert_eq!(groups, [Group::Engine, Group::Allocator]);
    let sum: f64 = found.by_group.values().map(|cost| cost.variant_us).sum();
    assert!((sum - 11.2).abs() < 1e-12);
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["by_group"]["engine"]["base_us"], found.by_group[&Group::Engine].base_us);
    assert_eq!(json["listed"][0]["base_us"], found.listed[0].cost.base_us);
}

#[test]
fn inclusive_samples_count_all_callers() {
    let below = |text: &str| text.replace("lib.so`Slow", "lib.so`Caller;lib.so`Slow");
    let [one, other] = [run(100, ""), run(300, "")].map(|text| below(&text));
    let side = |text: &str| Side::of(&[(text, 8.0), (text, 8.0), (text, 8.0)]);
    let [base, variant] = [side(&one), side(&other)];
    let sides = [&base.profiles()[..], &variant.profiles()];
    let found = compare(sides, Scope::Clients, true).unwrap();
    let names: BTreeSet<String> =
        found.inclusive.unwrap().into_iter().map(|one| one.name).collect();
    let expected = ["Slow", "Caller"].map(str::to_owned);
    assert_eq!(names, expected.into(), "`go` has the difference of the whole");
    assert_eq!(found.listed.len(), 1);
}

#[test]
fn profiles_that_differ_in_kind_are_not_compared() {
    let text = run(100, "");
    let base = Side::of(&[(&text, 8.0), (&text, 8.0)]);
    let refusal = |record: ProfileRecord, scope: Scope| {
        let mut variant = Side::of(&[(&text, 8.0), (&text, 8.0)]);
        variant.runs.iter_mut().for_each(|(_, step)| step.profiles[0] = record.clone());
        compare([&base.profiles(), &variant.profiles()], scope, false).unwrap_err()
    };
    let record = || profile(ProfileTarget::Worker);
    let unlike = [
        (ProfileRecord { event: "cycles".to_owned(), ..record() }, "cycles at 199 Hz by frame"),
        (ProfileRecord { hz: 99, ..record() }, "cpu-clock at 99 Hz by frame pointers"),
        (ProfileRecord { unwinder: Unwinder::Dwarf, ..record() }, "199 Hz by DWARF unwind tables"),
    ];
    for (record, part) in unlike {
        let text = refusal(record, Scope::Clients);
        assert!(text.starts_with("the runs were sampled in different ways, "), "{text}");
        assert!(text.contains("cpu-clock at 199 Hz by frame pointers"), "{text}");
        assert!(text.contains(part), "{text}");
    }
    assert!(refusal(record(), Scope::Server).contains("without samples"));
    assert!(compare([&[], &[]], Scope::Worker, false).unwrap_err().contains("fewer than three"));
}
