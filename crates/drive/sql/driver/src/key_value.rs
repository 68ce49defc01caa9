//! Key-value operations: one table, one command per kind of operation.

use engine::Rows;
use engine::parts::changed;
use model::sql::Protocol;
use model::{Direction, Op, Outcome};

use crate::command::Command;
use crate::connection::{Connection, Reply};
use crate::template::{Template, Value};

/// A statement in flight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InFlight {
    pub(crate) expected: ExpectedResult,
    /// Bytes of a call's values, or of the key.
    pub(crate) bytes: u64,
    /// Whether its rows come as text.
    pub(crate) is_text: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum ExpectedResult {
    /// The value of one key, or nothing.
    Get,
    Scan,
    /// Confirmation of a write or delete.
    Write,
    /// The rows of a single-statement procedure.
    Call {
        /// Whether no rows mean not found.
        is_read: bool,
        /// The procedure.
        procedure: u16,
    },
}

impl ExpectedResult {
    #[inline]
    const fn outcome(self, rows: &Rows) -> Outcome {
        match self {
            Self::Get | Self::Scan | Self::Call { is_read: true, .. } => outcome(rows),
            Self::Write | Self::Call { is_read: false, .. } => Outcome::Done,
        }
    }
}

/// Reads bytes of a value, where it has them.
const FIELD_READ: &str =
    "SELECT SUBSTRING(v FROM ?1 FOR ?3) FROM assay_kv WHERE k = ?0 AND OCTET_LENGTH(v) >= ?4";

/// Numbers of the statements of scans, see [`limit_number`].
const LIMITS: usize = 34;

/// The result of an operation, its key, and its second value if any.
type KeyOp<'k> = (ExpectedResult, &'k [u8], Value<'k>);

/// The commands of the table of keys and values.
pub(crate) struct KeyValue<C: Connection> {
    protocol: Protocol,
    get: Command<C>,
    put: Command<C>,
    delete: Command<C>,
    partial_update: Command<C>,
    field_read: Command<C>,
    append: Command<C>,
    /// Scans by the number of their limit, forward and reverse.
    scans: [Vec<Option<Command<C>>>; 2],
    /// Multi-key reads by the number of keys, from 1; a single one for arrays.
    several: Vec<Command<C>>,
    found: Found,
    scratch: Vec<u8>,
}

impl<C: Connection> KeyValue<C> {
    /// Returns the commands, none of them prepared yet.
    pub(crate) fn new(protocol: Protocol) -> Self {
        let none = || (0..LIMITS).map(|_| None).collect();
        Self {
            protocol,
            get: Command::parse("SELECT v FROM assay_kv WHERE k = ?", protocol),
            put: Command::parse(C::SQL.put, protocol),
            delete: Command::parse("DELETE FROM assay_kv WHERE k = ?", protocol),
            partial_update: Command::parse(C::SQL.partial_update, protocol),
            field_read: Command::parse(FIELD_READ, protocol),
            append: Command::parse(C::SQL.append, protocol),
            scans: [none(), none()],
            several: Vec::new(),
            found: Found::default(),
            scratch: Vec::new(),
        }
    }

    /// Executes a key-value operation; does nothing for any other.
    #[inline]
    pub(crate) fn execute(
        &mut self,
        connection: &mut C,
        op: &Op<'_>,
        rows: &mut Rows,
    ) -> Reply<Outcome, C> {
        if let Op::MultiGet { keys } = *op {
            self.multi_get(connection, keys, rows)?;
        } else if let Some((command, scratch, (expected, key, second))) = self.command(op) {
            command.run(connection, values(key, second), |column, row| {
                push(expected, key, row, || C::columns(column, row, scratch), rows);
            })?;
            return Ok(expected.outcome(rows));
        }
        Ok(outcome(rows))
    }

