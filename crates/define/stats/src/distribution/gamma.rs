//! The trigamma function and its inverse.

/// Above this the series is exact to fifteen digits.
const LARGE: f64 = 15.0;

/// Returns the trigamma function; `x` is above 0.
///
/// Source: [Abramowitz Stegun 1964, 6.4.6 (recurrence) and 6.4.12 (series for large arguments)].
pub fn trigamma(x: f64) -> f64 {
    let (mut x, mut sum) = (x, 0.0);
    while x < LARGE {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let bernoulli = y * (1.0 / 6.0 - y * (1.0 / 30.0 - y * (1.0 / 42.0 - y / 30.0)));
    sum + (1.0 + 0.5 / x + bernoulli) / x
}

/// Limits of the inverse, as logarithms: far wider than any noise.
const RANGE: (f64, f64) = (-20.0, 20.0);

/// Bisections of that range: to twelve digits.
const HALVINGS: u32 = 45;

/// Returns the x whose trigamma is `y`; `y` is above 0.
///
/// Source: [Smyth 2004, appendix]; solved by bisection instead of Newton's method.
pub fn trigamma_inverse(y: f64) -> f64 {
    let (mut low, mut high) = RANGE;
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if trigamma(middle.exp()) > y {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_scipy_and_invert() {
        // scipy 1.17.1, special.polygamma(1, x); pi^2 / 2 and pi^2 / 6 among them.
        let known = [
            (0.01, 10_001.621_213_53),
            (0.5, 4.934_802_20),
            (1.0, 1.644_934_07),
            (2.5, 0.490_357_76),
            (4.0, 0.283_822_96),
            (10.0, 0.105_166_34),
            (25.0, 0.040_810_66),
            (1000.0, 0.001_000_50),
        ];
        for (x, known) in known {
            assert!((trigamma(x) - known).abs() < 6e-9 * known.max(1.0), "{x}: {}", trigamma(x));
            assert!((trigamma_inverse(trigamma(x)) / x - 1.0).abs() < 1e-9, "{x}");
        }
    }
}
