//! A metric: its kind, its unit, and which way it is better.

use std::fmt;

use crate::units::Unit;

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

/// One metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    /// Name with the unit last, as in records.
    pub name: &'static str,
    /// Unit of the value.
    pub unit: Unit,
    /// How it behaves over time.
    pub kind: Kind,
    /// Which way is better.
    pub better: Better,
    /// What it means, in one sentence without a full stop.
    pub meaning: &'static str,
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

impl AsRef<str> for Metric {
    fn as_ref(&self) -> &str {
        self.name
    }
}

/// Returns a constant's name as records write it.
pub(crate) const fn lower_case<const N: usize>(constant: &str) -> [u8; N] {
    let mut name = [0; N];
    name.copy_from_slice(constant.as_bytes());
    name.make_ascii_lowercase();
    name
}

/// Declares one constant for each metric, named as in records, and the list of all.
macro_rules! metrics {
    ($($constant:ident $unit:ident $kind:ident $better:ident $meaning:literal;)*) => {
        $(
            #[doc = concat!("Metric: ", $meaning, ".")]
            pub const $constant: Metric = Metric {
                name: match str::from_utf8(
                    &const { lower_case::<{ stringify!($constant).len() }>(stringify!($constant)) },
                ) {
                    Ok(name) => name,
                    Err(_) => panic!("an identifier is text"),
                },
                unit: Unit::$unit,
                kind: Kind::$kind,
                better: Better::$better,
                meaning: $meaning,
            };
        )*

        /// Every metric Assay knows.
        pub static METRICS: &[Metric] = &[$($constant,)*];
    };
}
pub(crate) use metrics;
