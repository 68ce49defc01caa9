//! The table of settings: every key of experiment files and its flag.

use model::{Allocator, Arrivals, Durability, LoadReuse, Pacing, PageCache, Placement};

use Table::{
    Benchmark, Device, Experiment, Factors, Finding, Load, Published, Size, Step, Variant, Waiver,
};

/// A table of experiment files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    Experiment,
    Benchmark,
    Device,
    Factors,
    Size,
    Variant,
    Step,
    Load,
    Waiver,
    Published,
    Finding,
}

model::names!(Table, "a table":
    Experiment "[experiment]", Benchmark "[benchmark]", Device "[device]", Factors "[factors]",
    Size "[size.NAME]", Variant "[[variant]]", Step "a step's table", Load "a load's table", Waiver "[[waive]]",
    Published "[[published]]", Finding "[[published.finding]]");

/// The form of a setting's value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// A quantity: text or a bare number.
    Amount,
    /// Text.
    Text,
    /// One of these names.
    Name(fn() -> Vec<&'static str>),
    /// A whole number.
    Whole,
    /// A number.
    Number,
    /// True or false; a flag without a value.
    Switch,
    /// Levels of a factor: a list, or a keyword.
    Levels,
    /// A table of names and values.
    Pairs,
    /// A list of texts, one a line.
    Lines,
    /// A list of tables.
    Tables(Table),
    /// A load: a keyword, or a table.
    Load,
}

/// The experiments that take a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All of them.
    Any,
    /// Key-value workloads; applications define their own rows.
    KeyValue,
    /// Engines and servers that Assay starts.
    OwnServer,
}

/// Declaration of one setting.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Key in experiment files; with hyphens, the command-line flag.
    pub key: &'static str,
    /// The tables that may have it.
    pub(crate) tables: &'static [Table],
    /// The form of its value.
    pub(crate) kind: Kind,
    /// The experiments that take it.
    pub(crate) scope: Scope,
    /// Name of the value in the flag's help; `None` without a flag.
    pub value_name: Option<&'static str>,
    /// Help text of the flag.
    pub help: &'static str,
}

impl Setting {
    /// Returns the name of its flag, without the hyphens before it.
    pub fn flag(&self) -> String {
        match self.key {
            // As its value is written in a file when there is no other: load = "per-block".
            "reuse" => "load".to_owned(),
            key => key.replace('_', "-"),
        }
    }

    /// Returns whether a table may have it: a size also what flags set of a benchmark and factors.
    fn is_of(&self, table: Table) -> bool {
        let is_sized = |table: &Table| matches!(table, Benchmark | Device | Factors);
        let is_flag = table == Size && self.value_name.is_some();
        self.tables.contains(&table) || is_flag && self.tables.iter().any(is_sized)
    }
}

/// Declares settings: a constant each, and the table of them.
macro_rules! declare {
    ($($constant:ident $key:literal $tables:expr, $kind:expr, $scope:ident, $value:expr, $help:literal;)*) => {
        $(pub(crate) const $constant: &Setting = &Setting {
            key: $key,
            tables: &$tables,
            kind: $kind,
            scope: Scope::$scope,
            value_name: $value,
            help: $help,
        };)*

        /// Every setting, those of flags in the order of the help.
        pub(crate) const SETTINGS: &[&Setting] = &[$($constant),*];
    };
}

