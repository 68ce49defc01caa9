//! Samples by function that both sides have.

use std::collections::{BTreeMap, BTreeSet};

use model::profile::{Frame, KERNEL_MODULE, Profile, UNKNOWN};
use stats::RunCounts;

use super::group::{FrameKind, Group, Scope, groups, module_stem};
use super::name::FunctionName;

/// A group and a name in it.
type Key = (Group, String);
/// The stacks of a run, as positions of names, and their samples.
type Run = Vec<(Vec<usize>, u64)>;

/// A function whose samples are tested.
#[derive(Debug)]
pub(super) struct Unit {
    /// Its group.
    pub group: Group,
    /// Its name.
    pub name: String,
    /// Samples in the function, and in what only one side has below it.
    pub own: RunCounts,
    /// Samples of stacks with the function.
    pub inclusive: RunCounts,
    /// Functions without a partner that count for it.
    pub parts: BTreeMap<String, RunCounts>,
    /// Positions of its callers.
    pub callers: BTreeSet<usize>,
}

/// The functions of two sides.
#[derive(Debug, Default)]
pub(super) struct Units {
    /// The functions.
    pub units: Vec<Unit>,
    /// Samples of each run.
    pub totals: RunCounts,
    /// Samples of each group, by the sampled function itself.
    pub by_group: BTreeMap<Group, RunCounts>,
    positions: BTreeMap<Key, usize>,
}

/// The profiles of both sides, and what of them counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Profiles<'a> {
    /// Profiles of the base's runs.
    pub base: &'a [&'a Profile],
    /// Profiles of the variant's runs.
    pub variant: &'a [&'a Profile],
    /// The stacks that count.
    pub scope: Scope,
    /// Whether places in the kernel are those where it spends its time.
    ///
    /// A timer's interrupt is taken where the kernel allows interrupts again.
    pub is_kernel_resolved: bool,
}

/// Samples of a stack in a run.
#[derive(Debug, Clone, Copy)]
struct Count {
    is_variant: bool,
    run: usize,
    samples: u64,
}

impl Count {
    fn add_to(self, counts: &mut RunCounts) {
        let side = if self.is_variant { &mut counts.variant } else { &mut counts.base };
        side[self.run] = side[self.run].saturating_add(self.samples);
    }
}

/// A function in a group, and the sides that have it.
#[derive(Debug)]
struct Named {
    group: Group,
    name: FunctionName,
    sides: [bool; 2],
    /// Position of the function that both sides have, if any.
    unit: Option<usize>,
}

impl Units {
    /// Attributes every sample to a function that both sides have.
    ///
    /// A sampled function without a partner counts for its nearest caller with one.
    ///
    /// Source: our choice; moved code has a caller that has not moved.
    pub(super) fn of(profiles: Profiles<'_>) -> Self {
        let Profiles { base, variant, .. } = profiles;
        let mut names = Names::default();
        let sides = [(false, base), (true, variant)].map(|(is_variant, side)| -> Vec<Run> {
            side.iter().map(|profile| names.read(profile, profiles, is_variant)).collect()
        });
        let mut names = names.all;
        let totals = RunCounts::zero(base.len(), variant.len());
        let mut units = Self { totals, ..Self::default() };
        for (id, key) in partners(&names) {
            names[id].unit = Some(units.position(key));
        }
        for (is_variant, side) in [false, true].into_iter().zip(sides) {
            for (run, stacks) in side.into_iter().enumerate() {
                for (places, samples) in stacks {
                    let places: Vec<&Named> = places.into_iter().map(|id| &names[id]).collect();
                    units.add(&places, Count { is_variant, run, samples });
                }
            }
        }
        units
    }

    fn add(&mut self, places: &[&Named], count: Count) {
        let Some(leaf) = places.last() else { return };
        let zero = self.zero();
        count.add_to(&mut self.totals);
        count.add_to(self.by_group.entry(leaf.group).or_insert_with(|| zero.clone()));
        let mut chain: Vec<usize> = places.iter().filter_map(|place| place.unit).collect();
        if leaf.unit.is_none() {
            let unit = self.climb(places);
            chain.push(unit);
        }
        chain.dedup();
        for pair in chain.windows(2) {
            self.units[pair[1]].callers.insert(pair[0]);
        }
        for unit in chain.iter().collect::<BTreeSet<&usize>>() {
            count.add_to(&mut self.units[*unit].inclusive);
        }
        let Some(unit) = chain.last().map(|unit| &mut self.units[*unit]) else { return };
        count.add_to(&mut unit.own);
        if leaf.unit.is_none() && leaf.name.exact != unit.name && !is_unknown(&leaf.name) {
            count.add_to(unit.parts.entry(leaf.name.exact.clone()).or_insert(zero));
        }
    }

