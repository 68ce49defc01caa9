//! Safe wrappers of the environment and its transactions.
#![expect(unsafe_code, reason = "foreign functions are called here")]

use std::ffi::c_int;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::{self, NonNull};

use dynlib::level::c_text;
use engine::{EngineError, Result};
use lmdb_master_sys::{self as sys, MDB_BAD_VALSIZE, MDB_MAP_FULL, MDB_READERS_FULL};

use crate::config::Config;
use crate::ffi::Api;

/// Permissions of the files: owner only.
const MODE: sys::mdb_mode_t = 0o600;

/// Default longest key (compile-time `MDB_MAXKEYSIZE`).
const KEY_BYTES_USUAL: u32 = 511;

/// An environment with its unnamed table, closed when dropped.
pub(crate) struct Env {
    api: Api,
    handle: NonNull<sys::MDB_env>,
    table: sys::MDB_dbi,
}

// SAFETY: LMDB's environments are made to be shared by threads.
unsafe impl Send for Env {}
// SAFETY: as above.
unsafe impl Sync for Env {}

impl Env {
    /// Creates an environment without files.
    fn new(api: Api) -> Result<Self> {
        let mut handle = ptr::null_mut();
        // SAFETY: the result is a local.
        let code = unsafe { (api.mdb_env_create)(&raw mut handle) };
        match NonNull::new(handle) {
            Some(handle) if code == sys::MDB_SUCCESS => Ok(Self { api, handle, table: 0 }),
            _ => Err(failed(api, code)),
        }
    }

    /// Opens the environment in `dir`.
    pub(crate) fn open(api: Api, dir: &Path, config: &Config) -> Result<Self> {
        let mut env = Self::new(api)?;
        let handle = env.handle.as_ptr();
        // SAFETY: the environment was made and is not open yet.
        env.check(unsafe { (api.mdb_env_set_mapsize)(handle, config.map_bytes) })?;
        // SAFETY: as above.
        env.check(unsafe { (api.mdb_env_set_maxreaders)(handle, config.max_readers) })?;
        let path = c_text(dir.as_os_str().as_bytes())?;
        // Reader slots belong to transactions, not threads, so that each session has its own.
        let flags = config.flags | sys::MDB_NOTLS;
        // SAFETY: the run's data directory belongs to this process alone, and no other code of this
        // program writes to the mapped file or truncates it. None of the flags offered in `config`
        // (never MDB_NOLOCK, MDB_FIXEDMAP) breaks memory safety.
        env.check(unsafe { (api.mdb_env_open)(handle, path.as_ptr(), flags, MODE) })?;
        let txn = env.begin(sys::MDB_RDONLY)?;
        let mut table = 0;
        // SAFETY: the transaction runs; a table without a name is always there.
        env.check(unsafe {
            (api.mdb_dbi_open)(txn.handle.as_ptr(), ptr::null(), 0, &raw mut table)
        })?;
        txn.commit()?;
        env.table = table;
        Ok(env)
    }

    /// Returns the flags in force.
    pub(crate) fn flags(&self) -> Result<u32> {
        self.report(self.api.mdb_env_get_flags)
    }

    /// Returns `mdb_env_info`.
    pub(crate) fn info(&self) -> Result<sys::MDB_envinfo> {
        self.report(self.api.mdb_env_info)
    }

    /// Returns the shape of the table.
    pub(crate) fn stat(&self) -> Result<sys::MDB_stat> {
        self.report(self.api.mdb_env_stat)
    }

    fn report<T>(
        &self,
        function: unsafe extern "C" fn(*mut sys::MDB_env, *mut T) -> c_int,
    ) -> Result<T> {
        let mut found = MaybeUninit::zeroed();
        // SAFETY: the environment is open and the result is a local.
        self.check(unsafe { function(self.handle.as_ptr(), found.as_mut_ptr()) })?;
        // SAFETY: all three results are numbers and pointers, which LMDB has just written.
        Ok(unsafe { found.assume_init() })
    }

    /// Writes everything to the device, whatever the flags.
    pub(crate) fn sync(&self) -> Result<()> {
        // SAFETY: the environment is open.
        self.check(unsafe { (self.api.mdb_env_sync)(self.handle.as_ptr(), 1) })
    }

