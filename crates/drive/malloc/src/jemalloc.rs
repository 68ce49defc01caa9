//! Jemalloc statistics through `mallctl`.
//!
//! Source: jemalloc(3), version 5.3, "MALLCTL NAMESPACE".

use std::cmp::Reverse;

use model::{Bin, Readings, metric};

use crate::ffi::{JemallocApi, Scope};
use crate::source::Source;

/// Stands for all arenas together: `MALLCTL_ARENAS_ALL`.
const ALL_ARENAS: u32 = 4096;

/// jemalloc as it serves this process.
pub(crate) struct Jemalloc(JemallocApi);

impl Jemalloc {
    /// Binds its functions; `None` when one is absent.
    pub(crate) fn bind(scope: &Scope) -> Option<Box<dyn Source>> {
        JemallocApi::bind(scope).map(|api| -> Box<dyn Source> { Box::new(Self(api)) })
    }

    /// Returns a truth value as the manual writes it.
    fn switch(&self, name: &str) -> Option<String> {
        self.0.get::<u8>(name).map(|is_on| (is_on != 0).to_string())
    }

    /// Returns the size classes that share slabs.
    fn small(&self) -> Vec<Bin> {
        let count: u32 = self.0.get("arenas.nbins").unwrap_or_default();
        let bin = |at: u32| {
            let class = |what: &str| format!("arenas.bin.{at}.{what}");
            let all = |what: &str| format!("stats.arenas.{ALL_ARENAS}.bins.{at}.{what}");
            Some(Bin {
                size: self.0.get(&class("size"))?,
                slab_bytes: self.0.get(&class("slab_size"))?,
                slab_regions: self.0.get::<u32>(&class("nregs"))?.into(),
                regions: self.0.get(&all("curregs"))?,
                slabs: self.0.get(&all("curslabs"))?,
            })
        };
        (0..count).filter_map(bin).collect()
    }

    /// Returns the size classes whose allocations have an extent each.
    fn large(&self) -> Vec<Bin> {
        let count: u32 = self.0.get("arenas.nlextents").unwrap_or_default();
        let extent = |at: u32| {
            let size = self.0.get(&format!("arenas.lextent.{at}.size"))?;
            let held = format!("stats.arenas.{ALL_ARENAS}.lextents.{at}.curlextents");
            let extents = self.0.get(&held)?;
            Some(Bin { size, slab_bytes: size, slab_regions: 1, regions: extents, slabs: extents })
        };
        (0..count).filter_map(extent).collect()
    }
}

impl Source for Jemalloc {
    fn version(&self) -> String {
        self.0.text("version").unwrap_or_default()
    }

    fn readings(&self) -> Readings {
        self.0.refresh();
        Readings::from([
            (metric::MALLOC_ALLOCATED_BYTES, self.0.get::<u64>("stats.allocated")),
            (metric::MALLOC_ACTIVE_BYTES, self.0.get("stats.active")),
            (metric::MALLOC_RESIDENT_BYTES, self.0.get("stats.resident")),
            (metric::MALLOC_MAPPED_BYTES, self.0.get("stats.mapped")),
            (metric::MALLOC_RETAINED_BYTES, self.0.get("stats.retained")),
            (metric::MALLOC_METADATA_BYTES, self.0.get("stats.metadata")),
        ])
    }

    fn settings(&self) -> Vec<(String, String)> {
        let number = |name: &str| self.0.get::<u32>(name).map(|value| value.to_string());
        let span = |name: &str| self.0.get::<i64>(name).map(|value| value.to_string());
        let size = |name: &str| self.0.get::<u64>(name).map(|value| value.to_string());
        let known = [
            ("narenas", number("opt.narenas")),
            ("dirty_decay_ms", span("opt.dirty_decay_ms")),
            ("muzzy_decay_ms", span("opt.muzzy_decay_ms")),
            ("background_thread", self.switch("background_thread")),
            ("retain", self.switch("opt.retain")),
            ("tcache", self.switch("opt.tcache")),
            ("tcache_max", size("opt.tcache_max")),
            ("percpu_arena", self.0.text("opt.percpu_arena")),
            ("thp", self.0.text("opt.thp")),
            ("metadata_thp", self.0.text("opt.metadata_thp")),
        ];
        let present = known.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        present.collect()
    }

    fn bins(&self) -> Vec<Bin> {
        self.0.refresh();
        let mut bins: Vec<Bin> = self.small().into_iter().chain(self.large()).collect();
        bins.retain(|bin| bin.slabs > 0);
        bins.sort_by_key(|bin| (Reverse(bin.mapped_bytes()), bin.size));
        bins
    }

    /// Returns `malloc_stats_print` without the parts per arena and per mutex.
    ///
    /// Source: the statistics used by [Callaghan 2022-09-19].
    fn text(&self) -> Option<String> {
        Some(self.0.report(c"xa"))
    }
}
