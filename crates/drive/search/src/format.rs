//! Formats figures for the reasons in a record.

use model::{Bytes, whole};

/// Formats a share with three digits: `0.0812 %`.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent <= 0.0 {
        return "0 %".to_owned();
    }
    // Decimals for three significant digits, six at most.
    let digits = (2.0 - percent.log10().floor()).clamp(0.0, 6.0);
    let scale = 10_f64.powf(digits);
    format!("{} %", (percent * scale).round() / scale)
}

/// Formats a number of bytes, possibly negative.
pub(crate) fn bytes(bytes: f64) -> String {
    let sign = if bytes <= -0.5 { "-" } else { "" };
    format!("{sign}{}", Bytes(whole(bytes.abs().round())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_three_digits() {
        let written = [0.0, 0.000_812_34, 0.01, 0.123_456, 1.0, 1e-12].map(percent);
        assert_eq!(written, ["0 %", "0.0812 %", "1 %", "12.3 %", "100 %", "0 %"]);
    }

    #[test]
    fn bytes_have_a_sign_and_a_unit() {
        assert_eq!([-2048.0, 0.0, 3e6].map(bytes), ["-2.00 KiB", "0 B", "2.86 MiB"]);
    }
}
