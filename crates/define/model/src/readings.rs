//! Readings: values by metric.

use std::collections::{BTreeMap, btree_map};
use std::ops::{Deref, DerefMut, Index};

use serde::{Deserialize, Serialize};

use crate::metric::Metric;

/// Values by metric; an unknown metric is absent, never 0.
///
/// Written under the metrics' names. The map behind it is for names that are only known at run
/// time: those of a record, or of an engine's own statistics.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Readings(BTreeMap<String, f64>);

impl Readings {
    /// Returns no readings.
    #[must_use]
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// Returns whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a metric's value, when it is known.
    #[must_use]
    pub fn value(&self, metric: Metric) -> Option<f64> {
        self.0.get(metric.name).copied()
    }

    /// Returns the sum of several metrics, when all are known.
    #[must_use]
    pub fn sum(&self, metrics: &[Metric]) -> Option<f64> {
        metrics.iter().map(|metric| self.value(*metric)).sum()
    }

    /// Returns whether a metric is known.
    #[must_use]
    pub fn has(&self, metric: Metric) -> bool {
        self.0.contains_key(metric.name)
    }

    /// Sets a metric, when its value is known.
    pub fn set(&mut self, metric: Metric, value: impl Into<Option<f64>>) {
        if let Some(value) = value.into() {
            self.0.insert(metric.name.to_owned(), value);
        }
    }
}

impl Deref for Readings {
    type Target = BTreeMap<String, f64>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Readings {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<N: AsRef<str>> Index<N> for Readings {
    type Output = f64;

    fn index(&self, name: N) -> &f64 {
        &self.0[name.as_ref()]
    }
}

impl<N: AsRef<str>> FromIterator<(N, f64)> for Readings {
    fn from_iter<I: IntoIterator<Item = (N, f64)>>(values: I) -> Self {
        let mut readings = Self::new();
        readings.extend(values);
        readings
    }
}

impl<N: AsRef<str>> Extend<(N, f64)> for Readings {
    fn extend<I: IntoIterator<Item = (N, f64)>>(&mut self, values: I) {
        self.0.extend(values.into_iter().map(|(name, value)| (name.as_ref().to_owned(), value)));
    }
}

impl<N: AsRef<str>, const K: usize> From<[(N, f64); K]> for Readings {
    fn from(values: [(N, f64); K]) -> Self {
        values.into_iter().collect()
    }
}

impl IntoIterator for Readings {
    type Item = (String, f64);
    type IntoIter = btree_map::IntoIter<String, f64>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Readings {
    type Item = (&'a String, &'a f64);
    type IntoIter = btree_map::Iter<'a, String, f64>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
