//! The writes of a step with events, and whether the engine has them afterwards.

use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher as _;
use std::sync::PoisonError;

use engine::{EngineError, Rows, Session};
use model::{Direction, Nanos, Op, Outcome, WriteCheck};

use crate::clock::SteadyClock;
use crate::sync::{Mutex, MutexGuard};
use crate::traits::Clock as _;

/// Writes that a session notes before the sample is halved. Our choice: two megabytes.
const PART: usize = 1 << 15;
/// Most rows that are read. Our choice: seconds on a server that answers 5,000 reads a second.
const ROWS_MAX: usize = 20_000;

/// Notes the writes of the sessions of a step.
#[derive(Debug, Default)]
pub struct WriteLog(Mutex<Vec<Noted>>);

/// Writes of a session to a sample of the keys: one of 2^`halvings`.
#[derive(Debug, Default)]
struct Noted {
    /// Each part has twice the share of the keys that the next one has: nothing is removed, or
    /// moved, while the session works.
    parts: Vec<Vec<Write>>,
    halvings: u32,
    /// There were writes of other kinds, so that nothing is known of the rows.
    has_others: bool,
}

#[derive(Debug)]
struct Write {
    key: Box<[u8]>,
    /// Hash of the value; `None` for a delete.
    value: Option<u64>,
    begun: Nanos,
    ended: Nanos,
    is_acknowledged: bool,
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

fn is_in_sample(key: &[u8], halvings: u32) -> bool {
    hash(key).trailing_zeros() >= halvings
}

impl Noted {
    fn add(&mut self, write: Write) {
        if self.parts.last().is_none_or(|part| part.len() == PART) {
            self.halvings += u32::from(!self.parts.is_empty());
            self.parts.push(Vec::with_capacity(PART));
        }
        if let Some(part) = self.parts.last_mut() {
            part.push(write);
        }
    }
}

impl WriteLog {
    /// Notes the writes of a session, which costs two readings of the clock for each.
    pub(crate) fn observe<'s>(&'s self, session: Box<dyn Session + 's>) -> Box<dyn Session + 's> {
        // What an earlier session left out cannot be compared.
        let noted = Noted { halvings: halvings(&self.lock()), ..Noted::default() };
        Box::new(Observed { session, log: self, noted, clock: SteadyClock::kernel() })
    }

