//! Quantities with their unit in the type, and their text forms.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::exact::{COUNT, SIZE, SPAN, split_digits};
use crate::number::{Count, float, percent, whole};

/// A span of time or a monotonic stamp, in nanoseconds.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Nanos(pub u64);

/// A size in bytes.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl Nanos {
    /// One second.
    pub const SECOND: Self = Self(1_000_000_000);

    /// Returns the span of `seconds` whole seconds.
    pub const fn from_secs(seconds: u64) -> Self {
        Self(seconds * 1_000_000_000)
    }

    /// Returns the span of `millis` milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    /// Returns the span in seconds.
    pub fn as_secs_f64(self) -> f64 {
        float(self) / 1e9
    }

    /// Returns the span in microseconds.
    pub fn as_micros_f64(self) -> f64 {
        float(self) / 1e3
    }

    /// Returns `self - earlier`, or zero when `earlier` is later.
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    /// Returns `self + span`, at most the largest stamp.
    pub const fn after(self, span: Self) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Bytes {
    /// One MiB.
    pub const MIB: Self = Self(1 << 20);
    /// One GiB.
    pub const GIB: Self = Self(1 << 30);
}

impl Count for Nanos {
    #[inline]
    fn into_float(self) -> f64 {
        self.0.into_float()
    }
}

impl Count for Bytes {
    #[inline]
    fn into_float(self) -> f64 {
        self.0.into_float()
    }
}

impl fmt::Display for Bytes {
    /// Writes the size with a binary unit and at most three digits: `1.50 GiB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
        let mut value = float(*self);
        let mut unit = 0;
        while value >= 1024.0 && unit + 1 < UNITS.len() {
            value /= 1024.0;
            unit += 1;
        }
        match unit {
            0 => write!(f, "{} B", self.0),
            _ if value < 10.0 => write!(f, "{value:.2} {}", UNITS[unit]),
            _ if value < 100.0 => write!(f, "{value:.1} {}", UNITS[unit]),
            _ => write!(f, "{value:.0} {}", UNITS[unit]),
        }
    }
}

impl fmt::Display for Nanos {
    /// Writes the span with three digits: `14.1 us`, `2.00 s`, `2m10s`, `6h05m`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = float(*self);
        if self.0 >= 60_000_000_000 {
            let seconds = self.0 / 1_000_000_000;
            if seconds >= 3600 {
                return write!(f, "{}h{:02}m", seconds / 3600, seconds / 60 % 60);
            }
            return write!(f, "{}m{:02}s", seconds / 60, seconds % 60);
        }
        let (value, unit) = match self.0 {
            0..1_000 => return write!(f, "{} ns", self.0),
            1_000..1_000_000 => (ns / 1e3, "us"),
            1_000_000..1_000_000_000 => (ns / 1e6, "ms"),
            _ => (ns / 1e9, "s"),
        };
        let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
        write!(f, "{value:.digits$} {unit}")
    }
}

