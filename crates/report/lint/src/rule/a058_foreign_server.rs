//! A058: a server that Assay did not start.

use super::{Rule, Seen};
use crate::context::PlanContext;

/// A variant is a server that runs already, somewhere.
pub(crate) static RULE: Rule = Rule {
    code: "A058",
    name: "foreign server",
    trigger: "a variant is given by a `dsn`: Assay did not start its server",
    why: "Its machine, its options, its other users and what was done to it before are not in the \
          record; nor are its CPU, memory and storage.",
    remedy: "keep its configuration with the results; compare with the same server before and after \
             a change, not with servers that Assay starts",
    source: "reference, insert-benchmark, section 5, points 17 and 35 (what is typed by hand, what \
             is not copied into the result)",
    plan: Some(plan),
    ..Rule::SILENT
};

fn plan(context: &PlanContext<'_>) -> Vec<Seen> {
    let tell = |variant: &model::Variant| {
        let dsn = variant.dsn.as_ref()?;
        let evidence = format!(
            "{} was not started by Assay: its machine, options and costs are not known",
            dsn.address
        );
        Some(Seen::new(evidence).variant(&variant.name))
    };
    context.experiment.variants.iter().filter_map(tell).collect()
}

#[cfg(test)]
mod tests {
    use model::record::Severity;
    use model::server::{Address, Dsn};

    use super::*;
    use crate::testing::{in_plan, on_builds};

    #[test]
    fn a_server_that_was_there_before_is_doubted() {
        let mut asked = on_builds(&[("a", "postgres")]);
        assert_eq!(in_plan(&RULE, &asked), []);
        asked.variants[0].dsn = Some(Dsn {
            address: Address::Tcp { host: "db.example".to_owned(), port: 5432 },
            user: "bench".to_owned(),
            database: "bench".to_owned(),
            password: None,
            password_from: None,
            has_password: true,
        });
        let evidence = "a: db.example:5432 was not started by Assay: its machine, options and costs are \
                    not known";
        assert_eq!(in_plan(&RULE, &asked), [(Severity::Warning, evidence.to_owned())]);
    }
}
