//! Resolves `workload`: a preset of sizes, or an application.

use std::path::Path;

use application::{Described, ROWS_DESCRIBED, Setup};
use model::setting::Scope;
use model::{DataShape, StepInfo, StepRole};
use reader::error::{PlanError, Source};
use reader::place::{Place, Placed};

use crate::preset::{PRESETS, Preset};
use crate::resolve::Resolver;
use crate::settings::{ROWS, STEP, Table, WORKLOAD};
use crate::spec::Section;

/// The remedy for an absent file that an experiment names.
pub(crate) const RELATIVE: &str =
    "give a path relative to the experiment file or, on the command line, to the current directory";

/// Nominal key bytes of an application's rows: the least a [`DataShape`] may have.
const KEY_BYTES: u32 = 8;

/// The step that fills an engine for steps which need rows.
const FILL: &str = "filluniquerandom";

/// Doublings of too few rows that are tried, to name the fewest that an application takes.
///
/// Our choice: a million times as many; each takes a millisecond.
const ROWS_DOUBLINGS: u32 = 20;

/// The meaning of `workload`.
#[derive(Debug, Clone)]
pub(crate) enum Workload {
    /// A preset of sizes.
    Preset(&'static Preset),
    /// The file of an application.
    Application(Source),
}

/// Returns the fewest rows above `rows` that fit, if any do.
fn least_rows(rows: u64, fits: impl Fn(u64) -> bool) -> Option<u64> {
    let doubled = (1..=ROWS_DOUBLINGS).map(|times| rows.saturating_mul(1 << times));
    let mut high = doubled.into_iter().find(|rows| fits(*rows))?;
    let mut low = rows.max(high / 2);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        *if fits(middle) { &mut high } else { &mut low } = middle;
    }
    Some(high)
}

/// Rejects a load whose whole calls load other than `rows`, where a check expects these.
fn check_whole_calls(loaded: &Described, levels: &[u32]) -> Result<(), PlanError> {
    let Some(check) = loaded.checks_of_loaded.first() else { return Ok(()) };
    let application = &loaded.application;
    let loads = application.steps.iter().filter(|step| step.role == StepRole::Load);
    for (step, clients) in loads.flat_map(|step| levels.iter().map(move |level| (step, *level))) {
        let (Some(wanted), Some(mix)) = (step.rows, &step.clients) else { continue };
        let wanted = wanted.of(loaded.rows);
        let each = application.rows_per_call(mix);
        let calls = application.calls(step, loaded.rows, clients).unwrap_or_default();
        let rows = model::whole(calls as f64 * each);
        if rows != wanted {
            let why = format!(
                "{} loads {rows} rows in whole calls of {each} rows by {}, but check `{check}` is \
                 written for {wanted} rows",
                step.name,
                model::units::clients(clients)
            );
            let multiple = each * f64::from(clients);
            let remedy = format!("set `rows` to a multiple of {multiple}");
            return Err(PlanError::new(why).remedy(remedy));
        }
    }
    Ok(())
}

