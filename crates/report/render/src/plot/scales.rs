//! Throughput by number of clients, with the fitted scalability law.

use analysis::{Fit, Level, Origin, Peak, Scaling};
use maud::{Markup, html};
use model::Unit;

use super::axis::Linear;
use super::matrix::{Area, Matrix, UNNAMED};
use super::palette::INK;
use super::picture::{Labels, Picture, line, px, text};
use super::plane::{LEFT, Plane, Stroke, Up, path, sample};
use super::subject::Subject;
use crate::figure::figure;
use model::units::clients;

const ROW: f64 = 200.0;
/// Room above the axis for the name of the line at the CPUs.
const ABOVE: f64 = 16.0;
/// The axis reaches this far above the highest rate.
const HEADROOM: f64 = 1.06;
/// A curve is drawn through this many places.
const PLACES: u32 = 80;
/// The law is drawn up to this multiple of the most clients measured.
///
/// Our choice: an extrapolated [Gunther 2008] fit is unreliable.
const TRUSTED: f64 = 1.5;

/// One variant's panel: its scaling, if it has one, and the axes of all panels of the step.
struct Panel<'a> {
    colour: &'static str,
    scaling: Option<&'a Scaling>,
    across: Linear,
    up: Linear,
}

/// Draws the curves; `None` when no step was measured at several numbers of clients.
pub(crate) fn scales(subject: &Subject<'_>) -> Option<Picture> {
    let all = &subject.compared.scalings;
    let mut keys: Vec<Key> = all.iter().filter(|one| one.levels.len() > 2).map(key).collect();
    keys.sort();
    keys.dedup();
    if keys.is_empty() {
        return None;
    }
    let heading = |(_, _, step): &Key| {
        subject.rows.iter().map(|row| format!("{}\n{step}", row.label)).collect::<Vec<_>>()
    };
    let headings: Vec<String> = keys.iter().flat_map(heading).collect();
    let matrix = Matrix {
        rows: &UNNAMED,
        columns: &headings,
        row_height: ROW,
        foot: 14.0,
        legend: Some((30.0, legend(all.iter().any(|one| one.throughput_fit.is_ok())))),
    };
    let width = matrix.panel_width() - LEFT;
    let panels: Vec<Panel<'_>> = keys.iter().flat_map(|key| panels(subject, key, width)).collect();
    let back = |_: &Area| html! {};
    let cell = |area: &Area, _: usize| panels[area.column].draw(area);
    let caption = "Across: clients, from zero. Up: operations per second, from zero; both the same \
                   for all variants of a step. One ring per run; the line is the Universal \
                   Scalability Law fitted to them, dotted beyond what was measured and drawn no \
                   further than 1.5 times that. The thin straight line is what clients would do \
                   that never disturb each other; the dotted upright one stands at the CPUs of the \
                   host, the other at the fitted peak with its interval, where one was measured.";
    let labels = Labels::new("scaling", "Throughput by number of clients", caption);
    Some(matrix.picture(labels, &back, &cell))
}

/// Position and origin of a step, and its name.
type Key = (u32, Origin, String);

fn key(scaling: &Scaling) -> Key {
    (scaling.step_index, scaling.origin, scaling.step.clone())
}

/// Returns a panel per variant for one step.
fn panels<'a>(subject: &'a Subject<'_>, wanted: &Key, width: f64) -> Vec<Panel<'a>> {
    let all = &subject.compared.scalings;
    let of_step: Vec<&Scaling> = all.iter().filter(|one| key(one) == *wanted).collect();
    let reach = |one: &&Scaling| {
        let most = one.levels.last().map(|level| f64::from(level.clients))?;
        Some(if one.throughput_fit.is_ok() { TRUSTED * most } else { most })
    };
    let across = Linear::holding(of_step.iter().filter_map(reach), width);
    let measured = of_step.iter().flat_map(|one| &one.levels).map(|level| level.throughput.max);
    let beyond = of_step.iter().filter_map(|one| {
        let fit = one.throughput_fit.as_ref().ok()?;
        fit.ops_per_s(TRUSTED * f64::from(fit.most_clients))
    });
    let rates = measured.chain(beyond).map(|rate| HEADROOM * rate);
    let up = Linear::holding(rates, ROW - ABOVE - super::plane::BELOW);
    let variants = subject.compared.comparison.variants.iter().zip(&subject.rows);
    let panel = |(variant, row): (&analysis::VariantRuns, &super::matrix::Row)| Panel {
        colour: row.colour,
        scaling: of_step.iter().copied().find(|one| one.variant == variant.name),
        across,
        up,
    };
    variants.map(panel).collect()
}

impl Panel<'_> {
    fn draw(&self, area: &Area) -> Markup {
        let Some(scaling) = self.scaling else {
            return text(area.x + area.width, area.y + ROW / 2.0, "none end", "not known");
        };
        let plane = Plane::within(area, ABOVE, self.across, Up::FromZero(self.up));
        html! {
            (plane.axes((Unit::Count, Unit::OpsPerSecond), "clients"))
            (self.linear(&plane, scaling))
            (cpus(&plane, scaling))
            @if let Ok(fit) = &scaling.throughput_fit {
                (peak(&plane, fit))
                (curve(&plane, fit, self.colour))
            }
            @for level in &scaling.levels { (runs(&plane, level, self.colour)) }
        }
    }

    /// Returns what clients would do that never disturb each other, as far as the panel goes.
    fn linear(&self, plane: &Plane, scaling: &Scaling) -> Markup {
        let single = match &scaling.throughput_fit {
            Ok(fit) => Some(fit.gamma),
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

fn runs(plane: &Plane, level: &Level, colour: &str) -> Markup {
    html! {
        @for rate in &level.throughputs {
            @let (x, y) = plane.at((f64::from(level.clients), *rate));
            circle cx=(px(x)) cy=(px(y)) r="3.4" class="run" stroke=(colour) {
                title { (clients(level.clients)) ": " (figure(Unit::OpsPerSecond, *rate)) "/s" }
            }
        }
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
        (text(x + 4.0, plane.top - 1.0, "axis halo", &label))
    }
}

/// Returns where the peak is, with its interval; nothing when none was measured.
fn peak(plane: &Plane, fit: &Fit) -> Markup {
    let Peak::At(at) = fit.peak else { return html! {} };
    let label = format!("peak {}", figure(Unit::Count, at.value.round()));
    let label = label.split('.').next().unwrap_or(&label).to_owned();
    html! {
        (plane.found(at.low, at.value, at.high.unwrap_or(plane.across.max())))
        (text(plane.x(at.value) + 4.0, plane.bottom - 6.0, "base halo", &label))
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

fn legend(has_fit: bool) -> Markup {
    let guide = if has_fit { 384.0 } else { 84.0 };
    html! {
        circle cx="8" cy="8" r="3.4" class="run" stroke=(INK) {}
        (text(18.0, 12.0, "", "a run"))
        (line((guide, 8.0), (guide + 24.0, 8.0), "guide"))
        (text(guide + 30.0, 12.0, "", "linear scaling"))
        @if has_fit {
            (sample(84.0, Stroke::Solid, INK, "law, where measured"))
            (sample(254.0, Stroke::Dotted, INK, "law, beyond"))
        }
    }
}
