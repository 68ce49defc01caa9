//! Key-value operations: one table, one command per kind of operation.

use std::ops::Range;

use engine::{EngineError, Rows};
use model::{Direction, Op, Outcome};

use crate::command::Command;
use crate::in_flight::{ExpectedResult, InFlight};
use crate::tables::{KEY_BYTES_MAX, VALUE_BYTES_MAX};
use crate::wire::{Column, Connection, Failure, Fields, Value};

/// Most keys of one command; larger requests are split.
const KEYS_MAX: usize = 256;

/// The commands of the table of keys and values.
#[derive(Debug)]
pub(crate) struct KeyValue {
    get: Command,
    put: Command,
    delete: Command,
    upwards: Command,
    downwards: Command,
    /// By the number of keys, from 1.
    several: Vec<Command>,
    found: Found,
    is_text: bool,
}

/// Rows of a multi-key read, in the server's order.
#[derive(Debug, Default)]
struct Found {
    bytes: Vec<u8>,
    rows: Vec<(Range<usize>, Range<usize>)>,
}

/// A failed operation: at the server, or rejected before it was sent.
pub(crate) enum OpError {
    Server(Failure),
    Local(EngineError),
}

impl From<Failure> for OpError {
    fn from(failure: Failure) -> Self {
        Self::Server(failure)
    }
}

impl KeyValue {
    /// Returns the commands, none of them prepared yet.
    pub(crate) fn new(is_text: bool) -> Self {
        let of = |sql: &str| Command::of(sql, is_text);
        Self {
            get: of("SELECT v FROM assay_kv WHERE k = ?"),
            put: of("INSERT INTO assay_kv (k, v) VALUES (?, ?) ON DUPLICATE KEY UPDATE v = \
                     VALUES(v)"),
            delete: of("DELETE FROM assay_kv WHERE k = ?"),
            upwards: of("SELECT k, v FROM assay_kv WHERE k >= ? ORDER BY k LIMIT ?"),
            downwards: of("SELECT k, v FROM assay_kv WHERE k <= ? ORDER BY k DESC LIMIT ?"),
            several: Vec::new(),
            found: Found::default(),
            is_text,
        }
    }

    /// Drops prepared statements, after a reconnect.
    pub(crate) fn reset(&mut self) {
        let own = [
            &mut self.get,
            &mut self.put,
            &mut self.delete,
            &mut self.upwards,
            &mut self.downwards,
        ];
        own.into_iter().chain(&mut self.several).for_each(Command::reset);
    }

    #[inline]
    pub(crate) fn get(
        &mut self,
        connection: &mut Connection,
        key: &[u8],
        rows: &mut Rows,
    ) -> Result<Outcome, OpError> {
        let on_row = |column: Column, row: &[u8]| push_value(column, row, key, rows);
        self.get.run(connection, |_| Value::Bytes(key), false, on_row)?;
        Ok(outcome(rows))
    }

    #[inline]
    pub(crate) fn put(
        &mut self,
        connection: &mut Connection,
        key: &[u8],
        value: &[u8],
    ) -> Result<Outcome, OpError> {
        if key.len() > KEY_BYTES_MAX || value.len() > VALUE_BYTES_MAX {
            return Err(too_long(key, value));
        }
        let given = |position| Value::Bytes(if position == 0 { key } else { value });
        self.put.run(connection, given, false, |_, _| {})?;
        Ok(Outcome::Done)
    }

    #[inline]
    pub(crate) fn delete(
        &mut self,
        connection: &mut Connection,
        key: &[u8],
    ) -> Result<Outcome, OpError> {
        self.delete.run(connection, |_| Value::Bytes(key), false, |_, _| {})?;
        Ok(Outcome::Done)
    }

    #[inline]
    pub(crate) fn scan(
        &mut self,
        connection: &mut Connection,
        (start, limit, direction): (&[u8], u32, Direction),
        rows: &mut Rows,
    ) -> Result<Outcome, OpError> {
        let given = scanned(start, limit);
        let on_row = |column: Column, row: &[u8]| push_pair(column, row, rows);
        self.scanning(direction).run(connection, given, false, on_row)?;
        Ok(outcome(rows))
    }

