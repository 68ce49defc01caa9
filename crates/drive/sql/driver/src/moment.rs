//! Date and time of day of a moment.

use std::io::Write;

use jiff::SignedDuration;
use jiff::civil::{DateTime, datetime};

const EPOCH: DateTime = datetime(1970, 1, 1, 0, 0, 0, 0);
/// The first moment that all servers have as text.
const FIRST: DateTime = datetime(0, 1, 1, 0, 0, 0, 0);

/// Converts seconds since 1970, clamped to the years 0 to 9999.
pub fn date_time(seconds: i64) -> DateTime {
    EPOCH.saturating_add(SignedDuration::from_secs(seconds)).max(FIRST)
}

/// Appends `2026-11-21 08:30:00`, for seconds since 1970.
pub fn write_moment(seconds: i64, out: &mut Vec<u8>) {
    let text = date_time(seconds).strftime("%Y-%m-%d %H:%M:%S");
    write!(out, "{text}").expect("writing to a vector cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_date_and_time() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00:00"),
            (951_782_399, "2000-02-28 23:59:59"),
            (951_782_400, "2000-02-29 00:00:00"),
            (1_700_000_000, "2023-11-14 22:13:20"),
            (1_735_689_599, "2024-12-31 23:59:59"),
            (1_795_248_005, "2026-11-21 08:00:05"),
            (-1, "1969-12-31 23:59:59"),
            (i64::MAX, "9999-12-31 23:59:59"),
            (i64::MIN, "0000-01-01 00:00:00"),
        ] {
            let mut out = Vec::new();
            write_moment(seconds, &mut out);
            assert_eq!(String::from_utf8_lossy(&out), text);
        }
    }
}
