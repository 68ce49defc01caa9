//! A file system whose history can be ended, or fail, at any call: writes, syncs, renames and
//! removals are recorded.
//!
//! A crash of the process keeps every call before it. A crash of the machine keeps of each file
//! what was synced and any prefix of what was written after, the last write of it torn; and of the
//! names what was synced and any prefix of what was changed after.
//!
//! A write that fails is done in half. A sync that fails drops what it had to write, as Linux does
//! with pages it cannot write: a later sync succeeds without them. Source: [Rebello 2020].

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use crate::files::{Files, Handle};
use crate::sync::{Mutex, lock};

/// A file's identity: names can change.
type Inode = usize;

/// A recorded call.
#[derive(Debug, Clone)]
pub(super) enum Call {
    Create(String, Inode),
    Write(Inode, u64, Vec<u8>),
    Sync(Inode),
    FailedSync(Inode),
    Rename(String, String),
    Remove(String),
    SyncNames,
}

/// Names and contents.
#[derive(Debug, Clone, Default)]
pub(super) struct Image {
    names: BTreeMap<String, Inode>,
    contents: BTreeMap<Inode, Vec<u8>>,
}

impl Image {
    /// Applies one call.
    fn apply(&mut self, call: &Call) {
        match call {
            Call::Create(name, inode) => {
                self.names.insert(name.clone(), *inode);
                self.contents.entry(*inode).or_default();
            }
            Call::Write(inode, offset, bytes) => {
                let content = self.contents.entry(*inode).or_default();
                let offset = usize::try_from(*offset).expect("a small file");
                let end = offset + bytes.len();
                if content.len() < end {
                    content.resize(end, 0);
                }
                content[offset..end].copy_from_slice(bytes);
            }
            Call::Rename(from, to) => {
                if let Some(inode) = self.names.remove(from) {
                    self.names.insert(to.clone(), inode);
                }
            }
            Call::Remove(name) => drop(self.names.remove(name)),
            Call::Sync(_) | Call::FailedSync(_) | Call::SyncNames => {}
        }
    }

    /// Returns the content of a file, to be changed.
    pub(super) fn content_mut(&mut self, name: &str) -> &mut Vec<u8> {
        self.contents.get_mut(&self.names[name]).expect("every name has a content")
    }

    /// Flips a bit of a file; returns the file's name. `choose(n)` returns a number up to n.
    pub(super) fn flip(&mut self, choose: &mut dyn FnMut(usize) -> usize) -> String {
        loop {
            let names = self.names.len();
            let name = self.names.keys().nth(choose(names - 1)).expect("below the number").clone();
            let content = self.content_mut(&name);
            if let Some(last) = content.len().checked_sub(1) {
                content[choose(last)] ^= 1 << choose(7);
                return name;
            }
        }
    }

    /// Returns the image that a crash of the process leaves after these calls.
    pub(super) fn after(calls: &[Call]) -> Self {
        let mut image = Self::default();
        calls.iter().for_each(|call| image.apply(call));
        image
    }

    /// Returns an image that a crash of the machine may leave after these calls.
    ///
    /// `choose(n)` returns a number up to n: how many of n calls that were not synced survive, or
    /// how many bytes of the next write.
    pub(super) fn after_power_loss(calls: &[Call], choose: &mut dyn FnMut(usize) -> usize) -> Self {
        let is_name =
            |call: &Call| matches!(call, Call::Create(..) | Call::Rename(..) | Call::Remove(_));
        let mut image = Self::default();
        let synced = calls.iter().rposition(|call| matches!(call, Call::SyncNames)).unwrap_or(0);
        let later = calls[synced..].iter().filter(|call| is_name(call)).count();
        let survived = calls[..synced].iter().filter(|call| is_name(call)).count() + choose(later);
        calls.iter().filter(|call| is_name(call)).take(survived).for_each(|call| image.apply(call));
        let inodes: Vec<Inode> = image.names.values().copied().collect();
        for inode in inodes {
            image.contents.insert(inode, Vec::new());
            let own = durable_calls(calls, inode);
            let synced = own.iter().rposition(|call| matches!(call, Call::Sync(_))).unwrap_or(0);
            let survived = synced + choose(own.len() - synced);
            own[..survived].iter().for_each(|call| image.apply(call));
            if let Some(Call::Write(_, offset, bytes)) = own.get(survived) {
                let torn = bytes[..choose(bytes.len())].to_vec();
                image.apply(&Call::Write(inode, *offset, torn));
            }
        }
        image
    }
}

/// Returns the calls on a file without the writes that a failed sync has dropped.
fn durable_calls(calls: &[Call], inode: Inode) -> Vec<&Call> {
    let (mut durable, mut synced) = (Vec::new(), 0);
    for call in calls {
        match call {
            Call::Write(of, ..) if *of == inode => durable.push(call),
            Call::Sync(of) if *of == inode => {
                durable.push(call);
                synced = durable.len();
            }
            Call::FailedSync(of) if *of == inode => durable.truncate(synced),
            Call::Write(..) | Call::Sync(_) | Call::FailedSync(_) => {}
            Call::Create(..) | Call::Rename(..) | Call::Remove(_) | Call::SyncNames => {}
        }
    }
    durable
}