    /// Executes an operation on a part of a value; `None` when no row has this key and part.
    #[inline]
    pub(crate) fn part(
        &mut self,
        connection: &mut C,
        op: &Op<'_>,
        rows: &mut Rows,
    ) -> Reply<Option<Outcome>, C> {
        let value_max = C::SQL.row_bytes_max.1;
        let none: &[u8] = &[];
        // Of the value: at least up to the part's end, at most what leaves room for more.
        let (command, key, offset, bytes, length, limit) = match *op {
            Op::PartialUpdate { key, offset, bytes } => {
                let end = (offset as usize).saturating_add(bytes.len());
                (&mut self.partial_update, key, offset, bytes, bytes.len(), Some(end))
            }
            Op::FieldRead { key, offset, length } => {
                let end = (offset as usize).saturating_add(length as usize);
                (&mut self.field_read, key, offset, none, length as usize, Some(end))
            }
            Op::Append { key, bytes } => {
                let limit = value_max.checked_sub(bytes.len());
                (&mut self.append, key, 0, bytes, bytes.len(), limit)
            }
            Op::Get { .. }
            | Op::Put { .. }
            | Op::Delete { .. }
            | Op::Scan { .. }
            | Op::MultiGet { .. }
            | Op::Call(_)
            | Op::ScanSequence { .. } => return Ok(None),
        };
        let Some(limit) = limit.filter(|limit| *limit <= value_max) else { return Ok(None) };
        let values = [
            Value::Bytes(key),
            Value::Integer(i64::from(offset) + 1),
            Value::Bytes(bytes),
            integer(length),
            integer(limit),
        ];
        let scratch = &mut self.scratch;
        let (affected, _) = command.run(
            connection,
            |position| values[position],
            |column, row| rows.push(key, C::columns(column, row, scratch).0),
        )?;
        if matches!(op, Op::FieldRead { .. }) {
            return Ok((rows.count() > 0).then_some(Outcome::Done));
        }
        Ok((affected > 0).then(|| changed(key, bytes, rows)))
    }

    /// Queues one operation; `None` when its command is not prepared yet, for a multi-key read and
    /// for a part of a value.
    #[inline]
    pub(crate) fn submit(&mut self, connection: &mut C, op: &Op<'_>) -> Reply<Option<InFlight>, C> {
        let Some((command, _, (expected, key, second))) = self.command(op) else {
            return Ok(None);
        };
        let queued = command.submit(connection, values(key, second))?;
        let bytes = key.len() as u64;
        Ok(queued.map(|(_, is_text)| InFlight { expected, bytes, is_text }))
    }

    /// Reads the answer to the oldest statement in flight.
    #[inline]
    pub(crate) fn complete(
        &mut self,
        connection: &mut C,
        InFlight { expected, bytes, is_text }: InFlight,
        rows: &mut Rows,
    ) -> Reply<Outcome, C> {
        let scratch = &mut self.scratch;
        let affected = connection.answer(is_text, |column, row| {
            push(expected, b"", row, || C::columns(column, row, scratch), rows);
        })?;
        match expected {
            // The key belongs to the row.
            ExpectedResult::Get => rows.wrote(0, rows.count() * bytes),
            ExpectedResult::Call { .. } if affected > 0 => rows.wrote(affected, bytes),
            ExpectedResult::Call { .. } | ExpectedResult::Scan | ExpectedResult::Write => {}
        }
        Ok(expected.outcome(rows))
    }

    /// Returns the command of an operation with one key, the buffer of decoded rows, and the
    /// result and values of the operation.
    #[inline]
    fn command<'s, 'k>(
        &'s mut self,
        op: &Op<'k>,
    ) -> Option<(&'s mut Command<C>, &'s mut Vec<u8>, KeyOp<'k>)> {
        let (command, of_op) = match *op {
            Op::Get { key } => (&mut self.get, (ExpectedResult::Get, key, Value::Integer(0))),
            Op::Put { key, value } => {
                (&mut self.put, (ExpectedResult::Write, key, Value::Bytes(value)))
            }
            Op::Delete { key } => {
                (&mut self.delete, (ExpectedResult::Write, key, Value::Integer(0)))
            }
            Op::Scan { start, limit, direction } => {
                let (way, protocol) = (usize::from(direction == Direction::Reverse), self.protocol);
                let has_row_limits = C::HAS_ROW_LIMITS && protocol == Protocol::Prepared;
                let number = has_row_limits.then(|| limit_number(limit));
                let command = self.scans[way][number.unwrap_or(0)]
                    .get_or_insert_with(|| scan(direction, number, protocol));
                (command, (ExpectedResult::Scan, start, Value::Integer(i64::from(limit))))
            }
            Op::MultiGet { .. }
            | Op::Call(_)
            | Op::PartialUpdate { .. }
            | Op::FieldRead { .. }
            | Op::Append { .. }
            | Op::ScanSequence { .. } => return None,
        };
        Some((command, &mut self.scratch, of_op))
    }

    /// Reads several keys; rows are returned in the order of the keys.
    fn multi_get(&mut self, connection: &mut C, keys: &[&[u8]], rows: &mut Rows) -> Reply<(), C> {
        for keys in keys.chunks(C::SQL.keys_max) {
            let values = if C::SQL.has_arrays { 1 } else { keys.len() };
            while self.several.len() < values {
                let list = vec!["?"; self.several.len() + 1].join(", ");
                let wanted =
                    if C::SQL.has_arrays { "= ANY(?)".to_owned() } else { format!("IN ({list})") };
                let sql = format!("SELECT k, v FROM assay_kv WHERE k {wanted}");
                self.several.push(Command::parse(&sql, self.protocol));
            }
            let Self { several, found, scratch, .. } = self;
            found.clear();
            let value = |position: usize| {
                if C::SQL.has_arrays { Value::Keys(keys) } else { Value::Bytes(keys[position]) }
            };
            several[values - 1].run(connection, value, |column, row| {
                let (key, value) = C::columns(column, row, scratch);
                found.add(key, value);
            })?;
            found.sort();
            for key in keys {
                if let Some(value) = found.find(key) {
                    rows.push(key, value);
                }
            }
        }
        Ok(())
    }
}

