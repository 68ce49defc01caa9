//! LMDB's failures, by what the caller may do about them.

use engine::EngineError;
use heed::MdbError;

/// Returns `error` as the engine's, in LMDB's own words.
#[cold]
pub(crate) fn failed(error: heed::Error) -> EngineError {
    let heed::Error::Mdb(code) = error else {
        return EngineError::Fatal(format!("lmdb: {error}"));
    };
    if code == MdbError::MapFull {
        EngineError::Fatal(format!("lmdb: {code}: raise the option `map_size`"))
    } else if code == MdbError::ReadersFull {
        EngineError::Fatal(format!("lmdb: {code}: raise the option `max_readers`"))
    } else if code == MdbError::BadValSize {
        EngineError::Unsupported(format!("lmdb: {code}: keys have 1 to 511 bytes"))
    } else {
        EngineError::Fatal(format!("lmdb: {code}"))
    }
}
