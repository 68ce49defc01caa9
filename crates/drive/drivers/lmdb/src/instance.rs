//! One open environment.

use std::path::Path;

use engine::{Engine, EngineError, Maintenance, Session};
use heed::{Env, WithTls};
use model::{EngineState, Identity, Options, Readings};

use crate::config::{Config, FLAGS};
use crate::error::failed;
use crate::ffi;
use crate::session::LmdbSession;

/// An open environment.
pub(crate) struct LmdbEngine {
    env: Env<WithTls>,
}

impl LmdbEngine {
    /// Opens the environment in `dir`.
    pub(crate) fn open(dir: &Path, config: &Config) -> Result<Self, EngineError> {
        let env = ffi::open(dir, config).map_err(failed)?;
        Ok(Self { env })
    }
}

impl Engine for LmdbEngine {
    fn session(&self) -> Result<Box<dyn Session + '_>, EngineError> {
        Ok(Box::new(LmdbSession::open(&self.env)?))
    }

    fn identity(&self) -> Identity {
        crate::driver::identity()
    }

    fn effective_options(&self) -> Result<Options, EngineError> {
        let info = self.env.info();
        let mut options = Options::new();
        options.set("map_size", info.map_size.to_string());
        options.set("max_readers", info.maximum_number_of_readers.to_string());
        let flags = self.env.get_flags().map_err(failed)?;
        for (name, flag) in FLAGS {
            options.set(name, (flags & flag.bits() != 0).to_string());
        }
        Ok(options)
    }

    fn maintain(&self, work: Maintenance) -> Result<bool, EngineError> {
        match work {
            Maintenance::Flush => self.env.force_sync().map(|()| true).map_err(failed),
            // LMDB compacts only into a copy, which is another database.
            Maintenance::CompactLevel0 | Maintenance::CompactAll => Ok(false),
        }
    }

    fn state(&self) -> Result<EngineState, EngineError> {
        let (info, stat) = (self.env.info(), self.env.unnamed_database_stat());
        let pages = info.last_page_number as u64 + 1;
        let readings = [("engine_disk_bytes", pages * u64::from(stat.page_size))];
        let own_counters = [("me_last_txnid", info.last_txn_id as u64)];
        Ok(EngineState {
            readings: named(&readings),
            own_counters: named(&own_counters),
            levels: None,
            tree_height: Some(stat.depth),
            is_idle: Some(true),
        })
    }

    fn statistics_text(&self) -> Option<String> {
        let (info, stat) = (self.env.info(), self.env.unnamed_database_stat());
        Some(format!(
            "ms_psize {}\nms_depth {}\nms_branch_pages {}\nms_leaf_pages {}\n\
             ms_overflow_pages {}\nms_entries {}\nme_mapsize {}\nme_last_pgno {}\n\
             me_last_txnid {}\nme_maxreaders {}\nme_numreaders {}\n",
            stat.page_size,
            stat.depth,
            stat.branch_pages,
            stat.leaf_pages,
            stat.overflow_pages,
            stat.entries,
            info.map_size,
            info.last_page_number,
            info.last_txn_id,
            info.maximum_number_of_readers,
            info.number_of_readers,
        ))
    }

    fn close(self: Box<Self>) -> Result<(), EngineError> {
        // With MDB_NOSYNC LMDB closes without a sync.
        let synced = self.env.force_sync().map_err(failed);
        // heed refuses a second open of a path until the environment is really gone.
        self.env.prepare_for_closing().wait();
        synced
    }
}

#[expect(clippy::cast_precision_loss, reason = "pages and transactions stay far below 2^53")]
fn named(values: &[(&str, u64)]) -> Readings {
    values.iter().map(|&(name, value)| (name.to_owned(), value as f64)).collect()
}
