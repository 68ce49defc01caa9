//! Contents of a file: pages, and an undo for what is not synced.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::page::{Gauge, PAGE, Page};
use crate::recording::Recording;

/// Pages by their number; `None` is a hole.
type Undo = BTreeMap<u64, Option<Page>>;

/// Pages and size of a file, now and as a power cut would leave them.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    size: u64,
    pages: BTreeMap<u64, Page>,
    durable_size: u64,
    /// Durable content of the pages that changed since the last sync.
    undo: Undo,
    /// Durable content of the pages that a failed sync left readable and will never write.
    dropped: Undo,
    recording: Option<Recording>,
}

/// Part of a file whose fate at a power cut is drawn: a page by its number, or the size.
pub(crate) const SIZE: u64 = u64::MAX;

/// Changes of a file that a power cut has lost.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct LostContents {
    /// Number of the first lost page.
    pub(crate) first: Option<u64>,
    /// Number of lost pages.
    pub(crate) pages: u64,
    /// Size before the power cut, if another size is left.
    pub(crate) size: Option<u64>,
}

/// Returns the bytes of the page `number` that the range covers.
fn within(number: u64, from: u64, to: u64) -> Range<usize> {
    let start = number * PAGE;
    length(from.max(start) - start)..length(to.min(start + PAGE) - start)
}

/// Returns a number of bytes in memory as a length.
fn length(bytes: u64) -> usize {
    usize::try_from(bytes).expect("Assay runs on 64-bit machines")
}

impl Contents {
    /// Returns the size in bytes.
    pub(crate) const fn size(&self) -> u64 {
        self.size
    }

    /// Returns the number of pages that have content.
    pub(crate) fn allocated(&self) -> u64 {
        self.pages.len() as u64
    }

    /// Is there something to sync?
    pub(crate) fn is_dirty(&self) -> bool {
        !self.undo.is_empty() || self.size != self.durable_size
    }

    /// Returns whether a write of this range needs no new page.
    pub(crate) fn is_allocated(&self, from: u64, to: u64) -> bool {
        let numbers = from / PAGE..to.div_ceil(PAGE);
        let needed = numbers.end.saturating_sub(numbers.start);
        self.pages.range(numbers).count() as u64 == needed
    }

    /// Returns at most `bytes` bytes at `offset`, fewer at the end of the file.
    pub(crate) fn read(&self, offset: u64, bytes: u64) -> Vec<u8> {
        let end = offset.saturating_add(bytes).min(self.size);
        if offset >= end {
            return Vec::new();
        }
        let mut out = vec![0; length(end - offset)];
        for (&number, page) in self.pages.range(offset / PAGE..end.div_ceil(PAGE)) {
            let part = within(number, offset, end);
            let at = length((number * PAGE).max(offset) - offset);
            out[at..at + part.len()].copy_from_slice(&page.bytes()[part]);
        }
        out
    }

    /// Writes `data` at `offset`.
    pub(crate) fn write(&mut self, offset: u64, data: &[u8], gauge: &Gauge) {
        let end = offset + data.len() as u64;
        let mut rest = data;
        for number in offset / PAGE..end.div_ceil(PAGE) {
            self.save(number);
            let part = within(number, offset, end);
            let (head, tail) = rest.split_at(part.len());
            let page = self.pages.entry(number).or_insert_with(|| Page::new(gauge));
            page.bytes_mut()[part].copy_from_slice(head);
            self.record_page(number);
            rest = tail;
        }
        self.size = self.size.max(end);
    }

    /// Zeroes a range and frees its whole pages.
    pub(crate) fn punch(&mut self, from: u64, to: u64) {
        let numbers = from / PAGE..to.div_ceil(PAGE);
        let pages = self.pages.range(numbers.clone()).map(|(number, _)| *number);
        let dropped = self.dropped.range(numbers).map(|(number, _)| *number);
        for number in pages.chain(dropped).collect::<Vec<_>>() {
            self.save(number);
            self.zero(number, within(number, from, to));
            self.record_page(number);
        }
    }

    /// Sets the size, and forgets what is beyond it.
    pub(crate) fn truncate(&mut self, size: u64) {
        if size < self.size {
            self.punch(size, self.size.next_multiple_of(PAGE));
        }
        self.size = size;
    }

