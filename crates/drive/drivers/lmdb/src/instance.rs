//! An open LMDB environment: state, maintenance and close.

use std::path::Path;

use engine::{Engine, EngineError, Maintenance, Session};
use model::{EngineState, Identity, Options, metric};

use crate::config::{Config, FLAGS};
use crate::ffi::Api;
use crate::ffi_env::Env;
use crate::session::LmdbSession;

/// An open environment.
pub(crate) struct LmdbEngine {
    api: &'static Api,
    env: Env,
}

impl LmdbEngine {
    /// Opens the environment in `dir`.
    pub(crate) fn open(
        api: &'static Api,
        dir: &Path,
        config: &Config,
    ) -> Result<Self, EngineError> {
        Ok(Self { api, env: Env::open(api, dir, config)? })
    }
}

impl Engine for LmdbEngine {
    fn session(&self) -> Result<Box<dyn Session + '_>, EngineError> {
        Ok(Box::new(LmdbSession::open(&self.env)?))
    }

    fn identity(&self) -> Identity {
        crate::identity::identity(self.api)
    }

    fn effective_options(&self) -> Result<Options, EngineError> {
        let (info, flags) = (self.env.info()?, self.env.flags()?);
        let mut options = Options::new();
        options.set("map_size", info.me_mapsize.to_string());
        options.set("max_readers", info.me_maxreaders.to_string());
        for (name, flag) in FLAGS {
            options.set(name, (flags & flag != 0).to_string());
        }
        Ok(options)
    }

    fn maintain(&self, work: Maintenance) -> Result<bool, EngineError> {
        match work {
            Maintenance::Flush => self.env.sync().map(|()| true),
            // LMDB compacts only into a copy, which is another database.
            Maintenance::CompactLevel0 | Maintenance::CompactAll | Maintenance::Clean => Ok(false),
        }
    }

    fn state(&self) -> Result<EngineState, EngineError> {
        let (info, stat) = (self.env.info()?, self.env.stat()?);
        let pages = info.me_last_pgno as u64 + 1;
        let readings = [(metric::ENGINE_DISK_BYTES, pages * u64::from(stat.ms_psize))];
        let own_counters = [("me_last_txnid", info.me_last_txnid as u64)];
        Ok(EngineState {
            readings: readings.into(),
            own_counters: own_counters.into(),
            levels: None,
            tree_height: Some(stat.ms_depth),
            is_idle: Some(true),
        })
    }

    fn statistics_text(&self) -> Option<String> {
        let (info, stat) = (self.env.info().ok()?, self.env.stat().ok()?);
        Some(format!(
            "ms_psize {}\nms_depth {}\nms_branch_pages {}\nms_leaf_pages {}\n\
             ms_overflow_pages {}\nms_entries {}\nme_mapsize {}\nme_last_pgno {}\n\
             me_last_txnid {}\nme_maxreaders {}\nme_numreaders {}\n",
            stat.ms_psize,
            stat.ms_depth,
            stat.ms_branch_pages,
            stat.ms_leaf_pages,
            stat.ms_overflow_pages,
            stat.ms_entries,
            info.me_mapsize,
            info.me_last_pgno,
            info.me_last_txnid,
            info.me_maxreaders,
            info.me_numreaders,
        ))
    }

    fn close(self: Box<Self>) -> Result<(), EngineError> {
        // With MDB_NOSYNC LMDB closes without a sync.
        self.env.sync()
    }
}
