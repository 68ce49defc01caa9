//! A035: options in force that nobody asked for.

use std::collections::BTreeMap;

use model::record::Severity;
use model::{Options, RunRecord};

use super::{Rule, Seen};
use crate::context::{ComparisonContext, RunContext};

/// Options in force differ from what was asked for, or between variants that asked for the same.
pub(crate) static RULE: Rule = Rule {
    code: "A035",
    name: "config drift",
    severity: Severity::Blocking,
    trigger: "an option in force is another number than asked for; options in force differ between \
              runs of one variant, or between variants of one build that ask for the same (a note \
              where other options were asked for, or the releases differ)",
    why: "What was measured is what was in force, not what was written down: a value that the engine \
          changed is another experiment.",
    remedy: "ask for a value that the engine takes, or name the option in every variant",
    source: "seed 003, \"How I do performance tests for RocksDB\" (configuration by scripts); seed \
             001, \"s/optimal/better/g - on reviewing conference papers\" (version tested, \
             configuration details); reference, analysis, section 7, L35",
    run: Some(run),
    comparison: Some(comparison),
    ..Rule::SILENT
};

/// Options named before "and N more".
const NAMED: usize = 3;

/// Tells of numbers that the engine changed; words may be spelt in many ways.
fn run(context: &RunContext<'_>) -> Vec<Seen> {
    let run = context.run;
    let changed = run.variant.options.iter().filter_map(|(name, asked)| {
        let found = run.effective_options.get(name)?;
        let (is, wanted) = (number(found)?, number(asked)?);
        let is_other = (is - wanted).abs() > f64::EPSILON * wanted.abs();
        is_other.then(|| {
            Seen::new(format!("`{name}` is {found} in force, and {asked} was asked for"))
                .sized("effective", 0.0)
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

fn comparison(context: &ComparisonContext<'_>) -> Vec<Seen> {
    let mut first: BTreeMap<&str, &RunRecord> = BTreeMap::new();
    let mut evidence = Vec::new();
    for run in context.valid().filter(|run| !run.effective_options.is_empty()) {
        let known = first.entry(&run.cell.variant).or_insert(run);
        let differing = differences(&known.effective_options, &run.effective_options);
        evidence.extend(told(&differing).map(|options| {
            let told = format!("runs have different options in force: {options}");
            Seen::new(told).variant(&run.cell.variant).run(&run.id).sized("runs", 0.0)
        }));
    }
    let base = context.comparison.base.as_str();
    let Some(base) = first.get(base) else { return evidence };
    let others = first.values().filter(|run| run.cell.variant != base.cell.variant);
    evidence.extend(others.filter_map(|run| unlike(base, run)));
    evidence
}

/// Tells in what a variant of the base's engine differs from it beyond what was asked for.
fn unlike(base: &RunRecord, run: &RunRecord) -> Option<Seen> {
    let (ours, theirs) = (base.identity.as_ref()?, run.identity.as_ref()?);
    if ours.engine != theirs.engine {
        return None;
    }
    let asked = differences(&base.variant.options, &run.variant.options);
    let is_asked = |name: &str| asked.iter().any(|(known, ..)| *known == name);
    let mut differing = differences(&base.effective_options, &run.effective_options);
    differing.retain(|(name, ..)| !is_asked(name));
    let is_same_build = (&ours.version, &ours.sha256) == (&theirs.version, &theirs.sha256);
    let is_same_question = asked.is_empty() && base.variant.settings == run.variant.settings;
    let (why, severity) = match (is_same_build, is_same_question) {
        (true, true) => ("and nobody asked for it", Severity::Blocking),
        (true, false) => ("which may follow from what was asked for", Severity::Note),
        (false, _) => ("as these releases have it", Severity::Note),
    };
    let told = told(&differing)?;
    let evidence = format!("other options in force than {}, {why}: {told}", base.cell.variant);
    let remedy = "name these options in every variant, or read the difference as theirs too";
    let evidence = Seen::new(evidence).variant(&run.cell.variant).graded(severity).remedied(remedy);
    Some(evidence.sized("variants", f64::from(u32::try_from(differing.len()).unwrap_or(u32::MAX))))
}

/// Returns the names in either of two sets of options whose values differ, with these.
///
/// Two paths are no difference: every run keeps its files, and its server's socket, in a place of
/// its own.
fn differences<'a>(
    one: &'a Options,
    other: &'a Options,
) -> Vec<(&'a str, Option<&'a str>, Option<&'a str>)> {
    let ours = one.iter().map(|(name, value)| (name, Some(value), other.get(name)));
    let theirs = other.iter().filter(|(name, _)| one.get(name).is_none());
    let all = ours.chain(theirs.map(|(name, value)| (name, None, Some(value))));
    let is_path = |value: &Option<&str>| value.is_some_and(|value| value.starts_with('/'));
    all.filter(|(_, ours, theirs)| ours != theirs && !(is_path(ours) && is_path(theirs))).collect()
}

/// Returns the first of these in words; `None` when there are none.
fn told(differing: &[(&str, Option<&str>, Option<&str>)]) -> Option<String> {
    let word = |value: &Option<&str>| value.unwrap_or("unset").to_owned();
    let one = |(name, ours, theirs): &(&str, Option<&str>, Option<&str>)| {
        format!("`{name}` {} against {}", word(ours), word(theirs))
    };
    let mut told: Vec<String> = differing.iter().take(NAMED).map(one).collect();
    let more = differing.len().saturating_sub(NAMED);
    told.extend((more > 0).then(|| format!("and {more} more")));
    (!told.is_empty()).then(|| told.join(", "))
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
    fn a_number_that_the_engine_changed_is_told() {
        assert_eq!(with(|run| run.variant.options.set("max_background_jobs", "2")), []);
        let told = with(|run| run.variant.options.set("max_background_jobs", "0"));
        let evidence = "b: `max_background_jobs` is 2 in force, and 0 was asked for (3 runs)";
        assert_eq!(told, [(Severity::Blocking, evidence.to_owned())]);
    }

    #[test]
    fn options_that_nobody_asked_for_are_blocking() {
        let told = with(|run| run.effective_options.set("max_background_jobs", "8"));
        let evidence = "b: other options in force than a, and nobody asked for it: \
                    `max_background_jobs` 2 against 8";
        assert_eq!(told, [(Severity::Blocking, evidence.to_owned())]);
        let asked = with(|run| {
            run.variant.options.set("max_background_jobs", "8");
            run.effective_options.set("max_background_jobs", "8");
            run.effective_options.set("max_flushes", "2");
        });
        let evidence = "b: other options in force than a, which may follow from what was asked for: \
                    `max_flushes` unset against 2";
        assert_eq!(asked, [(Severity::Note, evidence.to_owned())]);
    }

    #[test]
    fn releases_may_have_defaults_of_their_own() {
        let told = with(|run| {
            run.identity.as_mut().unwrap().version = "11.8.1".to_owned();
            for name in ["a", "b", "c", "d"] {
                run.effective_options.set(name, "1");
            }
        });
        let evidence = "b: other options in force than a, as these releases have it: `a` unset against \
                    1, `b` unset against 1, `c` unset against 1, and 1 more";
        assert_eq!(told, [(Severity::Note, evidence.to_owned())]);
    }

    #[test]
    fn runs_of_one_variant_must_have_the_same_options() {
        let told = with(|run| {
            let repetition = run.cell.repetition.to_string();
            run.effective_options.set("max_background_jobs", repetition);
            run.variant.options.set("max_background_jobs", "");
        });
        let evidence = "b: runs have different options in force: `max_background_jobs` 1 against 2 (2 \
                    runs)";
        assert_eq!(told[0], (Severity::Blocking, evidence.to_owned()));
    }

    #[test]
    fn where_a_run_keeps_its_files_is_no_drift() {
        let mut runs = runs(&["a"]);
        for (number, run) in runs.iter_mut().enumerate() {
            let socket = format!("/tmp/assay-{number}/s/mysql.sock");
            run.effective_options.set("socket", &socket);
        }
        assert_eq!(in_runs(&RULE, &experiment(&["a"]), &runs), []);
    }
}