#[rustfmt::skip]
declare! {
    NAME "name" [Experiment, Variant], Kind::Text, Any, None, "";
    QUESTION "question" [Experiment], Kind::Text, Any, None, "";
    SIZE "size" [Experiment], Kind::Text, Any, None, "";
    ENGINE "engine" [Variant], Kind::Text, Any, None, "";
    STEP "step" [Step, Finding], Kind::Text, Any, None, "";
    DSN "dsn" [Variant], Kind::Text, Any, None, "";
    PROFILE "profile" [Variant], Kind::Text, OwnServer, None, "";
    OPTIONS "options" [Variant], Kind::Pairs, Any, None, "";
    STEPS "steps" [Benchmark], Kind::Tables(Step), Any, None, "";
    LOAD "load" [Benchmark, Step], Kind::Load, Any, None, "";
    OCCURRENCE "occurrence" [Finding], Kind::Whole, Any, None, "";
    STEP_CLIENTS "clients" [Step, Finding], Kind::Whole, Any, None, "";
    BASE_CLIENTS "base_clients" [Finding], Kind::Whole, Any, None, "";
    CODE "code" [Waiver], Kind::Text, Any, None, "";
    REASON "reason" [Waiver], Kind::Text, Any, None, "";
    SOURCE "source" [Published], Kind::Text, Any, None, "";
    SETUP "setup" [Published], Kind::Text, Any, None, "";
    SCALED "scaled" [Published], Kind::Text, Any, None, "";
    SIZES "sizes" [Published, Finding], Kind::Lines, Any, None, "";
    FINDINGS "finding" [Published], Kind::Tables(Finding), Any, None, "";
    CLAIM "claim" [Finding], Kind::Text, Any, None, "";
    VARIANT "variant" [Finding], Kind::Text, Any, None, "";
    METRIC "metric" [Finding], Kind::Text, Any, None, "";
    VALUE "value" [Finding], Kind::Number, Any, None, "";
    BASE_VALUE "base_value" [Finding], Kind::Number, Any, None, "";
    RATIO "ratio" [Finding], Kind::Number, Any, None, "";
    EXPECT "expect" [Finding], Kind::Text, Any, None, "";
    REASONS "reasons" [Finding], Kind::Lines, Any, None, "";
    OPERATIONS "operations" [Step], Kind::Amount, Any, None, "";
    ROWS "rows" [Benchmark], Kind::Amount, Any, Some("COUNT"), "Rows of the key space, such as 200k or 4M";
    KEY_BYTES "key_bytes" [Benchmark], Kind::Amount, KeyValue, Some("SIZE"), "Size of a key, in bytes";
    VALUE_BYTES "value_bytes" [Benchmark], Kind::Amount, KeyValue, Some("SIZE"), "Size of a value, in bytes or as 4KiB";
    COMPRESSIBLE_TO "compressible_to" [Benchmark], Kind::Number, KeyValue, Some("SHARE"), "Compressed size of a value as a share, such as 0.5";
    DURATION "duration" [Benchmark, Device, Step], Kind::Amount, Any, Some("SPAN"), "Length of the steps that end by duration, such as 10s";
    WARMUP "warmup" [Benchmark, Step], Kind::Amount, Any, Some("SPAN"), "Unmeasured warm-up of these steps";
    CLIENTS "clients" [Factors], Kind::Levels, Any, Some("LEVELS"), "Client threads: levels such as 1,2,4; `sweep` for levels from 1 to 4 times the CPUs; `adaptive` to find the number with the highest throughput";
    TESTS "tests" [Device], Kind::Lines, Any, None, "";
    ACCESS "access" [Device], Kind::Lines, Any, None, "";
    FILL "fill" [Device], Kind::Switch, Any, None, "";
    RAW "raw" [Device], Kind::Text, Any, Some("DEVICE"), "Unused block device that an experiment on storage only reads";
    FILE_SIZE "file_size" [Device], Kind::Amount, Any, Some("SIZE"), "Size of the file of an experiment on storage";
    RATE "rate" [Load], Kind::Amount, Any, Some("RATE"), "Offered rate of an open loop, such as 50k/s, in steps that end by duration";
    ARRIVALS "arrivals" [Load], Kind::Name(|| Arrivals::ALL.map(Arrivals::name).into()), Any, Some("NAME"), "Arrival process of the rate: poisson or constant";
    PACING "pacing" [Load], Kind::Name(|| Pacing::ALL.map(Pacing::name).into()), Any, Some("NAME"), "How a free client waits for an arrival: auto, spin or hybrid";
    SLA "sla" [Load], Kind::Amount, Any, Some("LIMIT"), "Response-time limit, such as 'p99.9 < 2ms': tests the --rate, or searches for the highest rate within the limit";
    REUSE "reuse" [Load], Kind::Name(|| LoadReuse::ALL.map(LoadReuse::name).into()), Any, Some("WHICH"), "Runs that share a load: fresh (none, each run loads its data), per-block or per-variant";
    PIPELINE "pipeline" [Load], Kind::Whole, Any, Some("DEPTH"), "Operations that each client keeps in flight, such as 16; for SQL servers, in steps that end by duration";
    RUNS_PER_LOAD "runs_per_load" [Factors], Kind::Whole, Any, Some("N"), "Repetitions that share a load, with --load per-variant; default: all";
    REPETITIONS "repetitions" [Factors], Kind::Whole, Any, Some("N"), "Repetitions of every cell";
    DISTRIBUTION "distribution" [Benchmark, Step, Finding], Kind::Text, KeyValue, Some("NAME"), "Key distribution, such as uniform, zipf:0.99 or hotspot:64.512";
    RANGE_ROWS "range_rows" [Benchmark, Step], Kind::Whole, KeyValue, Some("N"), "Rows of a range read";
    BATCH_KEYS "batch_keys" [Benchmark, Step], Kind::Whole, KeyValue, Some("N"), "Keys of a multi_get";
    FIELD_BYTES "field_bytes" [Benchmark, Step], Kind::Amount, KeyValue, Some("SIZE"), "Bytes of a value that are read, replaced or appended, at least 8";
    WRITER_RATE "writer_rate" [Benchmark, Step], Kind::Amount, KeyValue, Some("SIZE/s"), "Rate limit of the background writer, such as 2MiB/s";
    SETTLE_CAP "settle_cap" [Benchmark, Step], Kind::Amount, Any, Some("SPAN"), "Longest wait of a settle step until the engine is idle";
    MEMORY "memory" [Benchmark], Kind::Amount, OwnServer, Some("SIZE"), "Memory cap of the worker, such as 2GiB";
    PAGE_CACHE "page_cache" [Benchmark], Kind::Name(|| PageCache::ALL.map(PageCache::name).into()), OwnServer, Some("STATE"), "Page cache when runs that share a load start to measure: warm or dropped";
    PLACEMENT "placement" [Benchmark], Kind::Name(|| Placement::ALL.map(Placement::name).into()), Any, Some("NAME"), "CPUs of the client and its server: free, same-cpu or split";
    WORKLOAD "workload" [Benchmark], Kind::Text, Any, Some("NAME"), "Workload preset that derives sizes from the machine (byrx, byos, iobuf or iodir), or application of SQL servers: ibench-2023, ibench-current, sysbench, or the path of your file";
    PARAMETERS "parameters" [Benchmark, Size], Kind::Pairs, Any, None, "";
    SEED "seed" [Experiment], Kind::Whole, Any, Some("N"), "Seed of all random numbers";
    BASE "base" [Experiment, Finding], Kind::Text, Any, Some("VARIANT"), "Base case of the relative tables";
    MARGIN "margin" [Experiment], Kind::Amount, Any, Some("PERCENT"), "Smallest difference that matters, such as 2%";
    MEASURE "measure" [Experiment], Kind::Lines, Any, None, "";
    ANSWER "answer" [Experiment], Kind::Lines, Any, None, "";
    CONTROL "control" [Experiment], Kind::Switch, Any, Some(""), "Run the base a second time under another name; a difference between the two is noise";
    DURABILITY "durability" [Benchmark, Variant], Kind::Name(|| Durability::ALL.map(Durability::name).into()), Any, Some("CLASS"), "Durability class of every write: none, os (survives a process crash) or sync";
    CACHE "cache" [Benchmark, Variant], Kind::Amount, OwnServer, Some("SIZE"), "Size of the engine's cache, such as 1GiB";
    DIRECT_IO "direct_io" [Benchmark, Variant], Kind::Switch, OwnServer, Some(""), "Bypass the page cache in reads and background writes";
    COMPRESSION "compression" [Benchmark, Variant], Kind::Text, OwnServer, Some("NAME"), "Block compression: none, lz4 or zstd";
    BACKGROUND_JOBS "background_jobs" [Benchmark, Variant], Kind::Whole, OwnServer, Some("N"), "Background threads that the engine may use";
    ALLOCATOR "allocator" [Benchmark, Variant], Kind::Name(|| Allocator::ALL.map(Allocator::name).into()), OwnServer, Some("NAME"), "Allocator that serves malloc: system, jemalloc, tcmalloc or mimalloc";
}

