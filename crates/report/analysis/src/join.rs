//! Joins comparable experiments with different variants.

use std::collections::BTreeSet;

use model::{Experiment, Step, StopRule, Variant};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::error::AnalysisError;

/// Returns one experiment with the variants of all.
///
/// The first gives name, question with its steps and metrics, base, margin and waivers;
/// publications are those of all. Each comes with its label in messages. Runs of a variant that is
/// in several are pooled; repetitions are the largest number.
///
/// # Errors
/// When there is no experiment, or two differ in rows, steps, memory cap, levels of clients or in a
/// variant of one name: their metrics are not comparable.
pub fn join(experiments: &[(&str, &Experiment)]) -> Result<Experiment, AnalysisError> {
    let [(first_name, first), others @ ..] = experiments else {
        return Err(AnalysisError::NoRuns);
    };
    let mut joined = (*first).clone();
    for (name, other) in others {
        let refuse = |difference| {
            AnalysisError::NotComparable((*first_name).to_owned(), (*name).to_owned(), difference)
        };
        if let Some(difference) = difference(first, other) {
            return Err(refuse(difference));
        }
        for variant in &other.variants {
            add(&mut joined.variants, variant).map_err(refuse)?;
        }
        let new: Vec<_> =
            other.published.iter().filter(|one| !joined.published.contains(one)).cloned().collect();
        joined.published.extend(new);
        joined.repetitions = joined.repetitions.max(other.repetitions);
    }
    Ok(joined)
}

