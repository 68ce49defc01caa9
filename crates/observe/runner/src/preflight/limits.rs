//! Limits of this host, compared with what the runs of an experiment need.

use std::path::Path;

use engine::OpenSpec;
use model::{Experiment, ServerLoad, SystemNeeds, Variant};
use sampler::Shortage;
use server::Kind;

use super::connections::{needed, with_connections};
use super::text::Kinds;
use crate::error::RunnerError;
use crate::needs::{Needs, OTHER_FILES, direct_io, most_clients, refusal};
use crate::supervisor::workbench::{Served, Workbench};
use crate::worker::Registry;

/// Threads of a run next to its clients and its engine: background writer, collector and command
/// reader, and those of the parent. A run had 9 at most (ours).
const OTHER_THREADS: u64 = 12;
/// Name of the limit whose shortage is one of clients.
const THREADS: &str = "threads";

/// Checks that the limits of this host suffice for every variant, and raises those that may be.
///
/// What a library needs is checked in the worker that opens it.
///
/// # Errors
/// [`RunnerError::Clients`] for threads, else [`RunnerError::Refused`].
pub(super) fn check_limits(
    bench: &Workbench<'_>,
    experiment: &Experiment,
) -> Result<(), RunnerError> {
    for variant in &experiment.variants {
        let kind = match bench.servers.get(&variant.name) {
            Some(Served::Started(kind)) => Some(*kind),
            Some(Served::Foreign(_)) | None => None,
        };
        let needs = client(experiment, variant, kind);
        if let Some(shortage) = sampler::shortages(&needs, bench.data.path()).into_iter().next() {
            return Err(match shortage {
                Shortage { limit: THREADS, reason, remedy } => RunnerError::Clients(reason, remedy),
                shortage => RunnerError::Refused(variant.name.clone(), refusal(shortage)),
            });
        }
    }
    Ok(())
}

/// Returns what this host denies an experiment with its data in that directory, as `run` would
/// refuse it; of libraries that are loaded, only the client is known.
///
/// `user` is that of [`server::User::find`].
pub fn limit_warnings(
    experiment: &Experiment,
    (registry, kinds): (&Registry, &Kinds),
    (data, user): (&Path, Option<&str>),
) -> Vec<String> {
    let mut texts = Vec::new();
    for variant in experiment.variants.iter().filter(|_| experiment.device.is_none()) {
        let kind = kinds(&variant.build.engine).filter(|_| variant.dsn.is_none());
        let mut needs = client(experiment, variant, kind);
        if let Some(Err(error)) = kind.map(|kind| server::check_host(kind, data, user)) {
            texts.push(format!("variant {}: {error}", variant.name));
        }
        let driver = registry(&variant.build.engine, None).ok();
        if let Some(driver) = driver.filter(|_| kind.is_none() && variant.dsn.is_none()) {
            let (settings, options) = (variant.settings.clone(), variant.options.clone());
            let spec = OpenSpec::embedded(data.to_owned(), settings, experiment.data);
            let spec = OpenSpec { options, ..spec };
            needs = needs.and(Needs::of(experiment).of_system(&*driver, &spec));
        }
        for shortage in sampler::shortages(&needs, data) {
            let text = match shortage.limit {
                THREADS => shortage.to_string(),
                _ => format!("variant {}: {shortage}", variant.name),
            };
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
    }
    texts
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
        ..SystemNeeds::default()
    };
    let Some(kind) = kind else { return own };
    let load = ServerLoad {
        connections,
        data: experiment.data.live_bytes(),
        has_indexes: experiment.application.is_some(),
    };
    let server = kind.needs(&with_connections(&variant.options, experiment), &load);
    own.and(server)
        .and(SystemNeeds { direct_io: direct_io(&variant.settings), ..SystemNeeds::default() })
}
