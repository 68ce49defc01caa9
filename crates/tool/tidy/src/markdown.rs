//! Headings, links and tables of a Markdown document.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// One heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heading {
    /// Depth, 1 for the title.
    pub(crate) depth: usize,
    /// The text without marks.
    pub(crate) text: String,
    /// Line, 1-based.
    pub(crate) line: usize,
}

/// One link or picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    /// Where it leads, as written.
    pub(crate) target: String,
    /// Line, 1-based.
    pub(crate) line: usize,
}

/// A document's headings and links.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    /// Headings in order.
    pub(crate) headings: Vec<Heading>,
    /// Links and pictures in order.
    pub(crate) links: Vec<Link>,
}

/// Reads the headings and links of a document.
pub(crate) fn outline(text: &str) -> Outline {
    let mut outline = Outline::default();
    let mut open: Option<Heading> = None;
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        let line = text[..range.start].lines().count().max(1)
            + usize::from(range.start > 0 && text[..range.start].ends_with('\n'));
        if let Event::Start(Tag::Heading { level, .. }) = &event {
            open = Some(Heading { depth: *level as usize, text: String::new(), line });
        } else if let Event::End(TagEnd::Heading(_)) = &event {
            outline.headings.extend(open.take());
        } else if let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) =
            &event
        {
            outline.links.push(Link { target: dest_url.to_string(), line });
        } else if let (Some(heading), Event::Text(piece) | Event::Code(piece)) = (&mut open, &event)
        {
            heading.text.push_str(piece);
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
        let headings: Vec<_> =
            outline.headings.iter().map(|h| (h.depth, h.text.as_str(), h.line)).collect();
        assert_eq!(headings, [(1, "A title", 1), (2, "Two x", 10)]);
        assert_eq!(outline.links, [Link { target: "b.md".to_owned(), line: 3 }]);
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
