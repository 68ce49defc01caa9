//! Memory relative to the configured cache.

use model::{Readings, Settings, float, metric};

use super::derived::ratio;

/// Adds the ratio of peak memory to configured cache.
///
/// Absent without a configured cache.
///
/// Source: RSS over the size of the block cache, 1.15 there [Callaghan 2022-09-19].
pub fn with_memory(mut metrics: Readings, settings: &Settings) -> Readings {
    let cache = settings.cache_bytes.map(float);
    let peak = metrics.value(metric::RSS_PEAK_BYTES);
    metrics.set(metric::RSS_PER_CACHE, ratio(peak, cache));
    metrics
}

#[cfg(test)]
mod tests {
    use model::Bytes;

    use super::*;
    use crate::testing::readings;

    #[test]
    fn resident_memory_is_per_byte_of_cache() {
        let peak = || readings(&[(metric::RSS_PEAK_BYTES, 1_207_959_552.0)]);
        let settings = Settings { cache_bytes: Some(Bytes::GIB), ..Settings::default() };
        let known = with_memory(peak(), &settings);
        assert_eq!(
            known,
            readings(&[(metric::RSS_PEAK_BYTES, 1_207_959_552.0), (metric::RSS_PER_CACHE, 1.125)])
        );
        assert_eq!(with_memory(peak(), &Settings::default()), peak());
        assert_eq!(with_memory(Readings::new(), &settings), Readings::new());
    }
}
