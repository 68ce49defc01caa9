//! Figures of a storage profile: medians, requests issued, saturation.

use model::{
    Access, DeviceCell, DeviceRecord, DeviceTarget, IoPattern, IoSample, IoTest, IoTotals,
};
use serde::Serialize;
use stats::{Design, Effect, Interval, Spread, classify_difference, median};

/// Differences between profiles that matter: runs of seconds repeat to a few percent.
const MARGIN: f64 = 0.05;

/// CoV of a run to assume where there is a single one, as a share.
const NOISE: f64 = 0.05;

/// Share of the highest throughput from which more jobs bring nothing.
///
/// Our choice: less than the run-to-run noise of most devices.
const SATURATED: f64 = 0.95;

/// Share of never-written places above which results are bogus.
///
/// Our choice: written data has a few blocks of zeros too.
const NEVER_WRITTEN_MAX: f64 = 0.01;

/// The figures of one cell: medians of its runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DeviceFigure {
    /// How the storage was accessed.
    pub access: Access,
    /// The requests.
    pub test: IoTest,
    /// Jobs at once.
    pub jobs: u32,
    /// Runs with a result.
    pub runs: u32,
    /// Requests per second, of both directions; syncs of the test that syncs.
    pub per_s: f64,
    /// Its interval of 95 %; with fewer than 6 runs the range, `None` with a single one.
    pub per_s_interval: Option<Interval>,
    /// Mean response time of the test's own requests: of reads where reads and writes are mixed.
    pub mean_ns: f64,
    /// Median response time.
    pub p50_ns: f64,
    /// 99th percentile of the response time.
    pub p99_ns: f64,
    /// Mean time of an issued request in the block layer and the device, in nanoseconds.
    ///
    /// Of reads, writes or flushes, as the test's own requests; `None` without counters.
    pub await_ns: Option<f64>,
    /// Requests of the test's direction that the block layer issued per request of fio.
    pub issued_per_request: Option<f64>,
    /// Mean size of an issued request, in bytes.
    pub issued_bytes: Option<f64>,
    /// Whether too much of what was read was never written.
    pub is_bogus: bool,
    /// Ratio of throughputs to the earlier profile.
    pub versus_earlier: Option<Effect>,
}

/// Number of jobs from which throughput grows no more.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Saturation {
    /// How the storage was accessed.
    pub access: Access,
    /// The requests.
    pub test: IoTest,
    /// The fewest jobs with 95 % of the highest throughput.
    pub jobs: u32,
    /// The highest throughput, in requests per second.
    pub per_s: f64,
    /// Whether it is at the highest number of jobs tried: more jobs may give more.
    pub is_at_end: bool,
}

/// Returns whether results of a target are bogus: it was not written before.
///
/// Source: [Callaghan 2022-11-18]: reads of never-written blocks are answered faster.
pub fn is_bogus(target: &DeviceTarget) -> bool {
    target.never_written.is_some_and(|share| share > NEVER_WRITTEN_MAX)
}

/// Returns the figures of every measured cell, in the order of the record.
///
/// Source: medians with [`stats::rank::median`], ratios with [`classify_difference()`].
pub fn device_figures(record: &DeviceRecord, earlier: Option<&DeviceRecord>) -> Vec<DeviceFigure> {
    let is_same = |one: &DeviceCell, other: &DeviceCell| {
        (one.access, one.test, one.jobs) == (other.access, other.test, other.jobs)
    };
    let of_earlier = |cell: &DeviceCell| {
        let mut cells = earlier.into_iter().flat_map(|record| &record.cells);
        cells.find(|other| is_same(cell, other)).map(rates)
    };
    let figure = |cell: &DeviceCell| {
        let mut figure = figure(cell)?;
        figure.is_bogus = record.target(cell.access).is_some_and(is_bogus);
        figure.versus_earlier = of_earlier(cell).and_then(|base| versus(&base, &rates(cell)));
        Some(figure)
    };
    record.cells.iter().filter_map(figure).collect()
}

