//! Counts and times of one client in one interval.

use std::mem;

use model::OpKind;
use model::operation::Outcome;
use model::record::{FailureClass, OpCounts};

use super::layout::{LINEAR, index_of};
use super::ranges::Ranges;
use super::sum::{GroupSum, KindSum};

/// Kinds of operation, as a length.
const KINDS: usize = OpKind::ALL.len();

/// The times of one operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// Ended - started.
    pub(crate) service_ns: u64,
    /// Ended - intended: at least the service time.
    pub(crate) response_ns: u64,
}

/// What one operation returned or wrote.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Volume {
    pub(crate) rows: u64,
    /// Bytes of keys and values.
    pub(crate) bytes: u64,
}

/// Counters of one client's times, in the common layout.
///
/// The first two microseconds are always resident, so that the hot path is one addition without a
/// page fault; an operation that takes longer can afford a few instructions more. So a client
/// takes some tens of kB: hundreds of tables of the whole layout are larger than some engines, to
/// which their memory would be charged.
///
/// A counter overflows after 2^32 operations of one duration. They are emptied once per interval,
/// and an interval is at most a minute: more than the fastest loop can do.
struct Counters {
    /// By nanosecond.
    linear: Box<[u32; LINEAR]>,
    above: Ranges<u32>,
}

impl Counters {
    fn new() -> Self {
        // Written, not just allocated: zero pages from the kernel are mapped on first use.
        let mut linear: Box<[u32]> = std::iter::repeat_n(u32::MAX, LINEAR).collect();
        linear.fill(0);
        let linear = linear.try_into().expect("it was made with this length");
        Self { linear, above: Ranges::default() }
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "on a 64-bit machine")]
    fn add(&mut self, value_ns: u64) {
        match self.linear.get_mut(value_ns as usize) {
            Some(count) => *count += 1,
            None => self.add_above(value_ns),
        }
    }

    /// Counts a value above the linear buckets, apart from the hot loop.
    #[cold]
    #[inline(never)]
    fn add_above(&mut self, value_ns: u64) {
        self.above.add(index_of(value_ns), 1);
    }

    /// Empties every bucket, after a call of `each` for those that are not empty.
    fn take(&mut self, mut each: impl FnMut(usize, u64)) {
        for (index, count) in self.linear.iter_mut().enumerate().filter(|(_, count)| **count != 0) {
            each(index, mem::take(count).into());
        }
        self.above.take(|index, count| each(index, count.into()));
    }

    fn bytes(&self) -> u64 {
        size_of_val(&*self.linear) as u64 + self.above.bytes()
    }
}

/// Counts and times of one kind of operation.
///
/// Where nothing waited, both times are the same, and one addition counts them both.
///
/// The field order matters, as in [`engine::Rows`]: two adjacent sums would be added as one vector.
#[repr(C)]
struct KindTable {
    rows: u64,
    /// Of the operations whose two times are the same.
    both: Counters,
    bytes: u64,
    /// All but `done`, which is the sum of the buckets, rows and bytes.
    counts: OpCounts,
    /// Of the others; `None` in a closed loop.
    apart: Option<Box<Apart>>,
}

/// Times of operations whose two times differ.
struct Apart {
    service: Counters,
    response: Counters,
}

impl Apart {
    #[cold]
    #[inline(never)]
    fn new() -> Box<Self> {
        Box::new(Self { service: Counters::new(), response: Counters::new() })
    }
}

impl KindTable {
    fn new() -> Self {
        let both = Counters::new();
        Self { rows: 0, both, bytes: 0, counts: OpCounts::default(), apart: None }
    }

    /// Returns the times that differ, allocated if need be.
    #[inline(always)]
    fn apart(&mut self) -> &mut Apart {
        self.apart.get_or_insert_with(Apart::new)
    }

    /// Moves everything counted to a sum.
    fn move_to(&mut self, sum: &mut KindSum) {
        // The hot path counts an operation that was done in its bucket, and nowhere else.
        let mut done = 0;
        let KindSum { counts, service, response } = sum;
        self.both.take(|index, count| {
            done += count;
            service.add(index, count);
            response.add(index, count);
        });
        if let Some(apart) = &mut self.apart {
            apart.service.take(|index, count| {
                done += count;
                service.add(index, count);
            });
            apart.response.take(|index, count| response.add(index, count));
        }
        let (rows, bytes) = (mem::take(&mut self.rows), mem::take(&mut self.bytes));
        counts.merge(&OpCounts { done, rows, bytes, ..mem::take(&mut self.counts) });
    }

    fn bytes(&self) -> u64 {
        let apart = self.apart.as_deref();
        let apart = apart.map_or(0, |apart| apart.service.bytes() + apart.response.bytes());
        self.both.bytes() + apart
    }
}

/// Counts and times of one client in one interval, by kind of operation.
#[derive(Default)]
pub(crate) struct ClientTally {
    tables: [Option<KindTable>; KINDS],
    /// Start lags, in buckets of the same layout.
    lags: Option<Counters>,
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

    /// Makes room for the start lags of an open loop, and for times that differ.
    pub(crate) fn with_lags(mut self) -> Self {
        self.lags = Some(Counters::new());
        for table in self.tables.iter_mut().flatten() {
            table.apart();
        }
        self
    }

    /// Counts a start lag, where there is room for start lags.
    #[inline(always)]
    pub(crate) fn record_lag(&mut self, lag_ns: u64) {
        if let Some(lags) = &mut self.lags {
            lags.add(lag_ns);
        }
    }

    /// Counts an operation that did not fail.
    ///
    /// On the hot path: no allocation, but for the first operation of an unannounced kind or of a
    /// range of times.
    #[inline(always)]
    pub(crate) fn record(&mut self, kind: OpKind, outcome: Outcome, times: Times, volume: Volume) {
        let table = self.table(kind);
        if matches!(outcome, Outcome::NotFound) {
            table.counts.not_found += 1;
        }
        table.rows += volume.rows;
        table.bytes += volume.bytes;
        if times.service_ns == times.response_ns {
            table.both.add(times.service_ns);
        } else {
            let apart = table.apart();
            apart.service.add(times.service_ns);
            apart.response.add(times.response_ns);
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

    /// Counts answers that were checked and found right.
    pub(crate) fn record_verified(&mut self, kind: OpKind, values: u64) {
        self.table(kind).counts.verified += values;
    }

    /// Moves everything counted to a sum; allocates nothing but what the sum needs.
    pub(crate) fn move_to(&mut self, sum: &mut GroupSum) {
        for (kind, table) in OpKind::ALL.into_iter().zip(&mut self.tables) {
            if let Some(table) = table {
                table.move_to(sum.kinds.entry(kind).or_default());
            }
        }
        if let Some(lags) = &mut self.lags {
            lags.take(|index, count| sum.start_lag.add(index, count));
        }
    }

    /// Returns the bytes that the tally takes.
    pub(crate) fn bytes(&self) -> u64 {
        let tables = self.tables.iter().flatten().map(KindTable::bytes).sum::<u64>();
        tables + self.lags.as_ref().map_or(0, Counters::bytes)
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
