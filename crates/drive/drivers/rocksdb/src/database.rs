//! An open RocksDB: its state, its upkeep and its end.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::{Engine, EngineError, Maintenance, OpenSpec, Session};
use model::state::LevelShape;
use model::{Durability, EngineState, Identity, Options};

use crate::cache::{CACHE, HIGH_SHARE, LOW_SHARE, MadeCache, MadeKind, Pools, SHARD_BITS};
use crate::events::Events;
use crate::feature;
use crate::ffi_db::Db;
use crate::ffi_session::RocksSession;
use crate::makeup::{self, Makeup};
use crate::perf::Counted;
use crate::provenance::{LogHead, log_head, options_file};
use crate::request::{Request, TABLE};
use crate::state::{SessionCounts, Work, set};
use crate::statistics;
use crate::written::Written;

/// The trigger that `CompactLevel0` lowers.
const TRIGGER: &str = "level0_file_num_compaction_trigger";
/// Calls of `state` with nothing running and nothing changed after which work that is said to
/// wait is taken for work that will not be done.
///
/// Universal compaction reports pending work that it never picks (RocksDB issue 9275), and so
/// does every style with automatic compaction off.
const STUCK_CALLS: u32 = 20;

/// An open database.
pub(crate) struct RocksEngine {
    pub(crate) db: Db,
    dir: PathBuf,
    pub(crate) durability: Durability,
    identity: Identity,
    cache: LogHead,
    asked: Vec<(&'static str, String)>,
    /// Whether values may lie in blob files.
    pub(crate) is_separated: bool,
    /// Whether sessions keep perf contexts.
    pub(crate) has_perf_context: bool,
    watch: Mutex<Watch>,
    pub(crate) sessions: Mutex<Vec<SessionCounts>>,
}

/// What is remembered from one look at the engine to the next.
struct Watch {
    events: Option<Events>,
    last: Option<(Work, Option<Vec<LevelShape>>)>,
    unchanged: u32,
    makeup: Makeup,
    /// The value to give back to [`TRIGGER`] once level 0 is empty.
    lowered: Option<String>,
}

impl RocksEngine {
    /// Takes over a database that was just opened for `request`.
    ///
    /// # Errors
    /// When its files cannot be read.
    pub(crate) fn new(
        db: Db,
        spec: &OpenSpec,
        request: &Request,
        driver: Identity,
    ) -> Result<Self, EngineError> {
        let head = log_head(&spec.dir);
        let file = options_file(&spec.dir).map_err(fatal)?;
        let version = file.version.or(head.version.clone()).unwrap_or(driver.version);
        let mut facts = head.facts.clone();
        if let Some(defect) = feature::known_defect(&version) {
            facts.insert("known_defect".to_owned(), defect.to_owned());
        }
        let identity = Identity { version, facts, ..driver };
        check_pools(request, &head)?;
        let events = events_of(&file.options, spec)?;
        let watch =
            Watch { events, last: None, unchanged: 0, makeup: Makeup::default(), lowered: None };
        Ok(Self {
            db,
            dir: spec.dir.clone(),
            durability: spec.settings.durability,
            identity,
            cache: head,
            asked: request.asked.clone(),
            is_separated: file.options.get("enable_blob_files") == Some("true"),
            has_perf_context: request.has_perf_context,
            watch: Mutex::new(watch),
            sessions: Mutex::new(Vec::new()),
        })
    }

    fn watch(&self) -> MutexGuard<'_, Watch> {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lowers the trigger of level 0 to one file; `state` raises it again when level 0 is empty.
    ///
    /// The only way that every release has: `compact_files` is in the C API from 11.8 and
    /// `suggest_compact_range` from 7.5.
    fn compact_level0(&self) -> Result<bool, EngineError> {
        let mut watch = self.watch();
        if watch.lowered.is_some() {
            return Ok(true);
        }
        let options = options_file(&self.dir).map_err(fatal)?.options;
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

    /// Gives the trigger of level 0 its value back.
    fn raise_trigger(&self, watch: &mut Watch) -> Result<(), EngineError> {
        match watch.lowered.take() {
            Some(trigger) => self.db.set_option(TRIGGER, &trigger),
            None => Ok(()),
        }
    }

    /// Returns whether nothing runs and nothing waits that will run.
    fn is_idle(
        &self,
        work: Work,
        levels: Option<&Vec<LevelShape>>,
        watch: &mut Watch,
    ) -> Result<bool, EngineError> {
        let now = Some((work, levels.cloned()));
        watch.unchanged = if watch.last == now { watch.unchanged.saturating_add(1) } else { 0 };
        watch.last = now;
        let is_stuck = work.running == 0 && watch.unchanged >= STUCK_CALLS;
        if watch.lowered.is_some() {
            let is_empty = self.db.text("rocksdb.num-files-at-level0").as_deref() == Some("0");
            if is_stuck || (is_empty && work.running == 0) {
                self.raise_trigger(watch)?;
                watch.unchanged = 0;
            }
            return Ok(false);
        }
        Ok(is_stuck || work.running + work.waiting == 0)
    }
}

impl Engine for RocksEngine {
    fn session(&self) -> Result<Box<dyn Session + '_>, EngineError> {
        let written = Arc::new(Written::default());
        let counted = self.has_perf_context.then(Arc::<Counted>::default);
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let (to_write, to_count) = (Arc::clone(&written), counted.clone());
        sessions.push(SessionCounts { written: to_write, counted: to_count });
        Ok(Box::new(RocksSession::new(&self.db, self.durability, written, counted)))
    }

