//! Records of simulated crashes: what a store lost of its acknowledged changes.

use serde::{Deserialize, Serialize};

use crate::capability::Durability;
use crate::names::names;
use crate::units::Nanos;

/// Where a crash is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CutLevel {
    /// The process is killed: what the operating system has survives.
    Process,
    /// The file system forgets what was not synced: a power failure, without a disk.
    File,
    /// A disk loses what was not flushed, below a file system of the kernel.
    Block,
}

names!(CutLevel, "a level of cuts": Process "process", File "file", Block "block");

impl CutLevel {
    /// Returns what a cut of the level imitates, in the plural.
    pub const fn imitates(self) -> &'static str {
        match self {
            Self::Process => "process kills",
            Self::File => "power cuts",
            Self::Block => "power cuts of a disk",
        }
    }

    /// Returns the weakest class of which acknowledged changes survive every cut of the level.
    pub const fn survived_by(self) -> Durability {
        match self {
            Self::Process => Durability::Os,
            Self::File | Self::Block => Durability::Sync,
        }
    }
}

/// What survives a power failure of the changes that were not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Survivors {
    /// Nothing.
    Nothing,
    /// Half of the pages and directory operations, drawn from the seed.
    Half,
    /// Everything: only what the engine had in memory is lost.
    Everything,
}

names!(Survivors, "what survives a cut": Nothing "nothing", Half "half", Everything "everything");

/// The file system on a disk that is cut, with its options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum CutFileSystem {
    /// ext4.
    #[default]
    Ext4,
    /// ext4 with the option `nobarrier`, which flushes no disk: it loses synced writes.
    Ext4Nobarrier,
    /// XFS.
    Xfs,
    /// btrfs.
    Btrfs,
}

names!(CutFileSystem, "a file system of cuts":
    Ext4 "ext4", Ext4Nobarrier "ext4-nobarrier", Xfs "xfs", Btrfs "btrfs");

/// A fault of the disk before a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CutFault {
    /// One sync of a file fails, and its unsynced pages are never written.
    Fsync,
}

names!(CutFault, "a fault before a cut": Fsync "fsync");

/// How a simulated crash is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutKind {
    /// Where it is simulated.
    pub level: CutLevel,
    /// What survives of unsynced changes; nothing at the level of processes.
    pub survivors: Survivors,
    /// Whether a new file's name is lost until its directory is synced.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_strict: bool,
    /// What fails before the cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<CutFault>,
    /// The file system on the disk, at the level of blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_system: Option<CutFileSystem>,
}

impl CutKind {
    /// Returns a cut at a level without choices: nothing survives that was not synced.
    pub const fn at(level: CutLevel) -> Self {
        Self {
            level,
            survivors: Survivors::Nothing,
            is_strict: false,
            fault: None,
            file_system: None,
        }
    }
}

/// The simulated crashes of every variant of an experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutPlan {
    /// Cuts of each variant at each level, >= 1.
    pub cuts: u32,
    /// The levels.
    pub levels: Vec<CutLevel>,
    /// What survives of unsynced changes.
    pub survivors: Survivors,
    /// Whether a new file's name is lost until its directory is synced.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_strict: bool,
    /// What fails before the cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<CutFault>,
    /// The file system on the disk, at the level of blocks.
    #[serde(default)]
    pub file_system: CutFileSystem,
    /// Clients of the load, >= 1.
    pub clients: u32,
}

impl CutPlan {
    /// Most cuts of a variant at a level. Our choice: days.
    pub const CUTS_MAX: u32 = 100_000;
    /// Most clients. Our choice: each is a thread of the store.
    pub const CLIENTS_MAX: u32 = 64;

    /// Returns the key of a choice that none of the levels uses, with a level that does.
    pub fn unused(&self) -> Option<(&'static str, CutLevel)> {
        let has = |level| self.levels.contains(&level);
        let (has_files, has_blocks) = (has(CutLevel::File), has(CutLevel::Block));
        if self.survivors != Survivors::Nothing && !has_files && !has_blocks {
            Some(("survivors", CutLevel::File))
        } else if self.is_strict && !has_files {
            Some(("strict", CutLevel::File))
        } else if self.fault.is_some() && !has_files {
            Some(("fault", CutLevel::File))
        } else if self.file_system != CutFileSystem::default() && !has_blocks {
            Some(("file_system", CutLevel::Block))
        } else {
            None
        }
    }

    /// Returns how the crashes of a level are made.
    pub fn kind(&self, level: CutLevel) -> CutKind {
        CutKind {
            level,
            survivors: match level {
                CutLevel::Process => Survivors::Nothing,
                CutLevel::File | CutLevel::Block => self.survivors,
            },
            is_strict: self.is_strict && level == CutLevel::File,
            fault: self.fault.filter(|_| level == CutLevel::File),
            file_system: (level == CutLevel::Block).then_some(self.file_system),
        }
    }
}

