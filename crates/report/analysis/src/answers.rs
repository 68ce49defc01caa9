//! The effects that answer a comparison's question, and whether they could.

use stats::Effect;

use crate::comparison::{Comparison, StepComparison};

/// An effect that answers the question.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    /// Its step.
    pub step: &'a StepComparison,
    /// A variant against the base.
    pub effect: &'a Effect,
}

impl Comparison {
    /// Returns the effects of the steps' own metrics, for every variant; not blocked ones.
    ///
    /// The control answers where there is no other variant.
    pub fn answers(&self) -> Vec<Answer<'_>> {
        let is_other = |name: &str| name != self.base && self.control.as_deref() != Some(name);
        let is_alone = !self.variants.iter().any(|one| is_other(&one.name));
        let mut answers = Vec::new();
        for step in self.steps.iter().filter(|step| self.answering.contains(&step.name)) {
            for cell in step.cells.iter().filter(|cell| is_alone || is_other(&cell.variant)) {
                let effect = |metric| cell.metric(metric)?.versus_base.as_ref();
                let own = step.own_metrics().filter_map(effect);
                let own = own.filter(|effect| !effect.is_blocked);
                answers.extend(own.map(|effect| Answer { step, effect }));
            }
        }
        answers
    }

    /// Returns whether no difference was decided, and a doubling could not have been.
    ///
    /// Published findings are questions too.
    pub fn has_decided_nothing(&self) -> bool {
        let published = self.published.iter().flat_map(|held| &held.findings);
        let mut published = published.filter_map(|one| Some(one.here.as_ref().ok()?.effect));
        let answers = self.answers();
        !answers.is_empty()
            && !answers.iter().any(|one| one.effect.shows_a_doubling())
            && !published.any(|effect| effect.shows_a_doubling())
    }
}

#[cfg(test)]
mod tests {
    use model::{RunRecord, StepRecord};

    use crate::noise::NoiseHistory;
    use crate::testing::{experiment, run, step};
    use crate::{Comparison, compare};

    /// Three runs of each variant: a load that is alike, then reads that vary by a factor of 40,
    /// and of `b` so many times as many.
    fn compared(names: &[&str], has_control: bool, times: u64) -> Comparison {
        let mut spec = experiment(names, 3);
        spec.steps.insert(0, step(0, "fillseq").step);
        spec.variants.iter_mut().skip(1).take(1).for_each(|one| one.is_control = has_control);
        let of = |name: &&str| -> Vec<RunRecord> {
            let times = if *name == "b" { times } else { 1 };
            let one = |(repetition, ops): (u32, u64)| {
                let mut run = run(name, repetition, ops * times);
                run.steps[0].index = 1;
                let load = StepRecord { index: 0, ..step(0, "fillseq") };
                run.steps.insert(0, load);
                run
            };
            (1..).zip([1_000, 40_000, 6_000]).map(one).collect()
        };
        let runs: Vec<RunRecord> = names.iter().flat_map(of).collect();
        compare(&runs, &spec, "a", &NoiseHistory::default()).unwrap()
    }

    #[test]
    fn steps_that_answer_decide_whether_anything_was_decided() {
        let two = compared(&["a", "b"], false, 1);
        let [only] = &two.answers()[..] else { panic!("{:?}", two.answers()) };
        assert!(only.step.name == "readrandom" && only.effect.detectable > 1.0, "{only:?}");
        assert!(two.has_decided_nothing(), "the load is alike, and answers nothing");
        let found = compared(&["a", "b"], false, 1_000_000);
        assert!(!found.has_decided_nothing(), "{:?}", found.answers());
        assert!(!compared(&["a"], false, 1).has_decided_nothing(), "one variant has no question");
    }

    #[test]
    fn control_answers_where_it_is_alone() {
        assert!(compared(&["a", "twin"], true, 1).has_decided_nothing());
        let three = compared(&["a", "twin", "b"], true, 1_000_000);
        assert_eq!(three.answers().len(), 1);
        assert!(!three.has_decided_nothing());
    }

    #[test]
    fn blocked_effects_answer_nothing() {
        let mut two = compared(&["a", "b"], false, 1);
        for one in two.steps[1].cells[1].metrics.values_mut() {
            one.versus_base.as_mut().unwrap().is_blocked = true;
        }
        assert!(two.answers().is_empty() && !two.has_decided_nothing());
    }
}
