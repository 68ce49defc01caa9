//! The result buffer a session reads rows into.

use model::Outcome;

use crate::statement_times::StatementTimes;

/// One byte of this many of a value is read: the smallest page size.
const TOUCH_EVERY: usize = 4096;

/// Rows of one answer: always counted, stored on request.
///
/// Drivers call [`Rows::push`] for every row. A stored answer is copied into one buffer that is
/// reused, so the hot path allocates nothing once it has grown.
///
/// The field order matters: two adjacent sums would be added as one vector, which takes twice the
/// instructions.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Rows {
    count: u64,
    buffer: Vec<u8>,
    bytes: u64,
    ends: Vec<(usize, usize)>,
    is_storing: bool,
    touched: u8,
    /// The value that a change of a part of it reads and writes.
    scratch: Vec<u8>,
    /// Times of the statements of calls; `None` while they are not timed.
    statement_times: Option<Box<StatementTimes>>,
}

impl Rows {
    /// Returns an empty answer that only counts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Empties the answer; `is_storing` stores the next one for checking.
    #[inline]
    pub fn clear(&mut self, is_storing: bool) {
        self.count = 0;
        self.bytes = 0;
        if self.is_storing || is_storing {
            self.clear_stored(is_storing);
        }
    }

    /// Empties an answer that was not stored: two instructions fewer than [`Rows::clear`].
    #[inline]
    pub fn restart(&mut self) {
        debug_assert!(!self.is_storing, "the stored rows stay");
        self.count = 0;
        self.bytes = 0;
    }

    #[cold]
    fn clear_stored(&mut self, is_storing: bool) {
        self.is_storing = is_storing;
        self.buffer.clear();
        self.ends.clear();
    }

    /// Adds one row.
    ///
    /// One byte of every 4 KiB of the value is read, so an engine that hands out mapped memory
    /// pays for its page faults inside the operation like one that copies.
    #[inline]
    pub fn push(&mut self, key: &[u8], value: &[u8]) {
        self.count += 1;
        self.bytes += (key.len() + value.len()) as u64;
        self.touched ^= touch(value);
        if self.is_storing {
            self.store(key, value);
        }
    }

    /// Adds so many rows that were counted on their own; none is to be stored.
    #[inline]
    pub fn push_counted(&mut self, count: u32, counted: CountedRows) {
        self.count += u64::from(count);
        self.bytes += counted.bytes;
        self.touched ^= counted.touched;
    }

    /// Adds rows that were written, not returned.
    #[inline]
    pub fn wrote(&mut self, count: u64, bytes: u64) {
        self.count += count;
        self.bytes += bytes;
    }

    /// Returns whether rows are stored.
    ///
    /// A driver may skip work that only a stored row needs.
    #[inline]
    pub const fn is_storing(&self) -> bool {
        self.is_storing
    }

    /// Returns how many rows came back.
    #[inline]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Returns the outcome of a read: found or not.
    #[inline]
    pub const fn outcome(&self) -> Outcome {
        if self.count == 0 { Outcome::NotFound } else { Outcome::Done }
    }

    /// Returns the bytes of keys and values that came back.
    #[inline]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Replaces what times the statements of calls; `None` times none.
    #[inline]
    pub fn replace_statement_times(
        &mut self,
        times: Option<Box<StatementTimes>>,
    ) -> Option<Box<StatementTimes>> {
        std::mem::replace(&mut self.statement_times, times)
    }

    /// Begins the statements of a call, or of another attempt at it.
    #[inline]
    pub fn begin_statements(&mut self) {
        if let Some(times) = &mut self.statement_times {
            times.begin();
        }
    }

    /// Ends a statement of the call by its number; the next one begins.
    #[inline]
    pub fn end_statement(&mut self, number: u32) {
        if let Some(times) = &mut self.statement_times {
            times.end(number);
        }
    }

    /// Returns a digest of the touched bytes.
    ///
    /// It prevents the compiler from removing the reads.
    pub const fn touched(&self) -> u8 {
        self.touched
    }

    /// Iterates over the stored rows, in order.
    pub fn stored(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut start = 0;
        self.ends.iter().map(move |&(key_end, value_end)| {
            let row = (&self.buffer[start..key_end], &self.buffer[key_end..value_end]);
            start = value_end;
            row
        })
    }

    /// Returns copies of the stored rows, in order.
    pub(crate) fn owned(&self) -> Vec<OwnedRow> {
        self.stored().map(|(key, value)| (key.to_vec(), value.to_vec())).collect()
    }

