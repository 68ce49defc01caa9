//! Percentiles of a histogram, as stored in records.

use hdrhistogram::Histogram;
use model::record::Percentiles;

/// Returns the percentiles of a histogram, ns; all zero when empty.
///
/// Each is the highest value of its bucket: at most 0.1 % above the operation it stands for.
pub fn percentiles(histogram: &Histogram<u64>) -> Percentiles {
    Percentiles {
        count: histogram.len(),
        mean_ns: if histogram.is_empty() { 0.0 } else { histogram.mean() },
        p50_ns: histogram.value_at_quantile(0.5),
        p90_ns: histogram.value_at_quantile(0.9),
        p99_ns: histogram.value_at_quantile(0.99),
        p999_ns: histogram.value_at_quantile(0.999),
        p9999_ns: histogram.value_at_quantile(0.9999),
        max_ns: histogram.max(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::KindTally;

    #[test]
    fn percentiles_are_ranks_of_the_operations() {
        let mut histogram = KindTally::default().service;
        assert_eq!(percentiles(&histogram), Percentiles::default());
        for ns in 1..=1000 {
            histogram.record(ns).unwrap();
        }
        let found = percentiles(&histogram);
        assert_eq!((found.count, found.p50_ns, found.p90_ns), (1000, 500, 900));
        assert_eq!((found.p99_ns, found.p999_ns, found.p9999_ns), (990, 999, 1000));
        assert_eq!(found.max_ns, 1000);
        assert!((found.mean_ns - 500.5).abs() < 0.5);
    }
}
