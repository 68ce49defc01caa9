//! The allocator that serves this process.

use std::fmt;
use std::path::{Path, PathBuf};

use model::{Allocator, MallocRecord, Readings};

use crate::error::MallocError;
use crate::ffi::Scope;
use crate::jemalloc::Jemalloc;
use crate::mimalloc::Mimalloc;
use crate::source::Source;
use crate::system::System;
use crate::tcmalloc::Tcmalloc;
use crate::tunable::{Tunables, own};

/// A function that only this allocator's library has, and how its tables are bound.
type Known = (Allocator, &'static str, fn(&Scope) -> Option<Box<dyn Source>>);

/// The allocators that are recognised.
const KNOWN: &[Known] = &[
    (Allocator::System, "gnu_get_libc_version", System::bind),
    (Allocator::Jemalloc, "mallctl", Jemalloc::bind),
    (Allocator::Tcmalloc, "tc_version", Tcmalloc::bind),
    (Allocator::Mimalloc, "mi_version", Mimalloc::bind),
];

/// The allocator that serves `malloc` in this process.
pub struct Heap {
    allocator: Allocator,
    library: PathBuf,
    source: Box<dyn Source>,
    tunables: Tunables,
}

impl Heap {
    /// Returns the allocator of this process when it is the requested one.
    ///
    /// `library` is the preloaded file; the system's own allocator needs none. `tunables` are the
    /// environment variables that may tune an allocator.
    ///
    /// # Errors
    /// [`MallocError::Other`] when another library serves `malloc`, known here or not.
    pub fn expect(
        requested: Allocator,
        library: Option<&Path>,
        tunables: &Tunables,
    ) -> Result<Self, MallocError> {
        let scope = Scope::global();
        let found = scope.owner("malloc").map_err(MallocError::Hidden)?;
        let other = |requested: String| MallocError::Other { requested, found: found.clone() };
        let known = KNOWN.iter().find(|(_, symbol, _)| scope.owner(symbol).as_ref() == Ok(&found));
        let heap = known.filter(|(allocator, ..)| *allocator == requested);
        let Some(source) = heap.and_then(|(.., bind)| bind(&scope)) else {
            return Err(other(requested.to_string()));
        };
        if let Some(library) = library.filter(|library| *library != found) {
            return Err(other(format!("{requested} ({})", library.display())));
        }
        Ok(Self {
            allocator: requested,
            library: found,
            source,
            tunables: own(tunables, requested),
        })
    }

    /// Returns the gauges that are cheap enough to read while clients run.
    ///
    /// None for glibc: it walks the free chunks of an arena under the arena's lock, which took 370
    /// ms for a million of them. The others read counters, in 1 to 20 us.
    #[must_use]
    pub fn cheap_readings(&self) -> Readings {
        if self.allocator.is_system() { Readings::new() } else { self.readings() }
    }

    /// Returns the current gauges; those the allocator does not report are absent.
    ///
    /// It may block every allocation of the process meanwhile; see [`Self::cheap_readings`].
    #[must_use]
    pub fn readings(&self) -> Readings {
        self.source.readings()
    }

    /// Returns its statistics for the record of a step.
    #[must_use]
    pub fn record(&self) -> MallocRecord {
        let mut settings = self.source.settings();
        settings.extend(self.tunables.iter().cloned());
        MallocRecord {
            allocator: self.allocator,
            version: self.source.version(),
            settings,
            bins: self.source.bins(),
        }
    }

    /// Returns its own text report; `None` when it has none.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        self.source.text()
    }
}

impl fmt::Display for Heap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({})", self.allocator, self.source.version(), self.library.display())
    }
}

impl fmt::Debug for Heap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Heap({self})")
    }
}
