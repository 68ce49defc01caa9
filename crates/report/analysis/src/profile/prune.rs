//! The part of a flame graph that is wide enough to be drawn.

use super::flame::{FlameGraph, FlameNode, NodeKind, Us};

/// Share of the whole below which a node is not drawn.
///
/// Our choice: a pixel of a picture of a thousand.
pub const PRUNED_BELOW: f64 = 0.001;
/// Name of the nodes that are too narrow.
const PRUNED: &str = "(pruned)";

/// A path that only the base has.
#[derive(Debug, Clone, PartialEq)]
pub struct Gone {
    /// Its callers, which both variants have, from the root.
    pub callers: Vec<String>,
    /// The first node that only the base has.
    pub node: FlameNode,
}

/// A tree without narrow nodes, and what only the base has.
#[derive(Debug, Clone, PartialEq)]
pub struct PrunedFlame {
    /// The tree of the nodes that the shown variant has; totals of the base include the gone nodes.
    pub root: FlameNode,
    /// Paths that only the base has, the largest first.
    pub gone: Vec<Gone>,
}

impl PrunedFlame {
    /// Returns how many nodes there are in all.
    pub fn size(&self) -> usize {
        self.root.size() + self.gone.iter().map(|gone| gone.node.size()).sum::<usize>()
    }
}

impl FlameGraph {
    /// Returns the tree without nodes below `share` of the whole: such nodes of one caller are
    /// merged into one, so that totals stay sums.
    pub fn pruned(&self, share: f64) -> PrunedFlame {
        let mut pruning = Pruning {
            limit: share * self.root.total.larger(),
            callers: Vec::new(),
            gone: Vec::new(),
        };
        let root = pruning.pruned(&self.root, false);
        let mut gone = pruning.gone;
        let size = |gone: &Gone| gone.node.total.base.unwrap_or(0.0);
        gone.sort_by(|a, b| size(b).total_cmp(&size(a)));
        PrunedFlame { root, gone }
    }
}

struct Pruning {
    /// Smallest cost that is drawn, us per operation.
    limit: f64,
    callers: Vec<String>,
    gone: Vec<Gone>,
}

impl Pruning {
    fn pruned(&mut self, node: &FlameNode, is_in_gone: bool) -> FlameNode {
        let mut narrow = Us::zero(node.total.base.is_some());
        let mut children = Vec::new();
        self.callers.push(node.name.clone());
        for child in &node.children {
            let is_gone = child.total.is_gone();
            if child.total.larger() < self.limit {
                narrow = narrow.plus(child.total);
            } else if is_gone && !is_in_gone {
                let node = self.pruned(child, true);
                self.gone.push(Gone { callers: self.callers.clone(), node });
            } else {
                children.push(self.pruned(child, is_gone));
            }
        }
        self.callers.pop();
        if narrow.larger() > 0.0 {
            children.push(FlameNode {
                name: PRUNED.to_owned(),
                module: String::new(),
                kind: NodeKind::Pruned,
                total: narrow,
                own: narrow,
                children: Vec::new(),
            });
        }
        FlameNode { children, ..node.clone() }
    }
}

#[cfg(test)]
mod tests {
    use model::{Profile, StepRecord};

    use super::super::flame::flame_graph;
    use super::super::side::{ProfiledRun, Side};
    use super::*;
    use crate::testing::profiled;

    fn side<'a>(name: &str, profile: &'a Profile, step: &'a StepRecord) -> Side<'a> {
        Side { name: name.to_owned(), runs: vec![ProfiledRun { profile, step }], waits: Vec::new() }
    }

    /// Asserts that each total is its own cost and its children's, and what is gone below it.
    fn assert_sums(flame: &PrunedFlame, node: &FlameNode, callers: &mut Vec<String>) {
        callers.push(node.name.clone());
        let gone = flame.gone.iter().filter(|gone| gone.callers == *callers);
        let parts = node.children.iter().chain(gone.map(|gone| &gone.node));
        let sum = parts.fold(node.own, |sum, part| sum.plus(part.total));
        assert!((sum.shown - node.total.shown).abs() < 1e-9, "{} {sum:?}", node.name);
        let base = |us: Us| us.base.unwrap_or(0.0);
        assert!((base(sum) - base(node.total)).abs() < 1e-9, "{} {sum:?}", node.name);
        node.children.iter().for_each(|child| assert_sums(flame, child, callers));
        callers.pop();
    }

    #[test]
    fn narrow_nodes_are_one_and_gone_paths_stand_apart() {
        let new = Profile::parse(
            "worker;client;a`f 989\nworker;client;a`f;a`t1 1\nworker;client;a`f;a`t2 2\n\
             worker;client;a`f;a`new 8\n",
        );
        let old = Profile::parse(
            "worker;client;a`f 900\nworker;client;a`f;a`gone;a`deep 99\n\
             worker;client;a`f;a`gone;a`tiny 1\n",
        );
        let (new, old) = (new.unwrap(), old.unwrap());
        let [slow, fast] = [10.0, 5.0].map(|us| profiled(us, None));
        let (shown, base) = (side("new", &new, &slow), side("old", &old, &fast));
        let graph = flame_graph(&shown, Some(&base)).unwrap();
        let flame = graph.pruned(0.005);
        assert_sums(&flame, &flame.root, &mut Vec::new());
        let f = &flame.root.children[0].children[0].children[0];
        let names: Vec<&str> = f.children.iter().map(|child| child.name.as_str()).collect();
        assert_eq!(names, ["new", "(pruned)"]);
        let narrow = &f.children[1];
        assert!((narrow.total.shown - 0.03).abs() < 1e-12 && narrow.total.base == Some(0.0));
        let [gone] = &flame.gone[..] else { panic!("{:?}", flame.gone) };
        assert_eq!(gone.callers, ["all", "CPU", "client threads", "f"]);
        assert_eq!((gone.node.name.as_str(), gone.node.total.base), ("gone", Some(0.5)));
        assert_eq!(gone.node.children[1].name, "(pruned)");
    }

    #[test]
    fn without_a_limit_nothing_is_pruned() {
        let profile = Profile::parse("worker;client;a`f;a`g 1\nworker;client;a`f;a`h 999\n");
        let profile = profile.unwrap();
        let step = profiled(1.0, None);
        let graph = flame_graph(&side("x", &profile, &step), None).unwrap();
        assert_eq!(graph.pruned(0.0).root, graph.root);
        assert!(graph.pruned(PRUNED_BELOW).gone.is_empty());
    }
}
