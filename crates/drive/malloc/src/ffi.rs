//! C functions of the allocators loaded in this process.
#![expect(unsafe_code, reason = "foreign functions are bound and called here")]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::PathBuf;
use std::ptr::{null, null_mut};

use dynlib::Library;

/// Most bytes stored of an allocator's report.
const TEXT_MAX: usize = 1 << 20;

/// Takes a piece of jemalloc's report.
type Write = extern "C" fn(*mut c_void, *const c_char);
/// Takes a piece of mimalloc's report.
type Output = extern "C" fn(*const c_char, *mut c_void);

dynlib::functions! {
    /// jemalloc's control interface. Source: jemalloc(3), version 5.
    struct JemallocTable prefix "" {
        required {
            mallctl: fn(*const c_char, *mut c_void, *mut usize, *mut c_void, usize) -> c_int;
            malloc_stats_print: fn(Option<Write>, *mut c_void, *const c_char);
        }
        optional {}
    }
}

dynlib::functions! {
    /// Source: gperftools 2.10, `malloc_extension_c.h` and `tcmalloc.h`.
    struct TcmallocTable prefix "" {
        required {
            MallocExtension_GetNumericProperty: fn(*const c_char, *mut usize) -> c_int;
            MallocExtension_GetStats: fn(*mut c_char, c_int);
            tc_version: fn(*mut c_int, *mut c_int, *mut *const c_char) -> *const c_char;
        }
        optional {}
    }
}

dynlib::functions! {
    /// Source: mimalloc 2.0, `mimalloc.h`.
    struct MimallocTable prefix "mi_" {
        required { version: fn() -> c_int; }
        optional {
            process_info: fn(
                *mut usize, *mut usize, *mut usize, *mut usize, *mut usize, *mut usize,
                *mut usize, *mut usize
            );
            stats_merge: fn();
            stats_print_out: fn(Option<Output>, *mut c_void);
        }
    }
}

dynlib::functions! {
    /// The GNU C Library's. Source: mallinfo(3); gnu_get_libc_version(3).
    struct SystemTable prefix "" {
        required { gnu_get_libc_version: fn() -> *const c_char; }
        optional { mallinfo2: fn() -> MallInfo; }
    }
}

/// Heap statistics of glibc, all arenas together; in bytes unless counts.
#[repr(C)]
pub(crate) struct MallInfo {
    /// Bytes got from the system, those of mapped allocations left out.
    pub(crate) arena: usize,
    pub(crate) ordblks: usize,
    pub(crate) smblks: usize,
    pub(crate) hblks: usize,
    /// Bytes of allocations that are mappings of their own.
    pub(crate) hblkhd: usize,
    pub(crate) usmblks: usize,
    pub(crate) fsmblks: usize,
    /// Bytes in use within the arenas, per-thread caches included.
    pub(crate) uordblks: usize,
    pub(crate) fordblks: usize,
    pub(crate) keepcost: usize,
}

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

/// The loader's global scope: the program, its libraries and those preloaded.
pub(crate) struct Scope(Library);

impl Scope {
    /// Returns the process's global scope.
    pub(crate) fn global() -> Self {
        Self(Library::this())
    }

    /// Returns the file that a function of that name resolves to, links followed.
    pub(crate) fn owner(&self, symbol: &str) -> Result<PathBuf, String> {
        // SAFETY: the address is never called, only looked up.
        let found = unsafe { self.0.get::<*const c_void>(symbol) };
        let address = *found.map_err(|error| error.to_string())?;
        let mut info =
            DlInfo { file: null(), base: null_mut(), symbol: null(), address: null_mut() };
        // SAFETY: `info` is ours and has the layout that dladdr(3) gives.
        let is_found = unsafe { dladdr(address, &raw mut info) } != 0;
        if !is_found || info.file.is_null() {
            return Err(format!("no file holds `{symbol}`"));
        }
        // SAFETY: the loader's text lives as long as the file it names is loaded.
        let file = unsafe { CStr::from_ptr(info.file) }.to_string_lossy().into_owned();
        std::fs::canonicalize(&file).map_err(|error| format!("{file}: {error}"))
    }
}

/// Values that jemalloc writes as they are.
pub(crate) trait Plain: Copy + Default {}

impl Plain for u32 {}
impl Plain for u64 {}
impl Plain for i64 {}
impl Plain for u8 {}

/// jemalloc's control interface, by names of its manual's `MALLCTL NAMESPACE`.
pub(crate) struct JemallocApi(JemallocTable);

impl JemallocApi {
    pub(crate) fn bind(scope: &Scope) -> Option<Self> {
        JemallocTable::bind(&scope.0).ok().map(Self)
    }

    /// Returns a value; `None` when this build has none of that name and size.
    pub(crate) fn get<T: Plain>(&self, name: &str) -> Option<T> {
        let (mut value, name) = (T::default(), CString::new(name).ok()?);
        let mut bytes = size_of::<T>();
        let into = (&raw mut value).cast();
        // SAFETY: `into` has room for `bytes`; jemalloc writes no more, and refuses another size.
        let code = unsafe { (self.0.mallctl)(name.as_ptr(), into, &raw mut bytes, null_mut(), 0) };
        (code == 0 && bytes == size_of::<T>()).then_some(value)
    }

    /// Returns a text; `None` when this build has none of that name.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        let (mut text, name) = (null::<c_char>(), CString::new(name).ok()?);
        let mut bytes = size_of::<*const c_char>();
        let into = (&raw mut text).cast();
        // SAFETY: `into` has room for the pointer that every text of the namespace is.
        let code = unsafe { (self.0.mallctl)(name.as_ptr(), into, &raw mut bytes, null_mut(), 0) };
        if code != 0 || text.is_null() {
            return None;
        }
        // SAFETY: jemalloc's texts end with 0 and live as long as the process.
        Some(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
    }

