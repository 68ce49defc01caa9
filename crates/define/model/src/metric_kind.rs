//! How a metric behaves over time, and which way it is better.

/// How a metric's value behaves over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A value at one moment.
    Gauge,
    /// A total that only grows; its difference over a span is what counts.
    Counter,
    /// Computed for a whole step from the others.
    Derived,
}

/// Which way a metric is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// Neither: explanatory.
    Neither,
}
