//! A table of text as HTML.

use maud::{Markup, html};

use crate::table::{Cell, Table, Tone};

/// Returns the table; what does not fit scrolls.
pub(super) fn table(table: &Table) -> Markup {
    html! {
        div.wide { table {
            thead { tr { @for (index, heading) in table.header.iter().enumerate() {
                th.text[table.is_left(index)] { (heading) }
            } } }
            tbody { @for row in &table.rows {
                tr { @for (index, cell) in row.iter().enumerate() {
                    @if index == 0 {
                        th scope="row" { (cell.text) }
                    } @else {
                        (figure(cell, table.is_left(index)))
                    }
                } }
            } }
        } }
    }
}

fn figure(cell: &Cell, is_word: bool) -> Markup {
    let class = match cell.tone {
        Tone::Better => Some("better"),
        Tone::Worse => Some("worse"),
        Tone::Grey => Some("none"),
        Tone::Plain => is_word.then_some("text"),
    };
    html! { td class=[class] { (cell.text) } }
}
