//! Number formatting: three digits, a readable unit, one scale per range.
//!
//! Every table, plot and sentence formats its numbers here.

use model::Unit;
use stats::{Effect, Interval, Spread, Verdict};

/// Placeholder of an unknown value.
pub const MISSING: &str = "NA";

/// Scale of a unit: from which value on, divided by what, with which suffix.
type Scale = (f64, f64, &'static str);

const DECIMAL: &[Scale] =
    &[(1e15, 1.0, ""), (1e9, 1e9, " G"), (1e6, 1e6, " M"), (1e3, 1e3, " k"), (0.0, 1.0, "")];
const BINARY: &[Scale] = &[
    (1_099_511_627_776.0, 1_099_511_627_776.0, " TiB"),
    (1_073_741_824.0, 1_073_741_824.0, " GiB"),
    (1_048_576.0, 1_048_576.0, " MiB"),
    (1_024.0, 1_024.0, " KiB"),
    (0.0, 1.0, " B"),
];
/// Nanoseconds to the unit that keeps three digits.
const ENERGY: &[Scale] =
    &[(1e6, 1e6, " J"), (1e3, 1e3, " mJ"), (1.0, 1.0, " \u{b5}J"), (0.0, 1e-3, " nJ")];
const SPAN: &[Scale] =
    &[(1e9, 1e9, " s"), (1e6, 1e6, " ms"), (1e3, 1e3, " \u{b5}s"), (0.0, 1.0, " ns")];

/// Returns `value` with two or three significant digits: `251`, `14.1`, `0.012`.
///
/// Positive values below 0.001 are written `<0.001`, never 0, and those of ten digits or more
/// `1.23e9`.
pub fn digits(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        "0".to_owned()
    } else if size < 0.001 {
        if value > 0.0 { "<0.001".to_owned() } else { ">-0.001".to_owned() }
    } else if size < 0.009_95 {
        format!("{value:.4}")
    } else if size < 0.0995 {
        format!("{value:.3}")
    } else if size < 9.995 {
        format!("{value:.2}")
    } else if size < 99.95 {
        format!("{value:.1}")
    } else if size < 999_999_999.5 {
        format!("{value:.0}")
    } else {
        format!("{value:.2e}")
    }
}

/// Returns `value` with three significant digits at any size: `4.00e-4` below 0.001.
pub(crate) fn significant(value: f64) -> String {
    let is_small = value != 0.0 && value.abs() < 0.001;
    if is_small { format!("{value:.2e}") } else { digits(value) }
}

/// Returns `value` as a quantity of `unit`: `251 k`, `1.50 GiB`.
pub fn figure(unit: Unit, value: f64) -> String {
    let scale = scale_of(unit, value);
    format!("{}{}", significant(value * scale.0), scale.1)
}

/// Returns the range of `spread` in its mean's scale: `248..255`.
pub fn range(unit: Unit, spread: &Spread) -> String {
    let scale = scale_of(unit, spread.mean).0;
    format!("{}..{}", significant(spread.min * scale), significant(spread.max * scale))
}

/// Returns the sign of an effect's verdict: its direction.
///
/// Full triangles are beyond the margin, hollow ones real and within it.
pub fn sign(effect: &Effect) -> &'static str {
    match effect.verdict {
        Verdict::Above => "\u{25b2}",
        Verdict::Below => "\u{25bc}",
        Verdict::SmallButReal if effect.ratio < 1.0 => "\u{25bd}",
        Verdict::SmallButReal => "\u{25b3}",
        Verdict::Equivalent => "\u{2248}",
        Verdict::Inconclusive => "?",
    }
}

/// Returns what stands in the place of a ratio to a base of 0; `None` for another base.
pub const fn ratio_to_zero(value: f64, base: f64) -> Option<&'static str> {
    match (value, base) {
        (0.0, 0.0) => Some("both 0"),
        (_, 0.0) => Some("from 0"),
        _ => None,
    }
}

/// Returns the limits of an interval: `[low, high]`.
pub fn limits(low: impl std::fmt::Display, high: impl std::fmt::Display) -> String {
    format!("[{low}, {high}]")
}

