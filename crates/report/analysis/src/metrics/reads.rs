//! Reads: storage requests and blocks per row, memory that answers them.

use model::record::OpCounts;
use model::sql::Application;
use model::{DataShape, OpKind, Readings, StepRecord, float, metric};

use super::io::of_store;
use super::operations::{counts, ratio};

/// Distribution under which every row is as likely to be read as any other.
const UNIFORM: &str = "uniform";

/// Sets storage requests per row, of the steps that only read points and that only read ranges.
///
/// Requests are those of the device, or of the server. What other processes read from the device
/// and what the engine reads in the background count too: the counter does not separate them.
///
/// Source: our choice: the RUM conjecture's read overhead [Athanassoulis 2016], in requests as
/// those are what a device is short of; per row, so that ranges of any length compare.
pub(super) fn set(steps: &[StepRecord], metrics: &mut Readings) {
    let of_points = Reads::of(steps, keys).per_row(storage_reads);
    metrics.set(metric::STORAGE_READS_PER_POINT_READ, of_points);
    let of_ranges = Reads::of(steps, range_rows).per_row(storage_reads);
    metrics.set(metric::STORAGE_READS_PER_RANGE_ROW, of_ranges);
}

/// Adds the memory held per byte of rows whose point reads needed no storage.
///
/// M / (h x live bytes): M is the memory charged to the control group of the server or the run at
/// the end, page cache included, the largest of several steps; h = 1 - storage requests per read.
/// A read that needs storage makes one request at least, so h is the smallest share of the rows
/// that M can hold, and the quotient the largest. Of steps that only read points, uniformly, and
/// find each row: only then is a share of the reads a share of the bytes. Absent where every read
/// may have needed storage, and for applications, whose statements draw keys of their own.
///
/// Source: our choice. Cache amplification is the memory with which a point read needs one storage
/// read at most [Callaghan 2022-09-28]; that memory is not searched for, so the memory in use is
/// charged for what it answers. Bytes of index blocks per byte of rows in a cache would flatter an
/// engine whose index does not fit.
pub(crate) fn with_cache_amplification(
    mut metrics: Readings,
    steps: &[StepRecord],
    data: &DataShape,
    application: Option<&Application>,
) -> Readings {
    let is_uniform = |step: &StepRecord| step.step.distribution == UNIFORM && missing(step) == 0;
    let reads = Reads::of(steps, |step| keys(step).filter(|_| is_uniform(step)));
    let requests = reads.per_row(storage_reads).filter(|_| application.is_none());
    let answered = requests.map(|requests| (1.0 - requests) * float(data.live_bytes()));
    metrics.set(metric::CACHE_AMPLIFICATION, ratio(reads.memory_bytes(), answered));
    metrics
}

/// Returns block or page lookups per point read or range read.
///
/// A read of several keys counts as that many. Only of steps that do nothing but read: in a B-tree
/// writes do lookups too, and the engine's counter does not separate them.
///
/// Source: [RocksDB Tuning Guide, "Amplification factors"], there in reads of storage; here cache
/// hits count as well, so that the cache's size is left out.
pub(super) fn read_amplification(step: &StepRecord) -> Option<f64> {
    let reads = rows(step, |kind, counts| {
        keys_of(step, kind, counts).or_else(|| (kind == OpKind::Scan).then_some(counts.done))
    });
    ratio(lookups(&step.counters), reads.map(float))
}

/// Returns block or page lookups per point read, of the steps that only read points.
///
/// Source: as [`read_amplification`].
pub(super) fn lookups_per_point_read(steps: &[StepRecord]) -> Option<f64> {
    Reads::of(steps, keys).per_row(lookups)
}

/// Steps that only read, and the rows they read.
struct Reads<'a> {
    steps: Vec<&'a StepRecord>,
    rows: f64,
}

impl<'a> Reads<'a> {
    /// Returns the steps that `rows` knows, with their rows.
    fn of(steps: &'a [StepRecord], rows: impl Fn(&StepRecord) -> Option<u64>) -> Self {
        let known = steps.iter().filter_map(|step| Some((step, float(rows(step)?))));
        let (steps, rows): (Vec<_>, Vec<f64>) = known.unzip();
        Self { steps, rows: rows.iter().sum() }
    }

    /// Returns the total of `counter` per row; `None` where a step lacks it, and without rows.
    fn per_row(&self, counter: impl Fn(&Readings) -> Option<f64>) -> Option<f64> {
        let total = self.steps.iter().map(|step| counter(&step.counters)).sum();
        ratio(total, Some(self.rows))
    }

    /// Returns the largest memory held at the end of a step; `None` where one is not known.
    fn memory_bytes(&self) -> Option<f64> {
        let memory = |step: &&StepRecord| {
            let is_served = step.counters.has_server();
            let [of_server, of_run] = [metric::SERVER_MEMORY_BYTES, metric::CGROUP_MEMORY_BYTES];
            step.gauges_end.value(if is_served { of_server } else { of_run })
        };
        let known = self.steps.iter().map(memory).collect::<Option<Vec<f64>>>()?;
        known.into_iter().reduce(f64::max)
    }
}

