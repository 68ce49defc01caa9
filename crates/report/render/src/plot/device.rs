//! Throughput and response time of storage by number of jobs.

use std::collections::BTreeSet;

use analysis::{DeviceFigure, saturations};
use maud::{Markup, html};
use model::{Access, IoTest, Unit};

use super::palette::{CPU, INK};
use super::picture::{Labels, Picture, line, px, text};
use super::plane::{Axes, Ends, Panel, Plane, path, planes, sample};

/// The axis reaches this far above the highest rate.
const HEADROOM: f64 = 1.06;

/// The lines: access, class, colour.
const LINES: [(Access, &str, &str); 3] = [
    (Access::Raw, "solid", INK),
    (Access::Direct, "dashed", CPU[0]),
    (Access::Buffered, "dotted", CPU[2]),
];

/// One test's points for each access, and where throughput is saturated.
struct Curves {
    points: Vec<(Access, Vec<(f64, f64)>)>,
    saturated: Vec<(Access, f64)>,
}

/// Draws throughput and response time; none when no test has several numbers of jobs.
pub(crate) fn device_pictures(figures: &[DeviceFigure]) -> Vec<Picture> {
    let saturations = saturations(figures);
    let has_several = |test: &IoTest| saturations.iter().any(|one| one.test == *test);
    let known: BTreeSet<IoTest> = figures.iter().map(|of| of.test).collect();
    let tests: Vec<IoTest> = known.into_iter().filter(has_several).collect();
    if tests.is_empty() {
        return Vec::new();
    }
    let of_test = |test: IoTest, value: fn(&DeviceFigure) -> f64| {
        let of_access = |access| {
            let own = figures.iter().filter(|of| (of.access, of.test) == (access, test));
            (access, own.map(|of| (f64::from(of.jobs), value(of))).collect())
        };
        let saturated = saturations.iter().filter(|one| one.test == test);
        Curves {
            points: Access::ALL.into_iter().map(of_access).collect(),
            saturated: saturated.map(|one| (one.access, f64::from(one.jobs))).collect(),
        }
    };
    let throughput = |of: &DeviceFigure| of.per_s;
    let response = |of: &DeviceFigure| of.p99_ns;
    let rates: Vec<Curves> = tests.iter().map(|test| of_test(*test, throughput)).collect();
    let times: Vec<Curves> = tests.iter().map(|test| of_test(*test, response)).collect();
    vec![
        picture(
            Labels::new(
                "device-throughput",
                "Throughput by number of jobs",
                "Across: jobs, from zero. Up: requests per second, from zero, with a separate \
                 scale for each test; medians. A small upright line stands at the fewest jobs with \
                 95 % of the highest throughput.",
            ),
            &tests,
            &rates,
            Unit::OpsPerSecond,
        ),
        picture(
            Labels::new(
                "device-response",
                "Response time by number of jobs",
                "Across: jobs, from zero. Up: 99th percentile of the response time, logarithmic; \
                 medians of the runs.",
            ),
            &tests,
            &times,
            Unit::Nanos,
        ),
    ]
}

fn picture(labels: Labels, tests: &[IoTest], curves: &[Curves], unit: Unit) -> Picture {
    let panel = |(test, curves): (&IoTest, &'_ Curves)| {
        let all = || curves.points.iter().flat_map(|(_, points)| points);
        let across = all().map(|(jobs, _)| *jobs).fold(0.0, f64::max);
        let high = all().map(|(_, value)| *value).fold(0.0, f64::max);
        let low = all().map(|(_, value)| *value).fold(f64::INFINITY, f64::min);
        let up = if unit == Unit::Nanos { (low, high) } else { (0.0, HEADROOM * high) };
        (test.to_string(), Ends { across, up })
    };
    let panels: Vec<_> = tests
        .iter()
        .zip(curves)
        .map(|of| {
            let (heading, ends) = panel(of);
            Panel::lone(heading, of.1, ends)
        })
        .collect();
    let is_drawn = |(access, ..): &&(Access, &str, &str)| {
        let mut all = curves.iter().flat_map(|of| &of.points);
        all.any(|(other, points)| other == access && !points.is_empty())
    };
    let legend = html! {
        @for (index, (access, class, colour)) in LINES.iter().filter(is_drawn).enumerate() {
            (sample(8.0 + 130.0 * model::float(index), class, colour, access.name()))
        }
    };
    let draw = |plane: &Plane, curves: &Curves, _: &str| draw(plane, curves, unit);
    let axes = Axes { across: Unit::Count, up: unit, name: "jobs" };
    planes(labels, legend, &panels, axes, &draw)
}

fn draw(plane: &Plane, curves: &Curves, unit: Unit) -> Markup {
    let line_of = |access: Access| LINES.iter().find(|(other, _, _)| *other == access);
    html! {
        @for (access, points) in &curves.points {
            @if let Some((_, class, colour)) = line_of(*access) {
                @let places: Vec<_> = points.iter().map(|point| plane.at(*point)).collect();
                (path(&places, class, colour))
                @for ((x, y), (jobs, value)) in places.iter().zip(points) {
                    circle cx=(px(*x)) cy=(px(*y)) r="2.4" fill=(colour) {
                        title { (access) ", " (jobs) " jobs: " (crate::figure::figure(unit, *value)) }
                    }
                }
            }
        }
        @if unit == Unit::OpsPerSecond {
            @for (index, (access, jobs)) in curves.saturated.iter().enumerate() {
                @let below = plane.bottom - 4.0 - 9.0 * model::float(index);
                @let x = plane.x(*jobs);
                (line((x, plane.bottom - 10.0), (x, plane.bottom), "mark"))
                (text(x + 3.0, below, "axis halo", &access.name()[..1]))
            }
        }
    }
}