/// Returns an interval of ratios as written in relative tables: `[1.02, 1.07]`.
///
/// A limit that would be written as 1 without being 1 gets the digits that show on which side it
/// lies: `[0.998, 1.07]`.
pub fn interval(of: &Interval) -> String {
    limits(ratio(of.low), ratio(of.high))
}

/// Returns a ratio, with more digits near 1: `0.998`.
pub(crate) fn ratio(value: f64) -> String {
    match digits(value) {
        text if text == "1.00" && (value - 1.0).abs() >= 5e-4 => format!("{value:.3}"),
        text if text == "1.00" && (value - 1.0).abs() >= 5e-5 => format!("{value:.4}"),
        text => text,
    }
}

/// Returns a share in percent: `2.7 %`, `12 %`, `0.04 %`.
pub fn percent(share: f64) -> String {
    let value = 100.0 * share;
    let places = match value.abs() {
        size if size >= 9.95 => 0,
        size if size >= 0.095 || size == 0.0 => 1,
        _ => 2,
    };
    format!("{value:.places$} %")
}

/// Returns a difference as a share of the smaller side: `2.7 %`, and from a doubling on `4.9x`.
pub(crate) fn difference(share: f64) -> String {
    if share < 1.0 { percent(share) } else { model::times(1.0 + share) }
}

