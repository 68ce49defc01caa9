//! The server of one run: none, a running one, or its own.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use child::landlock_level;
use engine::EngineError;
use model::record::{SERVER_NOT_COUNTED, SERVER_WRITES_COUNTED};
use model::{Address, Endpoint, EventKind, Experiment, Nanos, RunEnd, ServerRole, Variant};
use sampler::{
    CgroupDir, Foreign, IsLog, RunningServer, ServerGroup, ServerTargets, is_own_address,
};
use server::{
    Death, Kind, Network, READY_WITHIN, Running, SET_UP_MAX, ServerError, ServerPlacement, Start,
};

use super::data::RunData;
use super::memory::KillCount;
use super::placement::Cpus;
use super::process::bad_end;
use super::watch::Phase;
use super::workbench::{Served, Workbench};
use crate::error::RunnerError;
use crate::message::ServerOrder;
use crate::preflight::with_connections;

/// Time a server has to stop when its run is over; then it is killed: its data are removed.
const STOP_WITHIN: Duration = Duration::from_secs(20);
/// Time to detect a server's exit after its client has lost the connection.
const EXIT_SHOWS: Duration = Duration::from_secs(2);

/// Where the engine of one run works.
pub(crate) enum Host {
    /// In the worker.
    Worker,
    /// In a server that runs already.
    Foreign(Box<ForeignServer>),
    /// In a server started for the run.
    OwnServer(Box<OwnServer>),
}

/// A server that runs already.
pub(crate) struct ForeignServer {
    endpoint: Endpoint,
    /// The addresses of this machine at which it is reached; none for a unix socket.
    ips: Vec<IpAddr>,
    /// `None` if it runs elsewhere or is not found.
    process: Option<RunningServer>,
}

/// A server started for one run.
pub(crate) struct OwnServer {
    running: Running,
    /// Dropped after the processes in it have ended.
    group: ServerGroup,
    kills: KillCount,
    kind: &'static dyn Kind,
    sha256: String,
}

impl Host {
    /// Starts the server of a variant, if it needs one, with its data below those of the run.
    ///
    /// The server ends with the calling thread.
    ///
    /// # Errors
    /// [`RunnerError::MemoryCap`], or [`RunnerError::Server`] when the server does not run.
    pub(crate) fn open(
        bench: &Workbench<'_>,
        experiment: &Experiment,
        variant: &Variant,
        data: &RunData,
        cpus: &Cpus,
    ) -> Result<Self, RunnerError> {
        let kind = match bench.servers.get(&variant.name) {
            None => return Ok(Self::Worker),
            Some(Served::Foreign(endpoint)) => {
                let reached_at = bench.clients.map(|clients| clients.address());
                return Ok(Self::Foreign(Box::new(ForeignServer::find(endpoint, reached_at))));
            }
            Some(Served::Started(kind)) => *kind,
        };
        let Some(program) = bench.libraries.get(&variant.name) else {
            let reason = format!("{0} needs a version: {0}@VERSION", variant.build.engine);
            return Err(RunnerError::Server(EngineError::build(reason).into()));
        };
        let group = ServerGroup::create(experiment.memory_bytes, &data.path)?;
        let options = with_connections(&variant.options, experiment);
        let templates = bench.data.templates()?;
        let network = experiment.has_event(EventKind::NetworkCut).then(Network::make);
        let network = network.transpose().map_err(RunnerError::Server)?;
        let start = Start {
            kind,
            program: &program.path,
            fingerprint: &program.sha256,
            dir: &data.path,
            settings: &variant.settings,
            options: &options,
            address: bench.clients.map(|clients| clients.address()),
            user: bench.server_user.as_deref(),
            placement: ServerPlacement {
                groups: group.dirs().to_vec(),
                cpus: cpus.server.clone(),
                confinement: bench.confinement(&variant.name, &data.path),
                network: network.map(Arc::new),
            },
            templates: Some(&templates),
            ready_within: READY_WITHIN,
        };
        // Set-up programs are in the group of this process, and so is a server without its own.
        let own = CgroupDir::of_process(std::process::id());
        let kills = KillCount::begin(group.memory().or_else(|| own.clone()));
        let set_up = KillCount::begin(own);
        let running = Running::start(&start, &|| bench.interrupt.level() > 0);
        let running = running.map_err(|error| {
            let killed = [&kills, &set_up].into_iter().find(|kills| kills.has_grown());
            RunnerError::Server(match (killed, error) {
                (_, ServerError::Interrupted) => ServerError::Interrupted,
                (Some(kills), error) => EngineError::Fatal(format!(
                    "{error}; the kernel killed a process of the server because memory ran out: {}",
                    kills.evidence()
                ))
                .into(),
                (None, error) => error,
            })
        })?;
        let sha256 = program.sha256.clone();
        Ok(Self::OwnServer(Box::new(OwnServer { running, group, kills, kind, sha256 })))
    }

