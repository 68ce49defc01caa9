//! A057: throughput where client and server share one CPU.

use model::Placement;
use model::record::Severity;

use super::{Checks, Observation, Rule};
use crate::context::PlanContext;
use crate::facts::is_server;

pub(crate) static RULE: Rule = Rule {
    code: "A057",
    name: "client and server share a CPU",
    severity: Severity::Note,
    trigger: "servers are measured with placement = \"same-cpu\"",
    why: "On one CPU, the client and the server's background threads compete with the server's \
          answers. Throughput is then the throughput of client, server and background threads on \
          one CPU. Use placement = \"same-cpu\" to compare CPU per operation, not throughput.",
    remedy: "compare CPU per operation (assay compare --costs); to compare throughput, measure \
             with placement = \"split\" and more clients",
    source: "our choice: one CPU serialises client, server and background threads",
    ..Rule::of(Checks { plan: Some(plan), ..Checks::NONE })
};

fn plan(context: &PlanContext<'_>) -> Vec<Observation> {
    let experiment = context.experiment;
    let has_server = experiment.variants.iter().any(is_server);
    let is_shared = experiment.placement == Placement::SameCpu;
    let evidence = "client and server share one CPU: compare CPU per operation, and read \
                    throughput as the throughput of both together";
    if is_shared && has_server { vec![Observation::new(evidence)] } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use model::record::Severity;

    use super::*;
    use crate::testing::{in_plan, on_builds};

    #[test]
    fn throughput_on_one_cpu_is_noted() {
        let with = |build: &str, placement| {
            let mut spec = on_builds(&[("a", build)]);
            spec.placement = placement;
            in_plan(&RULE, &spec)
        };
        assert_eq!(with("mysql@8.0.31", Placement::Split), []);
        assert_eq!(with("rocksdb", Placement::SameCpu), []);
        let found = with("mysql@8.0.31", Placement::SameCpu);
        assert_eq!(found[0].0, Severity::Note);
        assert!(found[0].1.starts_with("client and server share one CPU"), "{found:?}");
    }
}
