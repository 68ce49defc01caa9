//! Arithmetic on optional readings: unknown in, unknown out.

use model::Readings;

/// Metrics under construction: unknown and non-finite values never enter.
#[derive(Default)]
pub(super) struct Derived {
    pub(super) readings: Readings,
}

impl Derived {
    /// Sets a metric of the model's table, if it is known.
    pub(super) fn set(&mut self, name: &str, value: Option<f64>) {
        debug_assert!(model::metric::find(name).is_some(), "{name} is not in METRICS");
        if let Some(value) = value.filter(|value| value.is_finite()) {
            self.readings.insert(name.to_owned(), value);
        }
    }
}

pub(super) fn get(readings: &Readings, name: &str) -> Option<f64> {
    readings.get(name).copied()
}

/// Returns the sum when every part is known.
pub(super) fn sum(parts: &[Option<f64>]) -> Option<f64> {
    parts.iter().copied().sum()
}

/// Returns the quotient when both are known and the divisor is positive.
pub(super) fn ratio(part: Option<f64>, whole: Option<f64>) -> Option<f64> {
    part.zip(whole).filter(|(_, whole)| *whole > 0.0).map(|(part, whole)| part / whole)
}

#[expect(clippy::cast_precision_loss, reason = "counts and bytes stay far below 2^53")]
pub(super) fn float(count: u64) -> f64 {
    count as f64
}
