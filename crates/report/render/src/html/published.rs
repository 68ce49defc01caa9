//! Published findings next to ours: count, table and picture.

use maud::{Markup, html};

use crate::input::Compared;
use crate::plot::Picture;
use crate::published::{Finding, Publication, legend, publications, sentence, verdict};
use crate::table::Tone;

/// Returns the section; nothing where the experiment states no finding.
pub(super) fn section(compared: &Compared<'_>, picture: Option<&Picture>) -> Markup {
    let publications = publications(compared);
    html! {
        @if !publications.is_empty() {
            section id="published" {
                h2 { "Published and here" }
                p { strong { (sentence(compared, &publications)) } }
                @for one in &publications { (publication(compared, one)) }
                p.legend { (legend(compared, &publications)) }
                @if let Some(picture) = picture { (picture.figure()) }
            }
        }
    }
}

fn publication(compared: &Compared<'_>, one: &Publication<'_>) -> Markup {
    let facts = [("there", one.setup), ("here", &one.here), ("scaled", one.scaled)];
    html! {
        h3 { (one.source) }
        dl.setups {
            @for (name, fact) in facts.iter().filter(|(_, fact)| !fact.is_empty()) {
                dt { (name) } dd { (fact) }
            }
            @if let Some((variant, base)) = one.pair() {
                dt { "a, b" } dd { b { (variant) } " against " b { (base) } }
            }
        }
        div.wide { table.held {
            thead {
                tr {
                    th.text rowspan="2" { "finding" }
                    th.text rowspan="2" { "step" }
                    th.first colspan="3" scope="colgroup" { "published" }
                    th.first colspan="3" scope="colgroup" { "here" }
                    th.first.text rowspan="2" { "verdict" }
                    th.text rowspan="2" { "reasons" }
                }
                tr { @for _ in 0..2 { th.first { "a" } th { "b" } th { "a/b" } } }
            }
            tbody { @for finding in &one.findings {
                (row(compared, finding, one.pair().is_some()))
            } }
        } }
    }
}

fn row(compared: &Compared<'_>, finding: &Finding<'_>, has_pair: bool) -> Markup {
    let [there, here] = [finding.there_cells(), finding.here_cells()];
    let interval = finding.interval();
    // The distribution or place, the level of clients.
    let (step, which) = match finding.heading.split_once([' ', ',']) {
        Some((step, which)) => (step, Some(which.trim_start())),
        None => (finding.heading.as_str(), None),
    };
    let class = match finding.tone(compared) {
        Tone::Better => "verdict-of better",
        Tone::Worse => "verdict-of worse",
        Tone::Plain | Tone::Grey => "verdict-of",
    };
    html! {
        tr {
            th.claim scope="row" {
                (finding.number) ". " (finding.claim)
                @if !has_pair { small { (finding.variant) " against " (finding.base) } }
            }
            td.step {
                (step)
                @if let Some(which) = which { small { (which) } }
                @if let Some(metric) = finding.other_metric() { small { (metric) } }
            }
            td.first.there-a { span.where { "published" } (there[0]) }
            td.there-b { (there[1]) }
            td.there-ratio { (there[2]) }
            td.first.here-a { span.where { "here" } (here[0]) }
            td.here-b { (here[1]) }
            td.here-ratio { (here[2]) @if !interval.is_empty() { small { (interval) } } }
            td class=(class) { (verdict(compared, finding)) }
            td.reasons { @for reason in &finding.reasons { div { (reason) } } }
        }
    }
}
