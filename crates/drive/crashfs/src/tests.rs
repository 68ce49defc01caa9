//! Random histories of the tree, compared with a model that copies whole files.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use fuser::Errno;
use proptest::prelude::*;

use crate::contents::Contents;
use crate::inode::{Body, Owner};
use crate::page::PAGE;
use crate::pending::Name;
use crate::survival::{Forgotten, LossKind, Survival};
use crate::tree::{Names, ROOT, Tree};

/// A change of one of few files; numbers are taken modulo what exists.
#[derive(Clone, Copy, Debug)]
enum Op {
    Make(usize),
    MakeDir(usize),
    Remove(usize),
    Rename(usize, usize),
    Link(usize, usize),
    Write(usize, u64, u8),
    Truncate(usize, u64),
    Sync(usize),
    FailSync(usize),
    SyncDir(usize),
    Cut,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let name = || 0..8_usize;
    let op = prop_oneof![
        3 => name().prop_map(Op::Make),
        1 => name().prop_map(Op::MakeDir),
        2 => name().prop_map(Op::Remove),
        4 => (name(), name()).prop_map(|(from, to)| Op::Rename(from, to)),
        1 => (name(), name()).prop_map(|(from, to)| Op::Link(from, to)),
        4 => (name(), 0..3 * PAGE, any::<u8>()).prop_map(|(name, at, byte)| Op::Write(name, at, byte)),
        2 => (name(), 0..3 * PAGE).prop_map(|(name, size)| Op::Truncate(name, size)),
        2 => name().prop_map(Op::Sync),
        1 => name().prop_map(Op::FailSync),
        2 => name().prop_map(Op::SyncDir),
        1 => Just(Op::Cut),
    ];
    proptest::collection::vec(op, 1..60)
}

fn len(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap()
}

/// A tree with its directories, in the order of their creation.
struct Subject {
    tree: Tree,
    dirs: Vec<u64>,
}

impl Subject {
    /// Returns a tree with a root and one durable directory.
    fn new(names: Names) -> Self {
        let mut tree = Tree::new(names, 1 << 20, Owner::default(), SystemTime::UNIX_EPOCH);
        let name = Name { dir: ROOT, name: "dir".into() };
        let dir = tree.make(&name, Body::Dir(BTreeMap::new()), Owner::default()).unwrap();
        tree.settle_all();
        Self { tree, dirs: vec![ROOT, dir.ino.0] }
    }

    /// Returns the name with this number, in the last directories first.
    fn name(&self, number: usize) -> Name {
        let dir = self.dirs[self.dirs.len() - 1 - (number / 2) % self.dirs.len()];
        Name { dir, name: ["a", "b"][number % 2].into() }
    }

    fn ino(&self, number: usize) -> Option<u64> {
        self.tree.lookup(&self.name(number)).ok()
    }

    /// Would the kernel send this change of the inode?
    fn passes(&self, op: Op, ino: Option<u64>) -> bool {
        let is_dir = |ino: u64| self.tree.entries(ino).is_ok();
        match op {
            Op::Make(_) | Op::MakeDir(_) => ino.is_none(),
            Op::Link(_, to) => self.ino(to).is_none(),
            Op::Rename(_, to) => {
                let Some(ino) = ino else { return false };
                let into = self.name(to).dir;
                let is_inside = self.tree.ancestors(into).iter().any(|name| name.dir == ino);
                let other = self.ino(to);
                let fits = other.is_none_or(|other| other != ino && is_dir(other) == is_dir(ino));
                fits && into != ino && !is_inside
            }
            Op::Remove(_) | Op::Write(..) | Op::Truncate(..) | Op::Cut => true,
            Op::Sync(_) | Op::FailSync(_) | Op::SyncDir(_) => true,
        }
    }

