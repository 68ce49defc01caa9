//! Checks of the answers of an engine.
//!
//! Off the hot path: one answer in some dozens is checked, after its end is stamped.

use std::sync::Arc;

use engine::Rows;
use model::units::many;
use model::{DataShape, Direction, EntryRef};

use crate::generator::WrongAnswer;
use crate::key::{KeyBuffer, describe, length as size};
use crate::request::Presence;
use crate::value::Bodies;

/// Checks answers against the rows that may be present and their values.
#[derive(Debug)]
pub(crate) struct AnswerChecker {
    rows: u64,
    /// A key like those of all rows.
    key: KeyBuffer,
    presence: Presence,
    bodies: Arc<Bodies>,
}

/// The defect of an answer, without its operation.
type Reason = String;

impl AnswerChecker {
    /// Returns the checker of answers about rows of the shape `data`.
    pub(crate) fn new(data: &DataShape, presence: Presence, bodies: Arc<Bodies>) -> Self {
        Self { rows: data.rows, key: KeyBuffer::new(data.key_bytes), presence, bodies }
    }

    /// Checks the answer to the read of one key that may be present.
    ///
    /// # Errors
    /// When the answer cannot be right.
    pub(crate) fn point(&self, key: &[u8], rows: &Rows) -> Result<u64, WrongAnswer> {
        let check = || match only(rows)? {
            Some(row) => self.row_of(key, row).map(|()| 1),
            None => self.absent_is_legal().map(|()| 0),
        };
        check().map_err(|reason| wrong("get", key, reason))
    }

    /// Checks the answer to the read of one key that was never written.
    ///
    /// # Errors
    /// When there is an answer.
    pub(crate) fn absent(key: &[u8], rows: &Rows) -> Result<u64, WrongAnswer> {
        match rows.count() {
            0 => Ok(0),
            n => {
                let rows = many(n, "row");
                Err(wrong("get", key, format!("{rows} came back for a key never written")))
            }
        }
    }