    /// Queues one operation; `None` when its command is not prepared yet, and for a multi-key
    /// read.
    #[inline]
    pub(crate) fn submit(
        &mut self,
        connection: &mut Connection,
        op: &Op<'_>,
    ) -> Result<Option<InFlight>, OpError> {
        let (expected, bytes, is_text) = match *op {
            Op::Get { key } => {
                let bytes = key.len() as u64;
                (ExpectedResult::Get, bytes, self.get.submit(connection, |_| Value::Bytes(key))?)
            }
            Op::Put { key, value } => {
                if key.len() > KEY_BYTES_MAX || value.len() > VALUE_BYTES_MAX {
                    return Err(too_long(key, value));
                }
                let given = |position| Value::Bytes(if position == 0 { key } else { value });
                (ExpectedResult::Write, 0, self.put.submit(connection, given)?)
            }
            Op::Delete { key } => {
                (ExpectedResult::Write, 0, self.delete.submit(connection, |_| Value::Bytes(key))?)
            }
            Op::Scan { start, limit, direction } => {
                let given = scanned(start, limit);
                (ExpectedResult::Scan, 0, self.scanning(direction).submit(connection, given)?)
            }
            Op::MultiGet { .. } | Op::Call(_) => return Ok(None),
        };
        Ok(is_text.map(|is_text| InFlight { expected, bytes, is_text }))
    }

    const fn scanning(&mut self, direction: Direction) -> &mut Command {
        match direction {
            Direction::Forward => &mut self.upwards,
            Direction::Reverse => &mut self.downwards,
        }
    }

    pub(crate) fn multi_get(
        &mut self,
        connection: &mut Connection,
        keys: &[&[u8]],
        rows: &mut Rows,
    ) -> Result<Outcome, OpError> {
        for keys in keys.chunks(KEYS_MAX) {
            while self.several.len() < keys.len() {
                let placeholders = vec!["?"; self.several.len() + 1].join(", ");
                let sql = format!("SELECT k, v FROM assay_kv WHERE k IN ({placeholders})");
                self.several.push(Command::of(&sql, self.is_text));
            }
            let Self { several, found, .. } = self;
            found.bytes.clear();
            found.rows.clear();
            let on_row = |column: Column, row: &[u8]| found.add(column.fields(row));
            let given = |position: usize| Value::Bytes(keys[position]);
            several[keys.len() - 1].run(connection, given, false, on_row)?;
            found.emit(keys, rows);
        }
        Ok(outcome(rows))
    }
}

impl Found {
    fn add(&mut self, mut fields: Fields<'_>) {
        if let (Some(Some(key)), Some(Some(value))) = (fields.next(), fields.next()) {
            let mut put = |bytes: &[u8]| {
                let start = self.bytes.len();
                self.bytes.extend_from_slice(bytes);
                start..self.bytes.len()
            };
            let row = (put(key), put(value));
            self.rows.push(row);
        }
    }

    /// Returns the rows in the order of `keys`.
    fn emit(&mut self, keys: &[&[u8]], rows: &mut Rows) {
        let Self { bytes, rows: found } = self;
        found.sort_unstable_by(|(a, _), (b, _)| bytes[a.clone()].cmp(&bytes[b.clone()]));
        for key in keys {
            if let Ok(at) = found.binary_search_by(|(k, _)| bytes[k.clone()].cmp(key)) {
                rows.push(key, &bytes[found[at].1.clone()]);
            }
        }
    }
}

/// Returns the values of a scan.
fn scanned<'k>(start: &'k [u8], limit: u32) -> impl Fn(usize) -> Value<'k> + Copy {
    move |position| {
        if position == 0 { Value::Bytes(start) } else { Value::Integer(i64::from(limit)) }
    }
}

/// Adds a row of key and value.
#[inline]
pub(crate) fn push_pair(column: Column, row: &[u8], rows: &mut Rows) {
    let mut fields = column.fields(row);
    if let (Some(Some(key)), Some(Some(value))) = (fields.next(), fields.next()) {
        rows.push(key, value);
    }
}

/// Adds a row of a value alone.
#[inline]
pub(crate) fn push_value(column: Column, row: &[u8], key: &[u8], rows: &mut Rows) {
    if let Some(Some(value)) = column.fields(row).next() {
        rows.push(key, value);
    }
}

/// Returns how a read ended.
#[inline]
pub(crate) const fn outcome(rows: &Rows) -> Outcome {
    if rows.count() == 0 { Outcome::NotFound } else { Outcome::Done }
}

#[cold]
fn too_long(key: &[u8], value: &[u8]) -> OpError {
    OpError::Local(EngineError::Unsupported(format!(
        "a key of {} bytes with a value of {}: keys may have {KEY_BYTES_MAX}, values \
         {VALUE_BYTES_MAX}",
        key.len(),
        value.len()
    )))
}
