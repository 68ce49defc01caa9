//! An open RocksDB: state, maintenance and close.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dynlib::written::Written;
use engine::{Engine, EngineError, Maintenance, OpenSpec, Result, Session, VALUE_CHANGES, Way};
use model::state::LevelShape;
use model::{Durability, EngineState, Identity, OpKind, Options, metric};

use crate::cache::{CACHE, HIGH_SHARE, LOW_SHARE, SHARD_BITS, TABLE};
use crate::cache_entries::{self, CacheEntries};
use crate::config::{Config, PERF_CONTEXT};
use crate::events::Events;
use crate::feature;
use crate::ffi_db::Db;
use crate::ffi_session::RocksSession;
use crate::perf::Counted;
use crate::provenance::{LogHead, OPTIONS_COPY, copy_options, log_head, options_file};
use crate::statistics::{self, Work};

/// The trigger that `CompactLevel0` lowers.
const TRIGGER: &str = "level0_file_num_compaction_trigger";
/// Unchanged calls of `state` after which pending work counts as stuck.
///
/// Universal compaction reports pending work that it never picks [RocksDB issue 9275], and so
/// does every style with automatic compaction off.
const STUCK_CALLS: u32 = 20;

/// An open database.
pub(crate) struct RocksEngine {
    pub(crate) db: Db,
    dir: PathBuf,
    pub(crate) durability: Durability,
    identity: Identity,
    log_head: LogHead,
    driver_options: Options,
    /// Whether values may be stored in blob files.
    pub(crate) is_separated: bool,
    /// Whether sessions have perf contexts.
    pub(crate) has_perf_context: bool,
    /// How parts of values are changed.
    changes: Way,
    watch: Mutex<Watch>,
    /// Counters of each session, held until the database closes.
    pub(crate) sessions: Mutex<Vec<SessionCounts>>,
}

/// What a session wrote, and the counters of its perf context, if any.
type SessionCounts = (Arc<Written>, Option<Arc<Counted>>);

/// State carried from one sample to the next.
#[derive(Default)]
struct Watch {
    events: Option<Events>,
    last: Option<(Work, Option<Vec<LevelShape>>)>,
    unchanged: u32,
    cache_entries: CacheEntries,
    /// Original value of [`TRIGGER`], restored once level 0 is empty.
    lowered: Option<String>,
}

impl RocksEngine {
    /// Wraps a database just opened with `config`.
    pub(crate) fn new(db: Db, spec: &OpenSpec, config: &Config, driver: Identity) -> Result<Self> {
        let head = log_head(&spec.dir);
        let (version, options) = options_file(&spec.dir).map_err(fatal)?;
        copy_options(&spec.dir).map_err(fatal)?;
        let version = version.or(head.version.clone()).unwrap_or(driver.version);
        let mut facts = head.facts.clone();
        if let Some(defect) = feature::known_defect(&version) {
            facts.insert("known_defect".to_owned(), defect.to_owned());
        }
        let identity = Identity { version, facts, ..driver };
        check_pools(config, &head)?;
        let watch = Watch { events: events_of(&options, spec)?, ..Watch::default() };
        Ok(Self {
            db,
            dir: spec.dir.clone(),
            durability: spec.settings.durability,
            identity,
            log_head: head,
            driver_options: config.driver_options.clone(),
            is_separated: options.get("enable_blob_files") == Some("true"),
            has_perf_context: config.has(PERF_CONTEXT),
            changes: if config.has(VALUE_CHANGES) { Way::Blind } else { Way::ReadModifyWrite },
            watch: Mutex::new(watch),
            sessions: Mutex::new(Vec::new()),
        })
    }

    fn watch(&self) -> MutexGuard<'_, Watch> {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lowers the trigger of level 0 to one file; `state` restores it when level 0 is empty.
    ///
    /// The only way in every release: `compact_files` is in the C API from 11.8 and
    /// `suggest_compact_range` from 7.5.
    fn compact_level0(&self) -> Result<bool> {
        let mut watch = self.watch();
        if watch.lowered.is_some() {
            return Ok(true);
        }
        let options = options_file(&self.dir).map_err(fatal)?.1;
        let is = |name: &str, value: &str| options.get(name) == Some(value);
        let files = self.db.text("rocksdb.num-files-at-level0");
        if !is("compaction_style", "kCompactionStyleLevel")
            || is("disable_auto_compactions", "true")
            || files.as_deref() == Some("0")
        {
            return Ok(false);
        }
        let trigger = options.get(TRIGGER).unwrap_or("4").to_owned();
        self.db.set_option(TRIGGER, "1")?;
        watch.unchanged = 0;
        watch.lowered = Some(trigger);
        Ok(true)
    }

    /// Restores the trigger of level 0.
    fn restore_trigger(&self, watch: &mut Watch) -> Result<()> {
        match watch.lowered.take() {
            Some(trigger) => self.db.set_option(TRIGGER, &trigger),
            None => Ok(()),
        }
    }

    /// Returns whether no background work runs or is going to run.
    fn is_idle(
        &self,
        work: Work,
        levels: Option<&Vec<LevelShape>>,
        watch: &mut Watch,
    ) -> Result<bool> {
        let now = Some((work, levels.cloned()));
        watch.unchanged = if watch.last == now { watch.unchanged.saturating_add(1) } else { 0 };
        watch.last = now;
        let is_stuck = work.running == 0 && watch.unchanged >= STUCK_CALLS;
        if watch.lowered.is_some() {
            let is_empty = self.db.text("rocksdb.num-files-at-level0").as_deref() == Some("0");
            if is_stuck || (is_empty && work.running == 0) {
                self.restore_trigger(watch)?;
                watch.unchanged = 0;
            }
            return Ok(false);
        }
        Ok(is_stuck || work.running + work.waiting == 0)
    }
}