    /// Checks the answer to the read of several keys; rows may come in any order.
    ///
    /// `found` is room for one mark per key.
    ///
    /// # Errors
    /// When the answer cannot be right.
    pub(crate) fn batch<'k>(
        &self,
        keys: impl Iterator<Item = &'k [u8]> + Clone,
        found: &mut [bool],
        rows: &Rows,
    ) -> Result<u64, WrongAnswer> {
        let first = keys.clone().next().unwrap_or_default();
        found.fill(false);
        for (came, value) in rows.stored() {
            let row = EntryRef { key: came, value };
            let missing_key =
                keys.clone().zip(found.iter_mut()).find(|(key, found)| !**found && *key == came);
            let Some((key, mark)) = missing_key else {
                let reason = format!("{} came back and was not requested", describe(came));
                return Err(wrong("multi_get", first, reason));
            };
            *mark = true;
            self.row_of(key, row).map_err(|reason| wrong("multi_get", key, reason))?;
        }
        let missing = keys.zip(found.iter()).find(|(_, found)| !**found);
        if let Some((key, _)) = missing {
            self.absent_is_legal().map_err(|reason| wrong("multi_get", key, reason))?;
        }
        Ok(rows.count())
    }

    /// Checks the answer to the read of `length` bytes of a value that may be present.
    ///
    /// # Errors
    /// When the answer cannot be right.
    pub(crate) fn field(
        &self,
        key: &[u8],
        offset: u32,
        length: u32,
        rows: &Rows,
    ) -> Result<u64, WrongAnswer> {
        let check = || match only(rows)? {
            Some(row) if row.key != key => Err(format!("{} came back", describe(row.key))),
            Some(row) if row.value.len() != size(length) => {
                Err(format!("{} bytes came back and not {length}", row.value.len()))
            }
            Some(row) => {
                self.bodies.check_field(self.id(key)?, size(offset), row.value).map(|()| 1)
            }
            None => self.absent_is_legal().map(|()| 0),
        };
        check().map_err(|reason| wrong("field_read", key, reason))
    }

    /// Checks the answer to the read of up to `limit` rows from sequence number `from` on, when
    /// each row has been written.
    ///
    /// # Errors
    /// When the answer cannot be right.
    pub(crate) fn newest(&self, from: u64, limit: u32, rows: &Rows) -> Result<u64, WrongAnswer> {
        let check = || {
            let (most, count) = (u64::from(limit), rows.count());
            // The rows' numbers differ, so fewer than `from` of them are below it.
            let least = most.min((self.rows + 1).saturating_sub(from));
            if count > most || (self.presence == Presence::All && count < least) {
                return Err(format!("{} came back, not {least} to {most}", many(count, "row")));
            }
            for (key, value) in rows.stored() {
                self.bodies.check(self.id(key)?, value).map_err(|reason| at(key, &reason))?;
            }
            Ok(count)
        };
        check().map_err(|reason| WrongAnswer {
            operation: format!("scan_sequence from {from} limit {limit}"),
            reason,
        })
    }

    /// Checks the answer to a range read.
    ///
    /// # Errors
    /// When the answer cannot be right.
    pub(crate) fn range(
        &self,
        start: &[u8],
        limit: u32,
        direction: Direction,
        rows: &Rows,
    ) -> Result<u64, WrongAnswer> {
        let operation = match direction {
            Direction::Forward => "forward scan",
            Direction::Reverse => "reverse scan",
        };
        let first = self.key.id_of(start).unwrap_or_default();
        self.walk(first, limit, direction, rows)
            .map_err(|reason| wrong(operation, start, format!("limit {limit}: {reason}")))
    }

    fn walk(
        &self,
        first: u64,
        limit: u32,
        direction: Direction,
        rows: &Rows,
    ) -> Result<u64, Reason> {
        let limit = u64::from(limit);
        let present = match direction {
            Direction::Forward => self.rows - first,
            Direction::Reverse => first + 1,
        };
        if rows.count() > limit {
            return Err(format!("{} rows came back", rows.count()));
        }
        if self.presence == Presence::All && rows.count() != limit.min(present) {
            let n = rows.count();
            return Err(format!(
                "{} came back, and {} should have come back",
                many(n, "row"),
                limit.min(present)
            ));
        }
        // Distances from the start, which grow in either direction.
        let mut least = 0;
        for (key, value) in rows.stored() {
            let id = self.id(key)?;
            let distance = match direction {
                Direction::Forward => id.checked_sub(first),
                Direction::Reverse => first.checked_sub(id),
            };
            match distance {
                None => return Err(format!("{} lies before the start", describe(key))),
                Some(distance) if distance < least => {
                    return Err(format!("{} is out of order", describe(key)));
                }
                Some(distance) if distance > least && self.presence == Presence::All => {
                    return Err(format!("rows before {} were left out", describe(key)));
                }
                Some(distance) => least = distance + 1,
            }
            self.bodies.check(id, value).map_err(|reason| at(key, &reason))?;
        }
        Ok(rows.count())
    }

    /// Checks that the row that came back is the requested one, with its own value.
    fn row_of(&self, requested: &[u8], came: EntryRef<'_>) -> Result<(), Reason> {
        if requested != came.key {
            return Err(format!("{} came back", describe(came.key)));
        }
        self.bodies.check(self.id(came.key)?, came.value)
    }

    /// Steps such as `ycsb-d` add rows behind those of the experiment; some are absent then.
    fn id(&self, key: &[u8]) -> Result<u64, Reason> {
        self.key
            .id_of(key)
            .filter(|id| *id < self.rows || self.presence == Presence::Some)
            .ok_or_else(|| format!("{} is not the key of a row", describe(key)))
    }

    fn absent_is_legal(&self) -> Result<(), Reason> {
        match self.presence {
            Presence::All => Err("the row was not found, and every row was written".to_owned()),
            Presence::Some => Ok(()),
        }
    }
}

/// Returns the only row of an answer; `None` when it is empty.
fn only(rows: &Rows) -> Result<Option<EntryRef<'_>>, Reason> {
    match rows.count() {
        0 => Ok(None),
        1 => match rows.stored().next() {
            Some((key, value)) => Ok(Some(EntryRef { key, value })),
            None => Err("the row was not stored".to_owned()),
        },
        n => Err(format!("{n} rows came back")),
    }
}

fn at(key: &[u8], reason: &str) -> Reason {
    format!("{}: {reason}", describe(key))
}

fn wrong(operation: &str, key: &[u8], reason: Reason) -> WrongAnswer {
    WrongAnswer { operation: format!("{operation} of {}", describe(key)), reason }
}