    /// Puts one row, or deletes it when there is no value, in a transaction of its own.
    pub(crate) fn write(&self, key: &[u8], value: Option<&[u8]>) -> Result<()> {
        let txn = self.begin(0)?;
        let (txn_handle, mut key) = (txn.handle.as_ptr(), val(key));
        let code = match value.map(val) {
            // SAFETY: the transaction may write, and the bytes are there while LMDB copies them.
            Some(mut value) => unsafe {
                (self.api.mdb_put)(txn_handle, self.table, &raw mut key, &raw mut value, 0)
            },
            // SAFETY: the transaction may write; null stands for any value.
            None => unsafe {
                (self.api.mdb_del)(txn_handle, self.table, &raw mut key, ptr::null_mut())
            },
        };
        // A row to delete may be absent.
        self.found(code)?;
        txn.commit()
    }

    /// Returns a reader with a slot of its own.
    pub(crate) fn reader(&self) -> Result<Reader<'_>> {
        let txn = self.begin(sys::MDB_RDONLY)?;
        let mut cursor = ptr::null_mut();
        // SAFETY: the transaction runs, the table is open and the result is a local.
        let code =
            unsafe { (self.api.mdb_cursor_open)(txn.handle.as_ptr(), self.table, &raw mut cursor) };
        self.check(code)?;
        let cursor = NonNull::new(cursor).ok_or_else(|| failed(self.api, sys::MDB_PANIC))?;
        // SAFETY: the transaction runs and only reads.
        unsafe { (self.api.mdb_txn_reset)(txn.handle.as_ptr()) };
        Ok(Reader { cursor, txn })
    }

    /// Begins a transaction.
    fn begin(&self, flags: u32) -> Result<Txn<'_>> {
        let mut handle = ptr::null_mut();
        // SAFETY: the environment is open and the result is a local.
        self.check(unsafe {
            let parent = ptr::null_mut();
            (self.api.mdb_txn_begin)(self.handle.as_ptr(), parent, flags, &raw mut handle)
        })?;
        let handle = NonNull::new(handle).ok_or_else(|| failed(self.api, sys::MDB_PANIC))?;
        Ok(Txn { env: self, handle })
    }

    #[inline]
    fn check(&self, code: c_int) -> Result<()> {
        if code == sys::MDB_SUCCESS { Ok(()) } else { Err(failed(self.api, code)) }
    }

    /// Returns whether the requested row exists.
    #[inline]
    fn found(&self, code: c_int) -> Result<bool> {
        if code == sys::MDB_NOTFOUND { Ok(false) } else { self.check(code).map(|()| true) }
    }
}

impl Drop for Env {
    fn drop(&mut self) {
        // SAFETY: transactions borrow the environment, so none is left.
        unsafe { (self.api.mdb_env_close)(self.handle.as_ptr()) };
    }
}

/// A transaction, aborted when dropped.
struct Txn<'e> {
    env: &'e Env,
    handle: NonNull<sys::MDB_txn>,
}

impl Txn<'_> {
    fn commit(self) -> Result<()> {
        let txn = ManuallyDrop::new(self);
        // SAFETY: the transaction runs; it is gone after this, whatever the code.
        txn.env.check(unsafe { (txn.env.api.mdb_txn_commit)(txn.handle.as_ptr()) })
    }
}

impl Drop for Txn<'_> {
    fn drop(&mut self) {
        // SAFETY: the transaction was begun and not ended.
        unsafe { (self.env.api.mdb_txn_abort)(self.handle.as_ptr()) };
    }
}

/// A reusable read transaction and cursor.
pub(crate) struct Reader<'e> {
    cursor: NonNull<sys::MDB_cursor>,
    txn: Txn<'e>,
}

impl Reader<'_> {
    /// Returns a snapshot of the committed state.
    #[inline]
    pub(crate) fn snapshot(&mut self) -> Result<Snapshot<'_>> {
        // SAFETY: the transaction was reset, at the start or by the last snapshot.
        let code = unsafe { (self.txn.env.api.mdb_txn_renew)(self.txn.handle.as_ptr()) };
        self.txn.env.check(code)?;
        Ok(Snapshot(self))
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        // SAFETY: the cursor is open; the transaction, which goes after it, only reads.
        unsafe { (self.txn.env.api.mdb_cursor_close)(self.cursor.as_ptr()) };
    }
}

/// A row in the map.
pub(crate) type Row<'s> = (&'s [u8], &'s [u8]);

