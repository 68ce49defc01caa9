//! An open LMDB environment: state, maintenance and close.

use engine::{Engine, Maintenance, Result, Session};
use model::{EngineState, Identity, Options, metric};

use crate::config::FLAGS;
use crate::ffi_env::Env;
use crate::session::LmdbSession;

/// An open environment.
pub(crate) struct LmdbEngine {
    pub(crate) env: Env,
    pub(crate) identity: Identity,
}

impl Engine for LmdbEngine {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(LmdbSession::open(&self.env)?))
    }

    fn identity(&self) -> Identity {
        self.identity.clone()
    }

    fn effective_options(&self) -> Result<Options> {
        let (info, flags) = (self.env.info()?, self.env.flags()?);
        let mut options = Options::new();
        options.set("map_size", info.me_mapsize.to_string());
        options.set("max_readers", info.me_maxreaders.to_string());
        for (name, flag) in FLAGS {
            options.set(name, (flags & flag != 0).to_string());
        }
        Ok(options)
    }

    fn maintain(&self, work: Maintenance) -> Result<bool> {
        match work {
            Maintenance::Flush => self.env.sync().map(|()| true),
            // LMDB compacts only into a copy, which is another database.
            Maintenance::CompactLevel0 | Maintenance::CompactAll | Maintenance::Clean => Ok(false),
        }
    }

    fn state(&self) -> Result<EngineState> {
        let (info, stat) = (self.env.info()?, self.env.stat()?);
        let pages = info.me_last_pgno as u64 + 1;
        Ok(EngineState {
            readings: [(metric::ENGINE_DISK_BYTES, pages * u64::from(stat.ms_psize))].into(),
            own_counters: [("me_last_txnid", info.me_last_txnid as u64)].into(),
            tree_height: Some(stat.ms_depth),
            is_idle: Some(true),
            ..EngineState::default()
        })
    }

    fn statistics_text(&self) -> Option<String> {
        let (info, stat) = (self.env.info().ok()?, self.env.stat().ok()?);
        Some(format!("{stat:#?}\n{info:#?}\n"))
    }

    fn close(self: Box<Self>) -> Result<()> {
        // With MDB_NOSYNC LMDB closes without a sync.
        self.env.sync()
    }
}
