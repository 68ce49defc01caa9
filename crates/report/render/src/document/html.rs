//! Parts of a document as HTML.

use maud::{Markup, html};

use super::part::Part;
use super::table::{Cell, Table, Tone};

/// Characters of a page's width, each of 8 pixels: wider tables are split into blocks.
const WIDTH: usize = 132;

/// Returns the parts; headings are those below a section's.
pub(crate) fn html<'a>(parts: impl IntoIterator<Item = &'a Part>) -> Markup {
    html! { @for one in parts.into_iter().filter(|one| !one.is_empty()) { (part(one)) } }
}

fn part(part: &Part) -> Markup {
    match part {
        Part::Heading(_, text) => html! { h3 { (text) } },
        Part::Strong(text) => html! { p { (emphasis(text)) } },
        Part::Text(text) => html! { p { (code(text)) } },
        Part::Sentences(lines) => {
            html! { ul.sentences { @for line in lines { li { (emphasis(line)) } } } }
        }
        Part::Items(lines) => html! { ul.sentences { @for line in lines { li { (code(line)) } } } },
        Part::Facts(facts) => html! {
            dl.facts { @for (name, value) in facts.iter().filter(|(_, value)| !value.is_empty()) {
                div { dt { (name) } dd { (code(value)) } }
            } }
        },
        Part::Table(table) => self::table(table),
        Part::Note(text) => html! {
            p.legend { @for entry in text.split("   ") { span.entry { (code(entry)) } " " } }
        },
        Part::Picture(picture) => picture.figure(),
        Part::Verbatim(line) => html! { pre { code { (line) } } },
        Part::Folded(summary, parts) => {
            html! { details { summary { (summary) } (self::html(parts)) } }
        }
    }
}

/// Returns a sentence with its step in bold; a percent sign stays with its number.
fn emphasis(sentence: &str) -> Markup {
    let sentence = sentence.replace(" %", "\u{a0}%");
    let step = sentence.split([':', ',']).next().unwrap_or_default().len();
    let (step, rest) = sentence.split_at(step);
    html! { @if rest.is_empty() { (step) } @else { strong { (step) } (rest) } }
}

/// Returns text in which words between back ticks are set as code.
fn code(text: &str) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// Returns the table, in blocks; what does not fit scrolls.
fn table(table: &Table) -> Markup {
    let table = table.clone().with_names_of(WIDTH / 2);
    let heading = |index: usize| table.columns[index].heading.split('\n');
    html! {
        @for block in table.blocks(WIDTH, true) {
            div.wide tabindex="0" { table {
                thead { tr { @for &index in &block {
                    th.text[table.columns[index].is_text] {
                        @for (line, text) in heading(index).enumerate() {
                            @if line == 0 { (text) } @else { small { (text) } }
                        }
                    }
                } } }
                tbody { @for row in 0..table.rows() {
                    tr { @for &index in &block {
                        @let column = &table.columns[index];
                        @if index == 0 {
                            th scope="row" { (content(&column.cells[row])) }
                        } @else {
                            (figure(&column.cells[row], column.is_text))
                        }
                    } }
                } }
            } }
        }
    }
}

fn figure(cell: &Cell, is_text: bool) -> Markup {
    let class = match (cell.tone, is_text) {
        (Tone::Better, false) => Some("better"),
        (Tone::Worse, false) => Some("worse"),
        (Tone::Grey, _) => Some("none"),
        (Tone::Better, true) => Some("text better"),
        (Tone::Worse, true) => Some("text worse"),
        (Tone::Plain, true) => Some("text"),
        (Tone::Plain, false) => None,
    };
    html! { td class=[class] { (content(cell)) } }
}

fn content(cell: &Cell) -> Markup {
    html! {
        (code(&cell.text))
        @for line in cell.detail.lines() { small { (line) } }
        @if let Some(share) = cell.bar {
            svg.bar viewBox="0 0 100 5" preserveAspectRatio="none" aria-hidden="true" {
                rect width=(format!("{:.1}", 100.0 * share)) height="5" {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_stand_below_their_cells_and_wide_tables_are_split() {
        let mut table = Table::named("`step`", ["a"]);
        table.figures("read\nops/s", [Cell::new("20 <b>", Tone::Better).with("[19..21]")]);
        let page = table.clone();
        for _ in 0..2 {
            table.labels("why", ["x".repeat(WIDTH - 10)]);
        }
        let written = html(&[Part::Table(page)]).into_string();
        insta::assert_snapshot!(written.replace("><", ">\n<"), @r#"
        <div class="wide" tabindex="0">
        <table>
        <thead>
        <tr>
        <th class="text">`step`</th>
        <th class="">read<small>ops/s</small>
        </th>
        </tr>
        </thead>
        <tbody>
        <tr>
        <th scope="row">a</th>
        <td class="better">20 &lt;b&gt;<small>[19..21]</small>
        </td>
        </tr>
        </tbody>
        </table>
        </div>
        "#);
        assert_eq!(html(&[Part::Table(table)]).into_string().matches("<table>").count(), 3);
    }

    #[test]
    fn the_step_of_a_sentence_is_bold_and_code_is_marked() {
        let sentence = Part::Sentences(vec!["readrandom: 2 % more".to_owned()]);
        let text = Part::Text("set `settle`".to_owned());
        let written = html(&[sentence, text]).into_string();
        assert!(written.contains("<strong>readrandom</strong>: 2\u{a0}% more"), "{written}");
        assert!(written.contains("set <code>settle</code>"), "{written}");
    }
}