/// Returns the keys that a step requested; `None` unless it only reads points and finds some.
///
/// Filters answer what is missing without storage: such a step is no measure of rows.
fn keys(step: &StepRecord) -> Option<u64> {
    rows(step, |kind, counts| keys_of(step, kind, counts)).filter(|keys| missing(step) < *keys)
}

/// Returns the rows that a step's ranges returned; `None` unless it only reads ranges.
fn range_rows(step: &StepRecord) -> Option<u64> {
    let is_range = |kind| matches!(kind, OpKind::Scan | OpKind::ScanSequence);
    rows(step, |kind, counts| is_range(kind).then_some(counts.rows))
}

/// Returns the keys that operations of one kind requested; `None` unless they read points.
fn keys_of(step: &StepRecord, kind: OpKind, counts: &OpCounts) -> Option<u64> {
    match kind {
        OpKind::Get | OpKind::FieldRead => Some(counts.done),
        OpKind::MultiGet => Some(counts.done.saturating_mul(u64::from(step.step.batch_keys))),
        OpKind::Put
        | OpKind::Delete
        | OpKind::Scan
        | OpKind::Insert
        | OpKind::Transaction
        | OpKind::Define
        | OpKind::PartialUpdate
        | OpKind::Append
        | OpKind::ScanSequence => None,
    }
}

/// Returns the sum of `of` over what was done; `None` where a kind has none, and for no rows.
fn rows(step: &StepRecord, of: impl Fn(OpKind, &OpCounts) -> Option<u64>) -> Option<u64> {
    let mut done = counts(step).filter(|(_, counts)| counts.done > 0);
    let sum =
        done.try_fold(0_u64, |sum, (kind, counts)| Some(sum.saturating_add(of(kind, counts)?)));
    sum.filter(|rows| *rows > 0)
}

/// Returns the reads that found nothing.
fn missing(step: &StepRecord) -> u64 {
    counts(step).map(|(_, counts)| counts.not_found).fold(0, u64::saturating_add)
}

/// Returns the read requests of the server, or to the device.
fn storage_reads(counters: &Readings) -> Option<f64> {
    of_store(counters, metric::SERVER_READS, metric::DEVICE_READS)
}

fn lookups(counters: &Readings) -> Option<f64> {
    counters.value(metric::ENGINE_BLOCK_LOOKUPS)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "quotients of small whole numbers are exact")]
mod tests {
    use model::{Metric, RunRecord};

    use super::*;
    use crate::testing::{DATA, application, load, put, readings, run, step, summary};
    use crate::{run_metrics, step_metrics};

    /// 10,000 point reads with so many requests to the device.
    fn points(requests: f64) -> StepRecord {
        let counters = readings(&[(metric::DEVICE_READS, requests)]);
        let gauges_end = readings(&[(metric::CGROUP_MEMORY_BYTES, 80_000.0)]);
        StepRecord { counters, gauges_end, ..step(0, "readrandom") }
    }

    /// 1,000 ranges of 10 rows with so many requests to the device.
    fn ranges(requests: f64) -> StepRecord {
        StepRecord { clients: [(OpKind::Scan, summary(1_000, 10_000))].into(), ..points(requests) }
    }

    fn of_run(steps: Vec<StepRecord>) -> Readings {
        run_metrics(&RunRecord { steps, ..run("a", 1, 1) }, &DATA)
    }

    fn cache(steps: &[StepRecord]) -> Option<f64> {
        let metrics = with_cache_amplification(Readings::new(), steps, &DATA, None);
        metrics.value(metric::CACHE_AMPLIFICATION)
    }

    #[test]
    fn read_amplification_counts_block_lookups() {
        let mut step = step(0, "readrandom");
        assert!(!step_metrics(&step, &DATA).has(metric::READ_AMPLIFICATION));
        step.counters = readings(&[(metric::ENGINE_BLOCK_LOOKUPS, 30_000.0)]);
        assert_eq!(step_metrics(&step, &DATA)[metric::READ_AMPLIFICATION], 3.0);
        step.clients = [(OpKind::MultiGet, summary(1_000, 10_000))].into();
        assert_eq!(step_metrics(&step, &DATA)[metric::READ_AMPLIFICATION], 3.0);
        step.writers = [put(5)].into();
        assert!(!step_metrics(&step, &DATA).has(metric::READ_AMPLIFICATION));
    }

