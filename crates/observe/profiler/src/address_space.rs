//! Which files processes have mapped where, and the names of their threads, at a moment.

use std::collections::BTreeMap;
use std::rc::Rc;

use model::profile::UNKNOWN;

/// An executable part of a file in the memory of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mapping {
    /// First address.
    pub(crate) start: u64,
    /// Address after the last one.
    pub(crate) end: u64,
    /// Offset of the first address in the file, bytes.
    pub(crate) offset: u64,
    /// Position of the file in [`crate::elf::Files`].
    pub(crate) file: usize,
}

impl Mapping {
    /// Returns the offset of an address in the file.
    pub(crate) fn file_offset(&self, address: u64) -> u64 {
        address.wrapping_sub(self.start).wrapping_add(self.offset)
    }
}

/// The mappings of a process.
#[derive(Debug, Clone, Default)]
pub(crate) struct AddressSpace {
    by_start: BTreeMap<u64, Mapping>,
    /// Differs between spaces with different mappings.
    version: u64,
}

impl AddressSpace {
    /// Returns the mapping of an address.
    pub(crate) fn find(&self, address: u64) -> Option<&Mapping> {
        let (_, mapping) = self.by_start.range(..=address).next_back()?;
        (address < mapping.end).then_some(mapping)
    }

    /// Returns every mapping, by address.
    pub(crate) fn mappings(&self) -> impl Iterator<Item = &Mapping> {
        self.by_start.values()
    }

    /// Returns a number that other mappings do not have.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// Maps a part of a file; what was mapped at its addresses is gone.
    fn map(&mut self, new: Mapping) {
        let old: Vec<Mapping> = self
            .by_start
            .range(..new.end)
            .map(|(_, old)| *old)
            .filter(|old| old.end > new.start)
            .collect();
        for old in old {
            self.by_start.remove(&old.start);
            if old.start < new.start {
                self.by_start.insert(old.start, Mapping { end: new.start, ..old });
            }
            if old.end > new.end {
                let offset = old.file_offset(new.end);
                self.by_start.insert(new.end, Mapping { start: new.end, offset, ..old });
            }
        }
        self.by_start.insert(new.start, new);
    }
}

/// A process, or a thread and its process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Task {
    /// The process.
    pub(crate) pid: i32,
    /// The thread.
    pub(crate) tid: i32,
}

/// The sampled processes.
#[derive(Debug, Default)]
pub(crate) struct Processes {
    spaces: BTreeMap<i32, AddressSpace>,
    threads: BTreeMap<i32, Rc<str>>,
    versions: u64,
}

impl Processes {
    /// Returns the mappings of a process; `None` where none are known.
    pub(crate) fn space(&self, pid: i32) -> Option<&AddressSpace> {
        self.spaces.get(&pid)
    }

    /// Returns the name of a thread.
    pub(crate) fn thread(&self, tid: i32) -> Rc<str> {
        self.threads.get(&tid).map_or_else(|| UNKNOWN.into(), Rc::clone)
    }

    /// Adds a mapping to a process.
    pub(crate) fn map(&mut self, pid: i32, mapping: Mapping) {
        self.versions += 1;
        let space = self.spaces.entry(pid).or_default();
        space.version = self.versions;
        if mapping.start < mapping.end {
            space.map(mapping);
        }
    }

    /// Adds a child, which starts as a copy of its parent.
    pub(crate) fn fork(&mut self, child: Task, parent: Task) {
        if let Some(name) = self.threads.get(&parent.tid) {
            self.threads.insert(child.tid, Rc::clone(name));
        }
        if child.pid != parent.pid
            && let Some(space) = self.spaces.get(&parent.pid)
        {
            self.spaces.insert(child.pid, space.clone());
        }
    }

    /// Names a thread. A program that a process begins replaces its memory.
    pub(crate) fn rename(&mut self, task: Task, name: &str, is_exec: bool) {
        self.threads.insert(task.tid, name.into());
        if is_exec {
            self.spaces.remove(&task.pid);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Task = Task { pid: 1, tid: 1 };

    fn mapping(start: u64, end: u64, file: usize) -> Mapping {
        Mapping { start, end, offset: 0x100, file }
    }

    fn found(processes: &Processes, pid: i32, address: u64) -> Option<(usize, u64)> {
        let mapping = processes.space(pid)?.find(address)?;
        Some((mapping.file, mapping.file_offset(address)))
    }

    #[test]
    fn an_address_is_an_offset_in_its_file() {
        let mut processes = Processes::default();
        processes.map(1, mapping(0x1000, 0x2000, 7));
        assert_eq!(found(&processes, 1, 0x1010), Some((7, 0x110)));
        assert_eq!(found(&processes, 1, 0x2000), None);
        assert_eq!(found(&processes, 1, 0xfff), None);
        assert_eq!(found(&processes, 2, 0x1010), None);
    }

    #[test]
    fn a_new_mapping_replaces_the_part_that_it_covers() {
        let mut processes = Processes::default();
        processes.map(1, mapping(0x1000, 0x5000, 1));
        processes.map(1, mapping(0x2000, 0x3000, 2));
        assert_eq!(found(&processes, 1, 0x1fff), Some((1, 0x10ff)));
        assert_eq!(found(&processes, 1, 0x2000), Some((2, 0x100)));
        assert_eq!(found(&processes, 1, 0x3000), Some((1, 0x2100)));
        processes.map(1, mapping(0, u64::MAX, 3));
        assert_eq!(found(&processes, 1, 0x3000), Some((3, 0x3100)));
        assert_eq!(processes.space(1).unwrap().mappings().count(), 1);
    }

    #[test]
    fn an_empty_mapping_is_left_out() {
        let mut processes = Processes::default();
        processes.map(1, mapping(0x2000, 0x1000, 1));
        assert_eq!(processes.space(1).unwrap().mappings().count(), 0);
    }

    #[test]
    fn a_child_has_the_mappings_and_the_name_of_its_parent() {
        let mut processes = Processes::default();
        processes.map(1, mapping(0x1000, 0x2000, 1));
        processes.rename(FIRST, "postgres", false);
        processes.fork(Task { pid: 2, tid: 2 }, FIRST);
        assert_eq!(found(&processes, 2, 0x1000), Some((1, 0x100)));
        assert_eq!(&*processes.thread(2), "postgres");
        let version = |pid| processes.space(pid).unwrap().version();
        assert_eq!(version(1), version(2));
    }

    #[test]
    fn a_new_program_has_no_mapping_of_the_old_one() {
        let mut processes = Processes::default();
        processes.map(1, mapping(0x1000, 0x2000, 1));
        processes.rename(FIRST, "sleep", true);
        assert_eq!(found(&processes, 1, 0x1000), None);
        assert_eq!(&*processes.thread(9), UNKNOWN);
    }
}