/// What was lost of acknowledged changes, over all clients.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Losses {
    /// Acknowledged changes whose effect is not there.
    pub lost: u64,
    /// Age, at the cut, of the oldest lost change; `None` if nothing was lost.
    pub window: Option<Nanos>,
    /// Whether no acknowledged change of any client is there.
    pub is_everything: bool,
    /// Clients of which a lost change was followed by one that survived.
    pub gaps: u64,
    /// Values that are damaged.
    pub torn: u64,
    /// Deleted rows that are there again, of clients with a gap.
    pub resurrected: u64,
    /// Values that no client has written to their key.
    pub never_written: u64,
    /// The first damage, as a sentence with client and change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
}

impl Losses {
    /// Returns whether the store holds exactly what was acknowledged.
    pub const fn is_none(&self) -> bool {
        self.lost == 0 && self.torn == 0 && self.never_written == 0
    }
}

/// A change of a file that a power failure took back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forgotten {
    /// Path below the data directory.
    pub path: String,
    /// What was forgotten: data, size, or a name that was made, removed or changed.
    pub what: String,
    /// First byte of the forgotten data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// Bytes of the forgotten data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// How the store was after a cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum AfterCut {
    /// It did not open, or its rows could not be read.
    Refused {
        /// The engine's reason.
        reason: String,
    },
    /// It opened.
    Opened {
        /// Time from the start until it had opened.
        recovery: Nanos,
        /// What was lost.
        losses: Losses,
    },
}

impl AfterCut {
    /// Returns whether acknowledged changes were lost, or the store.
    pub const fn has_lost(&self) -> bool {
        match self {
            Self::Refused { .. } => true,
            Self::Opened { losses, .. } => !losses.is_none(),
        }
    }
}

/// One simulated crash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutRecord {
    /// Number in its campaign, from 0: with the seed it makes the same cut again.
    pub number: u32,
    /// Time from the begin of the load to the cut.
    pub load: Nanos,
    /// Acknowledged changes, over all clients.
    pub acknowledged: u64,
    /// Requests of the engine to sync a file or directory during the load; absent where they are
    /// not observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub syncs: Option<u64>,
    /// The store afterwards.
    pub after: AfterCut,
    /// Whether the first recovery found everything, and a second cut right after it lost some.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_after_recovery: bool,
    /// What the file system forgot, of a cut that lost something: the largest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forgotten: Vec<Forgotten>,
}

impl CutRecord {
    /// Returns whether acknowledged changes were lost, or the store.
    pub const fn has_lost(&self) -> bool {
        self.after.has_lost()
    }

    /// Returns the losses of a store that opened.
    pub const fn losses(&self) -> Option<&Losses> {
        match &self.after {
            AfterCut::Refused { .. } => None,
            AfterCut::Opened { losses, .. } => Some(losses),
        }
    }
}

/// A store whose behaviour is known, cut before any verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calibrator {
    /// Engine and options, as text.
    pub store: String,
    /// Whether it is known to lose acknowledged changes at this kind of cut.
    pub loses: bool,
    /// Cuts made: those until the first loss where it loses.
    pub cuts: u32,
    /// Cuts that lost something.
    pub losing: u32,
}

impl Calibrator {
    /// Returns whether it behaved as is known.
    pub const fn is_as_known(&self) -> bool {
        (self.losing > 0) == self.loses
    }
}

/// The simulated crashes of one variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutCampaign {
    /// The variant's name.
    pub variant: String,
    /// Engine and version, as the engine reports them.
    pub engine: String,
    /// The class that the variant claims.
    pub claimed: Durability,
    /// How the crashes were made.
    pub kind: CutKind,
    /// Clients of the load.
    pub clients: u32,
    /// Seed of loads and cuts.
    pub seed: u64,
    /// The crashes, in order.
    pub cuts: Vec<CutRecord>,
    /// The known stores that were cut before.
    pub calibrators: Vec<Calibrator>,
}

impl CutCampaign {
    /// Returns how many cuts lost something.
    pub fn losing(&self) -> usize {
        self.cuts.iter().filter(|cut| cut.has_lost()).count()
    }

    /// Returns whether a cut lost what survives a crash in the claimed class.
    ///
    /// No claim covers strict directories: file systems in use sync a new name with its file.
    pub fn breaks_claim(&self) -> bool {
        let is_covered = self.claimed >= self.kind.level.survived_by() && !self.kind.is_strict;
        is_covered && self.losing() > 0
    }

    /// Returns whether the engine bounds no loss: most losing cuts lost everything.
    pub fn is_unbounded(&self) -> bool {
        let opened: Vec<_> =
            self.cuts.iter().filter_map(CutRecord::losses).filter(|it| it.lost > 0).collect();
        let whole = opened.iter().filter(|losses| losses.is_everything).count();
        !opened.is_empty() && whole * 2 > opened.len()
    }
}
