//! Checks an experiment file and resolves its defaults.

use model::experiment::MARGIN_DEFAULT;
use model::limits::{NAME_BYTES_MAX, VARIANTS_MAX, is_name};
use model::{
    BuildRef, Bytes, DataShape, Experiment, LoadSharing, Options, Setting, Settings, Variant,
    shortened,
};
use reader::error::{Errors, PlanError, Source};
use reader::place::Placed;

use crate::catalog::{Catalog, Machine};
use crate::checked::Checked;
use crate::clients::ClientsFactor;
use crate::cuts::cuts;
use crate::device::Subject;
use crate::overrides::Overrides;
use crate::preset::Derived;
use crate::profile;
use crate::published::{FindingContext, Written};
use crate::resolve::Resolver;
use crate::settings::{
    BASE, COMPRESSIBLE_TO, CONTROL, DISTRIBUTION, ENGINE, KEY_BYTES, MARGIN, MEMORY, NAME,
    OPTIONAL, PROFILE, QUESTION, REPETITIONS, ROWS, SEED, SIZE, VALUE_BYTES, WORKLOAD, of_engines,
};
use crate::spec::{self, File, Section};
use crate::workload::{self, Workload};

/// Default seed; its value does not matter, only that it is recorded.
const SEED_DEFAULT: u64 = 1;
/// Bytes of a key. Source: benchmark.sh, `key_size`.
pub(crate) const KEY_BYTES_DEFAULT: u32 = 20;
/// Bytes of a value. Source: benchmark.sh, `value_size`.
pub(crate) const VALUE_BYTES_DEFAULT: u32 = 400;
/// Compressibility of values. Source: db_bench, `compression_ratio`.
const COMPRESSIBLE_TO_DEFAULT: f64 = 0.5;
/// Stands for rows that are invalid.
const NO_DATA: DataShape =
    DataShape { rows: 0, key_bytes: 8, value_bytes: 0, compressible_to: 1.0 };

/// Reads and checks an experiment file.
///
/// # Errors
/// Every independent error, with its line and the remedy.
pub fn load(
    name: &str,
    text: &str,
    overrides: &Overrides,
    catalog: &dyn Catalog,
    machine: Machine,
) -> Result<Checked, PlanError> {
    let source = Source::new(name, text);
    let file = spec::parse(&source);
    file.and_then(|file| check(&source, file, overrides, catalog, machine))
        .map_err(|error| error.within(&source))
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
    let mut errors = std::mem::take(&mut file.errors);
    if let Some(size) = &overrides.size {
        errors.ok(file.resize(size));
    }
    file.variants.retain(|table| !overrides.left_out.iter().any(|name| name == table.text(NAME)));
    let written = file.clone();
    overrides.apply(&mut file, &mut errors);
    let resolver = Resolver { source, catalog, machine, application: None, preset: None };
    let workload = errors.ok(resolver.workload(&file.benchmark));
    let application = workload.as_ref().and_then(|workload| {
        errors.ok(resolver.application_of(workload.as_ref(), &file.benchmark, &file.factors))
    });
    let preset = match workload.flatten() {
        Some(Workload::Preset(preset)) => Some(preset),
        Some(Workload::Application(_)) | None => None,
    };
    // Without a valid workload, it is unknown which steps and sizes there are.
    let is_known = application.is_some() && file.benchmark.is_certain(WORKLOAD);
    let application = application.as_ref().and_then(Option::as_ref);
    let is_distribution_typed = overrides.get(DISTRIBUTION.key).is_some();
    let written = Written { file: &written, is_distribution_typed };
    let resolver = Resolver { application, preset, ..resolver };
    let checked = resolver.check(&file, written, is_known, errors)?;
    // What readers of the archive would refuse is not run.
    checked.experiment.check().map_err(PlanError::new)?;
    Ok(Checked { left_out: overrides.left_out.clone(), ..checked })
}

