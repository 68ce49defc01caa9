//! A053: queries returned another number of rows than they should.

use super::{Checks, Rule, code};

/// Rows per query differ from what the application expects.
pub(crate) static RULE: Rule = Rule {
    code: code::A053,
    name: "rows per query",
    trigger: "a procedure returns, on average, another number of rows than its application expects",
    why: "A query that finds fewer rows than intended is cheaper. The table has gaps, or it is not \
          the table that was loaded.",
    remedy: "read the rows of the step in `assay show`; where deletes leave gaps, queries find \
             fewer rows by design, and the step is comparable only with steps whose queries find \
             as many rows",
    source: "our choice: the insert benchmark prints rows per query and does not check them",
    ..Rule::of(Checks::NONE)
};

#[cfg(test)]
mod tests {
    use model::record::{Finding, Severity};

    use super::*;
    use crate::testing::when;

    #[test]
    fn findings_of_the_runner_are_reported() {
        let with = |code: &str| {
            when(&RULE, |step| {
                step.findings.push(Finding {
                    code: code.to_owned(),
                    severity: Severity::Warning,
                    evidence: "9.1 rows per query in place of 10".to_owned(),
                    remedy: "find".to_owned(),
                });
            })
        };
        assert_eq!(with("A014"), []);
        let evidence = "readrandom of b: 9.1 rows per query in place of 10 (3 runs)";
        assert_eq!(with("A053"), [(Severity::Warning, evidence.to_owned())]);
    }
}
