//! Reads experiment files by the declarations of settings.

use std::borrow::Cow;
use std::collections::BTreeMap;

use model::LoadReuse;
use model::in_line;
use model::limits::joined_name;
use model::setting::{Form, Scope};
use reader::error::{Errors, PlanError, Source};
use reader::place::{Place, Placed};
use reader::syntax::{Node, Pairs, list, missing, plain, scalar, scalars, wrong_type};
use toml::Spanned;
use toml::de::DeTable;

use crate::settings::{
    Key, Kind, LOAD, NAME, REUSE, SIZE, STEP, Setting, Table, all, of_table, required,
};
use crate::unknown::{namesake, unknown_key, unknown_table};

/// A whole experiment file; no `Debug`, for it has the passwords as written.
#[derive(Clone, Default)]
pub(crate) struct File {
    pub(crate) experiment: Section,
    /// The table `[benchmark]`, or `[device]` in its place.
    pub(crate) benchmark: Section,
    /// Whether storage is measured, and no engine.
    pub(crate) is_device: bool,
    /// Whether parts of it could not be read: nothing of it is missing for certain.
    pub(crate) is_partial: bool,
    pub(crate) factors: Section,
    pub(crate) hosts: Option<Section>,
    /// The table `[durability]`.
    pub(crate) durability: Option<Section>,
    /// The sizes with their names, in the file's order.
    pub(crate) sizes: Vec<(Placed<String>, Section)>,
    pub(crate) variants: Vec<Section>,
    pub(crate) waivers: Vec<Section>,
    pub(crate) published: Vec<Section>,
    /// What is wrong with its tables, before they are checked together.
    pub(crate) errors: Errors,
}

impl File {
    /// Returns the names of the sizes; the file's own comes first where it has a name.
    pub(crate) fn size_names(&self) -> Vec<&str> {
        let own = self.experiment.get(SIZE).map(|name| name.value.as_str());
        let others = self.sizes.iter().map(|(name, _)| name.value.as_str());
        let others = others.filter(|name| own != Some(*name));
        own.into_iter().chain(others).collect()
    }

    /// Replaces settings by the settings of a size, and adds its name to the experiment's.
    ///
    /// The name of the file's own size replaces nothing.
    ///
    /// # Errors
    /// When no size has that name.
    pub(crate) fn resize(&mut self, name: &str) -> Result<(), PlanError> {
        if self.experiment.get(SIZE).is_some_and(|own| own.value == name) {
            return Ok(());
        }
        let Some((named, size)) = self.sizes.iter().find(|(known, _)| known.value == name) else {
            let names = self.size_names();
            let remedy = match &names[..] {
                [] => "the file has no [size.NAME]: leave --size out".to_owned(),
                names => format!("sizes of the file: {}", names.join(", ")),
            };
            let error = PlanError::here(Place::flag("size"), format!("no size is named `{name}`"));
            return Err(error.remedy(remedy));
        };
        for setting in of_table(Table::Size) {
            let Some(text) = size.get(setting) else { continue };
            let section = match setting.tables {
                tables if tables.contains(&Table::Factors) => &mut self.factors,
                tables if tables.contains(&Table::Durability) => {
                    self.durability.get_or_insert_default()
                }
                _ => &mut self.benchmark,
            };
            section.values.insert(setting.key, Field::Given(text.clone()));
        }
        replace_pairs(&mut self.benchmark.pairs, size.pairs.iter().cloned());
        let joined = joined_name(self.experiment.text(NAME), name);
        self.experiment.set(NAME, joined, &named.place);
        let size = named.clone();
        // Findings may name the file's own size, whichever is chosen.
        if let Some(own) = self.experiment.get(SIZE).cloned() {
            self.sizes.push((own, Section::default()));
        }
        self.experiment.set(SIZE, size.value, size.place);
        Ok(())
    }
}

/// Adds pairs; each replaces one of its name.
pub(crate) fn replace_pairs(
    pairs: &mut Pairs,
    others: impl IntoIterator<Item = (Placed<String>, Placed<String>)>,
) {
    for (name, value) in others {
        pairs.retain(|(known, _)| known.value != name.value);
        pairs.push((name, value));
    }
}