    /// Applies a change and returns whether the tree accepted it.
    fn apply(&mut self, op: Op) -> bool {
        let owner = Owner::default();
        let (name, ino) = match op {
            Op::Make(at) | Op::MakeDir(at) | Op::Remove(at) | Op::Rename(at, _) => {
                (self.name(at), self.ino(at))
            }
            Op::Link(at, _) | Op::Write(at, ..) | Op::Truncate(at, _) => {
                (self.name(at), self.ino(at))
            }
            Op::Sync(at) | Op::FailSync(at) | Op::SyncDir(at) => (self.name(at), self.ino(at)),
            Op::Cut => (self.name(0), None),
        };
        if !self.passes(op, ino) {
            return false;
        }
        let file = ino.filter(|ino| self.tree.contents(*ino).is_ok());
        let file = file.ok_or(Errno::ENOENT);
        let done = match op {
            Op::Make(_) => self.tree.make(&name, Body::File(Contents::default()), owner).map(drop),
            Op::MakeDir(_) if self.dirs.len() > 5 => Err(Errno::ENOSPC),
            Op::MakeDir(_) => {
                self.tree.make(&name, Body::Dir(BTreeMap::new()), owner).map(|made| {
                    self.dirs.push(made.ino.0);
                })
            }
            Op::Remove(_) => self.tree.remove(&name),
            Op::Rename(_, to) => self.tree.rename(&name, &self.name(to)),
            Op::Link(_, to) => file.and_then(|ino| self.tree.link(ino, &self.name(to)).map(drop)),
            Op::Write(_, at, byte) => {
                file.and_then(|ino| self.tree.write(ino, at, &[byte; 3000], false))
            }
            Op::Truncate(_, size) => {
                file.and_then(|ino| self.tree.set_attr(ino, Some(size), |_| {}).map(drop))
            }
            Op::Sync(_) => file.and_then(|ino| self.tree.sync(ino)),
            Op::FailSync(_) => file.and_then(|ino| {
                self.tree.failing_syncs = 1;
                let failed = self.tree.sync(ino);
                self.tree.failing_syncs = 0;
                failed
            }),
            Op::SyncDir(_) => self.tree.sync(name.dir),
            Op::Cut => Ok(()),
        };
        self.dirs.retain(|dir| self.tree.inodes.contains_key(dir));
        done.is_ok()
    }

    fn cut(&mut self, survival: Survival) -> Forgotten {
        let forgotten = self.tree.cut(survival);
        self.dirs.retain(|dir| self.tree.inodes.contains_key(dir));
        self.tree.is_frozen = false;
        forgotten
    }

    /// Returns all files by name.
    fn files(&mut self) -> BTreeMap<Name, Vec<u8>> {
        let mut files = BTreeMap::new();
        for dir in self.dirs.clone() {
            for (name, entry) in self.tree.entries(dir).unwrap().clone() {
                if let Ok(contents) = self.tree.contents(entry.ino) {
                    files.insert(Name { dir, name }, contents.read(0, u64::MAX));
                }
            }
        }
        files
    }

    /// Returns the inodes that the root leads to; fails if one directory is found twice.
    fn reachable(&self) -> BTreeSet<u64> {
        let (mut found, mut rest) = (BTreeSet::from([ROOT]), vec![ROOT]);
        while let Some(dir) = rest.pop() {
            for entry in self.tree.entries(dir).unwrap().values() {
                let is_new = found.insert(entry.ino);
                if self.tree.entries(entry.ino).is_ok() {
                    assert!(is_new, "directory {} has two names", entry.ino);
                    rest.push(entry.ino);
                }
            }
        }
        found
    }
}

/// A file of the model.
#[derive(Clone, Debug, Default)]
struct File {
    current: Vec<u8>,
    durable: Vec<u8>,
    dirty: BTreeSet<u64>,
    dropped: BTreeSet<u64>,
}

impl File {
    fn change(&mut self, from: usize, to: usize) {
        for page in from as u64 / PAGE..(to as u64).div_ceil(PAGE) {
            self.dirty.insert(page);
            self.dropped.remove(&page);
        }
    }

    fn sync(&mut self, fails: bool) {
        let written = std::mem::take(&mut self.dirty);
        if fails {
            self.dropped.extend(written);
        }
        let mut synced = self.current.clone();
        for page in &self.dropped {
            let range = len(page * PAGE)..len((page + 1) * PAGE);
            for (at, byte) in synced.iter_mut().enumerate() {
                if range.contains(&at) {
                    *byte = self.durable.get(at).copied().unwrap_or(0);
                }
            }
        }
        self.durable = synced;
    }
}

/// Names and files, current and durable; names that changed by the same renames are one group.
#[derive(Clone, Debug, Default)]
struct Model {
    files: Vec<File>,
    current: BTreeMap<Name, usize>,
    durable: BTreeMap<Name, usize>,
    groups: Vec<BTreeSet<Name>>,
}

