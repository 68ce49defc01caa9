//! Directory operations that a power cut may undo.
//!
//! Each changed name has its durable inode. A rename changes two names that survive or are lost
//! together: a group. A change joins the group of an earlier one if it would do harm alone: a file
//! that moved to a new directory would be lost if the move survived and the directory did not. So
//! durable directories stay a tree. Journals of file systems also commit earlier changes first.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;

/// A name in a directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Name {
    /// Inode of the directory.
    pub(crate) dir: u64,
    /// The name.
    pub(crate) name: OsString,
}

/// The durable state of a changed name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Undo {
    /// Inode that a power cut restores, if any.
    pub(crate) durable: Option<u64>,
    /// Number of the changes that survive together.
    group: u64,
}

/// Changed names, with the durable inode of each.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    undo: BTreeMap<Name, Undo>,
    groups: u64,
}

impl Pending {
    /// Returns the changed names with their durable inodes.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&Name, &Undo)> {
        self.undo.iter()
    }

    /// Returns the durable state of a name, if it has changed.
    pub(crate) fn get(&self, name: &Name) -> Option<Undo> {
        self.undo.get(name).copied()
    }

    /// Would a power cut restore a name of this inode?
    pub(crate) fn is_pinned(&self, ino: u64) -> bool {
        self.undo.values().any(|undo| undo.durable == Some(ino))
    }

    /// Returns the changed names of a directory.
    pub(crate) fn names_in(&self, dir: u64) -> Vec<Name> {
        let first = |dir| Name { dir, name: OsString::new() };
        self.undo.range(first(dir)..first(dir + 1)).map(|(name, _)| name.clone()).collect()
    }

    /// Records a change of a name; `from`: its inode before the change.
    pub(crate) fn add(&mut self, name: &Name, from: Option<u64>) {
        self.groups += 1;
        let undo = Undo { durable: from, group: self.groups };
        self.undo.entry(name.clone()).or_insert(undo);
    }

    /// Joins the groups of two names, if both have changed.
    pub(crate) fn join(&mut self, one: &Name, other: &Name) {
        if let (Some(into), Some(from)) = (self.get(one), self.get(other)) {
            let joined = self.undo.values_mut().filter(|undo| undo.group == from.group);
            joined.for_each(|undo| undo.group = into.group);
        }
    }

    /// Removes one name from the changed names and returns its durable inode.
    pub(crate) fn remove(&mut self, name: &Name) -> Option<u64> {
        self.undo.remove(name)?.durable
    }

    /// Makes the groups of these names durable and returns the inodes that lose a durable name.
    pub(crate) fn settle(&mut self, names: &[Name]) -> Vec<u64> {
        let groups: BTreeSet<u64> =
            names.iter().filter_map(|name| Some(self.undo.get(name)?.group)).collect();
        let mut released = Vec::new();
        self.undo.retain(|_, undo| {
            let is_settled = groups.contains(&undo.group);
            released.extend(undo.durable.filter(|_| is_settled));
            !is_settled
        });
        released
    }

    /// Returns the names of the groups for which `survives` is false.
    pub(crate) fn lost(&self, survives: &dyn Fn(u64) -> bool) -> Vec<Name> {
        let lost = self.undo.iter().filter(|(_, undo)| !survives(undo.group));
        lost.map(|(name, _)| name.clone()).collect()
    }
}
