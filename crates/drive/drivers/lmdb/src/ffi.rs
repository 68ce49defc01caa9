//! The one unsafe step: mapping the environment's file into memory.
#![expect(unsafe_code, reason = "heed marks opening an environment as unsafe")]

use std::path::Path;

use heed::{Env, EnvOpenOptions, WithTls};

use crate::config::Config;

/// Opens the environment in `dir`.
pub(crate) fn open(dir: &Path, config: &Config) -> heed::Result<Env<WithTls>> {
    let mut options = EnvOpenOptions::new();
    options.map_size(config.map_bytes);
    if let Some(readers) = config.max_readers {
        options.max_readers(readers);
    }
    // SAFETY: the flags that give up durability are what the durability class asks for; none of
    // those offered in `config` (never MDB_NOLOCK, MDB_FIXEDMAP) breaks memory safety.
    unsafe { options.flags(config.flags) };
    // SAFETY: the run's data directory belongs to this process alone and no other code of ours
    // writes to the mapped file or truncates it.
    unsafe { options.open(dir) }
}
