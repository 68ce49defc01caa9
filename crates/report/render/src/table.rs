//! Text tables: names to the left, figures to the right, in blocks.
//!
//! Cells are text already.

use comfy_table::presets::{ASCII_MARKDOWN, NOTHING};
use comfy_table::{CellAlignment, Color, ContentArrangement};

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
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Cell {
    pub(crate) text: String,
    pub(crate) tone: Tone,
}

impl Cell {
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), tone: Tone::Plain }
    }

    /// Returns it in brackets and greyed.
    pub(crate) fn set_aside(self) -> Self {
        Self { text: format!("({})", self.text.trim_end()), tone: Tone::Grey }
    }
}

/// A table; the first column names the row and is repeated in every block.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<Cell>>,
    /// Columns of text, next to the first.
    left: Vec<usize>,
}

/// Spaces between columns.
const GAP: usize = 2;

impl Table {
    pub(crate) fn new(header: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { header: header.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    pub(crate) fn push(&mut self, row: Vec<Cell>) {
        debug_assert_eq!(row.len(), self.header.len(), "a row has one cell per column");
        self.rows.push(row);
    }

    /// Adds a column of text, a cell per row.
    pub(crate) fn add_column(&mut self, heading: &str, cells: impl Iterator<Item = String>) {
        self.left.push(self.header.len());
        self.header.push(heading.to_owned());
        for (row, text) in self.rows.iter_mut().zip(cells) {
            row.push(Cell::plain(text));
        }
    }

    /// Returns whether a column holds text.
    pub(crate) fn is_left(&self, column: usize) -> bool {
        column == 0 || self.left.contains(&column)
    }

    /// Aligns these columns of text to the left.
    pub(crate) fn align_left(&mut self, columns: &[usize]) {
        self.left.extend(columns);
    }

    /// Returns the table as aligned text, in as many blocks as `width` needs.
    pub(crate) fn text(&self, width: usize, has_colour: bool) -> String {
        let block = |columns: &Vec<usize>| {
            let mut table = self.comfy(columns, has_colour);
            table.load_style(NOTHING);
            for index in 0..columns.len() {
                if let Some(column) = table.column_mut(index) {
                    let left = if index == 0 { 0 } else { u16::try_from(GAP).unwrap_or(2) };
                    column.set_padding((left, 0));
                }
            }
            if has_colour {
                table.enforce_styling();
            } else {
                table.force_no_tty();
            }
            table.trim_fmt()
        };
        let blocks: Vec<String> = self.blocks(width).iter().map(block).collect();
        blocks.join("\n\n")
    }

    /// Returns the table as a Markdown table, in one block.
    pub(crate) fn markdown(&self) -> String {
        let all: Vec<usize> = (0..self.header.len()).collect();
        let mut table = self.comfy(&all, false);
        table.load_style(ASCII_MARKDOWN);
        // The preset knows no alignment: the colons are put in where its rule ends a column.
        let mut lines: Vec<String> = table.trim_fmt().lines().map(str::to_owned).collect();
        if let Some(rule) = lines.get_mut(1) {
            *rule = self.align_right(rule);
        }
        lines.join("\n")
    }

    /// Ends every column of figures of a Markdown rule with a colon.
    fn align_right(&self, rule: &str) -> String {
        let mut aligned = String::with_capacity(rule.len());
        for (place, part) in rule.split_inclusive('|').enumerate() {
            match part.strip_suffix("-|") {
                // The first part lies before the table.
                Some(dashes) if !self.is_left(place - 1) => aligned.extend([dashes, ":|"]),
                _ => aligned.push_str(part),
            }
        }
        aligned
    }

    fn comfy(&self, columns: &[usize], has_colour: bool) -> comfy_table::Table {
        let mut table = comfy_table::Table::new();
        table.set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(columns.iter().map(|&column| self.header[column].clone()));
        for row in &self.rows {
            let cell = |&column: &usize| {
                let cell = comfy_table::Cell::new(&row[column].text);
                match row[column].tone {
                    Tone::Better if has_colour => cell.fg(Color::Cyan),
                    Tone::Worse if has_colour => cell.fg(Color::Yellow),
                    Tone::Grey if has_colour => cell.fg(Color::DarkGrey),
                    Tone::Plain | Tone::Better | Tone::Worse | Tone::Grey => cell,
                }
            };
            table.add_row(columns.iter().map(cell));
        }
        for (index, column) in columns.iter().enumerate().skip(1) {
            let is_left = self.left.contains(column);
            if let Some(column) = table.column_mut(index).filter(|_| !is_left) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table
    }

    /// Returns the width of a column: that of its longest line.
    fn wide(&self, column: usize) -> usize {
        let cells = self.rows.iter().map(|row| row[column].text.as_str());
        let lines = cells.chain([self.header[column].as_str()]).flat_map(str::lines);
        lines.map(|line| line.chars().count()).max().unwrap_or(0)
    }

    /// Returns the width of the text without one of its columns, the gap before it included.
    pub(crate) fn width_without(&self, column: usize) -> usize {
        let others = (0..self.header.len()).filter(|other| *other != column);
        others.map(|other| self.wide(other) + GAP).sum()
    }

    /// Returns the columns of each block; a block has the first column and at least one other.
    fn blocks(&self, width: usize) -> Vec<Vec<usize>> {
        let mut blocks: Vec<Vec<usize>> = Vec::new();
        let mut used = usize::MAX;
        for column in 1..self.header.len() {
            let needed = self.wide(column) + GAP;
            match blocks.last_mut() {
                Some(block) if used.saturating_add(needed) <= width => {
                    block.push(column);
                    used += needed;
                }
                _ => {
                    blocks.push(vec![0, column]);
                    used = self.wide(0) + needed;
                }
            }
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(["", "fill", "read\nops/s", "scan"]);
        let row = |cells: [&str; 4]| cells.map(Cell::plain).to_vec();
        table.push(row(["a", "1", "20 \u{25b2}", "3"]));
        table.push(row(["longer name", "1000", "2", "3"]));
        table.rows[0][2].tone = Tone::Better;
        table
    }

    #[test]
    fn fitting_table_is_one_block() {
        insta::assert_snapshot!(table().text(80, false), @r"
                     fill   read  scan
                           ops/s
        a               1   20 ▲     3
        longer name  1000      2     3
        ");
    }

    #[test]
    fn wide_table_is_split_into_blocks_that_repeat_the_names() {
        insta::assert_snapshot!(table().text(20, false), @r"
                     fill
        a               1
        longer name  1000

                      read
                     ops/s
        a             20 ▲
        longer name      2

                     scan
        a               3
        longer name     3
        ");
    }

    #[test]
    fn colour_codes_appear_only_on_request() {
        assert!(!table().text(80, false).contains('\u{1b}'));
        assert!(table().text(80, true).contains("\u{1b}[38;5;14m   20 \u{25b2}\u{1b}[39m"));
    }

    #[test]
    fn markdown_aligns_figures_to_the_right() {
        let mut table = table();
        table.header[2] = "read".to_owned();
        insta::assert_snapshot!(table.markdown(), @r"
        |             | fill | read | scan |
        |-------------|-----:|-----:|-----:|
        | a           |    1 | 20 ▲ |    3 |
        | longer name | 1000 |    2 |    3 |
        ");
    }
}
