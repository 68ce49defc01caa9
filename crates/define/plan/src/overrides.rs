//! Command-line values that override an experiment file.

use model::{BuildRef, Options, Waiver};
use toml::Spanned;

use crate::spec::{ClientsEntry, File, LoadEntry, Text, WaiveTable, WordOr};

/// Values that replace the file's, parsed in the same way.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Overrides {
    /// Rows of the key space.
    pub rows: Option<String>,
    /// Bytes of a key.
    pub key_bytes: Option<u32>,
    /// Bytes of a value.
    pub value_bytes: Option<u32>,
    /// Length of the steps that end by duration.
    pub duration: Option<String>,
    /// Unmeasured time before them.
    pub warmup: Option<String>,
    /// Levels of the client factor: `1,2,4`, `sweep` or `adaptive`.
    pub clients: Option<String>,
    /// Offered rate of the steps that end by duration.
    pub rate: Option<String>,
    /// Arrival process.
    pub arrivals: Option<String>,
    /// Pacing of a free client.
    pub pacing: Option<String>,
    /// Response-time limit.
    pub sla: Option<String>,
    /// Operations that each client has in flight.
    pub pipeline: Option<u32>,
    /// Repetitions of every cell.
    pub repetitions: Option<u32>,
    /// Key distribution.
    pub distribution: Option<String>,
    /// Rate limit of the background writer.
    pub writer_rate: Option<String>,
    /// Durability class.
    pub durability: Option<String>,
    /// Engine cache size.
    pub cache: Option<String>,
    /// Memory cap.
    pub memory: Option<String>,
    /// Block compression.
    pub compression: Option<String>,
    /// The allocator that serves `malloc`.
    pub allocator: Option<String>,
    /// Whether the page cache is bypassed.
    pub direct_io: Option<bool>,
    /// Workload preset or application.
    pub workload: Option<String>,
    /// Parameters of the application, by name.
    pub parameters: Vec<(String, String)>,
    /// CPU placement of the client and its server.
    pub placement: Option<String>,
    /// Seed.
    pub seed: Option<u64>,
    /// Base case.
    pub base: Option<String>,
    /// Practical margin, in per cent.
    pub margin: Option<String>,
    /// Whether the base is repeated as a control.
    pub control: Option<bool>,
    /// Waived rules with reasons, added to those of the file.
    pub waivers: Vec<Waiver>,
}

/// A variant typed on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuickVariant {
    /// The engine build.
    pub build: BuildRef,
    /// Profile.
    pub profile: Option<String>,
    /// Engine options.
    pub options: Options,
}

/// Replaces the file's values by those of the command line.
pub(crate) fn apply(file: &mut File, overrides: &Overrides) {
    let text = |value: &Option<String>| value.clone().map(|v| Spanned::new(0..0, Text(v)));
    let word = |value: &Option<String>| value.clone().map(|v| Spanned::new(0..0, v));
    let number = |value: Option<u32>| value.map(|v| Spanned::new(0..0, v));
    let benchmark = &mut file.benchmark;
    replace(&mut benchmark.rows, text(&overrides.rows));
    replace(&mut benchmark.duration, text(&overrides.duration));
    replace(&mut benchmark.warmup, text(&overrides.warmup));
    replace(&mut benchmark.writer_rate, text(&overrides.writer_rate));
    replace(&mut benchmark.cache, text(&overrides.cache));
    replace(&mut benchmark.memory, text(&overrides.memory));
    replace(&mut benchmark.distribution, word(&overrides.distribution));
    replace(&mut benchmark.durability, word(&overrides.durability));
    replace(&mut benchmark.compression, word(&overrides.compression));
    replace(&mut benchmark.allocator, word(&overrides.allocator));
    replace(&mut benchmark.workload, word(&overrides.workload));
    replace(&mut benchmark.placement, word(&overrides.placement));
    for (name, value) in &overrides.parameters {
        benchmark.parameters.0.retain(|(known, _)| known.get_ref() != name);
        let value = Spanned::new(0..0, Text(value.clone()));
        benchmark.parameters.0.push((Spanned::new(0..0, name.clone()), value));
    }
    replace(&mut benchmark.key_bytes, number(overrides.key_bytes));
    replace(&mut benchmark.value_bytes, number(overrides.value_bytes));
    replace(&mut benchmark.direct_io, overrides.direct_io.map(|v| Spanned::new(0..0, v)));
    replace(&mut file.factors.repetitions, number(overrides.repetitions));
    let clients = overrides.clients.as_deref().map(ClientsEntry::typed);
    replace(&mut file.factors.clients, clients.map(|levels| Spanned::new(0..0, levels)));
    apply_load(&mut file.benchmark.load, overrides);
    replace(&mut file.experiment.base, word(&overrides.base));
    replace(&mut file.experiment.seed, overrides.seed);
    replace(&mut file.experiment.margin, text(&overrides.margin));
    replace(&mut file.experiment.control, overrides.control);
    let spanned = |word: &String| Spanned::new(0..0, word.clone());
    for Waiver { code, reason } in &overrides.waivers {
        file.waive.retain(|waiver| !waiver.code.get_ref().eq_ignore_ascii_case(code));
        file.waive.push(WaiveTable { code: spanned(code), reason: spanned(reason) });
    }
}

/// Replaces values of the benchmark's load that the command line sets.
fn apply_load(load: &mut Option<Spanned<LoadEntry>>, overrides: &Overrides) {
    let Overrides { rate, arrivals, pacing, sla, pipeline, .. } = overrides;
    if [rate, arrivals, pacing, sla].into_iter().all(Option::is_none) && pipeline.is_none() {
        return;
    }
    let place = load.as_ref().map_or(0..0, Spanned::span);
    let mut table = match load.take().map(Spanned::into_inner) {
        Some(WordOr::Table(table)) => table,
        Some(WordOr::Word(_)) | None => Box::default(),
    };
    let text = |value: &Option<String>| value.clone().map(|v| Spanned::new(0..0, Text(v)));
    let word = |value: &Option<String>| value.clone().map(|v| Spanned::new(0..0, v));
    replace(&mut table.rate, text(rate));
    replace(&mut table.sla, text(sla));
    replace(&mut table.arrivals, word(arrivals));
    replace(&mut table.pacing, word(pacing));
    replace(&mut table.pipeline, pipeline.map(|depth| Spanned::new(0..0, depth)));
    *load = Some(Spanned::new(place, WordOr::Table(table)));
}

/// Replaces a value when there is a new one.
fn replace<T>(old: &mut Option<T>, new: Option<T>) {
    if new.is_some() {
        *old = new;
    }
}
