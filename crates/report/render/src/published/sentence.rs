//! The number of reproduced findings in one sentence.

use analysis::Reproduction;
use model::units::many;

use super::publication::{Finding, Publication};
use crate::input::Compared;
use crate::sentence::list;
use crate::trust::blocking;

/// Returns the sentence that counts: `Of 6 published findings, 3 reproduce and 3 are undecided.`
pub(crate) fn sentence(compared: &Compared<'_>, publications: &[Publication<'_>]) -> String {
    let all: Vec<Option<Reproduction>> =
        publications.iter().flat_map(|one| &one.findings).map(Finding::outcome).collect();
    let verdicts: Vec<Reproduction> = all.iter().copied().flatten().collect();
    let is_measured = |one: &Reproduction| *one != Reproduction::NotMeasured;
    let without = all.len() - verdicts.len();
    if without == 0 {
        return counted(&verdicts);
    }
    let has_some = verdicts.iter().any(is_measured);
    let without = if has_some { without } else { all.len() };
    let blocked = format!(
        "No verdict on {}: blocked by {}.",
        many(without, "published finding"),
        blocking(compared, None, true)
    );
    if has_some { format!("{} {blocked}", counted(&verdicts)) } else { blocked }
}

/// Returns how many findings have each outcome.
fn counted(verdicts: &[Reproduction]) -> String {
    let all = verdicts.len();
    let counts = Reproduction::ALL.into_iter().filter_map(|outcome| {
        let count = verdicts.iter().filter(|verdict| **verdict == outcome).count();
        (count > 0).then(|| (count, predicate(outcome, count)))
    });
    let counts: Vec<(usize, &str)> = counts.collect();
    match &counts[..] {
        [(1, predicate)] => format!("The one published finding {predicate}."),
        [(count, predicate)] => format!("All {count} published findings {predicate}."),
        parts => {
            let parts: Vec<String> =
                parts.iter().map(|(count, predicate)| format!("{count} {predicate}")).collect();
            format!("Of {all} published findings, {}.", list(&parts))
        }
    }
}

/// Returns the predicate of an outcome for that many findings.
const fn predicate(outcome: Reproduction, count: usize) -> &'static str {
    let (one, more) = match outcome {
        Reproduction::Reproduces => ("reproduces", "reproduce"),
        Reproduction::SameDirection => {
            ("has the same direction and another size", "have the same direction and another size")
        }
        Reproduction::SizeUndecided => (
            "has the same direction, and its size is undecided",
            "have the same direction, and their size is undecided",
        ),
        Reproduction::Opposite => ("is the opposite here", "are the opposite here"),
        Reproduction::NoDifference => ("shows no difference", "show no difference"),
        Reproduction::Differs => {
            ("differs here, published as the same", "differ here, published as the same")
        }
        Reproduction::Undecided => ("is undecided", "are undecided"),
        Reproduction::NotMeasured => ("was not measured", "were not measured"),
    };
    if count == 1 { one } else { more }
}

#[cfg(test)]
mod tests {
    use Reproduction::{Differs, NoDifference, NotMeasured, Opposite, Reproduces, SameDirection};

    use super::*;

    #[test]
    fn findings_are_counted_by_their_outcomes_from_agreement_to_none() {
        assert_eq!(counted(&[Reproduces]), "The one published finding reproduces.");
        assert_eq!(counted(&[NoDifference; 3]), "All 3 published findings show no difference.");
        let two = [NotMeasured, Reproduces, NotMeasured];
        let expected = "Of 3 published findings, 1 reproduces and 2 were not measured.";
        assert_eq!(counted(&two), expected);
        let many = [Opposite, Reproduces, SameDirection, Reproduces, Differs, Opposite];
        let expected = "Of 6 published findings, 2 reproduce, 1 has the same direction and another \
                    size, 2 are the opposite here and 1 differs here, published as the same.";
        assert_eq!(counted(&many), expected);
    }
}
