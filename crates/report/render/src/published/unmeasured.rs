//! Why a published finding was not measured here.

use analysis::Unmeasured;
use model::units::clients;
use model::{PublishedFinding, shell_word};

/// Returns why a finding was not tried, or will not be.
pub fn unmeasured(finding: &PublishedFinding, why: &Unmeasured) -> String {
    match why {
        Unmeasured::NotAtSize(size) => {
            let sizes: Vec<_> = finding.sizes.iter().map(|size| shell_word(size)).collect();
            format!("not tested at size {size}; decided by --size {}", sizes.join(" or "))
        }
        Unmeasured::NoVariant(name) => format!("there is no variant {name}"),
        Unmeasured::NoStep => match &finding.distribution {
            Some(distribution) => format!("there is no step {} ({distribution})", finding.step),
            None => format!("there is no step {}", finding.step),
        },
        Unmeasured::NoLevel(level) => match level {
            Some(level) => format!("there is no level of {}", clients(*level)),
            None => "there are several numbers of clients, and the finding does not name \
                     one"
            .to_owned(),
        },
        Unmeasured::IsGiven => {
            "the rate is given, so throughput does not depend on the engine".to_owned()
        }
        Unmeasured::NoRun(name) => format!("no run of {name} that counts finished the step"),
        Unmeasured::NoMetric(name) => format!(
            "no run of {name} measured {} in that \
                                               step",
            finding.metric
        ),
        Unmeasured::MissedRate(name) => {
            format!(
                "background writers of {name} missed their rate, so its readers ran under a \
                     lighter load"
            )
        }
        Unmeasured::NoRatio { base, .. } => {
            let zero = if base.min > 0.0 { &finding.variant } else { &finding.base };
            format!("a run of {zero} gave 0, so there is no ratio")
        }
    }
}

#[cfg(test)]
mod tests {
    use model::Expected;

    use super::*;

    #[test]
    fn unmeasured_finding_states_what_is_missing() {
        let finding = PublishedFinding {
            claim: String::new(),
            variant: "a".to_owned(),
            base: "b".to_owned(),
            step: "readrandom".to_owned(),
            distribution: Some("zipf:0.9".to_owned()),
            occurrence: None,
            clients: Some(4),
            base_clients: None,
            metric: "cpu_us_per_op".to_owned(),
            value: None,
            base_value: None,
            expected: Expected::Higher,
            sizes: vec!["night".to_owned(), "post".to_owned()],
            reasons: Vec::new(),
        };
        let reason = |why: Unmeasured| unmeasured(&finding, &why);
        assert_eq!(reason(Unmeasured::NoStep), "there is no step readrandom (zipf:0.9)");
        assert_eq!(reason(Unmeasured::NoLevel(Some(4))), "there is no level of 4 clients");
        let name = || "a".to_owned();
        let elsewhere = reason(Unmeasured::NotAtSize("minutes".to_owned()));
        assert_eq!(elsewhere, "not tested at size minutes; decided by --size night or post");
        assert_eq!(reason(Unmeasured::NoVariant(name())), "there is no variant a");
        let late = reason(Unmeasured::MissedRate(name()));
        assert_eq!(
            late,
            "background writers of a missed their rate, so its readers ran under a \
                          lighter load"
        );
        let reason = reason(Unmeasured::NoMetric(name()));
        assert_eq!(reason, "no run of a measured cpu_us_per_op in that step");
        let any = PublishedFinding { clients: None, distribution: None, ..finding };
        let reason = unmeasured(&any, &Unmeasured::NoLevel(None));
        assert_eq!(
            reason,
            "there are several numbers of clients, and the finding does not name \
                            one"
        );
        assert_eq!(unmeasured(&any, &Unmeasured::NoStep), "there is no step readrandom");
    }
}
