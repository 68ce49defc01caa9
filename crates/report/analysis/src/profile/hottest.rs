//! The functions that take most CPU.

use std::collections::BTreeMap;

use serde::Serialize;

use super::flame::{FlameGraph, FlameNode, Us};
use super::group::Group;

/// A function and its CPU wherever it is called.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HotFunction {
    /// Its name.
    pub function: String,
    /// The file that has it.
    pub module: String,
    /// The group of functions.
    pub group: Group,
    /// CPU of the function itself.
    pub own: Us,
    /// CPU with everything that it calls; a recursive call counts once.
    pub inclusive: Us,
}

/// Returns every function; functions that themselves take most CPU in either variant come first.
pub fn hottest_functions(graph: &FlameGraph) -> Vec<HotFunction> {
    let mut found = BTreeMap::new();
    add(&graph.root, &mut Vec::new(), &mut found);
    let mut functions: Vec<HotFunction> = found.into_values().collect();
    let size = |cost: &HotFunction| (cost.own.larger(), cost.inclusive.larger());
    functions.sort_by(|a, b| {
        let ((own_a, all_a), (own_b, all_b)) = (size(a), size(b));
        own_b.total_cmp(&own_a).then(all_b.total_cmp(&all_a))
    });
    functions
}

/// Identifies a function.
type Key<'a> = (Group, &'a str);

/// Adds a node, whose callers are `open`, and all that it calls.
fn add<'a>(
    node: &'a FlameNode,
    open: &mut Vec<Key<'a>>,
    found: &mut BTreeMap<Key<'a>, HotFunction>,
) {
    let key = node.kind.group().map(|group| (group, node.name.as_str()));
    if let Some((group, name)) = key {
        let zero = Us::zero(node.own.base.is_some());
        let cost = found.entry((group, name)).or_insert_with(|| HotFunction {
            function: name.to_owned(),
            module: node.module.clone(),
            group,
            own: zero,
            inclusive: zero,
        });
        cost.own = cost.own.plus(node.own);
        if !open.contains(&(group, name)) {
            cost.inclusive = cost.inclusive.plus(node.total);
        }
    }
    open.extend(key);
    node.children.iter().for_each(|child| add(child, open, found));
    open.truncate(open.len() - usize::from(key.is_some()));
}

#[cfg(test)]
mod tests {
    use model::Profile;

    use super::super::flame::flame_graph;
    use super::super::side::{ProfiledRun, Side};
    use super::*;
    use crate::testing::profiled;

    #[test]
    fn recursion_counts_once_and_all_callers_count() {
        let text = "worker;client;l`f;l`g;l`f 2\nworker;client;l`g 1\nworker;low;l`g;l`h 1\n";
        let profile = Profile::parse(text).unwrap();
        let step = profiled(4.0, None);
        let runs = vec![ProfiledRun { profile: &profile, step: &step }];
        let side = Side { name: "x".to_owned(), runs, waits: Vec::new() };
        let functions = hottest_functions(&flame_graph(&side, None).unwrap());
        let figures: Vec<_> = functions
            .iter()
            .map(|one| (one.function.as_str(), one.own.shown, one.inclusive.shown))
            .collect();
        assert_eq!(figures, [("f", 2.0, 2.0), ("g", 1.0, 4.0), ("h", 1.0, 1.0)]);
    }
}
