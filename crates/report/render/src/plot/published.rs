//! Published ratios as marks, ours as intervals, on one logarithmic axis.

use maud::{Markup, html};
use model::Expected;

use super::axis::Ratios;
use super::mark::Mark;
use super::matrix::{WIDTH, float};
use super::palette::INK;
use super::picture::{Labels, Picture, line, px, text};
use super::subject::Subject;
use super::verdicts::{ratio_axis, ratio_mark};
use crate::document::fill;
use crate::figure::{declared, ratio};
use crate::published::{Finding, Publication, publications, verdict};

/// Room for the claims, at the left.
const CLAIM: f64 = 372.0;
/// Where the axis begins: an arrow from its very end stays clear of the claims.
const START: f64 = CLAIM + 26.0;
/// Letters of a claim that fit a line.
const LETTERS: usize = 54;
/// Room for the verdicts, at the right.
const VERDICT: f64 = 160.0;
/// Room between them and the axis.
const GAP: f64 = 26.0;
/// Height of a line of a claim.
const LINE: f64 = 14.0;
/// Least height of a row: two marks, one above the other.
const ROW: f64 = 34.0;
/// Height of a publication's heading.
const HEADING: f64 = 26.0;
/// Height of the legend.
const LEGEND: f64 = 26.0;
/// Height of the axis below the rows.
const FOOT: f64 = 40.0;
/// Each mark lies this far from the middle of its row.
const APART: f64 = 7.0;
/// Length of the arrow of a direction without a size.
const ARROW: f64 = 34.0;

/// Draws the findings; `None` where the experiment states none, or none was measured.
pub(crate) fn published(subject: &Subject<'_>) -> Option<Picture> {
    let compared = subject.compared;
    let publications = publications(compared);
    let findings = || publications.iter().flat_map(|one| &one.findings);
    if findings().all(|one| one.here.is_none()) {
        return None;
    }
    let margin = compared.comparison.margin;
    let values = findings().flat_map(ends).chain([1.0 + margin, 1.0 / (1.0 + margin)]);
    let axis = Ratios::holding(values, WIDTH - START - VERDICT - GAP);
    let mut body = Vec::new();
    let mut y = LEGEND;
    for one in &publications {
        y += HEADING;
        body.push(text(0.0, y - 8.0, "head", one.source));
        for finding in &one.findings {
            let row = Row { subject, finding, axis, y };
            y += row.height();
            body.push(row.draw(one));
        }
    }
    let labels = Labels::new(
        "published-and-here",
        "Published ratios and ours",
        &format!(
            "a over b of each finding: above, the published ratio as a diamond, or an arrow where \
             only the direction was published; below, ours with its 95 % interval, a ring where \
             there is none. A logarithmic axis around 1; grey: within the margin of {}, where a \
             difference does not matter.",
            declared(margin)
        ),
    );
    Some(Picture {
        labels,
        folded: None,
        width: WIDTH,
        height: y + FOOT,
        body: html! {
            (legend())
            (ratio_axis(axis, START, (LEGEND + HEADING, y), margin, ["a less than b", "a more than b"]))
            @for one in body { (one) }
        },
    })
}

/// Returns the ratios that the axis must hold.
fn ends(finding: &Finding<'_>) -> Vec<f64> {
    let here = finding.here.map(|here| here.effect);
    let limits = here.and_then(|effect| effect.interval);
    let own = here.map(|effect| effect.ratio);
    let published = match finding.published.expected {
        Expected::Ratio(ratio) => Some(ratio),
        Expected::Higher | Expected::Lower | Expected::Same => None,
    };
    let limits = limits.map(|of| [of.low, of.high]).into_iter().flatten();
    published.into_iter().chain(own).chain(limits).collect()
}

fn legend() -> Markup {
    html! {
        (Mark::HollowDiamond.draw((START + 6.0, 8.0), INK, None))
        (text(START + 18.0, 12.0, "", "published"))
        line x1=(px(START + 100.0)) y1="8" x2=(px(START + 130.0)) y2="8" stroke=(INK)
            stroke-width="2.4" {}
        circle cx=(px(START + 115.0)) cy="8" r="3.4" fill=(INK) {}
        (text(START + 138.0, 12.0, "", "here, in the colour of a's engine"))
    }
}

/// One finding.
struct Row<'a> {
    subject: &'a Subject<'a>,
    finding: &'a Finding<'a>,
    axis: Ratios,
    y: f64,
}

impl Row<'_> {
    fn lines(&self) -> Vec<String> {
        let claim = format!("{}. {}", self.finding.number, self.finding.claim);
        fill(&claim, LETTERS).lines().map(str::to_owned).collect()
    }

    /// Returns the height: a line for the step, and those of the claim.
    fn height(&self) -> f64 {
        (LINE * float(self.lines().len() + 1) + 8.0).max(ROW)
    }

    fn x(&self, value: f64) -> f64 {
        START + self.axis.at(value)
    }

    fn draw(&self, publication: &Publication<'_>) -> Markup {
        let finding = self.finding;
        let lines = self.lines();
        let middle = self.y + self.height() / 2.0;
        let place = |index: usize| self.y + LINE * float(index + 1);
        let metric = finding.other_metric().map(|metric| format!(", {metric}"));
        let pair = format!(": {} against {}", finding.variant, finding.base);
        let below = format!(
            "{}{}{}",
            finding.heading,
            metric.unwrap_or_default(),
            if publication.pair().is_some() { "" } else { &pair }
        );
        html! {
            (line((0.0, self.y), (WIDTH, self.y), "grid"))
            @for (index, line) in lines.iter().enumerate() {
                (text(0.0, place(index), "name", line))
            }
            (text(0.0, place(lines.len()), "axis", &below))
            (self.there(middle - APART))
            (self.here(middle + APART))
            (text(WIDTH, middle + 4.0, "end", verdict(self.subject.compared, finding)))
        }
    }

    fn there(&self, y: f64) -> Markup {
        let at = |value: f64, about: &str| {
            Mark::HollowDiamond.draw((self.x(value), y), INK, Some(about))
        };
        match self.finding.published.expected {
            Expected::Ratio(value) => at(value, &format!("published: {}", ratio(value))),
            Expected::Same => at(1.0, "published: the same"),
            Expected::Higher => self.arrow(y, ARROW),
            Expected::Lower => self.arrow(y, -ARROW),
        }
    }

    /// Returns an arrow from 1 to the side that was published.
    fn arrow(&self, y: f64, length: f64) -> Markup {
        let (from, to) = (self.x(1.0), self.x(1.0) + length);
        let back = if length > 0.0 { -6.0 } else { 6.0 };
        html! {
            (line((from, y), (to, y), "whisker"))
            path d=(format!("M{},{}l{},-4v8z", px(to), px(y), px(back))) fill=(INK) {}
        }
    }

    fn here(&self, y: f64) -> Markup {
        let finding = self.finding;
        let Some(here) = finding.here else { return html! {} };
        let rows = self.subject.input.comparison.variants.iter().zip(&self.subject.rows);
        let own = rows.filter(|(variant, _)| variant.name == finding.variant);
        let colour = own.map(|(_, row)| row.colour).next().unwrap_or(INK);
        ratio_mark(&here.effect, y, &|value| self.x(value), colour, "here: ")
    }
}
