//! Statistics of gperftools' tcmalloc, of mimalloc and of the GNU C Library.
#![expect(unsafe_code, reason = "foreign functions are bound and called here")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null;

use model::{Readings, metric};

use crate::ffi::{append, text};
use crate::source::Source;

/// Takes a piece of mimalloc's report.
type Output = extern "C" fn(*const c_char, *mut c_void);

dynlib::functions! {
    /// tcmalloc's extension.
    ///
    /// Source: gperftools 2.10, `malloc_extension_c.h` and `tcmalloc.h`; the properties are those
    /// of `GetNumericProperty` in `malloc_extension.h`.
    pub(crate) struct Tcmalloc {
        required {
            MallocExtension_GetNumericProperty: fn(*const c_char, *mut usize) -> c_int;
            MallocExtension_GetStats: fn(*mut c_char, c_int);
            tc_version: fn(*mut c_int, *mut c_int, *mut *const c_char) -> *const c_char;
        }
    }
}

dynlib::functions! {
    /// mimalloc's functions.
    ///
    /// Source: mimalloc 2.0.9, `mimalloc.h`, `mi_process_info`; its `current_rss` is an estimate
    /// from the committed bytes on Linux, and is not taken.
    pub(crate) struct Mimalloc {
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
    /// The GNU C Library's functions. Source: mallinfo(3); gnu_get_libc_version(3).
    pub(crate) struct System {
        required { gnu_get_libc_version: fn() -> *const c_char; }
        optional { mallinfo2: fn() -> MallInfo; }
    }
}

/// Heap statistics of glibc, all arenas together; in bytes unless counts.
#[repr(C)]
pub(crate) struct MallInfo {
    /// Bytes got from the system, those of mapped allocations left out.
    arena: usize,
    counts: [usize; 3],
    /// Bytes of allocations that are mappings of their own.
    hblkhd: usize,
    unused: [usize; 2],
    /// Bytes in use within the arenas, per-thread caches included.
    uordblks: usize,
    free: [usize; 2],
}

impl Tcmalloc {
    /// Returns a property; `None` when this build has none of that name.
    fn property(&self, name: &CStr) -> Option<u64> {
        let mut value = 0;
        // SAFETY: the name ends with 0 and the result is ours.
        let is_known =
            unsafe { (self.MallocExtension_GetNumericProperty)(name.as_ptr(), &raw mut value) };
        (is_known != 0).then(|| u64::try_from(value).ok())?
    }
}

impl Source for Tcmalloc {
    fn version(&self) -> String {
        let (mut major, mut minor, mut patch) = (0, 0, null());
        // SAFETY: the three results are ours; the text is a constant of the library.
        let version = unsafe { (self.tc_version)(&raw mut major, &raw mut minor, &raw mut patch) };
        // SAFETY: as above.
        unsafe { text(version) }.trim_start_matches("gperftools ").to_owned()
    }

    /// Returns its gauges; active are the pages of spans in use, which hold the free objects of
    /// the thread and central caches too.
    fn readings(&self) -> Readings {
        let heap = self.property(c"generic.heap_size");
        let free = self.property(c"tcmalloc.pageheap_free_bytes");
        let unmapped = self.property(c"tcmalloc.pageheap_unmapped_bytes");
        let idle = free.zip(unmapped).map(|(free, unmapped)| free + unmapped);
        let active = heap.zip(idle).and_then(|(heap, idle)| heap.checked_sub(idle));
        let allocated = self.property(c"generic.current_allocated_bytes");
        Readings::from([
            (metric::MALLOC_ALLOCATED_BYTES, allocated),
            (metric::MALLOC_ACTIVE_BYTES, active),
            (metric::MALLOC_RESIDENT_BYTES, self.property(c"generic.total_physical_bytes")),
            (metric::MALLOC_MAPPED_BYTES, heap),
            (metric::MALLOC_RETAINED_BYTES, unmapped),
        ])
    }

    fn settings(&self) -> Vec<(String, String)> {
        let names = [
            c"tcmalloc.max_total_thread_cache_bytes",
            c"tcmalloc.aggressive_memory_decommit",
            c"tcmalloc.heap_limit_mb",
        ];
        let setting = |name: &CStr| {
            let (value, name) = (self.property(name)?.to_string(), name.to_string_lossy());
            Some((name.trim_start_matches("tcmalloc.").to_owned(), value))
        };
        names.into_iter().filter_map(setting).collect()
    }

    fn text(&self) -> Option<String> {
        /// Bytes that its report needs, with room.
        const REPORT_MAX: c_int = 1 << 16;
        let mut report = vec![0_u8; usize::try_from(REPORT_MAX).ok()?];
        // SAFETY: the report has room for `REPORT_MAX` bytes.
        unsafe { (self.MallocExtension_GetStats)(report.as_mut_ptr().cast(), REPORT_MAX) };
        let written = report.split(|byte| *byte == 0).next()?;
        Some(String::from_utf8_lossy(written).into_owned())
    }
}

impl Source for Mimalloc {
    /// Returns its number with dots between the digits: 209 is 2.0.9.
    fn version(&self) -> String {
        // SAFETY: it takes nothing and returns a constant.
        let number = unsafe { (self.version)() }.to_string();
        number.chars().map(String::from).collect::<Vec<_>>().join(".")
    }

    /// Returns the bytes it has committed.
    fn readings(&self) -> Readings {
        let Some(process_info) = self.process_info else { return Readings::new() };
        let (mut commit, mut unused) = (0, [0_usize; 7]);
        let [elapsed, user, kernel, rss, rss_max, commit_max, faults] =
            unused.each_mut().map(|one| &raw mut *one);
        // SAFETY: all eight results are ours.
        unsafe {
            process_info(elapsed, user, kernel, rss, rss_max, &raw mut commit, commit_max, faults);
        }
        Readings::from([(metric::MALLOC_MAPPED_BYTES, u64::try_from(commit).ok())])
    }

    fn text(&self) -> Option<String> {
        extern "C" fn take(piece: *const c_char, report: *mut c_void) {
            // SAFETY: mimalloc passes on the report below, and a text.
            unsafe { append(report, piece) };
        }
        let print = self.stats_print_out?;
        if let Some(merge) = self.stats_merge {
            // SAFETY: it adds this thread's statistics to the process's.
            unsafe { merge() };
        }
        let mut report: Vec<u8> = Vec::new();
        let into = (&raw mut report).cast();
        // SAFETY: `take` is called with `into` before the function returns, and not later.
        unsafe { print(Some(take), into) };
        Some(String::from_utf8_lossy(&report).into_owned())
    }
}

impl Source for System {
    fn version(&self) -> String {
        // SAFETY: it takes nothing and returns a constant text.
        let version = unsafe { (self.gnu_get_libc_version)() };
        // SAFETY: as above.
        format!("glibc {}", unsafe { text(version) })
    }

    /// Returns its gauges, all arenas together; per-thread caches count as allocated, since glibc
    /// does not separate them. None before glibc 2.33, whose counters overflow.
    fn readings(&self) -> Readings {
        let Some(mallinfo2) = self.mallinfo2 else { return Readings::new() };
        // SAFETY: it takes nothing and returns ten sizes.
        let info = unsafe { mallinfo2() };
        let sum = |one: usize, other: usize| u64::try_from(one.saturating_add(other)).ok();
        Readings::from([
            (metric::MALLOC_ALLOCATED_BYTES, sum(info.uordblks, info.hblkhd)),
            (metric::MALLOC_MAPPED_BYTES, sum(info.arena, info.hblkhd)),
        ])
    }
}
