//! Checks an experiment file and resolves its defaults.

use std::collections::BTreeMap;
use std::ops::Range;

use model::units::{parse_count, parse_size};
use model::{DataShape, Experiment, Options, Settings, Variant};
use toml::Spanned;

use crate::catalog::{Catalog, Machine};
use crate::checked::{Checked, SETTINGS};
use crate::error::{PlanError, Source};
use crate::nearest::nearest;
use crate::overrides::{Overrides, apply};
use crate::preset::{Derived, Preset};
use crate::profile;
use crate::published::{AsWritten, FindingContext};
use crate::resolve::Resolver;
use crate::spec::{self, BenchmarkTable, File, VariantTable};
use crate::workload::{self, Workload};

/// Default seed; its value does not matter, only that it is recorded.
const SEED_DEFAULT: u64 = 1;
/// Bytes of a key. Source: benchmark.sh, `key_size`.
const KEY_BYTES_DEFAULT: u32 = 20;
/// Bytes of a value. Source: benchmark.sh, `value_size`.
const VALUE_BYTES_DEFAULT: u32 = 400;
/// Compressibility of values. Source: db_bench, `compression_ratio`.
const COMPRESSIBLE_TO_DEFAULT: f64 = 0.5;
/// Largest value: bounds the client's buffers.
const VALUE_BYTES_MAX: u32 = 1 << 20;

/// Reads and checks an experiment file.
///
/// # Errors
/// The first error, with its line and the remedy.
pub fn load(
    name: &str,
    text: &str,
    overrides: &Overrides,
    catalog: &dyn Catalog,
    machine: Machine,
) -> Result<Checked, PlanError> {
    let source = Source { name: name.to_owned(), text: text.to_owned() };
    check(&source, spec::parse(&source)?, overrides, catalog, machine)
}

/// Checks a parsed file, or one built from the command line.
pub(crate) fn check(
    source: &Source,
    file: File,
    overrides: &Overrides,
    catalog: &dyn Catalog,
    machine: Machine,
) -> Result<Checked, PlanError> {
    let mut file = file;
    let written = AsWritten::of(&file, overrides);
    apply(&mut file, overrides);
    let resolver = Resolver { source, catalog, application: None };
    let workload = resolver.workload(&file.benchmark)?;
    let application = resolver.application_of(workload.as_ref(), &file.benchmark)?;
    let resolver = Resolver { application: application.as_ref(), ..resolver };
    Checker { resolver, machine }.check(file, workload.as_ref(), &written)
}

/// Shared context of the checks of one file.
struct Checker<'a> {
    resolver: Resolver<'a>,
    machine: Machine,
}

