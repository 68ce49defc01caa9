//! The write-ahead log: a frame for each batch, in files that go with the write cache they log.

use std::sync::Arc;

use crate::codec::{frame, length, put_frame, u32_at, u64_at};
use crate::document::Document;
use crate::error::{Error, Result};
use crate::files::{Directory, StoredFile};
use crate::write_cache::WriteCache;

/// End of a file's name.
const SUFFIX: &str = ".wal";
/// Length of the value of a deletion.
const DELETED: u32 = u32::MAX;

/// One write of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Write<'a> {
    /// The document's key.
    pub key: &'a [u8],
    /// Its new value; `None` deletes it, and need not find it.
    pub value: Option<&'a [u8]>,
}

/// The file to which batches are appended.
pub(crate) struct Wal {
    pub(crate) file: Arc<StoredFile>,
    end: u64,
    content: Vec<u8>,
    framed: Vec<u8>,
}

impl Wal {
    /// Creates an empty file.
    pub(crate) fn create(directory: &Arc<Directory>, id: u64) -> Result<Self> {
        let file = Arc::new(directory.create(format!("{id:08}{SUFFIX}"))?);
        Ok(Self { file, end: 0, content: Vec::new(), framed: Vec::new() })
    }

    /// Appends a batch whose first write has this sequence number; returns its bytes.
    pub(crate) fn append(&mut self, first: u64, batch: &[Write<'_>]) -> Result<u64> {
        self.content.clear();
        self.content.extend(first.to_le_bytes());
        for write in batch {
            self.content.extend(length(write.key.len()).to_le_bytes());
            let value = write.value.map_or(DELETED, |value| length(value.len()));
            self.content.extend(value.to_le_bytes());
            self.content.extend(write.key);
            self.content.extend(write.value.unwrap_or_default());
        }
        self.framed.clear();
        put_frame(&mut self.framed, &self.content);
        self.file.write_at(&self.framed, self.end)?;
        self.end += self.framed.len() as u64;
        Ok(self.framed.len() as u64)
    }
}

/// Returns the names of all files of the log, in order.
pub(crate) fn names(directory: &Directory) -> Result<Vec<String>> {
    let mut names = directory.files.list().map_err(Error::io("the data directory"))?;
    names.retain(|name| name.ends_with(SUFFIX));
    names.sort();
    Ok(names)
}

/// Inserts into `cache` the documents after number `flushed`; returns the last number.
///
/// It ends at the first frame that is torn or does not continue the one before: a crash of the
/// machine may keep a later file and lose the end of an earlier one.
pub(crate) fn replay(directory: &Arc<Directory>, flushed: u64, cache: &WriteCache) -> Result<u64> {
    let mut last = flushed;
    for name in names(directory)? {
        let content = directory.open(name.clone())?.read()?;
        let mut rest = &content[..];
        while let Some((batch, after)) = frame(rest) {
            let documents =
                documents(batch).ok_or_else(|| Error::damaged(&name, "a batch cannot be read"))?;
            if documents.first().is_some_and(|first| first.seqno > last + 1) {
                return Ok(last);
            }
            let new = last + 1;
            for document in documents.into_iter().filter(|document| document.seqno >= new) {
                last = document.seqno;
                cache.insert(document);
            }
            rest = after;
        }
    }
    Ok(last)
}

fn documents(batch: &[u8]) -> Option<Vec<Document>> {
    let mut seqno = u64_at(batch, 0)?;
    let mut rest = batch.get(8..)?;
    let mut documents = Vec::new();
    while !rest.is_empty() {
        let (key, value) = (u32_at(rest, 0)? as usize, u32_at(rest, 4)?);
        let (key, after) = rest.get(8..)?.split_at_checked(key)?;
        let (value, after) = if value == DELETED {
            (None, after)
        } else {
            let (value, after) = after.split_at_checked(value as usize)?;
            (Some(value.into()), after)
        };
        documents.push(Document { seqno, key: key.into(), value });
        seqno += 1;
        rest = after;
    }
    Some(documents)
}
