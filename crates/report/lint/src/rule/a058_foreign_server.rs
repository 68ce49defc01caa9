//! A058: a server that Assay did not start.

use model::Variant;

use super::{Checks, Observation, Origin, Rule};
use crate::context::PlanContext;

pub(crate) static RULE: Rule = Rule {
    code: "A058",
    name: "foreign server",
    trigger: "a variant has a `dsn`, so Assay did not start its server",
    why: "The record lacks the server's machine, options, other users and earlier work. It has the \
          server's CPU, memory and storage only if the server runs on the machine of the run, and \
          Assay may read its processes.",
    remedy: "keep the server's configuration with the results; compare with the same server before \
             and after a change, not with servers that Assay starts",
    source: "our choice: a record without the server's configuration cannot be reproduced",
    ..Rule::of(Checks { origin: Origin::Chosen, variant: Some(foreign), ..Checks::NONE })
};

fn foreign(_: &PlanContext<'_>, variant: &Variant) -> Option<Observation> {
    let address = &variant.dsn.as_ref()?.address;
    Some(Observation::new(format!(
        "{address} was not started by Assay: its machine and options are not known"
    )))
}

#[cfg(test)]
mod tests {
    use model::record::Severity;
    use model::server::{Address, Dsn};

    use super::*;
    use crate::testing::{in_plan, on_builds};

    #[test]
    fn a_server_not_started_by_assay_is_a_warning() {
        let mut spec = on_builds(&[("a", "postgres")]);
        assert_eq!(in_plan(&RULE, &spec), []);
        spec.variants[0].dsn = Some(Dsn {
            address: Address::tcp("db.example", 5432),
            user: "bench".to_owned(),
            database: "bench".to_owned(),
            password: None,
            password_from: None,
            has_password: true,
            login: model::LoginOptions::default(),
            notes: Vec::new(),
        });
        let evidence = "a: db.example:5432 was not started by Assay: its machine and options are \
                        not known";
        assert_eq!(in_plan(&RULE, &spec), [(Severity::Warning, evidence.to_owned())]);
    }
}
