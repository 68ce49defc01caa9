//! Bindings of the C functions of SQLite, linked or loaded.
//!
//! Only the `ffi` files of this driver call foreign code and offer it as safe functions. A
//! signature here must hold for every release from 3.24 on; the compiler compares it with the
//! linked one's.
//!
//! Source: [SQLite C interface], and `sqlite3.h` of 3.24.0 to 3.54.1.
#![expect(unsafe_code, reason = "foreign functions are bound and called here")]

use std::ffi::{CStr, c_char, c_int, c_longlong, c_ulonglong, c_void};
use std::path::Path;

use dynlib::{Loaded, load_once};
use engine::{EngineError, Result};
use libsqlite3_sys::{sqlite3, sqlite3_destructor_type, sqlite3_stmt};

/// The oldest release with upsert, which the driver's put needs.
const OLDEST: (c_int, &str) = (3_024_000, "3.24");

dynlib::functions! {
    /// The functions of one SQLite.
    pub(crate) struct Api linked libsqlite3_sys {
        required {
            sqlite3_open_v2: fn(*const c_char, *mut *mut sqlite3, c_int, *const c_char) -> c_int;
            sqlite3_close: fn(*mut sqlite3) -> c_int;
            sqlite3_libversion: fn() -> *const c_char;
            sqlite3_libversion_number: fn() -> c_int;
            sqlite3_sourceid: fn() -> *const c_char;
            sqlite3_threadsafe: fn() -> c_int;
            sqlite3_errmsg: fn(*mut sqlite3) -> *const c_char;
            sqlite3_errstr: fn(c_int) -> *const c_char;
            sqlite3_limit: fn(*mut sqlite3, c_int, c_int) -> c_int;
            sqlite3_db_status: fn(*mut sqlite3, c_int, *mut c_int, *mut c_int, c_int) -> c_int;
            sqlite3_changes: fn(*mut sqlite3) -> c_int;
            sqlite3_db_handle: fn(*mut sqlite3_stmt) -> *mut sqlite3;
            sqlite3_prepare_v2: fn(
                *mut sqlite3, *const c_char, c_int, *mut *mut sqlite3_stmt, *mut *const c_char
            ) -> c_int;
            sqlite3_bind_parameter_count: fn(*mut sqlite3_stmt) -> c_int;
            sqlite3_bind_blob64: fn(
                *mut sqlite3_stmt, c_int, *const c_void, c_ulonglong, sqlite3_destructor_type
            ) -> c_int;
            sqlite3_bind_int64: fn(*mut sqlite3_stmt, c_int, c_longlong) -> c_int;
            sqlite3_step: fn(*mut sqlite3_stmt) -> c_int;
            sqlite3_column_blob: fn(*mut sqlite3_stmt, c_int) -> *const c_void;
            sqlite3_column_bytes: fn(*mut sqlite3_stmt, c_int) -> c_int;
            sqlite3_reset: fn(*mut sqlite3_stmt) -> c_int;
            sqlite3_finalize: fn(*mut sqlite3_stmt) -> c_int;
        }
        optional {
            sqlite3_compileoption_get: fn(c_int) -> *const c_char;
            sqlite3_db_status64: fn(
                *mut sqlite3, c_int, *mut c_longlong, *mut c_longlong, c_int
            ) -> c_int;
        }
    }
}

impl Api {
    /// Loads the library at `path`, which stays loaded, and binds its functions.
    pub(crate) fn load(path: &Path) -> Result<(Self, &'static Loaded)> {
        let loaded = load_once(path)?;
        let api = Self::bind(&loaded.library, "")
            .map_err(|symbol| loaded.lacks(&symbol, "sqlite3_open_v2", "SQLite", OLDEST.1))?;
        let refused = |reason: String| {
            Err(EngineError::build(format!("`{}` {reason}", loaded.path.display())))
        };
        // SAFETY: takes nothing and returns a number.
        if unsafe { (api.sqlite3_libversion_number)() } < OLDEST.0 {
            let (version, oldest) = (api.version(), OLDEST.1);
            return refused(format!("is SQLite {version}; {oldest} or newer is needed"));
        }
        // SAFETY: takes nothing and returns a number.
        if unsafe { (api.sqlite3_threadsafe)() } == 0 {
            return refused("was built without threads (SQLITE_THREADSAFE=0)".to_owned());
        }
        Ok((api, loaded))
    }

    /// Returns the release, such as `3.40.1`.
    pub(crate) fn version(&self) -> String {
        // SAFETY: takes nothing and returns a constant text.
        self.text(unsafe { (self.sqlite3_libversion)() })
    }

    /// Returns date and hash of its source.
    pub(crate) fn source_id(&self) -> String {
        // SAFETY: takes nothing and returns a constant text.
        self.text(unsafe { (self.sqlite3_sourceid)() })
    }

    /// Returns its compile options; empty when they were compiled out.
    pub(crate) fn compile_options(&self) -> Vec<String> {
        let Some(option) = self.sqlite3_compileoption_get else { return Vec::new() };
        // SAFETY: any number is allowed; behind the last option the answer is null.
        let texts = (0..).map(|number| self.text(unsafe { option(number) }));
        texts.take_while(|text| !text.is_empty()).collect()
    }

    /// Returns the message of a result code.
    #[cold]
    pub(crate) fn message(&self, code: c_int) -> String {
        // SAFETY: any code is allowed; the answer is a constant text.
        self.text(unsafe { (self.sqlite3_errstr)(code) })
    }

    /// Returns a copy of a text of SQLite's; empty when it is null.
    pub(crate) fn text(&self, text: *const c_char) -> String {
        if text.is_null() {
            return String::new();
        }
        // SAFETY: SQLite's texts end with a zero, and this one lives until SQLite is called again.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }
}
