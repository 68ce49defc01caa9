//! One client of the battery: executes operations and compares answers.

use std::thread::{Builder, Scope, ScopedJoinHandle};

use model::units::many;
use model::{Direction, Op, Outcome};

use crate::error::{EngineError, Result};
use crate::rows::Rows;
use crate::traits::{Engine, Session};

/// Times a conflict is retried before it counts as a failure.
const RETRIES: u32 = 10_000;

/// Starts a client on a thread.
pub(super) fn start<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    body: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>, String> {
    let started = Builder::new().spawn_scoped(scope, body);
    started.map_err(|error| format!("a client has no thread: {error}"))
}

pub(super) use crate::rows::OwnedRow as Row;

/// A session with its answer buffer.
pub(super) struct Client<'e> {
    session: Box<dyn Session + 'e>,
    rows: Rows,
}

impl<'e> Client<'e> {
    /// Opens a session of `engine`; call it on the thread that uses it.
    pub(super) fn new(engine: &'e dyn Engine) -> Result<Self, String> {
        let session = engine.session().map_err(|error| format!("session failed: {error}"))?;
        Ok(Self { session, rows: Rows::new() })
    }

    /// Executes `op` once.
    pub(super) fn attempt(&mut self, op: &Op<'_>) -> Result<Outcome> {
        self.rows.clear(true);
        self.session.execute(op, &mut self.rows)
    }

    /// Executes `op`, with retries on conflict, and returns its rows.
    ///
    /// Fails when outcome and rows contradict each other: `Done` of a read has rows, `NotFound` has
    /// none, and a write is `Done` without rows.
    pub(super) fn execute(&mut self, op: &Op<'_>) -> Result<Vec<Row>, String> {
        let mut outcome = self.attempt(op);
        for _ in 0..RETRIES {
            if !matches!(outcome, Err(EngineError::Conflict(_) | EngineError::Deadlock(_))) {
                break;
            }
            outcome = self.attempt(op);
        }
        let outcome = outcome.map_err(|error| format!("{} failed: {error}", describe(op)))?;
        let rows = self.rows.owned();
        let may_miss = matches!(op, Op::PartialUpdate { .. } | Op::Append { .. });
        let (expected, why) = match (op.kind().is_write(), rows.is_empty()) {
            (true, true) if may_miss && self.rows.count() == 0 => {
                (Outcome::NotFound, "it changed no row")
            }
            (true, true) => (Outcome::Done, "it is a write"),
            (false, false) => (Outcome::Done, "rows were found"),
            (false, true) => (Outcome::NotFound, "no row was found"),
            (true, false) => {
                let op = describe(op);
                return Err(format!("{op}: expected no rows of a write, got {}", rows.len()));
            }
        };
        if outcome == expected {
            Ok(rows)
        } else {
            Err(format!(
                "{}: expected {}, because {why}, got {} and {}",
                describe(op),
                name(expected),
                name(outcome),
                counted(rows.len())
            ))
        }
    }

    /// Executes `op` and compares its rows with `expected`, in order.
    pub(super) fn expect(
        &mut self,
        op: &Op<'_>,
        expected: &[(&[u8], &[u8])],
    ) -> Result<(), String> {
        let rows = self.execute(op)?;
        let expected: Vec<Row> =
            expected.iter().map(|(key, value)| (key.to_vec(), value.to_vec())).collect();
        compare(op, &expected, &rows)
    }

    /// Executes a read whose rows are counted and not stored, and compares the counts with `rows`.
    pub(super) fn expect_counts(&mut self, op: &Op<'_>, rows: &[Row]) -> Result<(), String> {
        self.rows.clear(false);
        let outcome = self.session.execute(op, &mut self.rows);
        outcome.map_err(|error| format!("{} failed: {error}", describe(op)))?;
        let bytes: usize = rows.iter().map(|(key, value)| key.len() + value.len()).sum();
        let expected = (rows.len() as u64, bytes as u64);
        let counted = (self.rows.count(), self.rows.bytes());
        if counted == expected {
            return Ok(());
        }
        let op = describe(op);
        Err(format!("{op} counted (rows, bytes) {counted:?} and has {expected:?} when stored"))
    }

