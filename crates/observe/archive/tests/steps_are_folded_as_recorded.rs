//! A step's record is what its facts and intervals give, whole and without a trimmed warm-up.
//!
//! `data/folded/CASE` holds one run each, written by the last program that counted live, trimmed
//! and verified in three places: the run's directory, and `trimmed.json`, the record without the
//! first two seconds of every step.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use archive::{read_record, recount, trim_warmup};
use model::record::RunEnd;
use model::{Nanos, RunRecord};
use serde_json::Value;

fn case(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/folded").join(name)
}

fn record(name: &str) -> RunRecord {
    read_record(&case(name)).expect("the fixture is readable")
}

/// Returns the fields of two records that differ, with both values.
///
/// A mean is a sum of floating-point numbers, and may differ in its last digits.
fn differences(place: &str, old: &Value, new: &Value, found: &mut Vec<String>) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            for key in old.keys().chain(new.keys().filter(|key| !old.contains_key(*key))) {
                let of = |values: &serde_json::Map<String, Value>| {
                    values.get(key).cloned().unwrap_or(Value::Null)
                };
                differences(&format!("{place}.{key}"), &of(old), &of(new), found);
            }
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            for (at, (old, new)) in old.iter().zip(new).enumerate() {
                differences(&format!("{place}[{at}]"), old, new, found);
            }
        }
        (Value::Number(old), Value::Number(new)) => {
            let (old, new) = (old.as_f64().expect("a number"), new.as_f64().expect("a number"));
            if (old - new).abs() > 1e-12 * old.abs().max(new.abs()) {
                found.push(format!("{place}: {old} is now {new}"));
            }
        }
        _ if old == new => {}
        _ => found.push(format!("{place}: {old} is now {new}")),
    }
}

/// Checks that a case folds to its record, and without two seconds to the old program's record.
fn check(name: &str) -> RunRecord {
    let run = record(name);
    let counted = recount(&case(name), &run).expect("the fixture can be folded");
    assert!(counted.steps > 0, "{name} has steps with intervals");
    assert_eq!(counted.differing, Vec::<String>::new(), "{name} folds to its record");
    let trims: BTreeMap<_, _> =
        run.steps.iter().map(|step| (step.index, Nanos::from_secs(2))).collect();
    let trimmed =
        trim_warmup(&case(name), run.clone(), &trims).expect("the fixture can be trimmed");
    let new = serde_json::to_value(&trimmed).expect("a record");
    let text = fs::read_to_string(case(name).join("trimmed.json")).expect("the fixture has it");
    let old: Value = serde_json::from_str(&text).expect("the old program's JSON");
    let mut found = Vec::new();
    differences("", &old, &new, &mut found);
    assert_eq!(found, Vec::<String>::new(), "{name} is trimmed as before");
    run
}

#[test]
fn interrupted_run_is_folded_up_to_its_last_step() {
    let run = check("interrupted");
    assert!(matches!(run.end, RunEnd::Interrupted { .. }), "{:?}", run.end);
}

#[test]
fn settling_is_no_part_of_its_step() {
    assert!(check("settled").steps.iter().any(|step| step.settle.is_some()));
}

#[test]
fn search_is_folded_from_its_confirming_probe() {
    assert!(check("searched").steps.iter().any(|step| step.search.is_some()));
}

#[test]
fn invalid_intervals_are_left_out() {
    let run = check("invalid");
    assert!(run.invalid.is_some_and(|reason| reason.contains("4 of 5 intervals are invalid")));
}

#[test]
fn arrivals_not_served_are_counted_with_their_ages() {
    let censored = |step: &model::StepRecord| step.arrivals.as_ref().map(|it| it.censored);
    assert!(check("unserved").steps.iter().filter_map(censored).sum::<u64>() > 1_000_000);
}

#[test]
fn pipelined_operations_are_folded() {
    let run = check("pipelined");
    assert!(run.steps.iter().any(|step| matches!(step.step.load, model::Load::Pipelined(_))));
}

#[test]
fn calls_of_procedures_are_folded() {
    assert!(check("procedures").steps.iter().any(|step| !step.procedures.is_empty()));
}

#[test]
fn background_writers_are_folded_apart_from_the_clients() {
    assert!(check("writers").steps.iter().any(|step| !step.writers.is_empty()));
}