/// A read snapshot of the table.
pub(crate) struct Snapshot<'r>(&'r Reader<'r>);

impl Snapshot<'_> {
    /// Returns the value of `key`, which is not empty; `None` when there is none.
    #[inline]
    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<&[u8]>> {
        let Txn { env, handle } = &self.0.txn;
        let (mut key, mut value) = (val(key), val(&[]));
        // SAFETY: the transaction runs and both structures are locals.
        let code =
            unsafe { (env.api.mdb_get)(handle.as_ptr(), env.table, &raw mut key, &raw mut value) };
        // SAFETY: what was found lies in the map until the transaction is reset, by `drop`.
        Ok(env.found(code)?.then(|| unsafe { bytes_of(value) }))
    }

    /// Returns a cursor walk through the table.
    #[inline]
    pub(crate) fn walk(&self) -> Result<Walk<'_>> {
        let Reader { cursor, txn } = self.0;
        // SAFETY: the transaction runs and only reads; the cursor was opened for such a one.
        let code = unsafe { (txn.env.api.mdb_cursor_renew)(txn.handle.as_ptr(), cursor.as_ptr()) };
        txn.env.check(code)?;
        Ok(Walk(self.0))
    }
}

impl Drop for Snapshot<'_> {
    #[inline]
    fn drop(&mut self) {
        let Txn { env, handle } = &self.0.txn;
        // SAFETY: the transaction runs and only reads.
        unsafe { (env.api.mdb_txn_reset)(handle.as_ptr()) };
    }
}

/// A cursor walk through a snapshot.
pub(crate) struct Walk<'s>(&'s Reader<'s>);

impl<'s> Walk<'s> {
    /// Moves by `op` and returns the row that is there; `None` when there is none.
    ///
    /// Only `MDB_SET_RANGE` takes a `key`, which is not empty.
    #[inline]
    pub(crate) fn move_to(&mut self, op: u32, key: &[u8]) -> Result<Option<Row<'s>>> {
        let Reader { cursor, txn } = self.0;
        let (mut key, mut value) = (val(key), val(&[]));
        // SAFETY: the cursor belongs to the transaction, which runs, and both structures are
        // locals.
        let code = unsafe {
            (txn.env.api.mdb_cursor_get)(cursor.as_ptr(), &raw mut key, &raw mut value, op)
        };
        // SAFETY: the row lies in the map until the transaction is reset, when the snapshot goes.
        let row = |found| unsafe { bytes_of(found) };
        Ok(txn.env.found(code)?.then(|| (row(key), row(value))))
    }
}

/// Returns bytes as an `MDB_val`, which LMDB only reads.
#[inline]
fn val(bytes: &[u8]) -> sys::MDB_val {
    sys::MDB_val { mv_size: bytes.len(), mv_data: bytes.as_ptr().cast_mut().cast() }
}

/// Returns the bytes that LMDB points to.
///
/// # Safety
/// `found` is what LMDB returned for memory that lives through `'a`.
#[inline]
unsafe fn bytes_of<'a>(found: sys::MDB_val) -> &'a [u8] {
    if found.mv_size == 0 {
        return &[];
    }
    // SAFETY: as this function requires of its caller.
    unsafe { std::slice::from_raw_parts(found.mv_data.cast(), found.mv_size) }
}

/// Returns the longest key in bytes: a compile-time constant, unless it follows the page size.
pub(crate) fn key_bytes_max(api: Api) -> u32 {
    // SAFETY: the environment was just made.
    let most = |env: Env| unsafe { (api.mdb_env_get_maxkeysize)(env.handle.as_ptr()) };
    let most = Env::new(api).ok().and_then(|env| u32::try_from(most(env)).ok());
    most.filter(|most| *most > 0).unwrap_or(KEY_BYTES_USUAL)
}

/// Converts a result code, with LMDB's own message.
#[cold]
pub(crate) fn failed(api: Api, code: c_int) -> EngineError {
    let remedy = match code {
        MDB_MAP_FULL => ": raise the option `map_size`",
        MDB_READERS_FULL => ": raise the option `max_readers`",
        MDB_BAD_VALSIZE => &format!(": keys have 1 to {} bytes", key_bytes_max(api)),
        _ => "",
    };
    let text = format!("lmdb: {}{remedy}", api.message(code));
    if code == MDB_BAD_VALSIZE { EngineError::Unsupported(text) } else { EngineError::Fatal(text) }
}
