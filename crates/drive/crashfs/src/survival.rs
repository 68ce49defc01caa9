//! A power cut: what was not synced is lost, and every later change fails.

use std::path::PathBuf;

use crate::contents::LostContents;
use crate::inode::Body;
use crate::page::PAGE;
use crate::pending::{Name, Undo};
use crate::tree::{ROOT, Tree};

/// Which unsynced changes survive a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Survival {
    /// No change that is not synced.
    Nothing,
    /// Every change, except for pages that a failed sync dropped.
    Everything,
    /// Each page and each directory operation with probability 1/2.
    Subset {
        /// Seed of the draws: the same seed and history lose the same changes.
        seed: u64,
    },
}

/// The kind of a lost change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LossKind {
    /// Pages of the file's data.
    Data {
        /// Offset of the first lost page in bytes.
        offset: u64,
        /// Bytes of all lost pages.
        bytes: u64,
    },
    /// The size of the file.
    Size {
        /// Size before the power cut in bytes.
        bytes: u64,
    },
    /// The new name: the file is gone, or the name has its earlier file.
    Created,
    /// The removal of the name: the file is back.
    Removed,
    /// The new name of a renamed file.
    Renamed {
        /// Path to which the file is back.
        from: PathBuf,
    },
}

/// A change that a power cut has lost.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Loss {
    /// Path of the file before the power cut, from the root of the mount.
    pub path: PathBuf,
    /// The change.
    pub kind: LossKind,
}

/// All changes that a power cut has lost, by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// The changes, sorted.
    pub losses: Vec<Loss>,
}

impl Survival {
    /// Returns whether the part of an inode survives.
    pub(crate) fn draw(self, ino: u64, part: u64) -> bool {
        match self {
            Self::Nothing => false,
            Self::Everything => true,
            Self::Subset { seed } => mix(mix(mix(seed) ^ ino) ^ part) & 1 == 0,
        }
    }
}

/// Returns a pseudo-random number for a number.
///
/// Source: [Steele Lea Flood 2014], figure 17 (SplitMix64).
const fn mix(number: u64) -> u64 {
    let z = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Tree {
    /// Makes every later change fail, and forgets what does not survive.
    pub(crate) fn cut(&mut self, survival: Survival) -> Forgotten {
        self.is_frozen = true;
        // Group numbers are drawn as parts of inode 0, which does not exist.
        let names = self.pending.lost(&|group| survival.draw(0, group));
        let mut losses: Vec<Loss> = names.iter().filter_map(|name| self.lost_name(name)).collect();
        let inodes: Vec<u64> = self.inodes.keys().copied().collect();
        for ino in inodes {
            let Ok(contents) = self.contents(ino) else { continue };
            let lost = contents.revert(&|part| survival.draw(ino, part));
            losses.extend(self.lost_contents(ino, &lost));
        }
        let mut released = Vec::new();
        for name in &names {
            released.extend(self.lookup(name));
            let durable = self.pending.get(name).and_then(|undo| undo.durable);
            self.place(name, durable);
        }
        self.settle_names();
        released.into_iter().for_each(|ino| self.release(ino));
        losses.sort();
        Forgotten { losses }
    }

    /// Makes everything durable.
    pub(crate) fn settle_all(&mut self) {
        self.settle_names();
        for inode in self.inodes.values_mut() {
            if let Body::File(contents) = &mut inode.body {
                contents.settle();
            }
        }
    }

    /// Makes all names durable.
    fn settle_names(&mut self) {
        let names: Vec<Name> = self.pending.names().map(|(name, _)| name.clone()).collect();
        self.settle(&names);
    }

    /// Returns the loss of a changed name, if the name's inode is not the durable one.
    fn lost_name(&self, name: &Name) -> Option<Loss> {
        let durable = self.pending.get(name)?.durable;
        let current = self.lookup(name).ok();
        let kind = match current {
            _ if current == durable => return None,
            Some(ino) => match self.durable_name(ino) {
                Some(from) => LossKind::Renamed { from: self.path(from)? },
                None => LossKind::Created,
            },
            // The new name of a renamed inode is its loss.
            None if self.is_renamed(durable?) => return None,
            None => LossKind::Removed,
        };
        Some(Loss { path: self.path(name)?, kind })
    }

    /// Returns the losses of a file's contents; a file without a name has none.
    fn lost_contents(&self, ino: u64, lost: &LostContents) -> Vec<Loss> {
        let data = lost.first.map(|first| {
            let (offset, bytes) = (first * PAGE, lost.pages * PAGE);
            LossKind::Data { offset, bytes }
        });
        let size = lost.size.map(|bytes| LossKind::Size { bytes });
        let kinds = data.into_iter().chain(size);
        kinds.filter_map(|kind| Some(Loss { path: self.path_of(ino)?, kind })).collect()
    }

    /// Has the inode a current name that is not durable?
    fn is_renamed(&self, ino: u64) -> bool {
        let is_changed = |name| self.pending.get(name).is_some();
        self.inode(ino).is_ok_and(|inode| inode.names.iter().any(is_changed))
    }

    /// Returns a changed name that a power cut would restore to the inode.
    fn durable_name(&self, ino: u64) -> Option<&Name> {
        let is_durable = |(_, undo): &(&Name, &Undo)| undo.durable == Some(ino);
        let mut names = self.pending.names().filter(is_durable);
        names.find(|(name, _)| self.lookup(name) != Ok(ino)).map(|(name, _)| name)
    }

    /// Returns the path of an inode: its current one, or the one that a power cut restores.
    fn path_of(&self, ino: u64) -> Option<PathBuf> {
        if ino == ROOT {
            return Some(PathBuf::new());
        }
        let name = self.inode(ino).ok()?.names.first();
        self.path(name.or_else(|| self.durable_name(ino))?)
    }

    /// Returns the path of a name.
    fn path(&self, name: &Name) -> Option<PathBuf> {
        Some(self.path_of(name.dir)?.join(&name.name))
    }
}
