//! A035: options in force that were not requested.

use std::collections::BTreeMap;

use model::record::Severity;
use model::{Options, RunRecord};

use super::{Checks, Observation, Rule};
use crate::context::{ComparisonContext, RunContext};
use crate::difference::{Config, Difference, differences};

pub(crate) static RULE: Rule = Rule {
    code: "A035",
    name: "config drift",
    severity: Severity::Blocking,
    trigger: "Blocking: the number of an option in force is not the requested number. Blocking: \
              options in force differ between runs of one variant, or between variants of one \
              build with the same requests. Note: options in force differ between variants whose \
              requests or releases differ",
    why: "The run measures the options in force, not the options in the file. If the engine \
          changed a value, the run is another experiment.",
    remedy: "request a value that the engine accepts, or set the option in every variant",
    source: "[Callaghan 2022-08-18] (configuration by scripts); [Callaghan 2022-10-31] (version \
             tested, configuration details)",
    ..Rule::of(Checks { run: Some(run), comparison: Some(comparison), ..Checks::NONE })
};

/// Options named before "and N more".
const NAMED: usize = 3;

/// Reports numbers that the engine changed; other values have many spellings.
fn run(context: &RunContext<'_>) -> Vec<Observation> {
    let run = context.run;
    let changed = run.variant.options.iter().filter_map(|(name, requested)| {
        let found = run.effective_options.get(name)?;
        let (is, wanted) = (number(found)?, number(requested)?);
        let is_other = (is - wanted).abs() > f64::EPSILON * wanted.abs();
        is_other.then(|| {
            Observation::new(format!("`{name}` is {found} in force, but {requested} was requested"))
                .ranked("effective", 0.0)
        })
    });
    changed.collect()
}

/// Returns the number that a value is; truth values are numbers too.
fn number(value: &str) -> Option<f64> {
    match value {
        "true" => Some(1.0),
        "false" => Some(0.0),
        _ => value.parse().ok(),
    }
}

fn comparison(context: &ComparisonContext<'_>) -> Vec<Observation> {
    let mut first: BTreeMap<&str, &RunRecord> = BTreeMap::new();
    let mut found = Vec::new();
    for run in context.valid().filter(|run| !run.effective_options.is_empty()) {
        let known = first.entry(&run.cell.variant).or_insert(run);
        let configs = configs(&known.effective_options, &run.effective_options);
        let differing = list(&differences(&[], &configs));
        found.extend(differing.map(|options| {
            let evidence = format!("runs have different options in force: {options}");
            let evidence = Observation::new(evidence).variant(&run.cell.variant).run(&run.id);
            evidence.ranked("runs", 0.0)
        }));
    }
    let base = context.comparison.base.as_str();
    let Some(base) = first.get(base) else { return found };
    let others = first.values().filter(|run| run.cell.variant != base.cell.variant);
    found.extend(others.filter_map(|run| unlike(base, run)));
    found
}

/// Reports where a variant of the base's engine differs from it beyond its request.
fn unlike(base: &RunRecord, run: &RunRecord) -> Option<Observation> {
    let (ours, theirs) = (base.identity.as_ref()?, run.identity.as_ref()?);
    if ours.engine != theirs.engine {
        return None;
    }
    let requests = configs(&base.variant.options, &run.variant.options);
    let requested = differences(&[], &requests);
    let mut configs = configs(&base.effective_options, &run.effective_options);
    for config in &mut configs {
        config.values.retain(|name, _| requested.iter().all(|known| known.name != *name));
    }
    let is_same_build = (&ours.version, &ours.sha256) == (&theirs.version, &theirs.sha256);
    let is_same_request = requested.is_empty() && base.variant.settings == run.variant.settings;
    let (why, severity) = match (is_same_build, is_same_request) {
        (true, true) => ("although the requests are the same", Severity::Blocking),
        (true, false) => ("possibly because the requests differ", Severity::Note),
        (false, _) => ("possibly because the releases differ", Severity::Note),
    };
    let found = differences(&[], &configs);
    let options = list(&found)?;
    let evidence = format!("options in force differ from {}, {why}: {options}", base.cell.variant);
    let remedy = "set these options in every variant, or read the difference as an effect of the \
                  options too";
    let evidence = Observation::new(evidence).variant(&run.cell.variant).severity(severity);
    Some(evidence.remedy(remedy).ranked("variants", found.len() as f64))
}