    /// Takes the value of the only stored row; `None` without one.
    ///
    /// [`Rows::put_back`] makes its memory available again.
    pub(crate) fn take_stored(&mut self) -> Option<StoredValue> {
        let (start, _) = *self.ends.first()?;
        std::mem::swap(&mut self.buffer, &mut self.scratch);
        Some(StoredValue { bytes: std::mem::take(&mut self.scratch), start })
    }

    /// Returns the memory that [`Rows::take_stored`] has taken.
    pub(crate) fn put_back(&mut self, value: StoredValue) {
        self.scratch = value.bytes;
    }

    #[cold]
    fn store(&mut self, key: &[u8], value: &[u8]) {
        self.buffer.extend_from_slice(key);
        let key_end = self.buffer.len();
        self.buffer.extend_from_slice(value);
        self.ends.push((key_end, self.buffer.len()));
    }
}

/// Key and value of one row.
pub(crate) type OwnedRow = (Vec<u8>, Vec<u8>);

/// A stored row, taken out of an answer.
pub(crate) struct StoredValue {
    /// Key and value.
    pub(crate) bytes: Vec<u8>,
    /// Where the value starts.
    pub(crate) start: usize,
}

/// Bytes of rows, added and touched as by [`Rows::push`], in registers.
///
/// For loops over many rows, whose number the loop knows: each costs half the instructions of one
/// that may be stored.
#[derive(Debug, Clone, Copy, Default)]
pub struct CountedRows {
    bytes: u64,
    touched: u8,
}

impl CountedRows {
    /// Counts one row.
    #[inline]
    pub fn push(&mut self, key: &[u8], value: &[u8]) {
        self.bytes += (key.len() + value.len()) as u64;
        self.touched ^= touch(value);
    }
}

/// Reads one byte of every page of a value.
#[inline]
fn touch(value: &[u8]) -> u8 {
    match value.first() {
        Some(first) if value.len() <= TOUCH_EVERY => *first,
        _ => touch_pages(value),
    }
}

#[cold]
fn touch_pages(value: &[u8]) -> u8 {
    value.iter().step_by(TOUCH_EVERY).fold(0, |touched, byte| touched ^ byte)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::{Strategy, any, prop_assert_eq, proptest};

    use super::*;

    #[test]
    fn rows_are_always_counted_and_stored_on_request() {
        let mut rows = Rows::new();
        rows.clear(true);
        rows.push(b"k1", b"value");
        rows.push(b"k2", b"");
        assert_eq!((rows.count(), rows.bytes()), (2, 9));
        let stored: Vec<_> = rows.stored().collect();
        assert_eq!(stored, [(&b"k1"[..], &b"value"[..]), (&b"k2"[..], &b""[..])]);
        rows.clear(false);
        rows.push(b"k", b"v");
        assert_eq!((rows.count(), rows.stored().count()), (1, 0));
    }

    #[test]
    fn one_byte_of_every_4_kib_is_read() {
        let mut value = vec![0; 4096 * 3 + 1];
        for (first, byte) in value.iter_mut().step_by(4096).zip([1, 2, 4, 8]) {
            *first = byte;
        }
        for (bytes, digest) in [(0, 0), (1, 1), (4096, 1), (4097, 3), (8193, 7), (12_289, 15)] {
            let mut rows = Rows::new();
            rows.push(b"k", &value[..bytes]);
            assert_eq!(rows.touched(), digest, "{bytes} bytes");
            let mut counted = CountedRows::default();
            counted.push(b"k", &value[..bytes]);
            let mut other = Rows::new();
            other.push_counted(1, counted);
            let sums = |rows: &Rows| (rows.count(), rows.bytes(), rows.touched());
            assert_eq!(sums(&other), sums(&rows), "{bytes} bytes");
        }
    }

    proptest! {
        #[test]
        fn stored_rows_are_the_rows_pushed(answers in vec(vec((bytes(), bytes()), 0..9), 1..4)) {
            let mut rows = Rows::new();
            for pushed in &answers {
                rows.clear(true);
                pushed.iter().for_each(|(key, value)| rows.push(key, value));
                let stored: Vec<_> =
                    rows.stored().map(|(key, value)| (key.to_vec(), value.to_vec())).collect();
                prop_assert_eq!(&stored, pushed);
                let sum: usize = pushed.iter().map(|(key, value)| key.len() + value.len()).sum();
                prop_assert_eq!(rows.bytes(), sum as u64);
                prop_assert_eq!(rows.count(), pushed.len() as u64);
            }
        }
    }

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        vec(any::<u8>(), 0..200)
    }
}
