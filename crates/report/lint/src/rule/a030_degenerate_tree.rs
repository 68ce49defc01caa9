//! A030: an LSM tree with too few levels.

use model::record::Severity;
use model::step::name;
use model::{RunRecord, StepRecord, StepRole, float};

use super::{Checks, Observation, Origin, Rule};
use crate::context::RunContext;

pub(crate) static RULE: Rule = Rule {
    code: "A030",
    name: "degenerate tree",
    trigger: "Warning: a step only reads, and a `compact` step left all files of the LSM tree in \
              one level. Note: a step only reads, and fewer than 3 levels of the LSM tree have \
              files",
    why: "After a full compaction all rows are in one level of the LSM tree, which is not a steady \
          state. Reads of an LSM tree with few levels show little of the cost of levels.",
    remedy: "use `settle` instead of `compact`; load more rows, or make files and levels smaller",
    source: "[Callaghan 2022-08-23] (after a full compaction there is only one level or one SST); \
             our choice: the limit of 3 levels",
    ..Rule::of(Checks { origin: Origin::Size, measured: &[shape], ..Checks::NONE })
};

/// Levels with files that a tree should have. Our choice.
const LEVELS: usize = 3;

/// Returns whether nothing but reading and maintenance lies between a full compaction and a step.
fn is_compacted(run: &RunRecord, index: u32) -> bool {
    let mut before = run.steps.iter().filter(|step| step.index < index);
    let last = before.rfind(|step| step.step.name == name::COMPACT || step.role().writes());
    last.is_some_and(|step| step.step.name == name::COMPACT)
}

fn shape(context: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    let levels = step.before.levels.as_ref().filter(|_| step.role() == StepRole::Read)?;
    let filled = levels.iter().filter(|level| level.files > 0);
    let (levels, files) = (filled.clone().count(), filled.map(|level| level.files).sum::<u64>());
    let severity = match levels {
        1 if is_compacted(context.run, step.index) => Severity::Warning,
        1.. if levels < LEVELS => Severity::Note,
        _ => return None,
    };
    let count = |count: u64, thing| format!("{count} {thing}{}", if count == 1 { "" } else { "s" });
    let evidence =
        format!("the tree has {} in {}", count(files, "file"), count(levels as u64, "level"));
    Some(Observation::new(evidence).severity(severity).ranked("", -float(levels)))
}

#[cfg(test)]
mod tests {
    use model::state::LevelShape;

    use super::*;
    use crate::testing::{experiment, in_runs, runs, step};

    fn with(before: &str, files: &[u64]) -> Vec<(Severity, String)> {
        let mut runs = runs(&["a"]);
        for run in &mut runs {
            let mut reads = step("readrandom");
            let level = |(level, files): (u32, &u64)| LevelShape { level, files: *files, bytes: 1 };
            reads.before.levels = Some((0..).zip(files).map(level).collect());
            reads.index = 1;
            run.steps = vec![step(before), reads];
        }
        in_runs(&RULE, &experiment(&["a"]), &runs)
    }

    #[test]
    fn a_tree_of_one_level_after_a_compaction_is_reported() {
        assert_eq!(with("settle", &[2, 4, 8]), []);
        let evidence = "readrandom of a: the tree has 7 files in 1 level (3 runs)";
        assert_eq!(with("compact", &[0, 0, 7]), [(Severity::Warning, evidence.to_owned())]);
        assert_eq!(with("settle", &[0, 0, 7])[0].0, Severity::Note);
        assert_eq!(with("settle", &[2, 0, 7])[0].0, Severity::Note);
    }
}