    /// Describes the start of a variant's server, with its limit; `None` where none is started.
    pub(crate) fn start_of(bench: &Workbench<'_>, variant: &Variant) -> Option<String> {
        let Some(Served::Started(_)) = bench.servers.get(&variant.name) else { return None };
        let limit = Nanos::from_secs((SET_UP_MAX + READY_WITHIN).as_secs());
        Some(format!(
            "for the server of `{}` to be set up and started, at most {limit}",
            variant.name
        ))
    }

    /// Describes the stop of the variant's server, with its limit; `None` where none was started.
    pub(crate) fn stop_of(&self, variant: &Variant) -> Option<String> {
        let Self::OwnServer(_) = self else { return None };
        let limit = STOP_WITHIN.as_secs();
        Some(format!("for the server of `{}` to be stopped, at most {limit} s", variant.name))
    }

    /// Returns the part of a worker's order about the server, with the procedures to call once.
    pub(crate) fn server(&self, experiment: &Experiment, checked: Vec<u16>) -> Option<ServerOrder> {
        let mut endpoint = match self {
            Self::Worker => return None,
            Self::Foreign(foreign) => foreign.endpoint.clone(),
            Self::OwnServer(own) => own.running.endpoint.clone(),
        };
        if let Self::OwnServer(own) = self
            && experiment.has_event(EventKind::Failover)
        {
            endpoint.login.standby = own.running.standby_address();
            endpoint.login.role = Some(ServerRole::ReadWrite);
        }
        Some(ServerOrder { endpoint, application: experiment.application.clone(), checked })
    }

    /// Returns the phase of a worker whose clients do not run, and which does not settle.
    pub(crate) const fn phase(&self) -> Phase {
        match self {
            Self::Worker => Phase::Engine,
            Self::Foreign(_) | Self::OwnServer(_) => Phase::Statements,
        }
    }

