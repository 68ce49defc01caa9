//! Joins comparable experiments with different variants.

use model::{DataShape, Experiment, Step, StopRule, Variant};

use crate::error::AnalysisError;

/// Returns one experiment with the variants of all.
///
/// The first gives name, question, base, margin and waivers; publications are those of all. Each
/// comes with its label in messages. Runs of a variant that is in several are pooled; repetitions
/// are the largest number.
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
        let refuse = |difference| AnalysisError::NotComparable {
            first: (*first_name).to_owned(),
            second: (*name).to_owned(),
            difference,
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

/// Returns the difference that makes two experiments incomparable.
fn difference(first: &Experiment, other: &Experiment) -> Option<String> {
    let caps = (first.memory_bytes, other.memory_bytes);
    let cap = |bytes: Option<model::Bytes>| {
        bytes.map_or_else(|| "none".to_owned(), |bytes| bytes.to_string())
    };
    if first.data != other.data {
        Some(data_difference(&first.data, &other.data))
    } else if first.steps != other.steps {
        Some(steps_difference(&first.steps, &other.steps))
    } else if first.application != other.application {
        let name = |one: &Experiment| {
            let application = one.application.as_ref();
            application.map_or_else(|| "keys and values".to_owned(), |it| format!("`{}`", it.name))
        };
        let (one, two) = (name(first), name(other));
        Some(if one == two {
            format!("the application {one} was changed between them")
        } else {
            format!("the applications are {one} and {two}")
        })
    } else if first.placement != other.placement {
        let (one, two) = (first.placement, other.placement);
        Some(format!("client and server are placed as {one} and as {two}"))
    } else if caps.0 != caps.1 {
        Some(format!("the memory cap is {} and {}", cap(caps.0), cap(caps.1)))
    } else if first.clients != other.clients {
        let (one, two) = (list(&first.clients), list(&other.clients));
        Some(format!("the levels of clients are {one} and {two}"))
    } else {
        None
    }
}

fn data_difference(first: &DataShape, other: &DataShape) -> String {
    let rows = |data: &DataShape| {
        format!("{} rows of {} + {} bytes", data.rows, data.key_bytes, data.value_bytes)
    };
    let (one, two) = (rows(first), rows(other));
    if one == two {
        let (one, two) = (first.compressible_to, other.compressible_to);
        return format!("values compress to {one} of their bytes and to {two}");
    }
    format!("the data are {one} and {two}")
}

fn steps_difference(first: &[Step], other: &[Step]) -> String {
    let names = |steps: &[Step]| steps.iter().map(|step| step.name.clone()).collect::<Vec<_>>();
    let (one, two) = (names(first), names(other));
    if one != two {
        return format!("the steps are {} and {}", one.join(", "), two.join(", "));
    }
    let pair = first.iter().zip(other).find(|(one, two)| one != two);
    pair.map_or_else(String::new, |(one, two)| step_difference(one, two))
}

fn step_difference(one: &Step, two: &Step) -> String {
    let name = &one.name;
    if one.stop != two.stop {
        return format!("{name} ends after {} and after {}", length(one.stop), length(two.stop));
    }
    let parts = [
        ("warm-up", one.warmup != two.warmup),
        ("number of clients", one.clients != two.clients),
        ("rate", one.load != two.load),
        ("limit", one.limit != two.limit),
        ("key distribution", one.distribution != two.distribution),
        ("rows of a range", one.range_rows != two.range_rows),
        ("keys of a batch", one.batch_keys != two.batch_keys),
        ("background writer's rate", one.writer_bytes_per_s != two.writer_bytes_per_s),
        ("longest settle", one.settle_cap != two.settle_cap),
        ("unit", one.unit != two.unit),
    ];
    let differ = parts.iter().filter(|(_, differs)| *differs).map(|(part, _)| *part);
    let differ = differ.collect::<Vec<_>>().join(", ");
    format!("{name} is not the same step in both (differences: {differ})")
}

fn length(stop: StopRule) -> String {
    match stop {
        StopRule::Operations(count) => format!("{count} operations"),
        StopRule::Duration(span) => span.to_string(),
    }
}

fn list(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
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
        return format!("`{name}` is {} in one and {} in the other", known.build, other.build);
    }
    let parts = [
        ("profile", known.profile != other.profile),
        ("options", known.options != other.options),
        ("settings", known.settings != other.settings),
        ("server", known.dsn != other.dsn),
        ("role as a control", known.is_control != other.is_control),
    ];
    let differ = parts.iter().filter(|(_, differs)| *differs).map(|(part, _)| *part);
    let differ = differ.collect::<Vec<_>>().join(", ");
    format!("`{name}` is not the same variant in both (differences: {differ})")
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
        let AnalysisError::NotComparable { first, second, difference } = error else {
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
        assert_eq!(message, "values compress to 0.5 of their bytes and to 1");
        let message = refusal(|other| other.steps[0].name = "fillseq".to_owned());
        assert_eq!(message, "the steps are readrandom and fillseq");
        let longer = StopRule::Duration(Nanos::from_secs(5));
        let message = refusal(|other| other.steps[0].stop = longer);
        assert_eq!(message, "readrandom ends after 10000 operations and after 5.00 s");
        let message = refusal(|other| other.steps[0].range_rows = 7);
        let expected = "readrandom is not the same step in both (differences: rows of a range)";
        assert_eq!(message, expected);
        let message = refusal(|other| other.application = Some(application("q100", 1.0)));
        assert_eq!(message, "the applications are keys and values and `sample`");
        let message = refusal(|other| other.placement = Placement::SameCpu);
        assert_eq!(message, "client and server are placed as free and as same-cpu");
        let message = refusal(|other| other.memory_bytes = None);
        assert_eq!(message, "the memory cap is 1.00 GiB and none");
        let message = refusal(|other| other.clients = vec![1, 4]);
        assert_eq!(message, "the levels of clients are 1 and 1, 4");
    }

    #[test]
    fn conflicting_variants_are_rejected() {
        let message = refusal(|other| other.variants[0].options.set("page_size", "8192"));
        assert_eq!(message, "`a` is not the same variant in both (differences: options)");
        let message = refusal(|other| other.variants[0].build = "lmdb".parse().unwrap());
        assert_eq!(message, "`a` is null in one and lmdb in the other");
        assert_eq!(join(&[]), Err(AnalysisError::NoRuns));
    }
}
