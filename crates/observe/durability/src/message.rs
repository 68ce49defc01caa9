//! Messages between the parent, the host of cuts and its stores.

use std::ops::Range;
use std::path::PathBuf;

use model::{CutKind, CutRecord, DataShape, Endpoint, Losses, Nanos, Variant};
use runner::Library;
use serde::{Deserialize, Serialize};

/// Rows and values of every campaign.
///
/// Our choice: several rows to a page of 4 KiB, so that a torn page damages whole rows.
pub(crate) const DATA: DataShape =
    DataShape { rows: 100_000, key_bytes: 16, value_bytes: 200, compressible_to: 1.0 };

/// The first message to a process of this crate.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Order {
    /// Make cuts.
    Host(Box<HostOrder>),
    /// Open a store and write to it.
    Load(Box<StoreOrder>),
    /// Open a store and compare its rows.
    Check(Box<StoreOrder>),
}

/// The cuts to make.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct HostOrder {
    pub(crate) variant: Variant,
    pub(crate) library: Option<Library>,
    pub(crate) kind: CutKind,
    pub(crate) clients: u32,
    pub(crate) seed: u64,
    /// Numbers of the cuts.
    pub(crate) numbers: Range<u32>,
    /// An empty directory.
    pub(crate) dir: PathBuf,
    /// Account of servers, if named.
    pub(crate) server_user: Option<String>,
}

/// Host to parent.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum HostMessage {
    /// Engine and version of the store.
    Engine { name: String },
    /// One cut was made.
    Cut { record: Box<CutRecord> },
    /// The store failed before this cut; the host ends.
    Failed { number: u32, reason: String },
}

/// A store to open.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct StoreOrder {
    pub(crate) variant: Variant,
    pub(crate) library: Option<Library>,
    /// Directory of the data; for a server, of the client's files.
    pub(crate) dir: PathBuf,
    pub(crate) endpoint: Option<Endpoint>,
    pub(crate) clients: u32,
    pub(crate) seed: u64,
    /// Directory of the files of acknowledgements.
    pub(crate) acknowledgements: PathBuf,
    /// Time of the cut, after which acknowledgements do not count; zero before it.
    pub(crate) cut: Nanos,
}

/// Host to a store that is open: begin to write.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Go;

/// Store to host.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum StoreMessage {
    /// It is open.
    Opened { engine: String, at: Nanos },
    /// It did not open, or an operation failed.
    Failed { reason: String },
    /// Its rows were compared.
    Checked { losses: Losses },
}
