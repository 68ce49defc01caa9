//! Experiments typed on the command line: steps and engines.

use std::collections::BTreeMap;

use model::StepRole;
use toml::Spanned;

use crate::catalog::{Catalog, Machine};
use crate::check::check;
use crate::checked::Checked;
use crate::error::{PlanError, Source};
use crate::overrides::{Overrides, QuickVariant};
use crate::preset::PRESETS;
use crate::spec::{self, BenchmarkTable, File, OptionTable, StepEntry, Text, VariantTable};

/// Checks an experiment typed on the command line: steps and engines.
///
/// When the first step needs rows, `filluniquerandom` fills the engine first. The steps of an
/// application are preceded by those they need.
///
/// # Errors
/// The first error, with the remedy.
pub fn quick(
    steps: &[String],
    variants: &[QuickVariant],
    overrides: &Overrides,
    catalog: &dyn Catalog,
    machine: Machine,
) -> Result<Checked, PlanError> {
    let known = catalog.steps();
    let first = steps.first().and_then(|name| known.iter().find(|info| info.name == **name));
    let mut names = steps.to_vec();
    let is_of_keys =
        overrides.workload.as_ref().is_none_or(|name| PRESETS.iter().any(|p| p.name == *name));
    if is_of_keys && first.is_some_and(|info| info.role != StepRole::Load) {
        names.insert(0, "filluniquerandom".to_owned());
    }
    let spanned = |name: &String| Spanned::new(0..0, StepEntry::Word(name.clone()));
    let file = File {
        experiment: spec::ExperimentTable {
            name: Spanned::new(0..0, format!("quick-{}", steps.join("-"))),
            question: format!("How do the engines compare on {}?", steps.join(", ")),
            base: None,
            seed: None,
            margin: None,
            control: None,
        },
        benchmark: BenchmarkTable {
            steps: Some(names.iter().map(spanned).collect()),
            ..BenchmarkTable::default()
        },
        factors: spec::FactorsTable::default(),
        variant: name_variants(variants),
        waive: Vec::new(),
        published: Vec::new(),
    };
    check(&Source::default(), file, overrides, catalog, machine)
}

/// Names variants after engine, version and profile; duplicates are numbered.
fn name_variants(variants: &[QuickVariant]) -> Vec<VariantTable> {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    let mut table = |variant: &QuickVariant| {
        let mut name = variant.build.to_string().replace('@', "-");
        if let Some(profile) = &variant.profile {
            let own = profile.strip_prefix(&format!("{}-", variant.build.engine));
            name = format!("{name}-{}", own.unwrap_or(profile));
        }
        let twin = counts.entry(name.clone()).or_insert(0);
        *twin += 1;
        if *twin > 1 {
            name = format!("{name}-{twin}");
        }
        let option = |(name, value): (&str, &str)| {
            (Spanned::new(0..0, name.to_owned()), Text(value.to_owned()))
        };
        VariantTable {
            name: Spanned::new(0..0, name),
            engine: Spanned::new(0..0, variant.build.clone()),
            dsn: None,
            profile: variant.profile.clone().map(|profile| Spanned::new(0..0, profile)),
            durability: None,
            cache: None,
            direct_io: None,
            compression: None,
            background_jobs: None,
            allocator: None,
            options: OptionTable(variant.options.iter().map(option).collect()),
        }
    };
    variants.iter().map(&mut table).collect()
}

#[cfg(test)]
mod tests {
    use model::Options;

    use super::*;
    use crate::sample::{MACHINE, TestCatalog};

    fn typed(build: &str, profile: Option<&str>) -> QuickVariant {
        QuickVariant {
            build: build.parse().expect("a build"),
            profile: profile.map(str::to_owned),
            options: Options::new(),
        }
    }

    #[test]
    fn typed_variants_are_named_after_build_and_profile_and_duplicates_are_numbered() {
        let variants = [
            typed("log@9.1", Some("log-wide")),
            typed("log@9.1", None),
            typed("tree", None),
            typed("tree", None),
        ];
        let names: Vec<_> =
            name_variants(&variants).into_iter().map(|table| table.name.into_inner()).collect();
        assert_eq!(names, ["log-9.1-wide", "log-9.1", "tree", "tree-2"]);
    }

    #[test]
    fn typed_steps_that_need_rows_are_filled_first() {
        let known = TestCatalog::default();
        let overrides = Overrides { rows: Some("1k".to_owned()), ..Overrides::default() };
        let plan = |steps: &[&str]| {
            let steps: Vec<_> = steps.iter().map(|step| (*step).to_owned()).collect();
            let checked = quick(&steps, &[typed("tree", None)], &overrides, &known, MACHINE);
            checked.map(|checked| checked.experiment)
        };
        let filled = plan(&["fillseq", "readrandom"]).unwrap();
        assert_eq!((filled.name.as_str(), filled.steps.len()), ("quick-fillseq-readrandom", 2));
        // This test's catalog lacks filluniquerandom: that it is requested is what is tested.
        let refused = plan(&["readrandom"]).unwrap_err().to_string();
        assert_eq!(refused, "unknown step `filluniquerandom`");
    }
}
