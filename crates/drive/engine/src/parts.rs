//! Operations on parts of values, by a read and a write of the whole value.
//!
//! For engines without a native way. It is not atomic: of two clients that change one row at the
//! same time, one may lose its change, as it would in an application.

use std::ops::Range;

use model::{Op, Outcome};

use crate::error::{EngineError, Result};
use crate::rows::{Rows, StoredValue};
use crate::settings_check::no_procedures;
use crate::traits::Session;

/// Executes an operation that `session` of `engine` has no way of its own for.
///
/// Partial updates, field reads and appends use the session's own get and put. `rows` has the
/// buffer, so nothing is allocated once it has grown.
///
/// # Errors
/// As those of the session; [`EngineError::Unsupported`] for bytes beyond the end of the value, and
/// for every operation that cannot be made of gets and puts.
pub fn execute<S: Session + ?Sized>(
    engine: &str,
    session: &mut S,
    op: &Op<'_>,
    rows: &mut Rows,
) -> Result<Outcome> {
    match *op {
        Op::FieldRead { key, offset, length } => {
            with_value(session, key, rows, |_, value, rows| {
                push_field(key, &value.bytes[value.start..], Part { offset, length }, rows)?;
                Ok(Outcome::Done)
            })
        }
        Op::PartialUpdate { key, offset, bytes } => {
            with_value(session, key, rows, |session, value, rows| {
                let whole = &mut value.bytes[value.start..];
                let part = part(whole.len(), offset, bytes.len())?;
                whole[part].copy_from_slice(bytes);
                session.execute_put(key, whole, rows)?;
                Ok(changed(key, bytes, rows))
            })
        }
        Op::Append { key, bytes } => with_value(session, key, rows, |session, value, rows| {
            value.bytes.extend_from_slice(bytes);
            session.execute_put(key, &value.bytes[value.start..], rows)?;
            Ok(changed(key, bytes, rows))
        }),
        Op::Call(_) => no_procedures(engine),
        Op::ScanSequence { .. } => {
            Err(EngineError::Unsupported(format!("{engine} cannot read rows by sequence number")))
        }
        Op::Get { .. }
        | Op::Put { .. }
        | Op::Delete { .. }
        | Op::Scan { .. }
        | Op::MultiGet { .. } => {
            Err(EngineError::Unsupported(format!("{engine} leaves out a basic operation")))
        }
    }
}

/// A part of a value, in bytes.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    /// Where it starts.
    pub offset: u32,
    /// Its length.
    pub length: u32,
}

/// Adds the row of a field read to `rows`: the key, and a part of the value.
///
/// # Errors
/// [`EngineError::Unsupported`] when it ends beyond the value's end.
#[inline]
pub fn push_field(key: &[u8], value: &[u8], of: Part, rows: &mut Rows) -> Result<()> {
    rows.push(key, &value[part(value.len(), of.offset, of.length as usize)?]);
    Ok(())
}

/// Counts a change of a part of a value as one row with the key and the bytes of the part.
#[inline]
pub fn changed(key: &[u8], bytes: &[u8], rows: &mut Rows) -> Outcome {
    rows.wrote(1, (key.len() + bytes.len()) as u64);
    Outcome::Done
}

/// Returns where the part of a value is.
///
/// # Errors
/// [`EngineError::Unsupported`] when it ends beyond the value's end.
#[inline]
pub fn part(value_bytes: usize, offset: u32, length: usize) -> Result<Range<usize>> {
    let start = offset as usize;
    match start.checked_add(length) {
        Some(end) if end <= value_bytes => Ok(start..end),
        _ => Err(beyond(value_bytes, offset, length)),
    }
}

/// Reads the value of `key` and calls `act` with it, if it is present.
fn with_value<S: Session + ?Sized>(
    session: &mut S,
    key: &[u8],
    rows: &mut Rows,
    act: impl FnOnce(&mut S, &mut StoredValue, &mut Rows) -> Result<Outcome>,
) -> Result<Outcome> {
    let is_storing = rows.is_storing();
    rows.clear(true);
    let found = session.execute_get(key, rows);
    let stored = rows.take_stored();
    rows.clear(is_storing);
    let Some(mut value) = stored else { return found };
    let done = found.and_then(|_| act(session, &mut value, rows));
    rows.put_back(value);
    done
}

#[cold]
fn beyond(value_bytes: usize, offset: u32, length: usize) -> EngineError {
    EngineError::Unsupported(format!(
        "{length} bytes starting at byte {offset}: they end beyond a value of {value_bytes} bytes"
    ))
}