    /// Returns the processes of a server that was started for the run.
    pub(crate) fn targets(&self) -> Option<ServerTargets<'_>> {
        let Self::OwnServer(own) = self else { return None };
        Some(ServerTargets { pid: own.running.pid(), group: &own.group })
    }

    /// Returns the sampled processes of the server.
    pub(crate) fn sampled(&self) -> Option<ServerTargets<'_>> {
        let Self::Foreign(foreign) = self else { return self.targets() };
        let process = foreign.process.as_ref()?;
        Some(ServerTargets { pid: process.pid, group: &process.group })
    }

    /// Returns where the data of a server are that Assay did not start.
    pub(crate) fn foreign(&self) -> Foreign {
        let Self::Foreign(foreign) = self else { return Foreign::Nowhere };
        match &foreign.process {
            Some(process) if process.data_dir.is_some() => Foreign::Nowhere,
            None if foreign.is_here() => Foreign::Here,
            Some(_) | None => Foreign::Elsewhere,
        }
    }

    /// Returns the address of this machine at which clients reach the server; `None` without TCP.
    pub(crate) fn network(&self) -> Option<IpAddr> {
        let address = match self {
            Self::Worker => return None,
            Self::Foreign(foreign) => return foreign.ips.first().copied(),
            // Its interface is not one of this host.
            Self::OwnServer(own) if own.running.network().is_some() => return None,
            Self::OwnServer(own) => match &own.running.site.address {
                Some(address) => return Some(address.ip),
                None => &own.running.endpoint.address,
            },
        };
        let Address::Tcp { host, .. } = address else { return None };
        Some(host.parse().unwrap_or(Ipv4Addr::LOCALHOST.into()))
    }

    /// Returns the network that joins the server and its clients alone.
    pub(crate) fn own_network(&self) -> Option<&Network> {
        let Self::OwnServer(own) = self else { return None };
        own.running.network()
    }

    /// Returns a server's data directory, and the test for its logs, if it is known.
    pub(crate) fn data(&self) -> Option<(PathBuf, Option<IsLog>)> {
        match self {
            Self::Worker => None,
            Self::Foreign(foreign) => Some((foreign.process.as_ref()?.data_dir.clone()?, None)),
            Self::OwnServer(own) => {
                let kind = own.kind;
                let is_log: IsLog = Arc::new(move |path| kind.is_log(path));
                Some((own.running.site.data.clone(), Some(is_log)))
            }
        }
    }

    /// Returns facts about the server, by name.
    pub(crate) fn facts(&self, bench: &Workbench<'_>) -> BTreeMap<String, String> {
        match self {
            Self::Worker => BTreeMap::new(),
            Self::Foreign(foreign) => foreign.facts(),
            Self::OwnServer(own) => {
                let mut facts = own.running.facts();
                facts.insert("server_program_sha256".to_owned(), own.sha256.clone());
                facts.extend(counted(&own.group));
                if bench.server_user.is_some() {
                    facts.insert("server_user_from".to_owned(), "ASSAY_SERVER_USER".to_owned());
                }
                facts
            }
        }
    }

    /// Returns how the engine of a stranger's experiment is confined, as a fact of its run.
    pub(crate) fn confinement_fact(&self, bench: &Workbench<'_>) -> Option<(String, String)> {
        bench.confinement.as_ref()?;
        let text = match (self, landlock_level()) {
            (Self::Foreign(_), _) => "none: Assay has not started the server".to_owned(),
            (_, None) => "none: the kernel offers no Landlock".to_owned(),
            (_, Some(level)) => format!("Landlock {level}: build, data and system files"),
        };
        Some(("confinement".to_owned(), text))
    }

    /// Returns the server that was started for the run.
    pub(super) fn running(&mut self) -> Option<&mut Running> {
        if let Self::OwnServer(own) = self { Some(&mut own.running) } else { None }
    }

    /// Returns the run's end when the server has exited; `None` while it runs. Does not wait.
    pub(crate) fn exit_of_server(&mut self, step: &str) -> Option<RunEnd> {
        let Self::OwnServer(own) = self else { return None };
        let death = own.running.death()?.clone();
        Some(own.end_of(&death, step))
    }

    /// Returns the end of a failed run when the server has exited.
    pub(crate) fn end_of_failed(&mut self, step: &str) -> Option<RunEnd> {
        let Self::OwnServer(own) = self else { return None };
        match own.running.death_within(EXIT_SHOWS).cloned() {
            Some(death) => Some(own.end_of(&death, step)),
            // The kernel may have killed one of several processes.
            None => own.kills.has_grown().then(|| own.out_of_memory(step)),
        }
    }

    /// Stops the server, by a kill as soon as `is_at_once`; returns the files to archive.
    pub(crate) fn close(&mut self, is_at_once: &dyn Fn() -> bool) -> Vec<PathBuf> {
        let Self::OwnServer(own) = self else { return Vec::new() };
        if is_at_once() {
            own.running.kill();
        }
        // How it stops is in its log; its directory is removed.
        drop(own.running.stop_unless(STOP_WITHIN, is_at_once));
        own.running.files()
    }
}

