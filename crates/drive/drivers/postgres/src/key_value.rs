//! Key-value operations: one table, one statement per kind of operation.

use engine::Rows;
use model::{Direction, Op, Outcome};

use crate::config::Protocol;
use crate::in_flight::{ExpectedResult, InFlight};
use crate::value::{self, Value};
use crate::wire::{Bound, Connection, Failure, columns, first_column, text};

/// Name of the table.
pub(crate) const TABLE: &str = "assay_kv";

const GET: &str = "SELECT v FROM assay_kv WHERE k = $1";
const PUT: &str = "INSERT INTO assay_kv (k, v) VALUES ($1, $2) \
                   ON CONFLICT (k) DO UPDATE SET v = excluded.v";
const DELETE: &str = "DELETE FROM assay_kv WHERE k = $1";
const MULTI_GET: &str = "SELECT k, v FROM assay_kv WHERE k = ANY($1)";

/// Largest limit written into a scan's text; a larger one is a parameter.
///
/// With an unknown limit the planner assumes a tenth of the table and would sort it, so each
/// limit of a short scan has a statement of its own. Source: Postgres' source,
/// `preprocess_limit` in `planner.c`.
const LIMIT_MAX: u32 = 256;

/// Returns the statements that create the table.
pub(crate) fn create(is_uncompressed: bool) -> Vec<String> {
    let mut statements =
        vec![format!("CREATE TABLE {TABLE} (k bytea PRIMARY KEY, v bytea NOT NULL)")];
    if is_uncompressed {
        statements.push(format!("ALTER TABLE {TABLE} ALTER COLUMN v SET STORAGE EXTERNAL"));
    }
    statements
}

/// A statement as SQL and, once prepared, as a message.
struct Statement {
    sql: String,
    bound: Option<Bound>,
}

impl Statement {
    fn new(sql: impl Into<String>) -> Self {
        Self { sql: sql.into(), bound: None }
    }