impl Resolver<'_> {
    /// Returns the benchmark's workload, if any.
    pub(crate) fn workload(&self, benchmark: &Section) -> Result<Option<Workload>, PlanError> {
        let Some(name) = benchmark.get(WORKLOAD) else { return Ok(None) };
        let word = name.value.as_str();
        if let Some(preset) = PRESETS.iter().find(|preset| preset.name == word) {
            return Ok(Some(Workload::Preset(preset)));
        }
        let found = application::find(word, self.folder(&name.place), self.catalog);
        let unread = |why: String| {
            let is_absent = why.to_lowercase().contains("no such file");
            let error = PlanError::here(&name.place, why);
            if is_absent { error.remedy(RELATIVE) } else { error }
        };
        if let Some(source) = found.map_err(unread)? {
            return Ok(Some(Workload::Application(source)));
        }
        let applications = self.catalog.application_names();
        let presets: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
        let known = applications.iter().map(String::as_str).chain(presets.iter().copied());
        Err(PlanError::new(format!("unknown workload `{word}`"))
            .at(&name.place, "no such preset or application")
            .meant(
                word,
                known,
                format!(
                    "presets: {}; applications: {}, or the path of your own (./mine.toml)",
                    presets.join(", "),
                    applications.join(", ")
                ),
            ))
    }

    /// Reads the application that the workload names, for the benchmark's rows and parameters.
    ///
    /// Invalid `factors` are reported elsewhere.
    pub(crate) fn application_of(
        &self,
        workload: Option<&Workload>,
        benchmark: &Section,
        factors: &Section,
    ) -> Result<Option<Described>, PlanError> {
        let Some(Workload::Application(file)) = workload else {
            return match benchmark.pairs.first().filter(|_| benchmark.is_certain(WORKLOAD)) {
                None => Ok(None),
                Some((Placed { value, place }, _)) => {
                    let why = format!("`{value}` is a parameter, but there is no application");
                    let remedy = "name the application: workload = \"sysbench\", for instance";
                    Err(PlanError::here(place, why).remedy(remedy))
                }
            };
        };
        let given = benchmark.value(ROWS);
        // The other mistakes of an experiment whose rows are wrong are reported as well.
        let assumed = benchmark.may_have(ROWS).then_some(ROWS_DESCRIBED);
        let Some(rows) = given.or(assumed) else {
            return Err(PlanError::new("the number of rows is missing").remedy(
                "give `rows` in [benchmark] (or --rows): the rows that are loaded, over all \
                clients",
            ));
        };
        let levels = self.clients_factor(factors).levels;
        let setup = Setup {
            experiment: self.source,
            parameters: &benchmark.pairs,
            rows,
            clients: levels.iter().copied().max().unwrap_or(1),
        };
        let loaded = application::read(file, setup, self.catalog);
        let loaded = loaded.map_err(|error| match error.is_within(file) {
            true => self.cause(file, setup, benchmark.place_of(ROWS)).unwrap_or(error),
            false => error,
        })?;
        if given.is_some() {
            check_whole_calls(&loaded, &levels)?;
        }
        self.reject_key_settings(Table::Benchmark, benchmark, &loaded)?;
        Ok(Some(loaded))
    }

    /// Returns the error of the rows or the parameter that an application does not accept.
    ///
    /// Its file points at a line that the author of the value need not have written. `None`
    /// when the file is wrong itself.
    fn cause(&self, file: &Source, setup: Setup<'_>, rows_place: Place) -> Option<PlanError> {
        let read = |setup: Setup<'_>| application::read(file, setup, self.catalog);
        let name = Path::new(&file.name).file_stem().unwrap_or_default().to_string_lossy();
        let rows = setup.rows;
        if let Some(least) = least_rows(rows, |rows| read(Setup { rows, ..setup }).is_ok()) {
            let why = format!("{rows} rows are too few for {name}");
            let remedy = format!("set `rows` to {least} or more (--rows {least})");
            return Some(PlanError::here(rows_place, why).remedy(remedy));
        }
        let why = read(setup).err()?;
        for (index, (parameter, text)) in setup.parameters.iter().enumerate() {
            let mut others = setup.parameters.clone();
            others.remove(index);
            if read(Setup { parameters: &others, ..setup }).is_ok() {
                let (parameter, value) = (&parameter.value, &text.value);
                let why = format!("{name} cannot have `{parameter}` = {value}: {why}");
                let remedy = format!("change the value, or leave out `{parameter}`");
                return Some(PlanError::here(&text.place, why).remedy(remedy));
            }
        }
        read(Setup { rows: ROWS_DESCRIBED, ..setup }).ok()?;
        let why = format!("{rows} rows do not fit {name}: {why}");
        Some(PlanError::here(rows_place, why).remedy("give another number of rows"))
    }

    /// Rejects key-value settings, which applications do not have.
    fn reject_key_settings(
        &self,
        table: Table,
        section: &Section,
        loaded: &Described,
    ) -> Result<(), PlanError> {
        match section.scoped(table, Scope::KeyValue).next() {
            None => Ok(()),
            Some((key, place)) => {
                let application = &loaded.application.name;
                let why = format!("`{key}` is a key-value setting, and {application} has tables");
                let remedy = "leave out the setting: the application defines its rows and \
                              statements";
                Err(PlanError::here(place, why).remedy(remedy))
            }
        }
    }

    /// Rejects a step's own key-value settings.
    pub(crate) fn check_step_settings(&self, table: &Section) -> Result<(), PlanError> {
        let Some(loaded) = self.application else { return Ok(()) };
        self.reject_key_settings(Table::Step, table, loaded)
    }

    /// Returns the requested steps after those they need, or the application's in its order.
    ///
    /// Steps that need rows are filled first, unless their load is written at another place.
    pub(crate) fn requested_steps(&self, benchmark: &Section) -> Vec<Section> {
        match (&benchmark.tables, self.application) {
            (Some(steps), Some(loaded)) => {
                let mut all = Vec::new();
                for step in steps {
                    add_needs(loaded, step.text(STEP), steps, &mut all);
                    all.push(step.clone());
                }
                all
            }
            (Some(steps), None) => {
                let known = self.catalog.steps();
                let first = steps.first().map(|step| step.text(STEP));
                let first = known.iter().find(|info| Some(&*info.name) == first);
                let fill = first.filter(|info| info.role != StepRole::Load);
                let fill = fill.map(|_| Section::step(FILL));
                fill.into_iter().chain(steps.iter().cloned()).collect()
            }
            (None, Some(loaded)) => loaded.application.order.iter().map(Section::step).collect(),
            (None, None) => Vec::new(),
        }
    }

    /// Returns the known steps: the application's and maintenance, or all others.
    pub(crate) fn known_steps(&self) -> Vec<StepInfo> {
        let others = self.catalog.steps();
        let Some(loaded) = self.application else { return others };
        let own = application::step_infos(&loaded.application);
        let maintenance = others.into_iter().filter(|info| info.role == StepRole::Maintain);
        own.into_iter().chain(maintenance).collect()
    }

    /// Checks that the steps a step needs are among those `before` it.
    pub(crate) fn check_needs(
        &self,
        before: &[Section],
        name: &str,
        place: Place,
    ) -> Result<(), PlanError> {
        let needs = self.application.and_then(|loaded| loaded.needs.get(name));
        let is_missing = |need: &&String| !before.iter().any(|step| step.text(STEP) == **need);
        match needs.into_iter().flatten().find(is_missing) {
            None => Ok(()),
            Some(need) => Err(PlanError::here(place, format!("{name} needs {need} before it"))
                .remedy(format!("put \"{need}\" among the steps before {name}"))),
        }
    }
}