/// Returns the number of a limit's statement: those of 0, of 1, and up to each power of two.
#[inline]
const fn limit_number(limit: u32) -> usize {
    (u32::BITS - limit.saturating_sub(1).leading_zeros() + (limit > 0) as u32) as usize
}

/// Returns a scan for the limits of a number, or for all where its executions have no row limit.
///
/// Where they have, the text has the largest limit, for the planner: a few statements for all
/// limits, each with a plan for at most twice as many rows.
fn scan<C: Connection>(
    direction: Direction,
    number: Option<usize>,
    protocol: Protocol,
) -> Command<C> {
    let (compared, order) = match direction {
        Direction::Forward => (">=", "k"),
        Direction::Reverse => ("<=", "k DESC"),
    };
    let sql = format!("SELECT k, v FROM assay_kv WHERE k {compared} ? ORDER BY {order} LIMIT ");
    let Some(number) = number else { return Command::parse(&(sql + "?"), protocol) };
    let largest = if number == 0 { 0 } else { 1_u64 << (number - 1) };
    let template = Template::parse(&format!("{sql}{largest}"));
    Command::new(Template { rows_at: Some(1), ..template }, protocol)
}

/// Returns a number of bytes, at most that of the longest value.
#[inline]
fn integer(bytes: usize) -> Value<'static> {
    Value::Integer(i64::try_from(bytes).unwrap_or(i64::MAX))
}

/// Returns the values of an operation: its key and one more.
#[inline]
fn values<'k>(key: &'k [u8], second: Value<'k>) -> impl Fn(usize) -> Value<'k> + Copy {
    move |position| if position == 0 { Value::Bytes(key) } else { second }
}

/// Adds a row of the result; `columns` returns its first two.
#[inline]
fn push<'r>(
    expected: ExpectedResult,
    key: &[u8],
    row: &[u8],
    columns: impl FnOnce() -> (&'r [u8], &'r [u8]),
    rows: &mut Rows,
) {
    match expected {
        ExpectedResult::Get => rows.push(key, columns().0),
        ExpectedResult::Scan => {
            let (key, value) = columns();
            rows.push(key, value);
        }
        ExpectedResult::Write => {}
        ExpectedResult::Call { .. } => rows.push(b"", row),
    }
}

/// Returns how a read ended.
#[inline]
pub(crate) const fn outcome(rows: &Rows) -> Outcome {
    if rows.count() == 0 { Outcome::NotFound } else { Outcome::Done }
}

/// Where a row of a multi-key read is: its key, and behind it its value.
struct FoundRow {
    start: usize,
    key_end: usize,
    end: usize,
}

/// Rows of a multi-key read, sorted by key.
#[derive(Default)]
struct Found {
    bytes: Vec<u8>,
    rows: Vec<FoundRow>,
}

impl Found {
    fn clear(&mut self) {
        self.bytes.clear();
        self.rows.clear();
    }

    fn add(&mut self, key: &[u8], value: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(key);
        let key_end = self.bytes.len();
        self.bytes.extend_from_slice(value);
        self.rows.push(FoundRow { start, key_end, end: self.bytes.len() });
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        let key = |row: &FoundRow| &bytes[row.start..row.key_end];
        self.rows.sort_unstable_by(|one, other| key(one).cmp(key(other)));
    }

    fn find(&self, wanted: &[u8]) -> Option<&[u8]> {
        let compare = |row: &FoundRow| self.bytes[row.start..row.key_end].cmp(wanted);
        let row = &self.rows[self.rows.binary_search_by(compare).ok()?];
        Some(&self.bytes[row.key_end..row.end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: a statement is for limits of at most twice the rows, and none is for fewer.
    #[test]
    fn limits_share_a_statement_up_to_a_power_of_two() {
        let numbers = [0, 1, 2, 3, 4, 5, 8, 9, 100, 128, 129].map(limit_number);
        assert_eq!(numbers, [0, 1, 2, 3, 3, 4, 4, 5, 8, 8, 9]);
        assert_eq!(limit_number(u32::MAX) + 1, LIMITS);
    }
}
