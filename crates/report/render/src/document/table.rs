//! A table: columns of words or figures, with their details.

use super::fill::fill;
use crate::figure::MISSING;

/// Emphasis of a cell; colour is never the only sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Tone {
    #[default]
    Plain,
    Better,
    Worse,
    /// Set aside: it stands in brackets too.
    Grey,
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Cell {
    pub(crate) text: String,
    /// Range, interval or count: next to the text, or below it.
    pub(crate) detail: String,
    pub(crate) tone: Tone,
    /// Share drawn as a bar on a page.
    pub(crate) bar: Option<f64>,
}

impl Cell {
    pub(crate) fn new(text: impl Into<String>, tone: Tone) -> Self {
        Self { text: text.into(), tone, ..Self::default() }
    }

    /// Returns it with this detail.
    pub(crate) fn with(self, detail: impl Into<String>) -> Self {
        Self { detail: detail.into(), ..self }
    }

    /// Returns it in brackets and greyed.
    pub(crate) fn set_aside(self) -> Self {
        let text = self.in_line();
        Self::new(format!("({})", text.trim_end()), Tone::Grey)
    }

    /// Returns text and detail in one line.
    pub(super) fn in_line(&self) -> String {
        if self.detail.is_empty() {
            self.text.clone()
        } else {
            format!("{} {}", self.text, self.detail)
        }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::new(text, Tone::Plain)
    }
}

/// Returns the text of a cell, `NA` for an unknown value.
pub(crate) fn known(text: Option<String>) -> String {
    text.unwrap_or_else(|| MISSING.to_owned())
}

/// A column with its heading; a heading that begins with a line break continues the one before.
#[derive(Debug, Clone, Default)]
pub(crate) struct Column {
    pub(super) heading: String,
    /// Whether it holds words, which stand to the left.
    pub(super) is_text: bool,
    pub(super) cells: Vec<Cell>,
}

/// A table; the first column names the row and is repeated in every block.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    pub(super) columns: Vec<Column>,
    /// Column whose text is broken into lines where the table is too wide.
    pub(super) broken: Option<usize>,
    /// Whether the names of rows are shortened where the table is too wide.
    is_shortened: bool,
}

/// Spaces between columns.
pub(super) const GAP: usize = 2;

/// The same on a page, in characters of its width.
const PAGE_GAP: usize = 3;
/// Narrowest column of broken text.
const BROKEN_MIN: usize = 16;
/// Narrowest column of shortened names. Our choice: with five columns of figures it has 80 columns.
const SHORTENED_MIN: usize = 36;

impl Table {
    /// Returns a table without rows; a heading that begins with `<` stands above words.
    pub(crate) fn new(headings: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let mut table = Self::default();
        for heading in headings {
            let heading = heading.as_ref();
            let label = heading.strip_prefix('<');
            let is_text = label.is_some() || table.columns.is_empty();
            let heading = label.unwrap_or(heading).to_owned();
            table.columns.push(Column { heading, is_text, cells: Vec::new() });
        }
        table
    }

    /// Returns a table of one column, the names of its rows.
    pub(crate) fn named<C: Into<Cell>>(
        heading: impl Into<String>,
        names: impl IntoIterator<Item = C>,
    ) -> Self {
        let mut table = Self::default();
        table.labels(heading, names);
        table
    }

    /// Adds a column of words.
    pub(crate) fn labels<C: Into<Cell>>(
        &mut self,
        heading: impl Into<String>,
        cells: impl IntoIterator<Item = C>,
    ) {
        let cells = cells.into_iter().map(Into::into).collect();
        self.columns.push(Column { heading: heading.into(), is_text: true, cells });
    }

    /// Adds a column of figures.
    pub(crate) fn figures<C: Into<Cell>>(
        &mut self,
        heading: impl Into<String>,
        cells: impl IntoIterator<Item = C>,
    ) {
        let cells = cells.into_iter().map(Into::into).collect();
        self.columns.push(Column { heading: heading.into(), is_text: false, cells });
    }

    /// Adds a row.
    pub(crate) fn push<C: Into<Cell>>(&mut self, row: impl IntoIterator<Item = C>) {
        let mut row = row.into_iter();
        for column in &mut self.columns {
            column.cells.push(row.next().map(Into::into).unwrap_or_default());
        }
        debug_assert!(row.next().is_none(), "a row has one cell per column");
    }

    /// Breaks the text of a column where the table is too wide.
    pub(crate) const fn broken(mut self, column: usize) -> Self {
        self.broken = Some(column);
        self
    }

    /// Shortens the names of rows, and breaks headings, where the table is too wide for text.
    pub(crate) const fn shortened(mut self) -> Self {
        self.is_shortened = true;
        self
    }

    /// Drops every detail.
    pub(crate) fn without_details(mut self) -> Self {
        let cells = self.columns.iter_mut().flat_map(|column| &mut column.cells);
        cells.for_each(|cell| cell.detail.clear());
        self
    }

