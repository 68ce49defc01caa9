//! Medians and Hodges-Lehmann shifts with exact rank intervals.

use model::float;

use crate::sample::{Estimate, mean, middle, sorted};

/// Most values a side: beyond these a mean suffices.
///
/// The exact counts take long beyond it.
pub const MAX_RUNS: usize = 50;

/// Returns the Hodges-Lehmann shift: the median of all pairwise differences.
///
/// The interval has at least that `level` (above 0, below 1); it is exact where no two values are
/// equal, and wider where some are. `None` when a side is empty or above [`MAX_RUNS`], a value is
/// not finite, or there are too few values for the level: at 95 % below 4 and 4.
///
/// Source: Hodges and Lehmann's estimate, Moses' interval, comment on ties [Hollander Wolfe Chicken
/// 2014, sections 4.2 and 4.3]; [Hodges Lehmann 1963].
pub fn shift(base: &[f64], other: &[f64], level: f64) -> Option<Estimate> {
    if base.len().max(other.len()) > MAX_RUNS || !is_finite(base) || !is_finite(other) {
        return None;
    }
    let differences: Vec<f64> =
        other.iter().flat_map(|other| base.iter().map(move |base| other - base)).collect();
    interval(&sorted(&differences), &mann_whitney(base.len(), other.len()), level)
}

/// Returns the Hodges-Lehmann centre: the median of all pairwise means.
///
/// As [`shift`], for differences of pairs; 95 % takes 6 pairs.
///
/// Source: Hodges and Lehmann's estimate, Tukey's interval [Hollander Wolfe Chicken 2014, sections
/// 3.2 and 3.3]; [Hodges Lehmann 1963].
pub fn centre(differences: &[f64], level: f64) -> Option<Estimate> {
    if differences.len() > MAX_RUNS || !is_finite(differences) {
        return None;
    }
    let pairs = differences.iter().enumerate();
    let means: Vec<f64> = pairs
        .flat_map(|(at, one)| differences[at..].iter().map(move |two| f64::midpoint(*one, *two)))
        .collect();
    interval(&sorted(&means), &signed_rank(differences.len()), level)
}

/// Returns the same of any number of differences, in the order of time.
///
/// Above [`MAX_RUNS`] neighbours are replaced by their means, all of as many; what is left over at
/// the end does not count.
///
/// Source: [`centre`]; the means are our choice.
pub fn centre_of_many(differences: &[f64], level: f64) -> Option<Estimate> {
    let neighbours = differences.len().div_ceil(MAX_RUNS).max(1);
    let means = differences.chunks_exact(neighbours).map(mean);
    centre(&means.collect::<Vec<_>>(), level)
}

/// Returns the median with its interval, for values of any distribution.
///
/// The interval has at least that `level`. `None` above [`MAX_RUNS`], when a value is not finite,
/// or when there are too few values for the level: 95 % takes 6.
///
/// Source: the interval of the sign test [Hollander Wolfe Chicken 2014, section 3.6].
pub fn median(values: &[f64], level: f64) -> Option<Estimate> {
    if values.len() > MAX_RUNS || !is_finite(values) {
        return None;
    }
    interval(&sorted(values), &sign(values.len()), level)
}

/// Returns the two-sided chance that all values of one side are above all of the other.
///
/// Source: the exact test of [Mann Whitney 1947].
pub(crate) fn separated(m: usize, n: usize) -> f64 {
    2.0 * (1..=m).map(|one| float(one) / float(n + one)).product::<f64>()
}

fn is_finite(values: &[f64]) -> bool {
    values.iter().all(|value| value.is_finite())
}

/// Returns the median and the order statistics that are the limits.
///
/// `counts` holds in how many equally likely ways the statistic is 0, 1, 2 ...
fn interval(ascending: &[f64], counts: &[f64], level: f64) -> Option<Estimate> {
    let value = middle(ascending)?;
    let most = counts.iter().sum::<f64>() * (1.0 - level) / 2.0;
    let below = counts.iter().scan(0.0, |sum, count| {
        *sum += count;
        Some(*sum)
    });
    let left_out = below.take_while(|sum| *sum <= most).count().checked_sub(1)?;
    let low = *ascending.get(left_out)?;
    let high = *ascending.get(ascending.len() - 1 - left_out)?;
    Some(Estimate { value, low, high })
}

/// Returns in how many ways `m` and `n` values give each of Mann and Whitney's statistics.
///
/// Ways to choose m of m + n ranks, by their sum, counted rank by rank.
fn mann_whitney(m: usize, n: usize) -> Vec<f64> {
    let least = m * (m + 1) / 2;
    let most = least + m * n;
    let mut ways = vec![vec![0.0; most + 1]; m + 1];
    ways[0][0] = 1.0;
    for rank in 1..=m + n {
        for chosen in (1..=m.min(rank)).rev() {
            let (fewer, more) = ways.split_at_mut(chosen);
            let (from, to) = (&fewer[chosen - 1], &mut more[0]);
            for (to, from) in to[rank.min(most + 1)..].iter_mut().zip(from) {
                *to += from;
            }
        }
    }
    ways[m].split_off(least)
}

/// Returns in how many ways `n` values lie 0, 1, 2 ... times above their median.
fn sign(n: usize) -> Vec<f64> {
    let mut ways = vec![1.0];
    for _value in 0..n {
        let sums = ways.windows(2).map(|pair| pair[0] + pair[1]);
        ways = std::iter::once(1.0).chain(sums).chain([1.0]).collect();
    }
    ways
}

