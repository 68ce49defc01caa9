//! Reads a log segment.

use std::sync::Arc;

use super::node::{Child, Node};
use crate::caches::Caches;
use crate::codec;
use crate::document::{Document, documents};
use crate::error::Result;
use crate::files::StoredFile;
use crate::manifest::SegmentRecord;

/// A committed state of a segment.
#[derive(Clone)]
pub(crate) struct Segment {
    pub(crate) file: Arc<StoredFile>,
    pub(crate) record: SegmentRecord,
}

impl Segment {
    /// Returns the name of the file of segment `id`.
    pub(crate) fn name(id: u64) -> String {
        format!("{id:08}.segment")
    }

    /// Returns the document of a sequence number; `None` when it is not there.
    pub(crate) fn get(&self, seqno: u64, caches: &Caches) -> Result<Option<Arc<Document>>> {
        let Some(root) = self.record.root else { return Ok(None) };
        let mut node = self.node(root.into(), caches)?;
        loop {
            let child = node.children[node.position(seqno)];
            if node.level == 0 {
                let block = codec::block(&self.file, child.offset, child.bytes)?;
                let found = documents(&block).find(|document| document.seqno == seqno);
                return Ok(found.map(|found| {
                    let value = Some(found.value.into());
                    Arc::new(Document { seqno, key: found.key.into(), value })
                }));
            }
            node = self.node(child, caches)?;
        }
    }

    /// Returns the data blocks from the one of a sequence number on, decompressed, with the stored
    /// bytes of each.
    pub(crate) fn blocks_from<'a>(&'a self, seqno: u64, caches: &'a Caches) -> Blocks<'a> {
        Blocks { segment: self, caches, from: seqno, path: None }
    }

    /// Returns a node, from the cache or the file.
    fn node(&self, at: Child, caches: &Caches) -> Result<Arc<Node>> {
        caches.node((self.record.id, at.offset), || {
            let content = codec::block(&self.file, at.offset, at.bytes)?;
            Node::parse(&content)
                .ok_or_else(|| self.file.damaged("a node of its tree cannot be read"))
        })
    }
}

/// The data blocks of a segment in order.
pub(crate) struct Blocks<'a> {
    segment: &'a Segment,
    caches: &'a Caches,
    from: u64,
    /// Nodes from the root to a leaf, with the position of the next child; `None` before the first.
    path: Option<Vec<(Arc<Node>, usize)>>,
}

impl Blocks<'_> {
    fn next_block(&mut self) -> Result<Option<(Vec<u8>, u32)>> {
        let Some(root) = self.segment.record.root else { return Ok(None) };
        let mut path = match self.path.take() {
            Some(path) => path,
            None => {
                let root = self.segment.node(root.into(), self.caches)?;
                let position = root.position(self.from);
                vec![(root, position)]
            }
        };
        let block = loop {
            let Some((node, position)) = path.last_mut() else { break None };
            let Some(child) = node.children.get(*position).copied() else {
                path.pop();
                continue;
            };
            *position += 1;
            if node.level == 0 {
                let content = codec::block(&self.segment.file, child.offset, child.bytes)?;
                break Some((content, child.bytes));
            }
            let below = self.segment.node(child, self.caches)?;
            let position = below.position(self.from);
            path.push((below, position));
        };
        self.path = Some(path);
        Ok(block)
    }
}

impl Iterator for Blocks<'_> {
    type Item = Result<(Vec<u8>, u32)>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_block().transpose()
    }
}
