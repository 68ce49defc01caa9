//! The picture: a box per function, its width the CPU, its callers below it.
//!
//! Source: [Gregg 2011] for the layout, [Gregg 2014] for the colours of a difference.

use analysis::profile::{FlameGraph, FlameNode, Group, NodeKind, PRUNED_BELOW, PrunedFlame, Us};
use maud::{Markup, PreEscaped, html};

use super::layout::{GONE_HEAD, Layout, Placed, ROW, WIDTH, layout};
use crate::document::shortened;
use crate::figure::{digits, percent};
use crate::plot::palette::{FLAME_GROUPS, LESS, MORE, UNCHANGED};
use crate::plot::{Labels, Picture, px, text};

/// Zoom and search of a picture in a separate file.
const SCRIPT: &str = include_str!("flame.js");
/// Height of title and legend.
const HEAD: f64 = 50.0;
/// Width of a character in a box, in pixels.
///
/// Our choice: monospaced characters are 0.6 em wide, of 11 pixels, and a little for fonts that are
/// wider.
const CHARACTER: f64 = 6.7;
/// Space at both sides of a name.
const PADDING: f64 = 6.0;
/// Shortest name that is drawn, in characters.
const NAME_MIN: usize = 3;
/// Most boxes of a picture on a page and in a file: narrower ones are merged.
///
/// Our choice: four pictures on a page stay below a megabyte, a file below two.
const PAGE_BOXES_MAX: usize = 800;
const FILE_BOXES_MAX: usize = 6_000;
/// Colour of waits.
const WAIT: &str = "#fff";
/// Share of the largest difference below which a box counts as unchanged.
///
/// Our choice.
const UNCHANGED_BELOW: f64 = 0.05;

/// What the picture is about.
pub(super) struct Subject<'a> {
    pub(super) graph: &'a FlameGraph,
    /// Its step, with the number of clients.
    pub(super) step: &'a str,
    /// File name without extension.
    pub(super) name: String,
    /// Whether the picture is a separate file, with zoom and search.
    pub(super) is_file: bool,
}

