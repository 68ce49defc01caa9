//! Reads tables of files with the places of their fields, and reports what is wrong with them.

use std::borrow::Cow;
use std::ops::Range;

use model::limits::LIST_MAX;
use model::secret::{has_secret, is_secret_name};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::{Errors, PlanError, Source};
use crate::place::{Place, Placed};
use crate::secret::misplaced_secret;

/// A value of a file, with its place.
pub type Node<'a> = Spanned<DeValue<'a>>;
/// A text of a file, with its place.
pub type Word<'a> = Spanned<&'a str>;
/// Names and texts of a table, in the file's order.
pub type Pairs = Vec<(Placed<String>, Placed<String>)>;

/// The parser's message about a key that occurs twice.
const DUPLICATE: &str = "duplicate key";
/// The remedy for a table in a list that is written as a single table.
const TABLE_OF_LIST: &str = "write the name of a table that can occur again in two pairs of \
                             brackets: [[variant]]";

/// A table that has only known keys.
#[derive(Debug, Clone, Copy)]
pub struct Fields<'a> {
    /// The table's own value.
    pub node: &'a Node<'a>,
    table: &'a DeTable<'a>,
}

impl<'a> Fields<'a> {
    /// Returns the fields of a table; `what` names it in messages.
    ///
    /// # Errors
    /// When the value is not a table, or the table has an unknown key.
    pub fn of(node: &'a Node<'a>, what: &str, keys: &[&str]) -> Result<Self, PlanError> {
        let table = node.get_ref().as_table().ok_or_else(|| wrong_type(what, node))?;
        match table.keys().find(|key| !keys.contains(&&**key.get_ref())) {
            None => Ok(Self { node, table }),
            Some(key) => {
                let error = PlanError::new(format!("unknown key `{}` in {what}", key.get_ref()))
                    .meant(key.get_ref(), keys.iter().copied(), listed_keys(keys));
                Err(error.at(key.span(), "no such key"))
            }
        }
    }

    /// Returns a field, if the table has it.
    pub fn get(&self, key: &str) -> Option<&'a Node<'a>> {
        self.table.get(key)
    }

    /// Returns a field that the table must have.
    ///
    /// # Errors
    /// When the table has no such field.
    pub fn required(&self, key: &str) -> Result<&'a Node<'a>, PlanError> {
        self.get(key).ok_or_else(|| missing(key, self.node.span()))
    }

    /// Returns a text that the table must have.
    ///
    /// # Errors
    /// When the table has no such field, or it is not a text.
    pub fn text(&self, key: &str) -> Result<Word<'a>, PlanError> {
        text(self.required(key)?)
    }

    /// Returns a list; an absent one is empty.
    ///
    /// # Errors
    /// When the field is not a list, or has too many elements.
    pub fn list(&self, key: &str) -> Result<&'a [Node<'a>], PlanError> {
        self.get(key).map_or(Ok(&[]), |node| list(node))
    }
}

/// Returns a text.
///
/// # Errors
/// When the value is not a text.
pub fn text<'a>(node: &'a Node<'a>) -> Result<Word<'a>, PlanError> {
    let text = node.get_ref().as_str().map(|text| Spanned::new(node.span(), text));
    text.ok_or_else(|| wrong_type("text in quotes", node))
}

