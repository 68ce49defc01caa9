//! Words for what became of a finding.

use analysis::{HeldFinding, Reproduction, Unmeasured};
use model::units::clients;
use model::{Expected, PublishedFinding};
use stats::Why;

use super::told::{Finding, Publication};
use crate::figure::{declared, percent};
use crate::input::Compared;

/// Returns the outcome in a few words; for what is bogus that there is none.
pub(crate) fn verdict(compared: &Compared<'_>, finding: &Finding<'_>) -> &'static str {
    match compared.reproduction(finding.verdict) {
        None => "no verdict",
        Some(Reproduction::Reproduces) => "reproduces",
        Some(Reproduction::SameDirection) => "same direction, other size",
        Some(Reproduction::Opposite) => "opposite",
        Some(Reproduction::NoDifference) => "not seen",
        Some(Reproduction::Differs) => "differs here",
        Some(Reproduction::Undecided) => "undecided",
        Some(Reproduction::NotMeasured) => "not measured",
    }
}

/// Returns why a finding was not tried, or will not be.
#[must_use]
pub fn unmeasured(finding: &PublishedFinding, why: &Unmeasured) -> String {
    match why {
        Unmeasured::NoVariant(name) => format!("there is no variant {name}"),
        Unmeasured::NoStep => match &finding.distribution {
            Some(distribution) => format!("there is no step {} ({distribution})", finding.step),
            None => format!("there is no step {}", finding.step),
        },
        Unmeasured::NoLevel => match finding.clients {
            Some(level) => format!("there is no level of {}", clients(level)),
            None => "there are several levels of clients, and it names none".to_owned(),
        },
        Unmeasured::IsGiven => {
            "the rate is given: what is done per second tells nothing of the engines".to_owned()
        }
        Unmeasured::NoRun(name) => format!("no run of {name} that counts finished the step"),
        Unmeasured::NoMetric(name) => format!("no run of {name} knows {} there", finding.metric),
        Unmeasured::NoRatio { base, .. } => {
            let zero = if base.min > 0.0 { &finding.variant } else { &finding.base };
            format!("a run of {zero} gave 0: there is no ratio")
        }
    }
}

/// Returns why a finding is undecided, with what would have been seen.
pub(super) fn undecided(compared: &Compared<'_>, held: &HeldFinding) -> String {
    let Ok(here) = &held.here else { return String::new() };
    if here.is_of_one_run() {
        return "one run alone tells nothing of the noise".to_owned();
    }
    let comparison = compared.comparison;
    let effect = &here.effect;
    let told = match effect.why {
        Some(Why::OneRun) => "one run each tells nothing of the noise".to_owned(),
        Some(Why::NoSpread) => "all runs gave one value: nothing is known of the noise".to_owned(),
        Some(Why::ShapeDependent) => "ranks say otherwise than means".to_owned(),
        Some(Why::Family) => "among so many findings one such difference is chance".to_owned(),
        Some(Why::Wide) | None => match held.published.expected {
            Expected::Same => {
                format!("the interval reaches beyond the margin of {}", declared(comparison.margin))
            }
            Expected::Ratio(_) | Expected::Higher | Expected::Lower => format!(
                "the interval holds 1: a difference of {} would have been seen four times in five",
                percent(effect.detectable)
            ),
        },
    };
    let is_outside = match (held.published.expected, effect.interval) {
        (Expected::Ratio(ratio), Some(of)) => {
            !analysis::published::holds(&of, ratio, comparison.margin)
        }
        (_, _) => false,
    };
    if is_outside { format!("{told}; the published ratio lies outside of it") } else { told }
}

/// Returns what the table's figures and verdicts mean: those verdicts alone that are there.
pub(crate) fn legend(compared: &Compared<'_>, publications: &[Publication<'_>]) -> String {
    let findings = || publications.iter().flat_map(|one| &one.findings);
    let is_there = |wanted: Reproduction| {
        findings().any(|one| compared.reproduction(one.verdict) == Some(wanted))
    };
    let margin = declared(compared.comparison.margin);
    let tried = findings().filter(|one| one.here.is_some()).count();
    let among = if tried > 1 { format!(", adjusted for {tried} findings") } else { String::new() };
    let mut said = vec![format!("Here: medians, ratio of geometric means [95 % interval]{among}.")];
    let mut say = |outcome: Reproduction, words: String| {
        if is_there(outcome) {
            said.push(words);
        }
    };
    say(Reproduction::Reproduces, reproduces(findings(), &margin));
    say(
        Reproduction::SameDirection,
        "Other size: it excludes 1 on that side, and does not hold the ratio.".to_owned(),
    );
    say(Reproduction::Opposite, "Opposite: it excludes 1 on the other side.".to_owned());
    say(
        Reproduction::NoDifference,
        format!("Not seen: whatever difference there is, is within {margin} (90 % interval)."),
    );
    say(
        Reproduction::Differs,
        format!("Differs here: published as the same, and {margin} apart or more."),
    );
    said.join(" ")
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
    let told = [
        has(|one| matches!(one, Expected::Ratio(_))).then_some(size.as_str()),
        has(|one| matches!(one, Expected::Higher | Expected::Lower)).then_some(direction),
        has(|one| *one == Expected::Same).then_some(same.as_str()),
    ];
    let told: Vec<&str> = told.into_iter().flatten().collect();
    format!("Reproduces: {}.", told.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_measured_says_what_is_missing() {
        let finding = PublishedFinding {
            claim: String::new(),
            variant: "a".to_owned(),
            base: "b".to_owned(),
            step: "readrandom".to_owned(),
            distribution: Some("zipf:0.9".to_owned()),
            clients: Some(4),
            metric: "cpu_us_per_op".to_owned(),
            value: None,
            base_value: None,
            expected: Expected::Higher,
            reasons: Vec::new(),
        };
        let said = |why: Unmeasured| unmeasured(&finding, &why);
        assert_eq!(said(Unmeasured::NoStep), "there is no step readrandom (zipf:0.9)");
        assert_eq!(said(Unmeasured::NoLevel), "there is no level of 4 clients");
        let name = || "a".to_owned();
        assert_eq!(said(Unmeasured::NoVariant(name())), "there is no variant a");
        let said = said(Unmeasured::NoMetric(name()));
        assert_eq!(said, "no run of a knows cpu_us_per_op there");
        let any = PublishedFinding { clients: None, distribution: None, ..finding };
        let said = unmeasured(&any, &Unmeasured::NoLevel);
        assert_eq!(said, "there are several levels of clients, and it names none");
        assert_eq!(unmeasured(&any, &Unmeasured::NoStep), "there is no step readrandom");
    }
}
