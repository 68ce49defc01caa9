//! A059: Assay, its worker or the machine was paused.

use super::{Checks, Rule, code};

/// Readings of a pause are left out.
pub(crate) static RULE: Rule = Rule {
    code: code::A059,
    name: "paused",
    trigger: "Assay, its worker or the machine was paused for half a second or more during a step",
    why: "Readings after the pause cover more time than their interval, so they would add the \
          device time and CPU of several intervals to one. Those readings are left out.",
    remedy: "let nothing pause Assay or its workers (Ctrl-Z, a debugger, a freezer, a suspend), \
             and repeat",
    source: "our choice: the limit of half an interval; the time between two readings may differ \
             from the interval by a tenth",
    ..Rule::of(Checks::NONE)
};

#[cfg(test)]
mod tests {
    use model::record::{Finding, Severity};

    use super::*;
    use crate::testing::when;

    #[test]
    fn a_recorded_pause_is_reported_and_none_is_silent() {
        assert_eq!(when(&RULE, |_| {}), []);
        let found = when(&RULE, |step| {
            step.findings.push(Finding {
                code: "A059".to_owned(),
                severity: Severity::Warning,
                evidence: "Assay was paused for 3.00 s".to_owned(),
                remedy: "repeat".to_owned(),
            });
        });
        let evidence = "readrandom of b: Assay was paused for 3.00 s (3 runs)";
        assert_eq!(found, [(Severity::Warning, evidence.to_owned())]);
    }
}
