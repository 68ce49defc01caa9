//! Steps with several operations in flight per client.

use model::{Load, StepRecord};

use crate::input::Compared;
use crate::label::step_heading;

/// Returns the note on a comparison's pipelined steps; `None` without any.
pub(crate) fn pipelined_steps(compared: &Compared<'_>) -> Option<String> {
    let comparison = compared.comparison;
    sentence(comparison.steps.iter().filter_map(|step| {
        Some((step_heading(comparison, step), depth(compared.all_records(step).first()?)?))
    }))
}

/// Returns the note on the pipelined steps of one run.
pub(crate) fn run_pipelined_steps<'r>(
    steps: impl IntoIterator<Item = &'r StepRecord>,
) -> Option<String> {
    let pipelined =
        steps.into_iter().filter_map(|step| Some((step.step.name.clone(), depth(step)?)));
    sentence(pipelined)
}

const fn depth(record: &StepRecord) -> Option<u32> {
    if let Load::Pipelined(depth) = record.step.load { Some(depth) } else { None }
}

fn sentence(steps: impl Iterator<Item = (String, u32)>) -> Option<String> {
    let parts: Vec<_> = steps.map(|(step, depth)| format!("{depth} in {step}")).collect();
    (!parts.is_empty()).then(|| {
        format!(
            "Operations in flight per client: {}; the time of an operation includes its wait \
             behind earlier operations.",
            parts.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use model::{Step, StopRule};

    use super::*;

    #[test]
    fn pipelined_steps_are_named_with_their_depth() {
        let step = |name: &str, load| {
            let step = Step { load, ..Step::new(name, StopRule::Operations(1)) };
            StepRecord::new(0, step)
        };
        let steps = [step("a", Load::Closed), step("b", Load::Pipelined(16))];
        assert_eq!(run_pipelined_steps(&steps[..1]), None);
        assert_eq!(
            run_pipelined_steps(&steps).unwrap(),
            "Operations in flight per client: 16 in b; the time of an operation includes its wait \
             behind earlier operations."
        );
    }
}