/// What a table has of a setting.
#[derive(Clone)]
enum Field {
    /// A value, which has been reported as wrong.
    Wrong,
    /// A valid text.
    Given(Placed<String>),
}

/// A table of a file, or of the command line.
#[derive(Clone, Default)]
pub(crate) struct Section {
    values: BTreeMap<&'static str, Field>,
    /// Whether parts of it could not be read, such as a mistyped key.
    pub(crate) is_partial: bool,
    /// Parameters of an application, or options of an engine.
    pub(crate) pairs: Pairs,
    /// Steps of a benchmark, events of a step, or findings of a publication.
    pub(crate) tables: Option<Vec<Section>>,
    pub(crate) load: Option<Box<Section>>,
    /// Place of a step, a load or a finding.
    pub(crate) place: Place,
}

impl Section {
    /// Returns a step written as its name alone.
    pub(crate) fn step(name: impl Into<String>) -> Self {
        let mut step = Self::default();
        step.set(STEP, name, Place::Unwritten);
        step
    }

    /// Returns the text of a setting, with its place.
    pub(crate) fn get(&self, setting: &Setting) -> Option<&Placed<String>> {
        self.by_key(setting.key)
    }

    /// Returns the text of the setting of a key, with its place.
    pub(crate) fn by_key(&self, key: &str) -> Option<&Placed<String>> {
        match self.values.get(key)? {
            Field::Given(text) => Some(text),
            Field::Wrong => None,
        }
    }

    /// Returns the value of a setting, if it has a valid one.
    pub(crate) fn value<T>(&self, key: &Key<T>) -> Option<T> {
        (key.parse)(&self.get(key)?.value).ok()
    }

    /// Returns whether it is known if it has a setting.
    pub(crate) fn is_certain(&self, setting: &Setting) -> bool {
        self.get(setting).is_some() || !self.may_have(setting)
    }

    /// Returns whether it has a setting, or may have a wrong one: nothing is missing then.
    pub(crate) fn may_have(&self, setting: &Setting) -> bool {
        self.is_partial || self.values.contains_key(setting.key)
    }

    /// Returns the text of a required setting.
    pub(crate) fn text(&self, setting: &Setting) -> &str {
        self.get(setting).map_or("", |text| &text.value)
    }

    /// Returns the place of a setting.
    pub(crate) fn place_of(&self, setting: &Setting) -> Place {
        self.get(setting).map_or(Place::Unwritten, |text| text.place.clone())
    }

    /// Returns the settings that it has and the table has not.
    pub(crate) fn outside(&self, table: Table) -> impl Iterator<Item = &'static Setting> + '_ {
        let is_other = move |one: &&Setting| of_table(table).all(|known| known.key != one.key);
        all().filter(|one| self.get(one).is_some()).filter(is_other)
    }

