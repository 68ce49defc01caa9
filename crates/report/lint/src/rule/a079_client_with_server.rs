//! A079: a client host that is the server's host.

use model::client_host::slurm_class;

use super::{Checks, Observation, Origin, Rule};
use crate::context::PlanContext;

pub(crate) static RULE: Rule = Rule {
    code: "A079",
    name: "client host is the server's",
    trigger: "[hosts] names the same host for the server and for clients",
    why: "Clients on the server's machine take CPU time from the server. If other client hosts \
          exist, clients on the server's machine also have shorter round trips than the others, \
          and the response times of a step are a mixture.",
    remedy: "name client hosts that are other machines, or leave out [hosts] and divide the CPUs \
             with placement = \"split\"",
    source: "our choice: server and clients have machines of their own, or share one knowingly",
    ..Rule::of(Checks { origin: Origin::Chosen, plan: Some(plan), ..Checks::NONE })
};

fn plan(context: &PlanContext<'_>) -> Vec<Observation> {
    let Some(hosts) = &context.experiment.hosts else { return Vec::new() };
    let host = |destination: &str| {
        destination.rsplit('@').next().map_or_else(String::new, str::to_ascii_lowercase)
    };
    let is_server =
        |name: &&String| slurm_class(name).is_none() && host(name) == host(&hosts.server);
    let observe =
        |name: &String| Observation::new(format!("client host {name} is also the server's host"));
    hosts.clients.iter().filter(is_server).map(observe).collect()
}

#[cfg(test)]
mod tests {
    use model::Hosts;
    use model::record::Severity;

    use super::*;
    use crate::testing::{experiment, in_plan};

    #[test]
    fn client_on_the_host_of_the_server_is_a_warning() {
        let with = |clients: &[&str]| {
            let clients = clients.iter().map(|name| (*name).to_owned()).collect();
            let server = "bench@db1".to_owned();
            let mut spec = experiment(&["a"]);
            spec.hosts = Some(Hosts { server, clients, ..Hosts::default() });
            in_plan(&RULE, &spec)
        };
        assert_eq!(in_plan(&RULE, &experiment(&["a"])), []);
        assert_eq!(with(&["c1", "db10"]), []);
        let evidence = "client host DB1 is also the server's host";
        assert_eq!(with(&["c1", "DB1"]), [(Severity::Warning, evidence.to_owned())]);
    }
}
