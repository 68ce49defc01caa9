//! Doubts about searches: what was not tried, and what stayed open.
//!
//! That a search found nothing, or not the same twice, is a finding of its step.

use model::honesty::{Outcome, SearchRecord};
use model::record::Severity;
use model::{Load, RunRecord, StepRecord};

use super::list::{Doubt, graded};
use super::place::{Place, by_place, runs_of};

/// Tells of rates above which nothing was seen to fail.
pub(super) fn not_failed_above(runs: &[&RunRecord]) -> Vec<Doubt> {
    let look = |step: &StepRecord| {
        let search =
            step.search.as_ref().filter(|_| matches!(step.step.load, Load::FindRate(_)))?;
        search.found.filter(|found| found.failed_ops_per_s.is_none()).map(|_| search.ended.clone())
    };
    let tell = |((variant, step), seen): (Place, Vec<String>)| {
        let (first, runs) = (seen.first()?, runs_of(seen.len()));
        let seen = format!("no rate above the one found failed in {step} of {variant}: {first}");
        let remedy = "read the rate as \"at least\": what ended the search was not the engine";
        Some(graded(Severity::Doubt, format!("{seen} ({runs})"), remedy))
    };
    by_place(runs, look).into_iter().filter_map(tell).collect()
}

/// Tells of probes that said nothing clear.
pub(super) fn undecided(runs: &[&RunRecord]) -> Vec<Doubt> {
    let look = |step: &StepRecord| {
        let search = step.search.as_ref()?;
        let counts = [Outcome::Undecided, Outcome::Voided].map(|outcome| count(search, outcome));
        (counts != [0, 0]).then_some((counts, search.probes.len()))
    };
    let tell = |((variant, step), seen): (Place, Vec<([usize; 2], usize)>)| {
        let sum = |index: usize| seen.iter().map(|(counts, _)| counts[index]).sum::<usize>();
        let all: usize = seen.iter().map(|(_, probes)| probes).sum();
        let mut parts = Vec::new();
        if sum(0) > 0 {
            parts.push(format!("{} were undecided and taken as failed", sum(0)));
        }
        if sum(1) > 0 {
            parts.push(format!("{} were void", sum(1)));
        }
        let (parts, runs) = (parts.join(", "), runs_of(seen.len()));
        let seen = format!("A027 of {all} probes in {step} of {variant} {parts} ({runs})");
        graded(Severity::Note, seen, "the result may be too low: probe longer on a quiet host")
    };
    by_place(runs, look).into_iter().map(tell).collect()
}

fn count(search: &SearchRecord, outcome: Outcome) -> usize {
    search.probes.iter().filter(|probe| probe.outcome == outcome).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doubt::all;
    use crate::sample::{experiment, probe, run, search};

    fn searched(found: Option<f64>, change: impl Fn(&mut SearchRecord)) -> Vec<(Severity, String)> {
        let mut runs = [run("a", 1, 5), run("a", 2, 5)];
        let step = &mut runs[1].steps[0];
        step.step.load = Load::FindRate(model::Pace::default());
        let probes = vec![probe(0, 900.0, Outcome::Passed), probe(1, 1_000.0, Outcome::Failed)];
        let mut search = search(probes, found);
        change(&mut search);
        step.search = Some(search);
        let doubts = all(&runs, &experiment(&["a"], 2));
        doubts.into_iter().map(|doubt| (doubt.severity, doubt.seen)).collect()
    }

    fn only(severity: Severity, seen: &str) -> Vec<(Severity, String)> {
        vec![(severity, seen.to_owned())]
    }

    #[test]
    fn a_search_with_a_clear_result_gives_no_doubt() {
        assert_eq!(searched(Some(900.0), |_| ()), []);
    }

    #[test]
    fn a_rate_without_one_above_that_failed_is_a_lower_limit() {
        let told = searched(Some(900.0), |search| {
            search.ended = "the clients' ceiling was reached".to_owned();
            search.found.as_mut().unwrap().failed_ops_per_s = None;
        });
        let seen = "no rate above the one found failed in readrandom of a: the clients' ceiling \
                    was reached (1 run)";
        assert_eq!(told, only(Severity::Doubt, seen));
    }

    #[test]
    fn probes_that_said_nothing_clear_are_a_note() {
        let told = searched(Some(900.0), |search| {
            search.probes.push(probe(2, 950.0, Outcome::Undecided));
            search.probes.push(probe(3, 940.0, Outcome::Voided));
        });
        let seen = "A027 of 4 probes in readrandom of a 1 were undecided and taken as failed, \
                    1 were void (1 run)";
        assert_eq!(told, only(Severity::Note, seen));
    }
}
