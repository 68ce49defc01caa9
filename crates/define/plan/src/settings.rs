//! The table of settings: every key of experiment files and its flag.

use std::ops::Deref;
use std::sync::LazyLock;

use model::setting::{Declared, Form, Scope, parse_short_size, parse_switch, parse_whole};
use model::units::{parse_count, parse_share, parse_size};
use model::{
    Access, Arrivals, Bytes, CutFileSystem, CutLevel, EventKind, Expected, IoTest, Limit,
    LoadReuse, Nanos, Pacing, PageCache, Placement, Settings, Survivors,
};
use reader::error::PlanError;
use reader::place::Placed;

use crate::value::{
    Levels, above_zero, address, client_count, comparable, compressible_to, destination,
    destinations, distinct, expected, filled, key_bytes, levels, memory, named, seed, text,
    value_bytes,
};
use crate::window::parse_duration;

use Form::{Amount, Name, Number, Switch, Text, Whole};
use Kind::{LineOrLines, Lines, One, Pairs, Tables};
use Table::{
    Benchmark, Device, Durability, Event, Experiment, Factors, Finding, Hosts, Load, Published,
    Size, Step, Variant, Waiver,
};

/// A table of experiment files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    Experiment,
    Benchmark,
    Device,
    Factors,
    Hosts,
    Durability,
    Size,
    Variant,
    Step,
    Event,
    Load,
    Waiver,
    Published,
    Finding,
}

model::names!(Table, "a table":
    Experiment "[experiment]", Benchmark "[benchmark]", Device "[device]", Factors "[factors]",
    Hosts "[hosts]", Durability "[durability]", Size "[size.NAME]", Variant "[[variant]]", Step "a step's table", Event "an event's table", Load "a load's table", Waiver "[[waive]]",
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
    /// The same, or one text.
    LineOrLines,
    /// A list of tables.
    Tables(Table),
    /// A load: a keyword, or a table.
    Load,
}

/// Returns why a text is no value of a setting.
type Check = fn(&str) -> Result<(), PlanError>;

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
    /// Checks a text; `None` for the settings of engines, which `model` reads.
    check: Option<Check>,
}

impl Setting {
    /// Checks that a text is a value of the setting.
    pub(crate) fn check(&self, text: &Placed<String>) -> Result<(), PlanError> {
        let checked = match self.check {
            Some(check) => check(&text.value),
            None => Settings::default().set(self.key, &text.value).map_err(PlanError::new),
        };
        checked.map_err(|error| {
            let One(Name(names)) = self.kind else { return error.placed(&text.place) };
            let why = format!("unknown {} `{}`", self.key, text.value);
            PlanError::here(&text.place, why).meant(&text.value, names(), self.help)
        })
    }

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

/// A setting with the type of its values.
#[derive(Debug)]
pub(crate) struct Key<T: 'static> {
    setting: Setting,
    /// Returns the value of a text, which is checked where it is read.
    pub(crate) parse: fn(&str) -> Result<T, PlanError>,
}

impl<T> Deref for Key<T> {
    type Target = Setting;

    fn deref(&self) -> &Setting {
        &self.setting
    }
}

/// Declares settings: a constant each, and the table of them.
macro_rules! declare {
    ($($constant:ident: $type:ty = $key:literal $tables:expr, $kind:expr, $parse:expr, $scope:ident, $value:expr, $help:literal;)*) => {
        $(pub(crate) const $constant: &Key<$type> = &Key {
            setting: Setting {
                key: $key,
                tables: &$tables,
                kind: $kind,
                scope: Scope::$scope,
                value_name: $value,
                help: $help,
                check: Some(|text| ($constant.parse)(text).map(drop)),
            },
            parse: $parse,
        };)*

        /// Every setting except the settings of engines.
        const SETTINGS: &[&Setting] = &[$(&$constant.setting),*];
    };
}

