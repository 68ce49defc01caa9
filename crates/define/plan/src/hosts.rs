//! Machines of server and clients: the table `[hosts]`.

use model::server::{TRANSPORT, is_loopback};
use model::units::{clients, many};
use model::{Address, Experiment, Hosts, Step, Transport, Variant};
use reader::error::{Errors, PlanError, refuse};
use reader::place::Place;

use crate::resolve::Resolver;
use crate::settings::{
    ADDRESS, DSN, ENGINE, HOST_CLIENTS, IS_PROFILED, NAME, PLACEMENT, SERVER, SSH_CONFIG, WORKLOAD,
};
use crate::spec::{File, Section};

impl Resolver<'_> {
    /// Returns the machines of server and clients, if the file names them.
    ///
    /// `loads` has the place of each step's load, `factor` is the place of the clients factor.
    ///
    /// # Errors
    /// What an experiment on several machines cannot have.
    pub(crate) fn hosts(
        &self,
        file: &File,
        experiment: &Experiment,
        loads: &[Place],
        factor: &Place,
    ) -> Result<Option<Hosts>, PlanError> {
        let Some(table) = &file.hosts else { return Ok(None) };
        let ssh_config = table
            .get(SSH_CONFIG)
            .map(|path| self.folder(&path.place).join(&path.value).to_string_lossy().into_owned());
        let hosts = Hosts {
            server: table.text(SERVER).to_owned(),
            address: table.get(ADDRESS).map(|address| address.value.clone()),
            clients: table.text(HOST_CLIENTS).lines().map(str::to_owned).collect(),
            ssh_config,
        };
        let mut errors = Errors::default();
        errors.ok(check_machine(file, table, experiment));
        for table in &file.variants {
            if let Some(variant) = experiment.variant(table.text(NAME)) {
                errors.ok(self.check_reach_of_server(table, variant, &hosts));
            }
        }
        if hosts.clients.len() > 1 {
            errors.ok(check_application(file, experiment));
            for (step, load) in experiment.steps.iter().zip(loads) {
                let place = if step.clients == 0 { factor } else { load };
                errors.ok(check_search(step, load));
                errors.ok(check_share(experiment, step, &hosts, place));
            }
        }
        errors.result(Some(hosts))
    }

    /// Checks that a variant is a server that clients on other machines reach.
    fn check_reach_of_server(
        &self,
        table: &Section,
        variant: &Variant,
        hosts: &Hosts,
    ) -> Result<(), PlanError> {
        let (name, engine) = (&variant.name, &variant.build.engine);
        let known = self.catalog.engines();
        if !known.iter().any(|info| info.name == *engine && info.dialect.is_some()) {
            return refuse(
                table.place_of(ENGINE),
                format!("variant {name}: {engine} runs in the client, and [hosts] needs a server"),
                "name an SQL server such as postgres or mysql, or leave out [hosts]",
            );
        }
        let option = table.pairs.iter().find(|(option, _)| option.value == TRANSPORT);
        if let Some((option, _)) = option.filter(|(_, it)| it.value == Transport::Unix.name()) {
            return refuse(
                option.place.clone(),
                format!("variant {name}: clients of [hosts] cannot reach a unix socket"),
                "leave out the option: with [hosts], clients connect by TCP",
            );
        }
        let address = variant.dsn.as_ref().map(|dsn| &dsn.address);
        let why = match address {
            Some(Address::Socket(_)) => "a unix socket",
            Some(Address::Tcp { host, .. }) => {
                let stated = hosts.address.as_deref();
                let is_meant = stated.is_some_and(|own| own == host || is_loopback(own));
                if is_meant || !is_loopback(host) {
                    return Ok(());
                }
                "a loopback address"
            }
            None => return Ok(()),
        };
        refuse(
            table.place_of(DSN),
            format!(
                "variant {name}: clients of [hosts] cannot reach {why} of the server's machine"
            ),
            "write the host name or address at which the client hosts reach the server",
        )
    }
}

/// Checks that nothing is requested that needs server and clients on one machine.
fn check_machine(file: &File, table: &Section, experiment: &Experiment) -> Result<(), PlanError> {
    if file.is_device {
        let remedy = "leave out [hosts], and run the experiment on the machine of the storage";
        return refuse(table.place.clone(), "[hosts] does not apply to storage".to_owned(), remedy);
    }
    let mut errors = Errors::default();
    let benchmark = &file.benchmark;
    if !experiment.placement.is_free() {
        let why = format!(
            "placement \"{}\" divides the CPUs of one machine between client and server",
            experiment.placement
        );
        let error = PlanError::here(benchmark.place_of(PLACEMENT), why);
        errors.push(error.remedy("leave out `placement`, or [hosts]"));
    }
    if experiment.is_profiled {
        let why = "CPU profiles need client and server on one machine";
        let error = PlanError::here(benchmark.place_of(IS_PROFILED), why);
        errors.push(error.remedy("leave out `profile` (--profile), or [hosts]"));
    }
    errors.result(())
}

/// Checks that the workload is no application, whose rows one worker counts and checks.
fn check_application(file: &File, experiment: &Experiment) -> Result<(), PlanError> {
    let Some(application) = &experiment.application else { return Ok(()) };
    refuse(
        file.benchmark.place_of(WORKLOAD),
        format!("{} needs one client host: one worker counts the calls of all", application.name),
        "name one client host, or leave out `workload` and run steps such as readrandom",
    )
}

/// Checks that a step does not search its load.
fn check_search(step: &Step, load: &Place) -> Result<(), PlanError> {
    if !step.load.is_search() {
        return Ok(());
    }
    refuse(
        load.clone(),
        format!("step {} searches its load, which needs one client host", step.name),
        "name one client host, or give a rate or numbers of clients in place of the search",
    )
}

/// Checks that each client host has a client of a shared step.
fn check_share(
    experiment: &Experiment,
    step: &Step,
    hosts: &Hosts,
    place: &Place,
) -> Result<(), PlanError> {
    let levels = experiment.clients.iter().map(|level| step.clients_at(*level).number);
    let Some(fewest) = levels.min().filter(|_| experiment.is_shared(step)) else { return Ok(()) };
    if fewest as usize >= hosts.clients.len() {
        return Ok(());
    }
    let hosts = many(hosts.clients.len(), "client host");
    refuse(
        place.clone(),
        format!("step {} has {}, fewer than the {hosts}", step.name, clients(fewest)),
        "give each host a client, with `clients` in [factors] (--clients), or name fewer hosts",
    )
}