    /// Returns the table with every text changed by `change`.
    pub(super) fn map(&self, change: &dyn Fn(&str) -> String) -> Self {
        let mut table = self.clone();
        for column in &mut table.columns {
            column.heading = change(&column.heading);
            for cell in &mut column.cells {
                (cell.text, cell.detail) = (change(&cell.text), change(&cell.detail));
            }
        }
        table
    }

    /// Returns whether there is no row, or no column next to the names.
    pub(crate) fn is_empty(&self) -> bool {
        self.columns.len() < 2 || self.rows() == 0
    }

    /// Returns the number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.cells.len())
    }

    /// Returns a heading in one line, with that which it continues.
    pub(super) fn heading(&self, index: usize) -> String {
        let own = &self.columns[index].heading;
        let before = self.columns[..index].iter().rev().map(|column| &column.heading);
        match own.strip_prefix('\n') {
            Some(rest) => {
                let whole =
                    before.filter(|it| !it.starts_with('\n')).find_map(|it| it.split('\n').next());
                format!("{} {rest}", whole.unwrap_or_default()).trim().to_owned()
            }
            None => own.replace("-\n", "").replace('\n', " "),
        }
    }

    /// Returns the columns of each block that is at most `width` wide; details may be stacked.
    ///
    /// A block has the first column and at least one other; columns of one heading stay together.
    pub(super) fn blocks(&self, width: usize, is_stacked: bool) -> Vec<Vec<usize>> {
        let of = |column: usize| match is_stacked {
            true => self.columns[column].stacked_width(),
            false => self.columns[column].width(),
        };
        let gap = if is_stacked { PAGE_GAP } else { GAP };
        let wide = |column: &usize| of(*column) + gap;
        let others: Vec<usize> = (1..self.columns.len()).collect();
        let continues = |_: &usize, next: &usize| self.columns[*next].heading.starts_with('\n');
        let mut blocks: Vec<Vec<usize>> = Vec::new();
        let mut used = 0;
        for group in others.chunk_by(continues) {
            let needed: usize = group.iter().map(wide).sum();
            if blocks.is_empty() || used + needed > width {
                blocks.push(vec![0]);
                used = of(0);
            }
            used += needed;
            blocks.last_mut().expect("the first group begins a block").extend(group);
        }
        blocks
    }

    /// Returns the table with names of at most so many characters, where they may be shortened.
    pub(super) fn with_names_of(mut self, chars: usize) -> Self {
        let names = self.columns.iter_mut().take(usize::from(self.is_shortened));
        let cells = names.flat_map(|column| &mut column.cells);
        cells.for_each(|cell| cell.text = shortened(&cell.text, chars));
        self
    }

    /// Returns the table with its broken column, or its names, as wide as the others leave room.
    pub(super) fn fitted(&self, width: usize) -> Self {
        let mut table = self.clone();
        let room = |table: &Self, column: usize| {
            let others = (0..table.columns.len()).filter(|other| *other != column);
            let others: usize = others.map(|other| table.columns[other].width() + GAP).sum();
            width.saturating_sub(others)
        };
        if self.is_shortened && self.blocks(width, false).len() > 1 {
            for column in &mut table.columns {
                let widest = longest(column.cells.iter().map(Cell::in_line));
                let heading = column.heading.replace('-', "- ");
                column.heading = fill(&heading, widest).replace("- ", "-");
            }
            let room = room(&table, 0).max(SHORTENED_MIN);
            table = table.with_names_of(room);
        }
        if let Some(broken) = self.broken {
            let room = room(self, broken).max(BROKEN_MIN);
            for cell in &mut table.columns[broken].cells {
                let lines = cell.text.lines().map(|line| fill(line, room));
                cell.text = lines.collect::<Vec<_>>().join("\n");
            }
        }
        table
    }
}

/// Returns a text without its middle where it has more characters.
pub(crate) fn shortened(text: &str, chars: usize) -> String {
    let beyond = text.chars().count().saturating_sub(chars);
    if beyond == 0 {
        return text.to_owned();
    }
    let begin = chars / 2;
    let (first, rest) = (text.chars().take(begin), text.chars().skip(begin + beyond + 1));
    first.chain(['\u{2026}']).chain(rest).collect()
}

impl Column {
    /// Returns the width of the longest line.
    pub(super) fn width(&self) -> usize {
        longest(self.cells.iter().map(Cell::in_line).chain([self.heading.clone()]))
    }

    /// Returns the width with details below their cells, in letters four fifths as wide.
    fn stacked_width(&self) -> usize {
        let texts = self.cells.iter().map(|cell| cell.text.clone()).chain([self.heading.clone()]);
        let details = longest(self.cells.iter().map(|cell| cell.detail.clone()));
        longest(texts).max((details * 4).div_ceil(5))
    }
}

/// Returns the spaces that make a text `width` columns wide.
///
/// `format!` pads to 65,535 columns at most, and panics beyond.
pub(super) fn padding(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(text.chars().count()))
}

/// Returns the characters of the longest line.
fn longest(texts: impl Iterator<Item = String>) -> usize {
    let width = |text: String| text.lines().map(|line| line.chars().count()).max();
    texts.filter_map(width).max().unwrap_or(0)
}
