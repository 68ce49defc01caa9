//! Counts as floating-point numbers, and back; shares as text.

use serde::de::Error as _;
use serde::{Deserialize as _, Deserializer};

/// Largest count of a file: 2^53, up to which a floating-point number is exact.
const COUNT_MAX: u64 = 1 << 53;

/// Reads a count of a file; a larger one than any of ours would overflow sums.
pub(crate) fn read_count<'de, D: Deserializer<'de>>(reader: D) -> Result<u64, D::Error> {
    match u64::deserialize(reader)? {
        count if count > COUNT_MAX => {
            Err(D::Error::custom(format!("a count of {count} is more than 2^53")))
        }
        count => Ok(count),
    }
}

/// A count that a floating-point number holds.
pub trait Count {
    /// Returns the count as a number: exact up to 2^53, which no count of ours reaches.
    fn into_float(self) -> f64;
}

/// A count that may be unknown.
pub trait MaybeCount {
    /// Returns the count as a number; `None` where it is unknown.
    fn into_reading(self) -> Option<f64>;
}

impl<C: Count> MaybeCount for C {
    fn into_reading(self) -> Option<f64> {
        Some(self.into_float())
    }
}

impl<C: Count> MaybeCount for Option<C> {
    fn into_reading(self) -> Option<f64> {
        self.map(C::into_float)
    }
}

/// Implements [`Count`] for the types of counts.
macro_rules! counts {
    ($($count:ty)*) => {
        $(impl Count for $count {
            #[inline]
            fn into_float(self) -> f64 {
                self as f64
            }
        })*
    };
}

counts!(u64 i64 usize);

impl Count for f64 {
    fn into_float(self) -> f64 {
        self
    }
}

/// Returns a count as a number.
#[inline]
pub fn float(count: impl Count) -> f64 {
    count.into_float()
}

/// Returns a number's whole part, between 0 and the largest count.
#[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
#[expect(clippy::cast_sign_loss, reason = "the cast saturates")]
pub const fn whole(number: f64) -> u64 {
    number as u64
}

/// Returns a length as a count, at most the largest.
pub fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// Returns a share as a percentage: `1.2 %`.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 1_000.0 {
        return "over 1000 %".to_owned();
    }
    let digits = if percent < 10.0 { 1 } else { 0 };
    format!("{percent:.digits$} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_two_digits_or_none() {
        assert_eq!(percent(0.0123), "1.2 %");
        assert_eq!(percent(0.523), "52 %");
        assert_eq!(percent(1e4), "over 1000 %");
    }

    #[test]
    fn whole_parts_saturate() {
        assert_eq!([2.9, -1.0, f64::NAN, 1e30].map(whole), [2, 0, 0, u64::MAX]);
    }

    #[test]
    fn a_count_of_a_file_is_exact_as_a_floating_point_number() {
        let level = |files: u64| format!(r#"{{"level": 0, "files": {files}, "bytes": 1}}"#);
        let read = |text: &str| serde_json::from_str::<crate::state::LevelShape>(text);
        assert_eq!(read(&level(COUNT_MAX)).unwrap().files, COUNT_MAX);
        let error = read(&level(u64::MAX)).unwrap_err().to_string();
        assert!(error.starts_with("a count of 18446744073709551615 is more than 2^53"), "{error}");
    }
}