impl Checker<'_> {
    fn check(
        &self,
        file: File,
        workload: Option<&Workload>,
        written: &AsWritten,
    ) -> Result<Checked, PlanError> {
        let preset = match workload {
            Some(Workload::Preset(preset)) => Some(*preset),
            Some(Workload::Application(_)) | None => None,
        };
        let memory_bytes = self.resolver.quantity(file.benchmark.memory.as_ref(), parse_size)?;
        let machine = Machine {
            memory_bytes: memory_bytes.unwrap_or(self.machine.memory_bytes),
            ..self.machine
        };
        let (data, derived) = self.data(&file.benchmark, preset, machine)?;
        let factor = self.resolver.clients_factor(file.factors.clients.as_ref(), self.machine)?;
        let (steps, loads) = self.resolver.steps(&file.benchmark, &data, &factor)?;
        let (mut variants, mut option_places) = self.variants(&file, preset, derived.as_ref())?;
        let base = self.base(file.experiment.base.as_ref(), &variants)?;
        let mut places: BTreeMap<_, _> =
            file.variant.iter().map(|v| (v.name.get_ref().clone(), v.name.span())).collect();
        if file.experiment.control == Some(true) {
            let control = self.resolver.add_control(&mut variants, &base, &places)?;
            let inherited: Vec<_> = option_places
                .iter()
                .filter(|((variant, _), _)| *variant == base)
                .map(|((_, word), place)| ((control.clone(), word.clone()), place.clone()))
                .collect();
            option_places.extend(inherited);
            places.extend(places.get(&base).cloned().map(|place| (control, place)));
        }
        let context =
            FindingContext { written, variants: &variants, steps: &steps, levels: &factor.levels };
        let published = self.resolver.published(&file.published, &context)?;
        let experiment = Experiment {
            application: self.resolver.application.map(|loaded| loaded.application.clone()),
            placement: self.resolver.placement(&file.benchmark, &file.variant)?,
            name: self.file_name(&file.experiment.name, "the experiment's name")?,
            margin: self.resolver.margin(file.experiment.margin.as_ref())?,
            waivers: self.resolver.waivers(&file.waive)?,
            question: file.experiment.question,
            base,
            workload: preset.map(|preset| preset.name.to_owned()),
            data,
            memory_bytes,
            seed: file.experiment.seed.unwrap_or(SEED_DEFAULT),
            clients: factor.levels,
            repetitions: match &file.factors.repetitions {
                Some(n) => self.resolver.positive(*n.get_ref(), "repetitions", n.span())?,
                None => 1,
            },
            steps,
            published,
            variants,
        };
        Ok(Checked {
            experiment,
            source: self.resolver.source.clone(),
            option_places,
            variants: places,
            loads,
            clients: factor.place,
        })
    }

    fn data(
        &self,
        benchmark: &BenchmarkTable,
        preset: Option<&Preset>,
        machine: Machine,
    ) -> Result<(DataShape, Option<Derived>), PlanError> {
        if let Some(loaded) = self.resolver.application {
            return Ok((workload::shape(loaded), None));
        }
        let source = self.resolver.source;
        let place = |spanned: &Option<Spanned<u32>>| spanned.as_ref().map_or(0..0, Spanned::span);
        let number = |spanned: &Option<Spanned<u32>>| spanned.as_ref().map(|n| *n.get_ref());
        let key_bytes = number(&benchmark.key_bytes).unwrap_or(KEY_BYTES_DEFAULT);
        if key_bytes < 8 {
            return Err(PlanError::new(format!(
                "keys of {key_bytes} bytes cannot hold a row number"
            ))
            .at(source, place(&benchmark.key_bytes), "at least 8"));
        }
        let value_bytes = number(&benchmark.value_bytes).unwrap_or(VALUE_BYTES_DEFAULT);
        if value_bytes > VALUE_BYTES_MAX {
            return Err(PlanError::new(format!("values of {value_bytes} bytes are too large")).at(
                source,
                place(&benchmark.value_bytes),
                format!("at most {VALUE_BYTES_MAX}"),
            ));
        }
        let compressible_to =
            benchmark.compressible_to.as_ref().map_or(COMPRESSIBLE_TO_DEFAULT, |c| *c.get_ref());
        if !(0.01..=1.0).contains(&compressible_to) {
            let at = benchmark.compressible_to.as_ref().map_or(0..0, Spanned::span);
            return Err(PlanError::new("compressible_to is a share of a value's size").at(
                source,
                at,
                "between 0.01 and 1",
            ));
        }
        let mut data = DataShape { rows: 0, key_bytes, value_bytes, compressible_to };
        let compression = benchmark.compression.as_ref().map(|text| text.get_ref().as_str());
        let derived = preset.map(|preset| preset.derive(machine, &data, compression));
        let rows = self.resolver.quantity(benchmark.rows.as_ref(), parse_count)?;
        let at = benchmark.rows.as_ref().map_or(0..0, Spanned::span);
        data.rows = match (rows, &derived) {
            (Some(rows), _) => self.resolver.positive(rows, "the number of rows", at)?,
            (None, Some(derived)) => derived.rows,
            (None, None) => {
                return Err(PlanError::new("the number of rows is missing").remedy(
                    "give `rows` in [benchmark] (or --rows), or a `workload` preset that derives \
                     them from the machine",
                ));
            }
        };
        Ok((data, derived))
    }

    #[expect(clippy::type_complexity, reason = "a pair of plain collections, used once")]
    fn variants(
        &self,
        file: &File,
        preset: Option<&Preset>,
        derived: Option<&Derived>,
    ) -> Result<(Vec<Variant>, BTreeMap<(String, String), Range<usize>>), PlanError> {
        let mut variants: Vec<Variant> = Vec::new();
        let mut places = BTreeMap::new();
        for table in &file.variant {
            let variant = self.variant(table, &file.benchmark, preset, derived)?;
            if variants.iter().any(|other| other.name == variant.name) {
                return Err(PlanError::new(format!("two variants are named `{}`", variant.name))
                    .at(self.resolver.source, table.name.span(), "the second"));
            }
            for (name, place) in settings_places(table, &file.benchmark) {
                places.insert((variant.name.clone(), name.to_owned()), place);
            }
            for (name, _) in &table.options.0 {
                places.insert((variant.name.clone(), name.get_ref().clone()), name.span());
            }
            variants.push(variant);
        }
        if variants.is_empty() {
            return Err(PlanError::new("nothing to compare: the experiment has no variant")
                .remedy("add a [[variant]] with `name` and `engine` (or --engine NAME@VERSION)"));
        }
        Ok((variants, places))
    }

    fn variant(
        &self,
        table: &VariantTable,
        benchmark: &BenchmarkTable,
        preset: Option<&Preset>,
        derived: Option<&Derived>,
    ) -> Result<Variant, PlanError> {
        let resolver = &self.resolver;
        let build = table.engine.get_ref();
        let info = resolver.engine(table)?;
        resolver.check_dialect(table, &info)?;
        let dsn = resolver.dsn(table, benchmark, &info)?;
        // A preset's sizes apply to engines that Assay configures.
        let (preset, derived) = if dsn.is_some() { (None, None) } else { (preset, derived) };
        let mut options = match &table.profile {
            None => Options::new(),
            Some(name) => self.profile(name, build)?,
        };
        for (name, value) in &table.options.0 {
            options.set(name.get_ref(), &value.0);
        }
        let durability = resolver
            .durability(table.durability.as_ref())?
            .or(resolver.durability(benchmark.durability.as_ref())?)
            .unwrap_or_default();
        let cache = resolver
            .quantity(table.cache.as_ref(), parse_size)?
            .or(resolver.quantity(benchmark.cache.as_ref(), parse_size)?);
        let direct = table.direct_io.as_ref().or(benchmark.direct_io.as_ref());
        let direct = direct.map(|direct| *direct.get_ref());
        let compression = table.compression.as_ref().or(benchmark.compression.as_ref());
        let compression = compression.map(|text| text.get_ref().clone());
        let jobs = table.background_jobs.as_ref().or(benchmark.background_jobs.as_ref());
        let jobs = jobs.map(|jobs| *jobs.get_ref());
        Ok(Variant {
            dsn,
            name: self.file_name(&table.name, "a variant's name")?,
            build: build.clone(),
            profile: table.profile.as_ref().map(|name| name.get_ref().clone()),
            options,
            settings: Settings {
                durability,
                cache_bytes: cache.or(derived.map(|derived| derived.cache_bytes)),
                direct_io: direct.unwrap_or(preset.is_some_and(|preset| preset.direct_io)),
                compression: compression.or(preset.map(|preset| preset.compression.to_owned())),
                background_jobs: jobs.or(derived.map(|derived| derived.background_jobs)),
                allocator: resolver
                    .allocator(table.allocator.as_ref().or(benchmark.allocator.as_ref()))?,
            },
            is_control: false,
        })
    }

    fn profile(
        &self,
        name: &Spanned<String>,
        build: &model::BuildRef,
    ) -> Result<Options, PlanError> {
        let catalog = self.resolver.catalog;
        let version = build.version.as_deref();
        profile::options(catalog, name.get_ref(), &build.engine, version).map_err(|why| {
            let names = catalog.profile_names();
            let error = PlanError::new(why).at(self.resolver.source, name.span(), "here");
            match nearest(name.get_ref(), names.iter().map(String::as_str)) {
                Some(word) if word != name.get_ref() => {
                    error.remedy(format!("did you mean `{word}`?"))
                }
                _ => match &profile::of_engine(catalog, &build.engine)[..] {
                    [] => error.remedy(format!("{} has no profile: leave it out", build.engine)),
                    own => {
                        let own = own.join(", ");
                        error.remedy(format!("profiles of {}: {own}", build.engine))
                    }
                },
            }
        })
    }

    fn base(
        &self,
        base: Option<&Spanned<String>>,
        variants: &[Variant],
    ) -> Result<String, PlanError> {
        let Some(base) = base else { return Ok(variants[0].name.clone()) };
        if variants.iter().any(|variant| variant.name == *base.get_ref()) {
            return Ok(base.get_ref().clone());
        }
        let names: Vec<_> = variants.iter().map(|variant| variant.name.as_str()).collect();
        Err(PlanError::new(format!("the base case `{}` is not a variant", base.get_ref()))
            .at(self.resolver.source, base.span(), "no such variant")
            .remedy(format!("variants: {}", names.join(", "))))
    }

    /// Checks a name that becomes part of a directory name.
    fn file_name(&self, name: &Spanned<String>, what: &str) -> Result<String, PlanError> {
        let text = name.get_ref();
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if !text.is_empty() && text.len() <= 80 && text.chars().all(fits) && !text.starts_with('.')
        {
            return Ok(text.clone());
        }
        Err(PlanError::new(format!("`{text}` cannot be {what}"))
            .at(self.resolver.source, name.span(), "here")
            .remedy("use letters, digits, `-`, `_` and `.`: it becomes the name of a directory"))
    }
}

