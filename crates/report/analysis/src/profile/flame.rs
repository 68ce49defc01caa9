//! Flame graphs: a tree of callers and callees with the CPU of each, of one variant or two.
//!
//! Source: [Gregg 2011] for the tree, [Gregg 2014] for the difference.

use std::collections::BTreeMap;

use model::profile::UNKNOWN;
use model::{Frame, Profile, ProfileTarget, Stack};
use serde::Serialize;

use super::group::{CLIENT_THREAD, FrameKind, Group, groups, module_stem};
use super::name::FunctionName;
use super::side::Side;

/// Deepest frame of a tree: the costs of deeper frames count for their caller.
///
/// Our choice: twice the deepest stack that the kernel records by default.
const DEPTH_MAX: usize = 254;

/// What a node of the tree stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    /// All CPU, all waiting, or both.
    Whole,
    /// A process or a group of threads.
    Threads,
    /// A function.
    Code(Group),
    /// Time without CPU.
    Waiting,
    /// Nodes that are too narrow to be drawn.
    Pruned,
}

impl NodeKind {
    /// Returns the group of a function; `None` of other nodes.
    pub const fn group(self) -> Option<Group> {
        match self {
            Self::Code(group) => Some(group),
            Self::Whole | Self::Threads | Self::Waiting | Self::Pruned => None,
        }
    }
}

/// Microseconds per operation.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Us {
    /// Cost of the variant that is shown.
    #[serde(rename = "shown_us_per_op")]
    pub shown: f64,
    /// Cost of the base; `None` where the variant is compared with no other.
    #[serde(rename = "base_us_per_op", skip_serializing_if = "Option::is_none")]
    pub base: Option<f64>,
}

impl Us {
    /// Returns the larger of both.
    pub fn larger(self) -> f64 {
        self.base.map_or(self.shown, |base| base.max(self.shown))
    }

    /// Returns what the shown variant takes more, negative where it takes less.
    pub fn difference(self) -> Option<f64> {
        self.base.map(|base| self.shown - base)
    }

    /// Returns whether only the base has a cost.
    pub(super) fn is_gone(self) -> bool {
        self.shown == 0.0 && self.base.is_some_and(|base| base > 0.0)
    }

    pub(super) fn plus(self, other: Self) -> Self {
        let base = self.base.zip(other.base).map(|(one, two)| one + two);
        Self { shown: self.shown + other.shown, base }
    }

    pub(super) const fn zero(is_differential: bool) -> Self {
        Self { shown: 0.0, base: if is_differential { Some(0.0) } else { None } }
    }
}

/// A function with its caller, or a part of the whole.
#[derive(Debug, Clone, PartialEq)]
pub struct FlameNode {
    /// Name in the picture.
    pub name: String,
    /// File that has the function; empty for a node that stands for something else.
    pub module: String,
    /// What it stands for.
    pub kind: NodeKind,
    /// CPU with everything it calls.
    pub total: Us,
    /// CPU of the function itself.
    pub own: Us,
    /// What it calls, by name.
    pub children: Vec<Self>,
}

/// The tree of a variant, or of a variant and its base.
#[derive(Debug, Clone, PartialEq)]
pub struct FlameGraph {
    /// The whole: CPU, and waiting where it is known.
    pub root: FlameNode,
    /// The variant that is shown.
    pub shown: String,
    /// The variant that it is compared with.
    pub base: Option<String>,
}

impl FlameGraph {
    /// Returns the CPU without waiting.
    pub fn cpu(&self) -> Us {
        let is_cpu = |node: &&FlameNode| node.kind == NodeKind::Whole;
        self.root.children.iter().find(is_cpu).unwrap_or(&self.root).total
    }
}

impl FlameNode {
    /// Returns how many nodes there are, with all that it calls.
    pub fn size(&self) -> usize {
        1 + self.children.iter().map(Self::size).sum::<usize>()
    }
}

/// Returns the tree of a variant, compared with `base` if any; `None` where a side has no sample
/// whose CPU is known.
pub fn flame_graph(shown: &Side<'_>, base: Option<&Side<'_>>) -> Option<FlameGraph> {
    let mut root = Branch::default();
    let sides = [Some(shown), base].into_iter().flatten().enumerate();
    if !sides.fold(true, |is_known, (number, side)| grow(&mut root, number, side) && is_known) {
        return None;
    }
    let key = Key { name: "all".to_owned(), kind: NodeKind::Whole };
    let root = root.finished(key, base.is_some());
    let base = base.map(|base| base.name.clone());
    Some(FlameGraph { root, shown: shown.name.clone(), base })
}

