//! Outcomes of published findings in words.

use analysis::Reproduction;

use super::publication::Publication;
use crate::figure::declared;
use crate::input::Compared;

/// Returns the outcome in a few words; `None` where a warning blocks it.
pub(crate) fn verdict(outcome: Option<Reproduction>) -> &'static str {
    outcome.map_or("no verdict", Reproduction::name)
}

/// The margin in words, for experiments that have one each.
pub(super) const MARGIN: &str = "the margin";

/// Returns the meaning of each outcome but for the last, with this margin in it.
pub(super) fn meanings(margin: &str) -> [(Reproduction, String); 7] {
    let widened = if margin == MARGIN { "" } else { "the margin of " };
    let reproduces = format!(
        "Reproduces: the interval excludes 1 on the published side, contains the published ratio \
         if widened by {widened}{margin}, and both limits of the 90 % interval differ from the \
         published ratio by less than half of the published difference (or {margin}); if only a \
         direction was published, the side of 1 is enough; a published equality reproduces if the \
         90 % interval lies within {margin}."
    );
    [
        (Reproduction::Reproduces, reproduces),
        (
            Reproduction::SameDirection,
            "Other size: the interval excludes 1 on the published side, and does not contain the \
             published ratio."
                .to_owned(),
        ),
        (
            Reproduction::SizeUndecided,
            "Size undecided: the interval excludes 1 on the published side and contains the \
             published ratio, but is too wide to decide the size."
                .to_owned(),
        ),
        (
            Reproduction::Opposite,
            "Opposite: the interval excludes 1 on the side opposite to the published side.".into(),
        ),
        (
            Reproduction::NoDifference,
            format!("No difference: the 90 % interval lies within {margin}."),
        ),
        (
            Reproduction::Differs,
            format!("Differs here: published as the same, and {margin} apart or more."),
        ),
        (
            Reproduction::Undecided,
            "Undecided: the interval is too wide for an outcome, or there is none, or the \
             difference is not significant among the findings."
                .to_owned(),
        ),
    ]
}

/// Returns the meaning of the figures and of the verdicts present.
pub(crate) fn legend(compared: &Compared<'_>, publications: &[Publication<'_>]) -> String {
    let findings = || publications.iter().flat_map(|one| &one.findings);
    let tried = findings().filter(|one| one.here.is_some()).count();
    let among = if tried > 1 { format!(", adjusted for {tried} findings") } else { String::new() };
    let is_there = |(outcome, _): &(Reproduction, String)| {
        findings().any(|one| one.outcome() == Some(*outcome))
    };
    let head = format!("Here: geometric means and their ratio [95 % interval]{among}.");
    let meanings = meanings(&declared(compared.comparison.margin)).into_iter();
    let present = meanings.filter(is_there).map(|(_, meaning)| meaning);
    std::iter::once(head).chain(present).collect::<Vec<_>>().join(" ")
}
