//! One client's session.

use engine::parts::{self, part};
use engine::settings_check::refused;
use engine::{EngineError, Result, Rows, Session};
use indexlog::{Database, Error};
use model::{Direction, Op, Outcome};

/// A client's handle.
pub(crate) struct IndexlogSession<'e>(pub(crate) &'e Database);

/// Converts an error.
#[cold]
pub(crate) fn failed(error: Error) -> EngineError {
    let text = format!("indexlog: {error}");
    match error {
        Error::TooLong(_) => EngineError::Unsupported(text),
        Error::Option { name, remedy } => refused(name, remedy),
        Error::Io { .. } | Error::Damaged { .. } | Error::Failed(_) | Error::InUse(_) => {
            EngineError::Fatal(text)
        }
    }
}

impl IndexlogSession<'_> {
    fn get(&self, key: &[u8], rows: &mut Rows) -> Result<()> {
        if let Some(value) = self.0.get(key).map_err(failed)? {
            rows.push(key, &value);
        }
        Ok(())
    }
}

impl Session for IndexlogSession<'_> {
    fn execute(&mut self, op: &Op<'_>, rows: &mut Rows) -> Result<Outcome> {
        match *op {
            Op::Get { key } => self.get(key, rows)?,
            Op::MultiGet { keys } => keys.iter().try_for_each(|key| self.get(key, rows))?,
            Op::Scan { start, limit, direction } => {
                let is_forward = direction == Direction::Forward;
                let row = |key: &[u8], value: &[u8]| rows.push(key, value);
                self.0.scan(start, is_forward, limit as usize, row).map_err(failed)?;
            }
            Op::Put { key, value } => {
                self.0.put(key, value).map_err(failed)?;
                return Ok(Outcome::Done);
            }
            Op::Delete { key } => {
                self.0.delete(key).map_err(failed)?;
                return Ok(Outcome::Done);
            }
            Op::FieldRead { key, offset, length } => {
                if let Some(value) = self.0.get(key).map_err(failed)? {
                    rows.push(key, &value[part(value.len(), offset, length as usize)?]);
                }
            }
            Op::ScanSequence { from, limit } => {
                let row = |_seqno, key: &[u8], value: &[u8]| rows.push(key, value);
                self.0.scan_sequence(from, limit as usize, row).map_err(failed)?;
            }
            Op::Call(_) | Op::PartialUpdate { .. } | Op::Append { .. } => {
                return parts::execute("indexlog", self, op, rows);
            }
        }
        Ok(rows.outcome())
    }
}