#[rustfmt::skip]
declare! {
    NAME: String = "name" [Experiment, Variant], One(Text), text, Any, None, "";
    QUESTION: String = "question" [Experiment], One(Text), text, Any, None, "";
    SIZE: String = "size" [Experiment], One(Text), text, Any, None, "";
    ENGINE: String = "engine" [Variant], One(Text), text, Any, None, "";
    STEP: String = "step" [Step, Finding], One(Text), text, Any, None, "";
    DSN: String = "dsn" [Variant], One(Text), text, Any, None, "";
    PROFILE: String = "profile" [Variant], One(Text), text, OwnServer, None, "";
    OPTIONAL: bool = "optional" [Variant], One(Switch), |text| Ok(parse_switch(text)?), Any, None, "";
    OPTIONS: String = "options" [Variant], Pairs, text, Any, None, "";
    STEPS: String = "steps" [Benchmark], Tables(Step), text, Any, None, "";
    LOAD: String = "load" [Benchmark, Step], Kind::Load, text, Any, None, "";
    EVENTS: String = "events" [Step], Tables(Event), text, Any, None, "";
    AT: Nanos = "at" [Event], One(Amount), |text| Ok(parse_duration(text)?), Any, None, "";
    DO: EventKind = "do" [Event], One(Name(|| EventKind::ALL.map(EventKind::name).into())), named, Any, None, "events: kill, restart, stop and continue for servers, reopen for embedded engines, disk_full, disk_free and fsync_fails for both";
    OCCURRENCE: u32 = "occurrence" [Finding], One(Whole), |text| Ok(parse_whole(text)?), Any, None, "";
    STEP_CLIENTS: u32 = "clients" [Step, Finding], One(Whole), client_count, Any, None, "";
    BASE_CLIENTS: u32 = "base_clients" [Finding], One(Whole), client_count, Any, None, "";
    SERVER: String = "server" [Hosts], One(Text), destination, Any, None, "";
    HOST_CLIENTS: String = "clients" [Hosts], LineOrLines, destinations, Any, None, "";
    ADDRESS: String = "address" [Hosts], One(Text), address, Any, None, "";
    SSH_CONFIG: String = "ssh_config" [Hosts], One(Text), text, Any, None, "";
    CUTS: u32 = "cuts" [Durability, Size], One(Whole), |text| above_zero("the number of cuts", parse_whole(text)?), Any, None, "";
    CUT_LEVELS: Vec<CutLevel> = "levels" [Durability], LineOrLines, |text| distinct("levels", text), Any, None, "";
    SURVIVORS: Survivors = "survivors" [Durability], One(Name(|| Survivors::ALL.map(Survivors::name).into())), named, Any, None, "What survives of unsynced changes: nothing, half or everything";
    STRICT: bool = "strict" [Durability], One(Switch), |text| Ok(parse_switch(text)?), Any, None, "";
    FILE_SYSTEM: CutFileSystem = "file_system" [Durability], One(Name(|| CutFileSystem::ALL.map(CutFileSystem::name).into())), named, Any, None, "File system on the disk that is cut: ext4, ext4-nobarrier, xfs or btrfs";
    CUT_CLIENTS: u32 = "clients" [Durability], One(Whole), client_count, Any, None, "";
    CODE: String = "code" [Waiver], One(Text), text, Any, None, "";
    REASON: String = "reason" [Waiver], One(Text), text, Any, None, "";
    SOURCE: String = "source" [Published], One(Text), |text| filled("the publication has no source", "write the source here: author, date and title", text), Any, None, "";
    SETUP: String = "setup" [Published], One(Text), |text| filled("the publication has no setup", "write the setup here: hardware, engine builds, rows and clients of the publication", text), Any, None, "";
    SCALED: String = "scaled" [Published], One(Text), text, Any, None, "";
    SIZES: String = "sizes" [Published, Finding], Lines, text, Any, None, "";
    FINDINGS: String = "finding" [Published], Tables(Finding), text, Any, None, "";
    CLAIM: String = "claim" [Finding], One(Text), |text| filled("the finding has no claim", "write the claim here: one sentence", text), Any, None, "";
    VARIANT: String = "variant" [Finding], One(Text), text, Any, None, "";
    METRIC: String = "metric" [Finding], One(Text), text, Any, None, "";
    VALUE: f64 = "value" [Finding], One(Number), |text| comparable("a value", text), Any, None, "";
    BASE_VALUE: f64 = "base_value" [Finding], One(Number), |text| comparable("a value", text), Any, None, "";
    RATIO: f64 = "ratio" [Finding], One(Number), |text| comparable("a ratio", text), Any, None, "";
    EXPECT: Expected = "expect" [Finding], One(Text), expected, Any, None, "";
    REASONS: String = "reasons" [Finding], Lines, text, Any, None, "";
    OPERATIONS: u64 = "operations" [Step], One(Amount), |text| above_zero("operations", parse_count(text)?), Any, None, "";
    ROWS: u64 = "rows" [Benchmark], One(Amount), |text| above_zero("the number of rows", parse_count(text)?), Any, Some("COUNT"), "Rows of the key space, such as 200k or 4M";
    KEY_BYTES: u32 = "key_bytes" [Benchmark], One(Amount), key_bytes, KeyValue, Some("SIZE"), "Size of a key, in bytes";
    VALUE_BYTES: u32 = "value_bytes" [Benchmark], One(Amount), value_bytes, KeyValue, Some("SIZE"), "Size of a value, in bytes or as 4KiB";
    COMPRESSIBLE_TO: f64 = "compressible_to" [Benchmark], One(Number), compressible_to, KeyValue, Some("SHARE"), "Compressed size of a value as a share, such as 0.5";
    DURATION: Nanos = "duration" [Benchmark, Device, Step], One(Amount), |text| above_zero("the duration", parse_duration(text)?), Any, Some("SPAN"), "Length of the steps that end by duration, such as 10s";
    WARMUP: Nanos = "warmup" [Benchmark, Step], One(Amount), |text| Ok(parse_duration(text)?), Any, Some("SPAN"), "Unmeasured warm-up of these steps";
    CLIENTS: Levels = "clients" [Factors], Kind::Levels, levels, Any, Some("LEVELS"), "Client threads: levels such as 1,2,4; `sweep` for levels from 1 to 4 times the CPUs; `adaptive` to find the number with the highest throughput";
    TESTS: Vec<IoTest> = "tests" [Device], Lines, |text| distinct("tests", text), Any, None, "";
    ACCESS: Vec<Access> = "access" [Device], Lines, |text| distinct("access", text), Any, None, "";
    FILL: bool = "fill" [Device], One(Switch), |text| Ok(parse_switch(text)?), Any, None, "";
    RAW: String = "raw" [Device], One(Text), text, Any, Some("DEVICE"), "Unused block device that an experiment on storage only reads";
    FILE_SIZE: Bytes = "file_size" [Device], One(Amount), |text| Ok(parse_size(text)?), Any, Some("SIZE"), "Size of the file of an experiment on storage";
    RATE: String = "rate" [Load], One(Amount), text, Any, Some("RATE"), "Offered rate of an open loop, such as 50k/s, in steps that end by duration";
    ARRIVALS: Arrivals = "arrivals" [Load], One(Name(|| Arrivals::ALL.map(Arrivals::name).into())), named, Any, Some("NAME"), "Arrival process of the rate: poisson or constant";
    PACING: Pacing = "pacing" [Load], One(Name(|| Pacing::ALL.map(Pacing::name).into())), named, Any, Some("NAME"), "How a free client waits for an arrival: auto, spin or hybrid";
    SLA: Limit = "sla" [Load], One(Amount), |text| Ok(Limit::parse(text)?), Any, Some("LIMIT"), "Response-time limit, such as 'p99.9 < 2ms': tests the --rate, or searches for the highest rate within the limit";
    REUSE: LoadReuse = "reuse" [Load], One(Name(|| LoadReuse::ALL.map(LoadReuse::name).into())), named, Any, Some("WHICH"), "Runs that share a load: fresh (none, each run loads its data), per-block or per-variant";
    PIPELINE: u32 = "pipeline" [Load], One(Whole), |text| Ok(parse_whole(text)?), Any, Some("DEPTH"), "Operations that each client keeps in flight, such as 16; for SQL servers, in steps that end by duration";
    RUNS_PER_LOAD: u32 = "runs_per_load" [Factors], One(Whole), |text| above_zero("the number of runs of a load", parse_whole(text)?), Any, Some("N"), "Repetitions that share a load, with --load per-variant; default: all";
    REPETITIONS: u32 = "repetitions" [Factors], One(Whole), |text| above_zero("repetitions", parse_whole(text)?), Any, Some("N"), "Repetitions of every cell";
    DISTRIBUTION: String = "distribution" [Benchmark, Step, Finding], One(Text), text, KeyValue, Some("NAME"), "Key distribution, such as uniform, zipf:0.99 or hotspot:64.512";
    RANGE_ROWS: u32 = "range_rows" [Benchmark, Step], One(Whole), |text| above_zero("range_rows", parse_whole(text)?), KeyValue, Some("N"), "Rows of a range read";
    BATCH_KEYS: u32 = "batch_keys" [Benchmark, Step], One(Whole), |text| above_zero("batch_keys", parse_whole(text)?), KeyValue, Some("N"), "Keys of a multi_get";
    FIELD_BYTES: u32 = "field_bytes" [Benchmark, Step], One(Amount), |text| above_zero("field_bytes", parse_short_size(text)?), KeyValue, Some("SIZE"), "Bytes of a value that are read, replaced or appended, at least 8";
    WRITER_RATE: Bytes = "writer_rate" [Benchmark, Step], One(Amount), |text| above_zero("the writer's rate", parse_size(text.strip_suffix("/s").unwrap_or(text))?), KeyValue, Some("SIZE/s"), "Rate limit of the background writer, such as 2MiB/s";
    SETTLE_CAP: Nanos = "settle_cap" [Benchmark, Step], One(Amount), |text| Ok(parse_duration(text)?), Any, Some("SPAN"), "Longest wait of a settle step until the engine is idle";
    MEMORY: Bytes = "memory" [Benchmark], One(Amount), memory, OwnServer, Some("SIZE"), "Memory cap of the worker, such as 2GiB";
    PAGE_CACHE: PageCache = "page_cache" [Benchmark], One(Name(|| PageCache::ALL.map(PageCache::name).into())), named, OwnServer, Some("STATE"), "Page cache when runs that share a load start to measure: warm or dropped";
    PLACEMENT: Placement = "placement" [Benchmark], One(Name(|| Placement::ALL.map(Placement::name).into())), named, Any, Some("NAME"), "CPUs of the client and its server: free, same-cpu or split";
    WORKLOAD: String = "workload" [Benchmark], One(Text), text, Any, Some("NAME"), "Workload preset that derives sizes from the machine (byrx, byos, iobuf or iodir), or application of SQL servers: ibench-2023, ibench-current, sysbench, or the path of your file";
    PARAMETERS: String = "parameters" [Benchmark, Size], Pairs, text, Any, None, "";
    IS_PROFILED: bool = "profile" [Benchmark], One(Switch), |text| Ok(parse_switch(text)?), Any, Some(""), "Take CPU profiles of the measured steps, with Linux perf";
    SEED: u64 = "seed" [Experiment], One(Whole), seed, Any, Some("N"), "Seed of all random numbers";
    BASE: String = "base" [Experiment, Finding], One(Text), text, Any, Some("VARIANT"), "Base case of the relative tables";
    MARGIN: f64 = "margin" [Experiment], One(Amount), |text| Ok(parse_share(text)?), Any, Some("PERCENT"), "Smallest difference that matters, such as 2%";
    MEASURE: String = "measure" [Experiment], Lines, text, Any, None, "";
    ANSWER: String = "answer" [Experiment], Lines, text, Any, None, "";
    CONTROL: bool = "control" [Experiment], One(Switch), |text| Ok(parse_switch(text)?), Any, Some(""), "Run the base a second time under another name; a difference between the two is noise";
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
        check: None,
    };
    Settings::DECLARED.iter().map(of_engines).collect()
});

/// Returns every setting; settings with a flag are in the order of the help.
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
        Experiment => const { &[&NAME.setting, &QUESTION.setting] },
        Variant => const { &[&NAME.setting, &ENGINE.setting] },
        Step => const { &[&STEP.setting] },
        Event => const { &[&AT.setting, &DO.setting] },
        Waiver => const { &[&CODE.setting, &REASON.setting] },
        Published => const { &[&SOURCE.setting, &SETUP.setting] },
        Hosts => const { &[&SERVER.setting, &HOST_CLIENTS.setting] },
        Finding => const { &[&CLAIM.setting, &VARIANT.setting, &STEP.setting] },
        Benchmark | Device | Durability | Factors | Size | Load => &[],
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_key_is_declared_once_per_table_and_every_flag_once() {
        for table in
            [Experiment, Benchmark, Device, Factors, Hosts, Size, Variant, Step, Event, Load]
        {
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
