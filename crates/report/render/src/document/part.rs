//! The parts of a document, grouped into blocks.

use model::{in_line, visible};

use super::rows::Rows;
use super::table::Table;
use crate::plot::Picture;
use crate::style::Style;

/// One part of a document.
pub(crate) enum Part {
    /// A heading with its level: 1 is the document's.
    Heading(u8, String),
    /// A line that stands out.
    Strong(String),
    /// A paragraph.
    Text(String),
    /// Sentences, each an entry of a list.
    Sentences(Vec<String>),
    /// Entries below a heading or a line.
    Items(Vec<String>),
    /// Names with their values; those without a value are left out.
    Facts(Vec<(String, String)>),
    Table(Table),
    /// A legend or remark; three spaces separate its entries.
    Note(String),
    Picture(Picture),
    /// A line that is never broken: a command, or columns that are aligned already.
    Verbatim(String),
    /// Details below their summary.
    Folded(String, Vec<Part>),
}

impl Part {
    /// Returns the facts that are known.
    pub(crate) fn facts<N: Into<String>>(facts: impl IntoIterator<Item = (N, String)>) -> Self {
        Self::Facts(facts.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }

    /// Returns a heading below the document's.
    pub(crate) fn title(text: impl Into<String>) -> Self {
        Self::Heading(2, text.into())
    }

    /// Returns the part above others, without empty ones; nothing if all of these are empty.
    pub(crate) fn above(self, parts: impl IntoIterator<Item = Self>) -> Vec<Self> {
        let mut parts: Vec<Self> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        if !parts.is_empty() {
            parts.insert(0, self);
        }
        parts
    }

    /// Returns the part with every text changed by `change`.
    ///
    /// A verbatim line is not: it stays one line, so that it cannot end the block it stands in.
    pub(super) fn map(&self, change: &dyn Fn(&str) -> String) -> Self {
        let all = |lines: &[String]| lines.iter().map(|line| change(line)).collect();
        let one_line = |text: &str| in_line(&change(text)).into_owned();
        match self {
            Self::Heading(level, text) => Self::Heading(*level, one_line(text)),
            Self::Strong(text) => Self::Strong(one_line(text)),
            Self::Text(text) => Self::Text(change(text)),
            Self::Note(text) => Self::Note(change(text)),
            Self::Sentences(lines) => Self::Sentences(all(lines)),
            Self::Items(lines) => Self::Items(all(lines)),
            Self::Facts(facts) => {
                let fact = |(name, value): &(String, String)| (one_line(name), one_line(value));
                Self::Facts(facts.iter().map(fact).collect())
            }
            Self::Table(table) => Self::Table(table.map(change)),
            Self::Picture(picture) => Self::Picture(picture.map_labels(change)),
            Self::Verbatim(line) => Self::Verbatim(visible(line).replace('\n', " ")),
            Self::Folded(summary, parts) => {
                Self::Folded(change(summary), parts.iter().map(|part| part.map(change)).collect())
            }
        }
    }

    /// Returns whether nothing would be written.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Heading(_, text) | Self::Strong(text) | Self::Text(text) | Self::Note(text) => {
                text.is_empty()
            }
            Self::Sentences(lines) | Self::Items(lines) => lines.is_empty(),
            Self::Facts(facts) => facts.iter().all(|(_, value)| value.is_empty()),
            Self::Table(table) => table.is_empty(),
            Self::Picture(_) | Self::Verbatim(_) | Self::Folded(..) => false,
        }
    }
}

/// Blocks of parts; text has an empty line between blocks and none within them.
#[derive(Default)]
pub struct Document {
    pub(super) blocks: Vec<Vec<Part>>,
}

impl Document {
    /// Returns a document of lines that stay as they are; a line break within one begins another.
    pub fn lines(lines: impl IntoIterator<Item = String>) -> Self {
        let lines: Vec<String> = lines.into_iter().collect();
        let lines = lines.iter().flat_map(|line| line.split('\n'));
        Self::from([lines.map(|line| Part::Verbatim(line.to_owned())).collect()])
    }

    /// Adds a block; empty parts are left out.
    pub(crate) fn add(&mut self, parts: impl IntoIterator<Item = Part>) {
        let parts: Vec<Part> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        if !parts.is_empty() {
            self.blocks.push(parts);
        }
    }

    /// Adds the blocks of another document.
    pub fn append(&mut self, other: Self) {
        self.blocks.extend(other.blocks);
    }

    /// Returns all parts in order.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Part> {
        self.blocks.iter().flatten()
    }

    /// Takes all parts, in order.
    pub(crate) fn into_parts(self) -> impl Iterator<Item = Part> {
        self.blocks.into_iter().flatten()
    }

    /// Returns the document with every text changed by `change`; see [`Part::map`].
    pub(super) fn map(&self, change: &dyn Fn(&str) -> String) -> Self {
        let block = |parts: &Vec<Part>| parts.iter().map(|part| part.map(change)).collect();
        Self { blocks: self.blocks.iter().map(block).collect() }
    }
}

/// A document of one block for each list of parts.
impl<const N: usize> From<[Vec<Part>; N]> for Document {
    fn from(blocks: [Vec<Part>; N]) -> Self {
        let mut document = Self::default();
        blocks.into_iter().for_each(|block| document.add(block));
        document
    }
}

/// The content of one report.
pub(crate) struct Content<'a> {
    /// What people read.
    pub(crate) document: &'a dyn Fn() -> Document,
    /// A header and rows for spreadsheets; `None` where text takes their place.
    pub(crate) rows: &'a dyn Fn() -> Option<Rows>,
    /// Everything for programs, as JSON.
    pub(crate) data: &'a dyn Fn() -> String,
    /// Matters to text.
    pub(crate) style: Style,
}
