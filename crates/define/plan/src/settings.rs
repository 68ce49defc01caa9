//! The table of settings: every key of experiment files and its flag.

use std::sync::LazyLock;

use model::setting::{Declared, Form, Scope};
use model::{Arrivals, LoadReuse, Pacing, PageCache, Placement, Settings};

use Form::{Amount, Name, Number, Switch, Text, Whole};
use Kind::{Levels, Lines, One, Pairs, Tables};
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

/// What a key has.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// One value.
    One(Form),
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

/// Declaration of one setting.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Key in experiment files; with hyphens, the command-line flag.
    pub key: &'static str,
    /// The tables that may have it.
    pub(crate) tables: &'static [Table],
    /// What it has.
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

        /// Every setting but those of engines.
        const SETTINGS: &[&Setting] = &[$($constant),*];
    };
}

#[rustfmt::skip]
declare! {
    NAME "name" [Experiment, Variant], One(Text), Any, None, "";
    QUESTION "question" [Experiment], One(Text), Any, None, "";
    SIZE "size" [Experiment], One(Text), Any, None, "";
    ENGINE "engine" [Variant], One(Text), Any, None, "";
    STEP "step" [Step, Finding], One(Text), Any, None, "";
    DSN "dsn" [Variant], One(Text), Any, None, "";
    PROFILE "profile" [Variant], One(Text), OwnServer, None, "";
    OPTIONS "options" [Variant], Pairs, Any, None, "";
    STEPS "steps" [Benchmark], Tables(Step), Any, None, "";
    LOAD "load" [Benchmark, Step], Kind::Load, Any, None, "";
    OCCURRENCE "occurrence" [Finding], One(Whole), Any, None, "";
    STEP_CLIENTS "clients" [Step, Finding], One(Whole), Any, None, "";
    BASE_CLIENTS "base_clients" [Finding], One(Whole), Any, None, "";
    CODE "code" [Waiver], One(Text), Any, None, "";
    REASON "reason" [Waiver], One(Text), Any, None, "";
    SOURCE "source" [Published], One(Text), Any, None, "";
    SETUP "setup" [Published], One(Text), Any, None, "";
    SCALED "scaled" [Published], One(Text), Any, None, "";
    SIZES "sizes" [Published, Finding], Lines, Any, None, "";
    FINDINGS "finding" [Published], Tables(Finding), Any, None, "";
    CLAIM "claim" [Finding], One(Text), Any, None, "";
    VARIANT "variant" [Finding], One(Text), Any, None, "";
    METRIC "metric" [Finding], One(Text), Any, None, "";
    VALUE "value" [Finding], One(Number), Any, None, "";
    BASE_VALUE "base_value" [Finding], One(Number), Any, None, "";
    RATIO "ratio" [Finding], One(Number), Any, None, "";
    EXPECT "expect" [Finding], One(Text), Any, None, "";
    REASONS "reasons" [Finding], Lines, Any, None, "";
    OPERATIONS "operations" [Step], One(Amount), Any, None, "";
    ROWS "rows" [Benchmark], One(Amount), Any, Some("COUNT"), "Rows of the key space, such as 200k or 4M";
    KEY_BYTES "key_bytes" [Benchmark], One(Amount), KeyValue, Some("SIZE"), "Size of a key, in bytes";
    VALUE_BYTES "value_bytes" [Benchmark], One(Amount), KeyValue, Some("SIZE"), "Size of a value, in bytes or as 4KiB";
    COMPRESSIBLE_TO "compressible_to" [Benchmark], One(Number), KeyValue, Some("SHARE"), "Compressed size of a value as a share, such as 0.5";
    DURATION "duration" [Benchmark, Device, Step], One(Amount), Any, Some("SPAN"), "Length of the steps that end by duration, such as 10s";
    WARMUP "warmup" [Benchmark, Step], One(Amount), Any, Some("SPAN"), "Unmeasured warm-up of these steps";
    CLIENTS "clients" [Factors], Levels, Any, Some("LEVELS"), "Client threads: levels such as 1,2,4; `sweep` for levels from 1 to 4 times the CPUs; `adaptive` to find the number with the highest throughput";
    TESTS "tests" [Device], Lines, Any, None, "";
    ACCESS "access" [Device], Lines, Any, None, "";
    FILL "fill" [Device], One(Switch), Any, None, "";
    RAW "raw" [Device], One(Text), Any, Some("DEVICE"), "Unused block device that an experiment on storage only reads";
    FILE_SIZE "file_size" [Device], One(Amount), Any, Some("SIZE"), "Size of the file of an experiment on storage";
    RATE "rate" [Load], One(Amount), Any, Some("RATE"), "Offered rate of an open loop, such as 50k/s, in steps that end by duration";
    ARRIVALS "arrivals" [Load], One(Name(|| Arrivals::ALL.map(Arrivals::name).into())), Any, Some("NAME"), "Arrival process of the rate: poisson or constant";
    PACING "pacing" [Load], One(Name(|| Pacing::ALL.map(Pacing::name).into())), Any, Some("NAME"), "How a free client waits for an arrival: auto, spin or hybrid";
    SLA "sla" [Load], One(Amount), Any, Some("LIMIT"), "Response-time limit, such as 'p99.9 < 2ms': tests the --rate, or searches for the highest rate within the limit";
    REUSE "reuse" [Load], One(Name(|| LoadReuse::ALL.map(LoadReuse::name).into())), Any, Some("WHICH"), "Runs that share a load: fresh (none, each run loads its data), per-block or per-variant";
    PIPELINE "pipeline" [Load], One(Whole), Any, Some("DEPTH"), "Operations that each client keeps in flight, such as 16; for SQL servers, in steps that end by duration";
    RUNS_PER_LOAD "runs_per_load" [Factors], One(Whole), Any, Some("N"), "Repetitions that share a load, with --load per-variant; default: all";
    REPETITIONS "repetitions" [Factors], One(Whole), Any, Some("N"), "Repetitions of every cell";
    DISTRIBUTION "distribution" [Benchmark, Step, Finding], One(Text), KeyValue, Some("NAME"), "Key distribution, such as uniform, zipf:0.99 or hotspot:64.512";
    RANGE_ROWS "range_rows" [Benchmark, Step], One(Whole), KeyValue, Some("N"), "Rows of a range read";
    BATCH_KEYS "batch_keys" [Benchmark, Step], One(Whole), KeyValue, Some("N"), "Keys of a multi_get";
    FIELD_BYTES "field_bytes" [Benchmark, Step], One(Amount), KeyValue, Some("SIZE"), "Bytes of a value that are read, replaced or appended, at least 8";
    WRITER_RATE "writer_rate" [Benchmark, Step], One(Amount), KeyValue, Some("SIZE/s"), "Rate limit of the background writer, such as 2MiB/s";
    SETTLE_CAP "settle_cap" [Benchmark, Step], One(Amount), Any, Some("SPAN"), "Longest wait of a settle step until the engine is idle";
    MEMORY "memory" [Benchmark], One(Amount), OwnServer, Some("SIZE"), "Memory cap of the worker, such as 2GiB";
    PAGE_CACHE "page_cache" [Benchmark], One(Name(|| PageCache::ALL.map(PageCache::name).into())), OwnServer, Some("STATE"), "Page cache when runs that share a load start to measure: warm or dropped";
    PLACEMENT "placement" [Benchmark], One(Name(|| Placement::ALL.map(Placement::name).into())), Any, Some("NAME"), "CPUs of the client and its server: free, same-cpu or split";
    WORKLOAD "workload" [Benchmark], One(Text), Any, Some("NAME"), "Workload preset that derives sizes from the machine (byrx, byos, iobuf or iodir), or application of SQL servers: ibench-2023, ibench-current, sysbench, or the path of your file";
    PARAMETERS "parameters" [Benchmark, Size], Pairs, Any, None, "";
    SEED "seed" [Experiment], One(Whole), Any, Some("N"), "Seed of all random numbers";
    BASE "base" [Experiment, Finding], One(Text), Any, Some("VARIANT"), "Base case of the relative tables";
    MARGIN "margin" [Experiment], One(Amount), Any, Some("PERCENT"), "Smallest difference that matters, such as 2%";
    MEASURE "measure" [Experiment], Lines, Any, None, "";
    ANSWER "answer" [Experiment], Lines, Any, None, "";
    CONTROL "control" [Experiment], One(Switch), Any, Some(""), "Run the base a second time under another name; a difference between the two is noise";
}