    /// Returns the keys and places of the settings of a scope, where it is a table of this kind.
    ///
    /// Two tables may have different settings under one key.
    pub(crate) fn scoped(
        &self,
        table: Table,
        scope: Scope,
    ) -> impl Iterator<Item = (&'static str, Place)> + '_ {
        of_table(table)
            .filter(move |setting| setting.scope == scope)
            .filter_map(|setting| Some((setting.key, self.get(setting)?.place.clone())))
    }

    /// Sets a valid value.
    pub(crate) fn set(
        &mut self,
        setting: &Setting,
        text: impl Into<String>,
        place: impl Into<Place>,
    ) {
        self.values.insert(setting.key, Field::Given(Placed::new(text.into(), place)));
    }

    /// Sets a written value, or adds the error of one that is wrong.
    pub(crate) fn read(
        &mut self,
        setting: &Setting,
        text: Result<Placed<String>, PlanError>,
        errors: &mut Errors,
    ) {
        let checked = text.and_then(|text| setting.check(&text).map(|()| text));
        let field = errors.ok(checked).map_or(Field::Wrong, Field::Given);
        self.values.insert(setting.key, field);
    }

    /// Returns its load as a table, in place of a word.
    pub(crate) fn load_table(&mut self) -> &mut Self {
        let load = self.load.get_or_insert_default();
        load.values.remove(LOAD.key);
        load
    }

    /// Returns the word of a load that is no table.
    pub(crate) fn load_word(&self) -> Option<&str> {
        self.get(LOAD).map(|word| word.value.as_str())
    }
}

/// Keys of a file.
const KEYS: [&str; 10] = [
    "experiment",
    "benchmark",
    "device",
    "factors",
    "hosts",
    "durability",
    "size",
    "variant",
    "waive",
    "published",
];

/// Reads an experiment file's text.
///
/// Unknown keys and wrong values are among the file's errors.
///
/// # Errors
/// When the text is not TOML.
pub(crate) fn parse(source: &Source) -> Result<File, PlanError> {
    let root = reader::syntax::parse(source)?;
    let mut reader = Reader { errors: Errors::default() };
    let root_has = |key: &str| root.get_ref().get(key).is_some();
    let is_device = root_has("device") && !root_has("benchmark");
    let mut file = File { is_device, ..File::default() };
    for (key, node) in root.get_ref().as_table().into_iter().flatten() {
        match &**key.get_ref() {
            "experiment" => file.experiment = reader.section(Table::Experiment, node),
            "benchmark" => file.benchmark = reader.section(Table::Benchmark, node),
            "device" if root_has("benchmark") => {
                let error = PlanError::new("the file has both [benchmark] and [device]");
                let error = error.at(key.span(), "storage alone is measured by this");
                reader.errors.push(error.remedy("write two experiment files"));
                file.is_partial = true;
            }
            "device" => file.benchmark = reader.section(Table::Device, node),
            "factors" => file.factors = reader.section(Table::Factors, node),
            "hosts" => file.hosts = Some(reader.section(Table::Hosts, node)),
            "durability" => {
                file.durability = Some(reader.section(Table::Durability, node));
            }
            "size" => file.sizes = reader.sizes(node),
            "variant" => {
                let variants = reader.sections(Table::Variant, node);
                file.is_partial |= variants.is_none();
                file.variants = variants.unwrap_or_default();
            }
            "waive" => file.waivers = reader.sections(Table::Waiver, node).unwrap_or_default(),
            "published" => {
                file.published = reader.sections(Table::Published, node).unwrap_or_default();
            }
            unknown => {
                let error = unknown_table(unknown, &KEYS);
                reader.errors.push(error.at(key.span(), "no such key"));
                file.is_partial = true;
            }
        }
    }
    let is_mistyped = file.is_partial;
    for key in ["experiment", "benchmark"] {
        // A mistyped table may be the missing one.
        if root_has(key) || key == "benchmark" && is_device || is_mistyped {
            continue;
        }
        let remedy = format!(
            "{} has no table [{key}]: add it, as in docs/guide/experiment-files.md",
            source.name
        );
        reader.errors.push(missing(key, Place::Unwritten).remedy(remedy));
        file.is_partial = true;
    }
    file.benchmark.is_partial |= file.is_partial;
    Ok(File { errors: reader.errors, ..file })
}

/// Reads the tables of a file, and collects what is wrong with them.
struct Reader {
    errors: Errors,
}

impl Reader {
    /// Reads a list of tables, or of names in place of tables.
    fn sections(&mut self, table: Table, node: &Node<'_>) -> Option<Vec<Section>> {
        let items = self.errors.ok(list(node))?;
        Some(items.iter().map(|item| self.section(table, item)).collect())
    }

    /// Reads a table of named sizes.
    fn sizes(&mut self, node: &Node<'_>) -> Vec<(Placed<String>, Section)> {
        let Some(named) = node.get_ref().as_table() else {
            self.errors.push(wrong_type("tables such as [size.night]", node));
            return Vec::new();
        };
        let size = |(name, node): (&Spanned<Cow<'_, str>>, &Node<'_>)| {
            (Placed::from(name), self.section(Table::Size, node))
        };
        let mut named: Vec<_> = named.iter().collect();
        named.sort_by_key(|(name, _)| name.span().start);
        named.into_iter().map(size).collect()
    }

