//! Names of the tree's inodes, and the references that keep inodes.

use crate::inode::{Body, Entry, Inode};
use crate::pending::Name;
use crate::tree::{ROOT, Tree};

impl Tree {
    /// Counts a reference of the kernel to an inode.
    pub(crate) fn remember(&mut self, ino: u64) {
        if let Some(inode) = self.inodes.get_mut(&ino) {
            inode.lookups += 1;
        }
    }

    /// Removes references of the kernel to an inode.
    pub(crate) fn forget(&mut self, ino: u64, lookups: u64) {
        if let Some(inode) = self.inodes.get_mut(&ino).filter(|_| ino != ROOT) {
            inode.lookups = inode.lookups.saturating_sub(lookups);
            self.release(ino);
        }
    }

    /// Removes all references of the kernel, because the mount has ended.
    pub(crate) fn forget_all(&mut self) {
        let inodes: Vec<u64> = self.inodes.keys().copied().collect();
        inodes.into_iter().for_each(|ino| self.forget(ino, u64::MAX));
    }

    /// Sets the current inode of a name, which is not a change to record.
    pub(crate) fn place(&mut self, name: &Name, to: Option<u64>) {
        let cookie = self.next_cookie;
        self.next_cookie += 1;
        let now = self.now;
        let Some(dir) = self.inodes.get_mut(&name.dir) else { return };
        dir.attr.mtime = now;
        let Body::Dir(entries) = &mut dir.body else { return };
        let replaced = match to {
            Some(ino) => entries.insert(name.name.clone(), Entry { ino, cookie }),
            None => entries.remove(&name.name),
        };
        if let Some(inode) = replaced.and_then(|entry| self.inodes.get_mut(&entry.ino)) {
            inode.names.remove(name);
        }
        if let Some(inode) = to.and_then(|ino| self.inodes.get_mut(&ino)) {
            inode.names.insert(name.clone());
        }
    }

    /// Frees an inode that has no name, now or after a power cut, and no reference.
    pub(crate) fn release(&mut self, ino: u64) {
        let mut candidates = vec![ino];
        while let Some(ino) = candidates.pop() {
            let is_free = |inode: &Inode| inode.names.is_empty() && inode.lookups == 0;
            if self.pending.is_pinned(ino) || !self.inodes.get(&ino).is_some_and(is_free) {
                continue;
            }
            for name in self.pending.names_in(ino) {
                candidates.extend(self.pending.remove(&name));
            }
            let Some(Inode { body: Body::Dir(entries), .. }) = self.inodes.remove(&ino) else {
                continue;
            };
            for (name, entry) in entries {
                candidates.push(entry.ino);
                if let Some(child) = self.inodes.get_mut(&entry.ino) {
                    child.names.remove(&Name { dir: ino, name });
                }
            }
        }
    }

    /// Changes a name; the change survives only with the changes of the names `joined`.
    pub(crate) fn change_name(&mut self, name: &Name, to: Option<u64>, joined: &[Name]) {
        let from = self.lookup(name).ok();
        self.pending.add(name, from);
        joined.iter().for_each(|other| self.pending.join(name, other));
        self.place(name, to);
        let durable = self.pending.get(name).and_then(|undo| undo.durable);
        if durable == to {
            self.pending.remove(name);
        }
        if let Some(from) = from {
            self.release(from);
        }
    }

    /// Returns the names of a directory and of its parents.
    pub(crate) fn ancestors(&self, dir: u64) -> Vec<Name> {
        let name_of = |ino: u64| self.inodes.get(&ino)?.names.first().cloned();
        std::iter::successors(name_of(dir), |name| name_of(name.dir)).collect()
    }
}
