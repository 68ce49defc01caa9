//! Reads experiment files by the declarations of settings.

use std::collections::BTreeMap;
use std::ops::Range;

use model::options::Text;
use model::setting::{Kind, Scope, Setting, Table};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use crate::error::{Errors, PlanError, Source};
use crate::named::Named;
use crate::settings::{LOAD, STEP, of_table, required, settings};
use crate::syntax::{explain, unknown_key};

/// A whole experiment file.
#[derive(Debug, Clone, Default)]
pub(crate) struct File {
    pub(crate) experiment: Section,
    pub(crate) benchmark: Section,
    pub(crate) factors: Section,
    pub(crate) variants: Vec<Section>,
    pub(crate) waivers: Vec<WaiveTable>,
    pub(crate) published: Vec<PublishedTable>,
}

/// A table of a file, or of the command line, whose values have an empty place.
#[derive(Debug, Clone, Default)]
pub(crate) struct Section {
    values: BTreeMap<&'static str, Spanned<String>>,
    /// Parameters of an application, or options of an engine.
    pub(crate) pairs: Named<Text>,
    pub(crate) steps: Option<Vec<Section>>,
    pub(crate) load: Option<Box<Section>>,
    /// Place of a step or a load.
    pub(crate) place: Range<usize>,
}

impl Section {
    /// Returns a step written as its name alone.
    pub(crate) fn step(name: impl Into<String>) -> Self {
        let mut step = Self::default();
        step.set(STEP, name);
        step
    }

    /// Returns the text of a setting, with its place.
    pub(crate) fn get(&self, setting: &Setting) -> Option<&Spanned<String>> {
        self.values.get(setting.key)
    }

    /// Returns the text of a required setting.
    pub(crate) fn text(&self, setting: &Setting) -> &str {
        self.get(setting).map_or("", |text| text.get_ref())
    }

    /// Returns the place of a setting; empty when it is not in a file.
    pub(crate) fn place_of(&self, setting: &Setting) -> Range<usize> {
        self.get(setting).map_or(0..0, Spanned::span)
    }

    /// Returns the keys and places of the settings of a scope.
    pub(crate) fn scoped(
        &self,
        scope: Scope,
    ) -> impl Iterator<Item = (&'static str, Range<usize>)> + '_ {
        settings()
            .filter(move |setting| setting.scope == scope)
            .filter_map(|setting| Some((setting.key, self.get(setting)?.span())))
    }

    /// Sets a value that is not in a file.
    pub(crate) fn set(&mut self, setting: &Setting, text: impl Into<String>) {
        self.values.insert(setting.key, Spanned::new(0..0, text.into()));
    }

    /// Returns its load as a table, in place of a word.
    pub(crate) fn load_table(&mut self) -> &mut Self {
        let load = self.load.get_or_insert_default();
        load.values.remove(LOAD.key);
        load
    }

    /// Returns the word of a load that is no table.
    pub(crate) fn load_word(&self) -> Option<&str> {
        self.get(LOAD).map(|word| word.get_ref().as_str())
    }
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

/// Fields that identify a table in a parser's message.
const TABLES: &[(&str, &str)] = &[
    ("`reason`", "[[waive]]"),
    ("`claim`", "[[published.finding]]"),
    ("`setup`", "[[published]]"),
];

/// Keys of a file.
const KEYS: [&str; 6] = ["experiment", "benchmark", "factors", "variant", "waive", "published"];

/// Reads an experiment file's text.
///
/// # Errors
/// Every unknown key and every value of another type than its key's.
pub(crate) fn parse(source: &Source) -> Result<File, PlanError> {
    let tables = DeTable::parse(&source.text).map_err(|error| explain(source, &error, TABLES))?;
    let mut reader = Reader { source, errors: Errors::default() };
    let mut file = File::default();
    for key in ["experiment", "benchmark"] {
        if !tables.get_ref().contains_key(key) {
            reader.missing(key, 0..0);
        }
    }
    for (key, value) in tables.into_inner() {
        match key.get_ref().as_ref() {
            "experiment" => file.experiment = reader.section(Table::Experiment, value),
            "benchmark" => file.benchmark = reader.section(Table::Benchmark, value),
            "factors" => file.factors = reader.section(Table::Factors, value),
            "variant" => file.variants = reader.sections(Table::Variant, value),
            "waive" => file.waivers = reader.tables(value),
            "published" => file.published = reader.tables(value),
            unknown => {
                let error = unknown_key(unknown, "", &KEYS);
                reader.errors.push(error.at(source, key.span(), "no such key"));
            }
        }
    }
    reader.errors.result(file)
}

/// Reads the tables of a file, and collects what is wrong with them.
struct Reader<'a> {
    source: &'a Source,
    errors: Errors,
}

impl Reader<'_> {
    /// Reads a list of tables without settings.
    fn tables<T: DeserializeOwned>(&mut self, value: Spanned<DeValue<'_>>) -> Vec<T> {
        let tables = Vec::deserialize(ValueDeserializer::from(value));
        let tables = tables.map_err(|error| explain(self.source, &error, TABLES));
        self.errors.or_default(tables)
    }

    /// Reads a list of tables, or of names in place of tables.
    #[expect(clippy::wildcard_enum_match_arm, reason = "all other types are wrong alike")]
    fn sections(&mut self, table: Table, value: Spanned<DeValue<'_>>) -> Vec<Section> {
        let place = value.span();
        match value.into_inner() {
            DeValue::Array(items) => {
                items.into_iter().map(|item| self.section(table, item)).collect()
            }
            other => {
                self.wrong_type("a list in brackets", &other, place);
                Vec::new()
            }
        }
    }