    /// Goal: a run's reads are its point reads and its ranges, each apart, and nothing of its
    /// writes. Method: two steps of points, one of ranges, one that reads and writes, a settle.
    #[test]
    fn run_has_the_requests_of_its_point_reads_and_of_its_ranges() {
        let mut mixed = points(77.0);
        mixed.writers = [put(5)].into();
        let mut settle = points(99.0);
        settle.clients.clear();
        let steps = vec![load(&[]), points(2_000.0), ranges(500.0), mixed, settle, points(6_000.0)];
        let metrics = of_run(steps);
        assert_eq!(metrics[metric::STORAGE_READS_PER_POINT_READ], 0.4);
        assert_eq!(metrics[metric::STORAGE_READS_PER_RANGE_ROW], 0.05);
        assert!(!metrics.has(metric::READ_AMPLIFICATION));
        let mut counted = [points(0.0), ranges(0.0)];
        for (step, lookups) in counted.iter_mut().zip([40_000.0, 90_000.0]) {
            step.counters.set(metric::ENGINE_BLOCK_LOOKUPS, lookups);
        }
        assert_eq!(of_run(counted.into())[metric::READ_AMPLIFICATION], 4.0, "points only");
        let one = step_metrics(&ranges(500.0), &DATA);
        assert_eq!(one[metric::STORAGE_READS_PER_RANGE_ROW], 0.05);
        assert!(!one.has(metric::STORAGE_READS_PER_POINT_READ));
    }

    #[test]
    fn requests_are_the_servers_where_there_is_one() {
        let mut served = points(5_000.0);
        served.counters.set(metric::ENGINE_COMMITS, 1.0);
        let per_read = |step: &StepRecord| {
            step_metrics(step, &DATA).value(metric::STORAGE_READS_PER_POINT_READ)
        };
        assert_eq!(per_read(&served), None, "the device is the client's");
        served.counters.set(metric::SERVER_READS, 1_000.0);
        assert_eq!(per_read(&served), Some(0.1));
        served.gauges_end.set(metric::SERVER_MEMORY_BYTES, 45_000.0);
        assert_eq!(cache(&[served]), Some(0.5), "of the server's memory");
    }

    /// Goal: memory is charged for the reads it answers. Method: 80,000 bytes of memory and
    /// 100,000 bytes of rows.
    #[test]
    fn cache_amplification_is_memory_per_byte_answered_from_it() {
        assert_eq!(cache(&[points(0.0)]), Some(0.8), "all rows");
        assert_eq!(cache(&[points(5_000.0)]), Some(1.6), "half of them");
        // An engine whose index was evicted reads storage more often: its figure is worse.
        assert_eq!(cache(&[points(7_500.0)]), Some(3.2));
        assert_eq!(cache(&[points(10_000.0)]), None, "perhaps none");
        assert_eq!(cache(&[points(23_000.0)]), None);
        assert_eq!(cache(&[points(2_500.0), points(7_500.0)]), Some(1.6), "of both");
    }

    #[test]
    fn cache_amplification_needs_uniform_reads_of_present_rows_and_known_memory() {
        let changed = |change: &dyn Fn(&mut StepRecord)| {
            let mut step = points(0.0);
            change(&mut step);
            cache(&[step])
        };
        assert_eq!(changed(&|step| step.step.distribution = "zipf:0.99".to_owned()), None);
        let missing = |step: &mut StepRecord, count: u64| {
            step.clients.values_mut().for_each(|summary| summary.counts.not_found = count);
        };
        assert_eq!(changed(&|step| missing(step, 1)), None);
        let mut absent = points(10.0);
        missing(&mut absent, 10_000);
        let metrics = step_metrics(&absent, &DATA);
        assert!(!metrics.has(metric::STORAGE_READS_PER_POINT_READ), "filters answered them");
        assert_eq!(changed(&|step| step.gauges_end = Readings::new()), None);
        assert_eq!(changed(&|step| step.counters = Readings::new()), None);
        assert_eq!(changed(&|step| step.writers = [put(5)].into()), None);
        assert_eq!(cache(&[ranges(0.0)]), None);
        let (steps, application) = ([points(0.0)], application("readrandom", 1.0));
        let metrics = with_cache_amplification(Readings::new(), &steps, &DATA, Some(&application));
        assert_eq!(metrics, Readings::new());
    }

    #[test]
    fn cache_has_its_bytes_per_entry() {
        let with = |gauges: &[(Metric, f64)]| {
            let step = StepRecord { gauges_end: readings(gauges), ..step(0, "readrandom") };
            step_metrics(&step, &DATA).value(metric::CACHE_BYTES_PER_ENTRY)
        };
        let bytes = (metric::ENGINE_CACHE_BYTES, 8_192.0);
        assert_eq!(with(&[bytes, (metric::ENGINE_CACHE_ENTRIES, 2.0)]), Some(4_096.0));
        assert_eq!(with(&[bytes, (metric::ENGINE_CACHE_ENTRIES, 0.0)]), None);
        assert_eq!(with(&[bytes]), None);
    }
}