    /// Appends the statement with `values` to the send buffer, preparing it first.
    #[inline]
    fn write(
        &mut self,
        protocol: Protocol,
        connection: &mut Connection,
        values: &[Value<'_>],
    ) -> Result<(), Failure> {
        if protocol == Protocol::Text {
            return self.write_text(connection, values);
        }
        if self.bound.is_none() {
            self.bound = Some(prepare(connection, &self.sql)?);
        }
        let Some(bound) = &self.bound else { return Ok(()) };
        let out = connection.send_buffer();
        let start = bound.begin(out);
        for value in values {
            value.write_binary(out)?;
        }
        bound.end(out, start)
    }

    /// Appends the text with literals in place of `$1`, `$2`, ...
    fn write_text(&self, connection: &mut Connection, values: &[Value<'_>]) -> Result<(), Failure> {
        let out = connection.send_buffer();
        let start = text::begin(out);
        let mut text = self.sql.split('$');
        out.extend_from_slice(text.next().unwrap_or_default().as_bytes());
        for (value, after) in values.iter().zip(text) {
            value.write_text(out);
            // The parameter's number is one digit.
            out.extend_from_slice(after.get(1..).unwrap_or_default().as_bytes());
        }
        text::end(out, start)
    }
}

/// Prepares a statement with binary values only.
fn prepare(connection: &mut Connection, sql: &str) -> Result<Bound, Failure> {
    let described = connection.prepare(sql)?;
    Bound::new(&described, &vec![false; described.parameters.len()])
}

/// The statements of one session, prepared when first used.
pub(crate) struct KeyValue {
    protocol: Protocol,
    get: Statement,
    put: Statement,
    delete: Statement,
    multi_get: Statement,
    /// Short scans by limit, forward and reverse.
    short_scans: [Vec<Option<Statement>>; 2],
    long_scans: [Statement; 2],
    scratch: Vec<u8>,
    found: Found,
}

impl KeyValue {
    pub(crate) fn new(protocol: Protocol) -> Self {
        let none = || (0..=LIMIT_MAX).map(|_| None).collect();
        Self {
            protocol,
            get: Statement::new(GET),
            put: Statement::new(PUT),
            delete: Statement::new(DELETE),
            multi_get: Statement::new(MULTI_GET),
            short_scans: [none(), none()],
            long_scans: [Direction::Forward, Direction::Reverse]
                .map(|direction| Statement::new(scan_text(direction, "$2"))),
            scratch: Vec::new(),
            found: Found::default(),
        }
    }

    /// Executes a key-value operation; does nothing for any other.
    #[inline]
    pub(crate) fn execute(
        &mut self,
        connection: &mut Connection,
        op: &Op<'_>,
        rows: &mut Rows,
    ) -> Result<Outcome, Failure> {
        match *op {
            Op::Get { key } => self.get(connection, key, rows)?,
            Op::Put { key, value } => {
                let values = [Value::Bytes(key), Value::Bytes(value)];
                self.put.write(self.protocol, connection, &values)?;
                connection.exchange(|_| {})?;
                return Ok(Outcome::Done);
            }
            Op::Delete { key } => {
                self.delete.write(self.protocol, connection, &[Value::Bytes(key)])?;
                connection.exchange(|_| {})?;
                return Ok(Outcome::Done);
            }
            Op::Scan { start, limit, direction } => {
                self.write_scan(connection, start, limit, direction)?;
                let (protocol, scratch) = (self.protocol, &mut self.scratch);
                connection.exchange(|row| {
                    let (key, value) = entry(protocol, row, scratch);
                    rows.push(key, value);
                })?;
            }
            Op::MultiGet { keys } => self.multi_get(connection, keys, rows)?,
            Op::Call(_) => {}
        }
        Ok(if rows.count() == 0 { Outcome::NotFound } else { Outcome::Done })
    }

    /// Appends one operation to the send buffer; `None` when its statement is not prepared yet,
    /// and for a multi-key read.
    #[inline]
    pub(crate) fn submit(
        &mut self,
        connection: &mut Connection,
        op: &Op<'_>,
    ) -> Result<Option<InFlight>, Failure> {
        let protocol = self.protocol;
        let is_ready =
            |statement: &Statement| protocol == Protocol::Text || statement.bound.is_some();
        let expected = match *op {
            Op::Get { key } if is_ready(&self.get) => {
                self.get.write(protocol, connection, &[Value::Bytes(key)])?;
                return Ok(Some(InFlight {
                    expected: ExpectedResult::Get,
                    bytes: key.len() as u64,
                }));
            }
            Op::Put { key, value } if is_ready(&self.put) => {
                let values = [Value::Bytes(key), Value::Bytes(value)];
                self.put.write(protocol, connection, &values)?;
                ExpectedResult::Write
            }
            Op::Delete { key } if is_ready(&self.delete) => {
                self.delete.write(protocol, connection, &[Value::Bytes(key)])?;
                ExpectedResult::Write
            }
            Op::Scan { start, limit, direction } if is_ready(self.scan(limit, direction)) => {
                self.write_scan(connection, start, limit, direction)?;
                ExpectedResult::Scan
            }
            Op::Get { .. }
            | Op::Put { .. }
            | Op::Delete { .. }
            | Op::Scan { .. }
            | Op::MultiGet { .. }
            | Op::Call(_) => return Ok(None),
        };
        Ok(Some(InFlight { expected, bytes: 0 }))
    }

    /// Reads the answer to the oldest operation in flight.
    #[inline]
    pub(crate) fn complete(
        &mut self,
        connection: &mut Connection,
        in_flight: InFlight,
        rows: &mut Rows,
    ) -> Result<Outcome, Failure> {
        let (protocol, scratch) = (self.protocol, &mut self.scratch);
        match in_flight.expected {
            ExpectedResult::Get => {
                connection.answer(|row| {
                    let column = first_column(row);
                    scratch.clear();
                    rows.push(b"", value::bytes(protocol, column, scratch));
                    // The key belongs to the row.
                    rows.wrote(0, in_flight.bytes);
                })?;
            }
            ExpectedResult::Scan => {
                connection.answer(|row| {
                    let (key, value) = entry(protocol, row, scratch);
                    rows.push(key, value);
                })?;
            }
            ExpectedResult::Write | ExpectedResult::Call { .. } => {
                connection.answer(|_| {})?;
                return Ok(Outcome::Done);
            }
        }
        Ok(if rows.count() == 0 { Outcome::NotFound } else { Outcome::Done })
    }

    /// Returns the statement of a scan.
    fn scan(&mut self, limit: u32, direction: Direction) -> &mut Statement {
        let way = usize::from(direction == Direction::Reverse);
        match self.short_scans[way].get_mut(limit as usize) {
            Some(short) => short
                .get_or_insert_with(|| Statement::new(scan_text(direction, &limit.to_string()))),
            None => &mut self.long_scans[way],
        }
    }

    #[inline]
    fn get(
        &mut self,
        connection: &mut Connection,
        key: &[u8],
        rows: &mut Rows,
    ) -> Result<(), Failure> {
        self.get.write(self.protocol, connection, &[Value::Bytes(key)])?;
        let (protocol, scratch) = (self.protocol, &mut self.scratch);
        connection.exchange(|row| {
            scratch.clear();
            let column = columns(row).next().flatten().unwrap_or_default();
            rows.push(key, value::bytes(protocol, column, scratch));
        })?;
        Ok(())
    }

    fn write_scan(
        &mut self,
        connection: &mut Connection,
        start: &[u8],
        limit: u32,
        direction: Direction,
    ) -> Result<(), Failure> {
        let protocol = self.protocol;
        let values = [Value::Bytes(start), Value::Integer(i64::from(limit))];
        // The limit of a short scan is in its text.
        let given = if limit <= LIMIT_MAX { &values[..1] } else { &values };
        self.scan(limit, direction).write(protocol, connection, given)
    }

    /// Reads several keys in one statement; rows are returned in the order of the keys.
    fn multi_get(
        &mut self,
        connection: &mut Connection,
        keys: &[&[u8]],
        rows: &mut Rows,
    ) -> Result<(), Failure> {
        self.multi_get.write(self.protocol, connection, &[Value::Keys(keys)])?;
        let (protocol, scratch, found) = (self.protocol, &mut self.scratch, &mut self.found);
        found.clear();
        connection.exchange(|row| {
            let (key, value) = entry(protocol, row, scratch);
            found.add(key, value);
        })?;
        found.sort();
        for key in keys {
            if let Some(value) = found.find(key) {
                rows.push(key, value);
            }
        }
        Ok(())
    }
}

fn scan_text(direction: Direction, limit: &str) -> String {
    let (compared, order) = match direction {
        Direction::Forward => (">=", "k"),
        Direction::Reverse => ("<=", "k DESC"),
    };
    format!("SELECT k, v FROM {TABLE} WHERE k {compared} $1 ORDER BY {order} LIMIT {limit}")
}

/// Returns key and value of a row; text is decoded into `scratch`.
#[inline]
fn entry<'a>(protocol: Protocol, row: &'a [u8], scratch: &'a mut Vec<u8>) -> (&'a [u8], &'a [u8]) {
    let mut columns = columns(row);
    let mut next = || columns.next().flatten().unwrap_or_default();
    let (key, value) = (next(), next());
    if protocol == Protocol::Prepared {
        return (key, value);
    }
    scratch.clear();
    text::unhex(key, scratch);
    let key_bytes = scratch.len();
    text::unhex(value, scratch);
    scratch.split_at(key_bytes)
}

/// Rows of a multi-key read, sorted by key.
#[derive(Default)]
struct Found {
    bytes: Vec<u8>,
    /// Start of a row, end of its key, end of its value.
    rows: Vec<(usize, usize, usize)>,
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
        self.rows.push((start, key_end, self.bytes.len()));
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        let key = |row: &(usize, usize, usize)| &bytes[row.0..row.1];
        self.rows.sort_unstable_by(|one, other| key(one).cmp(key(other)));
    }

    fn find(&self, wanted: &[u8]) -> Option<&[u8]> {
        let compare = |row: &(usize, usize, usize)| self.bytes[row.0..row.1].cmp(wanted);
        let (_, start, end) = self.rows[self.rows.binary_search_by(compare).ok()?];
        Some(&self.bytes[start..end])
    }
}
