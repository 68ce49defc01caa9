//! CPU per operation, split by its user.

use maud::{Markup, html};
use model::Unit;

use super::axis::Linear;
use super::matrix::{Area, Matrix};
use super::palette::{CPU, INK};
use super::picture::{Labels, Picture, line, px, text};
use super::subject::Subject;
use crate::figure::figure;

const VALUE: f64 = 62.0;
const BAR: f64 = 11.0;
const KERNEL: f64 = 3.0;

const OF_WORKERS: &str = "CPU time of the worker process per operation of the measured clients, \
    median over the runs. In an embedded engine the client threads run the engine's code. What the \
    background writer, flushes and compactions use is charged to the operations that ran meanwhile.";

const OF_SERVERS: &str = "CPU time of the server's control group and of the client per operation of \
    the measured clients (per row where a step writes rows), median over the runs. What background \
    writers and the server's own threads use is charged to the operations that ran meanwhile. The \
    client's part is the canary: where it differs, the placement of client and server did.";

/// Microseconds per operation: medians over the runs.
#[derive(Clone, Copy)]
struct Split {
    total: f64,
    server: f64,
    client: f64,
    background: f64,
    kernel: Option<f64>,
}

/// Draws the split; `None` when no CPU is known.
pub(crate) fn cpu(subject: &Subject<'_>) -> Option<Picture> {
    if !subject.has_metric("cpu_us_per_op") {
        return None;
    }
    let has_server = subject.has_metric("server_cpu_us_per_op");
    let matrix = Matrix {
        rows: &subject.rows,
        columns: &subject.headings,
        row_height: 24.0,
        foot: 12.0,
        legend: Some((24.0, legend(has_server))),
    };
    let length = matrix.panel_width() - VALUE;
    let axis = |column: usize| {
        let known = (0..subject.rows.len()).filter_map(|row| split(subject, column, row));
        Linear::holding(known.map(|split| split.total), length)
    };
    let back = |area: &Area| line((area.x, area.y), (area.x, area.y + area.height), "rule");
    let cell =
        |area: &Area, row: usize| stack(area, axis(area.column), split(subject, area.column, row));
    let caption = if has_server { OF_SERVERS } else { OF_WORKERS };
    let labels = Labels::new("cpu", "CPU per operation", caption);
    Some(matrix.picture(labels, &back, &cell))
}

fn split(subject: &Subject<'_>, column: usize, row: usize) -> Option<Split> {
    let median = |metric: &str| subject.spread(column, row, metric).map(|spread| spread.median);
    let server = median("server_cpu_us_per_op");
    Some(Split {
        total: median("cpu_us_per_op")?,
        server: server.unwrap_or(0.0),
        client: median("client_cpu_us_per_op").unwrap_or(0.0),
        background: median("background_cpu_us_per_op").unwrap_or(0.0),
        // A server's CPU has no separate part in the kernel.
        kernel: median("kernel_cpu_us_per_op").filter(|_| server.is_none()),
    })
}

fn stack(area: &Area, axis: Linear, split: Option<Split>) -> Markup {
    let right = area.x + area.width;
    let middle = area.y + area.height / 2.0;
    let Some(split) = split else {
        return text(right, middle + 4.0, "none end", "not known");
    };
    let top = middle - (BAR + KERNEL + 1.0) / 2.0;
    let [server, own] = [split.server, split.server + split.client];
    let ends = [0.0, server, own, own + split.background, split.total];
    let parts = ends.windows(2).zip(CPU);
    html! {
        @for (ends, colour) in parts {
            @let (from, to) = (axis.at(ends[0]), axis.at(ends[1]));
            @if to - from > 0.05 {
                rect x=(px(area.x + from)) y=(px(top)) width=(px(to - from)) height=(px(BAR))
                    fill=(colour) {}
            }
        }
        @if let Some(kernel) = split.kernel {
            rect x=(px(area.x)) y=(px(top + BAR + 1.0)) width=(px(axis.at(kernel)))
                height=(px(KERNEL)) fill=(INK) {}
        }
        (text(right, middle + 4.0, "end", &figure(Unit::Micros, split.total)))
    }
}

fn legend(has_server: bool) -> Markup {
    let of_workers = [
        (0.0, CPU[1], "client and writer threads, engine calls included"),
        (290.0, CPU[2], "the engine's own threads"),
        (465.0, CPU[3], "the harness"),
        (565.0, INK, "thin bar: the part of all this spent in the kernel"),
    ];
    let of_servers = [
        (0.0, CPU[0], "the server"),
        (100.0, CPU[1], "client and writer threads"),
        (270.0, CPU[3], "the harness"),
    ];
    let entries = if has_server { &of_servers[..] } else { &of_workers };
    html! {
        @for (x, colour, name) in entries.iter().copied() {
            @let is_thin = colour == INK;
            rect x=(px(x)) y=(if is_thin { "7" } else { "3" }) width="12"
                height=(if is_thin { "3" } else { "11" }) fill=(colour) {}
            (text(x + 17.0, 12.0, "", name))
        }
    }
}
