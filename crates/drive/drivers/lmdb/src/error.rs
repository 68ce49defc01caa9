//! LMDB's failures, by what the caller may do about them.

use std::ffi::c_int;

use engine::EngineError;
use lmdb_master_sys::{MDB_BAD_VALSIZE, MDB_MAP_FULL, MDB_READERS_FULL};

use crate::driver::key_bytes_max;
use crate::ffi::Api;

/// Returns the failure with that result code as the engine's, in LMDB's own words.
#[cold]
pub(crate) fn failed(api: &'static Api, code: c_int) -> EngineError {
    let words = api.words(code);
    match code {
        MDB_MAP_FULL => EngineError::Fatal(format!("lmdb: {words}: raise the option `map_size`")),
        MDB_READERS_FULL => {
            EngineError::Fatal(format!("lmdb: {words}: raise the option `max_readers`"))
        }
        MDB_BAD_VALSIZE => EngineError::Unsupported(format!(
            "lmdb: {words}: keys have 1 to {} bytes",
            key_bytes_max(api)
        )),
        _ => EngineError::Fatal(format!("lmdb: {words}")),
    }
}