    fn identity(&self) -> Identity {
        self.identity.clone()
    }

    fn effective_options(&self) -> Result<Options, EngineError> {
        let mut options = options_file(&self.dir).map_err(fatal)?.options;
        for (name, value) in &self.cache.cache {
            let name = match name.as_str() {
                "block_cache_name" => format!("{TABLE}.{name}"),
                "blob_cache_name" => name.clone(),
                _ => format!("{TABLE}.block_cache_options.{name}"),
            };
            options.set(name, value);
        }
        if let Some(name) = self.cache.cache.get("block_cache_name") {
            let is_clock = name.ends_with("HyperClockCache");
            options.set(CACHE, if is_clock { "hyper_clock" } else { "lru" });
        }
        for (name, printed) in [
            (SHARD_BITS, "num_shard_bits"),
            (HIGH_SHARE, "high_pri_pool_ratio"),
            (LOW_SHARE, "low_pri_pool_ratio"),
        ] {
            if let Some(value) = self.cache.cache.get(printed) {
                options.set(name, value);
            }
        }
        for (name, value) in &self.asked {
            options.set(*name, value);
        }
        Ok(options)
    }

    fn maintain(&self, work: Maintenance) -> Result<bool, EngineError> {
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

    fn state(&self) -> Result<EngineState, EngineError> {
        let cfstats = self.db.text("rocksdb.cfstats-no-file-histogram").unwrap_or_default();
        let mut state = EngineState { levels: statistics::levels(&cfstats), ..Default::default() };
        self.take_written(&mut state.readings);
        self.take_gauges(&mut state.readings);
        self.take_blobs(&mut state.readings);
        self.take_caches(&mut state.own_counters);
        self.take_perf(&mut state);
        self.take_counters(&cfstats, &mut state);
        let level0 = state.levels.iter().flatten().find(|shape| shape.level == 0);
        let level0 = level0.map(|shape| shape.files);
        set(&mut state.readings, "engine_l0_files", level0);
        let mut watch = self.watch();
        let makeup = watch.makeup.look(|| self.db.text(makeup::PROPERTY));
        state.readings.extend(makeup.clone());
        if let Some(work) = self.work() {
            self.take_work(work, &mut state.readings);
            state.is_idle = Some(self.is_idle(work, state.levels.as_ref(), &mut watch)?);
        }
        if let Some(events) = &mut watch.events {
            self.take_totals(events.totals().map_err(fatal)?, &mut state.readings);
        }
        Ok(state)
    }

    fn statistics_text(&self) -> Option<String> {
        let properties =
            ["rocksdb.stats", "rocksdb.levelstats", "rocksdb.blob-stats", makeup::PROPERTY];
        let mut text = String::new();
        for property in properties {
            if let Some(part) = self.db.text(property) {
                text.push_str(&format!("** {property} **\n{part}\n"));
            }
        }
        if let Some(part) = self.db.statistics() {
            text.push_str(&format!("** statistics **\n{part}\n"));
        }
        Some(text)
    }

    fn close(self: Box<Self>) -> Result<(), EngineError> {
        self.raise_trigger(&mut self.watch())?;
        if self.durability == Durability::None {
            // Without a log the memtables are all there is, and closing hides a failed flush.
            self.db.flush()?;
        }
        Ok(())
    }
}

/// Checks that an LRU which is an object got its pools, as far as the LOG tells.
fn check_pools(request: &Request, head: &LogHead) -> Result<(), EngineError> {
    let Some(MadeCache { kind: MadeKind::Lru(Pools { high, low }), .. }) = request.cache else {
        return Ok(());
    };
    for (name, asked) in [("high_pri_pool_ratio", high), ("low_pri_pool_ratio", low)] {
        let told = head.cache.get(name).and_then(|text| text.parse::<f64>().ok());
        // The LOG prints three digits.
        if let Some(told) = told.filter(|told| (told - asked).abs() > 0.0006) {
            let text = format!("the block cache has {name} {told}, not {asked} as asked for");
            return Err(EngineError::Unsupported(text));
        }
    }
    Ok(())
}

/// Follows the LOG, unless an option keeps events out of it or puts it elsewhere.
fn events_of(options: &Options, spec: &OpenSpec) -> Result<Option<Events>, EngineError> {
    let is_here = options.get("db_log_dir").is_none_or(str::is_empty);
    let has_events = matches!(options.get("info_log_level"), Some("INFO_LEVEL" | "DEBUG_LEVEL"));
    if !is_here || !has_events {
        return Ok(None);
    }
    Events::open(spec.dir.join("LOG")).map(Some).map_err(fatal)
}

/// Returns the error for one of the engine's files.
fn fatal(error: std::io::Error) -> EngineError {
    EngineError::Fatal(format!("a file of the engine cannot be read: {error}"))
}