/// Returns two sets of options, without those that are a path in both.
///
/// Two paths are no difference: every run has its files, and its server's socket, in a place of
/// its own.
fn configs<'a>(one: &'a Options, other: &'a Options) -> [Config<'a>; 2] {
    let is_path = |value: &str| value.starts_with('/');
    let config = |own: &'a Options, other: &Options| {
        let is_compared =
            |name: &str, value: &str| !(is_path(value) && other.get(name).is_some_and(is_path));
        let values = own.iter().filter(|(name, value)| is_compared(name, value)).collect();
        Config { owner: "", values }
    };
    [config(one, other), config(other, one)]
}

/// Returns the first of these as text; `None` without any.
fn list(found: &[Difference<'_>]) -> Option<String> {
    let one = |difference: &Difference<'_>| {
        let (ours, theirs) = difference.pair();
        format!("`{}` {ours} against {theirs}", difference.name)
    };
    let mut parts: Vec<String> = found.iter().take(NAMED).map(one).collect();
    let more = found.len().saturating_sub(NAMED);
    parts.extend((more > 0).then(|| format!("and {more} more")));
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[cfg(test)]
mod tests {
    use model::Identity;

    use super::*;
    use crate::testing::{experiment, in_runs, runs};

    /// Variants of one build, with the options in force of `b` changed.
    fn with(change: impl Fn(&mut RunRecord)) -> Vec<(Severity, String)> {
        let mut runs = runs(&["a", "b"]);
        for run in &mut runs {
            let version = "9.10.0".to_owned();
            run.identity = Some(Identity { version, ..Identity::default() });
            run.effective_options = Options::from_iter([("max_background_jobs", "2")]);
            if run.cell.variant == "b" {
                change(run);
            }
        }
        in_runs(&RULE, &experiment(&["a", "b"]), &runs)
    }

    #[test]
    fn a_number_that_the_engine_changed_is_reported() {
        assert_eq!(with(|run| run.variant.options.set("max_background_jobs", "2")), []);
        let found = with(|run| run.variant.options.set("max_background_jobs", "0"));
        let evidence = "b: `max_background_jobs` is 2 in force, but 0 was requested (3 runs)";
        assert_eq!(found, [(Severity::Blocking, evidence.to_owned())]);
    }

    #[test]
    fn options_that_were_not_requested_are_blocking() {
        let found = with(|run| run.effective_options.set("max_background_jobs", "8"));
        let evidence = "b: options in force differ from a, although the requests are the same: \
                        `max_background_jobs` 2 against 8";
        assert_eq!(found, [(Severity::Blocking, evidence.to_owned())]);
        let spec = with(|run| {
            run.variant.options.set("max_background_jobs", "8");
            run.effective_options.set("max_background_jobs", "8");
            run.effective_options.set("max_flushes", "2");
        });
        let evidence = "b: options in force differ from a, possibly because the requests differ: \
                        `max_flushes` unset against 2";
        assert_eq!(spec, [(Severity::Note, evidence.to_owned())]);
    }

    #[test]
    fn releases_may_have_defaults_of_their_own() {
        let found = with(|run| {
            run.identity.as_mut().unwrap().version = "11.8.1".to_owned();
            for name in ["a", "b", "c", "d"] {
                run.effective_options.set(name, "1");
            }
        });
        let evidence = "b: options in force differ from a, possibly because the releases differ: \
                        `a` unset against 1, `b` unset against 1, `c` unset against 1, and 1 more";
        assert_eq!(found, [(Severity::Note, evidence.to_owned())]);
    }

    #[test]
    fn runs_of_one_variant_must_have_the_same_options() {
        let found = with(|run| {
            let repetition = run.cell.repetition.to_string();
            run.effective_options.set("max_background_jobs", repetition);
            run.variant.options.set("max_background_jobs", "");
        });
        let evidence = "b: runs have different options in force: `max_background_jobs` 1 against 2 \
                        (2 runs)";
        assert_eq!(found[0], (Severity::Blocking, evidence.to_owned()));
    }

    #[test]
    fn paths_of_a_run_are_no_drift() {
        let mut runs = runs(&["a"]);
        for (number, run) in runs.iter_mut().enumerate() {
            let socket = format!("/tmp/assay-{number}/s/mysql.sock");
            run.effective_options.set("socket", &socket);
        }
        assert_eq!(in_runs(&RULE, &experiment(&["a"]), &runs), []);
    }
}
