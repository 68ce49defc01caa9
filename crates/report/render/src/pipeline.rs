//! Which steps had several operations in flight per client.

use model::{Load, StepRecord};

use crate::input::Compared;
use crate::label::step_heading;

/// Returns what must be known of the times of a comparison's pipelined steps; `None` without any.
pub(crate) fn compared_ahead(compared: &Compared<'_>) -> Option<String> {
    let comparison = compared.comparison;
    sentence(comparison.steps.iter().filter_map(|step| {
        let variants = comparison.variants.iter();
        let mut records = variants.flat_map(|variant| compared.records(step, &variant.name));
        Some((step_heading(comparison, step), depth(records.next()?)?))
    }))
}

/// Returns the same of one run.
pub(crate) fn run_ahead<'r>(steps: impl IntoIterator<Item = &'r StepRecord>) -> Option<String> {
    let ahead = steps.into_iter().filter_map(|step| Some((step.step.name.clone(), depth(step)?)));
    sentence(ahead)
}

const fn depth(record: &StepRecord) -> Option<u32> {
    if let Load::Pipelined(depth) = record.step.load { Some(depth) } else { None }
}

fn sentence(steps: impl Iterator<Item = (String, u32)>) -> Option<String> {
    let told: Vec<_> = steps.map(|(step, depth)| format!("{depth} in {step}")).collect();
    (!told.is_empty()).then(|| {
        format!(
            "Operations in flight per client: {}; their times hold the wait behind those sent before.",
            told.join(", ")
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
        assert_eq!(run_ahead(&steps[..1]), None);
        assert_eq!(
            run_ahead(&steps).unwrap(),
            "Operations in flight per client: 16 in b; their times hold the wait behind those sent \
             before."
        );
    }
}