/// Identifies a node among the nodes of its caller, in both variants.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    kind: NodeKind,
    name: String,
}

/// A node while samples are added.
#[derive(Default)]
struct Branch {
    module: String,
    /// Costs of the node itself: shown, base.
    own: [f64; 2],
    branches: BTreeMap<Key, Self>,
}

impl Branch {
    fn at(&mut self, name: &str, kind: NodeKind) -> &mut Self {
        self.branches.entry(Key { kind, name: name.to_owned() }).or_default()
    }

    fn finished(self, key: Key, is_differential: bool) -> FlameNode {
        let us = |[shown, base]: [f64; 2]| Us { shown, base: is_differential.then_some(base) };
        let own = us(self.own);
        let branches = self.branches.into_iter();
        let children: Vec<FlameNode> =
            branches.map(|(key, branch)| branch.finished(key, is_differential)).collect();
        let total = children.iter().fold(own, |sum, child| sum.plus(child.total));
        FlameNode { name: key.name, module: self.module, kind: key.kind, total, own, children }
    }
}

/// Adds the samples and waits of a side; returns whether any sample has a known cost.
fn grow(root: &mut Branch, number: usize, side: &Side<'_>) -> bool {
    let mut is_known = false;
    for target in ProfileTarget::ALL {
        let Some(us) = side.us_per_sample(target) else { continue };
        is_known = true;
        let cpu = root.at("CPU", NodeKind::Whole);
        for run in &side.runs {
            let known = KnownFrames::of(run.profile);
            let stacks = run.profile.stacks().iter().filter(|stack| stack.target == target);
            for stack in stacks {
                let leaf = descend(threads(cpu, stack), run.profile, &known, stack);
                leaf.own[number] += us * model::float(stack.samples);
            }
        }
    }
    for wait in side.waits.iter().filter(|wait| wait.us > 0.0) {
        let waiting = root.at("waiting", NodeKind::Waiting);
        waiting.at(&wait.name, NodeKind::Waiting).own[number] += wait.us;
    }
    is_known
}

/// Returns the node of a stack's threads.
fn threads<'a>(cpu: &'a mut Branch, stack: &Stack) -> &'a mut Branch {
    let process = match (stack.target, stack.thread.as_str()) {
        (ProfileTarget::Worker, CLIENT_THREAD) => {
            return cpu.at("client threads", NodeKind::Threads);
        }
        (ProfileTarget::Worker, _) => "other threads of the worker",
        (ProfileTarget::Server, _) => "server",
    };
    cpu.at(process, NodeKind::Threads).at(&stack.thread, NodeKind::Threads)
}

/// Returns the node of a stack's last frame.
fn descend<'a>(
    mut node: &'a mut Branch,
    profile: &Profile,
    known: &KnownFrames,
    stack: &Stack,
) -> &'a mut Branch {
    let frames = stack.frames.iter().zip(known.groups(stack));
    for (frame, group) in frames.take(DEPTH_MAX) {
        node = node.at(&known.names[*frame as usize].exact, NodeKind::Code(group));
        if node.module.is_empty() {
            node.module.clone_from(&profile.frame(*frame).module);
        }
    }
    node
}

/// The frames of a profile: their normalised names, and how they are grouped.
pub struct KnownFrames {
    pub(super) names: Vec<FunctionName>,
    kinds: Vec<FrameKind>,
}

impl KnownFrames {
    /// Classifies the frames of a profile.
    pub fn of(profile: &Profile) -> Self {
        let name = |frame: &Frame| match frame.function == UNKNOWN && frame.module != UNKNOWN {
            // A function without a name is named after its file.
            true => FunctionName::of(&format!(
                "[{}]",
                module_stem(&frame.module).trim_matches(['[', ']'])
            )),
            false => FunctionName::of(&frame.function),
        };
        let names: Vec<FunctionName> = profile.frames().iter().map(name).collect();
        let known = profile.frames().iter().zip(&names);
        let kinds = known.map(|(frame, name)| FrameKind::of(frame, &name.exact)).collect();
        Self { names, kinds }
    }

    /// Returns the group of each frame of a stack of the profile, from the root.
    ///
    /// # Panics
    /// Where the stack is of another profile.
    pub fn groups(&self, stack: &Stack) -> impl Iterator<Item = Group> {
        let kinds = stack.frames.iter().map(|frame| self.kinds[*frame as usize]);
        groups(stack.target, kinds)
    }
}

#[cfg(test)]
mod tests {
    use model::Profile;

    use model::StepRecord;

