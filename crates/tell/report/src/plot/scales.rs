//! How throughput grows with clients: points per run and the law fitted to them.

use analysis::{Fit, Peak, Scaling};
use maud::{Markup, html};
use model::Unit;

use super::axis::Linear;
use super::matrix::{Area, Matrix, float};
use super::palette::INK;
use super::picture::{Picture, Words, line, px, text};
use super::plane::{LEFT, Plane, Stroke, Up, path, sample};
use super::subject::Subject;
use crate::figure::figure;
use crate::honesty::clients;

const ROW: f64 = 200.0;
/// Room above the axis for the name of the line at the CPUs.
const ABOVE: f64 = 16.0;
/// A curve is drawn through this many places.
const PLACES: u32 = 80;
/// The law is not to be trusted beyond this multiple of the most clients measured.
///
/// Source: the project's reference, analysis, section 5.4.
const TRUSTED: f64 = 1.5;

/// One step, with a scaling per row; `None` where a variant has none.
struct Column<'a> {
    scalings: Vec<Option<&'a Scaling>>,
    across: Linear,
    up: Linear,
}

/// Draws the curves; `None` when no step was measured at several numbers of clients.
pub(crate) fn scales(subject: &Subject<'_>) -> Option<Picture> {
    let all = &subject.compared.scalings;
    let key = |one: &Scaling| (one.step_index, one.origin, one.step.clone());
    let mut keys: Vec<_> = all.iter().filter(|one| one.levels.len() > 2).map(key).collect();
    keys.sort();
    keys.dedup();
    if keys.is_empty() {
        return None;
    }
    let headings: Vec<String> = keys.iter().map(|(_, _, step)| step.clone()).collect();
    let matrix = Matrix {
        rows: &subject.rows,
        columns: &headings,
        row_height: ROW,
        foot: 2.0,
        legend: Some((26.0, legend())),
    };
    let width = matrix.panel_width() - LEFT;
    let column = |wanted: &(u32, analysis::Origin, String)| {
        let of_row = |variant: &analysis::VariantRuns| {
            all.iter().find(|one| one.variant == variant.name && key(one) == *wanted)
        };
        Column::of(subject.compared.comparison.variants.iter().map(of_row).collect(), width)
    };
    let columns: Vec<Column<'_>> = keys.iter().map(column).collect();
    let back = |_: &Area| html! {};
    let cell = |area: &Area, row: usize| {
        let column = &columns[area.column];
        column.scalings[row].map_or_else(
            || text(area.x + area.width, area.y + ROW / 2.0, "none end", "not known"),
            |scaling| column.panel(area, scaling, subject.rows[row].colour),
        )
    };
    let caption = "Across: clients, from zero. Up: operations per second, from zero, the same for \
                   all variants of a step. One ring per run; the line is the Universal Scalability \
                   Law fitted to them, dotted beyond what was measured and drawn no further than \
                   1.5 times that. The thin straight line is what clients would do that never \
                   disturb each other; the upright one stands at the CPUs of the host.";
    let words = Words::new("scaling", "Throughput by number of clients", caption);
    Some(matrix.picture(words, &back, &cell))
}

impl<'a> Column<'a> {
    fn of(scalings: Vec<Option<&'a Scaling>>, width: f64) -> Self {
        let levels = || scalings.iter().flatten().flat_map(|one| &one.levels);
        let reach = scalings.iter().flatten().filter_map(|one| {
            let most = one.levels.last().map(|level| f64::from(level.clients))?;
            Some(if one.throughput_fit.is_ok() { TRUSTED * most } else { most })
        });
        let rates = levels().map(|level| 1.08 * level.throughput.max);
        let up = Linear::holding(rates, ROW - ABOVE - super::plane::BELOW);
        Self { across: Linear::holding(reach, width), up, scalings }
    }