    /// Makes the content durable.
    pub(crate) fn sync(&mut self) {
        self.undo.clear();
        self.sync_size();
        if let Some(recording) = &mut self.recording {
            recording.flush();
        }
    }

    /// Fails to write: unsynced pages stay readable, but a power cut loses them.
    ///
    /// The pages count as written, so no later sync writes them unless they change again.
    ///
    /// The size becomes durable, because the journal commits metadata although data failed.
    ///
    /// Source: [Rebello 2020], section 3.3, ext4 in ordered mode.
    pub(crate) fn fail_sync(&mut self) {
        self.dropped.append(&mut self.undo);
        self.sync_size();
    }

    /// Makes the content durable, also pages that a failed sync dropped.
    pub(crate) fn settle(&mut self) {
        self.dropped.clear();
        self.sync();
    }

    /// Replaces unsynced parts that do not survive with their durable content.
    ///
    /// A page beyond the current size has no content, so it shares the fate of the size.
    pub(crate) fn revert(&mut self, survives: &dyn Fn(u64) -> bool) -> LostContents {
        let (size, size_survives) = (self.size, survives(SIZE));
        let mut lost = LostContents::default();
        let undo = std::mem::take(&mut self.undo).into_iter().filter(|(number, _)| {
            let is_beyond = number * PAGE >= size;
            !(if is_beyond { size_survives } else { survives(*number) })
        });
        let lost_pages = undo.chain(std::mem::take(&mut self.dropped)).collect::<Undo>();
        lost.first = lost_pages.keys().next().copied();
        lost.pages = lost_pages.len() as u64;
        for (number, page) in lost_pages {
            match page {
                Some(page) => self.pages.insert(number, page),
                None => self.pages.remove(&number),
            };
        }
        if !size_survives && self.durable_size != size {
            lost.size = Some(size);
            self.size = self.durable_size;
        }
        self.durable_size = self.size;
        drop(self.pages.split_off(&self.size.div_ceil(PAGE)));
        self.zero(self.size / PAGE, within(self.size / PAGE, self.size, u64::MAX));
        lost
    }

    /// Makes the size durable, and forgets dropped content beyond it.
    fn sync_size(&mut self) {
        self.durable_size = self.size;
        drop(self.dropped.split_off(&self.size.div_ceil(PAGE)));
        if let Some(Some(page)) = self.dropped.get_mut(&(self.size / PAGE)) {
            page.bytes_mut()[within(self.size / PAGE, self.size, u64::MAX)].fill(0);
        }
    }

    /// Starts to record changes and syncs.
    pub(crate) fn record(&mut self) {
        self.recording = Some(Recording::new(self.pages.clone()));
    }

    /// Returns the number of records.
    pub(crate) fn recorded(&self) -> usize {
        self.recording.as_ref().map_or(0, Recording::len)
    }

    /// Returns the file as a device would have had it after `position` records.
    pub(crate) fn restored(&self, position: usize, survives: &dyn Fn(u64) -> bool) -> Self {
        let recording = self.recording.as_ref();
        let pages = recording.map(|recording| recording.pages(position, survives));
        let (size, pages) = (self.size, pages.unwrap_or_default());
        Self { size, pages, durable_size: size, ..Self::default() }
    }

    /// Records the content of a changed page.
    fn record_page(&mut self, number: u64) {
        if let Some(recording) = &mut self.recording {
            recording.add(number, self.pages.get(&number).cloned());
        }
    }

    /// Zeroes a part of a page, if the page has content, and frees a page of zeros.
    fn zero(&mut self, number: u64, part: Range<usize>) {
        if part == within(number, 0, u64::MAX) {
            self.pages.remove(&number);
        } else if let Some(page) = self.pages.get_mut(&number) {
            page.bytes_mut()[part].fill(0);
        }
    }

    /// Saves the durable content of a page before its first change since the last sync.
    fn save(&mut self, number: u64) {
        if !self.undo.contains_key(&number) {
            let current = || self.pages.get(&number).cloned();
            let durable = self.dropped.remove(&number).unwrap_or_else(current);
            self.undo.insert(number, durable);
        }
    }
}
