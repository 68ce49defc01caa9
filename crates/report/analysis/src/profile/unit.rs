//! Samples by function that both sides have.

use std::collections::{BTreeMap, BTreeSet};

use model::profile::{KERNEL_MODULE, UNKNOWN};
use stats::RunCounts;

use super::flame::KnownFrames;
use super::group::{Group, Scope};
use super::name::FunctionName;
use super::side::ProfiledRun;

/// A group and a name in it.
type Key = (Group, String);
/// A function in a group.
type Place<'a> = (Group, &'a FunctionName);

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

/// The profiles of both sides, and the stacks that count.
#[derive(Debug, Clone, Copy)]
pub(super) struct Profiles<'a> {
    /// Runs of the base and of the variant.
    pub sides: [&'a [ProfiledRun<'a>]; 2],
    /// The stacks that count.
    pub scope: Scope,
    /// Whether places in the kernel are those where it spends its time.
    ///
    /// A timer's interrupt is taken where the kernel allows interrupts again.
    pub is_kernel_resolved: bool,
}

/// Samples of a stack in a run of a side.
#[derive(Debug, Clone, Copy)]
struct Count {
    side: usize,
    run: usize,
    samples: u64,
}

impl Count {
    fn add_to(self, counts: &mut RunCounts) {
        let sum = &mut counts.sides[self.side][self.run];
        *sum = sum.saturating_add(self.samples);
    }
}