/// A call that fails.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fault {
    /// Calls that succeed before it.
    pub(super) after: usize,
    /// Whether all calls after it fail too.
    pub(super) is_lasting: bool,
}

/// A file system in memory that records its calls.
#[derive(Clone, Default)]
pub(super) struct SimulatedFiles(Arc<Mutex<Recorded>>);

#[derive(Default)]
struct Recorded {
    image: Image,
    calls: Vec<Call>,
    next: Inode,
    fault: Option<Fault>,
    /// Calls that could have failed.
    fallible: usize,
}

impl Recorded {
    /// Counts a call; an error when it is to fail.
    fn permit(&mut self) -> io::Result<()> {
        self.fallible += 1;
        let Some(fault) = &mut self.fault else { return Ok(()) };
        if let Some(after) = fault.after.checked_sub(1) {
            fault.after = after;
            return Ok(());
        }
        self.fault = self.fault.filter(|fault| fault.is_lasting);
        Err(io::ErrorKind::StorageFull.into())
    }

    fn call(&mut self, call: Call) {
        self.image.apply(&call);
        self.calls.push(call);
    }
}

impl SimulatedFiles {
    /// Returns a file system that begins with an image.
    pub(super) fn of(image: Image) -> Self {
        let next = image.contents.keys().max().map_or(0, |most| most + 1);
        Self(Arc::new(Mutex::new(Recorded { image, next, ..Recorded::default() })))
    }

    /// Makes a later call fail.
    pub(super) fn fail(&self, fault: Fault) {
        lock(&self.0).fault = Some(fault);
    }

    /// Lets every call succeed again.
    pub(super) fn mend(&self) {
        lock(&self.0).fault = None;
    }

    /// Returns how many calls could have failed so far.
    pub(super) fn fallible(&self) -> usize {
        lock(&self.0).fallible
    }

    /// Returns the calls so far.
    pub(super) fn calls(&self) -> Vec<Call> {
        lock(&self.0).calls.clone()
    }

    /// Returns how many calls there were.
    pub(super) fn count(&self) -> usize {
        lock(&self.0).calls.len()
    }

    fn handle(&self, inode: Inode) -> Box<dyn Handle> {
        Box::new(SimulatedFile { files: self.clone(), inode })
    }
}

fn absent(name: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, name.to_owned())
}

impl Files for SimulatedFiles {
    fn create(&self, name: &str) -> io::Result<Box<dyn Handle>> {
        let mut recorded = lock(&self.0);
        recorded.permit()?;
        let inode = recorded.next;
        recorded.next += 1;
        recorded.call(Call::Create(name.to_owned(), inode));
        drop(recorded);
        Ok(self.handle(inode))
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Handle>> {
        let mut recorded = lock(&self.0);
        recorded.permit()?;
        let inode = recorded.image.names.get(name).copied().ok_or_else(|| absent(name))?;
        drop(recorded);
        Ok(self.handle(inode))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut recorded = lock(&self.0);
        recorded.permit()?;
        recorded.call(Call::Rename(from.to_owned(), to.to_owned()));
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut recorded = lock(&self.0);
        recorded.permit()?;
        if !recorded.image.names.contains_key(name) {
            return Err(absent(name));
        }
        recorded.call(Call::Remove(name.to_owned()));
        Ok(())
    }

    fn list(&self) -> io::Result<Vec<String>> {
        Ok(lock(&self.0).image.names.keys().cloned().collect())
    }

    fn sync(&self) -> io::Result<()> {
        let mut recorded = lock(&self.0);
        recorded.permit()?;
        recorded.call(Call::SyncNames);
        Ok(())
    }
}

struct SimulatedFile {
    files: SimulatedFiles,
    inode: Inode,
}

impl SimulatedFile {
    /// Reads the content; a removed file has none, although Linux would have it until its close.
    fn with_content<T>(&self, read: impl FnOnce(&[u8]) -> io::Result<T>) -> io::Result<T> {
        let mut recorded = lock(&self.files.0);
        recorded.permit()?;
        if !recorded.image.names.values().any(|inode| *inode == self.inode) {
            return Err(absent("the file was removed"));
        }
        read(recorded.image.contents.get(&self.inode).map_or(&[], |content| content))
    }
}

impl Handle for SimulatedFile {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut recorded = lock(&self.files.0);
        let permitted = recorded.permit();
        let written = if permitted.is_ok() { bytes } else { &bytes[..bytes.len() / 2] };
        recorded.call(Call::Write(self.inode, offset, written.to_vec()));
        permitted
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        let offset = usize::try_from(offset).map_err(io::Error::other)?;
        self.with_content(|content| {
            let found = content.get(offset..offset + bytes.len());
            bytes.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
            Ok(())
        })
    }

    fn len(&self) -> io::Result<u64> {
        self.with_content(|content| Ok(content.len() as u64))
    }

    fn sync(&self) -> io::Result<()> {
        let mut recorded = lock(&self.files.0);
        let permitted = recorded.permit();
        let call = if permitted.is_ok() { Call::Sync } else { Call::FailedSync };
        recorded.call(call(self.inode));
        permitted
    }
}