/// Returns the places of a variant's settings, in its own table or the benchmark's.
fn settings_places(
    table: &VariantTable,
    benchmark: &BenchmarkTable,
) -> impl Iterator<Item = (&'static str, Range<usize>)> {
    fn place<T>(own: &Option<Spanned<T>>, shared: &Option<Spanned<T>>) -> Option<Range<usize>> {
        own.as_ref().or(shared.as_ref()).map(Spanned::span)
    }
    let places = [
        place(&table.durability, &benchmark.durability),
        place(&table.cache, &benchmark.cache),
        place(&table.direct_io, &benchmark.direct_io),
        place(&table.compression, &benchmark.compression),
        place(&table.background_jobs, &benchmark.background_jobs),
        place(&table.allocator, &benchmark.allocator),
    ];
    let data = [
        ("key_bytes", place(&None, &benchmark.key_bytes)),
        ("value_bytes", place(&None, &benchmark.value_bytes)),
    ];
    let all = SETTINGS.iter().copied().zip(places).chain(data);
    all.filter_map(|(name, place)| Some((name, place?)))
}

#[cfg(test)]
mod tests {
    use crate::sample::experiment;

    #[test]
    fn variant_settings_win_over_benchmark_settings_and_those_over_presets() {
        let shared = "\"10k\"\nworkload = \"iodir\"\ncache = \"1GiB\"\ncompression = \"zstd\"";
        let shared = experiment("\"10k\"", shared);
        let settings = &shared.variants[0].settings;
        assert_eq!((shared.data.rows, settings.cache_bytes), (10_000, Some(model::Bytes::GIB)));
        assert_eq!(settings.compression.as_deref(), Some("zstd"));
        assert!(settings.direct_io, "the preset's");
        assert_eq!(settings.background_jobs, Some(4), "half the machine's 8 cores");
        let preset = "\"10k\"\nworkload = \"iodir\"\ncache = \"1GiB\"\n[[variant]]\nname = \"b\"\n\
                      engine = \"tree\"\ncache = \"2GiB\"\ndirect_io = false";
        let own = &experiment("\"10k\"", preset).variants[0].settings;
        assert_eq!((own.cache_bytes, own.direct_io), (Some(model::Bytes(2 << 30)), false));
    }

    #[test]
    fn the_first_variant_is_the_base_when_none_is_named() {
        assert_eq!(experiment("10k", "10k").base, "a");
    }
}
