//! Recorded changes of an image, from which a device's states at earlier moments follow.

use std::collections::BTreeMap;

use crate::page::Page;

/// A change of the image, in the order of arrival.
#[derive(Debug)]
enum Record {
    /// Everything before is on the device.
    Flush,
    /// New content of a page by its number; `None` if the page was discarded.
    Page(u64, Option<Page>),
}

/// The image at the start of the recording, and its changes.
#[derive(Debug)]
pub(crate) struct Recording {
    base: BTreeMap<u64, Page>,
    records: Vec<Record>,
}

impl Recording {
    /// Starts with an image whose content is on the device.
    pub(crate) const fn new(base: BTreeMap<u64, Page>) -> Self {
        Self { base, records: Vec::new() }
    }

    /// Returns the number of changes and flushes so far.
    pub(crate) const fn len(&self) -> usize {
        self.records.len()
    }

    /// Records new content of a page.
    pub(crate) fn add(&mut self, number: u64, page: Option<Page>) {
        self.records.push(Record::Page(number, page));
    }

    /// Records a flush.
    pub(crate) fn flush(&mut self) {
        self.records.push(Record::Flush);
    }

    /// Returns the pages that the device had if the power was lost after `position` records.
    ///
    /// These are all changes before the last flush, and those later ones that survive.
    pub(crate) fn pages(
        &self,
        position: usize,
        survives: &dyn Fn(u64) -> bool,
    ) -> BTreeMap<u64, Page> {
        let records = &self.records[..position.min(self.len())];
        let last_flush = records.iter().rposition(|record| matches!(record, Record::Flush));
        let mut pages = self.base.clone();
        for (at, record) in records.iter().enumerate() {
            let Record::Page(number, page) = record else { continue };
            if last_flush.is_some_and(|flush| at < flush) || survives(at as u64) {
                match page {
                    Some(page) => pages.insert(*number, page.clone()),
                    None => pages.remove(number),
                };
            }
        }
        pages
    }
}
