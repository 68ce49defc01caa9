//! Limits of this host, compared with what the runs of an experiment need.

use std::path::Path;

use engine::{Driver, EngineError, OpenSpec};
use model::{
    AccountNeed, Bytes, EventKind, Experiment, Load, ServerLoad, Step, StopRule, SystemNeeds,
    Variant,
};
use profiler::Profiler;
use sampler::{MemoryCap, Shortage};
use server::Kind;

use super::connections::{needed, with_connections};
use super::text::Kinds;
use crate::error::RunnerError;
use crate::needs::{
    Needs, OTHER_FILES, allocator_refusal, direct_io, most_clients, of_threads, refusal,
};
use crate::supervisor::placement::Cpus;
use crate::supervisor::simulated_disk;
use crate::worker::Registry;

/// Threads of a run next to its clients and its engine: background writer, collector and command
/// reader, and those of the parent. A run had 9 at most (ours).
const OTHER_THREADS: u64 = 12;
/// CPU time of one operation. Our choice: ten times that of most engines.
const OPERATION_NS: u64 = 100_000;
/// Probes of a search. Our choice.
const PROBES: u64 = 64;
/// CPU time outside of steps: set-up, opening and checks. Our choice.
const OTHER_CPU_S: u64 = 120;
/// Name of the limit whose shortage is one of clients.
const THREADS: &str = "threads";

/// Where an experiment is run, and as which account its servers.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The directory of data, which need not exist.
    pub data: &'a Path,
    /// Name of the account of servers; see [`server::User::find`].
    pub server_user: Option<&'a str>,
    /// The libraries of allocators.
    pub allocators: &'a malloc::Libraries,
}

/// Returns what this host denies an experiment, and raises the limits that may be raised.
///
/// Before a library is loaded only its threads are known: the worker that opens it checks the rest.
pub fn host_refusals(
    experiment: &Experiment,
    registry: &Registry,
    kinds: &Kinds,
    place: Place<'_>,
) -> Vec<RunnerError> {
    let mut found = Vec::new();
    if experiment.device.is_some() {
        return found;
    }
    if experiment.is_profiled {
        found.extend(Profiler::check().err().map(RunnerError::from));
    }
    let disk = experiment.has_disk_events().then(simulated_disk::check);
    found.extend(disk.and_then(Result::err));
    found.extend(Cpus::of(experiment).err());
    let cap = experiment.memory_bytes.map(MemoryCap::create).transpose();
    found.extend(cap.err().map(RunnerError::from));
    if experiment.has_event(EventKind::NetworkCut) {
        let network = server::Network::make().map_err(RunnerError::Server);
        found.extend(network.err());
    }
    for variant in &experiment.variants {
        let kind = kinds(&variant.build.engine).filter(|_| variant.dsn.is_none());
        let mut needs = client(experiment, variant, kind);
        let refused = |refusal| RunnerError::Refused(variant.name.clone(), refusal);
        let allocator = place.allocators.find(variant.settings.allocator);
        found.extend(allocator.err().map(|error| refused(allocator_refusal(&error))));
        match kind.map(|kind| server::check_host(kind, place.data, place.server_user)) {
            Some(Ok(uid)) => {
                let threads = needs.threads - client(experiment, variant, None).threads;
                needs.account = Some(AccountNeed { uid, threads });
            }
            Some(Err(error)) => found.push(refused(EngineError::from(error).into())),
            None => {}
        }
        if kind.is_none() && variant.dsn.is_none() {
            let (settings, options) = (variant.settings.clone(), variant.options.clone());
            let spec = OpenSpec::embedded(place.data.to_owned(), settings, experiment.data);
            let spec = OpenSpec { options, ..spec };
            let threads = engine::background_threads(&spec.settings, &spec.options);
            let of_library = SystemNeeds { threads, ..SystemNeeds::default() };
            let driver = registry(&variant.build.engine, None);
            let of_system =
                |driver: Box<dyn Driver>| Needs::of(experiment).of_system(&*driver, &spec);
            needs = needs.and(driver.map_or(of_library, of_system));
        }
        let shortages = sampler::shortages(&needs, place.data).into_iter();
        let cap = experiment.memory_bytes.and_then(|cap| beyond_cap(&needs, cap));
        found.extend(shortages.chain(cap).map(|shortage| match shortage {
            Shortage { limit: THREADS, reason, remedy } => RunnerError::Clients(reason, remedy),
            shortage => refused(refusal(shortage)),
        }));
    }
    found
}

/// Returns the shortage of an engine that needs more than the memory cap of the experiment.
fn beyond_cap(needs: &SystemNeeds, cap: Bytes) -> Option<Shortage> {
    let need = needs.memory;
    (need.amount > cap.0).then(|| Shortage {
        limit: "memory",
        reason: format!(
            "the engine may need {} of memory, and the memory cap of the experiment is {cap}",
            Bytes(need.amount)
        ),
        remedy: format!("raise `memory` (--memory), use a smaller cache{}", need.or_instead()),
    })
}

/// Returns what a run needs next to an engine in the worker; `kind` is that of a server started.
fn client(
    experiment: &Experiment,
    variant: &Variant,
    kind: Option<&'static dyn Kind>,
) -> SystemNeeds {
    let clients = most_clients(experiment);
    let has_server = kind.is_some() || variant.dsn.is_some();
    let connections = needed(experiment);
    let own = SystemNeeds {
        clients,
        threads: u64::from(clients) + OTHER_THREADS,
        open_files: if has_server { OTHER_FILES + connections } else { 0 },
        file_bytes: sampler::LOG_BYTES
            .saturating_add(experiment.data.live_bytes().0.saturating_mul(4)),
        cpu_seconds: cpu_seconds(experiment),
        ..SystemNeeds::default()
    };
    let Some(kind) = kind else { return own };
    let load = ServerLoad {
        connections,
        data: experiment.data.live_bytes(),
        cache: variant.settings.cache_bytes,
        has_indexes: experiment.application.is_some(),
    };
    let mut server = kind.needs(&with_connections(&variant.options, experiment), &load);
    server.address_bytes.amount += of_threads(server.threads);
    own.and(server)
        .and(SystemNeeds { direct_io: direct_io(&variant.settings), ..SystemNeeds::default() })
}

/// Returns an upper bound of the CPU time of one process in a run, seconds.
fn cpu_seconds(experiment: &Experiment) -> u64 {
    let time = |step: &Step| {
        let is_search = matches!(step.load, Load::FindRate(_) | Load::FindClients);
        let probes = if is_search { PROBES } else { 1 };
        match step.stop {
            StopRule::Operations(0) => step.settle_cap.0,
            StopRule::Operations(count) => count.saturating_mul(OPERATION_NS),
            StopRule::Duration(span) => (span.0 + step.warmup.0).saturating_mul(probes),
        }
    };
    let times = experiment.clients.iter().map(|clients| {
        let steps = experiment.steps_for(*clients);
        steps.iter().map(time).fold(0, u64::saturating_add)
    });
    let ns = times.max().unwrap_or(0).saturating_mul(sampler::usable_cpus().whole().into());
    OTHER_CPU_S + ns / 1_000_000_000
}
