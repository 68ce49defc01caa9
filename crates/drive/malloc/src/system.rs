//! Glibc allocator statistics through `mallinfo2`.
//!
//! Source: mallinfo(3).

use model::Readings;

use crate::ffi::{Scope, SystemApi};
use crate::source::{Source, gauges};

/// The C library's allocator as it serves this process.
pub(crate) struct System(SystemApi);

impl System {
    /// Binds its functions; `None` when one is absent.
    pub(crate) fn bind(scope: &Scope) -> Option<Box<dyn Source>> {
        SystemApi::bind(scope).map(|api| -> Box<dyn Source> { Box::new(Self(api)) })
    }
}

impl Source for System {
    fn version(&self) -> String {
        format!("glibc {}", self.0.version())
    }

    /// Returns its gauges, all arenas together; per-thread caches count as allocated, since glibc
    /// does not separate them.
    fn readings(&self) -> Readings {
        let Some(info) = self.0.info() else { return Readings::new() };
        let sum = |one: usize, other: usize| u64::try_from(one.saturating_add(other)).ok();
        gauges(&[
            ("malloc_allocated_bytes", sum(info.uordblks, info.hblkhd)),
            ("malloc_mapped_bytes", sum(info.arena, info.hblkhd)),
        ])
    }
}
