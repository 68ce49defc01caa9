//! Directory operations that a power cut may undo.
//!
//! Each changed name has its durable inode. A rename changes two names that survive or are lost
//! together: a group. A group may need an earlier group: a file that moved to a new directory would
//! be lost if the move survived and the directory did not. So durable directories stay a tree.

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
    group: u64,
}

/// Changes of names that survive together.
#[derive(Debug, Default)]
struct Group {
    names: BTreeSet<Name>,
    /// Groups without which this group cannot survive.
    needs: BTreeSet<u64>,
}

/// Changed names, with the durable inode of each.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    undo: BTreeMap<Name, Undo>,
    groups: BTreeMap<u64, Group>,
    /// Numbers of changed names that a power cut would restore to an inode.
    pins: BTreeMap<u64, u64>,
    next_group: u64,
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
        self.pins.contains_key(&ino)
    }

    /// Returns the changed names of a directory.
    pub(crate) fn names_in(&self, dir: u64) -> Vec<Name> {
        let first = |dir| Name { dir, name: OsString::new() };
        self.undo.range(first(dir)..first(dir + 1)).map(|(name, _)| name.clone()).collect()
    }

    /// Records a change of a name; `from`: its inode before the change.
    pub(crate) fn add(&mut self, name: &Name, from: Option<u64>) {
        if self.undo.contains_key(name) {
            return;
        }
        let group = self.next_group;
        self.next_group += 1;
        self.undo.insert(name.clone(), Undo { durable: from, group });
        self.groups.entry(group).or_default().names.insert(name.clone());
        if let Some(ino) = from {
            *self.pins.entry(ino).or_default() += 1;
        }
    }

    /// Joins the groups of two changed names.
    pub(crate) fn join(&mut self, one: &Name, other: &Name) {
        let (into, from) = (self.undo[one].group, self.undo[other].group);
        if into == from {
            return;
        }
        let mut from_group = self.groups.remove(&from).expect("a changed name has a group");
        for name in &from_group.names {
            self.undo.get_mut(name).expect("a group has changed names").group = into;
        }
        for group in self.groups.values_mut() {
            if group.needs.remove(&from) {
                group.needs.insert(into);
            }
        }
        let group = self.groups.get_mut(&into).expect("a changed name has a group");
        group.names.append(&mut from_group.names);
        group.needs.append(&mut from_group.needs);
    }

    /// Records that the change of `name` needs the change of `earlier`, if that is pending.
    pub(crate) fn need(&mut self, name: &Name, earlier: &Name) {
        if let Some(earlier) = self.undo.get(earlier) {
            let group = self.groups.get_mut(&self.undo[name].group);
            group.expect("a changed name has a group").needs.insert(earlier.group);
        }
    }

    /// Removes one name from the changed names and returns its durable inode.
    pub(crate) fn remove(&mut self, name: &Name) -> Option<u64> {
        let undo = self.undo.remove(name)?;
        if let Some(group) = self.groups.get_mut(&undo.group) {
            group.names.remove(name);
            if group.names.is_empty() {
                self.groups.remove(&undo.group);
            }
        }
        let ino = undo.durable?;
        let pins = self.pins.get_mut(&ino).expect("a durable inode is pinned");
        *pins -= 1;
        if *pins == 0 {
            self.pins.remove(&ino);
        }
        Some(ino)
    }

    /// Makes the groups of these names durable, with the groups that they need.
    ///
    /// Returns the inodes that have lost a durable name.
    pub(crate) fn settle(&mut self, names: &[Name]) -> Vec<u64> {
        let group_of = |name| self.undo.get(name).map(|undo: &Undo| undo.group);
        let mut groups: Vec<u64> = names.iter().filter_map(group_of).collect();
        let mut released = Vec::new();
        while let Some(number) = groups.pop() {
            let Some(group) = self.groups.remove(&number) else { continue };
            groups.extend(group.needs);
            released.extend(group.names.iter().filter_map(|name| self.remove(name)));
        }
        released
    }

    /// Returns the names that are lost, if only groups survive for which `survives` is true.
    pub(crate) fn lost(&self, survives: &dyn Fn(u64) -> bool) -> Vec<Name> {
        let mut lost: BTreeSet<u64> =
            self.groups.keys().copied().filter(|group| !survives(*group)).collect();
        loop {
            let before = lost.len();
            for (number, group) in &self.groups {
                if !group.needs.is_disjoint(&lost) {
                    lost.insert(*number);
                }
            }
            if lost.len() == before {
                break;
            }
        }
        let is_lost = |(_, undo): &(&Name, &Undo)| lost.contains(&undo.group);
        self.undo.iter().filter(is_lost).map(|(name, _)| name.clone()).collect()
    }
}
