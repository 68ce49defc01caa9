//! A041: a search that found nothing.

use model::record::Severity;

use super::Rule;

/// No rate or number of clients kept the limit.
pub(crate) static RULE: Rule = Rule {
    code: "A041",
    name: "search found nothing",
    severity: Severity::Warning,
    trigger: "a search ended without a rate, or a number of clients, that keeps the limit",
    why: "Nothing was confirmed, so there is nothing to compare: the step has no figures.",
    remedy: "loosen the limit, or see in the probes what broke it (assay show)",
    source: "reference, analysis, section 5.3",
    is_recorded: true,
    ..Rule::SILENT
};

#[cfg(test)]
mod tests {
    use model::record::Finding;

    use super::*;
    use crate::testing::when;

    #[test]
    fn what_the_runner_recorded_is_told() {
        assert_eq!(when(&RULE, |_| ()), []);
        let told = when(&RULE, |step| {
            step.findings.push(Finding {
                code: "A041".to_owned(),
                severity: Severity::Warning,
                evidence: "found nothing that keeps p99 < 2 ms in 9 probes".to_owned(),
                remedy: "loosen the limit".to_owned(),
            });
        });
        let evidence = "readrandom of b: found nothing that keeps p99 < 2 ms in 9 probes (3 runs)";
        assert_eq!(told, [(Severity::Warning, evidence.to_owned())]);
    }
}
