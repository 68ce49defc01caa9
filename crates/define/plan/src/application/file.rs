//! Parses the application file, with the place of each field.

use std::fmt;

use model::options::Text;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use crate::error::{PlanError, Source};
use crate::named::Named;
use crate::syntax::{OrWord, WordOr, explain};

/// A whole application file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    pub(crate) name: Spanned<String>,
    pub(crate) about: Spanned<String>,
    pub(crate) source: Option<String>,
    pub(crate) row_bytes: Spanned<Text>,
    pub(crate) order: Vec<Spanned<String>>,
    #[serde(default)]
    pub(crate) parameters: Named<Text>,
    #[serde(default)]
    pub(crate) values: Named<ValueEntry>,
    #[serde(default)]
    pub(crate) table: Vec<TableTable>,
    #[serde(default)]
    pub(crate) procedure: Named<ProcedureTable>,
    #[serde(default)]
    pub(crate) step: Vec<StepTable>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TableTable {
    pub(crate) name: Spanned<String>,
    pub(crate) copies: Option<Spanned<Text>>,
    pub(crate) id: Option<Spanned<String>>,
    pub(crate) create: Spanned<SqlEntry>,
}

/// A value as written: a keyword, or a table.
pub(crate) type ValueEntry = WordOr<ValueTable>;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ValueTable {
    pub(crate) integer: Option<Spanned<Vec<Spanned<Text>>>>,
    pub(crate) distribution: Option<Spanned<String>>,
    pub(crate) real: Option<Spanned<f64>>,
    pub(crate) plus: Option<Spanned<String>>,
    pub(crate) scale: Option<Spanned<f64>>,
    pub(crate) payload: Option<Spanned<Vec<Spanned<Text>>>>,
    pub(crate) random: Option<Spanned<f64>>,
    pub(crate) pattern: Option<Spanned<String>>,
    pub(crate) moment: Option<Spanned<Text>>,
    pub(crate) draw: Option<Spanned<String>>,
    pub(crate) count: Option<Spanned<Text>>,
    pub(crate) apart: Option<Spanned<Text>>,
    #[serde(default)]
    pub(crate) once: bool,
}

