//! Percentiles of times reported by a client.

use model::record::Percentiles;

/// Times in us: p50, p99, p99.9 and the longest.
pub(super) type Times = [f64; 4];

/// Converts our percentiles.
pub(super) fn of(ours: &Percentiles) -> Times {
    [ours.p50_ns, ours.p99_ns, ours.p999_ns, ours.max_ns].map(|ns| ns as f64 / 1e3)
}

/// Returns the median of each percentile over rounds; zeros without any.
pub(super) fn medians(rounds: &[Times]) -> Times {
    std::array::from_fn(|at| {
        let mut values: Vec<f64> = rounds.iter().map(|times| times[at]).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or_default()
    })
}

/// Formats times as cells.
pub(super) fn cells(times: Times) -> String {
    times.map(|us| if us < 10.0 { format!("{us:.2}") } else { format!("{us:.0}") }).join(" | ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_figure_has_its_own_median() {
        let round = |p50, max| [p50, 0.0, 0.0, max];
        let found = medians(&[round(1.0, 90.0), round(3.0, 70.0), round(2.0, 80.0)]);
        assert_eq!(cells(found), cells(round(2.0, 80.0)));
    }

    #[test]
    fn times_below_ten_have_two_decimals() {
        assert_eq!(cells([0.04, 9.26, 10.2, 1_000_000.4]), "0.04 | 9.26 | 10 | 1000000");
    }
}
