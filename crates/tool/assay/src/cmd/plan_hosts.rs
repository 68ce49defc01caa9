//! `assay plan`: where server and clients run.

use std::collections::{BTreeMap, BTreeSet};

use model::Experiment;

/// Formats the CPUs or machines of server and clients in lines; none by default.
pub(super) fn lines(experiment: &Experiment) -> Vec<String> {
    let Some(hosts) = &experiment.hosts else {
        let placement = Some(experiment.placement).filter(|placement| !placement.is_free());
        return placement.map(|placement| format!("placement {placement}")).into_iter().collect();
    };
    let address = hosts.address.as_ref().map(|address| format!(" (address {address})"));
    let mut lines = vec![format!(
        "hosts     server on {}{}, clients on {}",
        hosts.server,
        address.unwrap_or_default(),
        hosts.clients.join(", ")
    )];
    if hosts.clients.len() < 2 {
        return lines;
    }
    let mut shared: BTreeMap<u32, BTreeSet<&str>> = BTreeMap::new();
    for step in experiment.steps.iter().filter(|step| experiment.is_shared(step)) {
        for level in &experiment.clients {
            shared.entry(step.clients_at(*level).number).or_default().insert(&step.name);
        }
    }
    for (clients, steps) in shared {
        let share = |(position, name): (u32, &String)| {
            format!("{} on {name}", hosts.share(position, clients).len())
        };
        let shares = (0..).zip(&hosts.clients).map(share).collect::<Vec<_>>().join(", ");
        let steps = steps.into_iter().collect::<Vec<_>>().join(", ");
        lines.push(format!("shares    clients {clients}: {shares}, in {steps}"));
    }
    let others = experiment.steps.iter().filter(|step| !experiment.is_shared(step));
    let others: Vec<&str> = others.map(|step| step.name.as_str()).collect();
    if !others.is_empty() {
        lines.push(format!("first     only {} runs {}", hosts.clients[0], others.join(", ")));
    }
    lines
}
