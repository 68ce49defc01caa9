//! Ratio, interval and verdict of each variant against the base.

use maud::{Markup, html};
use stats::Effect;

use super::axis::Ratios;
use super::matrix::{Area, Matrix, Row};
use super::picture::{Labels, Picture, line, px, text};
use super::subject::Subject;
use crate::figure::{declared, interval};
use crate::input::Compared;
use crate::sentence::Claim;

/// Room for ratio and sign at the right of a panel.
const VALUE: f64 = 56.0;
/// Height of a row.
const ROW: f64 = 24.0;
/// Half the height of the ends of an interval.
const END: f64 = 4.0;

/// One column: a step's own question.
struct Column<'a> {
    claim: Claim,
    /// One per row.
    effects: Vec<Option<&'a Effect>>,
    axis: Ratios,
}

/// Draws the verdicts; `None` when there is nothing to compare.
pub(crate) fn verdicts(subject: &Subject<'_>) -> Option<Picture> {
    let compared = subject.compared;
    let others: Vec<usize> =
        (0..subject.rows.len()).filter(|row| !subject.rows[*row].is_base).collect();
    let rows: Vec<Row> = others.iter().map(|row| subject.rows[*row].clone()).collect();
    let margin = compared.comparison.margin;
    let mut questions: Vec<(Claim, Vec<Option<&Effect>>)> = Vec::new();
    let mut headings = Vec::new();
    for (step, heading) in subject.steps.iter().zip(&subject.headings) {
        if !compared.comparison.has_headline(step) {
            continue;
        }
        for claim in Claim::all_of(step) {
            let effect = |row: &usize| step.cells[*row].metric(claim.metric)?.versus_base.as_ref();
            let effects: Vec<Option<&Effect>> = others.iter().map(effect).collect();
            if effects.iter().any(Option::is_some) {
                headings.push(format!("{heading}\n{}", claim.noun));
                questions.push((claim, effects));
            }
        }
    }
    if questions.is_empty() {
        return None;
    }
    let matrix =
        Matrix { rows: &rows, columns: &headings, row_height: ROW, foot: 40.0, legend: None };
    let length = matrix.panel_width() - VALUE;
    let columns: Vec<Column<'_>> = questions
        .into_iter()
        .map(|(claim, effects)| {
            let ends = effects.iter().flatten().flat_map(|effect| {
                let limits = effect.interval.map(|it| [it.low, it.high]);
                limits.into_iter().flatten().chain([effect.ratio])
            });
            let values: Vec<f64> = ends.chain([1.0 + margin, 1.0 / (1.0 + margin)]).collect();
            Column { claim, axis: Ratios::holding(values, length), effects }
        })
        .collect();
    let back = |area: &Area| columns[area.column].back(area, margin);
    let cell = |area: &Area, row: usize| {
        let column = &columns[area.column];
        column.cell(area, compared, column.effects[row], rows[row].colour)
    };
    let labels = labels(compared);
    Some(matrix.picture(labels, &back, &cell))
}

fn labels(compared: &Compared<'_>) -> Labels {
    let what = "Ratio to the base with its 95 % interval; a ring has no interval. Logarithmic axes \
                around 1 that do not begin at zero, one for each step; grey: within the margin of";
    let margin = declared(compared.comparison.margin);
    if compared.has_no_verdict() {
        let caption = format!("{what} {margin}. No verdict may be drawn from these ratios.");
        return Labels::new("verdicts", "Ratios, step by step", &caption);
    }
    let caption = format!(
        "{what} {margin}, where a difference does not matter. An interval that contains 1 shows no \
         difference. An interval inside the grey area excludes every difference that matters."
    );
    Labels::new("verdicts", "Verdicts, step by step", &caption)
}

impl Column<'_> {
    /// Draws the margin, the axis and which way is more.
    fn back(&self, area: &Area, margin: f64) -> Markup {
        let (top, bottom) = (area.y, area.y + area.height);
        let x = |value: f64| area.x + self.axis.at(value);
        let (low, high) = (x(1.0 / (1.0 + margin)), x(1.0 + margin));
        let Claim { less, more, .. } = &self.claim;
        html! {
            rect x=(px(low)) y=(px(top)) width=(px(high - low)) height=(px(bottom - top))
                class="margin" {}
            @for value in self.axis.ticks() {
                (line((x(value), top), (x(value), bottom + 3.0), "grid"))
                (text(x(value), bottom + 14.0, "axis mid", &tick(value)))
            }
            (line((x(1.0), top), (x(1.0), bottom + 3.0), "mark"))
            (text(area.x, bottom + 29.0, "axis", &format!("\u{2190} {less}")))
            (text(x(f64::MAX), bottom + 29.0, "axis end", &format!("{more} \u{2192}")))
        }
    }

    /// Draws a ratio with its interval; a ring has none.
    fn cell(
        &self,
        area: &Area,
        compared: &Compared<'_>,
        effect: Option<&Effect>,
        colour: &str,
    ) -> Markup {
        let (y, right) = (area.y + area.height / 2.0, area.x + area.width);
        let Some(effect) = effect else {
            return text(right, y + 4.0, "none end", "not known");
        };
        let x = |value: f64| area.x + self.axis.at(value);
        html! {
            @if let Some(limits) = effect.interval {
                @let (low, high) = (x(limits.low), x(limits.high));
                line x1=(px(low)) y1=(px(y)) x2=(px(high)) y2=(px(y)) stroke=(colour)
                    stroke-width="2.4" { title { (interval(&limits)) } }
                @for end in [low, high] {
                    line x1=(px(end)) y1=(px(y - END)) x2=(px(end)) y2=(px(y + END))
                        stroke=(colour) stroke-width="1.6" {}
                }
                circle cx=(px(x(effect.ratio))) cy=(px(y)) r="3.4" fill=(colour) {}
            } @else {
                circle cx=(px(x(effect.ratio))) cy=(px(y)) r="3.6" class="run" stroke=(colour) {}
            }
            (text(right, y + 4.0, "end", &compared.versus(effect)))
        }
    }
}

/// Returns a mark of the axis without trailing zeros.
fn tick(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
