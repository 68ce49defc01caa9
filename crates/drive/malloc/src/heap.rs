//! The allocator that serves this process.

use std::fmt;
use std::path::{Path, PathBuf};

use dynlib::Library;
use model::{Allocator, MallocRecord, Readings};

use crate::error::MallocError;
use crate::ffi::owner;
use crate::ffi_jemalloc::Jemalloc;
use crate::ffi_others::{Mimalloc, System, Tcmalloc};
use crate::source::Source;
use crate::tunable::{Tunables, own};

/// A function that only this allocator's library has, and how its table is bound.
type Known = (Allocator, &'static str, fn(&Library) -> Result<Box<dyn Source>, String>);

/// The allocators that are recognised.
const KNOWN: &[Known] = &[
    (Allocator::System, "gnu_get_libc_version", |it| Ok(Box::new(System::bind(it, "")?))),
    (Allocator::Jemalloc, "mallctl", |it| Ok(Box::new(Jemalloc::bind(it, "")?))),
    (Allocator::Tcmalloc, "tc_version", |it| Ok(Box::new(Tcmalloc::bind(it, "")?))),
    (Allocator::Mimalloc, "mi_version", |it| Ok(Box::new(Mimalloc::bind(it, "mi_")?))),
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
        let scope = Library::this();
        let found = owner(&scope, "malloc").map_err(MallocError::Hidden)?;
        let other = |requested: String| MallocError::Other { requested, found: found.clone() };
        let known =
            KNOWN.iter().find(|(_, symbol, _)| owner(&scope, symbol).as_ref() == Ok(&found));
        let heap = known.filter(|(allocator, ..)| *allocator == requested);
        let Some(source) = heap.and_then(|(.., bind)| bind(&scope).ok()) else {
            return Err(other(requested.to_string()));
        };
        if let Some(library) = library.filter(|library| *library != found) {
            return Err(other(format!("{requested} ({})", library.display())));
        }
        let tunables = own(tunables, requested);
        Ok(Self { allocator: requested, library: found, source, tunables })
    }

    /// Returns the gauges that are cheap enough to read while clients run.
    ///
    /// None for glibc: it walks the free chunks of an arena under the arena's lock, which took 370
    /// ms for a million of them. The others read counters, in 1 to 20 us.
    pub fn cheap_readings(&self) -> Readings {
        if self.allocator.is_system() { Readings::new() } else { self.readings() }
    }

    /// Returns the current gauges; those the allocator does not report are absent.
    ///
    /// It may block every allocation of the process meanwhile; see [`Self::cheap_readings`].
    pub fn readings(&self) -> Readings {
        self.source.readings()
    }

    /// Returns its statistics for the record of a step.
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
