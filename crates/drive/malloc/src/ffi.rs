//! Which file serves a function of this process, and texts of C.
#![expect(unsafe_code, reason = "foreign functions are bound and called here")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::PathBuf;
use std::ptr::{null, null_mut};

use dynlib::Library;

/// Most bytes stored of an allocator's report.
const TEXT_MAX: usize = 1 << 20;

/// Where an address lies. Source: dladdr(3).
#[repr(C)]
struct DlInfo {
    file: *const c_char,
    base: *mut c_void,
    symbol: *const c_char,
    address: *mut c_void,
}

unsafe extern "C" {
    fn dladdr(address: *const c_void, info: *mut DlInfo) -> c_int;
}

/// Returns the file that a function resolves to in the global `scope`, links followed.
pub(crate) fn owner(scope: &Library, symbol: &str) -> Result<PathBuf, String> {
    // SAFETY: the address is never called, only resolved.
    let found = unsafe { scope.get::<*const c_void>(symbol) };
    let address = *found.map_err(|error| error.to_string())?;
    let mut info = DlInfo { file: null(), base: null_mut(), symbol: null(), address: null_mut() };
    // SAFETY: `info` is ours and has the layout that dladdr(3) gives.
    let is_found = unsafe { dladdr(address, &raw mut info) } != 0;
    if !is_found || info.file.is_null() {
        return Err(format!("no file holds `{symbol}`"));
    }
    // SAFETY: the loader's text lives as long as the file it names is loaded.
    let file = unsafe { text(info.file) };
    std::fs::canonicalize(&file).map_err(|error| format!("{file}: {error}"))
}

/// Returns a copy of a text.
///
/// # Safety
/// The text ends with 0 and lives as long as this runs.
pub(crate) unsafe fn text(text: *const c_char) -> String {
    // SAFETY: as this function requires of its caller.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Appends a piece of a report to its `Vec<u8>`, up to `TEXT_MAX` bytes.
///
/// # Safety
/// `report` is a `Vec<u8>` that nothing else uses; `piece` ends with 0 and outlives the call.
pub(crate) unsafe fn append(report: *mut c_void, piece: *const c_char) {
    // SAFETY: as this function requires of its caller.
    let report = unsafe { &mut *report.cast::<Vec<u8>>() };
    // SAFETY: as this function requires of its caller.
    let piece = unsafe { CStr::from_ptr(piece) }.to_bytes();
    if report.len() + piece.len() <= TEXT_MAX {
        report.extend_from_slice(piece);
    }
}
