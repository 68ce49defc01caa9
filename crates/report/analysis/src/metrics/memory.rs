//! Memory relative to the configured cache.

use model::{Readings, Settings};

use super::derived::{Derived, get, ratio};

/// Adds the ratio of peak memory to configured cache.
///
/// Absent without a configured cache.
///
/// Source: RSS over the size of the block cache, 1.15 there [Callaghan 2022-09-19].
#[must_use]
pub fn with_memory(metrics: Readings, settings: &Settings) -> Readings {
    let mut metrics = Derived { readings: metrics };
    #[expect(clippy::cast_precision_loss, reason = "bytes stay far below 2^53")]
    let cache = settings.cache_bytes.map(|cache| cache.0 as f64);
    let peak = get(&metrics.readings, "rss_peak_bytes");
    metrics.set("rss_per_cache", ratio(peak, cache));
    metrics.readings
}

#[cfg(test)]
mod tests {
    use model::Bytes;

    use super::*;
    use crate::fixture::readings;

    #[test]
    fn resident_memory_is_per_byte_of_cache() {
        let peak = || readings(&[("rss_peak_bytes", 1_207_959_552.0)]);
        let settings = Settings { cache_bytes: Some(Bytes::GIB), ..Settings::default() };
        let known = with_memory(peak(), &settings);
        assert_eq!(
            known,
            readings(&[("rss_peak_bytes", 1_207_959_552.0), ("rss_per_cache", 1.125)])
        );
        assert_eq!(with_memory(peak(), &Settings::default()), peak());
        assert_eq!(with_memory(Readings::new(), &settings), Readings::new());
    }
}
