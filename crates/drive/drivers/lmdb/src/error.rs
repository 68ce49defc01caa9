//! Converts LMDB result codes to engine errors.

use std::ffi::c_int;

use engine::EngineError;
use lmdb_master_sys::{MDB_BAD_VALSIZE, MDB_MAP_FULL, MDB_READERS_FULL};

use crate::driver::key_bytes_max;
use crate::ffi::Api;

/// Converts a result code, with LMDB's own message.
#[cold]
pub(crate) fn failed(api: &'static Api, code: c_int) -> EngineError {
    let message = api.message(code);
    match code {
        MDB_MAP_FULL => EngineError::Fatal(format!("lmdb: {message}: raise the option `map_size`")),
        MDB_READERS_FULL => {
            EngineError::Fatal(format!("lmdb: {message}: raise the option `max_readers`"))
        }
        MDB_BAD_VALSIZE => EngineError::Unsupported(format!(
            "lmdb: {message}: keys have 1 to {} bytes",
            key_bytes_max(api)
        )),
        _ => EngineError::Fatal(format!("lmdb: {message}")),
    }
}
