//! Safe wrappers of connections and their statements.
#![expect(unsafe_code, reason = "foreign functions are called here")]

use std::ffi::c_int;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::{self, NonNull};

use dynlib::level::c_text;
use engine::{EngineError, Result};
use libsqlite3_sys as sys;

use crate::ffi::Api;

/// A connection to a database file, closed when dropped.
pub(crate) struct Connection {
    api: Api,
    handle: NonNull<sys::sqlite3>,
}

// SAFETY: SQLite lets a connection move between threads as long as one uses it at a time (`Api`
// takes no library that was built otherwise). No statement of it is used by another thread: those
// of `rows` end with the call, and `prepare` consumes the connection.
unsafe impl Send for Connection {}

impl Connection {
    /// Opens the file at `path`, creating it when absent.
    pub(crate) fn open(api: Api, path: &Path) -> Result<Self> {
        let name = c_text(path.as_os_str().as_bytes())?;
        // No mutex: a connection belongs to one session, or is behind the driver's lock.
        let flags = sys::SQLITE_OPEN_READWRITE | sys::SQLITE_OPEN_CREATE | sys::SQLITE_OPEN_NOMUTEX;
        let mut handle = ptr::null_mut();
        // SAFETY: the name ends with a zero, and null stands for the usual file system.
        let code =
            unsafe { (api.sqlite3_open_v2)(name.as_ptr(), &raw mut handle, flags, ptr::null()) };
        let Some(handle) = NonNull::new(handle) else {
            return Err(failed(code, &api.message(code)));
        };
        // A failed open has a handle too, which has the message and must be closed.
        let connection = Self { api, handle };
        if code == sys::SQLITE_OK { Ok(connection) } else { Err(connection.failure(code)) }
    }

    /// Runs one statement without parameters, with `on_row` for each row until it breaks.
    pub(crate) fn rows(
        &self,
        sql: &str,
        on_row: impl FnMut(&Row<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        Statement::new(self, sql)?.run([], on_row)
    }

    /// Prepares statements and takes over the connection.
    pub(crate) fn prepare<const N: usize>(self, sql: [&str; N]) -> Result<Prepared<N>> {
        let statements = sql.iter().map(|sql| Statement::new(&self, sql));
        let statements = statements.collect::<Result<Vec<_>, _>>()?;
        let Ok(statements) = statements.try_into() else {
            unreachable!("one statement was prepared for each text");
        };
        Ok((statements, self))
    }

    /// Returns whether the last statement that writes changed a row.
    #[inline]
    pub(crate) fn has_changed(&self) -> bool {
        // SAFETY: the handle is open.
        unsafe { (self.api.sqlite3_changes)(self.handle.as_ptr()) > 0 }
    }

    /// Returns the longest row, and so the longest value, in bytes.
    pub(crate) fn row_bytes_max(&self) -> Option<u32> {
        // SAFETY: the handle is open; -1 reads the limit and changes nothing.
        let most =
            unsafe { (self.api.sqlite3_limit)(self.handle.as_ptr(), sys::SQLITE_LIMIT_LENGTH, -1) };
        u32::try_from(most).ok()
    }

    /// Returns a counter and resets it; of a gauge, its value.
    ///
    /// `None` when SQLite fails. `counter` is one of `SQLITE_DBSTATUS_*`.
    pub(crate) fn take_counter(&self, counter: c_int) -> Option<u64> {
        let handle = self.handle.as_ptr();
        if let Some(db_status64) = self.api.sqlite3_db_status64 {
            let mut found = [0; 2];
            let [now, highest] = found.each_mut().map(|one| &raw mut *one);
            // SAFETY: the handle is open and both results are locals.
            let code = unsafe { db_status64(handle, counter, now, highest, 1) };
            return u64::try_from(found[0]).ok().filter(|_| code == sys::SQLITE_OK);
        }
        let mut found = [0; 2];
        let [now, highest] = found.each_mut().map(|one| &raw mut *one);
        // SAFETY: as above.
        let code = unsafe { (self.api.sqlite3_db_status)(handle, counter, now, highest, 1) };
        // A cache of 2 GiB and more is reported as a negative number.
        Some(u64::from(found[0].cast_unsigned())).filter(|_| code == sys::SQLITE_OK)
    }

    #[cold]
    fn failure(&self, code: c_int) -> EngineError {
        // SAFETY: the handle is valid, also after a failed open.
        failed(code, &self.api.text(unsafe { (self.api.sqlite3_errmsg)(self.handle.as_ptr()) }))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: the handle is open and not used after this. Its statements are gone; were one
        // left, SQLite would refuse to close.
        unsafe { (self.api.sqlite3_close)(self.handle.as_ptr()) };
    }
}

/// Statements in order of preparation, and the connection, which is dropped after them.
pub(crate) type Prepared<const N: usize> = ([Statement; N], Connection);

/// A value bound to a parameter.
#[derive(Clone, Copy)]
pub(crate) enum Param<'p> {
    /// Bytes, which SQLite reads in place.
    Blob(&'p [u8]),
    /// A number.
    Integer(i64),
}

/// A prepared statement; the thread that prepared it runs it.
pub(crate) struct Statement {
    api: Api,
    handle: NonNull<sys::sqlite3_stmt>,
    parameters: usize,
}

impl Statement {
    fn new(connection: &Connection, sql: &str) -> Result<Self> {
        let api = connection.api;
        let (mut handle, bytes) = (ptr::null_mut(), c_int::try_from(sql.len()));
        let bytes = bytes.expect("a statement of this driver is a line");
        // SAFETY: the connection is open, the text has that many bytes, and null discards the rest.
        let code = unsafe {
            (api.sqlite3_prepare_v2)(
                connection.handle.as_ptr(),
                sql.as_ptr().cast(),
                bytes,
                &raw mut handle,
                ptr::null_mut(),
            )
        };
        let Some(handle) = NonNull::new(handle).filter(|_| code == sys::SQLITE_OK) else {
            return Err(connection.failure(code));
        };
        // SAFETY: the statement was just made.
        let parameters = unsafe { (api.sqlite3_bind_parameter_count)(handle.as_ptr()) };
        Ok(Self { api, handle, parameters: usize::try_from(parameters).unwrap_or_default() })
    }