    /// Reads one table.
    fn section(&mut self, table: Table, value: Spanned<DeValue<'_>>) -> Section {
        let place = value.span();
        let mut section = Section { place: place.clone(), ..Section::default() };
        match (value.into_inner(), table) {
            (DeValue::Table(entries), _) => self.entries(table, entries, &mut section),
            (DeValue::String(word), Table::Step | Table::Load) => {
                let setting = if table == Table::Step { STEP } else { LOAD };
                let word = Spanned::new(place, word.into_owned());
                section.values.insert(setting.key, word);
            }
            (other, _) => {
                let expected = match table {
                    Table::Step => {
                        "the name of a step, or a table such as { step = \"readrandom\" }"
                    }
                    Table::Load => "\"closed\", or a table such as { rate = \"50k/s\" }",
                    Table::Experiment | Table::Benchmark | Table::Factors | Table::Variant => {
                        "a table"
                    }
                };
                self.wrong_type(expected, &other, place);
            }
        }
        section
    }

    fn entries(&mut self, table: Table, entries: DeTable<'_>, section: &mut Section) {
        let unread: Vec<_> =
            required(table).iter().filter(|setting| !entries.contains_key(setting.key)).collect();
        let errors_before = self.errors.len();
        for (key, value) in entries {
            let Some(setting) = of_table(table).find(|one| one.key == key.get_ref()) else {
                let known: Vec<_> = of_table(table).map(|setting| setting.key).collect();
                let error = unknown_key(key.get_ref(), table.name(), &known);
                self.errors.push(error.at(self.source, key.span(), "no such key"));
                continue;
            };
            match setting.kind {
                Kind::Steps => section.steps = Some(self.sections(Table::Step, value)),
                Kind::Load => section.load = Some(Box::new(self.section(Table::Load, value))),
                Kind::Pairs => self.pairs(value, &mut section.pairs),
                kind @ (Kind::Amount
                | Kind::Text
                | Kind::Name(_)
                | Kind::Whole
                | Kind::Number
                | Kind::Switch
                | Kind::Levels) => {
                    let place = value.span();
                    if let Some(text) = self.scalar(kind, value) {
                        section.values.insert(setting.key, Spanned::new(place, text));
                    }
                }
            }
        }
        // A mistyped key may be the missing one.
        if let Some(setting) = unread.first().filter(|_| self.errors.len() == errors_before) {
            self.missing(setting.key, section.place.clone());
        }
    }

    /// Reads a table of names and values.
    #[expect(clippy::wildcard_enum_match_arm, reason = "all other types are wrong alike")]
    fn pairs(&mut self, value: Spanned<DeValue<'_>>, pairs: &mut Named<Text>) {
        let place = value.span();
        let entries = match value.into_inner() {
            DeValue::Table(entries) => entries,
            other => return self.wrong_type("a table of names and values", &other, place),
        };
        for (name, value) in entries {
            let place = value.span();
            if let Some(text) = self.scalar(Kind::Amount, value) {
                let name = Spanned::new(name.span(), name.into_inner().into_owned());
                pairs.0.push((name, Spanned::new(place, Text(text))));
            }
        }
    }

    /// Returns the text of a value of that kind.
    fn scalar(&mut self, kind: Kind, value: Spanned<DeValue<'_>>) -> Option<String> {
        let place = value.span();
        let value = value.into_inner();
        let expected = match (kind, &value) {
            (Kind::Amount | Kind::Text | Kind::Name(_) | Kind::Levels, DeValue::String(text)) => {
                return Some(text.to_string());
            }
            (Kind::Amount | Kind::Whole | Kind::Number, DeValue::Integer(_))
            | (Kind::Amount | Kind::Number, DeValue::Float(_))
            | (Kind::Amount | Kind::Switch, DeValue::Boolean(_)) => return Some(plain(&value)),
            (Kind::Levels, DeValue::Array(levels)) => {
                let levels: Vec<_> = levels.iter().map(|level| plain(level.get_ref())).collect();
                return Some(levels.join(","));
            }
            (Kind::Levels, _) => "a list such as [1, 2], \"sweep\" or \"adaptive\"",
            (Kind::Whole, _) => "a whole number",
            (Kind::Number, _) => "a number",
            (Kind::Switch, _) => "true or false",
            (Kind::Text | Kind::Name(_), _) => "text in quotes",
            (Kind::Amount | Kind::Pairs | Kind::Steps | Kind::Load, _) => {
                "text, a number, true or false"
            }
        };
        self.wrong_type(expected, &value, place);
        None
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "all other types are wrong alike")]
    fn wrong_type(&mut self, expected: &str, found: &DeValue<'_>, place: Range<usize>) {
        let found = match found {
            DeValue::String(text) => format!("string {text:?}"),
            DeValue::Array(_) => "a list".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
            other => format!("{} `{}`", other.type_str(), plain(other)),
        };
        let error = PlanError::new(format!("expected {expected}, found {found}"));
        self.errors.push(error.at(self.source, place, "here"));
    }

    fn missing(&mut self, key: &str, place: Range<usize>) {
        let error = PlanError::new(format!("missing field `{key}`"));
        self.errors.push(error.at(self.source, place, "here"));
    }
}

/// Returns the text of a number or a truth value, in its shortest form.
fn plain(value: &DeValue<'_>) -> String {
    match value {
        DeValue::Integer(number) => i128::from_str_radix(number.as_str(), number.radix())
            .map_or_else(|_| number.to_string(), |number| number.to_string()),
        DeValue::Float(number) => {
            number.as_str().parse::<f64>().map_or_else(|_| number.to_string(), |f| f.to_string())
        }
        DeValue::Boolean(truth) => truth.to_string(),
        DeValue::Datetime(moment) => moment.to_string(),
        DeValue::String(text) => text.to_string(),
        DeValue::Array(_) | DeValue::Table(_) => String::new(),
    }
}
