//! Headings, links and tables of a Markdown document.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::rust::line_at;

/// A document's headings and links, in order, each with its line, 1-based.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    /// Depth, 1 for the title, and text without marks.
    pub(crate) headings: Vec<(usize, String, usize)>,
    /// Where links and pictures lead, as written.
    pub(crate) links: Vec<(String, usize)>,
}

/// Reads the headings and links of a document.
pub(crate) fn outline(text: &str) -> Outline {
    let mut outline = Outline::default();
    let mut is_heading = false;
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        let line = line_at(text, range.start);
        if let Event::Start(Tag::Heading { level, .. }) = &event {
            outline.headings.push((*level as usize, String::new(), line));
            is_heading = true;
        } else if let Event::End(TagEnd::Heading(_)) = &event {
            is_heading = false;
        } else if let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) =
            &event
        {
            outline.links.push((dest_url.to_string(), line));
        } else if let (true, Event::Text(piece) | Event::Code(piece)) = (is_heading, &event)
            && let Some((_, text, _)) = outline.headings.last_mut()
        {
            text.push_str(piece);
        }
    }
    outline
}

/// Returns the anchor that GitHub gives a heading.
///
/// Source: GitHub, "Basic writing and formatting syntax", section links.
pub(crate) fn anchor(heading: &str) -> String {
    heading
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            '-' | '_' => Some(c),
            _ => c.is_alphanumeric().then_some(c),
        })
        .collect()
}

/// One row of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    /// The cells' text, marks included.
    pub(crate) cells: Vec<String>,
    /// Line, 1-based.
    pub(crate) line: usize,
}

/// Returns the rows of the table with this header line, if any.
pub(crate) fn table(text: &str, header: &str) -> Option<Vec<Row>> {
    let mut lines = text.lines().enumerate().skip_while(|(_, line)| line.trim() != header);
    lines.next()?;
    let rows = lines.skip(1).take_while(|(_, line)| line.starts_with('|'));
    Some(rows.map(|(at, line)| Row { cells: cells(line), line: at + 1 }).collect())
}

/// Splits a table's line into its cells.
fn cells(line: &str) -> Vec<String> {
    let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
    inner.split('|').map(|cell| cell.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_and_links_are_found_outside_code_only() {
        let text = "# A title\n\nSee [b](b.md).\n\n```\n# no\n[c](c.md)\n```\n\n## Two `x`\n";
        let outline = outline(text);
        let headings = [(1, "A title".to_owned(), 1), (2, "Two x".to_owned(), 10)];
        assert_eq!(outline.headings, headings);
        assert_eq!(outline.links, [("b.md".to_owned(), 3)]);
        assert_eq!(anchor("Who imports whom?"), "who-imports-whom");
    }

    #[test]
    fn a_table_is_found_by_its_header() {
        let text = "x\n| a | b |\n|---|---|\n| 1 | 2 |\n\n| 3 | 4 |\n";
        let rows = table(text, "| a | b |").unwrap();
        assert_eq!(rows, [Row { cells: vec!["1".to_owned(), "2".to_owned()], line: 4 }]);
        assert!(table(text, "| c |").is_none());
    }
}
