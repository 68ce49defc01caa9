//! A041: a search that found nothing.

use model::record::Severity;

use super::{Checks, Rule, code};

/// No rate or number of clients was within the limit.
pub(crate) static RULE: Rule = Rule {
    code: code::A041,
    name: "search found nothing",
    severity: Severity::Warning,
    trigger: "a search ended and found no rate, or no number of clients, that meets the latency \
              limit",
    why: "The search confirmed no value, so the step has no figures to compare.",
    remedy: "loosen the limit, or find in the probes what exceeded the limit (assay show)",
    source: "our choice: an unconfirmed rate is not a result",
    ..Rule::of(Checks::NONE)
};

#[cfg(test)]
mod tests {
    use model::record::Finding;

    use super::*;
    use crate::testing::when;

    #[test]
    fn findings_of_the_runner_are_reported() {
        assert_eq!(when(&RULE, |_| ()), []);
        let found = when(&RULE, |step| {
            step.findings.push(Finding {
                code: RULE.code.to_owned(),
                severity: Severity::Warning,
                evidence: "found nothing within p99 < 2 ms in 9 probes".to_owned(),
                remedy: "loosen the limit".to_owned(),
            });
        });
        let evidence = "readrandom of b: found nothing within p99 < 2 ms in 9 probes (3 runs)";
        assert_eq!(found, [(Severity::Warning, evidence.to_owned())]);
    }
}
