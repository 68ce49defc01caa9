//! Data of charts from stored histograms: percentile curves and heat maps.

use archive::{ArchiveError, ExperimentDir, IntervalLatency, latency};
use hdrhistogram::Histogram;
use model::{RunRecord, float, whole};
use render::site::{Heat, Series};

/// Values per halving of the distance to 100 %. Source: [Tene 2012], percentile distribution.
const TICKS_PER_HALF: u32 = 8;
/// Quantiles that tables have. Source: `model::metric`, percentiles of response times.
const NAMED: [f64; 4] = [0.5, 0.9, 0.99, 0.999];
/// Buckets of a heat map for each doubling of latency. Our choice: a step of 19 %.
const BUCKETS_PER_DOUBLING: f64 = 4.0;
/// Most columns of a heat map: more seconds share a column.
const COLUMNS_MAX: f64 = 600.0;

/// A run and the experiment that it lies in.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) dir: &'a ExperimentDir,
    pub(super) run: &'a RunRecord,
}

/// Reads the latency of a step in every run.
fn read(index: u32, runs: &[Source<'_>]) -> Result<Vec<IntervalLatency>, ArchiveError> {
    let mut all = Vec::new();
    for Source { dir, run } in runs {
        for step in run.steps.iter().filter(|step| step.index == index) {
            all.extend(latency(&dir.run_dir(&run.cell.id), step)?);
        }
    }
    Ok(all)
}

/// Returns the percentile curve of a variant, over all its counted runs of a step.
pub(super) fn curve(
    variant: &str,
    index: u32,
    runs: &[Source<'_>],
) -> Result<Option<Series>, ArchiveError> {
    let all = read(index, runs)?.into_iter().map(|interval| interval.times);
    let together = |mut one: Histogram<u64>, other: Histogram<u64>| {
        one.add(other).expect("all histograms have the same bounds");
        one
    };
    let Some(all) = all.reduce(together).filter(|all| !all.is_empty()) else { return Ok(None) };
    let points = all.iter_quantiles(TICKS_PER_HALF).map(|point| point.quantile());
    // The percentiles of tables are points, too.
    let mut x: Vec<f64> = points.chain(NAMED).collect();
    x.sort_by(f64::total_cmp);
    x.dedup();
    let y = x.iter().map(|quantile| float(all.value_at_quantile(*quantile))).collect();
    Ok(Some(Series { name: variant.to_owned(), group: variant.to_owned(), x, y }))
}

/// Returns the heat map of a variant, over all its runs of a step.
pub(super) fn heat(index: u32, runs: &[Source<'_>]) -> Result<Option<Heat>, ArchiveError> {
    let mut all = read(index, runs)?;
    all.retain(|interval| !interval.times.is_empty());
    let Some(least) = all.iter().map(|interval| interval.times.min()).min() else {
        return Ok(None);
    };
    let most = all.iter().map(|interval| interval.times.max()).max().unwrap_or(least);
    let ends = all.iter().map(|interval| interval.start.after(interval.length).as_secs_f64());
    let end_s = ends.fold(0.0, f64::max);
    let width_s = (end_s / COLUMNS_MAX).ceil().max(1.0);
    let bucket = |ns: u64| (float(ns.max(1)).log2() * BUCKETS_PER_DOUBLING).floor();
    let first = bucket(least);
    let buckets = place(bucket(most) - first) + 1;
    let columns = place((end_s / width_s).ceil()).max(1);
    let mut counts = vec![0; columns * buckets];
    for interval in &all {
        let middle_s = interval.start.as_secs_f64() + interval.length.as_secs_f64() / 2.0;
        let column = place(middle_s / width_s).min(columns - 1);
        for value in interval.times.iter_recorded() {
            let row = place(bucket(value.value_iterated_to()) - first).min(buckets - 1);
            counts[column * buckets + row] += value.count_at_value();
        }
    }
    let rows = (0..=buckets).map(|at| ((first + float(at)) / BUCKETS_PER_DOUBLING).exp2());
    Ok(Some(Heat {
        columns: (0..columns).map(|at| float(at) * width_s).collect(),
        column_width: width_s,
        rows: rows.collect(),
        counts,
    }))
}

/// Returns the place of a column or bucket.
fn place(number: f64) -> usize {
    usize::try_from(whole(number)).unwrap_or(usize::MAX)
}