    /// Reads one table.
    fn section(&mut self, table: Table, node: &Node<'_>) -> Section {
        let mut section = Section { place: node.span().into(), ..Section::default() };
        let value = node.get_ref();
        let (word, expected): (Option<&Setting>, _) = if table == Table::Step {
            (Some(STEP), "the name of a step, or a table such as { step = \"readrandom\" }")
        } else if table == Table::Load {
            let is_reuse = |text: &&str| LoadReuse::ALL.iter().any(|known| known.name() == *text);
            let is_reuse = value.as_str().filter(is_reuse).is_some();
            let setting: &Setting = if is_reuse { REUSE } else { LOAD };
            (Some(setting), "\"closed\", or a table such as { rate = \"50k/s\" }")
        } else {
            (None, "a table")
        };
        match (value.as_table(), value.as_str(), word) {
            (Some(entries), ..) => self.entries(table, entries, &mut section),
            (None, Some(text), Some(setting)) => {
                section.set(setting, text, node.span());
            }
            (None, ..) => {
                self.errors.push(wrong_type(expected, node));
                section.is_partial = true;
            }
        }
        section
    }

    fn entries(&mut self, table: Table, entries: &DeTable<'_>, section: &mut Section) {
        for (key, node) in entries {
            // Each error has the text around it.
            if self.errors.is_full() {
                return;
            }
            let Some(setting) = of_table(table).find(|one| one.key == *key.get_ref()) else {
                let error = unknown_key(key.get_ref(), table);
                self.errors.push(error.at(key.span(), "no such key"));
                section.is_partial = true;
                continue;
            };
            let kind = setting.kind;
            if let Kind::Tables(of) = kind {
                section.set(setting, "", node.span());
                section.tables = self.sections(of, node);
                section.is_partial |= section.tables.is_none();
            } else if matches!(kind, Kind::Load) {
                section.load = Some(Box::new(self.section(Table::Load, node)));
            } else if matches!(kind, Kind::Pairs) {
                section.pairs = self.errors.or_default(scalars(node));
            } else {
                let text = value(kind, node).map(|text| Placed::new(text, node.span()));
                let text = text.map_err(|error| match namesake(setting, table) {
                    Some(remedy) => error.remedy(remedy),
                    None => error,
                });
                section.read(setting, text, &mut self.errors);
            }
        }
        if let Some(key) = required(table).iter().find(|key| !section.may_have(key)) {
            self.errors.push(missing(key.key, &section.place));
        }
    }
}

/// Returns the text of a value of that kind.
fn value(kind: Kind, node: &Node<'_>) -> Result<String, PlanError> {
    let value = node.get_ref();
    let (fits, expected) = match kind {
        Kind::One(Form::Text | Form::Name(_)) => (value.is_str(), "text in quotes"),
        Kind::One(Form::Whole) => (value.is_integer(), "a whole number"),
        Kind::One(Form::Number) => (value.is_integer() || value.is_float(), "a number"),
        Kind::One(Form::Switch) => (value.is_bool(), "true or false"),
        Kind::Lines => (value.is_array(), "a list in brackets"),
        Kind::LineOrLines => (value.is_str() || value.is_array(), "a text, or a list of texts"),
        Kind::Levels => {
            (value.is_str() || value.is_array(), "a list such as [1, 2], \"sweep\" or \"adaptive\"")
        }
        Kind::One(Form::Amount) | Kind::Pairs | Kind::Tables(_) | Kind::Load => {
            return scalar(node);
        }
    };
    if !fits {
        return Err(wrong_type(expected, node));
    }
    let separator = if matches!(kind, Kind::Lines | Kind::LineOrLines) { "\n" } else { "," };
    let plain = |value| match (kind, plain(value)) {
        // A line break within a text divides no list.
        (Kind::LineOrLines, text) => in_line(&text).into_owned(),
        (_, text) => text,
    };
    Ok(match value.as_array() {
        Some(all) => {
            let all: Vec<_> = all.iter().map(|one| plain(one.get_ref())).collect();
            all.join(separator)
        }
        None => plain(value),
    })
}
