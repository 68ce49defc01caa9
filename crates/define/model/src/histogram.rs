//! The layout of the histograms of times, the same in memory and in files.

/// Significant decimal digits: a value is off by at most 0.1 %.
pub const DIGITS: u8 = 3;
/// Longest time in nanoseconds that the layout must hold: one hour; the shortest is 1.
pub const LONGEST_NS: u64 = 3_600_000_000_000;