impl Resolver<'_> {
    /// Checks everything but the workload; `written` is the file before the command line's values.
    fn check(
        &self,
        file: &File,
        written: Written<'_>,
        is_known: bool,
        mut errors: Errors,
    ) -> Result<Checked, PlanError> {
        let benchmark = &file.benchmark;
        let factor = self.clients_factor(&file.factors);
        let subject = match file.is_device {
            true => errors.or_default(self.storage(file, &factor)),
            false => self.engines(file, &factor, is_known, &mut errors),
        };
        let Subject { data, steps, loads, mut variants, device } = subject;
        let base = errors.ok(self.base(file, &variants));
        errors.ok(check_needed(file, base.as_deref()));
        if file.experiment.value(CONTROL) == Some(true)
            && let Some(base) = base.as_ref().filter(|_| !variants.is_empty())
        {
            errors.ok(self.add_control(&mut variants, base, file));
        }
        let (answer, warnings) = errors.or_default(self.answer(&file.experiment, &variants));
        // Findings refer to steps and variants, which must be valid.
        let context =
            FindingContext { written, variants: &variants, steps: &steps, levels: &factor.levels };
        let is_valid = errors.is_empty();
        let published =
            is_valid.then(|| errors.or_default(self.published(&file.published, &context)));
        let experiment = &file.experiment;
        let mut checked = Experiment {
            load: LoadSharing::default(),
            application: self.application.map(|loaded| loaded.application.clone()),
            placement: errors.or_default(self.placement(benchmark, &file.variants)),
            name: experiment.get(NAME).map_or_else(String::new, |_| {
                errors.or_default(self.file_name(experiment, "the experiment's name"))
            }),
            margin: experiment.value(MARGIN).unwrap_or(MARGIN_DEFAULT),
            measure: errors.or_default(self.measure(experiment, &steps)),
            answer,
            waivers: errors.or_default(self.waivers(&file.waivers)),
            question: experiment.text(QUESTION).to_owned(),
            size: experiment.get(SIZE).map(|size| size.value.clone()),
            base: base.unwrap_or_default(),
            workload: self.preset.map(|preset| preset.name.to_owned()),
            data: data.unwrap_or(NO_DATA),
            memory_bytes: benchmark.value(MEMORY),
            hosts: None,
            cuts: None,
            is_profiled: errors.or_default(self.cpu_profiles(benchmark, &file.variants)),
            seed: experiment.value(SEED).unwrap_or(SEED_DEFAULT),
            clients: factor.levels,
            repetitions: file.factors.value(REPETITIONS).unwrap_or(1),
            steps,
            published: published.unwrap_or_default(),
            device,
            variants,
        };
        checked.load = errors.or_default(self.load_sharing(file, &checked));
        checked.hosts = errors.or_default(self.hosts(file, &checked, &loads));
        checked.cuts = errors.or_default(cuts(file, &checked));
        errors.ok(self.check_events(file, &checked));
        errors.result(Checked {
            experiment: checked,
            chosen: None,
            sizes: file.sizes.iter().map(|(name, _)| name.value.clone()).collect(),
            warnings,
            left_out: Vec::new(),
            source: self.source.clone(),
            statements: self.application.map(|own| own.places.clone()).unwrap_or_default(),
            file: file.clone(),
            loads,
            clients: factor.place,
        })
    }

    /// Checks rows, steps and variants of a benchmark of engines.
    fn engines(
        &self,
        file: &File,
        factor: &ClientsFactor,
        is_known: bool,
        errors: &mut Errors,
    ) -> Subject {
        let benchmark = &file.benchmark;
        let memory_bytes = benchmark.value(MEMORY);
        let machine = Machine {
            memory_bytes: self.machine.memory_bytes.min(memory_bytes.unwrap_or(Bytes(u64::MAX))),
            ..self.machine
        };
        let sizes = is_known.then(|| errors.or_default(self.data(benchmark, machine)));
        let (data, derived) = sizes.flatten().unzip();
        let steps =
            is_known.then(|| errors.or_default(self.steps(benchmark, data.as_ref(), factor)));
        let (steps, loads) = steps.unwrap_or_default();
        let variants = errors.or_default(self.variants(file, derived.flatten()));
        errors.ok(self.check_no_storage(benchmark));
        Subject { data, steps, loads, variants, device: None }
    }

    /// Checks the shape of the rows, and derives their number from a preset.
    ///
    /// `None` when the number of rows is wrong, which has been reported.
    fn data(
        &self,
        benchmark: &Section,
        machine: Machine,
    ) -> Result<Option<(DataShape, Option<Derived>)>, PlanError> {
        if let Some(loaded) = self.application {
            return Ok(Some((workload::shape(loaded), None)));
        }
        let mut data = DataShape {
            rows: 0,
            key_bytes: benchmark.value(KEY_BYTES).unwrap_or(KEY_BYTES_DEFAULT),
            value_bytes: benchmark.value(VALUE_BYTES).unwrap_or(VALUE_BYTES_DEFAULT),
            compressible_to: benchmark.value(COMPRESSIBLE_TO).unwrap_or(COMPRESSIBLE_TO_DEFAULT),
        };
        let compression =
            benchmark.by_key(Setting::Compression.name()).map(|text| text.value.as_str());
        let derived = self.preset.map(|preset| preset.derive(machine, &data, compression));
        match (benchmark.value(ROWS), &derived) {
            (Some(rows), _) => data.rows = rows,
            (None, _) if benchmark.may_have(ROWS) => return Ok(None),
            (None, Some(derived)) => data.rows = derived.rows,
            (None, None) => {
                return Err(PlanError::new("the number of rows is missing").remedy(
                    "give `rows` in [benchmark] (or --rows), or a `workload` preset that derives \
                     them from the machine",
                ));
            }
        }
        Ok(Some((data, derived)))
    }

    fn variants(&self, file: &File, derived: Option<Derived>) -> Result<Vec<Variant>, PlanError> {
        let mut errors = Errors::default();
        let mut variants: Vec<Variant> = Vec::new();
        if let Some(beyond) = file.variants.get(VARIANTS_MAX) {
            let why = format!("{} variants are too many to compare", file.variants.len());
            return Err(
                PlanError::here(&beyond.place, why).remedy(format!("at most {VARIANTS_MAX}"))
            );
        }
        for (index, table) in file.variants.iter().enumerate() {
            if table.get(NAME).is_some() && table.get(ENGINE).is_some() {
                variants.extend(errors.ok(self.variant(table, &file.benchmark, derived)));
            }
            let name = table.text(NAME);
            let is_same = |other: &Section| !name.is_empty() && other.text(NAME) == name;
            if file.variants[..index].iter().any(is_same) {
                let error = PlanError::new(format!("two variants are named `{name}`"));
                errors.push(error.at(table.place_of(NAME), "the second"));
            }
        }
        if file.variants.is_empty() && !file.is_partial {
            errors.push(
                PlanError::new("there is nothing to compare: the experiment has no variant")
                    .remedy(
                        "add a [[variant]] with `name` and `engine` (or --engine NAME@VERSION)",
                    ),
            );
        }
        // What concerns all variants can be checked when each is valid.
        if variants.len() < file.variants.len() {
            variants.clear();
        }
        errors.result(variants)
    }

    fn variant(
        &self,
        table: &Section,
        benchmark: &Section,
        derived: Option<Derived>,
    ) -> Result<Variant, PlanError> {
        let mut errors = Errors::default();
        let engine = errors.ok(self.engine(table));
        let dsn = engine.as_ref().and_then(|(_, info)| {
            errors.ok(self.check_dialect(table, info));
            errors.or_default(self.dsn(table, benchmark, info))
        });
        // A preset's sizes apply to engines that Assay configures.
        let (preset, derived) = if dsn.is_some() { (None, None) } else { (self.preset, derived) };
        let profile = table.get(PROFILE);
        let mut options = Options::new();
        if let (Some(name), Some((build, _))) = (profile, &engine) {
            options = errors.or_default(self.profile(name, build));
        }
        for (name, value) in &table.pairs {
            options.set(&name.value, &value.value);
        }
        let mut settings = Settings {
            cache_bytes: derived.map(|derived| derived.cache_bytes),
            direct_io: preset.is_some_and(|preset| preset.direct_io),
            compression: preset.map(|preset| preset.compression.to_owned()),
            background_jobs: derived.map(|derived| derived.background_jobs),
            ..Settings::default()
        };
        for setting in of_engines() {
            if let Some(text) = table.get(setting).or(benchmark.get(setting)) {
                let set = settings.set(setting.key, &text.value);
                errors.ok(set.map_err(|why| PlanError::here(&text.place, why)));
            }
        }
        errors.ok(self.file_name(table, "a variant's name"));
        errors.result(())?;
        let (build, _) = engine.expect("an engine is known when there is no error");
        Ok(Variant {
            dsn,
            name: table.text(NAME).to_owned(),
            build,
            profile: profile.map(|name| name.value.clone()),
            options,
            settings,
            is_control: false,
        })
    }

    fn profile(&self, name: &Placed<String>, build: &BuildRef) -> Result<Options, PlanError> {
        let catalog = self.catalog;
        let release = catalog.release(build);
        let folder = self.folder(&name.place);
        profile::options(catalog, &name.value, folder, &build.engine, release.as_deref()).map_err(
            |why| {
                let names = catalog.profile_names();
                let others = names.iter().map(String::as_str).filter(|known| **known != name.value);
                let otherwise = match &profile::of_engine(catalog, &build.engine)[..] {
                    [] => format!("{} has no profile: leave `profile` out", build.engine),
                    own => format!("profiles of {}: {}", build.engine, own.join(", ")),
                };
                PlanError::here(&name.place, why).meant(&name.value, others, otherwise)
            },
        )
    }

    fn base(&self, file: &File, variants: &[Variant]) -> Result<String, PlanError> {
        let names: Vec<_> = match file.is_device {
            true => variants.iter().map(|variant| variant.name.as_str()).collect(),
            false => file.variants.iter().map(|variant| variant.text(NAME)).collect(),
        };
        let Some(base) = file.experiment.get(BASE) else {
            return Ok(names.first().copied().unwrap_or_default().to_owned());
        };
        if names.is_empty() || ["", &base.value].iter().any(|name| names.contains(name)) {
            return Ok(base.value.clone());
        }
        Err(PlanError::new(format!("the base case `{}` is not a variant", base.value))
            .at(&base.place, "no such variant")
            .remedy(format!("variants: {}", names.join(", "))))
    }

    /// Checks a name that becomes part of a directory name.
    fn file_name(&self, table: &Section, what: &str) -> Result<String, PlanError> {
        let text = table.text(NAME);
        if is_name(text, NAME_BYTES_MAX) {
            return Ok(text.to_owned());
        }
        let remedy = match is_name(text, text.len()) {
            true => format!("the name has {} bytes: write at most {NAME_BYTES_MAX}", text.len()),
            false => format!(
                "begin with a letter or digit; use at most {NAME_BYTES_MAX} letters, digits, `-`, \
                 `_` and `.`"
            ),
        };
        let why = format!("`{}` cannot be {what}", shortened(text, NAME_BYTES_MAX));
        Err(PlanError::here(table.place_of(NAME), why).remedy(remedy))
    }
}

