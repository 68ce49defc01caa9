//! Merges sorted sources of tuples.

use std::sync::Arc;

use super::Tuple;
use crate::document::Document;
use crate::error::Result;

/// A tuple, with its document where that is in memory.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) tuple: Tuple,
    pub(crate) document: Option<Arc<Document>>,
    /// The table that holds it; 0 in memory.
    pub(crate) table: u64,
}

/// A sorted source of tuples.
pub(crate) type Source<'a> = Box<dyn Iterator<Item = Result<Item>> + 'a>;

/// Yields the tuples of all sources in the order of their keys, the newest version of a key first.
///
/// Sources are few: the least head is found by comparing all.
pub(crate) struct Merge<'a> {
    sources: Vec<Source<'a>>,
    heads: Vec<Option<Item>>,
    is_forward: bool,
}

impl<'a> Merge<'a> {
    /// Returns the merge of sources that are all sorted this way.
    ///
    /// # Errors
    /// When the first tuple of one cannot be read.
    pub(crate) fn new(mut sources: Vec<Source<'a>>, is_forward: bool) -> Result<Self> {
        let heads = sources.iter_mut().map(|source| source.next().transpose());
        let heads = heads.collect::<Result<_>>()?;
        Ok(Self { sources, heads, is_forward })
    }

    fn advance(&mut self) -> Result<Option<Item>> {
        let mut least: Option<(usize, &Tuple)> = None;
        for (number, head) in self.heads.iter().enumerate() {
            let Some(Item { tuple, .. }) = head else { continue };
            let is_less = least.is_none_or(|(_, least)| {
                let by_key = tuple.key.cmp(&least.key);
                let by_key = if self.is_forward { by_key } else { by_key.reverse() };
                by_key.then(least.seqno.cmp(&tuple.seqno)).is_lt()
            });
            if is_less {
                least = Some((number, tuple));
            }
        }
        let Some((number, _)) = least else { return Ok(None) };
        let next = self.sources[number].next().transpose()?;
        Ok(std::mem::replace(&mut self.heads[number], next))
    }
}

impl Iterator for Merge<'_> {
    type Item = Result<Item>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance().transpose()
    }
}
