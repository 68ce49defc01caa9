//! Declared differences of two variants, and those in force.

use std::collections::BTreeSet;

use model::{Options, RunRecord, Settings, Variant};
use serde::Serialize;

use super::identity::Pair;

/// Kind of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// The engine or its version: everything may differ inside.
    Build,
    /// One of the engine's own options; those of two engines are not compared.
    Option,
    /// A setting that means the same for every engine.
    Setting,
}

/// One thing that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// What kind of thing.
    pub kind: ChangeKind,
    /// Its name.
    pub name: String,
    /// The base's value; `None` when not set.
    pub base: Option<String>,
    /// The variant's value.
    pub variant: Option<String>,
}

/// Differences of two variants.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Declared {
    /// Differences in the experiment.
    pub changes: Vec<Change>,
    /// Undeclared differences among options read back from one engine.
    pub in_force: Vec<Change>,
    /// Whether one is a control of the other.
    pub is_control: bool,
}

impl Declared {
    /// Returns the only difference, unless it is the build.
    pub fn intervention(&self) -> Option<&Change> {
        match &self.changes[..] {
            [only] if only.kind != ChangeKind::Build => Some(only),
            _ => None,
        }
    }
}

/// Returns the differences of two variants; a run of each has the options in force.
pub(super) fn declared(
    Pair { base, variant }: Pair<&Variant>,
    first_runs: Pair<&RunRecord>,
) -> Declared {
    let builds = (base.build.to_string(), variant.build.to_string());
    let is_one_engine = base.build.engine == variant.build.engine;
    let mut changes = Vec::new();
    if builds.0 != builds.1 {
        changes.push(Change {
            kind: ChangeKind::Build,
            name: if is_one_engine { "build" } else { "engine" }.to_owned(),
            base: Some(builds.0),
            variant: Some(builds.1),
        });
    }
    // Options of two engines are not comparable.
    if is_one_engine {
        changes.extend(options(&base.options, &variant.options));
    }
    changes.extend(settings(&base.settings, &variant.settings));
    let mut in_force =
        options(&first_runs.base.effective_options, &first_runs.variant.effective_options);
    in_force.retain(|change| {
        // An option that only one release reports is no difference in force.
        let is_known = change.base.is_some() && change.variant.is_some();
        let is_other = changes.iter().all(|declared| declared.name != change.name);
        is_one_engine && is_known && is_other
    });
    Declared { changes, in_force, is_control: base.is_control || variant.is_control }
}

fn options(base: &Options, variant: &Options) -> Vec<Change> {
    let names: BTreeSet<&str> = base.iter().chain(variant.iter()).map(|(name, _)| name).collect();
    let of = |options: &Options, name: &str| options.get(name).map(str::to_owned);
    let pair = |name| (name, of(base, name), of(variant, name));
    differing(ChangeKind::Option, names.into_iter().map(pair))
}

fn settings(base: &Settings, variant: &Settings) -> Vec<Change> {
    let pairs = base.labels().into_iter().zip(variant.labels());
    let pairs = pairs.map(|((name, base), (_, variant))| (name, base, variant));
    differing(ChangeKind::Setting, pairs)
}

/// Returns the named values of base and variant that differ.
fn differing<'a>(
    kind: ChangeKind,
    pairs: impl Iterator<Item = (&'a str, Option<String>, Option<String>)>,
) -> Vec<Change> {
    let differ = pairs.filter(|(_, base, variant)| base != variant);
    differ
        .map(|(name, base, variant)| Change { kind, name: name.to_owned(), base, variant })
        .collect()
}
