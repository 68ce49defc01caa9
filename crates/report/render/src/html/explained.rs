//! Each variant's largest difference explained, the others folded.

use maud::{Markup, html};

use super::answer::emphasis;
use super::table::table;
use crate::explain::{Block, chosen};
use crate::input::{Compared, ReportInput};
use crate::trust::many;

/// Returns the section; nothing where no difference is established.
pub(super) fn section(input: &ReportInput<'_>, compared: &Compared<'_>) -> Markup {
    let chosen = chosen(input, compared);
    html! {
        @if !chosen.is_empty() {
            section id="explained" {
                h2 { "Explained" }
                p {
                    "Where the time of an operation goes: each variant in the step in which its \
                     throughput differs most from " (compared.comparison.base) ". Times are means \
                     over the runs, their differences have 95 % intervals [low, high]."
                }
                @for one in &chosen {
                    h3 { (one.variant) }
                    (block(&one.largest))
                    @if !one.others.is_empty() {
                        details {
                            summary {
                                (many(one.others.len(), "other step")) " in which it differs"
                            }
                            @for other in &one.others { (block(other)) }
                            p.legend { (one.command(compared)) }
                        }
                    }
                }
            }
        }
    }
}

/// Returns one step: a line where the difference is not explained.
fn block(block: &Block) -> Markup {
    if let Some(refusal) = block.refusal() {
        return html! { p { (emphasis(&refusal)) } };
    }
    html! {
        p { (emphasis(&block.headline)) }
        @if let Some(account) = &block.table { (table(account)) }
        ul.sentences { @for sentence in &block.sentences { li { (sentence) } } }
    }
}
