//! A tuple of the index.

/// What the index holds of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tuple {
    pub(crate) key: Box<[u8]>,
    pub(crate) seqno: u64,
    /// Bytes of the document's key and value.
    pub(crate) bytes: u32,
    /// Whether the key was deleted.
    pub(crate) is_deletion: bool,
}