/// The settings common to all engines, which drivers translate.
static OF_ENGINES: LazyLock<Vec<Setting>> = LazyLock::new(|| {
    let of_engines = |declared: &Declared| Setting {
        key: declared.key,
        tables: &[Benchmark, Variant],
        kind: One(declared.form),
        scope: declared.scope,
        value_name: Some(declared.value_name),
        help: declared.help,
    };
    Settings::DECLARED.iter().map(of_engines).collect()
});

/// Returns every setting, those of flags in the order of the help.
pub(crate) fn all() -> impl Iterator<Item = &'static Setting> {
    SETTINGS.iter().copied().chain(of_engines())
}

/// Returns the settings of a table.
pub(crate) fn of_table(table: Table) -> impl Iterator<Item = &'static Setting> {
    all().filter(move |setting| setting.is_of(table))
}

/// Returns the settings common to all engines, which drivers translate.
pub(crate) fn of_engines() -> impl Iterator<Item = &'static Setting> {
    OF_ENGINES.iter()
}

/// Returns the settings that have a flag.
pub fn flags() -> impl Iterator<Item = &'static Setting> {
    all().filter(|setting| setting.value_name.is_some())
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
    fn the_help_of_a_setting_with_names_lists_them() {
        let mut with_names = 0;
        for setting in all() {
            let One(Name(names)) = setting.kind else { continue };
            with_names += 1;
            let is_listed = |name: &&str| setting.help.contains(name);
            assert!(!names().is_empty() && names().iter().all(is_listed), "{}", setting.help);
        }
        assert!(with_names > 5, "{with_names}");
    }
}
