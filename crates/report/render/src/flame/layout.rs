//! Where the boxes of a flame graph stand.

use analysis::profile::{FlameNode, PrunedFlame};

/// Width of the whole tree, in pixels.
pub(super) const WIDTH: f64 = 1_200.0;
/// Height of a box with the space above it, in pixels.
pub(super) const ROW: f64 = 17.0;
/// Height of the heading above what is gone, in pixels.
pub(super) const GONE_HEAD: f64 = 34.0;

/// A box of the picture.
pub(super) struct Placed<'a> {
    pub(super) node: &'a FlameNode,
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    /// Callers of a gone node, for its first box.
    pub(super) callers: &'a [String],
}

/// All boxes.
pub(super) struct Layout<'a> {
    /// The tree, the root at its bottom.
    pub(super) tree: Vec<Placed<'a>>,
    /// Paths that only the base has, below the tree.
    pub(super) gone: Vec<Placed<'a>>,
    /// Where the tree ends.
    pub(super) tree_bottom: f64,
    /// Where the picture ends.
    pub(super) bottom: f64,
}

/// Places a tree below `top`.
///
/// One scale for all: the whole width is the larger of both variants.
pub(super) fn layout(flame: &PrunedFlame, top: f64) -> Layout<'_> {
    let scale = WIDTH / flame.root.total.larger();
    let tree_bottom = top + ROW * model::float(depth(&flame.root));
    let mut tree = Vec::new();
    let shown = |node: &FlameNode| node.total.shown * scale;
    grow(&flame.root, (0.0, tree_bottom - ROW), &shown, &mut tree);
    let base = |node: &FlameNode| node.total.base.unwrap_or(0.0) * scale;
    let mut gone = Vec::new();
    let rows = flame.gone.iter().map(|one| depth(&one.node)).max().unwrap_or(0);
    let head = if rows > 0 { GONE_HEAD } else { 0.0 };
    let bottom = tree_bottom + head + ROW * model::float(rows);
    let mut x = 0.0;
    for one in &flame.gone {
        let first = gone.len();
        grow(&one.node, (x, bottom - ROW), &base, &mut gone);
        if let Some(first) = gone.get_mut(first) {
            first.callers = &one.callers;
            x += first.width;
        }
    }
    Layout { tree, gone, tree_bottom, bottom }
}

/// Returns the rows of a node and of all that it calls.
fn depth(node: &FlameNode) -> usize {
    1 + node.children.iter().map(depth).max().unwrap_or(0)
}

/// Places a node of that width, and all that it calls above it, from left to right.
fn grow<'a>(
    node: &'a FlameNode,
    (x, y): (f64, f64),
    width: &dyn Fn(&FlameNode) -> f64,
    placed: &mut Vec<Placed<'a>>,
) {
    let own = width(node);
    if own <= 0.0 {
        return;
    }
    placed.push(Placed { node, x, y, width: own, callers: &[] });
    let mut left = x;
    for child in &node.children {
        grow(child, (left, y - ROW), width, placed);
        left += width(child);
    }
}
