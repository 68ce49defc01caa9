//! Reads and checks an application file.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::Path;

use model::sql::{CallMix, TrafficSpec};
use model::{Application, StepInfo};
use reader::error::{PlanError, Source};
use reader::syntax::{Fields, Pairs, few, list, parse, scalars, text};
use toml::de::DeTable;

use crate::conditions::checks_of_loaded;
use crate::expression::{Setup, Variables};
use crate::names::{ApplicationFiles, Names};
use crate::place::StatementPlaces;

/// Keys of an application file.
const KEYS: [&str; 12] = [
    "name",
    "about",
    "source",
    "row_bytes",
    "order",
    "parameters",
    "values",
    "table",
    "procedure",
    "step",
    "check",
    "disclaimer",
];

/// Rows assumed for a description.
pub const ROWS_DESCRIBED: u64 = 1_000_000;

/// An application with one experiment's parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Described {
    /// The application.
    pub application: Application,
    /// Its publication.
    pub published_by: Option<String>,
    /// Its parameters and their defaults as written.
    pub parameters: Vec<(String, String)>,
    /// The text of its file.
    pub text: String,
    /// Places of its statements in its file.
    pub places: StatementPlaces,
    /// Steps that must come before a step.
    pub needs: BTreeMap<String, Vec<String>>,
    /// Rows that the experiment loads.
    pub rows: u64,
    /// Names of the checks that expect a number which follows from `loaded`.
    pub checks_of_loaded: Vec<String>,
}

/// Finds the file of an application: a shipped one by its name, or the user's own by its path.
///
/// # Errors
/// When the user's file cannot be read.
pub fn find(
    word: &str,
    folder: &Path,
    catalog: &dyn ApplicationFiles,
) -> Result<Option<Source>, String> {
    if !word.ends_with(".toml") {
        let name = format!("{word}.toml");
        return Ok(catalog.application(word).map(|text| Source::new(name, text)));
    }
    let path = folder.join(word);
    let name = path.display().to_string();
    let text = catalog.file(&path);
    let text = text.map_err(|why| format!("cannot read the application {name}: {why}"))?;
    Ok(Some(Source::new(name, text)))
}

/// Reads and checks an application's file for an experiment.
///
/// # Errors
/// What is wrong in the file, with its place.
pub fn read(
    source: &Source,
    setup: Setup<'_>,
    catalog: &dyn ApplicationFiles,
) -> Result<Described, PlanError> {
    checked(source, setup, catalog).map_err(|error| error.within(source))
}

fn checked(
    source: &Source,
    setup: Setup<'_>,
    catalog: &dyn ApplicationFiles,
) -> Result<Described, PlanError> {
    let root = parse(source)?;
    let file = Fields::of(&root, "the application", &KEYS)?;
    few_parts(&file)?;
    let parameters = file.get("parameters").map(scalars).transpose()?;
    let parameters = parameters.unwrap_or_default();
    let variables = Variables::of(&parameters, setup)?;
    let none = DeTable::new();
    let procedures = file.get("procedure").and_then(|node| node.get_ref().as_table());
    let name = file.text("name")?;
    let names = Names {
        source,
        name: name.clone(),
        variables: &variables,
        catalog,
        procedures: procedures.unwrap_or(&none),
        values: Cell::new(0),
        places: RefCell::new(StatementPlaces::new(source)),
    };
    let row_bytes = names.number(file.required("row_bytes")?, 1, "the bytes of a row")?;
    let tables = names.tables(file.list("table")?)?;
    let values = names.values(file.get("values"))?;
    let procedures = names.procedures(&tables, &values)?;
    let checks = names.checks(file.list("check")?, &tables)?;
    let checks_of_loaded = checks_of_loaded(file.list("check")?);
    let steps = names.steps(file.list("step")?, &procedures)?;
    let order = names.order(list(file.required("order")?)?, &steps)?;
    let disclaimer = file.get("disclaimer").map(text).transpose()?;
    let application = Application {
        name: (*name.get_ref()).to_owned(),
        about: (*file.text("about")?.get_ref()).to_owned(),
        row_bytes,
        tables,
        procedures,
        steps: steps.specs,
        order,
        checks,
        disclaimer: disclaimer.map(|text| (*text.get_ref()).to_owned()),
    };
    let published_by = file.get("source").map(text).transpose()?;
    let published_by = published_by.map(|source| (*source.get_ref()).to_owned());
    let parameters = parameters.into_iter();
    let parameters = parameters.map(|(name, text)| (name.value, text.value));
    let (parameters, text) = (parameters.collect(), source.text.clone());
    let needs = steps.needs;
    Ok(Described {
        application,
        published_by,
        parameters,
        text,
        places: names.places.into_inner(),
        needs,
        rows: setup.rows,
        checks_of_loaded,
    })
}

/// Checks that no table of an application has more entries than a list may have.
fn few_parts(file: &Fields<'_>) -> Result<(), PlanError> {
    let nodes = ["parameters", "values", "procedure"].into_iter().filter_map(|key| file.get(key));
    nodes
        .into_iter()
        .try_for_each(|node| few(node.get_ref().as_table().map_or(0, |table| table.len()), node))
}

/// Returns the application of that name or file, for a million rows.
///
/// # Errors
/// When there is none, or its file is invalid.
pub fn describe(name: &str, catalog: &dyn ApplicationFiles) -> Result<Described, PlanError> {
    let found = find(name, Path::new(""), catalog).map_err(PlanError::new)?;
    let names = catalog.application_names();
    let source = found.ok_or_else(|| {
        let otherwise = format!("applications: {}", names.join(", "));
        let error = PlanError::new(format!("no application is named `{name}`"));
        error.meant(name, names.iter().map(String::as_str), otherwise)
    })?;
    let (experiment, parameters) = (&Source::default(), &Pairs::new());
    read(&source, Setup { experiment, parameters, rows: ROWS_DESCRIBED, clients: 1 }, catalog)
}

/// Returns the descriptions of the application's steps.
pub fn step_infos(application: &Application) -> Vec<StepInfo> {
    let info = |step: &TrafficSpec| {
        let ends_by_rows =
            step.rows.is_some() || step.clients.as_ref().is_some_and(CallMix::is_once);
        StepInfo {
            name: step.name.clone().into(),
            about: step.about.clone().into(),
            needs: application.called(step).map(|procedure| procedure.kind).collect(),
            role: step.role,
            share_of_rows: ends_by_rows.then_some(1.0),
            // The rate of its writers is the application's own.
            has_writer: false,
            is_single_client: false,
        }
    };
    application.steps.iter().map(info).collect()
}
