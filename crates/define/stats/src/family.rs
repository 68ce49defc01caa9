//! Many comparisons at once: how many of the differences found are expected to be none.

/// Returns the chances adjusted for the family, in the order given.
///
/// Where only those at most 0.05 are called differences, one in twenty of these is expected to be
/// none; and when there is no difference at all, the chance of calling even one is 0.05. What is no
/// number counts as 1.
///
/// Source: Y. Benjamini and Y. Hochberg, 1995, "Controlling the False Discovery Rate: A Practical
/// and Powerful Approach to Multiple Testing", Journal of the Royal Statistical Society B 57(1).
#[must_use]
pub fn benjamini_hochberg(chances: &[f64]) -> Vec<f64> {
    let known = |p: f64| if p.is_nan() { 1.0 } else { p.clamp(0.0, 1.0) };
    let mut falling: Vec<(usize, f64)> = chances.iter().map(|p| known(*p)).enumerate().collect();
    falling.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut adjusted = vec![1.0; falling.len()];
    let (all, mut least) = (crate::length_of(chances), 1.0_f64);
    let mut rank = all;
    for (index, p) in falling {
        least = least.min(p * (all / rank));
        adjusted[index] = least;
        rank -= 1.0;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_published_example_keeps_its_four_differences() {
        // Benjamini and Hochberg, 1995, section 4.1: fifteen chances from a trial of thrombolysis;
        // at 5 % theirs finds four, where Bonferroni finds three.
        let chances = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.000,
        ];
        let adjusted = benjamini_hochberg(&chances);
        assert_eq!(adjusted.iter().filter(|q| **q <= 0.05).count(), 4);
        // scipy 1.17.1, stats.false_discovery_control.
        let known = [0.0015, 0.003, 0.0095, 0.035_625, 0.0603, 0.063_857_14, 0.063_857_14, 0.0645];
        for (found, known) in adjusted.iter().zip(known) {
            assert!((found - known).abs() < 1e-8, "{found} {known}");
        }
    }

    #[test]
    fn one_is_its_own_family_and_no_number_is_no_evidence() {
        assert_eq!(benjamini_hochberg(&[0.03]), [0.03]);
        assert_eq!(benjamini_hochberg(&[f64::NAN, 0.03]), [1.0, 0.06]);
        assert_eq!(benjamini_hochberg(&[]), [0.0; 0]);
    }

    proptest! {
        #[test]
        fn order_does_not_matter_and_nothing_gets_smaller(
            mut chances in prop::collection::vec(0.0..1.0_f64, 1..40),
        ) {
            let adjusted = benjamini_hochberg(&chances);
            for (p, q) in chances.iter().zip(&adjusted) {
                prop_assert!(q >= p && *q <= 1.0);
            }
            chances.reverse();
            let mut other = benjamini_hochberg(&chances);
            other.reverse();
            prop_assert_eq!(other, adjusted);
        }
    }
}
