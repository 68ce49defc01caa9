//! The loaded database that a run shares with others.

use serde::{Deserialize, Serialize};

use crate::names::names;
use crate::units::{Bytes, Nanos};

/// The snapshot of a loaded database that a run's measured steps began from.
///
/// A run that made the snapshot has it too: its later steps began from the saved files as the
/// other runs' did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SharedLoad {
    /// Identifier of the snapshot; runs with equal ones share a load.
    pub snapshot: String,
    /// Identifier of the run that loaded it, which has the records of the loading steps.
    pub made_by: String,
    /// Loading steps, from the plan's first.
    pub steps: u32,
    /// How the files were saved or restored.
    pub transfer: Transfer,
    /// Their size.
    pub bytes: Bytes,
    /// Time that saving or restoring them took.
    pub took_ns: Nanos,
}

/// How a snapshot's files are saved or restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transfer {
    /// The file system shares their blocks until they are written to.
    Reflink,
    /// Files the engine never rewrites are hard links, the others copies.
    HardLinks,
    /// Copies of all bytes.
    Copy,
}

names!(Transfer, "a way to transfer files":
    Reflink "reflink", HardLinks "hard links", Copy "copy");

/// Which runs of an experiment share a load.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadReuse {
    /// None: each run loads its own database.
    #[default]
    Fresh,
    /// The runs of a variant in one block: the runs of one repetition.
    PerBlock,
    /// All runs of a variant.
    PerVariant,
}

names!(LoadReuse, "a way to share loads":
    Fresh "fresh", PerBlock "per-block", PerVariant "per-variant");

impl LoadReuse {
    /// Returns whether each run loads its own database.
    pub fn is_fresh(&self) -> bool {
        matches!(self, Self::Fresh)
    }
}

/// State of the page cache when the measured steps of a restored run begin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PageCache {
    /// It holds the database, as far as memory allows: as after a load.
    #[default]
    Warm,
    /// It holds nothing of the database.
    Dropped,
}

names!(PageCache, "a state of the page cache": Warm "warm", Dropped "dropped");

/// How the runs of an experiment share loads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadSharing {
    /// Which runs share one.
    pub reuse: LoadReuse,
    /// Repetitions that share a load, when runs of a variant do; `None` for all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs_per_load: Option<u32>,
    /// State of the page cache when they begin to measure.
    pub page_cache: PageCache,
}

impl LoadSharing {
    /// Returns whether each run loads its own database.
    pub fn is_fresh(&self) -> bool {
        self.reuse.is_fresh()
    }
}