impl Subject<'_> {
    /// Returns the picture, for a page or for a separate file.
    pub(super) fn picture(&self) -> Picture {
        let (flame, share) = self.pruned();
        let places = layout(&flame, HEAD);
        let all = || places.tree.iter().chain(&places.gone);
        let of_code = all().filter(|placed| placed.node.kind != NodeKind::Waiting);
        let differences = of_code.filter_map(|placed| placed.node.own.difference());
        let largest = differences.map(f64::abs).fold(0.0, f64::max);
        let style = Style { whole: flame.root.total, largest };
        let body = html! {
            (text(0.0, 14.0, "name base", &self.heading(flame.root.total)))
            (self.legend())
            @if self.is_file { (controls()) }
            g.tree { @for placed in &places.tree { (style.drawn(placed)) } }
            @if !places.gone.is_empty() {
                (self.gone_heading(&places))
                g.tree { @for placed in &places.gone { (style.drawn(placed)) } }
            }
            @if self.is_file { (PreEscaped(format!("<script><![CDATA[\n{SCRIPT}]]></script>"))) }
        };
        Picture {
            labels: self.labels(share),
            folded: None,
            width: WIDTH,
            height: places.bottom,
            body,
        }
    }

    /// Returns the tree with few enough boxes, and the share below which they are merged.
    fn pruned(&self) -> (PrunedFlame, f64) {
        let most = if self.is_file { FILE_BOXES_MAX } else { PAGE_BOXES_MAX };
        let mut share = PRUNED_BELOW;
        loop {
            let flame = self.graph.pruned(share);
            if share >= 1.0 || flame.size() <= most {
                return (flame, share);
            }
            share *= 2.0;
        }
    }

    fn labels(&self, share: f64) -> Labels {
        let FlameGraph { shown, base, .. } = self.graph;
        let colours = match base {
            None => "The colours show the groups of functions.".to_owned(),
            Some(base) => format!(
                "The widths are those of {shown}. The colours show the difference of a function's \
                 own CPU from {base}: orange is more and blue is less. assay explain states \
                 whether a difference is established."
            ),
        };
        let caption = format!(
            "Each box is a function. Its width is its CPU per operation, with everything that it \
             calls, and the box below it is its caller. White boxes are waits. Boxes below {} of \
             the whole are merged. {colours}",
            percent(share)
        );
        Labels::new(&self.name, &self.title(), &caption)
    }

    fn title(&self) -> String {
        let FlameGraph { shown, base, .. } = self.graph;
        let versus = base.as_ref().map(|base| format!(" compared with {base}"));
        format!("{shown}{} in {}", versus.unwrap_or_default(), self.step)
    }

    fn heading(&self, whole: Us) -> String {
        let shown = digits(whole.shown);
        let base = self.graph.base.as_ref().zip(whole.base);
        let versus = base.map(|(name, us)| format!("; {name} {} us", digits(us)));
        format!("{}: {shown} us per operation{}", self.title(), versus.unwrap_or_default())
    }

    fn legend(&self) -> Markup {
        let parts = Group::ALL.map(|group| (colour(group), group.phrase())).into_iter();
        let less = LESS.iter().rev().map(|fill| (*fill, "less")).take(1);
        let changes = less.chain([(UNCHANGED, "unchanged"), (MORE[MORE.len() - 1], "more")]);
        let mut entries: Vec<(&str, &str)> =
            if self.graph.base.is_some() { changes.collect() } else { parts.collect() };
        entries.push((WAIT, "waiting"));
        html! {
            @for (index, (fill, name)) in entries.iter().enumerate() {
                @let x = 100.0 * model::float(index);
                rect.wait[*fill == WAIT] x=(px(x)) y="24" width="12" height="11" fill=(fill) {}
                (text(x + 17.0, 33.0, "", name))
            }
        }
    }

    fn gone_heading(&self, places: &Layout<'_>) -> Markup {
        let base = self.graph.base.as_deref().unwrap_or_default();
        let title = format!("Gone: what only {base} calls, at the same scale");
        text(0.0, places.tree_bottom + GONE_HEAD - 12.0, "name base", &title)
    }
}

/// Returns the colour of a group.
const fn colour(group: Group) -> &'static str {
    FLAME_GROUPS[group as usize]
}

/// What a reader with script clicks on.
fn controls() -> Markup {
    html! {
        text #matched x="700" y="33" {}
        text #search.control x="1060" y="14" visibility="hidden" { "Search (Ctrl-F)" }
        text #reset.control x="1060" y="33" visibility="hidden" { "Reset (Esc)" }
    }
}

/// How boxes are drawn.
struct Style {
    /// Cost of the root.
    whole: Us,
    /// Largest difference of a function's own CPU; 0 without a base. Waits may differ by more.
    largest: f64,
}

impl Style {
    fn drawn(&self, placed: &Placed<'_>) -> Markup {
        let Placed { node, x, y, width, .. } = placed;
        html! {
            g {
                title { (self.about(placed)) }
                rect.wait[node.kind == NodeKind::Waiting] x=(px(*x)) y=(px(*y)) width=(px(*width))
                    height=(px(ROW - 1.0)) fill=(self.fill(node)) {}
                @if let Some(name) = self.label(node, *width) {
                    text x=(px(x + PADDING / 2.0)) y=(px(y + 12.0)) { (name) }
                }
            }
        }
    }

    /// Returns what fits of a box's name, with its own difference where that is coloured.
    fn label(&self, node: &FlameNode, width: f64) -> Option<String> {
        let changed = node.own.difference().filter(|_| self.step(node).is_some());
        let change = changed.map(|us| format!(" {}", signed(us))).unwrap_or_default();
        let left = width - CHARACTER * model::float(change.chars().count());
        let with_change = clipped(&node.name, left).map(|name| name + &change);
        with_change.or_else(|| clipped(&node.name, width))
    }