impl Model {
    fn set(&mut self, names: &[(&Name, Option<usize>)]) {
        let mut group: BTreeSet<Name> = names.iter().map(|(name, _)| (*name).clone()).collect();
        self.groups.retain(|other| {
            let is_other = other.is_disjoint(&group);
            if !is_other {
                group.extend(other.iter().cloned());
            }
            is_other
        });
        for (name, to) in names {
            match to {
                Some(file) => self.current.insert((*name).clone(), *file),
                None => self.current.remove(name),
            };
        }
        group.retain(|name| self.current.get(name) != self.durable.get(name));
        self.groups.push(group);
    }

    fn settle(&mut self, is_synced: impl Fn(&Name) -> bool) {
        let (synced, rest): (Vec<_>, Vec<_>) =
            self.groups.drain(..).partition(|group| group.iter().any(&is_synced));
        self.groups = rest;
        for name in synced.into_iter().flatten() {
            match self.current.get(&name) {
                Some(file) => self.durable.insert(name, *file),
                None => self.durable.remove(&name),
            };
        }
    }

    /// Applies a change that the tree accepted.
    fn apply(&mut self, names: Names, op: Op, name: &Name, to: &Name) {
        let at = self.current.get(name).copied();
        match op {
            Op::Make(_) => {
                self.files.push(File::default());
                self.set(&[(name, Some(self.files.len() - 1))]);
            }
            Op::Remove(_) => self.set(&[(name, None)]),
            Op::Rename(..) if self.current.get(to).copied() != at => {
                self.set(&[(name, None), (to, at)]);
            }
            Op::Rename(..) => {}
            Op::Write(_, offset, byte) => {
                let (file, from) = (&mut self.files[at.unwrap()], len(offset));
                let end = file.current.len().max(from + 3000);
                file.current.resize(end, 0);
                file.current[from..from + 3000].fill(byte);
                file.change(from, from + 3000);
            }
            Op::Truncate(_, size) => {
                let file = &mut self.files[at.unwrap()];
                let old = file.current.len();
                if len(size) < old {
                    file.change(len(size), old);
                }
                file.current.resize(len(size), 0);
            }
            Op::Sync(_) | Op::FailSync(_) => {
                let fails = matches!(op, Op::FailSync(_));
                let file = &mut self.files[at.unwrap()];
                let fails =
                    fails && (!file.dirty.is_empty() || file.current.len() != file.durable.len());
                file.sync(fails);
                let current = self.current.clone();
                if names == Names::Own && !fails {
                    self.settle(|name| current.get(name).copied() == at);
                }
            }
            Op::SyncDir(_) => self.settle(|other| other.dir == name.dir),
            Op::MakeDir(_) | Op::Link(..) | Op::Cut => {}
        }
    }

    fn cut(&mut self) {
        self.current = self.durable.clone();
        self.groups.clear();
        for file in &mut self.files {
            *file = File { current: file.durable.clone(), ..File::default() };
            file.durable = file.current.clone();
        }
    }

    fn files(&self) -> BTreeMap<Name, Vec<u8>> {
        let content = |file: &usize| self.files[*file].current.clone();
        self.current.iter().map(|(name, file)| (name.clone(), content(file))).collect()
    }
}

/// Returns the names that a change has.
fn numbers(op: Op) -> [usize; 2] {
    match op {
        Op::Make(at) | Op::MakeDir(at) | Op::Remove(at) | Op::Write(at, ..) => [at, at],
        Op::Truncate(at, _) | Op::Sync(at) | Op::FailSync(at) | Op::SyncDir(at) => [at, at],
        Op::Rename(from, to) | Op::Link(from, to) => [from, to],
        Op::Cut => [0, 0],
    }
}

