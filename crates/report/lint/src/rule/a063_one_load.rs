//! A063: all runs of a variant begin from one load.

use model::percent;
use stats::detectable::cov_of;

use super::{Checks, Observation, Rule};
use crate::context::ComparisonContext;

pub(crate) static RULE: Rule = Rule {
    code: "A063",
    name: "one load",
    trigger: "the figures of a measured step come from several runs of a variant, and all these \
              runs begin from one load",
    why: "A load leaves a random shape: levels, fill of pages, order of files. Runs that begin \
          from one load share that shape, so their spread does not show its effect. A difference \
          may be between these loads and not between the variants.",
    remedy: "set `runs_per_load` (--runs-per-load 3) so that each variant has several loads, or \
             load = \"fresh\"",
    source: "[Kalibera Jones 2013] (repeat the experiment at the highest level that varies)",
    ..Rule::of(Checks { comparison: Some(comparison), ..Checks::NONE })
};

fn comparison(context: &ComparisonContext<'_>) -> Vec<Observation> {
    let mut all = Vec::new();
    for step in context.comparison.steps.iter().filter(|step| !step.is_preparatory) {
        let metric = step.own_metrics().next();
        let noise = metric.and_then(|metric| context.comparison.noise.get(metric));
        let earlier = noise.filter(|noise| noise.earlier_experiments > 0).map(|noise| {
            format!(
                "; in earlier experiments on this host, runs with separate loads varied by {}",
                percent(cov_of(noise.prior.variance))
            )
        });
        let earlier = earlier.unwrap_or_default();
        all.extend(step.cells.iter().filter(|cell| cell.loads == Some(1)).map(|cell| {
            let evidence = format!("all {} runs begin from one load{earlier}", cell.runs);
            Observation::new(evidence).step(&step.name).variant(&cell.variant)
        }));
    }
    all
}

#[cfg(test)]
mod tests {
    use model::record::Severity;
    use model::{Bytes, Nanos, RunRecord, SharedLoad, Transfer};

    use super::*;
    use crate::testing::{experiment, in_runs, runs};

    fn sharing(loads: [&str; 3]) -> Vec<(Severity, String)> {
        let mut runs: Vec<RunRecord> = runs(&["a"]);
        for (run, snapshot) in runs.iter_mut().zip(loads) {
            run.load = Some(Box::new(SharedLoad {
                snapshot: snapshot.to_owned(),
                made_by: "an-experiment/a.c1.r1".to_owned(),
                steps: 1,
                transfer: Transfer::Copy,
                bytes: Bytes(1),
                took_ns: Nanos(1),
            }));
        }
        in_runs(&RULE, &experiment(&["a"]), &runs)
    }

    #[test]
    fn runs_of_one_load_are_reported() {
        let found = sharing(["x", "x", "x"]);
        let evidence = "readrandom of a: all 3 runs begin from one load";
        assert_eq!(found, [(Severity::Warning, evidence.to_owned())]);
    }

    #[test]
    fn runs_of_several_loads_and_of_their_own_are_not() {
        assert_eq!(sharing(["x", "x", "y"]), []);
        assert_eq!(sharing(["x", "y", "z"]), []);
        assert_eq!(in_runs(&RULE, &experiment(&["a"]), &runs(&["a"])), []);
    }
}