/// Returns a number with its noun: `1 client`, `8 clients`, `1.5 CPUs`.
pub fn many<N: fmt::Display + PartialEq + From<u8>>(number: N, noun: &str) -> String {
    let plural = if number == N::from(1) { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// Returns a number of clients as text: `1 client`, `8 clients`.
pub fn clients(number: u32) -> String {
    many(number, "client")
}

/// Parses a span: a number with a unit, `ns` to `h`.
///
/// # Errors
/// Names the expected form when the text has no number, no unit or an unknown unit.
pub fn parse_span(text: &str) -> Result<Nanos, String> {
    SPAN.parse(text).map(Nanos)
}

/// Parses a span that bounds the work of a run: a second or more.
///
/// # Errors
/// As [`parse_span`], and the least span when the text is shorter.
pub fn parse_limit(text: &str) -> Result<Nanos, String> {
    match parse_span(text)? {
        span if span < Nanos::SECOND => Err(format!("`{text}` is too short: give 1s or more")),
        span => Ok(span),
    }
}

/// Parses a size in binary units: `64KiB`, `512M`, `2GiB`.
///
/// # Errors
/// Names the expected form when the text has no number or an unknown unit.
pub fn parse_size(text: &str) -> Result<Bytes, String> {
    SIZE.parse(text).map(Bytes)
}

/// Parses a count with an optional decimal suffix: `200k`, `4M`, `2B`.
///
/// # Errors
/// Names the expected form when the text has no number or an unknown suffix.
pub fn parse_count(text: &str) -> Result<u64, String> {
    COUNT.parse(text)
}

/// Parses a rate of operations: `800/s`, `50k/s`, `2M/s`.
///
/// # Errors
/// Names the expected form when the text is no rate, has no unit, or is zero, negative or too fast.
pub fn parse_rate(text: &str) -> Result<f64, String> {
    let text = text.trim();
    if text.starts_with('-') {
        return Err(format!(
            "the rate `{text}` is negative: write a rate above zero, such as 50k/s"
        ));
    }
    let no_rate = || format!("`{text}` is not a rate: write operations per second, such as 50k/s");
    let (count, is_per_second) = match text.strip_suffix("/s") {
        Some(count) => (count, true),
        None => (text, false),
    };
    let (value, unit) = split(count).ok_or_else(no_rate)?;
    let scale = match unit {
        "" => 1.0,
        "k" | "K" => 1e3,
        "M" => 1e6,
        _ => return Err(no_rate()),
    };
    if !is_per_second {
        return Err(format!("the rate `{text}` has no unit: write {text}/s"));
    }
    let ops_per_s = value * scale;
    if ops_per_s <= 0.0 {
        return Err(format!("the rate `{text}` is zero: write a rate above zero"));
    }
    if ops_per_s > RATE_MAX_OPS_PER_S {
        return Err(format!("the rate `{text}` is more than one operation each nanosecond"));
    }
    Ok(ops_per_s)
}

/// Highest rate of operations, one each nanosecond: the resolution of timestamps.
pub const RATE_MAX_OPS_PER_S: f64 = 1e9;

/// Parses a share written in per cent: `2%`, `0.5 %`.
///
/// # Errors
/// Names the expected form when the text is no percentage, is not above zero, or is above 100.
pub fn parse_share(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let Some(number) = text.strip_suffix('%') else {
        return Err(format!("`{text}` is not a percentage: write 2% or 0.5%"));
    };
    match split(number) {
        Some((percent, "")) if percent > 0.0 && percent <= 100.0 => Ok(percent / 100.0),
        Some((_, "")) => Err(format!("`{text}` is not above 0% and at most 100%")),
        Some(_) | None => Err(format!("`{text}` is not a percentage: write 2% or 0.5%")),
    }
}

/// Writes a rate of operations: `50,000/s`, `0.5/s`.
pub fn per_second(ops_per_s: f64) -> String {
    // Below a hundred, two digits behind the point may matter.
    let hundredths = round(ops_per_s * 100.0);
    if ops_per_s >= 100.0 || hundredths.is_multiple_of(100) {
        return format!("{}/s", thousands(round(ops_per_s)));
    }
    format!("{}/s", (ops_per_s * 100.0).round() / 100.0)
}

/// Writes a count with a comma between thousands: `1,000,000`.
pub fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Splits `12.5MiB` into its number and its unit; `None` without a number.
fn split(text: &str) -> Option<(f64, &str)> {
    let (number, unit) = split_digits(text);
    Some((number.replace('_', "").parse().ok()?, unit))
}

/// Rounds a non-negative number to the nearest whole one.
fn round(value: f64) -> u64 {
    whole(value.round())
}

/// Returns a large ratio with two digits: `4.9x`, `3,700x`, `3.7 million x`.
pub fn times(ratio: f64) -> String {
    let (size, unit) = match ratio {
        1e12.. => return "over 1,000 billion x".to_owned(),
        1e9.. => (ratio / 1e9, " billion "),
        1e6.. => (ratio / 1e6, " million "),
        _ => (ratio, ""),
    };
    if size < 9.95 {
        return format!("{size:.1}{unit}x");
    }
    let step = 10_f64.powf(size.log10().floor() - 1.0);
    format!("{}{unit}x", thousands(whole((size / step).round() * step)))
}

/// Returns a difference as a share of the smaller side: `27 %`, and from a doubling on `4.9x`.
pub fn difference(share: f64) -> String {
    if share < 1.0 { percent(share) } else { times(1.0 + share) }
}

/// The unit of a metric's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A plain number of things.
    Count,
    /// Bytes.
    Bytes,
    /// KiB.
    Kibibytes,
    /// Microseconds.
    Micros,
    /// Nanoseconds.
    Nanos,
    /// Seconds.
    Seconds,
    /// A share of one, 0 to 1.
    Share,
    /// A quotient of two like quantities.
    Ratio,
    /// Operations per second.
    OpsPerSecond,
    /// Megahertz.
    Megahertz,
    /// Degrees Celsius.
    Celsius,
    /// Microjoules.
    Microjoules,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_differences_are_factors_of_two_digits() {
        let shares = [0.27, 0.998, 1.0, 4.96, 8.96, 11.3, 98.7, 3_711.0, 370_287.0];
        let expected =
            ["27 %", "100 %", "2.0x", "6.0x", "10x", "12x", "100x", "3,700x", "370,000x"];
        assert_eq!(shares.map(difference), expected);
        let expected = ["3.7 million x", "370 million x", "3.7 billion x", "over 1,000 billion x"];
        assert_eq!([3_702_871.4, 3.7e8, 3.7e9, f64::INFINITY].map(times), expected);
    }

    #[test]
    fn sizes_spans_and_counts_are_parsed() {
        assert_eq!(parse_size("2GiB"), Ok(Bytes(2 << 30)));
        assert_eq!(parse_size("1.5 K"), Ok(Bytes(1536)));
        assert_eq!(parse_span("500ms"), Ok(Nanos::from_millis(500)));
        assert_eq!(parse_span("2m"), Ok(Nanos::from_secs(120)));
        assert_eq!(parse_count("4M"), Ok(4_000_000));
        assert_eq!(parse_count("1_000"), Ok(1000));
    }

    #[test]
    fn a_wrong_unit_is_rejected_with_an_example() {
        assert!(parse_span("5").unwrap_err().contains("60s"));
        assert!(parse_size("5 parsec").unwrap_err().contains("GiB"));
        assert!(parse_count("many").unwrap_err().contains("1.5k"));
    }

    #[test]
    fn a_part_of_the_smallest_unit_is_not_rounded() {
        let rows = "`1.5` is a fraction, not a count: write 1000, 1.5k, 4M or 2B";
        assert_eq!(parse_count("1.5"), Err(rows.to_owned()));
        assert!(parse_size("0.5").unwrap_err().starts_with("`0.5` is a fraction, not a size"));
        assert!(parse_span("0.5ns").unwrap_err().starts_with("`0.5ns` is a fraction"));
        assert_eq!((parse_count("2.3M"), parse_count("3.0")), (Ok(2_300_000), Ok(3)));
        assert_eq!(parse_size("0.3KiB"), Ok(Bytes(307)), "a byte is small enough");
        assert!(parse_count("1.0001k").unwrap_err().starts_with("`1.0001k` is a fraction"));
    }

    #[test]
    fn a_limit_is_a_second_or_more() {
        assert_eq!(parse_limit("1s"), Ok(Nanos::SECOND));
        assert_eq!(parse_limit("999ms"), Err("`999ms` is too short: give 1s or more".to_owned()));
    }

    #[test]
    fn a_rate_is_a_count_of_operations_per_second() {
        assert_eq!(parse_rate("50k/s"), Ok(50_000.0));
        assert_eq!(parse_rate(" 1.5M/s"), Ok(1_500_000.0));
        assert_eq!(parse_rate("0.5/s"), Ok(0.5));
        let refused = |text: &str| parse_rate(text).unwrap_err();
        assert_eq!(refused("50k"), "the rate `50k` has no unit: write 50k/s");
        assert_eq!(
            refused("-5k/s"),
            "the rate `-5k/s` is negative: write a rate above zero, such as 50k/s"
        );
        assert!(refused("0/s").contains("is zero"));
        assert!(refused("2MiB/s").contains("not a rate"));
        assert!(refused("50k/min").contains("not a rate"));
        assert!(refused("2000M/s").contains("nanosecond"));
        assert!(refused("").contains("such as 50k/s"));
    }

    #[test]
    fn a_share_is_written_in_per_cent() {
        assert_eq!((parse_share("2%"), parse_share(" 0.5 % ")), (Ok(0.02), Ok(0.005)));
        let refused = |text: &str| parse_share(text).unwrap_err();
        assert_eq!(refused("0.02"), "`0.02` is not a percentage: write 2% or 0.5%");
        assert_eq!(refused("0%"), "`0%` is not above 0% and at most 100%");
        assert!(refused("101%").contains("at most 100%"));
        assert!(refused("2 p%").contains("write 2%") && refused("-2%").contains("write 2%"));
    }

    #[test]
    fn counts_and_rates_are_written_with_commas() {
        assert_eq!([0, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(
            [50_000.0, 100.4, 99.5, 0.5].map(per_second),
            ["50,000/s", "100/s", "99.5/s", "0.5/s"]
        );
    }

    #[test]
    fn three_digits_are_shown() {
        assert_eq!(Bytes(1536 << 20).to_string(), "1.50 GiB");
        assert_eq!(Nanos(14_120).to_string(), "14.1 us");
        assert_eq!(Nanos::from_secs(130).to_string(), "2m10s");
        assert_eq!(Nanos::from_secs(6 * 3600 + 301).to_string(), "6h05m");
    }
}
