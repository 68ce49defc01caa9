//! The functions that take most CPU.

use std::collections::BTreeMap;

use serde::Serialize;

use super::flame::{FlameGraph, FlameNode, NodeKind, Us};
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
    /// CPU of its own.
    pub own: Us,
    /// CPU with everything that it calls; a recursive call counts once.
    pub inclusive: Us,
}

/// Returns every function, those with the most CPU of their own in either variant first.
pub fn hottest_functions(graph: &FlameGraph) -> Vec<HotFunction> {
    let mut found = Found { functions: BTreeMap::new(), open: Vec::new() };
    found.add(&graph.root);
    let mut functions: Vec<HotFunction> = found.functions.into_values().collect();
    let size = |cost: &HotFunction| (cost.own.larger(), cost.inclusive.larger());
    functions.sort_by(|a, b| {
        let ((own_a, all_a), (own_b, all_b)) = (size(a), size(b));
        own_b.total_cmp(&own_a).then(all_b.total_cmp(&all_a))
    });
    functions
}

struct Found<'a> {
    functions: BTreeMap<(Group, &'a str), HotFunction>,
    /// The callers of the node at hand.
    open: Vec<(Group, &'a str)>,
}

impl<'a> Found<'a> {
    fn add(&mut self, node: &'a FlameNode) {
        let key = match node.kind {
            NodeKind::Code(group) => Some((group, node.name.as_str())),
            NodeKind::Whole | NodeKind::Threads | NodeKind::Waiting | NodeKind::Pruned => None,
        };
        if let Some(key) = key {
            let zero = Us::zero(node.own.base.is_some());
            let cost = self.functions.entry(key).or_insert_with(|| HotFunction {
                function: node.name.clone(),
                module: node.module.clone(),
                group: key.0,
                own: zero,
                inclusive: zero,
            });
            cost.own = cost.own.plus(node.own);
            if !self.open.contains(&key) {
                cost.inclusive = cost.inclusive.plus(node.total);
            }
        }
        self.open.extend(key);
        node.children.iter().for_each(|child| self.add(child));
        if key.is_some() {
            self.open.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use model::Profile;

    use super::super::flame::flame_graph;
    use super::super::side::{ProfiledRun, Side};
    use super::*;
    use crate::metrics::TargetCpu;

    #[test]
    fn recursion_counts_once_and_all_callers_count() {
        let text = "worker;client;l`f;l`g;l`f 2\nworker;client;l`g 1\nworker;low;l`g;l`h 1\n";
        let profile = Profile::parse(text).unwrap();
        let cpu = TargetCpu { worker_us: Some(4.0), server_us: None };
        let runs = vec![ProfiledRun { profile: &profile, cpu }];
        let side = Side { name: "x".to_owned(), runs, waits: Vec::new() };
        let functions = hottest_functions(&flame_graph(&side, None).unwrap());
        let figures: Vec<_> = functions
            .iter()
            .map(|one| (one.function.as_str(), one.own.shown, one.inclusive.shown))
            .collect();
        assert_eq!(figures, [("f", 2.0, 2.0), ("g", 1.0, 4.0), ("h", 1.0, 1.0)]);
    }
}