impl OrWord for ValueTable {
    const EXPECTED: &'static str =
        "\"id\", \"first-id\", \"number\", or a table such as { integer = [1, 10] }";
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProcedureTable {
    pub(crate) extends: Option<Spanned<String>>,
    pub(crate) kind: Option<Spanned<String>>,
    pub(crate) table: Option<Spanned<String>>,
    pub(crate) sql: Option<Spanned<SqlEntry>>,
    pub(crate) row: Option<Spanned<String>>,
    pub(crate) rows: Option<Spanned<Text>>,
    pub(crate) returns: Option<Spanned<f64>>,
    pub(crate) transaction: Option<bool>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StepTable {
    pub(crate) name: Spanned<String>,
    pub(crate) about: Spanned<String>,
    pub(crate) role: Spanned<String>,
    pub(crate) clients: Option<Spanned<CallMixEntry>>,
    pub(crate) background: Option<Spanned<BackgroundTable>>,
    pub(crate) rows: Option<Spanned<Text>>,
    pub(crate) unit: Option<Spanned<String>>,
    #[serde(default)]
    pub(crate) settles: bool,
    #[serde(default)]
    pub(crate) needs: Vec<Spanned<String>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BackgroundTable {
    pub(crate) procedures: Spanned<CallMixEntry>,
    pub(crate) rows_per_s: Spanned<Text>,
}

/// The call mix of a step, as written.
#[derive(Debug, Clone)]
pub(crate) enum CallMixEntry {
    /// A list: one after the other.
    InTurn(Vec<Spanned<String>>),
    /// `{ once = [...] }`.
    Once(Vec<Spanned<String>>),
    /// `{ name = weight }`.
    Mix(Named<Text>),
}

impl<'de> Deserialize<'de> for CallMixEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CallMixVisitor;
        impl<'de> Visitor<'de> for CallMixVisitor {
            type Value = CallMixEntry;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a list of procedures, their weights such as { read = 9, write = 1 }, or \
                     { once = [\"index\"] }",
                )
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<CallMixEntry, A::Error> {
                Ok(CallMixEntry::InTurn(elements(list)?))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<CallMixEntry, A::Error> {
                let mut weights = Vec::new();
                while let Some(name) = map.next_key::<Spanned<String>>()? {
                    if name.get_ref() == "once" && weights.is_empty() {
                        return Ok(CallMixEntry::Once(map.next_value()?));
                    }
                    weights.push((name, map.next_value()?));
                }
                Ok(CallMixEntry::Mix(Named(weights)))
            }
        }
        deserializer.deserialize_any(CallMixVisitor)
    }
}

/// SQL as written: common or per dialect.
#[derive(Debug, Clone)]
pub(crate) enum SqlEntry {
    /// For every dialect.
    Both(Statements),
    /// Per dialect; a missing dialect is unsupported.
    Each(Box<DialectTable>),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DialectTable {
    pub(crate) postgres: Option<Spanned<Statements>>,
    pub(crate) mysql: Option<Spanned<Statements>>,
}

/// One statement or several.
#[derive(Debug, Clone)]
pub(crate) enum Statements {
    /// A text; its place is that of the whole entry.
    One(String),
    /// A list.
    Many(Vec<Spanned<StatementEntry>>),
}

/// A statement as written: its text, or a table with repetitions.
pub(crate) type StatementEntry = WordOr<StatementTable>;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StatementTable {
    pub(crate) sql: Spanned<String>,
    pub(crate) times: Spanned<Text>,
}

impl OrWord for StatementTable {
    const EXPECTED: &'static str =
        "a statement in quotes, or a table such as { times = 10, sql = \"SELECT ...\" }";
}

impl<'de> Deserialize<'de> for SqlEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SqlVisitor;
        impl<'de> Visitor<'de> for SqlVisitor {
            type Value = SqlEntry;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a statement, a list of statements, or each dialect's in `postgres` and \
                    `mysql`",
                )
            }
            fn visit_str<E>(self, text: &str) -> Result<SqlEntry, E> {
                Ok(SqlEntry::Both(Statements::One(text.to_owned())))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<SqlEntry, A::Error> {
                Ok(SqlEntry::Both(Statements::Many(elements(list)?)))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SqlEntry, A::Error> {
                let table = DialectTable::deserialize(MapAccessDeserializer::new(map))?;
                Ok(SqlEntry::Each(Box::new(table)))
            }
        }
        deserializer.deserialize_any(SqlVisitor)
    }
}

impl<'de> Deserialize<'de> for Statements {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct StatementsVisitor;
        impl<'de> Visitor<'de> for StatementsVisitor {
            type Value = Statements;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a statement or a list of statements")
            }
            fn visit_str<E>(self, text: &str) -> Result<Statements, E> {
                Ok(Statements::One(text.to_owned()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Statements, A::Error> {
                Ok(Statements::Many(elements(list)?))
            }
        }
        deserializer.deserialize_any(StatementsVisitor)
    }
}

/// Returns the elements of a list.
fn elements<'de, A: SeqAccess<'de>, T: Deserialize<'de>>(mut list: A) -> Result<Vec<T>, A::Error> {
    let mut elements = Vec::new();
    while let Some(element) = list.next_element()? {
        elements.push(element);
    }
    Ok(elements)
}

/// Fields that identify a table in a parser's message.
const TABLES: &[(&str, &str)] = &[
    ("`row_bytes`", "the application"),
    ("`copies`", "[[table]]"),
    ("`payload`", "a value"),
    ("`extends`", "a procedure"),
    ("`settles`", "[[step]]"),
    ("`rows_per_s`", "a background"),
    ("`postgres`", "SQL that differs by dialect"),
    ("`times`", "a statement"),
];

/// Reads an application file's text.
///
/// # Errors
/// A [`PlanError`] at the line at fault, with the nearest known key.
pub(crate) fn parse(source: &Source) -> Result<File, PlanError> {
    toml::from_str(&source.text).map_err(|error| explain(source, &error, TABLES))
}
