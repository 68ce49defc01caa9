//! The Poisson arrival process: independent exponential gaps.

use workload::random::{Stream, unit};

/// The Poisson process of unit rate: gaps are independent and exponential with mean 1.
///
/// Source: [Cinlar 1975], ch. 4, section 2: interarrival times of a Poisson process.
#[derive(Debug, Clone)]
pub(super) struct Poisson {
    random: Stream,
    number: u64,
    /// Sum of the gaps so far.
    ///
    /// Rounding is to the nearest, so it does not add up: after 10^10 arrivals a sum is off by
    /// less than one gap.
    sum: f64,
}

impl Poisson {
    /// Returns the process that a random stream decides.
    pub(super) const fn new(random: Stream) -> Self {
        Self { random, number: 0, sum: 0.0 }
    }

    /// Returns the time of the next arrival.
    #[inline(always)]
    pub(super) fn next(&mut self) -> f64 {
        // Inversion: 1 - u is above 0, so the gap is finite; at most 36.7.
        let uniform = 1.0 - unit(self.random.word(self.number));
        self.number += 1;
        self.sum -= uniform.ln();
        self.sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaps(seed: u64, count: usize) -> Vec<f64> {
        let mut process = Poisson::new(Stream::fixed(seed));
        let mut last = 0.0;
        let gap = |_| {
            let at = process.next();
            let gap = at - last;
            last = at;
            gap
        };
        (0..count).map(gap).collect()
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn gaps_are_exponential() {
        // Goal: the distribution of gaps is the one named, not just its mean.
        // Method: Kolmogorov-Smirnov against 1 - exp(-x), 100,000 gaps. Critical value at 1 %:
        // 1.628 / sqrt(n) ([Massey 1951], table 1); seeds are fixed, so a failure is a defect.
        const COUNT: usize = 100_000;
        for seed in 1..=8 {
            let mut gaps = gaps(seed, COUNT);
            gaps.sort_by(f64::total_cmp);
            let n = COUNT as f64;
            let distance = gaps.iter().enumerate().fold(0.0f64, |worst, (rank, gap)| {
                let theory = 1.0 - (-gap).exp();
                let (below, above) = (rank as f64 / n, (rank + 1) as f64 / n);
                worst.max((theory - below).abs()).max((above - theory).abs())
            });
            assert!(distance < 1.628 / n.sqrt(), "seed {seed}: {distance}");
        }
    }

    #[test]
    fn gaps_are_independent() {
        // Autocorrelation of independent values is normal with deviation 1 / sqrt(n).
        const COUNT: usize = 200_000;
        let gaps = gaps(42, COUNT);
        let center = mean(&gaps);
        let variance = mean(&gaps.iter().map(|gap| (gap - center).powi(2)).collect::<Vec<_>>());
        for lag in 1..=5 {
            let products = gaps.iter().zip(&gaps[lag..]).map(|(a, b)| (a - center) * (b - center));
            let correlation = mean(&products.collect::<Vec<_>>()) / variance;
            assert!(correlation.abs() < 3.3 / (COUNT as f64).sqrt(), "lag {lag}: {correlation}");
        }
    }

    #[test]
    fn counts_vary_as_much_as_their_mean() {
        // Goal: counts per window are Poisson too: their variance is their mean.
        // Method: 20,000 windows of 10; the index of dispersion has deviation sqrt(2 / 20,000).
        const WINDOWS: usize = 20_000;
        let mut process = Poisson::new(Stream::fixed(7));
        let mut counts = vec![0.0f64; WINDOWS];
        loop {
            #[expect(clippy::cast_possible_truncation, reason = "a small position")]
            #[expect(clippy::cast_sign_loss, reason = "times are positive")]
            let window = (process.next() / 10.0) as usize;
            let Some(count) = counts.get_mut(window) else { break };
            *count += 1.0;
        }
        let center = mean(&counts);
        let variance = mean(&counts.iter().map(|n| (n - center).powi(2)).collect::<Vec<_>>());
        assert!((center - 10.0).abs() < 0.08, "{center}");
        assert!((variance / center - 1.0).abs() < 0.033, "{}", variance / center);
    }

    #[test]
    fn the_mean_rate_is_one() {
        // 30 million gaps: the mean has a deviation of 0.018 %, and 0.1 % is 5.5 of them.
        let mut process = Poisson::new(Stream::fixed(3));
        let last = (0..30_000_000u32).fold(0.0, |_, _| process.next());
        assert!((last / 3.0e7 - 1.0).abs() < 0.001, "{last}");
        // Late in a long step, too: gaps are as they were.
        process.sum = 1.0e10;
        let start = process.sum;
        let last = (0..1_000_000u32).fold(0.0, |_, _| process.next());
        assert!(((last - start) / 1.0e6 - 1.0).abs() < 0.004, "{last}");
    }
}