/// Checks that no variant is optional without which the experiment cannot be run.
fn check_needed(file: &File, base: Option<&str>) -> Result<(), PlanError> {
    let is_needed = |table: &&Section| !file.published.is_empty() || Some(table.text(NAME)) == base;
    let mut needed = file.variants.iter().filter(is_needed);
    needed.find(|table| table.value(OPTIONAL) == Some(true)).map_or(Ok(()), |table| {
        let why = "the base case and variants with published findings cannot be optional";
        Err(PlanError::here(table.place_of(OPTIONAL), why).remedy("leave `optional` out"))
    })
}

#[cfg(test)]
mod tests {
    use model::limits::{LEVELS_MAX, STEPS_MAX};

    use super::*;
    use crate::tests::sample::{FILE, MACHINE, TestCatalog, checked, experiment};

    #[test]
    fn what_readers_would_refuse_is_not_planned() {
        let refused = |old: &str, new: &str| checked(old, new).unwrap_err().to_string();
        let variant = |name: &str| format!("\n[[variant]]\nname = \"{name}\"\nengine = \"tree\"");
        let variants: String = (0..VARIANTS_MAX).map(|at| variant(&format!("v{at}"))).collect();
        let too_many = refused("\"10k\"", &format!("\"10k\"{variants}"));
        assert!(too_many.ends_with("variants are too many to compare"), "{too_many}");
        let steps = vec!["\"readwhilewriting\""; STEPS_MAX].join(", ");
        let too_many = refused("\"readwhilewriting\"", &steps);
        assert!(too_many.ends_with("steps are too many for one run"), "{too_many}");
        let levels: Vec<String> = (1..=LEVELS_MAX + 1).map(|level| level.to_string()).collect();
        let levels = format!("\"10k\"\n[factors]\nclients = [{}]", levels.join(", "));
        assert_eq!(refused("\"10k\"", &levels), "65 levels of clients are too many");
        for name in ["-rf", ".hidden", "_", "a\u{202e}b"] {
            let wrong = refused("\"10k\"", &format!("\"10k\"{}", variant(name)));
            assert!(wrong.ends_with("cannot be a variant's name"), "{wrong}");
        }
    }

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
    fn optional_variants_are_left_out_and_never_the_base_or_one_of_a_finding() {
        let second = "\n[[variant]]\nname = \"b\"\nengine = \"tree\"\noptional = true";
        let file = FILE.to_owned() + second;
        let of = |file: &str, left_out: &[&str]| {
            let left_out = left_out.iter().map(|name| (*name).to_owned()).collect();
            let overrides = Overrides { left_out, ..Overrides::default() };
            load("x", file, &overrides, &TestCatalog::default(), MACHINE)
        };
        let names = |checked: &Checked| -> Vec<String> {
            checked.experiment.variants.iter().map(|variant| variant.name.clone()).collect()
        };
        let whole = of(&file, &[]).unwrap();
        assert_eq!((names(&whole).len(), whole.optional().count()), (2, 1));
        let part = of(&file, &["b"]).unwrap();
        assert_eq!((names(&part), part.left_out), (vec!["a".to_owned()], vec!["b".to_owned()]));
        let base = file.replacen("question", "base = \"b\"\nquestion", 1);
        let finding = "\n[[published]]\nsource = \"s\"\nsetup = \"s\"";
        for wrong in [base, file.clone() + finding, FILE.to_owned() + "optional = true"] {
            let error = of(&wrong, &[]).unwrap_err().to_string();
            assert!(error.contains("cannot be optional"), "{error}");
        }
    }

    #[test]
    fn the_first_variant_is_the_base_when_none_is_named() {
        assert_eq!(experiment("10k", "10k").base, "a");
    }
}
