//! How well a percentile of many operations is known, by ranks.

use statrs::distribution::{Binomial, DiscreteCDF};

/// The operations between which a percentile lies, counted from the fastest as 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ranks {
    /// Lower limit; `None` when there are too few operations for one.
    pub low: Option<u64>,
    /// Upper limit; `None` when there are too few: the percentile is the slowest or beyond.
    pub high: Option<u64>,
}

/// Returns the ranks of the 95 % interval of a percentile of `n` independent operations.
///
/// `share` is the share of operations at or below it, above 0 and below 1. An upper limit takes 368
/// operations at 99 %, 3,688 at 99.9 % and 36,887 at 99.99 %. Operations in a stall are not
/// independent: the interval is then too narrow.
///
/// Source: W. J. Conover, 1999, "Practical Nonparametric Statistics", 3rd edition, section 3.2; the
/// project's reference, analysis, section 5.1.
#[must_use]
pub fn ranks(n: u64, share: f64) -> Ranks {
    let Ok(below) = Binomial::new(share, n) else { return Ranks { low: None, high: None } };
    let low = below.inverse_cdf(0.025);
    let high = below.inverse_cdf(0.975).saturating_add(1);
    Ranks { low: (low > 0).then_some(low), high: (high <= n).then_some(high) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_and_least_counts_are_those_of_the_reference() {
        // Analysis, section 5.1.
        assert_eq!(ranks(10_000, 0.999), Ranks { low: Some(9_983), high: Some(9_997) });
        for (share, least) in [(0.99, 368), (0.999, 3_688), (0.9999, 36_887)] {
            assert_eq!(ranks(least - 1, share).high, None, "{share}");
            assert_eq!(ranks(least, share).high, Some(least), "{share}");
        }
    }

    #[test]
    fn ranks_are_those_of_scipy() {
        // scipy 1.17.1: stats.binom.ppf([0.025, 0.975], n, p) + [0, 1].
        let known =
            [(100, 0.5, 40, 61), (1_000, 0.95, 936, 964), (1_000_000, 0.999, 998_938, 999_062)];
        for (n, share, low, high) in known {
            assert_eq!(ranks(n, share), Ranks { low: Some(low), high: Some(high) });
        }
        assert_eq!(ranks(3, 0.5), Ranks { low: None, high: None });
        assert_eq!(ranks(0, 0.5).low, None);
        assert_eq!(ranks(10, f64::NAN), Ranks { low: None, high: None });
    }
}