/// Returns a declared share in percent without trailing zeros: `0.5 %`.
pub fn declared(share: f64) -> String {
    let text = format!("{:.2}", 100.0 * share);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Returns a ratio as a signed change: `+8.0 %`, `-12 %`.
pub fn change(ratio: f64) -> String {
    let share = ratio - 1.0;
    // What would be written as 0.00 is written as 0.0, without a direction.
    let text = percent(if share.abs() < 0.000_05 { 0.0 } else { share });
    if text.starts_with('-') { text } else { format!("+{text}") }
}

/// Returns a count with separators: `1,000,000`.
pub fn count(value: u64) -> String {
    let plain = value.to_string();
    let mut grouped = String::with_capacity(plain.len() + plain.len() / 3);
    for (place, digit) in plain.chars().enumerate() {
        if place > 0 && (plain.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Returns the unit's name in CSV files.
pub const fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::Count => "count",
        Unit::Bytes => "bytes",
        Unit::Kibibytes => "kib",
        Unit::Micros => "us",
        Unit::Nanos => "ns",
        Unit::Seconds => "s",
        Unit::Share => "share",
        Unit::Ratio => "ratio",
        Unit::OpsPerSecond => "per_s",
        Unit::Megahertz => "mhz",
        Unit::Celsius => "celsius",
        Unit::Microjoules => "uj",
    }
}

/// Returns what `value` is multiplied by and the suffix that then follows.
fn scale_of(unit: Unit, value: f64) -> (f64, &'static str) {
    let pick = |scales: &[Scale], factor: f64| {
        // 999.6 would be written 1000: it belongs to the next scale already.
        let size = value.abs() * factor * 1.000_5;
        let fits = scales.iter().find(|(from, _, _)| size >= *from);
        fits.map_or((1.0, ""), |(_, by, suffix)| (factor / by, *suffix))
    };
    match unit {
        Unit::Count | Unit::OpsPerSecond => pick(DECIMAL, 1.0),
        Unit::Bytes => pick(BINARY, 1.0),
        Unit::Kibibytes => pick(BINARY, 1_024.0),
        Unit::Nanos => pick(SPAN, 1.0),
        Unit::Micros => pick(SPAN, 1e3),
        Unit::Seconds => pick(SPAN, 1e9),
        Unit::Share => (100.0, " %"),
        Unit::Ratio => (1.0, ""),
        Unit::Megahertz => (1.0, " MHz"),
        Unit::Celsius => (1.0, " \u{b0}C"),
        Unit::Microjoules => pick(ENERGY, 1.0),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn three_digits_are_shown_at_every_size() {
        let shown: Vec<String> =
            [251_342.0, 999_700.0, 88.04, 9.996, 1.041, 0.354, 0.035, 0.0004, 0.0]
                .into_iter()
                .map(|value| figure(Unit::OpsPerSecond, value))
                .collect();
        let expected = ["251 k", "1.00 M", "88.0", "10.0", "1.04", "0.35", "0.035", "4.00e-4", "0"];
        assert_eq!(shown, expected);
        assert_eq!(figure(Unit::Count, -0.000_5), "-5.00e-4");
        assert_eq!(figure(Unit::Count, 1e12), "1000 G");
        assert_eq!(figure(Unit::Count, -1e50), "-1.00e50");
        assert_eq!([0.000_4, 1e12].map(digits), ["<0.001", "1.00e12"]);
    }

    #[test]
    fn every_unit_has_its_own_scale() {
        assert_eq!(figure(Unit::Nanos, 14_120.0), "14.1 \u{b5}s");
        assert_eq!(figure(Unit::Micros, 14.12), "14.1 \u{b5}s");
        assert_eq!(figure(Unit::Micros, 14_120.0), "14.1 ms");
        assert_eq!(figure(Unit::Seconds, 1.9), "1.90 s");
        assert_eq!(figure(Unit::Bytes, 1_610_612_736.0), "1.50 GiB");
        assert_eq!(figure(Unit::Kibibytes, 0.02), "20.5 B");
        assert_eq!(figure(Unit::Micros, 0.25), "250 ns");
        assert_eq!(figure(Unit::Kibibytes, 2_048.0), "2.00 MiB");
        assert_eq!(figure(Unit::Share, 0.123), "12.3 %");
        assert_eq!(figure(Unit::Ratio, 1_234.0), "1234");
        assert_eq!(count(1_000_000), "1,000,000");
        assert_eq!(count(999), "999");
    }

    #[test]
    fn a_range_is_written_in_the_scale_of_its_mean() {
        let spread = Spread::of(&[998_000.0, 1_001_000.0, 1_020_000.0]).unwrap();
        assert_eq!(figure(Unit::OpsPerSecond, spread.mean), "1.01 M");
        assert_eq!(range(Unit::OpsPerSecond, &spread), "1.00..1.02");
    }

    #[test]
    fn shares_keep_two_digits_and_changes_their_sign() {
        let shown = [0.027, 0.124, 0.0004, 0.0].map(percent);
        assert_eq!(shown, ["2.7 %", "12 %", "0.04 %", "0.0 %"]);
        assert_eq!([1.08, 0.88, 1.0, 0.987].map(change), ["+8.0 %", "-12 %", "+0.0 %", "-1.3 %"]);
        assert_eq!([0.02, 0.005, 0.1].map(declared), ["2 %", "0.5 %", "10 %"]);
    }

    #[test]
    fn nothing_is_divided_by_zero() {
        let shown = [(0.0, 0.0), (2.0, 0.0), (0.0, 2.0)].map(|(a, b)| ratio_to_zero(a, b));
        assert_eq!(shown, [Some("both 0"), Some("from 0"), None]);
    }

    #[test]
    fn a_limit_near_one_shows_on_which_side_it_lies() {
        let written = |low, high| interval(&Interval { low, high });
        assert_eq!(written(1.024, 1.069), "[1.02, 1.07]");
        assert_eq!(written(0.912, 1.0031), "[0.91, 1.003]");
        assert_eq!(written(0.9991, 1.0004), "[0.999, 1.0004]");
        assert_eq!(written(17.94, 18.06), "[17.9, 18.1]");
    }

    proptest! {
        #[test]
        fn what_is_written_is_within_half_a_percent(value in 1.0..1e12_f64) {
            let text = figure(Unit::OpsPerSecond, value);
            let (number, suffix) = text.split_once(' ').unwrap_or((&text, ""));
            let by = match suffix { "k" => 1e3, "M" => 1e6, "G" => 1e9, _ => 1.0 };
            let read: f64 = number.parse::<f64>().unwrap() * by;
            prop_assert!((read / value - 1.0).abs() <= 0.0051, "{value} was written {text}");
            prop_assert!(number.len() <= 4 || value >= 1e12, "{text}");
        }
    }
}