impl ForeignServer {
    /// Finds the process of a server, if it listens on this machine.
    ///
    /// `reached_at` is where clients on other hosts reach the servers of this machine.
    fn find(endpoint: &Endpoint, reached_at: Option<&str>) -> Self {
        let (ips, process) = match &endpoint.address {
            Address::Socket(path) => (Vec::new(), RunningServer::at_socket(path)),
            Address::Tcp { host, port, .. } => {
                let ips = ips_here(host, reached_at);
                let process = RunningServer::at_port(&ips, *port);
                (ips, process)
            }
        };
        Self { endpoint: endpoint.clone(), ips, process }
    }

    /// Returns whether it listens on this machine.
    fn is_here(&self) -> bool {
        matches!(self.endpoint.address, Address::Socket(_)) || !self.ips.is_empty()
    }

    fn facts(&self) -> BTreeMap<String, String> {
        let Endpoint { user, address, database, .. } = &self.endpoint;
        let server = format!("foreign, not started by Assay: {user}@{address}/{database}");
        let mut facts = BTreeMap::from([("server".to_owned(), server)]);
        if let Some(RunningServer { pid, name, group, .. }) = &self.process {
            let by = if self.ips.is_empty() { "socket" } else { "port" };
            let found = format!("{pid} of {name}, found by its {by}");
            facts.insert("server_process".to_owned(), found);
            facts.extend(counted(group));
        }
        facts
    }
}

impl OwnServer {
    fn end_of(&self, death: &Death, step: &str) -> RunEnd {
        if self.kills.has_grown() {
            return self.out_of_memory(step);
        }
        let step = step.to_owned();
        let log = death.last_log_lines.as_str();
        let how = bad_end(death.status, log)
            .unwrap_or_else(|| format!("exit code 0; last log line: {log}"));
        RunEnd::Crashed { step, reason: format!("the server died: {how}") }
    }

    /// Returns the end of a run of which the kernel killed a process for lack of memory.
    fn out_of_memory(&self, step: &str) -> RunEnd {
        RunEnd::OutOfMemory { step: step.to_owned(), reason: self.kills.evidence() }
    }
}

/// Returns the facts about what is not counted of a server, by name.
fn counted(group: &ServerGroup) -> impl Iterator<Item = (String, String)> {
    let not_counted = group.absence().map(|it| (SERVER_NOT_COUNTED, it));
    let writes = group.writes_counted().map(|it| (SERVER_WRITES_COUNTED, it));
    let facts = not_counted.into_iter().chain(writes);
    facts.map(|(name, it)| (name.to_owned(), it.to_owned()))
}

/// Returns the addresses of this machine that a host of an address names; none of another machine.
///
/// The only names that are resolved are `localhost` and `reached_at`, a name of this machine.
fn ips_here(host: &str, reached_at: Option<&str>) -> Vec<IpAddr> {
    let is_resolved =
        host.parse::<IpAddr>().is_ok() || host == "localhost" || reached_at == Some(host);
    let addresses = is_resolved.then(|| (host, 0).to_socket_addrs().ok()).flatten();
    let ips = addresses.into_iter().flatten().map(|address| address.ip());
    ips.filter(|ip| is_own_address(*ip)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_addresses_and_sockets_are_on_this_machine() {
        // Port 1 serves nothing here.
        let at = |host: &str| Address::tcp(host, 1);
        let place = |address: Address| {
            let (user, database) = ("me".to_owned(), "db".to_owned());
            let login = model::LoginOptions::default();
            let endpoint =
                Endpoint { address, user, password: None, database, is_foreign: true, login };
            let server = ForeignServer::find(&endpoint, Some("db1"));
            assert!(server.process.is_none());
            let host = Host::Foreign(Box::new(server));
            (host.foreign(), host.network().map(|ip| ip.to_string()))
        };
        let here = |ip: &str| (Foreign::Here, Some(ip.to_owned()));
        assert_eq!(place(at("127.0.0.2")), here("127.0.0.2"));
        let (place_of_name, ip) = place(at("localhost"));
        assert!(place_of_name == Foreign::Here && ip.is_some(), "{ip:?}");
        assert_eq!(place(Address::Socket("/s".into())), (Foreign::Here, None));
        for other in ["db.example", "192.0.2.1"] {
            assert_eq!(place(at(other)), (Foreign::Elsewhere, None), "{other}");
        }
    }
}
