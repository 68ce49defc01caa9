//! Numbers of a JSON text, checked before it is parsed to what it means.
//!
//! Sums of the readers hold what a run can have counted; a stranger's file may hold any number, or
//! so many values that they fill the memory.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::limits::{MAP_VALUES, VALUES_MAX};

/// Largest whole number: 2^53, up to which a floating-point number is exact.
///
/// In nanoseconds it is 104 days, in bytes 8 PiB. Seeds and values of SQL may be any.
const WHOLE_MAX: u64 = 1 << 53;
/// Largest other number: sums of 10,000 squares of it are finite.
const REAL_MAX: f64 = 1e150;
/// Key of a number that is drawn from all 64 bits.
const SEED: &str = "seed";
/// Keys of numbers, and of maps with numbers, that may be below zero.
///
/// Drifts of clocks and figures have a direction; an engine's own statistics are what it reports.
const SIGNED: [&str; 6] = ["drift_ppm", "drifts", "offset_ns", "own_counters", "tables", "facts"];
/// Key of an application, whose integers are values of SQL.
const APPLICATION: &str = "application";
/// Begin of the names of an engine's statistics.
const OF_ENGINE: &str = "engine_";

/// Checks the numbers of a JSON text, and how many values it has.
///
/// The error names the field.
pub(crate) fn check_numbers(text: &str) -> Result<(), String> {
    let mut walk = Walk::default();
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = Value { walk: &mut walk, kind: NumberKind::Plain }.deserialize(&mut reader);
    match (read, walk.reason) {
        (Ok(()), _) => Ok(()),
        (Err(_), Some(reason)) => Err(format!("{} {reason}", walk.place.trim_start_matches('.'))),
        (Err(error), None) => Err(error.to_string()),
    }
}

/// The state of one check.
#[derive(Default)]
struct Walk {
    values: u64,
    /// Why a number is refused.
    reason: Option<String>,
    /// Its field, completed from the inside out.
    place: String,
}

/// What a number may be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NumberKind {
    /// From zero to the largest.
    Plain,
    /// Below zero, too.
    Signed,
    /// Any of 64 bits.
    Seed,
    /// Any of 64 bits, below zero too.
    Sql,
}

impl NumberKind {
    /// Returns what the numbers under a key may be.
    fn below(self, key: &str) -> Self {
        let is_signed = SIGNED.contains(&key) || key.starts_with(OF_ENGINE);
        match key {
            _ if self == Self::Sql || key == APPLICATION => Self::Sql,
            _ if is_signed || self == Self::Signed => Self::Signed,
            SEED => Self::Seed,
            _ => Self::Plain,
        }
    }
}

/// A value that is about to be read.
struct Value<'a> {
    walk: &'a mut Walk,
    kind: NumberKind,
}

/// The key of a map.
#[derive(serde::Deserialize)]
#[serde(transparent)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl Value<'_> {
    fn refuse<E: Error>(self, reason: String) -> Result<(), E> {
        self.walk.reason = Some(reason);
        Err(E::custom("a number is out of range"))
    }

    fn whole<E: Error>(self, number: u64, is_negative: bool) -> Result<(), E> {
        let sign = if is_negative { "-" } else { "" };
        match self.kind {
            NumberKind::Plain if is_negative => {
                self.refuse(format!("is {sign}{number}, but must not be negative"))
            }
            NumberKind::Plain | NumberKind::Signed if number > WHOLE_MAX => {
                self.refuse(format!("is {sign}{number}, more than 2^53"))
            }
            NumberKind::Plain | NumberKind::Signed | NumberKind::Seed | NumberKind::Sql => Ok(()),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        self.walk.values += 1;
        if self.walk.values > VALUES_MAX {
            return self.refuse(format!("is in a file of more than {VALUES_MAX} values"));
        }
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        self.whole(number, false)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.whole(number.unsigned_abs(), number < 0)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        if self.kind == NumberKind::Plain && number < 0.0 {
            return self.refuse(format!("is {number}, but must not be negative"));
        }
        match number.abs() <= REAL_MAX {
            true => Ok(()),
            false => self.refuse(format!("is {number:e}, more than {REAL_MAX:e}")),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self { walk, kind } = self;
        for index in 0_usize.. {
            match list.next_element_seed(Value { walk, kind }) {
                Ok(Some(())) => {}
                Ok(None) => break,
                Err(error) => {
                    walk.place.insert_str(0, &format!("[{index}]"));
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { walk, kind } = self;
        walk.values += MAP_VALUES;
        while let Some(Key(key)) = map.next_key()? {
            if let Err(error) = map.next_value_seed(Value { walk, kind: kind.below(&key) }) {
                // Quoted, since a stranger may have chosen it.
                walk.place.insert_str(0, &format!(".{}", key.escape_debug()));
                return Err(error);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        check_numbers(text).unwrap_err()
    }

    #[test]
    fn numbers_that_no_run_counts_are_refused_with_their_field() {
        let sound = r#"{"seed": 18446744073709551615, "clock": {"drift_ppm": -1.5}, "a": [0, 1.5],
            "gauges_end": {"engine_lag_bytes": -1}, "text": "1e308", "none": null, "is": true}"#;
        assert_eq!(check_numbers(sound), Ok(()));
        let sql =
            r#"{"application": [{"modulo": 9223372036854775807, "add": -9223372036854775808}]}"#;
        assert_eq!(check_numbers(sql), Ok(()));
        for (text, reason) in [
            (
                r#"{"plan": {"experiment": {"margin": 1e308}}}"#,
                "plan.experiment.margin is 1e308, more",
            ),
            (r#"{"steps": [{}, {"duration_ns": -1}]}"#, "steps[1].duration_ns is -1, but must not"),
            (r#"{"steps": [{"mean_ns": -0.5}]}"#, "steps[0].mean_ns is -0.5, but must not"),
            (r#"{"rows": 9223372036854775808}"#, "rows is 9223372036854775808, more than 2^53"),
            (r#"{"own_counters": {"x": -1e300}}"#, "own_counters.x is -1e300, more"),
            (r#"[[[-1]]]"#, "[0][0][0] is -1, but must not"),
        ] {
            let found = refused(text);
            assert!(found.starts_with(reason), "{found}");
        }
        assert!(refused(r#"{"\u001b[2J": -1}"#).starts_with("\\u{1b}[2J is -1"));
        assert!(refused(r#"{"a": 1e999}"#).contains("out of range"));
        assert!(refused("{").contains("EOF"));
    }

    #[test]
    fn values_beyond_any_record_and_depths_beyond_any_type_are_refused() {
        let maps = format!("[{}{{}}]", r#"{"a":0},"#.repeat(130_000));
        assert!(refused(&maps).contains("more than 500000 values"));
        let many = format!("[{}0]", "0,".repeat(600_000));
        assert_eq!(
            refused(&many),
            format!("[499999] is in a file of more than {VALUES_MAX} values")
        );
        assert!(refused(&"[".repeat(1_000_000)).contains("recursion limit"));
    }
}
