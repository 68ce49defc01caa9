//! Statistics of gperftools' tcmalloc.
//!
//! Source: gperftools 2.10, `malloc_extension.h`, the properties of `GetNumericProperty`.

use std::ffi::CStr;

use model::{Readings, metric};

use crate::ffi::{Scope, TcmallocApi};
use crate::source::Source;

/// tcmalloc as it serves this process.
pub(crate) struct Tcmalloc(TcmallocApi);

impl Tcmalloc {
    /// Binds its functions; `None` when one is absent.
    pub(crate) fn bind(scope: &Scope) -> Option<Box<dyn Source>> {
        TcmallocApi::bind(scope).map(|api| -> Box<dyn Source> { Box::new(Self(api)) })
    }
}

impl Source for Tcmalloc {
    fn version(&self) -> String {
        let version = self.0.version();
        version.strip_prefix("gperftools ").map_or(version.clone(), str::to_owned)
    }

    /// Returns its gauges; active are the pages of spans in use, which hold the free objects of
    /// the thread and central caches too.
    fn readings(&self) -> Readings {
        let property = |name: &CStr| self.0.property(name);
        let heap = property(c"generic.heap_size");
        let free = property(c"tcmalloc.pageheap_free_bytes");
        let unmapped = property(c"tcmalloc.pageheap_unmapped_bytes");
        let active = heap.zip(free).zip(unmapped);
        Readings::from([
            (metric::MALLOC_ALLOCATED_BYTES, property(c"generic.current_allocated_bytes")),
            (
                metric::MALLOC_ACTIVE_BYTES,
                active.and_then(|((heap, free), unmapped)| heap.checked_sub(free + unmapped)),
            ),
            (metric::MALLOC_RESIDENT_BYTES, property(c"generic.total_physical_bytes")),
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
        let present = names.into_iter().filter_map(|name| {
            let value = self.0.property(name)?;
            let name = name.to_string_lossy();
            Some((name.trim_start_matches("tcmalloc.").to_owned(), value.to_string()))
        });
        present.collect()
    }

    fn text(&self) -> Option<String> {
        Some(self.0.report())
    }
}
