//! Percentiles of times reported by a client.

use model::record::Percentiles;

/// Times, us.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Times {
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) p999: f64,
    pub(crate) max: f64,
}

impl Times {
    /// Converts our percentiles.
    pub(crate) fn of(ours: &Percentiles) -> Self {
        let us = |ns: u64| ns as f64 / 1e3;
        Self {
            p50: us(ours.p50_ns),
            p99: us(ours.p99_ns),
            p999: us(ours.p999_ns),
            max: us(ours.max_ns),
        }
    }

    /// Returns the median of each percentile over rounds; zeros without any.
    pub(crate) fn medians(rounds: &[Self]) -> Self {
        let median = |figure: fn(&Self) -> f64| {
            let mut values: Vec<f64> = rounds.iter().map(figure).collect();
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).copied().unwrap_or_default()
        };
        Self {
            p50: median(|times| times.p50),
            p99: median(|times| times.p99),
            p999: median(|times| times.p999),
            max: median(|times| times.max),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_figure_has_its_own_median() {
        let round = |p50, max| Times { p50, max, ..Times::default() };
        let found = Times::medians(&[round(1.0, 90.0), round(3.0, 70.0), round(2.0, 80.0)]);
        assert_eq!(found, round(2.0, 80.0));
    }
}