/// A part of experiments in words, and the words before it in both.
type Part = (&'static str, fn(&Experiment) -> String);

/// What is the same in comparable experiments, besides steps and application.
const PARTS: [Part; 6] = [
    ("the data are", |one| {
        let data = &one.data;
        format!("{} rows of {} + {} bytes", data.rows, data.key_bytes, data.value_bytes)
    }),
    ("the values of `compressible_to` are", |one| one.data.compressible_to.to_string()),
    ("the steps are", |one| {
        one.steps.iter().map(|step| step.name.as_str()).collect::<Vec<_>>().join(", ")
    }),
    ("client and server are placed as", |one| one.placement.to_string()),
    ("the memory cap is", |one| {
        one.memory_bytes.map_or_else(|| "none".to_owned(), |bytes| bytes.to_string())
    }),
    ("the levels of clients are", |one| {
        one.clients.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
    }),
];

/// Returns the difference that makes two experiments incomparable.
fn difference(first: &Experiment, other: &Experiment) -> Option<String> {
    let texts = PARTS.iter().map(|(what, text)| (what, text(first), text(other)));
    let mut differing = texts.filter(|(_, one, two)| one != two);
    if let Some((what, one, two)) = differing.next() {
        return Some(format!("{what} {one} and {two}"));
    }
    let mut steps = first.steps.iter().zip(&other.steps);
    if let Some((one, two)) = steps.find(|(one, two)| one != two) {
        return Some(step_difference(one, two));
    }
    let name = |one: &Experiment| {
        let application = one.application.as_ref();
        application.map_or_else(|| "keys and values".to_owned(), |it| format!("`{}`", it.name))
    };
    (first.application != other.application).then(|| match (name(first), name(other)) {
        (one, two) if one == two => {
            format!("the application {one} differs between the experiments")
        }
        (one, two) => format!("the applications are {one} and {two}"),
    })
}

fn step_difference(one: &Step, two: &Step) -> String {
    let name = &one.name;
    if one.stop != two.stop {
        return format!("{name} ends after {} and after {}", length(one.stop), length(two.stop));
    }
    format!("the settings of step {name} differ ({})", differing(one, two))
}

fn length(stop: StopRule) -> String {
    match stop {
        StopRule::Operations(count) => format!("{count} operations"),
        StopRule::Duration(span) => span.to_string(),
    }
}

/// Returns the names of the fields in which two values differ.
fn differing(one: &impl Serialize, two: &impl Serialize) -> String {
    let (one, two) = (json!(one), json!(two));
    let fields = [&one, &two].into_iter().filter_map(Value::as_object).flat_map(Map::keys);
    let names: BTreeSet<&String> = fields.filter(|name| one.get(name) != two.get(name)).collect();
    names.into_iter().map(|name| name.replace('_', " ")).collect::<Vec<_>>().join(", ")
}

/// Adds `variant` unless it is there; fails when another variant has its name.
fn add(variants: &mut Vec<Variant>, variant: &Variant) -> Result<(), String> {
    match variants.iter().find(|known| known.name == variant.name) {
        Some(known) if known == variant => Ok(()),
        Some(known) => Err(variant_difference(known, variant)),
        None => {
            variants.push(variant.clone());
            Ok(())
        }
    }
}

/// Returns how two variants of one name differ.
fn variant_difference(known: &Variant, other: &Variant) -> String {
    let name = &known.name;
    if known.build != other.build {
        return format!("variant `{name}` has two builds, {} and {}", known.build, other.build);
    }
    let differ = differing(known, other);
    format!("the settings of variant `{name}` differ ({differ})")
}

#[cfg(test)]
mod tests {
    use model::{Nanos, Placement, Published};

    use super::*;
    use crate::testing::{application, experiment};

    #[test]
    fn variants_of_both_are_in_the_joined_experiment_once() {
        let (mut first, second) = (experiment(&["a", "b"], 2), experiment(&["b", "c"], 3));
        first.question = "Old or new?".to_owned();
        let joined = join(&[("x", &first), ("y", &second)]).unwrap();
        let names: Vec<_> = joined.variants.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert_eq!((joined.question.as_str(), joined.repetitions), ("Old or new?", 3));
    }

    #[test]
    fn publications_of_both_are_held_to_the_joined_runs_once() {
        let of = |source: &str| Published {
            source: source.to_owned(),
            setup: String::new(),
            scaled: String::new(),
            findings: Vec::new(),
        };
        let (mut first, mut second) = (experiment(&["a"], 1), experiment(&["b"], 1));
        first.published = vec![of("x")];
        second.published = vec![of("x"), of("y")];
        let joined = join(&[("1", &first), ("2", &second)]).unwrap();
        assert_eq!(joined.published, [of("x"), of("y")]);
    }

    /// Returns why an experiment cannot be joined with one that was changed.
    fn refusal(change: impl FnOnce(&mut Experiment)) -> String {
        let first = experiment(&["a"], 1);
        let mut other = first.clone();
        change(&mut other);
        let error = join(&[("x/1", &first), ("x/2", &other)]).unwrap_err();
        let AnalysisError::NotComparable(first, second, difference) = error else {
            panic!("{error}");
        };
        assert_eq!((first.as_str(), second.as_str()), ("x/1", "x/2"));
        difference
    }

    #[test]
    fn differences_are_reported_with_both_values() {
        let message = refusal(|other| other.data.rows = 50);
        assert_eq!(message, "the data are 1000 rows of 20 + 80 bytes and 50 rows of 20 + 80 bytes");
        let message = refusal(|other| other.data.compressible_to = 1.0);
        assert_eq!(message, "the values of `compressible_to` are 0.5 and 1");
        let message = refusal(|other| other.steps[0].name = "fillseq".to_owned());
        assert_eq!(message, "the steps are readrandom and fillseq");
        let longer = StopRule::Duration(Nanos::from_secs(5));
        let message = refusal(|other| other.steps[0].stop = longer);
        assert_eq!(message, "readrandom ends after 10000 operations and after 5.00 s");
        let message = refusal(|other| other.steps[0].range_rows = 7);
        let expected = "the settings of step readrandom differ (range rows)";
        assert_eq!(message, expected);
        let message = refusal(|other| other.application = Some(application("q100", 1.0)));
        assert_eq!(message, "the applications are keys and values and `sample`");
        let message = refusal(|other| other.placement = Placement::SameCpu);
        assert_eq!(message, "client and server are placed as free and same-cpu");
        let message = refusal(|other| other.memory_bytes = None);
        assert_eq!(message, "the memory cap is 1.00 GiB and none");
        let message = refusal(|other| other.clients = vec![1, 4]);
        assert_eq!(message, "the levels of clients are 1 and 1, 4");
    }

    #[test]
    fn conflicting_variants_are_rejected() {
        let message = refusal(|other| other.variants[0].options.set("page_size", "8192"));
        assert_eq!(message, "the settings of variant `a` differ (options)");
        let message = refusal(|other| other.variants[0].build = "lmdb".parse().unwrap());
        assert_eq!(message, "variant `a` has two builds, null and lmdb");
        assert_eq!(join(&[]), Err(AnalysisError::NoRuns));
    }
}
