//! Quantities as exact whole numbers of their smallest unit, from text.

use crate::number::{count, whole};

/// A quantity: its units, and how it is written.
pub(crate) struct Quantity {
    /// Names of the units, and how many of the smallest each has.
    units: &'static [(&'static str, u64)],
    /// Follows "is not" in an error.
    form: &'static str,
    /// Whether a part of the smallest unit is rounded: a byte and a nanosecond are small enough.
    is_rounded: bool,
}

/// A span of time, in nanoseconds.
pub(crate) const SPAN: Quantity = Quantity {
    units: &[
        ("ns", 1),
        ("us", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("m", 60_000_000_000),
        ("min", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ],
    form: "a duration: write 500ms, 60s, 10m or 2h",
    is_rounded: true,
};

/// A size, in bytes.
pub(crate) const SIZE: Quantity = Quantity {
    units: &[
        ("", 1),
        ("B", 1),
        ("K", 1 << 10),
        ("KiB", 1 << 10),
        ("M", 1 << 20),
        ("MiB", 1 << 20),
        ("G", 1 << 30),
        ("GiB", 1 << 30),
        ("T", 1 << 40),
        ("TiB", 1 << 40),
    ],
    form: "a size: write 4096, 64KiB, 512MiB or 2GiB",
    is_rounded: true,
};

/// A count.
pub(crate) const COUNT: Quantity = Quantity {
    units: &[
        ("", 1),
        ("k", 1_000),
        ("K", 1_000),
        ("M", 1_000_000),
        ("m", 1_000_000),
        ("B", 1_000_000_000),
        ("G", 1_000_000_000),
    ],
    form: "a count: write 1000, 1.5k, 4M or 2B",
    is_rounded: false,
};

impl Quantity {
    /// Parses a number with one of the units.
    ///
    /// # Errors
    /// The expected form, or what was meant, when the text has no number or an unknown unit, is a
    /// fraction of the smallest unit, or is too large.
    pub(crate) fn parse(&self, text: &str) -> Result<u64, String> {
        let Self { units, form, is_rounded } = self;
        let (number, unit) = split_digits(text);
        let number = number.replace('_', "");
        let (before, after) = number.split_once('.').unwrap_or((&number, ""));
        let digits = format!("{before}{after}");
        let scale = units.iter().find(|(name, _)| *name == unit).map(|(_, scale)| *scale);
        let scale = scale.filter(|_| !digits.is_empty() && !digits.contains('.'));
        let scale = scale.ok_or_else(|| self.error(text))?;
        let too_long = || format!("`{text}` is too large, or has too many digits, for {form}");
        let parts = 10_u128.checked_pow(count(after.len())).ok_or_else(too_long)?;
        let scaled = digits.parse::<u128>().ok().and_then(|it| it.checked_mul(scale.into()));
        let scaled = scaled.ok_or_else(too_long)?;
        // `1.5` of rows stands for 1.5k or 1.5M: the unit is forgotten.
        if scaled % parts != 0 && (scale == 1 || !is_rounded) {
            return Err(format!("`{text}` is a fraction, not {form}"));
        }
        u64::try_from((scaled + parts / 2) / parts).map_err(|_beyond| too_long())
    }

    /// Returns the error of a text that is no such quantity.
    fn error(&self, text: &str) -> String {
        let is_plain = |(name, _): &(&str, u64)| name.is_empty();
        match meant(text).filter(|_| self.units.iter().any(is_plain)) {
            Some(number) => format!("`{text}` is not written in plain digits: write {number}"),
            None => format!("`{text}` is not {}", self.form),
        }
    }
}

/// Returns the whole number that another notation stands for: `1e3`, `0x10`, `+5`, `1,000`.
fn meant(text: &str) -> Option<u64> {
    let text = text.trim();
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok();
    }
    let number: f64 = text.replace(',', "").parse().ok()?;
    let is_whole = (1.0..1e15).contains(&number) && number.fract() <= 0.0;
    is_whole.then(|| whole(number))
}

/// Splits `12.5MiB` into its digits, with point and underscores, and its unit.
pub(crate) fn split_digits(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_');
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    (number, unit.trim())
}

#[cfg(test)]
mod tests {
    use crate::units::{Bytes, Nanos, parse_count, parse_size, parse_span};

    #[test]
    fn a_count_is_exact_or_refused_with_what_was_meant() {
        let meant = |text: &str| parse_count(text).unwrap_err();
        for (text, number) in [("1e3", 1000), ("+5", 5), ("0x10", 16), ("1,000", 1000)] {
            let expected = format!("`{text}` is not written in plain digits: write {number}");
            assert_eq!(meant(text), expected);
        }
        assert!(parse_size("1e6").unwrap_err().ends_with("write 1000000"));
        for text in ["-5", "1e400", "nan", "inf", "0x", "1.2.3", ".", "_", "", "k", "1e-3"] {
            assert!(meant(text).contains("is not a count: write 1000"), "{text}");
        }
        assert_eq!(parse_count("9007199254740993"), Ok((1 << 53) + 1));
        assert_eq!(parse_count(&u64::MAX.to_string()), Ok(u64::MAX));
        for text in ["18446744073709551616", "18446744074B", &"9".repeat(50), "99999999999T"] {
            assert!(parse_count(text).is_err(), "{text}");
        }
        assert!(parse_size("16777216T").unwrap_err().starts_with("`16777216T` is too large"));
        assert!(parse_span("9999999h").unwrap_err().starts_with("`9999999h` is too large"));
        assert_eq!(parse_size("0.1GiB"), Ok(Bytes(107_374_182)));
        assert_eq!(parse_span("0.1h"), Ok(Nanos::from_secs(360)));
    }
}