    /// Puts one row.
    pub(super) fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), String> {
        self.execute(&Op::Put { key, value }).map(drop)
    }

    /// Returns the value of `key`, if present.
    pub(super) fn get(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>, String> {
        let op = Op::Get { key };
        let mut rows = self.execute(&op)?;
        match (rows.pop(), rows.len()) {
            (None, _) => Ok(None),
            (Some((found, value)), 0) if found == key => Ok(Some(value)),
            (Some((found, _)), others) => Err(format!(
                "{}: expected the row of this key alone, got {}, of which the last has key {}",
                describe(&op),
                counted(others + 1),
                text(&found)
            )),
        }
    }

    /// Returns every row at or after `start` (forward) or at or before it (reverse).
    pub(super) fn all(&mut self, start: &[u8], direction: Direction) -> Result<Vec<Row>, String> {
        self.execute(&Op::Scan { start, limit: u32::MAX, direction })
    }
}

/// Fails with the first difference between two answers to `op`.
pub(super) fn compare(op: &Op<'_>, expected: &[Row], found: &[Row]) -> Result<(), String> {
    let differs = expected.iter().zip(found).position(|(a, b)| a != b);
    let at = match differs {
        None if expected.len() == found.len() => return Ok(()),
        None => expected.len().min(found.len()),
        Some(at) => at,
    };
    let show = |rows: &[Row]| {
        rows.get(at).map_or_else(
            || "no row".to_owned(),
            |(key, value)| format!("key {} with value {}", text(key), text(value)),
        )
    };
    Err(format!(
        "{}: expected {}, got {}; row {at} should be {} and is {}",
        describe(op),
        counted(expected.len()),
        counted(found.len()),
        show(expected),
        show(found)
    ))
}

/// Returns an outcome's name, with that of the C interface.
const fn name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Done => "Done (ASSAY_DONE)",
        Outcome::NotFound => "NotFound (ASSAY_NOT_FOUND)",
        Outcome::RolledBack => "RolledBack",
    }
}

/// Returns a number of rows as text.
fn counted(rows: usize) -> String {
    many(rows, "row")
}

/// Describes an operation with its keys.
pub(super) fn describe(op: &Op<'_>) -> String {
    match op {
        Op::Get { key } => format!("get {}", text(key)),
        Op::Put { key, value } => format!("put {} = {}", text(key), text(value)),
        Op::Delete { key } => format!("delete {}", text(key)),
        Op::Scan { start, limit, direction } => {
            format!("scan from {} {direction:?} limit {limit}", text(start))
        }
        Op::PartialUpdate { key, offset, bytes } => {
            format!("partial_update {} at {offset} = {}", text(key), text(bytes))
        }
        Op::FieldRead { key, offset, length } => {
            format!("field_read of {length} bytes of {} at {offset}", text(key))
        }
        Op::Append { key, bytes } => format!("append {} += {}", text(key), text(bytes)),
        Op::ScanSequence { from, limit } => format!("scan_sequence from {from} limit {limit}"),
        Op::Call(call) => format!("call of procedure {}", call.procedure),
        Op::MultiGet { keys } => {
            let keys: Vec<_> = keys.iter().map(|key| text(key)).collect();
            format!("multi_get [{}]", keys.join(", "))
        }
    }
}

/// Formats bytes with their number; long ones are truncated.
pub(super) fn text(bytes: &[u8]) -> String {
    const SHOWN: usize = 40;
    let shown = bytes[..bytes.len().min(SHOWN)].escape_ascii();
    let more = if bytes.len() > SHOWN { "..." } else { "" };
    format!("\"{shown}\"{more} ({} B)", bytes.len())
}
