//! Where a session puts the rows it read.

/// Rows of one answer: always counted, kept only when asked for.
///
/// Drivers call [`Rows::push`] for every row. A kept answer is copied into one buffer that is
/// reused, so the hot path allocates nothing once it has grown.
#[derive(Debug, Default)]
pub struct Rows {
    is_keeping: bool,
    count: u64,
    bytes: u64,
    touched: u8,
    buffer: Vec<u8>,
    ends: Vec<(usize, usize)>,
}

impl Rows {
    /// Returns an empty answer that counts and does not keep.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Empties the answer and says whether the next one is to be kept for checking.
    #[inline]
    pub fn clear(&mut self, is_keeping: bool) {
        self.is_keeping = is_keeping;
        self.count = 0;
        self.bytes = 0;
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
        let mut at = 0;
        while at < value.len() {
            self.touched ^= value[at];
            at += 4096;
        }
        if self.is_keeping {
            self.keep(key, value);
        }
    }

    /// Returns how many rows came back.
    #[must_use]
    #[inline]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Returns the bytes of keys and values that came back.
    #[must_use]
    #[inline]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns a digest of the touched bytes, so the reads cannot be optimised away.
    #[must_use]
    pub const fn touched(&self) -> u8 {
        self.touched
    }

    /// Iterates over the kept rows in order; empty unless the answer was kept.
    pub fn kept(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut start = 0;
        self.ends.iter().map(move |&(key_end, value_end)| {
            let row = (&self.buffer[start..key_end], &self.buffer[key_end..value_end]);
            start = value_end;
            row
        })
    }

    #[cold]
    fn keep(&mut self, key: &[u8], value: &[u8]) {
        self.buffer.extend_from_slice(key);
        let key_end = self.buffer.len();
        self.buffer.extend_from_slice(value);
        self.ends.push((key_end, self.buffer.len()));
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::{Strategy, any, prop_assert_eq, proptest};

    use super::*;

    #[test]
    fn rows_are_counted_always_and_kept_when_asked() {
        let mut rows = Rows::new();
        rows.clear(true);
        rows.push(b"k1", b"value");
        rows.push(b"k2", b"");
        assert_eq!((rows.count(), rows.bytes()), (2, 9));
        let kept: Vec<_> = rows.kept().collect();
        assert_eq!(kept, [(&b"k1"[..], &b"value"[..]), (&b"k2"[..], &b""[..])]);
        rows.clear(false);
        rows.push(b"k", b"v");
        assert_eq!((rows.count(), rows.kept().count()), (1, 0));
    }

    proptest! {
        #[test]
        fn kept_rows_are_the_rows_pushed(answers in vec(vec((bytes(), bytes()), 0..9), 1..4)) {
            let mut rows = Rows::new();
            for pushed in &answers {
                rows.clear(true);
                pushed.iter().for_each(|(key, value)| rows.push(key, value));
                let kept: Vec<_> =
                    rows.kept().map(|(key, value)| (key.to_vec(), value.to_vec())).collect();
                prop_assert_eq!(&kept, pushed);
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