    /// Runs the statement, with `on_row` for each row until it breaks.
    ///
    /// # Panics
    /// When the number of `params` is not that of the parameters.
    #[inline]
    pub(crate) fn run<const N: usize>(
        &mut self,
        params: [Param<'_>; N],
        mut on_row: impl FnMut(&Row<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        // Earlier bound values may be gone, so every parameter is bound again before a step.
        assert!(self.parameters == N, "each parameter has its value");
        for (number, param) in (1..).zip(params) {
            self.bind(number, param)?;
        }
        let row = Row(self);
        loop {
            // SAFETY: the statement is prepared, and what is bound lives through this function.
            match unsafe { (row.0.api.sqlite3_step)(row.0.handle.as_ptr()) } {
                sys::SQLITE_ROW => {
                    if on_row(&row).is_break() {
                        return Ok(());
                    }
                }
                sys::SQLITE_DONE => return Ok(()),
                code => return Err(row.0.failure(code)),
            }
        }
    }

    #[inline]
    fn bind(&mut self, number: c_int, param: Param<'_>) -> Result<()> {
        let (api, handle) = (self.api, self.handle.as_ptr());
        let code = match param {
            Param::Blob(bytes) => {
                let (start, bytes) = (bytes.as_ptr().cast(), bytes.len() as u64);
                // SAFETY: `start` is never null; without a destructor SQLite does not copy, and
                // `run` binds again before it steps again.
                unsafe { (api.sqlite3_bind_blob64)(handle, number, start, bytes, None) }
            }
            // SAFETY: the statement is prepared; a wrong number is an error.
            Param::Integer(value) => unsafe { (api.sqlite3_bind_int64)(handle, number, value) },
        };
        if code == sys::SQLITE_OK { Ok(()) } else { Err(self.failure(code)) }
    }

    #[cold]
    fn failure(&self, code: c_int) -> EngineError {
        // SAFETY: the statement is prepared, and keeps its connection.
        let connection = unsafe { (self.api.sqlite3_db_handle)(self.handle.as_ptr()) };
        // SAFETY: the connection is alive.
        failed(code, &self.api.text(unsafe { (self.api.sqlite3_errmsg)(connection) }))
    }
}

impl Drop for Statement {
    fn drop(&mut self) {
        // SAFETY: the statement is not used after this. Its code repeats the last step's.
        unsafe { (self.api.sqlite3_finalize)(self.handle.as_ptr()) };
    }
}

/// The current row of a statement, which is reset on drop.
pub(crate) struct Row<'s>(&'s mut Statement);

impl Row<'_> {
    /// Returns the bytes of a column; a number in decimal, null as none.
    ///
    /// `column` counts from 0; one beyond the row is null.
    #[inline]
    pub(crate) fn column(&self, column: c_int) -> &[u8] {
        let (api, handle) = (self.0.api, self.0.handle.as_ptr());
        // SAFETY: the statement stands on a row.
        let start = unsafe { (api.sqlite3_column_blob)(handle, column) };
        // SAFETY: as above; after the call for the bytes, which converts a number.
        let bytes = unsafe { (api.sqlite3_column_bytes)(handle, column) };
        let bytes = usize::try_from(bytes).unwrap_or_default();
        if start.is_null() || bytes == 0 {
            return &[];
        }
        // SAFETY: the bytes stay in place until the next step or reset, which need `self`
        // unborrowed.
        unsafe { std::slice::from_raw_parts(start.cast(), bytes) }
    }

    /// Returns a column as text.
    pub(crate) fn text(&self, column: c_int) -> String {
        String::from_utf8_lossy(self.column(column)).into_owned()
    }
}

impl Drop for Row<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the statement is prepared. The code repeats the last step's.
        unsafe { (self.0.api.sqlite3_reset)(self.0.handle.as_ptr()) };
    }
}

/// Converts a result code, with SQLite's own message.
#[cold]
fn failed(code: c_int, message: &str) -> EngineError {
    let text = format!("sqlite: {message}");
    // The low byte of an extended result code is the primary one.
    match code & 0xff {
        // The busy handler has waited for the pragma `busy_timeout`.
        sys::SQLITE_BUSY => EngineError::Timeout(text),
        sys::SQLITE_LOCKED => EngineError::Conflict(text),
        sys::SQLITE_TOOBIG => EngineError::Unsupported(text),
        _ => EngineError::Fatal(text),
    }
}
