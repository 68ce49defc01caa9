//! A document as text for a terminal.

use model::visible;

use super::fill::fill;
use super::part::{Content, Document, Part};
use super::table::{Cell, Column, GAP, Table, Tone, padding};
use crate::style::Style;

/// Returns content as text.
pub(crate) fn write(content: &Content<'_>) -> String {
    (content.document)().text(content.style)
}

impl Document {
    /// Returns the document as text.
    pub(crate) fn text(&self, style: Style) -> String {
        let clean = self.map(&|text| visible(text).into_owned());
        let blocks: Vec<String> = clean.blocks.iter().map(|block| parts(block, style)).collect();
        blocks.join("\n\n") + "\n"
    }
}

/// Returns the parts of a block; tables that follow each other have an empty line between them.
fn parts(block: &[Part], style: Style) -> String {
    let mut text = String::new();
    for (index, one) in block.iter().enumerate() {
        if let Some(before) = index.checked_sub(1).map(|index| &block[index]) {
            let are_tables = matches!((before, one), (Part::Table(_), Part::Table(_)));
            text.push_str(if are_tables { "\n\n" } else { "\n" });
        }
        text.push_str(&part(one, style));
    }
    text
}

fn part(part: &Part, style: Style) -> String {
    let filled = |text: &String| fill(text, style.width);
    match part {
        Part::Heading(_, text) | Part::Strong(text) | Part::Text(text) | Part::Note(text) => {
            filled(text)
        }
        Part::Verbatim(line) => line.clone(),
        Part::Sentences(lines) => lines.iter().map(filled).collect::<Vec<_>>().join("\n"),
        Part::Items(lines) => {
            let lines = lines.iter().map(|line| hanging("  ", line, 4, style.width));
            lines.collect::<Vec<_>>().join("\n")
        }
        Part::Facts(facts) => {
            let width = facts.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
            let line = |(name, value): &(String, String)| {
                let name = format!("  {name}{}  ", padding(name, width));
                (!value.is_empty())
                    .then(|| hanging(&name, value, name.chars().count(), style.width))
            };
            facts.iter().filter_map(line).collect::<Vec<_>>().join("\n")
        }
        Part::Table(table) => self::table(table, style),
        Part::Picture(picture) => filled(&picture.labels.title),
        Part::Folded(summary, inner) => format!("{}\n{}", filled(summary), parts(inner, style)),
    }
}

/// Returns a line of text that begins with a label of `indent` columns.
///
/// A long one is broken, and goes on below its text.
pub fn labelled(line: &str, indent: usize, style: Style) -> String {
    match line.char_indices().nth(indent) {
        Some((at, _)) if line.chars().count() > style.width => {
            hanging(&line[..at], &line[at..], indent, style.width)
        }
        _ => line.to_owned(),
    }
}

/// Returns text after a name, its further lines `indent` columns in.
fn hanging(name: &str, text: &str, indent: usize, width: usize) -> String {
    let filled = fill(text, width.saturating_sub(indent).max(20));
    format!("{name}{}", filled.replace('\n', &format!("\n{}", " ".repeat(indent))))
}

/// Returns the table in as many blocks as the width needs.
fn table(table: &Table, style: Style) -> String {
    let table = table.fitted(style.width);
    let block = |columns: &Vec<usize>| {
        let columns: Vec<&Column> = columns.iter().map(|&index| &table.columns[index]).collect();
        let has_header = columns.iter().any(|column| !column.heading.is_empty());
        let header =
            has_header.then(|| row(&columns, style, |column| Cell::from(column.heading.as_str())));
        let rows =
            (0..table.rows()).map(|at| row(&columns, style, |column| column.cells[at].clone()));
        header.into_iter().chain(rows).collect::<Vec<_>>().join("\n")
    };
    table.blocks(style.width, false).iter().map(block).collect::<Vec<_>>().join("\n\n")
}

/// Returns one row, as many lines as its highest cell has.
fn row(columns: &[&Column], style: Style, cell: impl Fn(&Column) -> Cell) -> String {
    let cells: Vec<(String, Tone)> =
        columns.iter().map(|column| cell(column)).map(|it| (it.in_line(), it.tone)).collect();
    let height = cells.iter().map(|(text, _)| text.lines().count()).max().unwrap_or(0).max(1);
    let line = |at: usize| {
        let mut line = String::new();
        for (index, (column, (text, tone))) in columns.iter().zip(&cells).enumerate() {
            let text = text.lines().nth(at).unwrap_or_default();
            let pad = padding(text, column.width());
            let gap = if index == 0 { "" } else { &" ".repeat(GAP) };
            let colour = Some(*tone).filter(|_| style.has_colour).and_then(colour);
            let (start, end) = colour.map_or(("", ""), |start| (start, "\u{1b}[39m"));
            line.push_str(&match column.is_text {
                true => format!("{gap}{start}{text}{end}{pad}"),
                false => format!("{start}{gap}{pad}{text}{end}"),
            });
        }
        line.trim_end().to_owned()
    };
    (0..height).map(line).collect::<Vec<_>>().join("\n")
}

/// Returns the code that begins a colour.
const fn colour(tone: Tone) -> Option<&'static str> {
    match tone {
        Tone::Plain => None,
        Tone::Better => Some("\u{1b}[38;5;14m"),
        Tone::Worse => Some("\u{1b}[38;5;11m"),
        Tone::Grey => Some("\u{1b}[38;5;8m"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> Document {
        let mut table = Table::new(["", "fill", "read\nops/s", "scan"]);
        table.push(["a", "1", "", "3"]);
        table.push(["longer name", "1000", "2", "3"]);
        table.columns[2].cells[0] = Cell::new("20 \u{25b2}", Tone::Better);
        Document::from([vec![Part::Table(table)]])
    }

    fn text(width: usize, has_colour: bool) -> String {
        document().text(Style { width, has_colour, ..Style::default() })
    }

    #[test]
    fn fitting_table_is_one_block() {
        insta::assert_snapshot!(text(80, false), @r"
                     fill   read  scan
                           ops/s
        a               1   20 ▲     3
        longer name  1000      2     3
        ");
    }

    #[test]
    fn wide_table_is_split_into_blocks_that_repeat_the_names() {
        insta::assert_snapshot!(text(20, false), @r"
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
        assert!(!text(80, false).contains('\u{1b}'));
        assert!(text(80, true).contains("\u{1b}[38;5;14m   20 \u{25b2}\u{1b}[39m"));
    }

    #[test]
    fn markdown_aligns_figures_to_the_right() {
        insta::assert_snapshot!(document().markdown(), @r"
        |             | fill | read ops/s | scan |
        |-------------|-----:|-----------:|-----:|
        | a           |    1 |       20 ▲ |    3 |
        | longer name | 1000 |          2 |    3 |
        ");
    }

    #[test]
    fn further_lines_of_facts_and_items_hang_below_the_first() {
        let facts = [("there", "32 cores and 128 GiB of memory".to_owned()), ("b", String::new())];
        let parts =
            vec![Part::facts(facts), Part::Items(vec!["one entry of some words more".into()])];
        let text = Document::from([parts]).text(Style { width: 30, ..Style::default() });
        insta::assert_snapshot!(text, @r"
          there  32 cores and 128 GiB
                 of memory
          one entry of some words
            more
        ");
    }
}
