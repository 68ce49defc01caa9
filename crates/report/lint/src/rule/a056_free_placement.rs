//! A056: client and server may wake each other across CPUs.

use model::record::Severity;
use model::{CpuCount, Placement};

use super::{Checks, Observation, Rule};
use crate::context::PlanContext;
use crate::facts::is_server;

pub(crate) static RULE: Rule = Rule {
    code: "A056",
    name: "placement not fixed",
    severity: Severity::Note,
    trigger: "one client queries a server that Assay starts, and both may run on any of several \
              CPUs",
    why: "A client and a server on two CPUs wake each other for every request. The kernel changes \
          the placement from run to run, and a virtual machine may charge ten times the CPU for \
          these wake-ups, which exceeds every difference between releases.",
    remedy: "use placement = \"same-cpu\" to compare CPU per operation",
    source: "our choice: unpinned runs took 11 to 75 us of server CPU for the same query",
    ..Rule::of(Checks { plan: Some(plan), ..Checks::NONE })
};

fn plan(context: &PlanContext<'_>) -> Vec<Observation> {
    let experiment = context.experiment;
    let cpus = context.host.map_or(CpuCount::of(1), |host| host.cpus);
    let own: Vec<_> =
        experiment.variants.iter().filter(|one| is_server(one) && one.dsn.is_none()).collect();
    let is_alone = experiment.clients.contains(&1);
    let is_fixed = !experiment.placement.is_free() || experiment.hosts.is_some();
    if is_fixed || own.is_empty() || !is_alone || cpus <= CpuCount::of(1) {
        return Vec::new();
    }
    let evidence = format!(
        "one client and its server share {cpus} CPUs, and the kernel chooses the placement: CPU \
         per operation may jump from run to run; {} keeps both on one CPU",
        Placement::SameCpu
    );
    let evidence = Observation::new(evidence);
    vec![own.iter().fold(evidence, |evidence, one| evidence.variant(&one.name))]
}

#[cfg(test)]
mod tests {
    use model::record::Severity;

    use super::*;
    use crate::testing::{in_plan, on_builds};

    #[test]
    fn one_client_next_to_its_server_is_reported_unless_it_is_placed() {
        let with = |build: &str, placement, clients: u32| {
            let mut spec = on_builds(&[("a", build)]);
            (spec.placement, spec.clients) = (placement, vec![clients]);
            in_plan(&RULE, &spec)
        };
        assert_eq!(with("postgres@15.10", Placement::SameCpu, 1), []);
        assert_eq!(with("postgres@15.10", Placement::Split, 1), []);
        assert_eq!(with("postgres@15.10", Placement::Free, 8), []);
        assert_eq!(with("rocksdb", Placement::Free, 1), []);
        let mut apart = on_builds(&[("a", "postgres@15.10")]);
        (apart.clients, apart.hosts) = (vec![1], Some(model::Hosts::default()));
        assert_eq!(in_plan(&RULE, &apart), [], "clients on another machine");
        let found = with("postgres@15.10", Placement::Free, 1);
        assert_eq!(found[0].0, Severity::Note);
        assert!(found[0].1.contains("one client and its server share 4 CPUs"), "{found:?}");
    }
}
