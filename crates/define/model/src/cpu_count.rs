//! A number of CPUs, which a quota may make a fraction.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::number::whole;

/// A number of CPUs, to a thousandth; 0 when unknown.
///
/// In files a number: 4, or 1.5 where a control group's quota leaves that much.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct CpuCount(u32);

/// Parts of a CPU.
const PARTS: u32 = 1000;

impl CpuCount {
    /// Returns so many whole CPUs.
    pub const fn of(cpus: u32) -> Self {
        Self(cpus.saturating_mul(PARTS))
    }

    /// Returns the CPUs that a quota leaves: time on a CPU in each period.
    ///
    /// Source: Linux, Documentation/scheduler/sched-bwc.rst.
    pub fn of_quota(quota_us: u64, period_us: u64) -> Self {
        let parts = quota_us.saturating_mul(u64::from(PARTS)) / period_us.max(1);
        Self(u32::try_from(parts).unwrap_or(u32::MAX))
    }

    /// Returns the CPUs of two machines together.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Returns the number, or 1 when it is unknown: for shares of all CPUs.
    pub fn or_one(self) -> f64 {
        if self == Self::default() { 1.0 } else { self.value() }
    }

    /// Returns the number.
    pub fn value(self) -> f64 {
        f64::from(self.0) / f64::from(PARTS)
    }

    /// Returns the whole CPUs in it, at least one.
    pub fn whole(self) -> u32 {
        (self.0 / PARTS).max(1)
    }

    /// Returns so many for each CPU, rounded down.
    pub fn times(self, each: u32) -> u32 {
        let all = u64::from(self.0) * u64::from(each) / u64::from(PARTS);
        u32::try_from(all).unwrap_or(u32::MAX)
    }
}

impl From<u8> for CpuCount {
    fn from(cpus: u8) -> Self {
        Self::of(cpus.into())
    }
}

impl fmt::Display for CpuCount {
    /// Writes `4`, or `1.5`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.value())
    }
}

impl Serialize for CpuCount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 % PARTS {
            0 => serializer.serialize_u32(self.0 / PARTS),
            _ => serializer.serialize_f64(self.value()),
        }
    }
}

impl<'de> Deserialize<'de> for CpuCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let parts = whole((f64::deserialize(deserializer)? * f64::from(PARTS)).round());
        Ok(Self(u32::try_from(parts).unwrap_or(u32::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_is_a_fraction_of_cpus_in_text_and_files() {
        for (quota_us, text) in [(150_000, "1.5"), (200_000, "2"), (40_000, "0.4"), (0, "0")] {
            let cpus = CpuCount::of_quota(quota_us, 100_000);
            assert_eq!(cpus.to_string(), text);
            let json = serde_json::to_string(&cpus).unwrap();
            assert_eq!((json.as_str(), serde_json::from_str(&json).unwrap()), (text, cpus));
        }
        assert_eq!(CpuCount::of_quota(u64::MAX, 0), CpuCount(u32::MAX));
        assert_eq!(serde_json::from_str::<CpuCount>("2.0").unwrap(), CpuCount::of(2));
        assert_eq!(serde_json::from_str::<CpuCount>("-1e300").unwrap(), CpuCount::default());
    }

    #[test]
    fn multiples_and_whole_cpus_are_rounded_down() {
        let quota = CpuCount::of_quota(250_000, 100_000);
        assert_eq!((quota.times(4), quota.whole()), (10, 2));
        assert_eq!(CpuCount::of_quota(40_000, 100_000).whole(), 1);
        assert_eq!(CpuCount::of(u32::MAX).times(4), 17_179_869);
        assert!(CpuCount::of(1) < quota && quota < CpuCount::of(3));
        assert!((CpuCount::default().or_one() - 1.0).abs() < 1e-12);
    }
}
