//! Joins experiments that asked the same of different variants, so their runs can be compared.

use model::{Experiment, Variant};

use crate::error::AnalysisError;

/// Returns one experiment with the variants of all; the first gives question, name and base.
///
/// Runs of a variant that is in several are pooled; the largest number of repetitions is kept.
///
/// # Errors
/// When there is no experiment, or two differ in rows, steps, memory cap, levels of clients or in
/// what a variant's name stands for.
pub fn join(experiments: &[&Experiment]) -> Result<Experiment, AnalysisError> {
    let [first, others @ ..] = experiments else { return Err(AnalysisError::NoRuns) };
    let mut joined = (*first).clone();
    for other in others {
        if let Some(what) = difference(first, other) {
            return Err(not_comparable(first, other, what));
        }
        for variant in &other.variants {
            add(&mut joined.variants, variant)
                .map_err(|what| not_comparable(first, other, what))?;
        }
        joined.repetitions = joined.repetitions.max(other.repetitions);
    }
    Ok(joined)
}

fn not_comparable(first: &Experiment, second: &Experiment, what: String) -> AnalysisError {
    AnalysisError::NotComparable { first: first.name.clone(), second: second.name.clone(), what }
}

/// Returns what makes the runs of two experiments incomparable; `None` when nothing does.
fn difference(first: &Experiment, other: &Experiment) -> Option<String> {
    let what = if first.data != other.data {
        "rows"
    } else if first.steps != other.steps {
        "steps"
    } else if first.memory_bytes != other.memory_bytes {
        "memory cap"
    } else if first.clients != other.clients {
        "levels of clients"
    } else {
        return None;
    };
    Some(what.to_owned())
}

/// Adds `variant` unless it is there; fails when its name stands for something else there.
fn add(variants: &mut Vec<Variant>, variant: &Variant) -> Result<(), String> {
    match variants.iter().find(|known| known.name == variant.name) {
        Some(known) if known == variant => Ok(()),
        Some(_) => Err(format!("variant `{}`", variant.name)),
        None => {
            variants.push(variant.clone());
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::experiment;

    #[test]
    fn variants_of_both_are_in_the_joined_experiment_once() {
        let (mut first, second) = (experiment(&["a", "b"], 2), experiment(&["b", "c"], 3));
        first.question = "Old or new?".to_owned();
        let joined = join(&[&first, &second]).unwrap();
        let names: Vec<_> = joined.variants.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert_eq!((joined.question.as_str(), joined.repetitions), ("Old or new?", 3));
    }

    #[test]
    fn experiments_on_other_rows_or_with_another_meaning_of_a_name_are_refused() {
        let first = experiment(&["a"], 1);
        let mut other = first.clone();
        other.data.rows += 1;
        let said = join(&[&first, &other]).unwrap_err().to_string();
        assert_eq!(said, "sample and sample differ in their rows: their runs cannot be compared");
        let mut other = first.clone();
        other.variants[0].options.set("page_size", "8192");
        let said = join(&[&first, &other]).unwrap_err().to_string();
        assert!(said.contains("differ in their variant `a`"), "{said}");
        assert_eq!(join(&[]), Err(AnalysisError::NoRuns));
    }
}