/// Adds the steps that a step needs, unless they are there or `written` at another place.
///
/// It terminates, because a step needs only steps above it in the file.
fn add_needs(loaded: &Described, name: &str, written: &[Section], all: &mut Vec<Section>) {
    for need in loaded.needs.get(name).into_iter().flatten() {
        let is_it = |step: &Section| step.text(STEP) == need;
        if !written.iter().chain(all.iter()).any(is_it) {
            add_needs(loaded, need, written, all);
            all.push(Section::step(need));
        }
    }
}

/// Returns the shape of an application's rows.
pub(crate) const fn shape(loaded: &Described) -> DataShape {
    DataShape {
        rows: loaded.rows,
        key_bytes: KEY_BYTES,
        value_bytes: loaded.application.row_bytes.saturating_sub(KEY_BYTES),
        compressible_to: 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use application::testing::described;

    const COUNTED: &str = r#"
name = "counted"
about = "rows that are counted"
row_bytes = 8
order = ["fill"]
[values]
n = "number"
[[table]]
name = "t"
create = "CREATE TABLE {table} (id INT)"
[procedure.add]
kind = "insert"
rows = 10
row = "(:n)"
sql = "INSERT INTO {table} VALUES {rows}"
[[step]]
name = "fill"
about = "fills"
role = "load"
clients = ["add"]
rows = "100%"
unit = "row"
[[check]]
name = "all are there"
sql = "SELECT COUNT(*) FROM {table}"
expect = "loaded"
"#;

    #[test]
    fn the_fewest_rows_that_fit_are_found() {
        assert_eq!(least_rows(20_000, |rows| rows >= 100_000), Some(100_000));
        assert_eq!(least_rows(1, |rows| rows >= 3), Some(3));
        assert_eq!(least_rows(7, |_| false), None, "other mistakes stay what they are");
    }

    #[test]
    fn a_check_of_the_loaded_rows_needs_whole_calls_of_all_clients() {
        let checked = |text: &str, rows: u64, levels: &[u32]| {
            check_whole_calls(&described(text, rows, 8, &[]).expect("it is valid"), levels)
        };
        assert!(checked(COUNTED, 160, &[1, 8]).is_ok());
        let why = checked(COUNTED, 100, &[1, 8]).unwrap_err().to_string();
        assert!(
            why.starts_with("fill loads 160 rows in whole calls of 10 rows by 8 clients"),
            "{why}"
        );
        assert!(checked(&COUNTED.replace("\"loaded\"", "0"), 100, &[1, 8]).is_ok());
    }
}