    fn panel(&self, area: &Area, scaling: &Scaling, colour: &str) -> Markup {
        let plane = Plane::within(area, ABOVE, self.across, Up::FromZero(self.up));
        html! {
            (plane.axes((Unit::Count, Unit::OpsPerSecond), "clients"))
            (self.linear(&plane, scaling))
            (cpus(&plane, scaling))
            @if let Ok(fit) = &scaling.throughput_fit {
                (peak(&plane, fit))
                (curve(&plane, fit, colour))
            }
            @for level in &scaling.levels {
                @for rate in &level.throughputs {
                    @let (x, y) = plane.at((f64::from(level.clients), *rate));
                    circle cx=(px(x)) cy=(px(y)) r="3.4" class="run" stroke=(colour) {
                        title {
                            (clients(level.clients)) ": " (figure(Unit::OpsPerSecond, *rate)) "/s"
                        }
                    }
                }
            }
        }
    }

    /// Returns what clients would do that never disturb each other, as far as the panel goes.
    fn linear(&self, plane: &Plane, scaling: &Scaling) -> Markup {
        let single = match &scaling.throughput_fit {
            Ok(fit) => Some(fit.gamma.value),
            Err(_) => scaling
                .levels
                .first()
                .filter(|level| level.clients == 1)
                .map(|level| level.throughput.median),
        };
        let Some(single) = single.filter(|single| *single > 0.0) else { return html! {} };
        let reach = self.across.max().min(self.up.max() / single);
        line(plane.at((0.0, 0.0)), plane.at((reach, single * reach)), "guide")
    }
}

fn cpus(plane: &Plane, scaling: &Scaling) -> Markup {
    let Some(cpus) = scaling.cpus.map(f64::from).filter(|it| *it <= plane.across.max()) else {
        return html! {};
    };
    let x = plane.x(cpus);
    let label = if cpus > 1.0 { format!("{cpus} CPUs") } else { "1 CPU".to_owned() };
    html! {
        (line((x, plane.top - 4.0), (x, plane.bottom), "ref"))
        (text(x + 4.0, plane.top - 1.0, "axis", &label))
    }
}

/// Returns where the peak is, with its interval; nothing when none was measured.
fn peak(plane: &Plane, fit: &Fit) -> Markup {
    let Peak::At(at) = fit.peak else { return html! {} };
    let most = plane.across.max();
    let (low, high) = (plane.x(at.low), plane.x(at.high.unwrap_or(most)));
    let x = plane.x(at.value);
    let label = format!("peak {}", figure(Unit::Count, at.value.round()));
    let label = label.split('.').next().unwrap_or(&label).to_owned();
    html! {
        rect x=(px(low)) y=(px(plane.top)) width=(px(high - low))
            height=(px(plane.bottom - plane.top)) class="found" {}
        (line((x, plane.top), (x, plane.bottom), "mark"))
        (text(x + 4.0, plane.bottom - 6.0, "base", &label))
    }
}

fn curve(plane: &Plane, fit: &Fit, colour: &str) -> Markup {
    let most = f64::from(fit.most_clients);
    let places = |from: f64, to: f64| -> Vec<(f64, f64)> {
        let share = |index: u32| from + (to - from) * f64::from(index) / f64::from(PLACES);
        let known = |clients: f64| fit.ops_per_s(clients).map(|rate| plane.at((clients, rate)));
        (0..=PLACES).map(share).filter_map(known).collect()
    };
    html! {
        (path(&places(1.0, most), Stroke::Solid, colour))
        (path(&places(most, TRUSTED * most), Stroke::Dotted, colour))
    }
}

fn legend() -> Markup {
    let place = |index: usize| 84.0 + 170.0 * float(index);
    html! {
        circle cx="8" cy="8" r="3.4" class="run" stroke=(INK) {}
        (text(18.0, 12.0, "", "a run"))
        (sample(place(0), Stroke::Solid, INK, "law, where measured"))
        (sample(place(1), Stroke::Dotted, INK, "law, beyond"))
        (line((place(2) - 40.0, 8.0), (place(2) - 16.0, 8.0), "guide"))
        (text(place(2) - 10.0, 12.0, "", "linear scaling"))
    }
}