    /// Compares the writes with the rows that a new session reads.
    ///
    /// Nothing is returned where clients did not only put and delete.
    ///
    /// # Errors
    /// When a row cannot be read.
    pub fn compare(&self, session: &mut dyn Session) -> Result<Option<WriteCheck>, EngineError> {
        let noted = std::mem::take(&mut *self.lock());
        if noted.iter().any(|it| it.has_others) {
            return Ok(None);
        }
        let mut halvings = halvings(&noted);
        let mut writes: Vec<_> = noted.into_iter().flat_map(|it| it.parts).flatten().collect();
        writes.retain(|it| is_in_sample(&it.key, halvings));
        writes.sort_by(|one, other| one.key.cmp(&other.key));
        while by_row(&writes).count() > ROWS_MAX && halvings < u64::BITS {
            halvings += 1;
            writes.retain(|it| is_in_sample(&it.key, halvings));
        }
        let (mut check, mut rows) = (WriteCheck::default(), Rows::new());
        for writes in by_row(&writes) {
            rows.clear(true);
            session.execute(&Op::Get { key: &writes[0].key }, &mut rows)?;
            let value = rows.stored().next().map(|(_, value)| hash(value));
            check.merge(&compare_row(writes, value));
        }
        Ok(Some(check))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Noted>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns how often the sample of all sessions was halved.
fn halvings(noted: &[Noted]) -> u32 {
    noted.iter().map(|it| it.halvings).max().unwrap_or_default()
}

fn by_row(writes: &[Write]) -> impl Iterator<Item = &[Write]> {
    writes.chunk_by(|one, other| one.key == other.key)
}

/// Compares the writes to a row with its value.
fn compare_row(writes: &[Write], value: Option<u64>) -> WriteCheck {
    let count =
        |writes: &dyn Fn(&&Write) -> bool, of: &[Write]| of.iter().filter(writes).count() as u64;
    let matching = || writes.iter().filter(|write| write.value == value);
    let survivor = matching().filter(|it| it.is_acknowledged).map(|it| it.ended).max();
    // The server may have applied a failed write at any later time.
    let may_be_last = matching().any(|it| !it.is_acknowledged);
    let is_lost = |write: &&Write| {
        let is_covered = may_be_last || survivor.is_some_and(|ended| write.begun <= ended);
        write.is_acknowledged && !is_covered
    };
    WriteCheck {
        rows: 1,
        acknowledged: count(&|write| write.is_acknowledged, writes),
        lost: count(&is_lost, writes),
        failed: count(&|write| !write.is_acknowledged, writes),
        applied: u64::from(may_be_last && survivor.is_none()),
    }
}

/// A session whose writes are noted.
struct Observed<'s> {
    session: Box<dyn Session + 's>,
    log: &'s WriteLog,
    noted: Noted,
    clock: SteadyClock,
}

impl Observed<'_> {
    fn note(
        &mut self,
        key: &[u8],
        value: Option<&[u8]>,
        write: impl FnOnce(&mut dyn Session) -> Result<Outcome, EngineError>,
    ) -> Result<Outcome, EngineError> {
        if !is_in_sample(key, self.noted.halvings) {
            return write(&mut *self.session);
        }
        let begun = self.clock.now();
        let outcome = write(&mut *self.session);
        let (ended, is_acknowledged) = (self.clock.now(), outcome.is_ok());
        let value = value.map(hash);
        self.noted.add(Write { key: key.into(), value, begun, ended, is_acknowledged });
        outcome
    }
}

impl Session for Observed<'_> {
    fn execute(&mut self, op: &Op<'_>, rows: &mut Rows) -> Result<Outcome, EngineError> {
        match *op {
            Op::Put { key, value } => self.execute_put(key, value, rows),
            Op::Delete { key } => self.note(key, None, |session| session.execute(op, rows)),
            Op::Call(_) | Op::PartialUpdate { .. } | Op::Append { .. } => {
                self.noted.has_others = true;
                self.session.execute(op, rows)
            }
            Op::Get { .. }
            | Op::Scan { .. }
            | Op::MultiGet { .. }
            | Op::FieldRead { .. }
            | Op::ScanSequence { .. } => self.session.execute(op, rows),
        }
    }

    fn execute_get(&mut self, key: &[u8], rows: &mut Rows) -> Result<Outcome, EngineError> {
        self.session.execute_get(key, rows)
    }

    fn execute_put(
        &mut self,
        key: &[u8],
        value: &[u8],
        rows: &mut Rows,
    ) -> Result<Outcome, EngineError> {
        self.note(key, Some(value), |session| session.execute_put(key, value, rows))
    }

    fn execute_scan(
        &mut self,
        start: &[u8],
        limit: u32,
        direction: Direction,
        rows: &mut Rows,
    ) -> Result<Outcome, EngineError> {
        self.session.execute_scan(start, limit, direction, rows)
    }
}

impl Drop for Observed<'_> {
    fn drop(&mut self) {
        // The engine is closed only after this: what takes long is done at the end of the step.
        self.log.lock().push(std::mem::take(&mut self.noted));
    }
}