    /// Returns the function for which a sampled one without a partner counts.
    ///
    /// Engine code that only a client's frame calls stays the engine's.
    fn climb(&mut self, places: &[&Named]) -> usize {
        let mut is_engine = false;
        for place in places.iter().rev() {
            is_engine |= place.group == Group::Engine;
            if let Some(unit) = place.unit {
                let is_outside = is_engine && place.group == Group::Client;
                let name = self.units[unit].name.clone();
                return if is_outside { self.position((Group::Engine, name)) } else { unit };
            }
        }
        let own = places.last().map(|leaf| (leaf.group, leaf.name.exact.clone()));
        self.position(own.unwrap_or((Group::Client, UNKNOWN.to_owned())))
    }

    fn zero(&self) -> RunCounts {
        RunCounts::zero(self.totals.base.len(), self.totals.variant.len())
    }

    fn position(&mut self, key: Key) -> usize {
        let zero = self.zero();
        *self.positions.entry(key).or_insert_with_key(|(group, name)| {
            self.units.push(Unit {
                group: *group,
                name: name.clone(),
                own: zero.clone(),
                inclusive: zero,
                parts: BTreeMap::new(),
                callers: BTreeSet::new(),
            });
            self.units.len() - 1
        })
    }
}

/// The distinct functions of both sides.
#[derive(Default)]
struct Names {
    all: Vec<Named>,
    positions: BTreeMap<(Group, FunctionName), usize>,
}

impl Names {
    fn read(&mut self, profile: &Profile, of: Profiles<'_>, is_variant: bool) -> Run {
        let known: Vec<_> = profile.frames().iter().map(classify).collect();
        let mut ids = BTreeMap::new();
        let mut run = Vec::new();
        for stack in profile.stacks().iter().filter(|stack| of.scope.contains(stack)) {
            let frames = || stack.frames.iter().map(|frame| *frame as usize);
            let groups = groups(stack.target, frames().map(|frame| known[frame].0));
            let place = |(group, frame): (Group, usize)| {
                let is_one = group == Group::Kernel && !of.is_kernel_resolved;
                let kernel = || FunctionName::of(KERNEL_MODULE);
                let name = || if is_one { kernel() } else { known[frame].1.clone() };
                *ids.entry((group, frame)).or_insert_with(|| self.position(group, name()))
            };
            run.push((groups.zip(frames()).map(place).collect(), stack.samples));
        }
        for id in ids.into_values() {
            self.all[id].sides[usize::from(is_variant)] = true;
        }
        run
    }

    fn position(&mut self, group: Group, name: FunctionName) -> usize {
        *self.positions.entry((group, name)).or_insert_with_key(|(group, name)| {
            let (group, name) = (*group, name.clone());
            self.all.push(Named { group, name, sides: [false; 2], unit: None });
            self.all.len() - 1
        })
    }
}

/// Returns a frame's kind and names.
fn classify(frame: &Frame) -> (FrameKind, FunctionName) {
    let name = if frame.function == UNKNOWN {
        FunctionName::of(&format!("{UNKNOWN} in {}", module_stem(&frame.module)))
    } else {
        FunctionName::of(&frame.function)
    };
    (FrameKind::of(frame, &name.exact), name)
}

/// Returns whether a function has no name, so that it has no partner.
fn is_unknown(name: &FunctionName) -> bool {
    name.exact.starts_with(UNKNOWN)
}