/// Returns the saturation of every access and test that has several numbers of jobs.
///
/// Source: our choice; the fewest jobs whose median reaches 95 % of the highest median.
pub fn saturations(figures: &[DeviceFigure]) -> Vec<Saturation> {
    let mut keys: Vec<(Access, IoTest)> = figures.iter().map(|of| (of.access, of.test)).collect();
    keys.dedup();
    let of_key = |(access, test): (Access, IoTest)| {
        let own = || figures.iter().filter(|of| (of.access, of.test) == (access, test));
        let per_s = own().map(|of| of.per_s).reduce(f64::max)?;
        let most = own().map(|of| of.jobs).max()?;
        let jobs = own().filter(|of| of.per_s >= SATURATED * per_s).map(|of| of.jobs).min()?;
        let is_several = own().count() > 1;
        is_several.then_some(Saturation { access, test, jobs, per_s, is_at_end: jobs == most })
    };
    keys.into_iter().filter_map(of_key).collect()
}

/// Returns the requests of the test's own kind.
fn own(test: IoTest, sample: &IoSample) -> Option<&IoTotals> {
    match test.pattern {
        IoPattern::Fdatasync => sample.sync.as_ref(),
        IoPattern::RandWrite | IoPattern::Write => sample.write.as_ref(),
        IoPattern::RandRead | IoPattern::RandRw => sample.read.as_ref(),
    }
}

/// Returns the rate of each run.
fn rates(cell: &DeviceCell) -> Vec<f64> {
    let rate = |sample: &IoSample| {
        let writes = sample.write.as_ref().filter(|_| cell.test.pattern == IoPattern::RandRw);
        let writes_per_s = writes.map_or(0.0, |writes| writes.per_s);
        own(cell.test, sample).map(|totals| totals.per_s + writes_per_s)
    };
    cell.samples.iter().filter_map(rate).collect()
}

fn versus(base: &[f64], rates: &[f64]) -> Option<Effect> {
    let design = Design { margin: MARGIN, prior: None, is_paired: false, assumed_cov: NOISE };
    classify_difference(base, rates, &design)
}

/// Returns the figures of a cell; `None` without a run.
fn figure(cell: &DeviceCell) -> Option<DeviceFigure> {
    let rates = rates(cell);
    let spread = Spread::of(&rates)?;
    let range = (spread.n > 1).then_some((spread.min, spread.max));
    let estimate = stats::rank::median(&rates, 0.95).map(|it| (it.low, it.high));
    let interval = estimate.or(range).map(|(low, high)| Interval { low, high });
    let of_runs = |value: &dyn Fn(&IoSample) -> Option<f64>| {
        median(&cell.samples.iter().filter_map(value).collect::<Vec<f64>>())
    };
    let of_own = |value: fn(&IoTotals) -> f64| of_runs(&|run| own(cell.test, run).map(value));
    let counted = |of: Counted| of_runs(&|run| of(cell.test, run));
    Some(DeviceFigure {
        access: cell.access,
        test: cell.test,
        jobs: cell.jobs,
        runs: spread.n,
        per_s: spread.median,
        per_s_interval: interval,
        mean_ns: of_own(|totals| totals.mean_ns)?,
        p50_ns: of_own(|totals| totals.p50_ns as f64)?,
        p99_ns: of_own(|totals| totals.p99_ns as f64)?,
        await_ns: counted(await_ns),
        issued_per_request: counted(issued_per_request),
        issued_bytes: counted(issued_bytes),
        is_bogus: false,
        versus_earlier: None,
    })
}

/// A figure of one run from the block layer's counters.
type Counted = fn(IoTest, &IoSample) -> Option<f64>;

/// Returns the mean time of an issued request.
///
/// Source: `r_await`, `w_await` and `f_await` of iostat(1).
fn await_ns(test: IoTest, run: &IoSample) -> Option<f64> {
    const NS_PER_MS: f64 = 1e6;
    let issued = run.issued.as_ref()?;
    let (ms, requests) = match test.pattern {
        IoPattern::Fdatasync => (issued.flush_ms?, issued.flushes?),
        IoPattern::RandWrite | IoPattern::Write => (issued.write_ms, issued.writes),
        IoPattern::RandRead | IoPattern::RandRw => (issued.read_ms, issued.reads),
    };
    (requests > 0).then(|| ms as f64 * NS_PER_MS / requests as f64)
}

/// Returns the requests and bytes issued; of one direction, where the test has only one.
fn issued(test: IoTest, run: &IoSample) -> Option<(u64, u64)> {
    let all = run.issued.as_ref()?;
    Some(match test.pattern {
        IoPattern::RandRw => (all.reads + all.writes, all.read_bytes + all.write_bytes),
        IoPattern::RandRead => (all.reads, all.read_bytes),
        IoPattern::RandWrite | IoPattern::Write | IoPattern::Fdatasync => {
            (all.writes, all.write_bytes)
        }
    })
}

