//! A document as Markdown, to be pasted.

use model::visible;

use super::part::{Content, Document, Part};
use super::table::{Table, padding};

/// Returns content as Markdown.
pub(crate) fn write(content: &Content<'_>) -> String {
    (content.document)().markdown()
}

impl Document {
    /// Returns the document as Markdown.
    pub(crate) fn markdown(&self) -> String {
        let clean = self.map(&|text| escaped(&visible(text)));
        clean.parts().map(part).collect::<Vec<_>>().join("\n\n") + "\n"
    }
}

/// Returns text without HTML, fences of blocks and pictures.
///
/// Markdown passes HTML on, and loads a picture from its address.
///
/// Source: CommonMark 0.31.2, 2024, 4.5, 4.6, 6.4 and 6.6: HTML begins with `<`, a picture with
/// `![`.
fn escaped(text: &str) -> String {
    let text = text.replace('<', "&lt;").replace("![", "!\\[");
    text.replace("```", "\\`\\`\\`").replace("~~~", "\\~\\~\\~")
}

fn part(part: &Part) -> String {
    let list = |lines: &[String]| format!("- {}", lines.join("\n- "));
    match part {
        Part::Heading(level, text) => format!("{} {text}", "#".repeat(usize::from(*level))),
        Part::Strong(text) => format!("**{text}**"),
        Part::Text(text) => text.clone(),
        Part::Note(text) => text.replace("   ", " \u{b7} "),
        Part::Sentences(lines) | Part::Items(lines) => list(lines),
        Part::Facts(facts) => {
            let known = facts.iter().filter(|(_, value)| !value.is_empty());
            list(&known.map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>())
        }
        Part::Table(table) => self::table(table),
        Part::Picture(picture) => {
            let labels = &picture.labels;
            format!("## {0}\n\n![{0}]({1}.svg)\n\n{2}", labels.title, labels.name, labels.caption)
        }
        Part::Verbatim(line) => format!("```sh\n{line}\n```"),
        Part::Folded(summary, parts) => {
            let parts = parts.iter().map(self::part);
            std::iter::once(summary.clone()).chain(parts).collect::<Vec<_>>().join("\n\n")
        }
    }
}

/// Returns the table in one block, figures to the right.
fn table(table: &Table) -> String {
    let cell = |text: &str| text.trim_end().replace('|', "\\|").replace('\n', "<br>");
    let columns = table.columns.iter().enumerate().map(|(index, column)| {
        let cells = column.cells.iter().map(|one| cell(&one.in_line()));
        let lines: Vec<String> = std::iter::once(table.heading(index)).chain(cells).collect();
        let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
        let mut lines: Vec<String> = lines
            .into_iter()
            .map(|line| {
                let pad = padding(&line, width);
                if column.is_text { format!(" {line}{pad} ") } else { format!(" {pad}{line} ") }
            })
            .collect();
        let end = if column.is_text { "-" } else { ":" };
        lines.insert(1, "-".repeat(width + 1) + end);
        lines
    });
    let columns: Vec<Vec<String>> = columns.collect();
    let line = |at: usize| {
        let cells: Vec<&str> = columns.iter().map(|lines| lines[at].as_str()).collect();
        format!("|{}|", cells.join("|"))
    };
    (0..table.rows() + 2).map(line).collect::<Vec<_>>().join("\n")
}