proptest! {
    #[test]
    fn a_power_cut_leaves_exactly_what_was_synced(ops in ops(), is_strict in any::<bool>()) {
        let names = if is_strict { Names::Strict } else { Names::Own };
        let (mut subject, mut model) = (Subject::new(names), Model::default());
        for op in ops.into_iter().chain([Op::Cut]) {
            let [name, to] = numbers(op).map(|number| subject.name(number));
            if matches!(op, Op::MakeDir(_) | Op::Link(..)) {
                continue;
            }
            let accepted = subject.apply(op);
            if matches!(op, Op::Cut) {
                subject.cut(Survival::Nothing);
                model.cut();
            } else if accepted || matches!(op, Op::FailSync(_)) && model.current.contains_key(&name) {
                model.apply(names, op, &name, &to);
            }
            prop_assert_eq!(subject.files(), model.files(), "after {:?}", op);
        }
        let held = subject.tree.inodes.len() as u64 + subject.tree.inodes.values().map(|inode| {
            if let Body::File(contents) = &inode.body { contents.allocated() } else { 0 }
        }).sum::<u64>();
        prop_assert_eq!(subject.tree.gauge.pages(), held);
    }

    #[test]
    fn any_subset_is_a_tree_of_durable_or_current_pages(
        ops in ops(), is_strict in any::<bool>(), seed in any::<u64>(),
    ) {
        let names = if is_strict { Names::Strict } else { Names::Own };
        let survivals = [Survival::Nothing, Survival::Everything, Survival::Subset { seed }];
        let mut subjects = survivals.map(|survival| {
            let mut subject = Subject::new(names);
            for op in &ops {
                subject.apply(*op);
            }
            subject.cut(survival);
            let (files, again) = (subject.files(), subject.cut(survival));
            assert_eq!(again, Forgotten::default());
            assert_eq!(files, subject.files());
            subject
        });
        let [nothing, everything, subset] = subjects.each_ref().map(Subject::reachable);
        prop_assert!(nothing.intersection(&everything).all(|ino| subset.contains(ino)));
        prop_assert_eq!(subset.len(), subjects[2].tree.inodes.len());
        // The content of a lost or removed file cannot be read.
        for ino in subset.into_iter().filter(|ino| nothing.contains(ino) && everything.contains(ino)) {
            let mut page = |at: usize, number: u64| {
                let mut page = match subjects[at].tree.contents(ino) {
                    Ok(contents) => contents.read(number * PAGE, PAGE),
                    Err(_) => Vec::new(),
                };
                page.resize(len(PAGE), 0);
                page
            };
            for number in 0..4 {
                let [old, new, page] = [0, 1, 2].map(|at| page(at, number));
                // A size that does not survive ends the page earlier.
                let is = |other: &[u8]| {
                    let end = page.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
                    page[..end] == other[..end]
                };
                prop_assert!(is(&old) || is(&new), "page {} of {}", number, ino);
            }
        }
    }
}

fn file(subject: &mut Subject, name: &str) -> u64 {
    let name = Name { dir: ROOT, name: name.into() };
    let body = Body::File(Contents::default());
    subject.tree.make(&name, body, Owner::default()).unwrap().ino.0
}

#[test]
fn a_report_lists_each_lost_change_by_path() {
    let mut subject = Subject::new(Names::Own);
    let [log, old, gone] = ["log", "old", "gone"].map(|name| file(&mut subject, name));
    subject.tree.write(log, 0, &[1; 9000], false).unwrap();
    subject.tree.settle_all();
    subject.tree.write(log, 8500, &[2; 1000], false).unwrap();
    let name = |name: &str| Name { dir: ROOT, name: name.into() };
    subject.tree.rename(&name("old"), &name("new")).unwrap();
    subject.tree.remove(&name("gone")).unwrap();
    file(&mut subject, "made");
    let losses = subject.cut(Survival::Nothing).losses;
    let found: Vec<_> =
        losses.into_iter().map(|loss| (loss.path.display().to_string(), loss.kind)).collect();
    let expected = [
        ("gone", LossKind::Removed),
        ("log", LossKind::Data { offset: 8192, bytes: PAGE }),
        ("log", LossKind::Size { bytes: 9500 }),
        ("made", LossKind::Created),
        ("new", LossKind::Renamed { from: "old".into() }),
    ];
    assert_eq!(found, expected.map(|(path, kind)| (path.to_owned(), kind)));
    assert_eq!(subject.tree.lookup(&name("old")), Ok(old));
    assert_eq!(subject.tree.lookup(&name("gone")), Ok(gone));
}

#[test]
fn memory_is_limited_and_a_full_disk_still_overwrites() {
    let mut subject = Subject::new(Names::Own);
    let ino = file(&mut subject, "a");
    subject.tree.limit_pages = subject.tree.gauge.pages() + 4;
    assert_eq!(subject.tree.write(ino, 0, &[1; 3 * 4096], false), Err(Errno::ENOSPC));
    assert_eq!(subject.tree.write(ino, 0, &[1; 2 * 4096], false), Ok(()));
    subject.tree.limit_pages = 1 << 20;
    subject.tree.is_full = true;
    assert_eq!(subject.tree.write(ino, 4096, &[1; 4096], false), Ok(()));
    assert_eq!(subject.tree.write(ino, 4096, &[1; 4097], false), Err(Errno::ENOSPC));
}