    use super::super::side::ProfiledRun;
    use super::*;
    use crate::explain::Wait;
    use crate::testing::profiled;

    const fn run<'a>(profile: &'a Profile, step: &'a StepRecord) -> ProfiledRun<'a> {
        ProfiledRun { profile, step }
    }

    fn side<'a>(name: &str, runs: Vec<ProfiledRun<'a>>, waits: &[(&str, f64)]) -> Side<'a> {
        let wait = |(name, us): &(&str, f64)| Wait { name: (*name).to_owned(), us: *us };
        Side { name: name.to_owned(), runs, waits: waits.iter().map(wait).collect() }
    }

    fn lines(node: &FlameNode, depth: usize, out: &mut Vec<String>) {
        let base = node.total.base.map(|base| format!(" {base}")).unwrap_or_default();
        out.push(format!("{}{} {}{base}", " ".repeat(depth), node.name, node.total.shown));
        node.children.iter().for_each(|child| lines(child, depth + 1, out));
    }

    fn written(graph: &FlameGraph) -> String {
        let mut out = Vec::new();
        lines(&graph.root, 0, &mut out);
        out.join("\n")
    }

    #[test]
    fn costs_are_shares_of_the_measured_cpu_and_add_up() {
        let one = Profile::parse("worker;client;a`run;a`get 3\nworker;rocksdb:low;l`compact 1\n");
        let two = Profile::parse("worker;client;a`run 12\nserver;postgres;postgres`main 4\n");
        let (one, two) = (one.unwrap(), two.unwrap());
        // The mean CPU, 8 us, over 16 samples.
        let steps = [profiled(6.0, None), profiled(10.0, Some(2.0))];
        let runs = vec![run(&one, &steps[0]), run(&two, &steps[1])];
        let waits = [("waiting for storage", 1.5), ("nothing", 0.0)];
        let graph = flame_graph(&side("x", runs, &waits), None).unwrap();
        assert_eq!(
            written(&graph),
            "all 11.5\n CPU 10\n  client threads 7.5\n   run 7.5\n    get 1.5\n  \
             other threads of the worker 0.5\n   rocksdb:low 0.5\n    compact 0.5\n  server 2\n   \
             postgres 2\n    main 2\n waiting 1.5\n  waiting for storage 1.5"
        );
        let client = &graph.root.children[0].children[0].children[0];
        assert_eq!((client.own.shown, client.module.as_str()), (6.0, "a"));
    }

    #[test]
    fn two_variants_share_functions_whose_files_differ_in_version() {
        let new =
            "worker;client;lib.so.11`Get;lib.so.11`[unknown] 1\nworker;client;[kernel]`read 1";
        let new = Profile::parse(new).unwrap();
        let old = Profile::parse("worker;client;lib.so.9`Get;lib.so.9`[unknown] 4\n").unwrap();
        let [slow, fast] = [8.0, 6.0].map(|us| profiled(us, None));
        let old = side("old", vec![run(&old, &slow)], &[]);
        let graph = flame_graph(&side("new", vec![run(&new, &fast)], &[]), Some(&old));
        let graph = graph.unwrap();
        assert_eq!(
            written(&graph),
            "all 6 8\n CPU 6 8\n  client threads 6 8\n   Get 3 8\n    [lib] 3 8\n   read 3 0"
        );
        assert_eq!((graph.shown.as_str(), graph.base.as_deref()), ("new", Some("old")));
    }

    #[test]
    fn a_side_without_known_cpu_has_no_graph() {
        let profile = Profile::parse("worker;client;a`b 1\n").unwrap();
        let (nothing, step) = (StepRecord::default(), profiled(2.0, None));
        let unknown = run(&profile, &nothing);
        assert_eq!(flame_graph(&side("x", vec![unknown], &[]), None), None);
        assert_eq!(flame_graph(&side("x", vec![], &[("storage", 1.0)]), None), None);
        let known = side("x", vec![run(&profile, &step)], &[]);
        assert_eq!(flame_graph(&known, Some(&side("y", vec![unknown], &[]))), None);
    }

    #[test]
    fn costs_of_frames_beyond_the_deepest_are_their_callers() {
        let text = format!("worker;client{} 2\n", ";a`f".repeat(100_000));
        let profile = Profile::parse(&text).unwrap();
        let step = profiled(2.0, None);
        let graph = flame_graph(&side("x", vec![run(&profile, &step)], &[]), None).unwrap();
        assert_eq!(written(&graph).lines().count(), DEPTH_MAX + 3);
        assert!(written(&graph).starts_with("all 2\n"));
    }
}
