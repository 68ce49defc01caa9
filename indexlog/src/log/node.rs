//! Nodes of a segment's tree.
//!
//! The tree grows at its right end only, as sequence numbers do. Nodes are never changed: a commit
//! appends new copies of those on the right edge, from leaf to root.

use crate::codec::{length, put_block, u32_at, u64_at};
use crate::options::Compression;

/// Children of a full node: about 4 KiB.
pub(crate) const FANOUT: usize = 200;
/// Bytes of a child in a stored node.
const CHILD_BYTES: usize = 20;

/// Where a data block or a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Child {
    /// The first sequence number below it.
    pub(crate) first: u64,
    pub(crate) offset: u64,
    pub(crate) bytes: u32,
}

/// A node; the children of level 0 are data blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) level: u32,
    pub(crate) children: Vec<Child>,
}

impl Node {
    /// Appends the node's stored form; returns its bytes.
    pub(crate) fn put(&self, to: &mut Vec<u8>) -> u32 {
        let mut content = Vec::with_capacity(4 + self.children.len() * CHILD_BYTES);
        content.extend(self.level.to_le_bytes());
        for child in &self.children {
            content.extend(child.first.to_le_bytes());
            content.extend(child.offset.to_le_bytes());
            content.extend(child.bytes.to_le_bytes());
        }
        put_block(to, &content, Compression::None)
    }

    /// Reads a node's stored form; `None` when it is none.
    pub(crate) fn parse(content: &[u8]) -> Option<Self> {
        let children = content.get(4..)?.chunks_exact(CHILD_BYTES).map(|child| {
            let (first, offset) = (u64_at(child, 0)?, u64_at(child, 8)?);
            Some(Child { first, offset, bytes: u32_at(child, 16)? })
        });
        let node = Self { level: u32_at(content, 0)?, children: children.collect::<Option<_>>()? };
        (!node.children.is_empty()).then_some(node)
    }

    /// Returns the position of the child that holds a sequence number, or would.
    pub(crate) fn position(&self, seqno: u64) -> usize {
        self.children.partition_point(|child| child.first <= seqno).saturating_sub(1)
    }
}

/// The unfinished nodes on the right edge of a growing tree, from the leaves up.
#[derive(Debug, Default)]
pub(crate) struct RightEdge(Vec<Vec<Child>>);

impl RightEdge {
    /// Adds a data block at the right end; full nodes are appended to `to`, which is at `offset`.
    pub(crate) fn push(&mut self, block: Child, to: &mut Vec<u8>, offset: u64) {
        let mut child = block;
        for level in 0.. {
            if level == self.0.len() {
                self.0.push(Vec::new());
            }
            let children = &mut self.0[level];
            children.push(child);
            if children.len() < FANOUT {
                return;
            }
            child = put_node(level, std::mem::take(children), to, offset);
        }
    }

    /// Appends copies of the unfinished nodes to `to`, which is at `offset`; returns the root.
    ///
    /// `None` for an empty tree.
    pub(crate) fn commit(&self, to: &mut Vec<u8>, offset: u64) -> Option<Child> {
        let mut carried = None;
        for (level, children) in self.0.iter().enumerate() {
            let mut children = children.clone();
            children.extend(carried);
            let is_root = level + 1 == self.0.len();
            carried = match children[..] {
                [] => None,
                // A full node alone is the root itself.
                [only] if is_root && level > 0 => Some(only),
                _ => Some(put_node(level, children, to, offset)),
            };
        }
        carried
    }
}

fn put_node(level: usize, children: Vec<Child>, to: &mut Vec<u8>, offset: u64) -> Child {
    let (first, offset) = (children[0].first, offset + to.len() as u64);
    let bytes = Node { level: length(level), children }.put(to);
    Child { first, offset, bytes }
}
