//! Median with a distribution-free confidence interval.

/// A median with its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Median {
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// Least coverage probability of the interval.
const CONFIDENCE: f64 = 0.95;

/// Returns the median of at least six independent values.
///
/// The interval lies between two order statistics, as narrow as the confidence permits, for any
/// distribution of the values.
/// Source: W. Conover, 1999, "Practical Nonparametric Statistics", 3rd edition, section 3.2.
pub(crate) fn median(mut values: Vec<f64>) -> Median {
    values.sort_by(f64::total_cmp);
    let count = values.len();
    let value = f64::midpoint(values[(count - 1) / 2], values[count / 2]);
    let rank = rank(count);
    Median { value, low: values[rank], high: values[count - 1 - rank] }
}

/// Returns how many values lie outside the interval on each side.
fn rank(count: usize) -> usize {
    // P(the median lies below the value of rank r) = P(Binomial(count, 1/2) <= r), both ends.
    let mut chance = 0.5f64.powi(i32::try_from(count).unwrap_or(i32::MAX));
    let (mut outside, mut rank) = (2.0 * chance, 0);
    loop {
        chance *= (count - rank) as f64 / (rank + 1) as f64;
        outside += 2.0 * chance;
        if outside > 1.0 - CONFIDENCE {
            return rank;
        }
        rank += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_equal_the_published_table() {
        // Source: Conover 1999, table A3 (binomial, p = 0.5): the largest r with P(X <= r) at
        // most 0.025, less one for a count from zero.
        let ranks = [6, 8, 9, 12, 15, 20].map(rank);
        assert_eq!(ranks, [0, 0, 1, 2, 3, 5]);
    }

    #[test]
    fn median_lies_within_its_interval() {
        let values = (1u32..=12).rev().map(f64::from).collect();
        assert_eq!(median(values), Median { value: 6.5, low: 3.0, high: 10.0 });
    }
}
