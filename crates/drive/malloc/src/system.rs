//! Glibc allocator statistics through `mallinfo2`.
//!
//! Source: mallinfo(3).

use model::{Readings, metric};

use crate::ffi::{Scope, SystemApi};
use crate::source::Source;

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
        Readings::from([
            (metric::MALLOC_ALLOCATED_BYTES, sum(info.uordblks, info.hblkhd)),
            (metric::MALLOC_MAPPED_BYTES, sum(info.arena, info.hblkhd)),
        ])
    }
}
