//! What the runs of an undecided comparison could have shown, and what to do.

use analysis::Answer;
use lint::LintFinding;
use model::record::Severity;
use model::{ShellCommand, rule_code, times};

use crate::figure::declared;
use crate::input::Compared;
use crate::label::step_heading;

/// Returns the smallest differences the design detects, the margin, a busy host, the remedy.
pub(crate) fn undecided(compared: &Compared<'_>) -> String {
    let comparison = compared.comparison;
    let mut all = comparison.answers();
    all.sort_by(|one, other| one.effect.detectable.total_cmp(&other.effect.detectable));
    let place = |one: &Answer<'_>| {
        let detectable = times(1.0 + one.effect.detectable);
        format!("{detectable} ({})", step_heading(comparison, one.step))
    };
    let range = match &all[..] {
        [first, .., last] if place(first) != place(last) => {
            format!("{} to {}", place(first), place(last))
        }
        all => all.first().map(place).unwrap_or_default(),
    };
    let is_busy =
        |one: &&LintFinding| one.code == rule_code::A021 && one.weight() == Severity::Warning;
    let busy = compared.findings.iter().find(is_busy);
    let busy =
        busy.map_or_else(String::new, |one| format!(" The host was busy: {}.", one.evidence));
    let margin = declared(comparison.margin);
    let remedy = match comparison.machines {
        Some(_) => "on more machines (assay plan --on TARGET)".to_owned(),
        None => format!(
            "on a quieter host, for longer or more often (assay plan --half-width {})",
            margin.replace(' ', "")
        ),
    };
    format!(
        "The smallest difference these runs could show is {range}; the margin is {margin}.{busy} \
         Repeat {remedy}, and see the warnings ({}).",
        ShellCommand::of("assay lint").operands(&compared.meta.selection)
    )
}

#[cfg(test)]
mod tests {
    use stats::{Effect, Verdict, Why};

    use super::super::testing::{Sample, effect, open};
    use crate::trust::headline;

    fn text(own: &[f64], control: Option<f64>) -> String {
        let with = |detectable| {
            open(1.1, 0.2, 6.0, Why::Wide).map(|effect| Effect { detectable, ..effect })
        };
        let mut cells: Vec<_> = own.iter().map(|one| ("new", 3, with(*one))).collect();
        cells.extend(control.map(|one| ("old-again", 3, with(one))));
        let sample = Sample::of(&cells);
        let sample = if control.is_some() { sample.control("old-again") } else { sample };
        sample.with(headline)
    }

    #[test]
    fn headline_has_the_range_of_detectable_differences_and_the_remedy() {
        insta::assert_snapshot!(text(&[4.96, 3_702_870.41], None), @"Verdict: NOTHING DECIDED. The smallest difference these runs could show is 6.0x (readrandom) to 3.7 million x (readrandom); the margin is 2 %. Repeat on a quieter host, for longer or more often (assay plan --half-width 2%), and see the warnings (assay lint sample).");
        assert!(text(&[2.0], None).contains(" could show is 3.0x (readrandom); the margin"));
    }

    #[test]
    fn one_question_that_shows_a_doubling_leaves_the_label() {
        assert!(text(&[4.96, 0.9], None).starts_with("Verdict: TRUE."));
        let found = effect(9.0, 1.1, 72.0, Verdict::Above);
        let found = found.map(|effect| Effect { detectable: 9.0, ..effect });
        let sample = Sample::of(&[("new", 3, found)]);
        assert!(sample.with(headline).starts_with("Verdict: TRUE."));
    }

    #[test]
    fn control_answers_only_where_nothing_else_does() {
        assert!(text(&[4.96], Some(0.1)).starts_with("Verdict: NOTHING DECIDED."));
        assert!(text(&[], Some(4.96)).starts_with("Verdict: NOTHING DECIDED."));
        assert!(text(&[0.1], Some(4.96)).starts_with("Verdict: TRUE."));
    }
}
