//! Change of a product, divided among its factors (LMDI).

use serde::Serialize;

/// A thing of the base, and the same of the variant.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair<T> {
    pub(super) base: T,
    pub(super) variant: T,
}

/// One factor of a product.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Factor {
    /// Its name.
    pub name: &'static str,
    /// Its value for the base.
    pub base: f64,
    /// Its value for the variant.
    pub variant: f64,
    /// Its contribution to the product's change, in the product's unit.
    pub adds: f64,
}

/// A product of two factors that both changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Identity {
    /// Name of the product.
    pub whole: &'static str,
    /// The factors; their contributions add up to the product's change.
    pub factors: [Factor; 2],
}

/// Divides the change of `whole` = first x second among both; `None` unless all are positive.
///
/// The second factor is the quotient of `whole` and `first`.
///
/// Source: additive LMDI: the weight of ln(factor ratio) is the logarithmic mean [Ang 2005].
pub(super) fn identity(
    name: &'static str,
    [first_name, second_name]: [&'static str; 2],
    whole: Pair<f64>,
    first: Pair<f64>,
) -> Option<Identity> {
    let second = Pair { base: whole.base / first.base, variant: whole.variant / first.variant };
    let all = [whole, first, second];
    let is_positive = |value: f64| value > 0.0 && value.is_finite();
    if !all.iter().all(|pair| is_positive(pair.base) && is_positive(pair.variant)) {
        return None;
    }
    let weight = logarithmic_mean(whole.base, whole.variant);
    let factor = |name, Pair { base, variant }: Pair<f64>| Factor {
        name,
        base,
        variant,
        adds: weight * (variant / base).ln(),
    };
    let factors = [factor(first_name, first), factor(second_name, second)];
    Some(Identity { whole: name, factors })
}

/// Returns (a - b) / ln(a / b), which is a where both are equal.
fn logarithmic_mean(a: f64, b: f64) -> f64 {
    let log = (a / b).ln();
    // Near equality the quotient loses its digits, and the mean of both differs by less.
    if log.abs() < 1e-6 { f64::midpoint(a, b) } else { (a - b) / log }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn pair((base, variant): (f64, f64)) -> Pair<f64> {
        Pair { base, variant }
    }

    #[test]
    fn a_product_s_growth_is_divided_by_the_logarithms_of_its_factors() {
        // 2 x 10 = 20 became 4 x 15 = 60: ln 2 and ln 1.5 of ln 3.
        let found =
            identity("time", ["reads", "each"], pair((20.0, 60.0)), pair((2.0, 4.0))).unwrap();
        let [reads, each] = found.factors;
        assert!((reads.adds - 40.0 * 2_f64.ln() / 3_f64.ln()).abs() < 1e-9);
        assert!((each.adds - 40.0 * 1.5_f64.ln() / 3_f64.ln()).abs() < 1e-9);
        assert_eq!((each.base, each.variant), (10.0, 15.0));
        assert_eq!(identity("time", ["reads", "each"], pair((0.0, 60.0)), pair((2.0, 4.0))), None);
        let same =
            identity("time", ["reads", "each"], pair((20.0, 20.0)), pair((2.0, 4.0))).unwrap();
        assert!((same.factors[0].adds - 20.0 * 2_f64.ln()).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn the_factors_add_up_to_the_change(
            whole in (1e-3..1e6_f64, 1e-3..1e6_f64), first in (1e-3..1e6_f64, 1e-3..1e6_f64),
        ) {
            let found = identity("w", ["a", "b"], pair(whole), pair(first)).unwrap();
            let sum: f64 = found.factors.iter().map(|factor| factor.adds).sum();
            prop_assert!((sum - (whole.1 - whole.0)).abs() <= 1e-6 * whole.0.max(whole.1));
        }
    }
}
