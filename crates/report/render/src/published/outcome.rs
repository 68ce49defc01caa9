//! Outcomes of published findings in words.

use analysis::Reproduction;
use model::Expected;

use super::publication::{Finding, Publication};
use crate::figure::declared;
use crate::input::Compared;

/// Returns the outcome in a few words.
pub(crate) fn verdict(compared: &Compared<'_>, finding: &Finding<'_>) -> &'static str {
    match compared.reproduction(finding.verdict) {
        None => "no verdict",
        Some(Reproduction::Reproduces) => "reproduces",
        Some(Reproduction::SameDirection) => "same direction, other size",
        Some(Reproduction::Opposite) => "opposite",
        Some(Reproduction::NoDifference) => "no difference",
        Some(Reproduction::Differs) => "differs here",
        Some(Reproduction::Undecided) => "undecided",
        Some(Reproduction::NotMeasured) => "not measured",
    }
}

/// Returns the meaning of the figures and of the verdicts present.
pub(crate) fn legend(compared: &Compared<'_>, publications: &[Publication<'_>]) -> String {
    let findings = || publications.iter().flat_map(|one| &one.findings);
    let is_there = |wanted: Reproduction| {
        findings().any(|one| compared.reproduction(one.verdict) == Some(wanted))
    };
    let margin = declared(compared.comparison.margin);
    let tried = findings().filter(|one| one.here.is_some()).count();
    let among = if tried > 1 { format!(", adjusted for {tried} findings") } else { String::new() };
    let mut parts =
        vec![format!("Here: medians, ratio of geometric means [95 % interval]{among}.")];
    let mut add = |outcome: Reproduction, text: String| {
        if is_there(outcome) {
            parts.push(text);
        }
    };
    add(Reproduction::Reproduces, reproduces(findings(), &margin));
    add(
        Reproduction::SameDirection,
        "Other size: it excludes 1 on that side, and does not hold the ratio.".to_owned(),
    );
    add(Reproduction::Opposite, "Opposite: it excludes 1 on the other side.".to_owned());
    add(
        Reproduction::NoDifference,
        format!("No difference: the 90 % interval lies within {margin}."),
    );
    add(
        Reproduction::Differs,
        format!("Differs here: published as the same, and {margin} apart or more."),
    );
    add(
        Reproduction::Undecided,
        "Undecided: the interval allows either outcome, or there is none.".to_owned(),
    );
    parts.join(" ")
}

/// Returns when a finding reproduces: with a size, a direction or none, as those here have.
fn reproduces<'a>(all: impl Iterator<Item = &'a Finding<'a>>, margin: &str) -> String {
    let of_those: Vec<Expected> = all
        .filter(|one| one.verdict == Reproduction::Reproduces)
        .map(|one| one.published.expected)
        .collect();
    let has = |is: fn(&Expected) -> bool| of_those.iter().any(is);
    let size = format!(
        "the interval excludes 1 on the published side and, widened by the margin of {margin}, \
         holds the published ratio"
    );
    let direction = if has(|one| matches!(one, Expected::Ratio(_))) {
        "without a ratio the side is enough"
    } else {
        "the interval excludes 1 on the published side"
    };
    let same = format!("what was the same differs by less than {margin} (90 % interval)");
    let parts = [
        has(|one| matches!(one, Expected::Ratio(_))).then_some(size.as_str()),
        has(|one| matches!(one, Expected::Higher | Expected::Lower)).then_some(direction),
        has(|one| *one == Expected::Same).then_some(same.as_str()),
    ];
    let parts: Vec<&str> = parts.into_iter().flatten().collect();
    format!("Reproduces: {}.", parts.join("; "))
}