    fn fill(&self, node: &FlameNode) -> &'static str {
        match (node.own.difference(), self.step(node)) {
            (Some(us), Some(step)) => (if us < 0.0 { LESS } else { MORE })[step],
            (None, _) if node.kind == NodeKind::Waiting => WAIT,
            (None, _) => node.kind.group().map_or(UNCHANGED, colour),
            (Some(_), None) => UNCHANGED,
        }
    }

    /// Returns the place of a difference among the colours; `None` where it is small.
    fn step(&self, node: &FlameNode) -> Option<usize> {
        let share = node.own.difference()?.abs() / self.largest;
        let steps = model::float(LESS.len());
        let is_changed = share.is_finite() && share >= UNCHANGED_BELOW;
        is_changed.then(|| model::whole((share.min(1.0) * steps).ceil() - 1.0))?.try_into().ok()
    }

    /// Returns the tooltip: the name in its first line.
    fn about(&self, placed: &Placed<'_>) -> String {
        let FlameNode { name, module, kind, total, own, .. } = placed.node;
        let mut about = name.clone();
        if let Some(group) = kind.group() {
            about += &format!("\n{module}, {}", group.phrase());
        }
        if !placed.callers.is_empty() {
            about += &format!("\ncalled by {}", placed.callers.join(" > "));
        }
        let figures = |total: f64, own: f64, show: fn(f64) -> String| {
            let own = (own != 0.0).then(|| format!(", own {}", show(own)));
            format!("{}{}", show(total), own.unwrap_or_default())
        };
        let share = percent(total.shown / self.whole.shown);
        about += &format!("\n{} us/op, {share}", figures(total.shown, own.shown, digits));
        if let (Some(base), Some(own_base)) = (total.base, own.base) {
            let [change, own_change] = [total, own].map(|us| us.shown - us.base.unwrap_or(0.0));
            about += &format!("\nbase {}", figures(base, own_base, digits));
            about += &format!("; difference {}", figures(change, own_change, signed));
        }
        about
    }
}

/// Returns a difference with its sign, and 0 for a smaller one than any that has digits.
pub(super) fn signed(value: f64) -> String {
    let text = digits(value.abs());
    match text.as_str() {
        "0" => text,
        small if small.starts_with('<') => "0".to_owned(),
        _ => format!("{}{text}", if value < 0.0 { "-" } else { "+" }),
    }
}

/// Returns what fits of a name; `None` where too little does.
fn clipped(name: &str, width: f64) -> Option<String> {
    let room = ((width - PADDING) / CHARACTER).floor();
    let room = usize::try_from(model::whole(room.max(0.0))).ok()?;
    (room >= NAME_MIN).then(|| shortened(name, room))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(kind: NodeKind, shown: f64, base: f64) -> FlameNode {
        let us = Us { shown, base: Some(base) };
        let name = "rocksdb::BlockBasedTable::NewDataBlockIterator".to_owned();
        FlameNode { name, module: String::new(), kind, total: us, own: us, children: Vec::new() }
    }

    #[test]
    fn a_short_box_has_its_difference_before_its_whole_name() {
        let style = Style { whole: Us { shown: 9.0, base: Some(5.0) }, largest: 2.0 };
        let changed = node(NodeKind::Code(Group::Engine), 4.0, 2.0);
        assert_eq!(style.label(&changed, 107.0).unwrap(), "rock\u{2026}ator +2.00");
        assert_eq!(style.label(&changed, 40.0).unwrap(), "ro\u{2026}or");
        assert_eq!(style.label(&changed, 10.0), None);
        assert!(
            style.label(&node(NodeKind::Waiting, 9.0, 1.0), 999.0).unwrap().ends_with(" +8.00")
        );
    }
}
