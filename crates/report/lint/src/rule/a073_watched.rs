//! A073: a page showed a run while it was measured.

use model::WATCHED;
use model::record::Severity;

use super::{Checks, Observation, Rule};
use crate::context::RunContext;

pub(crate) static RULE: Rule = Rule {
    code: "A073",
    name: "watched",
    severity: Severity::Note,
    trigger: "a page of `assay serve` showed the run while the run was measured",
    why: "Once a second the server of the page reads the results that the run has written, and the \
          browser draws these results. If the server or the browser is on the host of the run, the \
          run may lack the CPU time that they use.",
    remedy: "open the page between runs, or let the server run on another host that has the \
             archive mounted, if differences of a few percent matter",
    source: "our choice: each reader of a run uses CPU time of the reader's host",
    ..Rule::of(Checks { run: Some(run), ..Checks::NONE })
};

fn run(context: &RunContext<'_>) -> Vec<Observation> {
    let facts = context.run.identity.as_ref().map(|identity| &identity.facts);
    let is_watched = facts.is_some_and(|facts| facts.contains_key(WATCHED));
    let evidence = "a page of `assay serve` showed the run while it was measured";
    is_watched.then(|| Observation::new(evidence.to_owned())).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{experiment, in_runs, runs};

    #[test]
    fn a_run_that_a_page_showed_has_a_note() {
        let mut all = runs(&["a"]);
        assert_eq!(in_runs(&RULE, &experiment(&["a"]), &all), []);
        let identity = all[0].identity.get_or_insert_default();
        identity.facts.insert(WATCHED.to_owned(), "true".to_owned());
        let found = in_runs(&RULE, &experiment(&["a"]), &all);
        let [(severity, evidence)] = &found[..] else { panic!("one: {found:?}") };
        assert_eq!(*severity, Severity::Note);
        assert!(evidence.contains("showed the run"), "{evidence}");
    }
}
