//! Folded stacks, as other flame graph programs read them.

use std::collections::BTreeMap;

use analysis::profile::Side;
use model::{Profile, Stack, visible};

/// Returns the samples as folded stacks: a line per stack, with its frames and the samples of all
/// runs, the base's before the shown variant's.
///
/// Source: [Gregg 2011], the format of folded stacks; [Gregg 2014], the format with two columns.
pub fn folded(shown: &Side<'_>, base: Option<&Side<'_>>) -> String {
    let sides: Vec<&Side<'_>> = base.into_iter().chain([shown]).collect();
    let mut lines: BTreeMap<String, [u64; 2]> = BTreeMap::new();
    for (number, side) in sides.iter().enumerate() {
        for run in &side.runs {
            for stack in run.profile.stacks() {
                let sum = &mut lines.entry(names(run.profile, stack)).or_default()[number];
                *sum = sum.saturating_add(stack.samples);
            }
        }
    }
    let columns = |samples: &[u64; 2]| -> String {
        samples[..sides.len()].iter().map(|samples| format!(" {samples}")).collect()
    };
    let line = |(stack, samples): (&String, &[u64; 2])| format!("{stack}{}\n", columns(samples));
    visible(&lines.iter().map(line).collect::<String>()).into_owned()
}

/// Returns the names of a stack from its target to the sampled function.
fn names(profile: &Profile, stack: &Stack) -> String {
    let frames = stack.frames.iter().map(|frame| profile.frame(*frame).function.as_str());
    let names: Vec<&str> = [stack.target.name(), &stack.thread].into_iter().chain(frames).collect();
    names.join(";")
}
