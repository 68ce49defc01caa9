//! Safe wrappers of a database and its options.
#![expect(unsafe_code, reason = "foreign functions are called here")]

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

use dynlib::Owned;
use dynlib::level::{Database, c_text};
use engine::Result;

use crate::ffi::{Api, Family, OptionsHandle};

/// Options of a database, owned.
pub(crate) struct RawOptions {
    pub(crate) api: &'static Api,
    options: Owned<OptionsHandle>,
}

// SAFETY: the options are changed only through `&mut self`; reading them and their statistics
// is thread-safe by RocksDB's rules for const objects.
unsafe impl Send for RawOptions {}
// SAFETY: as above.
unsafe impl Sync for RawOptions {}

impl RawOptions {
    /// Returns the library's defaults.
    pub(crate) fn new(api: &'static Api) -> Self {
        // SAFETY: both functions are of one library.
        let options = unsafe { Owned::create(api.options_create, api.options_destroy) };
        Self { api, options }
    }

    /// Returns the object, which lives as long as `self`.
    pub(crate) fn handle(&self) -> *mut OptionsHandle {
        self.options.handle
    }

    /// Turns the engine's statistics on.
    pub(crate) fn enable_statistics(&mut self) {
        // SAFETY: `handle` lives as long as `self`.
        unsafe { (self.api.options_enable_statistics)(self.handle()) };
    }

    /// Returns these options with `create_if_missing`, overridden by an option string.
    pub(crate) fn with_string(&self, text: &str) -> Result<Self> {
        let text = c_text(format!("create_if_missing=true;{text}").as_bytes())?;
        let new = Self::new(self.api);
        let parse = self.api.get_options_from_string;
        // SAFETY: both handles live, the text ends with zero, and `error` is a local of `call`.
        let parsed = |error| unsafe { parse(self.handle(), text.as_ptr(), new.handle(), error) };
        self.api.level.call(parsed)?;
        Ok(new)
    }
}

/// An open database.
pub(crate) struct Db {
    pub(crate) api: &'static Api,
    pub(crate) handle: *mut Database,
    /// Handle of the default column family; null unless requested.
    pub(crate) family: *mut Family,
    options: RawOptions,
}

// SAFETY: RocksDB's database object may be used from any thread.
unsafe impl Send for Db {}
// SAFETY: RocksDB's database object may be used from several threads at once.
unsafe impl Sync for Db {}

impl Db {
    /// Opens the database in `dir`, creating it when absent.
    ///
    /// With `has_family`, it has a handle of its default column family.
    pub(crate) fn open(options: RawOptions, dir: &Path, has_family: bool) -> Result<Self> {
        let (api, dir) = (options.api, c_text(dir.as_os_str().as_bytes())?);
        let (all, path, mut family) = (options.handle(), dir.as_ptr(), ptr::null_mut());
        let (names, each) = ([c"default".as_ptr()], [all.cast_const()]);
        let (names, each) = (names.as_ptr(), each.as_ptr());
        let handle = api.level.call(|error| match has_family {
            // SAFETY: the options live, the path ends with zero, and `error` is a local of `call`.
            false => unsafe { (api.open)(all, path, error) },
            // SAFETY: as above; names, options and family are arrays of the one entry announced.
            true => unsafe {
                (api.open_column_families)(all, path, 1, names, each, &raw mut family, error)
            },
        })?;
        Ok(Self { api, handle, family, options })
    }

    /// Returns the statistics text; `None` when statistics are off.
    pub(crate) fn statistics(&self) -> Option<String> {
        // SAFETY: the options live as long as `self`; the caller frees the text.
        let text = unsafe { (self.api.options_statistics_get_string)(self.options.handle()) };
        // SAFETY: the library returned the text for its caller to free.
        unsafe { self.api.level.take_text(text) }
    }

    /// Returns a numeric property; `None` when the release lacks it.
    pub(crate) fn number(&self, property: &str) -> Option<u64> {
        let name = CString::new(property).ok()?;
        let mut value = 0;
        // SAFETY: the database is open, the name ends with zero, and `value` is a local.
        let status = unsafe { (self.api.property_int)(self.handle, name.as_ptr(), &raw mut value) };
        (status == 0).then_some(value)
    }

    /// Returns a text property; `None` when the release lacks it.
    pub(crate) fn text(&self, property: &str) -> Option<String> {
        // SAFETY: the database is open.
        unsafe { self.api.level.property(self.handle, property) }
    }

    /// Flushes the memtables to level 0 and waits.
    pub(crate) fn flush(&self) -> Result<()> {
        let (create, destroy) = (self.api.flushoptions_create, self.api.flushoptions_destroy);
        // SAFETY: both functions are of one library. A flush waits by default.
        let options = unsafe { Owned::create(create, destroy) };
        // SAFETY: the database is open, the options live, and `error` is a local of `call`.
        let flush = |error| unsafe { (self.api.flush)(self.handle, options.handle, error) };
        self.api.level.call(flush)
    }

    /// Compacts every level and waits.
    pub(crate) fn compact_all(&self) {
        // SAFETY: the database is open; null bounds mean the whole key space.
        unsafe { (self.api.level.compact_range)(self.handle, ptr::null(), 0, ptr::null(), 0) };
    }

    /// Changes an option of the open database.
    pub(crate) fn set_option(&self, name: &str, value: &str) -> Result<()> {
        let (name, value) = (c_text(name.as_bytes())?, c_text(value.as_bytes())?);
        let (names, values) = ([name.as_ptr()], [value.as_ptr()]);
        let (names, values) = (names.as_ptr(), values.as_ptr());
        // SAFETY: both arrays have the one entry announced, and their texts live.
        let set = |error| unsafe { (self.api.set_options)(self.handle, 1, names, values, error) };
        self.api.level.call(set)
    }
}

impl Drop for Db {
    fn drop(&mut self) {
        if !self.family.is_null() {
            // SAFETY: the handle is owned, and sessions that use it borrow the database.
            unsafe { (self.api.column_family_handle_destroy)(self.family) };
        }
        // SAFETY: the handle is owned, and sessions that use it borrow the database.
        unsafe { (self.api.level.close)(self.handle) };
    }
}