/// Returns the names that have a partner, with the function that both sides have.
///
/// Names without an equal one on the other side are matched without inner namespaces; those that
/// are left, also without template arguments. The kernel as one function needs no partner.
fn partners(names: &[Named]) -> Vec<(usize, Key)> {
    let levels: [fn(&FunctionName) -> &String; 3] =
        [|name| &name.exact, |name| &name.outer, |name| &name.plain];
    let mut found = Vec::new();
    let mut left: Vec<usize> =
        (0..names.len()).filter(|id| !is_unknown(&names[*id].name)).collect();
    for level in levels {
        let mut sides: BTreeMap<(Group, &str), [bool; 2]> = BTreeMap::new();
        let key = |id: &usize| (names[*id].group, level(&names[*id].name).as_str());
        for id in &left {
            let found = sides.entry(key(id)).or_default();
            let own = names[*id].sides;
            *found = [found[0] || own[0], found[1] || own[1]];
        }
        left.retain(|id| {
            let (group, name) = key(id);
            let is_partner = sides.get(&(group, name)) == Some(&[true; 2]) || name == KERNEL_MODULE;
            if is_partner {
                found.push((*id, (group, name.to_owned())));
            }
            !is_partner
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(base: &str, variant: &str) -> Units {
        let [base, variant] = [base, variant].map(|text| Profile::parse(text).unwrap());
        let (base, variant) = (&[&base], &[&variant]);
        Units::of(Profiles { base, variant, scope: Scope::Worker, is_kernel_resolved: false })
    }

    /// Each function with own samples, and its parts.
    fn own(units: &Units) -> Vec<(Group, &str, [u64; 2], Vec<&str>)> {
        let sampled = units.units.iter().filter(|unit| unit.own.sums() != [0, 0]);
        sampled
            .map(|unit| {
                let parts = unit.parts.keys().map(String::as_str).collect();
                (unit.group, unit.name.as_str(), unit.own.sums(), parts)
            })
            .collect()
    }

    #[test]
    fn functions_without_a_partner_count_for_their_nearest_common_caller() {
        let found = units(
            "worker;c;assay`go;lib.so`Get;lib.so`BinarySeek 7\nworker;c;assay`go;lib.so`Get 2\n",
            "worker;c;assay`go;lib.so`Get;lib.so`SeekRestart;lib.so`Inner 6\n\
             worker;c;assay`go;lib.so`Get;lib.so`[unknown] 1\n\
             worker;c;assay`go;lib.so`Get 3\nworker;c;assay`go;lib.so`MultiGet 4\n",
        );
        assert_eq!(
            own(&found),
            [
                (Group::Engine, "Get", [9, 10], vec!["BinarySeek", "Inner"]),
                (Group::Engine, "go", [0, 4], vec!["MultiGet"]),
            ]
        );
        let get = found.units.iter().position(|unit| unit.name == "Get").unwrap();
        assert_eq!(found.units[get].inclusive.sums(), [9, 10]);
        let go = found.units.iter().position(|unit| unit.name == "go").unwrap();
        assert_eq!(
            (found.units[go].group, found.units[go].inclusive.sums()),
            (Group::Client, [9, 14])
        );
        assert_eq!(found.units[get].callers, BTreeSet::from([go]));
        assert_eq!(
            (found.totals.sums(), found.by_group[&Group::Engine].sums()),
            ([9, 14], [9, 14])
        );
    }

    #[test]
    fn names_match_exactly_then_without_namespaces_then_without_templates() {
        let found = units(
            "worker;c;r.so`r::Table::Find 3\nworker;c;r.so`P<A> 2\nworker;c;r.so`Q<A> 1\n\
             worker;c;r.so`Q<B> 1\n",
            "worker;c;r.so`r::lru_cache::Table::Find.cold 4\nworker;c;r.so`P<A,false> 5\n\
             worker;c;r.so`P<A,true> 1\nworker;c;r.so`Q<A> 1\nworker;c;r.so`Q<C> 1\n",
        );
        let mut all = own(&found);
        all.sort();
        assert_eq!(
            all,
            [
                (Group::Engine, "P", [2, 6], vec![]),
                (Group::Engine, "Q", [1, 1], vec![]),
                (Group::Engine, "Q<A>", [1, 1], vec![]),
                (Group::Engine, "r::Table::Find", [3, 4], vec![]),
            ]
        );
    }

    #[test]
    fn kernel_is_one_function_and_unknown_code_its_callers() {
        let text = "worker;c;assay`go;[kernel]`read;[kernel]`copy 3\n\
                    worker;c;assay`go;[kernel]`other 1\nworker;c;assay`go;x.so.2`[unknown] 2\n\
                    worker;c;x.so`[unknown] 5\n";
        let found = units(text, text);
        assert_eq!(
            own(&found),
            [
                (Group::Kernel, KERNEL_MODULE, [4, 4], vec![]),
                (Group::Engine, "go", [2, 2], vec![]),
                (Group::Engine, "[unknown] in x", [5, 5], vec![]),
            ]
        );
        assert_eq!(found.units[1].group, Group::Kernel);
    }

    #[test]
    fn recursive_functions_count_once() {
        let text = "worker;c;a`f;a`g;a`f 3\n";
        let found = units(text, text);
        assert_eq!(found.units.iter().map(|u| u.inclusive.sums()).collect::<Vec<_>>(), [[3, 3]; 2]);
        assert_eq!(own(&found), [(Group::Client, "f", [3, 3], vec![])]);
    }
}
