//! A038: a canary that shifts between runs.

use model::{RunRecord, percent};
use stats::family::benjamini_hochberg;
use stats::{Design, Effect, classify_difference};

use super::{Checks, Observation, Rule};
use crate::context::ComparisonContext;

pub(crate) static RULE: Rule = Rule {
    code: "A038",
    name: "platform shifted",
    trigger: "before every run, Assay times the client's loop on an engine that does nothing. The \
              rule reports that this time differs by more than 3 % between a variant and the base, \
              or between the first third and the last third of at least 6 runs, if chance explains \
              the difference with a probability of at most 1 % (adjusted for all comparisons of \
              this rule)",
    why: "No engine affects the time of an operation that does nothing. A cause that changed this \
          time (clock speed, heat, neighbours, another build of Assay) also changed the measured \
          steps.",
    remedy: "quiet the machine and fix the CPU frequency, then repeat all runs in one experiment",
    source: "[Callaghan 2022-08-23] (stable platform)",
    ..Rule::of(Checks { comparison: Some(comparison), ..Checks::NONE })
};

/// Ratio beyond which it is reported; a quiet machine stays within.
///
/// Our choice: a few runs of 0.1 s each resolve no less.
const MATTERS: f64 = 1.03;
/// Largest adjusted chance: one false alarm in a hundred experiments.
///
/// Stricter than the 5 % of verdicts, because half a second before a run is not the run.
const MOST_CHANCE: f64 = 0.01;
/// Runs from which a drift is reported: thirds of two.
const RUNS: usize = 6;
/// Every run counts by itself; the canary's noise is that of these runs.
const DESIGN: Design<'static> =
    Design { margin: MATTERS - 1.0, prior: None, is_paired: false, assumed_cov: 0.01 };

fn comparison(context: &ComparisonContext<'_>) -> Vec<Observation> {
    let mut runs: Vec<&RunRecord> = context.valid().collect();
    runs.sort_by_key(|run| (&run.started_at, &run.id));
    let found: Vec<(Effect, Observation)> =
        apart(context, &runs).into_iter().chain(drift(&runs)).collect();
    let chances: Vec<f64> = found.iter().map(|(effect, _)| effect.p.unwrap_or(1.0)).collect();
    let adjusted = benjamini_hochberg(&chances);
    let is_reported = |(effect, chance): (&Effect, f64)| {
        chance <= MOST_CHANCE && effect.ratio.ln().abs() > MATTERS.ln()
    };
    let both = found.into_iter().zip(adjusted);
    both.filter(|((effect, _), q)| is_reported((effect, *q)))
        .map(|((_, evidence), _)| evidence)
        .collect()
}

/// Compares the canaries of each variant with those of the base.
fn apart(context: &ComparisonContext<'_>, runs: &[&RunRecord]) -> Vec<(Effect, Observation)> {
    let of = |variant: &str| {
        let own = runs.iter().filter(|run| run.cell.variant == variant);
        canaries(own.copied())
    };
    let base = context.comparison.base.as_str();
    let before = of(base);
    let others = context.comparison.variants.iter().filter(|variant| variant.name != base);
    let observe = |name: &str| {
        let effect = classify_difference(&before, &of(name), &DESIGN)?;
        let evidence = format!(
            "an operation that does nothing took the client {} than in runs of {base}",
            describe(&effect)
        );
        Some((
            effect,
            Observation::new(evidence).variant(name).ranked("apart", effect.ratio.ln().abs()),
        ))
    };
    others.filter_map(|variant| observe(&variant.name)).collect()
}

/// Compares the canaries of the last third of the runs with those of the first.
fn drift(runs: &[&RunRecord]) -> Option<(Effect, Observation)> {
    let all = canaries(runs.iter().copied());
    let third = all.len() / 3;
    let (first, last) = (&all[..third], &all[all.len() - third..]);
    let effect = classify_difference(first, last, &DESIGN).filter(|_| all.len() >= RUNS)?;
    let evidence = format!(
        "an operation that does nothing took the client {} in the last third of the runs than in \
         the first",
        describe(&effect)
    );
    Some((effect, Observation::new(evidence).ranked("drift", effect.ratio.ln().abs())))
}

/// Returns what an operation that does nothing took in each run that measured it.
fn canaries<'a>(runs: impl Iterator<Item = &'a RunRecord>) -> Vec<f64> {
    runs.filter_map(|run| Some(run.calibration.as_ref()?.closed_ns_per_op)).collect()
}

/// Returns `5.0 % longer`.
fn describe(effect: &Effect) -> String {
    let change = effect.ratio - 1.0;
    format!("{} {}", percent(change.abs()), if change > 0.0 { "longer" } else { "less" })
}

#[cfg(test)]
mod tests {
    use model::record::Severity;
    use model::validity::Calibration;

    use super::*;
    use crate::testing::{experiment, in_runs, runs};

    /// What is found when the canaries of three runs of each variant took so long, ns.
    fn with(of: impl Fn(&RunRecord) -> f64) -> Vec<(Severity, String)> {
        let mut runs = runs(&["a", "b"]);
        for run in &mut runs {
            run.calibration = Some(Calibration {
                clients: 1,
                closed_ns_per_op: of(run),
                ceiling_ops_per_s: 1e7,
                start_lag: None,
                start_lag_ops_per_s: None,
            });
        }
        in_runs(&RULE, &experiment(&["a", "b"]), &runs)
    }

    /// A quiet machine's canary: within 1 % of 50 ns.
    fn quiet(run: &RunRecord) -> f64 {
        let noise = f64::from(run.cell.repetition) * 0.2;
        50.0 + if run.cell.variant == "b" { noise } else { -noise }
    }

    #[test]
    fn a_canary_that_differs_between_variants_is_reported() {
        assert_eq!(with(quiet), []);
        let evidence = "b: an operation that does nothing took the client 9.7 % longer than in \
                        runs of a";
        let of_b = |run: &RunRecord| if run.cell.variant == "b" { 1.08 } else { 1.0 };
        assert_eq!(with(|run| quiet(run) * of_b(run)), [(Severity::Warning, evidence.to_owned())]);
    }

    #[test]
    fn a_canary_that_drifts_is_reported() {
        let evidence = "an operation that does nothing took the client 17 % less in the last third \
                        of the runs than in the first";
        let found = with(|run| quiet(run) * (1.0 - 0.085 * f64::from(run.cell.repetition - 1)));
        assert_eq!(found, [(Severity::Warning, evidence.to_owned())]);
    }

    #[test]
    fn a_canary_that_is_merely_noisy_is_not_reported() {
        // As measured on a machine that compiled meanwhile: a coefficient of variation of 27 %.
        let noisy = [121.0, 80.0, 70.0, 58.0, 62.0, 125.0];
        let index = |run: &RunRecord| {
            let of_b = usize::from(run.cell.variant == "b");
            2 * (run.cell.repetition as usize - 1) + of_b
        };
        assert_eq!(with(|run| noisy[index(run)]), []);
    }
}
