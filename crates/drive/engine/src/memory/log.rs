//! The `memory` engine's log file.
//!
//! A log of records: `u32` key bytes, `u32` value bytes (`u32::MAX` for a delete), `u64` sequence
//! number, key, value; little endian; those of a key oldest first. A clean close rewrites it with
//! one record per row, so the numbers of deletes behind the last row return. A torn last record is
//! what a crash leaves: it was never acknowledged, so it is dropped.

use std::fs::{self, File};
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use model::Durability;

use super::table::Table;
use crate::error::{EngineError, Result};

/// The file's name in the data directory.
const NAME: &str = "memory.log";
/// First bytes of the file, to recognise it.
const MAGIC: &[u8; 16] = b"assay memory 2\r\n";
/// Value length of a delete record.
const DELETED: u32 = u32::MAX;

/// The log, open for appending.
pub(super) struct Log {
    path: PathBuf,
    file: File,
    record: Vec<u8>,
}

impl Log {
    /// Opens the log in `dir`, creating it when absent, and returns the rows it holds.
    pub(super) fn open(dir: &Path) -> Result<(Self, Table)> {
        let path = dir.join(NAME);
        let failed = |error| failed("open", &path, &error);
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed)?;
        let mut bytes = fs::read(&path).map_err(failed)?;
        if bytes.is_empty() {
            file.write_all(MAGIC).map_err(failed)?;
            bytes.extend_from_slice(MAGIC);
        }
        if !bytes.starts_with(MAGIC) {
            let text = format!("memory: `{}` is not a log of this engine", path.display());
            return Err(EngineError::Fatal(text));
        }
        let (table, end) = replay(&bytes);
        file.set_len(end as u64).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        Ok((Self { path, file, record: Vec::new() }, table))
    }

    /// Appends one write as `durability` requires; a value of `None` is a delete.
    pub(super) fn append(&mut self, write: Record<'_>, durability: Durability) -> Result<()> {
        self.record.clear();
        encode(&mut self.record, write)?;
        if durability == Durability::None {
            return Ok(());
        }
        let failed = |error| failed("append to", &self.path, &error);
        self.file.write_all(&self.record).map_err(failed)?;
        if durability == Durability::Sync {
            self.file.sync_data().map_err(failed)?;
        }
        Ok(())
    }

    /// Replaces the log by one record per row and syncs it.
    pub(super) fn rewrite(&mut self, table: &Table) -> Result<()> {
        let fresh = self.path.with_extension("new");
        let failed = |error| failed("rewrite", &self.path, &error);
        let mut writer = BufWriter::new(File::create(&fresh).map_err(failed)?);
        writer.write_all(MAGIC).map_err(failed)?;
        for (key, (sequence, value)) in &table.by_key {
            self.record.clear();
            encode(&mut self.record, (*sequence, key, Some(value)))?;
            writer.write_all(&self.record).map_err(failed)?;
        }
        let file = writer.into_inner().map_err(|error| failed(error.into_error()))?;
        file.sync_all().map_err(failed)?;
        fs::rename(&fresh, &self.path).map_err(failed)?;
        let dir = self.path.parent().unwrap_or(Path::new("."));
        File::open(dir).and_then(|dir| dir.sync_all()).map_err(failed)?;
        self.file = file;
        Ok(())
    }
}

fn failed(verb: &str, path: &Path, error: &std::io::Error) -> EngineError {
    EngineError::Fatal(format!("memory: cannot {verb} `{}`: {error}", path.display()))
}

fn encode(record: &mut Vec<u8>, (sequence, key, value): Record<'_>) -> Result<()> {
    let length = |bytes: &[u8]| match u32::try_from(bytes.len()) {
        Ok(length) if length != DELETED => Ok(length),
        _ => Err(EngineError::Unsupported("a key or value of 4 GiB or more".to_owned())),
    };
    record.extend_from_slice(&length(key)?.to_le_bytes());
    record.extend_from_slice(&value.map_or(Ok(DELETED), length)?.to_le_bytes());
    record.extend_from_slice(&sequence.to_le_bytes());
    record.extend_from_slice(key);
    record.extend_from_slice(value.unwrap_or_default());
    Ok(())
}

/// Applies the records in order; returns the rows and where the last whole record ends.
fn replay(bytes: &[u8]) -> (Table, usize) {
    let mut table = Table::default();
    let mut end = MAGIC.len();
    while let Some(((sequence, key, value), next)) = decode(bytes, end) {
        table.write(sequence, key, value);
        end = next;
    }
    (table, end)
}

/// A sequence number, a key, and its value unless it was deleted.
type Record<'a> = (u64, &'a [u8], Option<&'a [u8]>);

/// Returns the record at `at` and where it ends; `None` when no whole record is left.
fn decode(bytes: &[u8], at: usize) -> Option<(Record<'_>, usize)> {
    let word = |at: usize| {
        let word = bytes.get(at..at + 4)?;
        Some(u32::from_le_bytes(word.try_into().expect("the slice has 4 bytes")))
    };
    let (key_bytes, value_bytes) = (word(at)? as usize, word(at + 4)?);
    let sequence = u64::from_le_bytes(*bytes.get(at + 8..)?.first_chunk()?);
    let key_at = at + 16;
    let key = bytes.get(key_at..key_at + key_bytes)?;
    let value_at = key_at + key_bytes;
    if value_bytes == DELETED {
        return Some(((sequence, key, None), value_at));
    }
    let end = value_at + value_bytes as usize;
    Some(((sequence, key, Some(bytes.get(value_at..end)?)), end))
}
