//! Date and time of day of a moment.

const SECONDS_PER_DAY: i64 = 86_400;

/// A date and time of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Year.
    pub year: i64,
    /// Month and day, from 1.
    pub day: [u8; 2],
    /// Hour, minute and second.
    pub time: [u8; 3],
}

impl Moment {
    /// Converts seconds since 1970.
    ///
    /// Source: Howard Hinnant 2013, "chrono-Compatible Low-Level Date Algorithms",
    /// `civil_from_days`.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 100")]
    pub fn of(seconds: i64) -> Self {
        let second = seconds.rem_euclid(SECONDS_PER_DAY);
        let days = seconds.div_euclid(SECONDS_PER_DAY) + 719_468;
        let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let shifted = (5 * day + 2) / 153;
        let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
        Self {
            year: year + era * 400 + i64::from(month <= 2),
            day: [month as u8, (day - (153 * shifted + 2) / 5 + 1) as u8],
            time: [second / 3600, second / 60 % 60, second % 60].map(|part| part as u8),
        }
    }

    /// Converts seconds since 1970, clamped to the years 0 to 9999.
    pub fn clamped(seconds: i64) -> Self {
        Self::of(seconds.clamp(-719_528 * SECONDS_PER_DAY, 2_932_897 * SECONDS_PER_DAY - 1))
    }

    /// Appends `2026-11-21 08:30:00`.
    pub fn write(self, out: &mut Vec<u8>) {
        use std::io::Write;
        write!(out, "{:04}", self.year).expect("writing to a vector cannot fail");
        for (separator, part) in b"-- ::".iter().zip(self.day.into_iter().chain(self.time)) {
            out.extend_from_slice(&[*separator, b'0' + part / 10, b'0' + part % 10]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_calendar() {
        let moment = Moment::of(1_700_000_000);
        assert_eq!(moment, Moment { year: 2023, day: [11, 14], time: [22, 13, 20] });
        assert_eq!(Moment::of(0), Moment { year: 1970, day: [1, 1], time: [0, 0, 0] });
        assert_eq!(Moment::of(-1), Moment { year: 1969, day: [12, 31], time: [23, 59, 59] });
        assert_eq!(Moment::clamped(i64::MAX).year, 9999);
        assert_eq!(Moment::clamped(i64::MIN), Moment { year: 0, day: [1, 1], time: [0, 0, 0] });
    }

    #[test]
    fn moments_are_written_as_date_and_time() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00:00"),
            (951_782_399, "2000-02-28 23:59:59"),
            (951_782_400, "2000-02-29 00:00:00"),
            (1_735_689_599, "2024-12-31 23:59:59"),
            (1_795_248_005, "2026-11-21 08:00:05"),
            (-1, "1969-12-31 23:59:59"),
        ] {
            let mut out = Vec::new();
            Moment::of(seconds).write(&mut out);
            assert_eq!(out, text.as_bytes());
        }
    }
}
