//! Throughput by number of clients, with the fitted scalability law.

use std::collections::BTreeSet;

use analysis::{Fit, Peak, Scaling};
use maud::{Markup, html};
use model::Unit;

use super::palette::INK;
use super::picture::{Labels, Picture, line, px, text};
use super::plane::{Axes, Ends, Plane, panels, path, planes, sample};
use super::subject::Subject;
use crate::figure::figure;

/// The axis reaches this far above the highest rate.
const HEADROOM: f64 = 1.06;
/// A curve is drawn through this many places.
const PLACES: u32 = 80;
/// The law is drawn up to this multiple of the most clients measured.
///
/// Our choice: an extrapolated [Gunther 2008] fit is unreliable.
const TRUSTED: f64 = 1.5;

/// Draws the curves; `None` when no step was measured at several numbers of clients.
pub(crate) fn scales(subject: &Subject<'_>) -> Option<Picture> {
    let all = &subject.compared.scalings;
    let key = |one: &Scaling| (one.step_index, one.origin, one.step.clone());
    let keys: BTreeSet<_> = all.iter().filter(|one| one.levels.len() > 2).map(key).collect();
    let of_step = |wanted: &(_, _, String)| {
        let own: Vec<&Scaling> = all.iter().filter(|one| key(one) == *wanted).collect();
        let fits = || own.iter().filter_map(|one| one.throughput_fit.as_ref().ok());
        let levels = || own.iter().flat_map(|one| &one.levels);
        let beyond = fits().map(|fit| TRUSTED * f64::from(fit.most_clients));
        let most = levels().map(|level| f64::from(level.clients)).chain(beyond).fold(0.0, f64::max);
        let fitted = fits().filter_map(|fit| fit.ops_per_s(TRUSTED * f64::from(fit.most_clients)));
        let high = levels().map(|level| level.throughput.max).chain(fitted).fold(0.0, f64::max);
        panels(subject, &wanted.2, Ends { across: most, up: (0.0, HEADROOM * high) }, |variant| {
            own.iter().copied().find(|one| one.variant == variant)
        })
    };
    let all_panels: Vec<_> = keys.iter().flat_map(of_step).collect();
    let caption = "Across: clients, from zero. Up: operations per second, from zero; both the same \
                   for all variants of a step. One ring per run; the line is the Universal \
                   Scalability Law fitted to them, dotted beyond the largest measured number of \
                   clients, up to 1.5 times this number. The dotted vertical line stands at the \
                   CPUs of the host. The other vertical line stands at the fitted peak, if a peak \
                   was measured.";
    let labels = Labels::new("scaling", "Throughput by number of clients", caption);
    let legend = html! {
        circle cx="8" cy="8" r="3.4" class="run" stroke=(INK) {}
        (text(18.0, 12.0, "", "a run"))
        (sample(84.0, "solid", INK, "law, where measured"))
        (sample(254.0, "dotted", INK, "law, beyond"))
    };
    let axes = Axes { across: Unit::Count, up: Unit::OpsPerSecond, name: "clients" };
    (!keys.is_empty()).then(|| planes(labels, legend, &all_panels, axes, &draw))
}

fn draw(plane: &Plane, scaling: &Scaling, colour: &str) -> Markup {
    let runs = scaling
        .levels
        .iter()
        .flat_map(|level| level.throughputs.iter().map(|rate| (f64::from(level.clients), *rate)));
    html! {
        @if let Some(cpus) = scaling.cpus {
            @let x = plane.x(cpus.value());
            (line((x, plane.top - 4.0), (x, plane.bottom), "ref"))
            (text(x + 4.0, plane.top - 1.0, "axis halo", &format!("CPUs: {cpus}")))
        }
        @if let Ok(fit) = &scaling.throughput_fit { (law(plane, fit, colour)) }
        @for run in runs {
            @let (x, y) = plane.at(run);
            circle cx=(px(x)) cy=(px(y)) r="3.4" class="run" stroke=(colour) {
                title { (run.0) " clients: " (figure(Unit::OpsPerSecond, run.1)) "/s" }
            }
        }
    }
}

/// Returns the fitted curve, and its peak where one was measured.
fn law(plane: &Plane, fit: &Fit, colour: &str) -> Markup {
    let most = f64::from(fit.most_clients);
    let places = |from: f64, to: f64| -> Vec<(f64, f64)> {
        let share = |index: u32| from + (to - from) * f64::from(index) / f64::from(PLACES);
        let known = |clients: f64| fit.ops_per_s(clients).map(|rate| plane.at((clients, rate)));
        (0..=PLACES).map(share).filter_map(known).collect()
    };
    html! {
        @if let Peak::At(at) = fit.peak {
            @let x = plane.x(at);
            (line((x, plane.top), (x, plane.bottom), "mark"))
            (text(x - 5.0, plane.bottom - 6.0, "base end halo", &format!("peak {at:.0}")))
        }
        (path(&places(1.0, most), "solid", colour))
        (path(&places(most, TRUSTED * most), "dotted", colour))
    }
}