/// Returns in how many ways `n` differences give each of Wilcoxon's signed-rank statistics.
fn signed_rank(n: usize) -> Vec<f64> {
    let mut ways = vec![0.0; n * (n + 1) / 2 + 1];
    ways[0] = 1.0;
    for rank in 1..=n {
        for sum in (rank..ways.len()).rev() {
            ways[sum] += ways[sum - rank];
        }
    }
    ways
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_near(found: Estimate, known: [f64; 3]) -> bool {
        let found = [found.value, found.low, found.high];
        found.iter().zip(known).all(|(found, known)| (found - known).abs() < 1e-9)
    }

    #[test]
    fn many_differences_have_the_centre_of_their_neighbours_means() {
        let of = |count: u32| {
            let differences: Vec<f64> = (0..count).map(|at| f64::from(at % 7)).collect();
            centre_of_many(&differences, 0.99).unwrap()
        };
        let (few, many) = (of(49), of(700));
        assert_eq!(
            few,
            centre(&(0..49).map(|at| f64::from(at % 7)).collect::<Vec<_>>(), 0.99).unwrap()
        );
        assert!((many.value - 3.0).abs() < 1e-9 && many.low > few.low && many.high < few.high);
        assert_eq!(centre_of_many(&[], 0.99), None);
    }

    #[test]
    fn statistics_are_counted_as_the_tables_do() {
        // [Mann Whitney 1947, table I]: n = m = 3, P(U <= 1) = 0.1.
        assert_eq!(mann_whitney(3, 3), [1.0, 1.0, 2.0, 3.0, 3.0, 3.0, 3.0, 2.0, 1.0, 1.0]);
        assert_eq!(mann_whitney(1, 2), [1.0, 1.0, 1.0]);
        // 20 over 10 ways in all.
        assert!((mann_whitney(10, 10).iter().sum::<f64>() - 184_756.0).abs() < 1e-6);
        assert_eq!(signed_rank(3), [1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn permeability_of_membranes_has_the_published_interval() {
        // [Hollander Wolfe Chicken 2014, table 4.1]: permeability constants of the human
        // chorioamnion; the same in R's ?wilcox.test: at term x, at 12 to 26 weeks y. Estimate y -
        // x: example 4.3, -0.305; interval of 96 %, example 4.4: from -0.76 to 0.15.
        let term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        let early = [1.15, 0.88, 0.90, 0.74, 1.21];
        let found = shift(&term, &early, 0.95).unwrap();
        assert!(is_near(found, [-0.305, -0.76, 0.15]), "{found:?}");
    }

    #[test]
    #[expect(clippy::approx_constant, reason = "3.14 on Hamilton's scale")]
    fn depression_under_a_tranquilizer_has_the_published_interval() {
        // [Hollander Wolfe Chicken 2014, table 3.1]: Hamilton's scale; the same in R's
        // ?wilcox.test. Estimate: example 3.3, -0.46; interval of 96 %, example 3.4: from -0.786 to
        // -0.010.
        let before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
        let after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];
        let differences: Vec<f64> =
            before.iter().zip(after).map(|(before, after)| after - before).collect();
        let found = centre(&differences, 0.95).unwrap();
        assert!(is_near(found, [-0.46, -0.786, -0.010]), "{found:?}");
    }

    #[test]
    fn limits_of_the_median_are_those_of_the_binomial_table() {
        // Of 10 values P(B <= 1) = 11 / 1024 and P(B <= 2) = 56 / 1024: limits of 95 % are the
        // second and the ninth; of 6 P(B = 0) = 1 / 64: the first and the last.
        let values = [5.0, 1.0, 9.0, 3.0, 7.0, 2.0, 10.0, 4.0, 8.0, 6.0];
        assert!(is_near(median(&values, 0.95).unwrap(), [5.5, 2.0, 9.0]));
        assert!(is_near(median(&values[..6], 0.95).unwrap(), [4.0, 1.0, 9.0]));
        assert_eq!(median(&values[..5], 0.95), None);
    }

    #[test]
    fn few_values_have_no_interval() {
        let few = [1.0, 2.0, 3.0];
        assert_eq!(shift(&few, &few, 0.95), None);
        assert!(shift(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0], 0.95).is_some());
        assert_eq!(centre(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.95), None);
        assert!(centre(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.95).is_some());
        assert_eq!(shift(&[], &few, 0.95), None);
        assert_eq!(centre(&[], 0.95), None);
        assert_eq!(shift(&[f64::NAN; 6], &[1.0; 6], 0.95), None);
    }

    #[test]
    fn equal_values_have_a_shift_of_nothing() {
        let found = shift(&[2.0; 6], &[2.0; 6], 0.95).unwrap();
        assert!(is_near(found, [0.0; 3]));
    }

    proptest! {
        #[test]
        fn swapped_sides_give_the_opposite(
            base in prop::collection::vec(-5.0..5.0_f64, 4..12),
            other in prop::collection::vec(-5.0..5.0_f64, 4..12),
        ) {
            let (there, back) = (shift(&base, &other, 0.9), shift(&other, &base, 0.9));
            let (there, back) = (there.unwrap(), back.unwrap());
            prop_assert!(is_near(there, [-back.value, -back.high, -back.low]));
            prop_assert!(there.low <= there.value && there.value <= there.high);
        }
    }
}