#[cfg(test)]
#[cfg(not(feature = "model-check"))]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// A write of a value, negative if it failed, within a time of milliseconds.
    fn write(value: i64, begun: u64, ended: u64) -> Write {
        Write {
            key: b"k"[..].into(),
            value: Some(value.unsigned_abs()),
            begun: Nanos::from_millis(begun),
            ended: Nanos::from_millis(ended),
            is_acknowledged: value > 0,
        }
    }

    #[test]
    fn a_write_is_lost_if_the_row_is_from_an_earlier_one() {
        let writes = [write(1, 0, 1), write(2, 2, 3), write(3, 4, 5)];
        let lost = |value| compare_row(&writes, value).lost;
        assert_eq!([lost(Some(3)), lost(Some(2)), lost(Some(1))], [0, 1, 2]);
        assert_eq!([lost(Some(9)), lost(None)], [3, 3], "the row is from before the step");
    }

    #[test]
    fn of_writes_at_the_same_time_either_may_be_the_last() {
        let writes = [write(1, 0, 5), write(2, 2, 3)];
        assert_eq!(compare_row(&writes, Some(1)).lost, 0);
        assert_eq!(compare_row(&writes, Some(2)).lost, 0);
    }

    #[test]
    fn a_failed_write_may_be_applied_at_any_later_time() {
        let writes = [write(-1, 0, 1), write(2, 2, 3)];
        let found = |value| {
            let WriteCheck { lost, applied, failed, .. } = compare_row(&writes, value);
            (lost, applied, failed)
        };
        assert_eq!(found(Some(1)), (0, 1, 1));
        assert_eq!(found(Some(2)), (0, 0, 1));
        assert_eq!(found(None), (1, 0, 1));
    }

    /// A store that acknowledges writes, and forgets those of some rows.
    struct Forgetful<'s>(&'s Mutex<BTreeMap<Vec<u8>, Vec<u8>>>);

    impl Session for Forgetful<'_> {
        fn execute(&mut self, op: &Op<'_>, rows: &mut Rows) -> Result<Outcome, EngineError> {
            let mut store = self.0.lock().expect("no thread has panicked");
            if let Op::Put { key, value } = *op
                && !key.ends_with(b"7")
            {
                store.insert(key.to_vec(), value.to_vec());
            } else if let Op::Delete { key } = *op {
                store.remove(key);
            }
            if let Op::Get { key } = *op
                && let Some(value) = store.get(key)
            {
                rows.push(key, value);
            }
            Ok(Outcome::Done)
        }
    }

    #[test]
    fn a_store_that_forgets_rows_has_lost_their_writes() {
        let (store, log) = (Mutex::default(), WriteLog::default());
        let mut rows = Rows::new();
        let mut session = log.observe(Box::new(Forgetful(&store)));
        for n in 0..200 {
            let key = format!("{:03}", n % 100);
            session.execute_put(key.as_bytes(), &[n; 9], &mut rows).unwrap();
        }
        session.execute(&Op::Delete { key: b"050" }, &mut rows).unwrap();
        drop(session);
        let found = log.compare(&mut Forgetful(&store)).unwrap().unwrap();
        // Ten rows end with 7, and each was written twice.
        let expected = WriteCheck { rows: 100, acknowledged: 201, lost: 20, failed: 0, applied: 0 };
        assert_eq!(found, expected);
        let mut session = log.observe(Box::new(Forgetful(&store)));
        session.execute(&Op::Append { key: b"1", bytes: b"2" }, &mut rows).unwrap();
        drop(session);
        assert_eq!(
            log.compare(&mut Forgetful(&store)).unwrap(),
            None,
            "the row may have any value"
        );
    }

    #[test]
    fn many_writes_are_sampled_by_key() {
        let (store, log) = (Mutex::default(), WriteLog::default());
        let mut rows = Rows::new();
        for session in 0..3_u64 {
            let mut observed = log.observe(Box::new(Forgetful(&store)));
            for n in 0..150_000_u64 {
                let key = (n * 3 + session).to_be_bytes();
                observed.execute_put(&key, b"1", &mut rows).unwrap();
            }
        }
        let found = log.compare(&mut Forgetful(&store)).unwrap().unwrap();
        assert!((ROWS_MAX as u64 / 4..=ROWS_MAX as u64).contains(&found.rows), "{found:?}");
        assert_eq!(found.acknowledged, found.rows, "each row was written once");
        // One of 256 keys ends with the byte of `7`.
        assert!((1..found.rows / 100).contains(&found.lost), "{found:?}");
    }
}