fn issued_per_request(test: IoTest, run: &IoSample) -> Option<f64> {
    let requests = |totals: &Option<IoTotals>| totals.map_or(0, |totals| totals.requests);
    let requested = requests(&run.read) + requests(&run.write);
    let (requests, _) = issued(test, run)?;
    (requested > 0).then(|| requests as f64 / requested as f64)
}

fn issued_bytes(test: IoTest, run: &IoSample) -> Option<f64> {
    let (requests, bytes) = issued(test, run)?;
    (requests > 0).then(|| bytes as f64 / requests as f64)
}

#[cfg(test)]
mod tests {
    use model::{DEVICE_SCHEMA, Host, IssuedRequests};

    use super::*;

    fn sample(per_s: f64) -> IoSample {
        let read = IoTotals {
            requests: 1000,
            bytes: 512_000,
            per_s,
            mean_ns: 100_000.0,
            p50_ns: 90_000,
            p99_ns: 200_000,
            ..IoTotals::default()
        };
        let issued = IssuedRequests {
            reads: 1000,
            read_bytes: 4_096_000,
            read_ms: 80,
            // Of another program.
            writes: 7,
            write_bytes: 7_000_000,
            ..IssuedRequests::default()
        };
        IoSample { read: Some(read), issued: Some(issued), ..IoSample::default() }
    }

    fn record(never_written: f64, factor: f64) -> DeviceRecord {
        let cell = |jobs: u32, per_s: f64| DeviceCell {
            access: Access::Direct,
            test: "randread-512".parse().unwrap(),
            jobs,
            job_file: String::new(),
            samples: [0.98, 1.0, 1.01, 0.99, 1.02, 1.03]
                .map(|of| sample(of * per_s * factor))
                .to_vec(),
            traced: None,
            refusal: None,
        };
        let target = DeviceTarget {
            path: "/data".to_owned(),
            is_raw: false,
            device: None,
            filesystem: None,
            size_bytes: model::Bytes(1 << 30),
            never_written: Some(never_written),
            never_written_by: String::new(),
            queue: Vec::new(),
        };
        DeviceRecord {
            schema: DEVICE_SCHEMA,
            id: String::new(),
            created_at: String::new(),
            assay_version: String::new(),
            fio_version: String::new(),
            host: Host::default(),
            targets: vec![target],
            run_s: 1,
            repetitions: 6,
            cells: vec![cell(1, 1e4), cell(4, 3.9e4), cell(8, 4e4)],
            untraced: None,
            steady: Vec::new(),
            is_complete: true,
        }
    }

    #[test]
    fn half_a_kibibyte_that_was_requested_was_read_as_four() {
        let figures = device_figures(&record(0.0, 1.0), None);
        let one = &figures[0];
        assert_eq!((one.issued_per_request, one.issued_bytes), (Some(1.0), Some(4096.0)));
        assert_eq!(one.await_ns, Some(80_000.0), "of 100 us");
        assert!((one.per_s - 10_050.0).abs() < 1e-6, "{one:?}");
        let interval = one.per_s_interval.unwrap();
        assert!((interval.low - 9_800.0).abs() < 1e-6, "{one:?}");
        assert!(!one.is_bogus && one.versus_earlier.is_none());
    }

    #[test]
    fn throughput_is_saturated_where_it_is_within_five_percent_of_the_highest() {
        let found = saturations(&device_figures(&record(0.0, 1.0), None));
        assert_eq!((found[0].jobs, found[0].is_at_end), (4, false));
        let mut one = record(0.0, 1.0);
        one.cells.truncate(1);
        assert!(saturations(&device_figures(&one, None)).is_empty());
    }

    #[test]
    fn reads_of_what_was_never_written_are_bogus() {
        let is_bogus = |share: f64| device_figures(&record(share, 1.0), None)[0].is_bogus;
        assert!(is_bogus(1.0) && is_bogus(0.02) && !is_bogus(0.005));
    }

    #[test]
    fn a_slower_device_is_found_against_the_earlier_profile() {
        let figures = device_figures(&record(0.0, 0.8), Some(&record(0.0, 1.0)));
        let effect = figures[0].versus_earlier.unwrap();
        assert!((effect.ratio - 0.8).abs() < 1e-9, "{effect:?}");
        assert_eq!(effect.verdict, stats::Verdict::Below);
    }
}
