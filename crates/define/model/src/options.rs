//! Engine options, under the engine's own names and in order.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An ordered map of option name to value, interpreted by drivers.
///
/// Order matters to some engines (SQLite's `page_size` before `journal_mode`), so insertion order
/// is preserved. Setting a name again replaces its value in place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options(Vec<(String, String)>);

impl Options {
    /// Returns an empty map.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Sets `name` to `value`, replacing an earlier value in place.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        let (name, value) = (name.into(), value.into());
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some(entry) => entry.1 = value,
            None => self.0.push((name, value)),
        }
    }

    /// Returns the value of `name`, if set.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Sets every entry of `other` over this map: later values win.
    pub fn overlay(&mut self, other: &Self) {
        for (name, value) in other.iter() {
            self.set(name, value);
        }
    }

    /// Iterates over names and values in the order they were first set.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Options {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(entries: I) -> Self {
        let mut options = Self::new();
        for (name, value) in entries {
            options.set(name, value);
        }
        options
    }
}

impl Serialize for Options {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Options {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OptionsVisitor;
        impl<'de> Visitor<'de> for OptionsVisitor {
            type Value = Options;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table of engine options")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Options, A::Error> {
                let mut options = Options::new();
                while let Some((name, value)) = map.next_entry::<String, Scalar>()? {
                    options.set(name, value);
                }
                Ok(options)
            }
        }
        deserializer.deserialize_map(OptionsVisitor)
    }
}

/// A scalar value, whatever its type.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected text, a number, true or false")]
enum Scalar {
    Text(String),
    Truth(bool),
    Whole(i64),
    Number(f64),
}

impl From<Scalar> for String {
    fn from(scalar: Scalar) -> Self {
        match scalar {
            Scalar::Text(text) => text,
            Scalar::Truth(truth) => truth.to_string(),
            Scalar::Whole(number) => number.to_string(),
            Scalar::Number(number) => number.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_preserved_and_later_values_win() {
        let mut options: Options = [("b", "1"), ("a", "2")].into_iter().collect();
        options.overlay(&[("b", "3"), ("c", "4")].into_iter().collect());
        let entries: Vec<_> = options.iter().collect();
        assert_eq!(entries, [("b", "3"), ("a", "2"), ("c", "4")]);
    }
}
