//! Deserialises fields with their places, and explains a parser's errors.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::error::{PlanError, Source};
use crate::nearest::nearest;

/// A field written as one word, or as a table.
#[derive(Debug, Clone)]
pub(crate) enum WordOr<T> {
    Word(String),
    Table(Box<T>),
}

/// A table that may be replaced by a word.
pub(crate) trait OrWord {
    /// The expected forms, for error messages.
    const EXPECTED: &'static str;
}

// Not serde's `untagged`, which loses the error inside the table.
impl<'de, T: Deserialize<'de> + OrWord> Deserialize<'de> for WordOr<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntryVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de> + OrWord> Visitor<'de> for EntryVisitor<T> {
            type Value = WordOr<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(T::EXPECTED)
            }
            fn visit_str<E>(self, word: &str) -> Result<WordOr<T>, E> {
                Ok(WordOr::Word(word.to_owned()))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<WordOr<T>, A::Error> {
                let table = T::deserialize(MapAccessDeserializer::new(map))?;
                Ok(WordOr::Table(Box::new(table)))
            }
        }
        deserializer.deserialize_any(EntryVisitor(PhantomData))
    }
}

/// Keys of a load, often misplaced next to it.
const OF_A_LOAD: [&str; 5] = ["rate", "arrivals", "pacing", "sla", "pipeline"];

/// Turns a parser's error into one with a remedy.
///
/// `tables` maps a field to the table that an unknown key is in.
pub(crate) fn explain(
    source: &Source,
    error: &toml::de::Error,
    tables: &[(&str, &'static str)],
) -> PlanError {
    let place = visible(source, error.span().unwrap_or(0..0));
    let message = error.message().to_owned();
    let Some((unknown, known)) = unknown_field(&message) else {
        return PlanError::new(user_message(&message)).at(source, place, "here");
    };
    let table = tables.iter().find(|(field, _)| message.contains(field)).map(|(_, table)| *table);
    let place = key_place(source, place, &unknown);
    let known: Vec<_> = known.iter().map(String::as_str).collect();
    unknown_key(&unknown, table.unwrap_or(""), &known).at(source, place, "no such key")
}

/// Returns the error of an unknown key, with the nearest of the known ones.
pub(crate) fn unknown_key(unknown: &str, table: &str, known: &[&str]) -> PlanError {
    let within = if table.is_empty() { String::new() } else { format!(" in {table}") };
    let error = PlanError::new(format!("unknown key `{unknown}`{within}"));
    let may_have_a_load = ["[benchmark]", "a step's table"].contains(&table);
    if may_have_a_load && OF_A_LOAD.contains(&unknown) {
        return error.remedy(format!("write load = {{ {unknown} = ... }}"));
    }
    match nearest(unknown, known.iter().copied()) {
        Some(word) if table == "[[variant]]" => error.remedy(format!(
            "did you mean `{word}`? an option of the engine belongs in the table \
             [variant.options]"
        )),
        Some(word) => error.remedy(format!("did you mean `{word}`?")),
        None if table == "[[variant]]" => error.remedy(format!(
            "if `{unknown}` is an option of the engine, it belongs in the table \
             [variant.options]; keys of [[variant]] are {}",
            known.join(", ")
        )),
        None => error.remedy(format!("known keys: {}", known.join(", "))),
    }
}

/// Widens an empty place to its line, so that it can be shown.
fn visible(source: &Source, place: Range<usize>) -> Range<usize> {
    if !place.is_empty() || place.start > source.text.len() {
        return place;
    }
    let (before, after) = source.text.split_at(place.start);
    let begin = before.rfind('\n').map_or(0, |at| at + 1);
    let end = after.find('\n').map_or(source.text.len(), |at| place.start + at);
    begin..end
}

/// Rewrites a deserialiser's type message for users.
fn user_message(message: &str) -> String {
    let Some((found, expected)) =
        message.strip_prefix("invalid type: ").and_then(|rest| rest.split_once(", expected "))
    else {
        return message.to_owned();
    };
    let expected = match expected {
        "u32" | "u64" => "a whole number",
        "f64" => "a number",
        "a boolean" => "true or false",
        "a string" => "text in quotes",
        "a sequence" => "a list in brackets",
        other => other,
    };
    let found = found.replace("sequence", "a list").replace("map", "a table");
    format!("expected {expected}, found {found}")
}

/// Narrows a place to the key itself when the parser points at its whole table.
fn key_place(source: &Source, place: Range<usize>, key: &str) -> Range<usize> {
    let inside = source.text.get(place.clone()).unwrap_or("");
    match inside.find(key) {
        Some(at) if inside.len() > key.len() => place.start + at..place.start + at + key.len(),
        _ => place,
    }
}

/// Parses ``unknown field `x`, expected one of `a`, `b` ``.
fn unknown_field(message: &str) -> Option<(String, Vec<String>)> {
    let rest = message.strip_prefix("unknown field `")?;
    let (unknown, rest) = rest.split_once('`')?;
    let known = rest.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    Some((unknown.to_owned(), known))
}
