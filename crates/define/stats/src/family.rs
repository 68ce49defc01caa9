//! Adjustments for many comparisons: Holm, and Benjamini-Hochberg.

use model::float;

/// Returns the adjusted p-values of a family, in the order given.
///
/// The false discovery rate of all at most 0.05 is at most 5 %; without any true difference, the
/// probability of even one is 5 %. NaN counts as 1.
///
/// Source: [Benjamini Hochberg 1995].
pub fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    let known = |p: f64| if p.is_nan() { 1.0 } else { p.clamp(0.0, 1.0) };
    let mut falling: Vec<(usize, f64)> = p_values.iter().map(|p| known(*p)).enumerate().collect();
    falling.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut adjusted = vec![1.0; falling.len()];
    let (all, mut least) = (float(p_values.len()), 1.0_f64);
    let mut rank = all;
    for (index, p) in falling {
        least = least.min(p * (all / rank));
        adjusted[index] = least;
        rank -= 1.0;
    }
    adjusted
}

/// Returns the adjusted p-values of a family, in the order given.
///
/// The probability of even one of them at most 0.05 without a true difference is 5 %, also where
/// other differences are true. NaN counts as 1.
///
/// Source: [Holm 1979].
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let known = |p: f64| if p.is_nan() { 1.0 } else { p.clamp(0.0, 1.0) };
    let mut rising: Vec<(usize, f64)> = p_values.iter().map(|p| known(*p)).enumerate().collect();
    rising.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut adjusted = vec![1.0; rising.len()];
    let (mut left, mut greatest) = (float(p_values.len()), 0.0_f64);
    for (index, p) in rising {
        greatest = greatest.max((p * left).min(1.0));
        adjusted[index] = greatest;
        left -= 1.0;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn published_example_has_four_differences() {
        // [Benjamini Hochberg 1995, section 4.1]: fifteen p-values from a trial of thrombolysis;
        // four are significant at 5 %, three by Bonferroni.
        let p_values = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.000,
        ];
        let adjusted = benjamini_hochberg(&p_values);
        assert_eq!(adjusted.iter().filter(|q| **q <= 0.05).count(), 4);
        // scipy 1.17.1, stats.false_discovery_control.
        let known = [0.0015, 0.003, 0.0095, 0.035_625, 0.0603, 0.063_857_14, 0.063_857_14, 0.0645];
        assert_eq!(adjusted.len(), p_values.len());
        for (found, known) in adjusted.iter().zip(known) {
            assert!((found - known).abs() < 1e-8, "{found} {known}");
        }
    }

    #[test]
    fn holm_matches_r_and_rejects_the_smallest_at_the_level_of_bonferroni() {
        // R 4.3: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm").
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (found, known) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((found - known).abs() < 1e-12, "{found} {known}");
        }
        assert_eq!(holm(&[f64::NAN, 0.5, 0.01]), [1.0, 1.0, 0.03]);
        assert_eq!((holm(&[0.03]), holm(&[])), (vec![0.03], vec![]));
    }

    #[test]
    fn family_of_one_is_unadjusted_and_nan_counts_as_one() {
        assert_eq!(benjamini_hochberg(&[0.03]), [0.03]);
        assert_eq!(benjamini_hochberg(&[f64::NAN, 0.03]), [1.0, 0.06]);
        assert_eq!(benjamini_hochberg(&[]), [0.0; 0]);
    }

    proptest! {
        #[test]
        fn order_does_not_matter_and_nothing_gets_smaller(
            mut p_values in prop::collection::vec(0.0..1.0_f64, 1..40),
        ) {
            let adjusted = benjamini_hochberg(&p_values);
            prop_assert_eq!(adjusted.len(), p_values.len());
            for (p, q) in p_values.iter().zip(&adjusted) {
                prop_assert!(q >= p && *q <= 1.0);
            }
            p_values.reverse();
            let mut other = benjamini_hochberg(&p_values);
            other.reverse();
            prop_assert_eq!(other, adjusted);
        }
    }
}