/// Returns the settings of a table.
pub(crate) fn of_table(table: Table) -> impl Iterator<Item = &'static Setting> {
    SETTINGS.iter().copied().filter(move |setting| setting.is_of(table))
}

/// Returns the settings common to all engines, which drivers translate.
pub(crate) fn of_engines() -> impl Iterator<Item = &'static Setting> {
    of_table(Variant).filter(|setting| setting.tables.contains(&Benchmark))
}

/// Returns the settings that have a flag.
pub fn flags() -> impl Iterator<Item = &'static Setting> {
    SETTINGS.iter().copied().filter(|setting| setting.value_name.is_some())
}

/// Returns the keys that a table must have.
pub(crate) const fn required(table: Table) -> &'static [&'static Setting] {
    match table {
        Experiment => &[NAME, QUESTION],
        Variant => &[NAME, ENGINE],
        Step => &[STEP],
        Waiver => &[CODE, REASON],
        Published => &[SOURCE, SETUP],
        Finding => &[CLAIM, VARIANT, STEP],
        Benchmark | Device | Factors | Size | Load => &[],
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_key_is_declared_once_per_table_and_every_flag_once() {
        for table in [Experiment, Benchmark, Device, Factors, Size, Variant, Step, Load, Finding] {
            let keys: Vec<_> = of_table(table).map(|setting| setting.key).collect();
            assert_eq!(keys.len(), keys.iter().collect::<BTreeSet<_>>().len(), "{keys:?}");
        }
        let keys: Vec<_> = flags().map(|setting| setting.key).collect();
        assert_eq!(keys.len(), keys.iter().collect::<BTreeSet<_>>().len(), "{keys:?}");
        assert!(flags().all(|setting| !setting.help.is_empty()));
    }

    #[test]
    fn settings_of_engines_are_those_of_the_record() {
        let labels = model::Settings::default().labels();
        assert!(of_engines().map(|setting| setting.key).eq(labels.iter().map(|(key, _)| *key)));
    }

    #[test]
    fn the_help_of_a_setting_with_names_lists_them() {
        let mut with_names = 0;
        for setting in SETTINGS {
            let Kind::Name(names) = setting.kind else { continue };
            with_names += 1;
            let is_listed = |name: &&str| setting.help.contains(name);
            assert!(!names().is_empty() && names().iter().all(is_listed), "{}", setting.help);
        }
        assert!(with_names > 5, "{with_names}");
    }
}