/// Returns the elements of a list.
///
/// # Errors
/// When the value is not a list, or has too many elements.
pub fn list<'a>(node: &'a Node<'a>) -> Result<&'a [Node<'a>], PlanError> {
    let list: Option<&[Node<'a>]> = node.get_ref().as_array().map(AsRef::as_ref);
    let list = list.ok_or_else(|| {
        let error = wrong_type("a list in brackets", node);
        if node.get_ref().is_table() { error.remedy(TABLE_OF_LIST) } else { error }
    })?;
    few(list.len(), node)?;
    Ok(list)
}

/// Returns a truth value, false when it is absent.
///
/// # Errors
/// When the value is neither true nor false.
pub fn switch(node: Option<&Node<'_>>) -> Result<bool, PlanError> {
    let Some(node) = node else { return Ok(false) };
    node.get_ref().as_bool().ok_or_else(|| wrong_type("true or false", node))
}

/// Returns a real number within a range, which `otherwise` explains.
///
/// # Errors
/// When the value is not a number, or is out of range.
pub fn real(
    node: &Node<'_>,
    is_valid: impl Fn(f64) -> bool,
    otherwise: &str,
) -> Result<f64, PlanError> {
    let value = node.get_ref();
    let number = (value.is_float() || value.is_integer()).then(|| plain(value).parse().ok());
    match number.flatten() {
        None => Err(wrong_type("a number", node)),
        Some(number) if is_valid(number) => Ok(number),
        Some(_) => Err(PlanError::here(node.span(), otherwise)),
    }
}

/// Returns the entries of a table of names.
///
/// # Errors
/// When the value is not a table.
pub fn entries<'a>(
    node: &'a Node<'a>,
) -> Result<impl Iterator<Item = (Word<'a>, &'a Node<'a>)> + use<'a>, PlanError> {
    let table = node.get_ref().as_table();
    let table = table.ok_or_else(|| wrong_type("a table of names", node))?;
    Ok(table.iter().map(|(name, node)| (word(name), node)))
}

/// Checks that a list or a table of a file has few entries, before each is read.
///
/// # Errors
/// When there are more than are read.
pub fn few(length: usize, node: &Node<'_>) -> Result<(), PlanError> {
    match length <= LIST_MAX {
        true => Ok(()),
        false => {
            let why =
                format!("the list or table has {length} entries, and at most {LIST_MAX} are read");
            Err(PlanError::here(node.span(), why))
        }
    }
}

/// Returns the key of a table as a text.
pub fn word<'a>(key: &'a Spanned<Cow<'a, str>>) -> Word<'a> {
    Spanned::new(key.span(), key.get_ref())
}

/// Parses a file's text; the place of the whole is empty.
///
/// # Errors
/// Every line that is not TOML, with its first error: others of the line follow from it.
pub fn parse(source: &Source) -> Result<Node<'_>, PlanError> {
    let (table, mut wrong) = DeTable::parse_recoverable(&source.text);
    wrong.sort_by_key(|error| error.span().map_or(0, |place| place.start));
    let mut errors = Errors::default();
    let mut begin = None;
    for error in wrong {
        let place = visible(source, error.span().unwrap_or(0..0));
        let line = source.text.get(..place.start).and_then(|before| before.rfind('\n'));
        if begin.replace(line) != Some(line) {
            errors.push(syntax_error(source, error.message(), place));
        }
    }
    errors.result(())?;
    if let Some(place) = misplaced_secret(&table) {
        return Err(misplaced(place));
    }
    Ok(Spanned::new(0..0, DeValue::Table(table.into_inner())))
}

fn syntax_error(source: &Source, message: &str, place: Range<usize>) -> PlanError {
    let remedy = match source.text.get(..place.start) {
        _ if message != DUPLICATE => None,
        Some(before) if before.ends_with('[') => Some(TABLE_OF_LIST),
        _ => Some("leave one of them out"),
    };
    let error = PlanError::here(place, message);
    remedy.into_iter().fold(error, PlanError::remedy)
}

/// Returns the error of a password outside of a `dsn`.
fn misplaced(place: Range<usize>) -> PlanError {
    PlanError::here(place, "a password stands at the wrong place").remedy(
        "write the password into the `dsn` of its [[variant]]: Assay stores everything \
                 else of the file",
    )
}

/// Returns the names and texts of a table of scalars.
///
/// # Errors
/// When the value is not a table of scalars, or has a password.
pub fn scalars(node: &Node<'_>) -> Result<Pairs, PlanError> {
    let table = node.get_ref().as_table();
    let table = table.ok_or_else(|| wrong_type("a table of names and values", node))?;
    let pair = |(name, node): (&Spanned<Cow<'_, str>>, &Node<'_>)| {
        if is_secret_name(name.get_ref()) || node.get_ref().as_str().is_some_and(has_secret) {
            return Err(misplaced(node.span()));
        }
        Ok((Placed::from(name), Placed::new(scalar(node)?, node.span())))
    };
    table.iter().map(pair).collect()
}

/// Returns the text of a scalar value.
///
/// # Errors
/// When the value is a list, a table or a date.
pub fn scalar(node: &Node<'_>) -> Result<String, PlanError> {
    let value = node.get_ref();
    if value.is_table() || value.is_array() || value.is_datetime() {
        return Err(wrong_type("text, a number, true or false", node));
    }
    Ok(plain(value))
}

/// Returns the text of a value; of a number in its shortest form.
pub fn plain(value: &DeValue<'_>) -> String {
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

/// Returns the error of a value of another type.
#[expect(clippy::wildcard_enum_match_arm, reason = "all other types are wrong alike")]
pub fn wrong_type(expected: &str, node: &Node<'_>) -> PlanError {
    let found = match node.get_ref() {
        DeValue::String(text) => format!("string {text:?}"),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
        other => format!("{} `{}`", other.type_str(), plain(other)),
    };
    PlanError::here(node.span(), format!("expected {expected}, found {found}"))
}

/// Returns the remedy that lists the keys of a table.
pub fn listed_keys(known: &[&str]) -> String {
    format!("known keys: {}", known.join(", "))
}

/// Returns the error of a key that is missing in the table at `place`.
pub fn missing(key: &str, place: impl Into<Place>) -> PlanError {
    PlanError::here(place, format!("missing field `{key}`"))
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
