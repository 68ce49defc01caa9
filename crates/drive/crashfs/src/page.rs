//! Pages of files, and the memory that they take.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a page: the unit that a power cut loses or leaves.
///
/// Source: our choice, the page of the kernel's cache, which the kernel writes back as a whole.
pub(crate) const PAGE: u64 = 4096;

/// [`PAGE`] as a length.
const PAGE_LEN: usize = 4096;

/// Number of pages in use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gauge(Arc<AtomicU64>);

impl Gauge {
    /// Returns the number of pages and inodes in use.
    pub(crate) fn pages(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// One page's entry in the gauge; it ends with the page.
#[derive(Debug)]
pub(crate) struct Share(Gauge);

impl Share {
    /// Counts one page more.
    pub(crate) fn new(gauge: &Gauge) -> Self {
        gauge.0.fetch_add(1, Ordering::Relaxed);
        Self(gauge.clone())
    }
}

impl Clone for Share {
    fn clone(&self) -> Self {
        Self::new(&self.0)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Bytes of a page with their entry in the gauge.
#[derive(Clone, Debug)]
struct Bytes {
    bytes: [u8; PAGE_LEN],
    _share: Share,
}

/// A page that is shared until it changes.
#[derive(Clone, Debug)]
pub(crate) struct Page(Arc<Bytes>);

impl Page {
    /// Returns a page of zeros.
    pub(crate) fn new(gauge: &Gauge) -> Self {
        Self(Arc::new(Bytes { bytes: [0; PAGE_LEN], _share: Share::new(gauge) }))
    }

    /// Returns the content of the page.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0.bytes
    }

    /// Returns the content to change: a shared page is copied first.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut Arc::make_mut(&mut self.0).bytes
    }
}
