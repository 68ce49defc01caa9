//! The fold itself: intervals are added, and the record is completed.

use hdrhistogram::Histogram;
use model::buckets::{BUCKET_BOUNDS, FINE_BOUNDS};
use model::record::total_counts;
use model::{IntervalRecord, Kind, Nanos, OpUnit, Readings, Step, StepRecord, metric};

use crate::conservation::{Unequal, check_interval};
use crate::events::EventSeconds;
use crate::facts::Facts;
use crate::latencies::{buckets, summaries};
use crate::load_status::{OpenLoopTotals, load_status};
use crate::seconds::Seconds;
use crate::tally::{self, Groups, empty_histogram, percentiles};
use crate::throughput::Throughput;
use crate::validity::Validity;

/// One interval: its record, and what its histograms have.
#[derive(Debug)]
pub struct IntervalData {
    /// The record, with its classification.
    pub record: IntervalRecord,
    /// Counts and times of its operations.
    pub groups: Groups,
    /// Start lag of the clients that waited for an arrival, ns; open loop only.
    pub start_lag: Option<Histogram<u64>>,
}

/// A measured span so far.
#[derive(Debug, Default)]
pub struct Fold {
    groups: Groups,
    start_lag: Option<Histogram<u64>>,
    gauges_max: Readings,
    throughput: Throughput,
    seconds: Seconds,
    validity: Validity,
    step: Step,
    events: EventSeconds,
}

impl Fold {
    /// Begins a span of a step.
    pub fn new(step: &Step) -> Self {
        let validity = Validity::new(step.limit.map(|limit| limit.within));
        Self { validity, step: step.clone(), ..Self::default() }
    }

    /// Adds the next interval of the span; about 0.1 ms per kind of operation.
    ///
    /// # Errors
    /// When a histogram has not the interval's operations.
    ///
    /// # Panics
    /// When a histogram has another layout than [`empty_histogram`].
    pub fn add(&mut self, interval: &IntervalData) -> Result<(), Unequal> {
        let IntervalData { record, groups, start_lag } = interval;
        check_interval(groups)?;
        tally::merge(&mut self.groups.clients, &groups.clients);
        tally::merge(&mut self.groups.writers, &groups.writers);
        if let Some(lag) = start_lag {
            let sum = self.start_lag.get_or_insert_with(empty_histogram);
            sum.add(lag).expect("all histograms have one layout");
        }
        self.gauges_max.raise(record.readings.of_kind(Kind::Gauge));
        // A known number of rows is done as a whole: its seconds have no throughput.
        let has_seconds = !matches!(self.step.unit, OpUnit::Rows(_));
        let is_whole = has_seconds && record.length_ns.0 >= Nanos::SECOND.0 * 9 / 10;
        if is_whole {
            let done = self.step.unit.done(&record.clients) as f64;
            self.throughput.add(done / record.length_ns.as_secs_f64(), record.invalid.is_some());
        }
        self.seconds.add(record, self.step.unit, is_whole);
        self.validity.add(record, &groups.clients);
        self.events.add(&self.step, record);
        Ok(())
    }

    /// Returns the validity of the intervals so far.
    pub const fn validity(&self) -> &Validity {
        &self.validity
    }

    /// Completes the record of a step whose intervals have been added.
    ///
    /// Of a trimmed step, profiles of time and waits stay those of the whole step.
    ///
    /// # Errors
    /// When the worker counted other operations than the intervals have.
    pub fn finish(mut self, facts: Facts<'_>) -> Result<StepRecord, Unequal> {
        if let Some(counts) = &facts.counts {
            counts.check(&self.groups)?;
            // A kind that the worker announced is in the record, whether or not it was done.
            for kind in counts.clients.keys() {
                self.groups.clients.entry(*kind).or_default();
            }
        }
        if let Some(censored) = &facts.censored {
            tally::censor(&mut self.groups.clients, censored.kind, &censored.ages);
            self.validity.add_censored(&censored.ages);
        }
        let Groups { clients, writers } = &self.groups;
        let mut record = StepRecord {
            clients: summaries(clients),
            writers: summaries(writers),
            buckets: buckets([clients, writers], &BUCKET_BOUNDS),
            fine_buckets: buckets([clients, writers], &FINE_BOUNDS),
            within_limit: self.validity.within_limit(),
            ..facts.known
        };
        if let Some(arrivals) = &mut record.arrivals {
            arrivals.start_lag = self.start_lag.as_ref().map(percentiles).unwrap_or_default();
        }
        let seconds = record.duration_ns.as_secs_f64().max(1e-9);
        let written = total_counts(&record.writers).bytes as f64;
        record.writer_bytes_per_s = (!record.writers.is_empty()).then_some(written / seconds);
        let totals = self.open_loop_totals(&record, facts.calibration);
        record.load_status = totals.map(|totals| load_status(&totals));
        let is_closed = record.arrivals.is_none();
        let counts_all = is_closed && self.validity.counted_anyway().is_some();
        record.invalid_intervals = self.validity.invalid_intervals().filter(|_| !counts_all);
        record.seconds = self.throughput.stats(counts_all);
        self.events.complete(&mut record);
        if record.warmup_trim_ns.is_some() {
            self.gauges_max.raise(&record.gauges_end);
            record.gauges_max = self.gauges_max;
            return Ok(record);
        }
        record.time_profile = self.seconds.time_profile(&record.step, counts_all);
        if let Some(waits) = &mut record.waits {
            waits.effect = self.seconds.sampling_effect();
        }
        Ok(record)
    }

    fn open_loop_totals<'a>(
        &'a self,
        record: &'a StepRecord,
        calibration: Option<&'a model::validity::Calibration>,
    ) -> Option<OpenLoopTotals<'a>> {
        let counts = total_counts(&record.clients);
        Some(OpenLoopTotals {
            arrivals: record.arrivals.as_ref()?,
            clients: record.step.threads(record.step.clients),
            ended: counts.done + counts.failed,
            duration: record.duration_ns,
            idle_us: record.counters.value(metric::CLIENT_IDLE_US),
            backlogs: &self.validity.backlogs,
            is_invalid: &self.validity.is_invalid,
            calibration,
        })
    }
}
