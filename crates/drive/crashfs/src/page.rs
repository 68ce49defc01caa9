//! Pages of files, and the memory that they take.

use std::sync::Arc;

/// Bytes of a page: the unit that a power cut loses or leaves.
///
/// Source: our choice, the page of the kernel's cache, which the kernel writes back as a whole.
pub(crate) const PAGE: u64 = 4096;

/// [`PAGE`] as a length.
const PAGE_LEN: usize = 4096;

/// Counter of the pages and inodes in use: each has a clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gauge(Arc<()>);

impl Gauge {
    /// Returns the number of pages and inodes in use.
    pub(crate) fn pages(&self) -> u64 {
        Arc::strong_count(&self.0) as u64 - 1
    }
}

/// Bytes of a page, which the gauge counts.
#[derive(Clone, Debug)]
struct Bytes {
    bytes: [u8; PAGE_LEN],
    _gauge: Gauge,
}

/// A page that is shared until it changes.
#[derive(Clone, Debug)]
pub(crate) struct Page(Arc<Bytes>);

impl Page {
    /// Returns a page of zeros.
    pub(crate) fn new(gauge: &Gauge) -> Self {
        Self(Arc::new(Bytes { bytes: [0; PAGE_LEN], _gauge: gauge.clone() }))
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
