//! What an experiment's steps and data need of an engine, and of the system's limits.

use std::path::Path;

use engine::{Driver, OpenSpec, Refusal, Setting};
use model::capability::SEQUENCE_SCANS;
use model::{
    Bytes, DataShape, Experiment, Identity, Load, Need, OpKind, Settings, Step, StopRule,
    SystemNeeds,
};
use sampler::Shortage;
use serde::{Deserialize, Serialize};

use crate::preflight::sessions_max;

/// Files of a worker next to those of engine or connections: libraries, accounts, pipes. It had 31
/// at most (ours).
pub(crate) const OTHER_FILES: u64 = 40;
/// Sessions next to those of clients: a background writer and one for control.
const OTHER_SESSIONS: u64 = 2;
/// Memory of a worker and its parent without caches and buffers: index+log with 10,000 rows, which
/// has 68 MiB of both, was killed in a control group of 96 MiB and not in one of 128 MiB (ours).
const WORKER_MEMORY_BYTES: u64 = 48 << 20;
/// Address space of a worker without cache: it had 400 MiB without that of threads (ours).
const WORKER_ADDRESS_BYTES: u64 = 768 << 20;
/// Private memory of a worker without cache: it had 112 MiB at most (RocksDB, ours).
const WORKER_DATA_BYTES: u64 = 384 << 20;
/// Stack of a thread, by default. Source: pthread_create(3).
const STACK_BYTES: u64 = 8 << 20;
/// Address space of one heap. Source: glibc's source, `arena.c`, `HEAP_MAX_SIZE`.
const HEAP_BYTES: u64 = 64 << 20;
/// How a run does with less address space.
const SMALLER: &str = "use a smaller cache, fewer rows or fewer clients";
/// How an engine does without direct I/O that a setting demands.
const LEAVE_DIRECT_IO_OUT: &str = "leave direct_io out";

/// What steps need beyond plain operations: the first step of each need.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Needs {
    pub(crate) downwards: Option<String>,
    pub(crate) sequences: Option<String>,
    pub(crate) pipelined: Option<String>,
    /// Clients of the largest step.
    pub(crate) clients: u32,
    /// Most sessions of clients and writers at once.
    pub(crate) sessions: u64,
}

/// Returns whether a step has clients: a settle has none.
pub(crate) fn has_clients(step: &Step) -> bool {
    step.stop != StopRule::Operations(0)
}

impl Needs {
    /// Returns the needs of an experiment's steps.
    pub(crate) fn of(experiment: &Experiment) -> Self {
        let steps = &experiment.steps;
        let first = |needs: &dyn Fn(&Step) -> bool| {
            steps.iter().find(|step| needs(step)).map(|step| step.name.clone())
        };
        let catalog = workload::catalog();
        let scans = |step: &Step| {
            let known = catalog.iter().find(|info| info.name == step.name);
            known.is_some_and(|info| info.needs.contains(&OpKind::ScanSequence))
        };
        Self {
            downwards: first(&|step| workload::reads_downwards(&step.name)),
            sequences: first(&scans),
            pipelined: first(&|step| matches!(step.load, Load::Pipelined(_))),
            clients: most_clients(experiment),
            sessions: sessions_max(experiment),
        }
    }

    /// Returns what an engine in this process needs of the system's limits, without its clients.
    pub(crate) fn of_system(&self, driver: &dyn Driver, spec: &OpenSpec) -> SystemNeeds {
        let sessions = u64::from(self.clients) + OTHER_SESSIONS;
        let own_threads = driver.own_threads(spec);
        let threads = sessions + own_threads;
        let files = driver.open_files(spec, sessions);
        let memory = driver.memory(spec);
        let base = if memory.amount > 0 { WORKER_MEMORY_BYTES } else { 0 };
        SystemNeeds {
            clients: self.clients,
            threads: own_threads,
            open_files: OTHER_FILES + files,
            files,
            direct_io: direct_io(&spec.settings),
            memory: Need { amount: memory.amount + base, ..memory },
            ..worker_space(threads, spec.settings.cache_bytes, driver.mapped_bytes(spec))
        }
    }
}

/// Returns the needs of a worker's address space and private memory.
fn worker_space(threads: u64, cache: Option<Bytes>, mapped: u64) -> SystemNeeds {
    // Engines have buffers next to the cache, and some copy what they read.
    let cache = 2 * cache.map_or(0, |cache| cache.0);
    SystemNeeds {
        address_bytes: Need {
            amount: WORKER_ADDRESS_BYTES + of_threads(threads) + cache + mapped,
            instead: SMALLER,
        },
        data_bytes: WORKER_DATA_BYTES + threads * STACK_BYTES + cache,
        ..SystemNeeds::default()
    }
}

