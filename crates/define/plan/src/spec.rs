//! Parses the experiment file, with the place of each field.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use model::BuildRef;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use crate::error::{PlanError, Source};
use crate::named::Named;
use crate::nearest::nearest;

/// A whole experiment file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    pub(crate) experiment: ExperimentTable,
    pub(crate) benchmark: BenchmarkTable,
    #[serde(default)]
    pub(crate) factors: FactorsTable,
    #[serde(default)]
    pub(crate) variant: Vec<VariantTable>,
    #[serde(default)]
    pub(crate) waive: Vec<WaiveTable>,
    #[serde(default)]
    pub(crate) published: Vec<PublishedTable>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExperimentTable {
    pub(crate) name: Spanned<String>,
    pub(crate) question: String,
    pub(crate) base: Option<Spanned<String>>,
    pub(crate) seed: Option<u64>,
    pub(crate) margin: Option<Spanned<Text>>,
    pub(crate) control: Option<bool>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BenchmarkTable {
    pub(crate) workload: Option<Spanned<String>>,
    #[serde(default)]
    pub(crate) parameters: Named<Text>,
    pub(crate) steps: Option<Vec<Spanned<StepEntry>>>,
    pub(crate) rows: Option<Spanned<Text>>,
    pub(crate) key_bytes: Option<Spanned<u32>>,
    pub(crate) value_bytes: Option<Spanned<u32>>,
    pub(crate) compressible_to: Option<Spanned<f64>>,
    pub(crate) duration: Option<Spanned<Text>>,
    pub(crate) warmup: Option<Spanned<Text>>,
    pub(crate) distribution: Option<Spanned<String>>,
    pub(crate) range_rows: Option<Spanned<u32>>,
    pub(crate) batch_keys: Option<Spanned<u32>>,
    pub(crate) writer_rate: Option<Spanned<Text>>,
    pub(crate) settle_cap: Option<Spanned<Text>>,
    pub(crate) load: Option<Spanned<LoadEntry>>,
    pub(crate) memory: Option<Spanned<Text>>,
    pub(crate) placement: Option<Spanned<String>>,
    pub(crate) durability: Option<Spanned<String>>,
    pub(crate) cache: Option<Spanned<Text>>,
    pub(crate) direct_io: Option<Spanned<bool>>,
    pub(crate) compression: Option<Spanned<String>>,
    pub(crate) background_jobs: Option<Spanned<u32>>,
    pub(crate) allocator: Option<Spanned<String>>,
}

/// A step as written: its name, or a table.
pub(crate) type StepEntry = WordOr<StepTable>;
/// A load as written: `"closed"`, or a table.
pub(crate) type LoadEntry = WordOr<LoadTable>;

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

impl OrWord for StepTable {
    const EXPECTED: &'static str =
        "the name of a step, or a table such as { step = \"readrandom\" }";
}

impl OrWord for LoadTable {
    const EXPECTED: &'static str = "\"closed\", or a table such as { rate = \"50k/s\" }";
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

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StepTable {
    pub(crate) step: String,
    pub(crate) clients: Option<u32>,
    pub(crate) operations: Option<Text>,
    pub(crate) duration: Option<Text>,
    pub(crate) warmup: Option<Text>,
    pub(crate) distribution: Option<String>,
    pub(crate) range_rows: Option<u32>,
    pub(crate) batch_keys: Option<u32>,
    pub(crate) writer_rate: Option<Text>,
    pub(crate) settle_cap: Option<Text>,
    pub(crate) load: Option<Spanned<LoadEntry>>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LoadTable {
    pub(crate) rate: Option<Spanned<Text>>,
    pub(crate) arrivals: Option<Spanned<String>>,
    pub(crate) pacing: Option<Spanned<String>>,
    pub(crate) sla: Option<Spanned<Text>>,
    pub(crate) pipeline: Option<Spanned<u32>>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FactorsTable {
    pub(crate) clients: Option<Spanned<ClientsEntry>>,
    pub(crate) repetitions: Option<Spanned<u32>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WaiveTable {
    pub(crate) code: Spanned<String>,
    pub(crate) reason: Spanned<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PublishedTable {
    pub(crate) source: Spanned<String>,
    pub(crate) setup: Spanned<String>,
    #[serde(default)]
    pub(crate) scaled: String,
    #[serde(default)]
    pub(crate) finding: Vec<Spanned<FindingTable>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FindingTable {
    pub(crate) claim: Spanned<String>,
    pub(crate) variant: Spanned<String>,
    pub(crate) base: Option<Spanned<String>>,
    pub(crate) step: Spanned<String>,
    pub(crate) distribution: Option<Spanned<String>>,
    pub(crate) clients: Option<Spanned<u32>>,
    pub(crate) metric: Option<Spanned<String>>,
    pub(crate) value: Option<Spanned<f64>>,
    pub(crate) base_value: Option<Spanned<f64>>,
    pub(crate) ratio: Option<Spanned<f64>>,
    pub(crate) expect: Option<Spanned<String>>,
    #[serde(default)]
    pub(crate) reasons: Vec<String>,
}

/// The levels of the client factor as written: a list, or a keyword.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ClientsEntry {
    Levels(Vec<u32>),
    Word(String),
}

impl ClientsEntry {
    /// Parses the command-line form: `1,2,4`, or a keyword.
    pub(crate) fn typed(text: &str) -> Self {
        let levels: Result<Vec<u32>, _> =
            text.split(',').map(|level| level.trim().parse()).collect();
        levels.map_or_else(|_no_list| Self::Word(text.trim().to_owned()), Self::Levels)
    }
}

impl<'de> Deserialize<'de> for ClientsEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ClientsVisitor;
        impl<'de> Visitor<'de> for ClientsVisitor {
            type Value = ClientsEntry;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list such as [1, 2], \"sweep\" or \"adaptive\"")
            }
            fn visit_str<E>(self, word: &str) -> Result<ClientsEntry, E> {
                Ok(ClientsEntry::Word(word.to_owned()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<ClientsEntry, A::Error> {
                let mut levels = Vec::new();
                while let Some(level) = list.next_element()? {
                    levels.push(level);
                }
                Ok(ClientsEntry::Levels(levels))
            }
        }
        deserializer.deserialize_any(ClientsVisitor)
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VariantTable {
    pub(crate) name: Spanned<String>,
    pub(crate) engine: Spanned<BuildRef>,
    pub(crate) dsn: Option<Spanned<String>>,
    pub(crate) profile: Option<Spanned<String>>,
    pub(crate) durability: Option<Spanned<String>>,
    pub(crate) cache: Option<Spanned<Text>>,
    pub(crate) direct_io: Option<Spanned<bool>>,
    pub(crate) compression: Option<Spanned<String>>,
    pub(crate) background_jobs: Option<Spanned<u32>>,
    pub(crate) allocator: Option<Spanned<String>>,
    #[serde(default)]
    pub(crate) options: OptionTable,
}

/// A quantity written as text (`"4M"`) or as a bare number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text(pub(crate) String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl Visitor<'_> for TextVisitor {
            type Value = Text;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text, a number, true or false")
            }
            fn visit_str<E>(self, value: &str) -> Result<Text, E> {
                Ok(Text(value.to_owned()))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Text, E> {
                Ok(Text(value.to_string()))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Text, E> {
                Ok(Text(value.to_string()))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Text, E> {
                Ok(Text(value.to_string()))
            }
            fn visit_bool<E>(self, value: bool) -> Result<Text, E> {
                Ok(Text(value.to_string()))
            }
        }
        deserializer.deserialize_any(TextVisitor)
    }
}

/// Engine options in the file's order, with the place of each name.
#[derive(Debug, Clone, Default)]
pub(crate) struct OptionTable(pub(crate) Vec<(Spanned<String>, Text)>);

impl<'de> Deserialize<'de> for OptionTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TableVisitor;
        impl<'de> Visitor<'de> for TableVisitor {
            type Value = OptionTable;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table of engine options")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OptionTable, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(OptionTable(entries))
            }
        }
        deserializer.deserialize_map(TableVisitor)
    }
}

/// Fields that identify a table in a parser's message.
const TABLES: &[(&str, &str)] = &[
    ("`compressible_to`", "[benchmark]"),
    ("`question`", "[experiment]"),
    ("`engine`", "[[variant]]"),
    ("`repetitions`", "[factors]"),
    ("`operations`", "a step's table"),
    ("`arrivals`", "a load's table"),
    ("`reason`", "[[waive]]"),
    ("`claim`", "[[published.finding]]"),
    ("`setup`", "[[published]]"),
];

/// Keys of a load, often misplaced next to it.
const OF_A_LOAD: [&str; 5] = ["rate", "arrivals", "pacing", "sla", "pipeline"];

/// Reads an experiment file's text.
///
/// # Errors
/// A [`PlanError`] at the line at fault, with the nearest known key.
pub(crate) fn parse(source: &Source) -> Result<File, PlanError> {
    toml::from_str(&source.text).map_err(|error| explain(source, &error, TABLES))
}

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
    let within = table.map_or(String::new(), |table| format!(" in {table}"));
    let place = key_place(source, place, &unknown);
    let error = PlanError::new(format!("unknown key `{unknown}`{within}"));
    let error = error.at(source, place, "no such key");
    let may_have_a_load = matches!(table, Some("[benchmark]" | "a step's table"));
    if may_have_a_load && OF_A_LOAD.contains(&unknown.as_str()) {
        return error.remedy(format!("write load = {{ {unknown} = ... }}"));
    }
    match nearest(&unknown, known.iter().map(String::as_str)) {
        Some(word) if table == Some("[[variant]]") => error.remedy(format!(
            "did you mean `{word}`? an option of the engine belongs in the table \
             [variant.options]"
        )),
        Some(word) => error.remedy(format!("did you mean `{word}`?")),
        None if table == Some("[[variant]]") => error.remedy(format!(
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
