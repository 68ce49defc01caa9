//! Counts and times of one client in one interval.

use model::OpKind;
use model::operation::Outcome;
use model::record::{FailureClass, OpCounts, SpanningOp};

use super::layout::{BUCKETS, index_of, value_of};

/// Kinds of operation, as a length.
const KINDS: usize = OpKind::ALL.len();

/// One in both halves of a word: a response and a service time of the same bucket.
const BOTH: u64 = RESPONSE | SERVICE;
const SERVICE: u64 = 1;
const RESPONSE: u64 = 1 << 32;

/// The times of one operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// Ended - started.
    pub(crate) service_ns: u64,
    /// Ended - intended: at least the service time.
    pub(crate) response_ns: u64,
}

/// Counts and both histograms of one kind of operation.
///
/// A 64-bit bucket holds its service count in the low half and its response count in the high
/// half: where nothing waited, both times are the same and one addition counts them both.
///
/// The field order matters, as in [`engine::Rows`]: two adjacent sums would be added as one vector.
#[derive(Debug, Clone)]
#[repr(C)]
struct KindTable {
    rows: u64,
    buckets: Box<[u64; BUCKETS]>,
    bytes: u64,
    /// All but `done`, which is the sum of the buckets, rows and bytes.
    counts: OpCounts,
}

impl KindTable {
    fn new() -> Self {
        let buckets = resident(u64::MAX, 0);
        Self { rows: 0, buckets, bytes: 0, counts: OpCounts::default() }
    }

    /// Adds `amount` to the bucket of `value_ns`.
    #[inline(always)]
    fn add(&mut self, value_ns: u64, amount: u64) {
        match self.buckets.get_mut(index_of(value_ns)) {
            Some(word) => *word += amount,
            None => self.add_over_range(amount),
        }
    }

    /// Counts a value beyond the range, 73 min, in the last bucket.
    #[cold]
    fn add_over_range(&mut self, amount: u64) {
        self.buckets[BUCKETS - 1] += amount;
    }
}

/// Returns an empty table whose memory is resident: no page fault later.
fn resident<T: Copy + std::fmt::Debug>(touch: T, zero: T) -> Box<[T; BUCKETS]> {
    // Written, not just allocated: zero pages from the kernel are mapped on first use.
    let mut buckets: Box<[T]> = std::iter::repeat_n(touch, BUCKETS).collect();
    buckets.fill(zero);
    buckets.try_into().expect("it was made with this length")
}

/// Counts and times of one client in one interval, by kind of operation.
///
/// A half word overflows after 2^32 operations of one duration. Tables are emptied once per
/// interval, and an interval is at most a minute: twice what the fastest loop can do.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClientTally {
    tables: [Option<KindTable>; KINDS],
    /// Start lags, in buckets of the same layout.
    lags: Option<Box<[u32; BUCKETS]>>,
    /// The longest operation that began in an earlier interval.
    pub(crate) spanning: Option<SpanningOp>,
}

impl ClientTally {
    /// Returns an empty tally with room for `kinds`.
    pub(crate) fn new(kinds: impl IntoIterator<Item = OpKind>) -> Self {
        let mut tally = Self::default();
        for kind in kinds {
            tally.tables[kind.index()] = Some(KindTable::new());
        }
        tally
    }

    /// Makes room for start lags.
    pub(crate) fn with_lags(mut self) -> Self {
        self.lags = Some(resident(u32::MAX, 0));
        self
    }

    /// Counts a start lag, where there is room for start lags.
    #[inline(always)]
    pub(crate) fn record_lag(&mut self, lag_ns: u64) {
        if let Some(counts) = &mut self.lags {
            counts[index_of(lag_ns).min(BUCKETS - 1)] += 1;
        }
    }

    /// Calls `each` for every start lag that occurred, with how often it did.
    pub(crate) fn for_each_lag(&self, mut each: impl FnMut(u64, u64)) {
        let Some(counts) = &self.lags else { return };
        for (index, count) in counts.iter().enumerate().filter(|(_, count)| **count != 0) {
            each(value_of(index), u64::from(*count));
        }
    }

    /// Counts an operation that did not fail.
    ///
    /// On the hot path: no allocation, but for the first operation of an unannounced kind.
    #[inline(always)]
    pub(crate) fn record(
        &mut self,
        kind: OpKind,
        outcome: Outcome,
        times: Times,
        (rows, bytes): (u64, u64),
    ) {
        let table = self.table(kind);
        if matches!(outcome, Outcome::NotFound) {
            table.counts.not_found += 1;
        }
        table.rows += rows;
        table.bytes += bytes;
        if times.service_ns == times.response_ns {
            table.add(times.service_ns, BOTH);
        } else {
            table.add(times.service_ns, SERVICE);
            table.add(times.response_ns, RESPONSE);
        }
    }

    /// Counts an operation that failed: in no histogram, never as done.
    #[cold]
    pub(crate) fn record_failure(&mut self, kind: OpKind, class: FailureClass) {
        let counts = &mut self.table(kind).counts;
        counts.failed += 1;
        counts.failures.add(class);
    }

    /// Counts an operation done in the place of failed ones, next to [`Self::record`].
    #[cold]
    pub(crate) fn record_replacing(&mut self, kind: OpKind) {
        self.table(kind).counts.replacing += 1;
    }

    /// Notes an operation that began in an earlier interval; the longest stays.
    pub(crate) fn note_spanning(&mut self, op: SpanningOp) {
        if self.spanning.is_none_or(|longest| op.response_ns > longest.response_ns) {
            self.spanning = Some(op);
        }
    }

    /// Counts answers that were checked and found right.
    pub(crate) fn record_verified(&mut self, kind: OpKind, values: u64) {
        self.table(kind).counts.verified += values;
    }

    /// Calls `each` for every kind that occurred: its counts, and its buckets that are not empty
    /// as (lowest value, service count, response count).
    pub(crate) fn for_each(
        &self,
        mut each: impl FnMut(OpKind, &OpCounts, &mut dyn Iterator<Item = (u64, u64, u64)>),
    ) {
        for kind in OpKind::ALL {
            let Some(table) = &self.tables[kind.index()] else { continue };
            let filled = table.buckets.iter().enumerate().filter(|(_, word)| **word != 0);
            let buckets = filled.map(|(index, word)| {
                (value_of(index), word & u64::from(u32::MAX), word >> RESPONSE.trailing_zeros())
            });
            // The hot path counts an operation that was done in its bucket, and nowhere else.
            let done = buckets.clone().map(|(_, service, _)| service).sum();
            let counts = OpCounts { done, rows: table.rows, bytes: table.bytes, ..table.counts };
            if counts != OpCounts::default() {
                each(kind, &counts, &mut { buckets });
            }
        }
    }

    /// Empties the tally; its memory stays.
    pub(crate) fn clear(&mut self) {
        self.spanning = None;
        for table in self.tables.iter_mut().flatten() {
            (table.rows, table.bytes) = (0, 0);
            table.counts = OpCounts::default();
            table.buckets.fill(0);
        }
        if let Some(counts) = &mut self.lags {
            counts.fill(0);
        }
    }

    #[inline(always)]
    fn table(&mut self, kind: OpKind) -> &mut KindTable {
        self.tables[kind.index()].get_or_insert_with(first_of_its_kind)
    }
}

/// Allocates the table of a kind of operation that was not announced.
#[cold]
#[inline(never)]
fn first_of_its_kind() -> KindTable {
    KindTable::new()
}
