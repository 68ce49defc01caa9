//! Bindings of the C functions of LMDB, linked or loaded.
//!
//! Only the `ffi` files of this driver call foreign code and offer it as safe functions. A
//! signature here must hold for every release of 0.9; the compiler compares it with the linked
//! one's.
//!
//! Source: [LMDB source] `lmdb.h` of 0.9.24 and of the branch mdb.master (0.9.70).
#![expect(unsafe_code, reason = "foreign functions are bound and called here")]

use std::ffi::{CStr, c_char, c_int, c_uint};
use std::path::Path;

use dynlib::{Loaded, load_once};
use engine::{EngineError, Result};
use lmdb_master_sys::{
    MDB_cursor, MDB_cursor_op, MDB_dbi, MDB_env, MDB_envinfo, MDB_stat, MDB_txn, MDB_val,
    mdb_mode_t,
};

/// The releases whose structures and constants are those of the linked one.
const SERIES: [c_int; 2] = [0, 9];

dynlib::functions! {
    /// The functions of one LMDB.
    pub(crate) struct Api linked lmdb_master_sys {
        required {
            mdb_env_create: fn(*mut *mut MDB_env) -> c_int;
            mdb_env_open: fn(*mut MDB_env, *const c_char, c_uint, mdb_mode_t) -> c_int;
            mdb_env_close: fn(*mut MDB_env);
            mdb_env_set_mapsize: fn(*mut MDB_env, usize) -> c_int;
            mdb_env_set_maxreaders: fn(*mut MDB_env, c_uint) -> c_int;
            mdb_env_get_maxkeysize: fn(*mut MDB_env) -> c_int;
            mdb_env_get_flags: fn(*mut MDB_env, *mut c_uint) -> c_int;
            mdb_env_stat: fn(*mut MDB_env, *mut MDB_stat) -> c_int;
            mdb_env_info: fn(*mut MDB_env, *mut MDB_envinfo) -> c_int;
            mdb_env_sync: fn(*mut MDB_env, c_int) -> c_int;
            mdb_version: fn(*mut c_int, *mut c_int, *mut c_int) -> *mut c_char;
            mdb_strerror: fn(c_int) -> *mut c_char;
            mdb_txn_begin: fn(*mut MDB_env, *mut MDB_txn, c_uint, *mut *mut MDB_txn) -> c_int;
            mdb_txn_commit: fn(*mut MDB_txn) -> c_int;
            mdb_txn_abort: fn(*mut MDB_txn);
            mdb_txn_reset: fn(*mut MDB_txn);
            mdb_txn_renew: fn(*mut MDB_txn) -> c_int;
            mdb_dbi_open: fn(*mut MDB_txn, *const c_char, c_uint, *mut MDB_dbi) -> c_int;
            mdb_get: fn(*mut MDB_txn, MDB_dbi, *mut MDB_val, *mut MDB_val) -> c_int;
            mdb_put: fn(*mut MDB_txn, MDB_dbi, *mut MDB_val, *mut MDB_val, c_uint) -> c_int;
            mdb_del: fn(*mut MDB_txn, MDB_dbi, *mut MDB_val, *mut MDB_val) -> c_int;
            mdb_cursor_open: fn(*mut MDB_txn, MDB_dbi, *mut *mut MDB_cursor) -> c_int;
            mdb_cursor_renew: fn(*mut MDB_txn, *mut MDB_cursor) -> c_int;
            mdb_cursor_close: fn(*mut MDB_cursor);
            mdb_cursor_get: fn(
                *mut MDB_cursor, *mut MDB_val, *mut MDB_val, MDB_cursor_op
            ) -> c_int;
        }
    }
}

impl Api {
    /// Loads the library at `path`, which stays loaded, and binds its functions.
    pub(crate) fn load(path: &Path) -> Result<(Self, &'static Loaded)> {
        let loaded = load_once(path)?;
        let api = Self::bind(&loaded.library, "")
            .map_err(|symbol| loaded.lacks(&symbol, "mdb_env_create", "LMDB", "0.9"))?;
        let ([major, minor, patch], _) = api.version();
        if [major, minor] != SERIES {
            return Err(EngineError::build(format!(
                "`{}` is LMDB {major}.{minor}.{patch}: use a release of LMDB {}.{}",
                loaded.path.display(),
                SERIES[0],
                SERIES[1]
            )));
        }
        Ok((api, loaded))
    }

    /// Returns major, minor and patch number, and the library's own text of them.
    pub(crate) fn version(&self) -> ([c_int; 3], String) {
        let (mut major, mut minor, mut patch) = (0, 0, 0);
        // SAFETY: the three results are locals; the answer is a constant text.
        let text = unsafe { (self.mdb_version)(&raw mut major, &raw mut minor, &raw mut patch) };
        ([major, minor, patch], text_of(text))
    }

    /// Returns the message of a result code of LMDB or the system.
    #[cold]
    pub(crate) fn message(&self, code: c_int) -> String {
        // SAFETY: any code is allowed; the text lives until this thread's next call.
        text_of(unsafe { (self.mdb_strerror)(code) })
    }
}

/// Returns a copy of a text of LMDB's, which is never null.
fn text_of(text: *const c_char) -> String {
    // SAFETY: both callers give what LMDB just returned, which ends with a zero.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