impl Units {
    /// Attributes every sample to a function that both sides have.
    ///
    /// A sampled function without a partner counts for its nearest caller with one.
    ///
    /// Source: our choice; moved code has a caller that has not moved.
    pub(super) fn of(profiles: Profiles<'_>) -> Self {
        let kernel = FunctionName::of(KERNEL_MODULE);
        let known = profiles.sides.map(|runs| -> Vec<KnownFrames> {
            runs.iter().map(|run| KnownFrames::of(run.profile)).collect()
        });
        let mut stacks: Vec<(Vec<Place<'_>>, Count)> = Vec::new();
        let mut sides: BTreeMap<Place<'_>, [bool; 2]> = BTreeMap::new();
        for (side, (runs, known)) in profiles.sides.iter().zip(&known).enumerate() {
            for (run, (profiled, known)) in runs.iter().zip(known).enumerate() {
                let all = profiled.profile.stacks().iter();
                for stack in all.filter(|stack| profiles.scope.contains(stack)) {
                    let place = |(group, frame): (Group, &u32)| {
                        let is_one = group == Group::Kernel && !profiles.is_kernel_resolved;
                        (group, if is_one { &kernel } else { &known.names[*frame as usize] })
                    };
                    let places: Vec<_> =
                        known.groups(stack).zip(&stack.frames).map(place).collect();
                    places.iter().for_each(|place| sides.entry(*place).or_default()[side] = true);
                    stacks.push((places, Count { side, run, samples: stack.samples }));
                }
            }
        }
        let totals = RunCounts::zero(profiles.sides.map(<[_]>::len));
        let mut units = Self { totals, ..Self::default() };
        let partners = partners(&sides).into_iter();
        let partners = partners.map(|(place, key)| (place, units.position(key))).collect();
        stacks.iter().for_each(|(places, count)| units.add(places, &partners, *count));
        units
    }

    fn add(&mut self, places: &[Place<'_>], partners: &BTreeMap<Place<'_>, usize>, count: Count) {
        let Some(leaf @ (group, name)) = places.last() else { return };
        let zero = self.zero();
        count.add_to(&mut self.totals);
        count.add_to(self.by_group.entry(*group).or_insert_with(|| zero.clone()));
        let chain = places.iter().filter_map(|place| partners.get(place).copied());
        let mut chain: Vec<usize> = chain.collect();
        let has_partner = partners.contains_key(leaf);
        if !has_partner {
            chain.push(self.climb(places, partners));
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
        if !has_partner && name.exact != unit.name && !is_unknown(name) {
            count.add_to(unit.parts.entry(name.exact.clone()).or_insert(zero));
        }
    }

    /// Returns the function for which a sampled one without a partner counts.
    ///
    /// Engine code that only a client's frame calls stays the engine's.
    fn climb(&mut self, places: &[Place<'_>], partners: &BTreeMap<Place<'_>, usize>) -> usize {
        let mut is_engine = false;
        for place in places.iter().rev() {
            is_engine |= place.0 == Group::Engine;
            if let Some(unit) = partners.get(place) {
                let is_outside = is_engine && place.0 == Group::Client;
                let name = self.units[*unit].name.clone();
                return if is_outside { self.position((Group::Engine, name)) } else { *unit };
            }
        }
        let own = places.last().map(|(group, name)| (*group, name.exact.clone()));
        self.position(own.unwrap_or((Group::Client, UNKNOWN.to_owned())))
    }

    fn zero(&self) -> RunCounts {
        RunCounts::zero(self.totals.sides.each_ref().map(Vec::len))
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

/// Returns whether a function has no name, so that it has no partner.
///
/// The kernel as one function, and the few functions of the vDSO, are alike on both sides.
fn is_unknown(name: &FunctionName) -> bool {
    name.exact.starts_with('[') && ![KERNEL_MODULE, "[vdso]"].contains(&name.exact.as_str())
}

/// Returns the functions that have a partner, with the function that both sides have.
///
/// Names without an equal one on the other side are matched without inner namespaces; those that
/// are left, also without template arguments. The kernel as one function needs no partner.
fn partners<'a>(names: &BTreeMap<Place<'a>, [bool; 2]>) -> Vec<(Place<'a>, Key)> {
    let levels: [fn(&FunctionName) -> &String; 3] =
        [|name| &name.exact, |name| &name.outer, |name| &name.plain];
    let mut found = Vec::new();
    let mut left: Vec<_> = names.iter().filter(|((_, name), _)| !is_unknown(name)).collect();
    for level in levels {
        let mut sides: BTreeMap<(Group, &str), [bool; 2]> = BTreeMap::new();
        for ((group, name), own) in &left {
            let all = sides.entry((*group, level(name))).or_default();
            *all = [all[0] || own[0], all[1] || own[1]];
        }
        left.retain(|(place @ (group, name), _)| {
            let name = level(name);
            let is_partner = sides[&(*group, name.as_str())] == [true; 2] || name == KERNEL_MODULE;
            if is_partner {
                found.push((**place, (*group, name.clone())));
            }
            !is_partner
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use model::Profile;

    use super::*;
    use crate::testing::profiled;

    fn units(base: &str, variant: &str) -> Units {
        let [base, variant] = [base, variant].map(|text| Profile::parse(text).unwrap());
        let step = &profiled(1.0, None);
        let [base, variant] = [&base, &variant].map(|profile| [ProfiledRun { profile, step }]);
        let sides = [&base[..], &variant];
        Units::of(Profiles { sides, scope: Scope::Worker, is_kernel_resolved: false })
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
    fn kernel_and_vdso_are_one_function_each_and_unknown_code_its_callers() {
        let text = "worker;c;assay`go;[kernel]`read;[kernel]`copy 3\n\
                    worker;c;assay`go;[kernel]`other 1\nworker;c;assay`go;x.so.2`[unknown] 2\n\
                    worker;c;x.so`[unknown] 5\nworker;c;assay`go;[vdso]`[unknown] 3\n";
        let found = units(text, text);
        assert_eq!(
            own(&found),
            [
                (Group::Kernel, KERNEL_MODULE, [4, 4], vec![]),
                (Group::Libc, "[vdso]", [3, 3], vec![]),
                (Group::Engine, "go", [2, 2], vec![]),
                (Group::Engine, "[x]", [5, 5], vec![]),
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
