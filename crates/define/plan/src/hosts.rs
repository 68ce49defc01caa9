//! Machines of server and clients: the table `[hosts]`.

use std::fs;

use model::server::is_loopback;
use model::units::{clients, many};
use model::{Address, Experiment, Hosts, Variant};
use reader::error::{Errors, PlanError, refuse};
use reader::place::{Place, Placed};

use crate::resolve::Resolver;
use crate::settings::{
    ADDRESS, DSN, ENGINE, HOST_CLIENTS, IS_PROFILED, NAME, PLACEMENT, SERVER, SSH_CONFIG, Setting,
    WORKLOAD,
};
use crate::spec::{File, Section};

impl Resolver<'_> {
    /// Returns the machines of server and clients, if the file names them.
    ///
    /// `loads` has the place of each step's load.
    ///
    /// # Errors
    /// What an experiment on several machines cannot have.
    pub(crate) fn hosts(
        &self,
        file: &File,
        experiment: &Experiment,
        loads: &[Place],
    ) -> Result<Option<Hosts>, PlanError> {
        let Some(table) = &file.hosts else { return Ok(None) };
        if file.is_device {
            let remedy = "leave out [hosts], and run the experiment on the machine of the storage";
            return refuse(table.place.clone(), "[hosts] does not apply to storage", remedy);
        }
        let config = |it: &Placed<String>| self.ssh_config(&it.value, &it.place);
        let hosts = Hosts {
            server: table.text(SERVER).to_owned(),
            address: table.get(ADDRESS).map(|address| address.value.clone()),
            clients: table.text(HOST_CLIENTS).lines().map(str::to_owned).collect(),
            ssh_config: table.get(SSH_CONFIG).map(config).transpose()?,
        };
        let mut errors = Errors::default();
        let of_one_machine: [&Setting; 2] = [PLACEMENT, IS_PROFILED];
        let is_set = [!experiment.placement.is_free(), experiment.is_profiled];
        for (setting, _) in of_one_machine.iter().zip(is_set).filter(|(_, is_set)| *is_set) {
            let why = format!("`{}` needs client and server on one machine", setting.key);
            let error = PlanError::here(file.benchmark.place_of(setting), why);
            errors.push(error.remedy(format!("leave out `{}`, or [hosts]", setting.key)));
        }
        for table in &file.variants {
            let variant = experiment.variant(table.text(NAME));
            let check = |variant| self.check_reach_of_server(table, variant, &hosts);
            errors.ok(variant.map_or(Ok(()), check));
        }
        if hosts.clients.len() > 1 {
            errors.ok(check_shares(file, experiment, &hosts, loads));
        }
        errors.result(Some(hosts))
    }

    /// Returns the path of a configuration of ssh, which is a file that can be read.
    fn ssh_config(&self, path: &str, place: &Place) -> Result<String, PlanError> {
        let path = self.folder(place).join(path);
        // A pipe or a device is not opened: it may have no end.
        let reason = match path.metadata().map(|facts| facts.is_file()) {
            Ok(true) => fs::File::open(&path).err().map(|error| error.to_string()),
            Ok(false) => Some("it is not a regular file".to_owned()),
            Err(error) => Some(error.to_string()),
        };
        let Some(reason) = reason else { return Ok(path.to_string_lossy().into_owned()) };
        refuse(
            place,
            format!("cannot read `{}`: {reason}", path.display()),
            "name a configuration of ssh, or leave out `ssh_config` to use the default one",
        )
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
        let is_local = hosts.address.as_deref().is_some_and(is_loopback);
        let what = match variant.dsn.as_ref().map(|dsn| &dsn.address) {
            Some(Address::Socket(_)) => "unix socket",
            Some(Address::Tcp { host, .. }) if is_loopback(host) && !is_local => "loopback address",
            Some(Address::Tcp { .. }) | None => return Ok(()),
        };
        refuse(
            table.place_of(DSN),
            format!("variant {name}: clients on other machines cannot reach a {what}"),
            "write the host name or address at which the client hosts reach the server",
        )
    }
}

/// Checks that several client hosts can share the steps.
fn check_shares(
    file: &File,
    experiment: &Experiment,
    hosts: &Hosts,
    loads: &[Place],
) -> Result<(), PlanError> {
    let mut errors = Errors::default();
    let mut refuse = |place: &Place, why: String, remedy: &str| {
        errors.push(PlanError::here(place, why).remedy(remedy));
    };
    if let Some(name) = experiment.application.as_ref().map(|application| &application.name) {
        let why = format!("{name} needs one client host: one worker counts the calls of all");
        let remedy = "name one client host, or run steps such as readrandom, without `workload`";
        refuse(&file.benchmark.place_of(WORKLOAD), why, remedy);
    }
    for (step, place) in experiment.steps.iter().zip(loads) {
        let levels = experiment.clients.iter().map(|level| step.clients_at(*level).number);
        let fewest = levels.min().unwrap_or(u32::MAX);
        if step.load.is_search() {
            let why = format!("step {} searches its load, which needs one client host", step.name);
            refuse(place, why, "name one client host, or give a rate or numbers of clients");
        } else if experiment.is_shared(step) && (fewest as usize) < hosts.clients.len() {
            let (few, hosts) = (clients(fewest), many(hosts.clients.len(), "client host"));
            let why = format!("step {} has {few}, fewer than the {hosts}", step.name);
            refuse(place, why, "give each host a client, with `clients` in [factors] (--clients)");
        }
    }
    errors.result(())
}