    /// Brings the statistics up to date.
    pub(crate) fn refresh(&self) {
        let mut epoch = 1_u64;
        let from = (&raw mut epoch).cast();
        // SAFETY: the epoch is a u64; any value refreshes.
        unsafe {
            (self.0.mallctl)(c"epoch".as_ptr(), null_mut(), null_mut(), from, size_of::<u64>())
        };
    }

    /// Returns its report; the letters of `without` leave parts out.
    pub(crate) fn report(&self, without: &CStr) -> String {
        extern "C" fn take(text: *mut c_void, piece: *const c_char) {
            append(text, piece);
        }
        let mut text = Vec::new();
        let into = (&raw mut text).cast();
        // SAFETY: `take` is called with `into` before the function returns, and not later.
        unsafe { (self.0.malloc_stats_print)(Some(take), into, without.as_ptr()) };
        String::from_utf8_lossy(&text).into_owned()
    }
}

/// tcmalloc's extension.
pub(crate) struct TcmallocApi(TcmallocTable);

impl TcmallocApi {
    pub(crate) fn bind(scope: &Scope) -> Option<Self> {
        TcmallocTable::bind(&scope.0).ok().map(Self)
    }

    /// Returns a property; `None` when this build has none of that name.
    pub(crate) fn property(&self, name: &CStr) -> Option<u64> {
        let mut value = 0;
        // SAFETY: the name ends with 0 and the result is ours.
        let is_known =
            unsafe { (self.0.MallocExtension_GetNumericProperty)(name.as_ptr(), &raw mut value) };
        (is_known != 0).then(|| u64::try_from(value).ok())?
    }

    pub(crate) fn version(&self) -> String {
        let (mut major, mut minor, mut patch) = (0, 0, null());
        // SAFETY: the three results are ours; the text is a constant of the library.
        let text = unsafe { (self.0.tc_version)(&raw mut major, &raw mut minor, &raw mut patch) };
        // SAFETY: as above.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }

    /// Returns its report.
    pub(crate) fn report(&self) -> String {
        /// Bytes that its report needs, with room.
        const REPORT_MAX: c_int = 1 << 16;
        let mut text = vec![0_u8; usize::try_from(REPORT_MAX).unwrap_or_default()];
        // SAFETY: the text has room for `REPORT_MAX` bytes.
        unsafe { (self.0.MallocExtension_GetStats)(text.as_mut_ptr().cast(), REPORT_MAX) };
        let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
        String::from_utf8_lossy(&text[..end]).into_owned()
    }
}

/// mimalloc's functions.
pub(crate) struct MimallocApi(MimallocTable);

impl MimallocApi {
    pub(crate) fn bind(scope: &Scope) -> Option<Self> {
        MimallocTable::bind(&scope.0).ok().map(Self)
    }

    pub(crate) fn version(&self) -> c_int {
        // SAFETY: it takes nothing and returns a constant.
        unsafe { (self.0.version)() }
    }

    /// Returns the bytes it has committed.
    pub(crate) fn committed(&self) -> Option<u64> {
        let process_info = self.0.process_info?;
        let (mut commit, mut unused) = (0, [0_usize; 7]);
        let [elapsed, user, kernel, rss, rss_max, commit_max, faults] =
            unused.each_mut().map(|one| &raw mut *one);
        // SAFETY: all eight results are ours.
        unsafe {
            process_info(elapsed, user, kernel, rss, rss_max, &raw mut commit, commit_max, faults);
        }
        u64::try_from(commit).ok()
    }

    /// Returns its report.
    pub(crate) fn report(&self) -> Option<String> {
        extern "C" fn take(piece: *const c_char, text: *mut c_void) {
            append(text, piece);
        }
        let print = self.0.stats_print_out?;
        if let Some(merge) = self.0.stats_merge {
            // SAFETY: it adds this thread's statistics to the process's.
            unsafe { merge() };
        }
        let mut text = Vec::new();
        let into = (&raw mut text).cast();
        // SAFETY: `take` is called with `into` before the function returns, and not later.
        unsafe { print(Some(take), into) };
        Some(String::from_utf8_lossy(&text).into_owned())
    }
}

/// The GNU C Library's functions.
pub(crate) struct SystemApi(SystemTable);

impl SystemApi {
    pub(crate) fn bind(scope: &Scope) -> Option<Self> {
        SystemTable::bind(&scope.0).ok().map(Self)
    }

    pub(crate) fn version(&self) -> String {
        // SAFETY: it takes nothing and returns a constant text.
        let text = unsafe { (self.0.gnu_get_libc_version)() };
        // SAFETY: as above.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }

    /// Returns its heap statistics; `None` before glibc 2.33, whose counters overflow.
    pub(crate) fn info(&self) -> Option<MallInfo> {
        // SAFETY: it takes nothing and returns ten sizes.
        self.0.mallinfo2.map(|mallinfo2| unsafe { mallinfo2() })
    }
}

/// Appends a piece of a report to its text, up to `TEXT_MAX` bytes.
fn append(text: *mut c_void, piece: *const c_char) {
    // SAFETY: both reports hand back the pointer to the text that their caller holds.
    let text = unsafe { &mut *text.cast::<Vec<u8>>() };
    // SAFETY: a piece ends with 0 and outlives the call.
    let piece = unsafe { CStr::from_ptr(piece) }.to_bytes();
    if text.len() + piece.len() <= TEXT_MAX {
        text.extend_from_slice(piece);
    }
}
