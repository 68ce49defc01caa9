//! Readings: values by metric.

use std::collections::{BTreeMap, btree_map};
use std::fmt;
use std::ops::{Deref, DerefMut, Index};

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::metric::{self, Kind, Metric};
use crate::number::{Count, MaybeCount};

/// Values by metric; an unknown metric is absent, never 0.
///
/// Written under the metrics' names. The map behind it is for names that are only known at run
/// time: the names of a record, or of an engine's own statistics.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Readings(BTreeMap<String, f64>);

impl Readings {
    /// Returns no readings.
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// Returns whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a metric's value, when it is known.
    pub fn value(&self, metric: Metric) -> Option<f64> {
        self.0.get(metric.name).copied()
    }

    /// Returns the sum of several metrics, when all are known.
    pub fn sum(&self, metrics: &[Metric]) -> Option<f64> {
        metrics.iter().map(|metric| self.value(*metric)).sum()
    }

    /// Returns whether there are figures that only servers have.
    pub fn has_server(&self) -> bool {
        [metric::SERVER_CPU_USER_US, metric::ENGINE_COMMITS, metric::CLIENT_RECONNECTS]
            .iter()
            .any(|counter| self.has(*counter))
    }

    /// Returns whether a metric is known.
    pub fn has(&self, metric: Metric) -> bool {
        self.0.contains_key(metric.name)
    }

    /// Adds to a metric, from 0 when it is not known.
    pub fn add(&mut self, metric: Metric, value: impl Count) {
        self.add_by_name(metric.name, value.into_float());
    }

    /// Adds every reading of others.
    pub fn merge(&mut self, others: &Self) {
        for (name, value) in others {
            self.add_by_name(name, *value);
        }
    }

    /// Returns the readings of one kind of metric.
    pub fn of_kind(&self, kind: Kind) -> impl Iterator<Item = (&String, &f64)> {
        self.0.iter().filter(move |(name, _)| metric::find(name).is_some_and(|m| m.kind == kind))
    }

    /// Raises readings to the readings of others that are higher.
    pub fn raise<'a>(&mut self, others: impl IntoIterator<Item = (&'a String, &'a f64)>) {
        for (name, value) in others {
            let known = self.0.entry(name.clone()).or_insert(*value);
            *known = known.max(*value);
        }
    }

    /// Adds to a value; allocates only a name that is new.
    fn add_by_name(&mut self, name: &str, value: f64) {
        match self.0.get_mut(name) {
            Some(sum) => *sum += value,
            None => drop(self.0.insert(name.to_owned(), value)),
        }
    }

    /// Sets a metric, when its value is known and finite.
    pub fn set(&mut self, metric: Metric, value: impl MaybeCount) {
        if let Some(value) = value.into_reading().filter(|value| value.is_finite()) {
            self.0.insert(metric.name.to_owned(), value);
        }
    }
}

impl<'de> Deserialize<'de> for Readings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Readings;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Readings, A::Error> {
                // Collected, the map is built in one pass: records have them in order.
                let entries = std::iter::from_fn(|| map.next_entry().transpose());
                entries.collect::<Result<_, _>>().map(Readings)
            }
        }
        deserializer.deserialize_map(Entries)
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

impl<N: AsRef<str>, C: MaybeCount> FromIterator<(N, C)> for Readings {
    fn from_iter<I: IntoIterator<Item = (N, C)>>(values: I) -> Self {
        let mut readings = Self::new();
        readings.extend(values);
        readings
    }
}

impl<N: AsRef<str>, C: MaybeCount> Extend<(N, C)> for Readings {
    fn extend<I: IntoIterator<Item = (N, C)>>(&mut self, values: I) {
        let known = |(name, value): (N, C)| Some((name.as_ref().to_owned(), value.into_reading()?));
        self.0.extend(values.into_iter().filter_map(known));
    }
}

impl<N: AsRef<str>, C: MaybeCount, const K: usize> From<[(N, C); K]> for Readings {
    fn from(values: [(N, C); K]) -> Self {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::{RSS_BYTES, VSZ_BYTES};

    #[test]
    fn names_are_unique_and_meanings_are_sentences_without_a_stop() {
        for (index, metric) in metric::METRICS.iter().enumerate() {
            let mut before = metric::METRICS[..index].iter();
            assert!(before.all(|other| other.name != metric.name), "{metric:?}");
            assert!(!metric.meaning.is_empty() && !metric.meaning.ends_with('.'), "{metric:?}");
        }
    }

    #[test]
    fn an_unknown_value_is_absent_and_not_zero() {
        let mut readings = Readings::new();
        readings.set(RSS_BYTES, None::<u64>);
        readings.set(VSZ_BYTES, 5_u64);
        assert_eq!(readings, Readings::from([("vsz_bytes", 5.0)]));
        assert_eq!((readings.value(RSS_BYTES), readings[VSZ_BYTES]), (None, 5.0));
        assert_eq!(readings.sum(&[RSS_BYTES, VSZ_BYTES]), None);
    }

    #[test]
    fn readings_are_added_by_name() {
        let mut readings = Readings::from([(VSZ_BYTES, 5.0)]);
        readings.merge(&Readings::from([(VSZ_BYTES, 2.0), (RSS_BYTES, 1.0)]));
        assert_eq!(readings, Readings::from([(VSZ_BYTES, 7.0), (RSS_BYTES, 1.0)]));
    }
}
