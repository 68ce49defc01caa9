//! Seeded random series for simulations and tests.

/// Returns the number of simulated cases: `long` where `ASSAY_CAMPAIGN=long`, otherwise a sample.
///
/// Source: our choice, so that the tests take seconds.
pub fn cases(sample: u64, long: u64) -> u64 {
    let is_long = std::env::var_os("ASSAY_CAMPAIGN").is_some_and(|length| length == "long");
    if is_long { long } else { sample }
}

/// A stream of random numbers.
#[derive(Debug)]
pub struct Noise(u64);

impl Noise {
    /// Returns the stream of that seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number above 0 and below 1.
    ///
    /// Source: SplitMix64 [Steele Lea Flood 2014].
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64 + f64::EPSILON / 4.0
    }

    /// Returns a standard normal number.
    ///
    /// Source: [Box Muller 1958].
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Returns a stationary AR(1) series with standard normal innovations.
    ///
    /// `r` is above -1 and below 1.
    ///
    /// Source: [Priestley 1981, section 3.5.2].
    pub fn autoregression(&mut self, length: usize, r: f64) -> Vec<f64> {
        let mut value = self.normal() / (1.0 - r * r).sqrt();
        let mut step = || {
            value = r * value + self.normal();
            value
        };
        (0..length).map(|_| step()).collect()
    }
}
