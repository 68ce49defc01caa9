//! Jemalloc statistics through `mallctl`.
//!
//! Source: jemalloc(3), version 5.3, "MALLCTL NAMESPACE".
#![expect(unsafe_code, reason = "foreign functions are bound and called here")]

use std::cmp::Reverse;
use std::ffi::{CString, c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::null_mut;

use model::{Bin, Readings, metric};

use crate::ffi::{append, text};
use crate::source::Source;

/// Takes a piece of the report.
type Write = extern "C" fn(*mut c_void, *const c_char);

dynlib::functions! {
    /// jemalloc's control interface, as it serves this process.
    pub(crate) struct Jemalloc {
        required {
            mallctl: fn(*const c_char, *mut c_void, *mut usize, *mut c_void, usize) -> c_int;
            malloc_stats_print: fn(Option<Write>, *mut c_void, *const c_char);
        }
    }
}

/// Values that jemalloc writes as they are, of which all zeroes is one.
trait Plain: Copy {}

impl Plain for u8 {}
impl Plain for u32 {}
impl Plain for u64 {}
impl Plain for i64 {}
impl Plain for *const c_char {}

impl Jemalloc {
    /// Returns a value; `None` when this build has none of that name and size.
    fn get<T: Plain>(&self, name: &str) -> Option<T> {
        let (mut value, name) = (MaybeUninit::<T>::zeroed(), CString::new(name).ok()?);
        let mut bytes = size_of::<T>();
        let into = (&raw mut value).cast();
        // SAFETY: `into` has room for `bytes`; jemalloc writes no more, and refuses another size.
        let code = unsafe { (self.mallctl)(name.as_ptr(), into, &raw mut bytes, null_mut(), 0) };
        // SAFETY: the value is zeroed, which is one of its type, or as jemalloc wrote it.
        (code == 0 && bytes == size_of::<T>()).then(|| unsafe { value.assume_init() })
    }

    /// Returns a text; `None` when this build has none of that name.
    fn text_of(&self, name: &str) -> Option<String> {
        let found = self.get::<*const c_char>(name).filter(|text| !text.is_null());
        // SAFETY: jemalloc's texts end with 0 and live as long as the process.
        found.map(|found| unsafe { text(found) })
    }

    /// Brings the statistics up to date.
    fn refresh(&self) {
        let (mut epoch, bytes) = (1_u64, size_of::<u64>());
        let from = (&raw mut epoch).cast();
        // SAFETY: the epoch is a u64; any value refreshes.
        unsafe { (self.mallctl)(c"epoch".as_ptr(), null_mut(), null_mut(), from, bytes) };
    }

    /// Returns a size class that shares slabs.
    fn small(&self, at: u32) -> Option<Bin> {
        let class = |what: &str| format!("arenas.bin.{at}.{what}");
        // 4096 stands for all arenas together: `MALLCTL_ARENAS_ALL`.
        let all = |what: &str| format!("stats.arenas.4096.bins.{at}.{what}");
        Some(Bin {
            size: self.get(&class("size"))?,
            slab_bytes: self.get(&class("slab_size"))?,
            slab_regions: self.get::<u32>(&class("nregs"))?.into(),
            regions: self.get(&all("curregs"))?,
            slabs: self.get(&all("curslabs"))?,
        })
    }

    /// Returns a size class whose allocations have an extent each.
    fn large(&self, at: u32) -> Option<Bin> {
        let size = self.get(&format!("arenas.lextent.{at}.size"))?;
        let extents = self.get(&format!("stats.arenas.4096.lextents.{at}.curlextents"))?;
        Some(Bin { size, slab_bytes: size, slab_regions: 1, regions: extents, slabs: extents })
    }
}

impl Source for Jemalloc {
    fn version(&self) -> String {
        self.text_of("version").unwrap_or_default()
    }

    fn readings(&self) -> Readings {
        self.refresh();
        Readings::from([
            (metric::MALLOC_ALLOCATED_BYTES, self.get::<u64>("stats.allocated")),
            (metric::MALLOC_ACTIVE_BYTES, self.get("stats.active")),
            (metric::MALLOC_RESIDENT_BYTES, self.get("stats.resident")),
            (metric::MALLOC_MAPPED_BYTES, self.get("stats.mapped")),
            (metric::MALLOC_RETAINED_BYTES, self.get("stats.retained")),
            (metric::MALLOC_METADATA_BYTES, self.get("stats.metadata")),
        ])
    }

    fn settings(&self) -> Vec<(String, String)> {
        let arenas = self.get::<u32>("opt.narenas").map(|count| count.to_string());
        let numbers = ["opt.dirty_decay_ms", "opt.muzzy_decay_ms", "opt.tcache_max"]
            .map(|name| (name, self.get::<i64>(name).map(|number| number.to_string())));
        let switches = ["background_thread", "opt.retain", "opt.tcache"]
            .map(|name| (name, self.get::<u8>(name).map(|is_on| (is_on != 0).to_string())));
        let texts = ["opt.percpu_arena", "opt.thp", "opt.metadata_thp"]
            .map(|name| (name, self.text_of(name)));
        let all = [("opt.narenas", arenas)].into_iter().chain(numbers).chain(switches).chain(texts);
        let own_name = |name: &str| name.trim_start_matches("opt.").to_owned();
        all.filter_map(|(name, value)| Some((own_name(name), value?))).collect()
    }

    fn bins(&self) -> Vec<Bin> {
        self.refresh();
        let count = |name: &str| self.get::<u32>(name).unwrap_or_default();
        let small = (0..count("arenas.nbins")).filter_map(|at| self.small(at));
        let large = (0..count("arenas.nlextents")).filter_map(|at| self.large(at));
        let mut bins: Vec<Bin> = small.chain(large).filter(|bin| bin.slabs > 0).collect();
        bins.sort_by_key(|bin| (Reverse(bin.mapped_bytes()), bin.size));
        bins
    }

    /// Returns `malloc_stats_print` without the parts per arena and per mutex.
    ///
    /// Source: the statistics used by [Callaghan 2022-09-19].
    fn text(&self) -> Option<String> {
        extern "C" fn take(report: *mut c_void, piece: *const c_char) {
            // SAFETY: jemalloc passes on the report below, and a text.
            unsafe { append(report, piece) };
        }
        let mut report: Vec<u8> = Vec::new();
        let into = (&raw mut report).cast();
        // SAFETY: `take` is called with `into` before the function returns, and not later.
        unsafe { (self.malloc_stats_print)(Some(take), into, c"xa".as_ptr()) };
        Some(String::from_utf8_lossy(&report).into_owned())
    }
}
