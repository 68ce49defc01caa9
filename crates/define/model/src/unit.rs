//! Units of metrics.

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
}
