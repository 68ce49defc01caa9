//! SQLite's counters of one connection, which rusqlite does not offer.
#![expect(unsafe_code, reason = "sqlite3_db_status64 is reached through the raw handle")]

use rusqlite::{Connection, ffi};

/// Counter: page requests that the connection's cache answered.
pub(crate) const CACHE_HIT: i32 = ffi::SQLITE_DBSTATUS_CACHE_HIT;
/// Counter: page requests that it did not.
pub(crate) const CACHE_MISS: i32 = ffi::SQLITE_DBSTATUS_CACHE_MISS;
/// Counter: pages written, to the WAL where there is one, else to the database file.
pub(crate) const CACHE_WRITE: i32 = ffi::SQLITE_DBSTATUS_CACHE_WRITE;
/// Gauge: bytes held by the connection's cache.
pub(crate) const CACHE_USED: i32 = ffi::SQLITE_DBSTATUS_CACHE_USED;

/// Returns the value of `counter`, one of the constants above; `None` when SQLite does not tell.
pub(crate) fn db_status(connection: &Connection, counter: i32) -> Option<u64> {
    let (mut current, mut highest) = (0, 0);
    // SAFETY: the handle is only used for the call below, while `connection` is borrowed.
    let handle = unsafe { connection.handle() };
    // SAFETY: `handle` is open, both results are ours, and the last argument asks for no reset.
    let code =
        unsafe { ffi::sqlite3_db_status64(handle, counter, &raw mut current, &raw mut highest, 0) };
    if code == ffi::SQLITE_OK { u64::try_from(current).ok() } else { None }
}