impl Engine for RocksEngine {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        let written = Arc::new(Written::default());
        let counted = self.has_perf_context.then(Arc::<Counted>::default);
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.push((Arc::clone(&written), counted.clone()));
        let is_merging = self.changes == Way::Blind;
        let session = RocksSession::new(&self.db, self.durability, is_merging, written, counted);
        Ok(Box::new(session))
    }

    fn way(&self, kind: OpKind) -> Option<Way> {
        matches!(kind, OpKind::PartialUpdate | OpKind::Append).then_some(self.changes)
    }

    fn identity(&self) -> Identity {
        self.identity.clone()
    }

    fn effective_options(&self) -> Result<Options> {
        let mut options = options_file(&self.dir).map_err(fatal)?.1;
        for (name, value) in &self.log_head.cache {
            let (engines, drivers) = match name.as_str() {
                "block_cache_name" if value.ends_with("HyperClockCache") => ("", "hyper_clock"),
                "block_cache_name" => ("", "lru"),
                "blob_cache_name" => {
                    options.set(name, value);
                    continue;
                }
                _ => ("block_cache_options.", value.as_str()),
            };
            options.set(format!("{TABLE}.{engines}{name}"), value);
            let own = [
                ("block_cache_name", CACHE),
                ("num_shard_bits", SHARD_BITS),
                ("high_pri_pool_ratio", HIGH_SHARE),
                ("low_pri_pool_ratio", LOW_SHARE),
            ];
            if let Some((_, own)) = own.iter().find(|(printed, _)| printed == name) {
                options.set(*own, drivers);
            }
        }
        options.overlay(&self.driver_options);
        Ok(options)
    }

    fn maintain(&self, work: Maintenance) -> Result<bool> {
        match work {
            Maintenance::Flush => self.db.flush().map(|()| true),
            Maintenance::CompactLevel0 => self.compact_level0(),
            Maintenance::Clean => Ok(false),
            Maintenance::CompactAll => {
                self.db.compact_all();
                Ok(true)
            }
        }
    }

    fn state(&self) -> Result<EngineState> {
        let cfstats = self.db.text("rocksdb.cfstats-no-file-histogram").unwrap_or_default();
        let mut state = EngineState { levels: statistics::levels(&cfstats), ..Default::default() };
        self.take_sessions(&mut state);
        self.take_gauges(&mut state);
        self.take_counters(&cfstats, &mut state);
        let level0 = state.levels.iter().flatten().find(|shape| shape.level == 0);
        let level0 = level0.map(|shape| shape.files);
        state.readings.set(metric::ENGINE_L0_FILES, level0);
        let mut watch = self.watch();
        let entries = watch.cache_entries.sample(|| self.db.text(cache_entries::PROPERTY));
        state.readings.extend(entries.clone());
        let work = self.work();
        if let Some(work) = work {
            state.is_idle = Some(self.is_idle(work, state.levels.as_ref(), &mut watch)?);
        }
        let totals = watch.events.as_mut().map(Events::totals).transpose().map_err(fatal)?;
        self.take_jobs(totals, work, &mut state.readings);
        Ok(state)
    }

    fn statistics_text(&self) -> Option<String> {
        let mut text = String::new();
        for property in
            ["rocksdb.stats", "rocksdb.levelstats", "rocksdb.blob-stats", cache_entries::PROPERTY]
        {
            if let Some(part) = self.db.text(property) {
                text.push_str(&format!("** {property} **\n{part}\n"));
            }
        }
        if let Some(part) = self.db.statistics() {
            text.push_str(&format!("** statistics **\n{part}\n"));
        }
        Some(text)
    }

    fn own_files(&self) -> Vec<PathBuf> {
        ["LOG", OPTIONS_COPY].map(|name| self.dir.join(name)).to_vec()
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.restore_trigger(&mut self.watch())?;
        if self.durability == Durability::None {
            // Without a log only the memtables hold the rows, and close hides a failed flush.
            self.db.flush()?;
        }
        Ok(())
    }
}

/// Checks the pools of an LRU created as an object against the LOG.
fn check_pools(config: &Config, head: &LogHead) -> Result<()> {
    let Some((high, low)) = config.cache.and_then(|cache| cache.pools) else { return Ok(()) };
    for (name, requested) in [("high_pri_pool_ratio", high), ("low_pri_pool_ratio", low)] {
        let reported = head.cache.get(name).and_then(|text| text.parse::<f64>().ok());
        // The LOG prints three digits.
        if let Some(reported) = reported.filter(|it| (it - requested).abs() > 0.0006) {
            let text =
                format!("the block cache has {name} {reported}, not {requested} as requested");
            return Err(EngineError::capability(CACHE, text));
        }
    }
    Ok(())
}

/// Opens the LOG, unless an option removes events from it or moves it.
fn events_of(options: &Options, spec: &OpenSpec) -> Result<Option<Events>> {
    let is_here = options.get("db_log_dir").is_none_or(str::is_empty);
    let has_events = matches!(options.get("info_log_level"), Some("INFO_LEVEL" | "DEBUG_LEVEL"));
    if !is_here || !has_events {
        return Ok(None);
    }
    Events::open(spec.dir.join("LOG")).map(Some).map_err(fatal)
}

/// Returns the error for one of the engine's files.
fn fatal(error: std::io::Error) -> EngineError {
    EngineError::Fatal(format!("RocksDB's LOG in the data directory cannot be read: {error}"))
}