/// Returns the address space of threads: a stack for each, and the heaps that they share.
///
/// Source: glibc, mallopt(3), `M_ARENA_MAX`: 8 heaps for each CPU.
pub(crate) fn of_threads(threads: u64) -> u64 {
    let heaps = 8 * u64::from(sampler::usable_cpus().whole().max(1));
    threads * STACK_BYTES + threads.min(heaps) * HEAP_BYTES
}

/// Returns the need of the setting that bypasses the page cache.
pub(crate) fn direct_io(settings: &Settings) -> Need {
    Need { amount: u64::from(settings.direct_io), instead: LEAVE_DIRECT_IO_OUT }
}

/// Returns the clients of an experiment's largest step.
pub(crate) fn most_clients(experiment: &Experiment) -> u32 {
    let steps = experiment.clients.iter().flat_map(|clients| experiment.steps_for(*clients));
    steps.filter(has_clients).map(|step| step.clients).max().unwrap_or(0)
}

/// Returns the refusal of an engine that needs more than this host's limits allow, if so.
///
/// The threads of this process and its parent run already: those of clients and engine do not.
pub(crate) fn beyond_limits(engine: SystemNeeds, data: &Path) -> Option<Refusal> {
    let threads = u64::from(engine.clients) + engine.threads;
    let needs = SystemNeeds { threads, ..engine };
    sampler::shortages(&needs, data).into_iter().next().map(refusal)
}

/// Returns the refusal of a variant whose allocator has no library here.
pub(crate) fn allocator_refusal(error: &malloc::MallocError) -> Refusal {
    let (reason, remedy) = (error.to_string(), error.remedy());
    Refusal::Setting { setting: Setting::Allocator, reason, remedy }
}

/// Returns the refusal of a variant for which a limit of this host does not suffice.
pub(crate) fn refusal(shortage: Shortage) -> Refusal {
    let Shortage { limit, reason, remedy } = shortage;
    match limit {
        "direct_io" if remedy.ends_with(LEAVE_DIRECT_IO_OUT) => {
            Refusal::Setting { setting: Setting::DirectIo, reason, remedy }
        }
        _ => Refusal::Build { reason: format!("{reason}: {remedy}") },
    }
}

/// Returns why an engine takes neither the data nor the steps, if so.
pub(crate) fn unsupported(driver: &dyn Driver, data: &DataShape, needs: &Needs) -> Option<Refusal> {
    let can = driver.capabilities();
    let step = |step: &Option<String>, capability| {
        step.as_deref().and_then(|step| step_refusal(driver, step, capability))
    };
    length_refusal(driver, data)
        .or_else(|| {
            let is_denied = !engine::scans_in_reverse(&can);
            is_denied.then(|| step(&needs.downwards, engine::REVERSE_SCANS)).flatten()
        })
        .or_else(|| step(&needs.sequences, SEQUENCE_SCANS))
        .or_else(|| step(&needs.pipelined, engine::PIPELINING))
}

/// Returns the refusal of keys or values longer than the engine takes.
fn length_refusal(driver: &dyn Driver, data: &DataShape) -> Option<Refusal> {
    let can = driver.capabilities();
    let lengths = [
        (Setting::KeyBytes, "keys", data.key_bytes, can.key_bytes_max),
        (Setting::ValueBytes, "values", data.value_bytes, can.value_bytes_max),
    ];
    let is_too_long = |bytes: u32, most: Option<u32>| most.is_some_and(|most| bytes > most);
    let found = lengths.into_iter().find(|(.., bytes, most)| is_too_long(*bytes, *most));
    let (setting, what, bytes, most) = found?;
    let (most, Identity { engine, version, .. }) = (most.unwrap_or_default(), driver.identity());
    Some(Refusal::Setting {
        setting,
        reason: format!("{what} of {bytes} bytes: {engine} {version} takes at most {most}"),
        remedy: format!("set `{}` to {most} or less, or leave this variant out", setting.name()),
    })
}

/// Returns why a step that needs a capability of that name cannot be run.
fn step_refusal(driver: &dyn Driver, step: &str, capability: &str) -> Option<Refusal> {
    let can = driver.capabilities();
    let why = can.why_not(capability)?;
    let engine = driver.identity().engine;
    let left_out = if capability == engine::PIPELINING { "the pipeline" } else { "the step" };
    let reason = format!(
        "step `{step}` needs {}, which {engine} lacks ({why}); leave {left_out} or this variant \
         out",
        capability.replace('_', " ")
    );
    Some(Refusal::Build { reason })
}
