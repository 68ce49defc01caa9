//! Capabilities of an engine, checked before a run.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::names::names;

/// Durability class of an acknowledged write.
///
/// A class is a floor: an engine may give more, never less.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default,
)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// No guarantee until the engine is closed cleanly.
    None,
    /// Survives a crash of the process: handed to the operating system before the answer.
    #[default]
    Os,
    /// Survives a crash of the machine: synced to the device before the answer.
    Sync,
}

names!(Durability, "a durability class": None "none", Os "os", Sync "sync");

impl Durability {
    /// Returns the class's guarantee, for a table's caption.
    pub const fn guarantee(self) -> &'static str {
        match self {
            Self::None => "nothing survives before a clean close",
            Self::Os => "survives a process crash",
            Self::Sync => "survives a machine crash",
        }
    }
}

/// The kinds of operation; counts and histograms are per kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpKind {
    /// Point read of one key.
    Get,
    /// Insert or overwrite of one key.
    Put,
    /// Delete of one key.
    Delete,
    /// Short range read, forward or reverse.
    Scan,
    /// Point reads of several keys in one call.
    MultiGet,
    /// A statement that adds rows whose keys the server assigns.
    Insert,
    /// Several statements executed atomically.
    Transaction,
    /// A statement that changes a table's shape: an index is built.
    Define,
    /// Replacement of bytes of one value.
    PartialUpdate,
    /// Read of some bytes of one value.
    FieldRead,
    /// Lengthening of one value.
    Append,
    /// Read of rows in the order of their newest writes.
    ScanSequence,
}

names!(OpKind, "a kind of operation":
    Get "get", Put "put", Delete "delete", Scan "scan", MultiGet "multi_get", Insert "insert",
    Transaction "transaction", Define "define", PartialUpdate "partial_update",
    FieldRead "field_read", Append "append", ScanSequence "scan_sequence");

impl OpKind {
    /// The kinds of every key-value engine; [`OpKind::ScanSequence`] is for those with
    /// [`SEQUENCE_SCANS`].
    pub const KEY_VALUE: [Self; 8] = [
        Self::Get,
        Self::Put,
        Self::Delete,
        Self::Scan,
        Self::MultiGet,
        Self::PartialUpdate,
        Self::FieldRead,
        Self::Append,
    ];

    /// The kinds that a procedure of an application may have.
    pub const PROCEDURE: [Self; 8] = [
        Self::Get,
        Self::Put,
        Self::Delete,
        Self::Scan,
        Self::MultiGet,
        Self::Insert,
        Self::Transaction,
        Self::Define,
    ];

    /// Returns the kind's position in [`OpKind::ALL`], for tables indexed by kind.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Returns whether the kind changes data.
    pub const fn is_write(self) -> bool {
        matches!(self, Self::Put | Self::Delete | Self::Insert | Self::PartialUpdate | Self::Append)
    }

    /// Returns the capability that is present where the kind is native, for kinds that are
    /// otherwise a read and a write of the whole value.
    pub const fn native(self) -> Option<&'static str> {
        match self {
            Self::PartialUpdate => Some(PARTIAL_UPDATES),
            Self::FieldRead => Some(FIELD_READS),
            Self::Append => Some(APPENDS),
            Self::Get
            | Self::Put
            | Self::Delete
            | Self::Scan
            | Self::MultiGet
            | Self::Insert
            | Self::Transaction
            | Self::Define
            | Self::ScanSequence => None,
        }
    }
}

/// The capabilities of one engine build.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities {
    /// Operation kinds the driver implements.
    pub operations: BTreeSet<OpKind>,
    /// Durability classes the engine can honour.
    pub durability: BTreeSet<Durability>,
    /// Longest key in bytes; `None` when only memory limits it.
    pub key_bytes_max: Option<u32>,
    /// Longest value in bytes; `None` when only memory limits it.
    #[serde(default)]
    pub value_bytes_max: Option<u32>,
    /// Named capabilities: present, or the reason why not ("needs 8.1").
    pub features: BTreeMap<String, Feature>,
}

/// Whether a named capability is present, and if not, why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feature {
    /// The build has it.
    Yes,
    /// The build lacks it, for this reason.
    No(String),
}

/// Capability: bypasses the page cache for reads and background writes.
pub const DIRECT_IO: &str = "direct_io";
/// Capability: has its own cache of configurable size.
pub const CACHE_SIZE: &str = "cache";
/// Capability: stored blocks can be compressed.
pub const COMPRESSION: &str = "compression";
/// Capability: reads and writes may come from several client threads at once.
pub const CONCURRENT_WRITERS: &str = "concurrent_writers";
/// Capability: bytes of a value are replaced without a read of it by the client.
pub const PARTIAL_UPDATES: &str = "partial_updates";
/// Capability: bytes of a value are read without a copy of the whole value.
pub const FIELD_READS: &str = "field_reads";
/// Capability: a value is lengthened without a read of it by the client.
pub const APPENDS: &str = "appends";
/// Capability: rows can be read in the order of their newest writes; absent unless declared.
pub const SEQUENCE_SCANS: &str = "sequence_scans";

impl Feature {
    /// Returns the absence of a capability, with this reason.
    pub fn no(reason: &str) -> Self {
        Self::No(reason.to_owned())
    }
}

impl Capabilities {
    /// Returns the key-value operations, every durability class and no length limits.
    ///
    /// ```
    /// use model::capability::{CACHE_SIZE, Capabilities, DIRECT_IO, Feature};
    ///
    /// let can = Capabilities {
    ///     key_bytes_max: Some(511),
    ///     ..Capabilities::whole([
    ///         (CACHE_SIZE, Feature::Yes),
    ///         (DIRECT_IO, Feature::no("reads through a memory map")),
    ///     ])
    /// };
    /// assert!(can.has(CACHE_SIZE));
    /// ```
    pub fn whole<const N: usize>(features: [(&str, Feature); N]) -> Self {
        let mut capabilities = Self {
            operations: OpKind::KEY_VALUE.into(),
            durability: Durability::ALL.into(),
            key_bytes_max: None,
            value_bytes_max: None,
            features: features.map(|(name, feature)| (name.to_owned(), feature)).into(),
        };
        if capabilities.has(SEQUENCE_SCANS) {
            capabilities.operations.insert(OpKind::ScanSequence);
        }
        capabilities
    }

    /// Returns whether the named capability is present.
    pub fn has(&self, feature: &str) -> bool {
        self.features.get(feature) == Some(&Feature::Yes)
    }

    /// Returns why the named capability is absent; `None` when it is present.
    pub fn why_not(&self, feature: &str) -> Option<&str> {
        match self.features.get(feature) {
            Some(Feature::Yes) => None,
            Some(Feature::No(reason)) => Some(reason),
            None => Some("the engine has no such capability"),
        }
    }
}
