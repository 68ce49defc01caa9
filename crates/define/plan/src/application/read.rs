//! Reads and checks an application file.

use std::collections::BTreeMap;

use model::Application;
use model::options::Text;
use toml::Spanned;

use super::expression::{Assignments, Variables};
use super::file::parse;
use super::names::Names;
use crate::catalog::Catalog;
use crate::error::{PlanError, Source};

/// An application with one experiment's parameters.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Loaded {
    pub(crate) application: Application,
    /// Its publication.
    pub(crate) published_by: Option<String>,
    /// Steps that must come before a step.
    pub(crate) needs: BTreeMap<String, Vec<String>>,
    /// Values of the parameters.
    pub(crate) variables: Variables,
    /// The parameters, and their defaults as written.
    pub(crate) defaults: Vec<(String, String)>,
}

/// Reads and checks an application's file, for an experiment that loads `loaded` rows.
///
/// `set` are the parameters that the experiment sets, in its own file.
pub(crate) fn read(
    source: &Source,
    set: (&Source, &Assignments),
    loaded: u64,
    catalog: &dyn Catalog,
) -> Result<Loaded, PlanError> {
    let file = parse(source)?;
    let variables = Variables::of((source, &file.parameters), set, loaded)?;
    let names = Names { source, file: &file, variables: &variables, catalog };
    let row_bytes = names.small(&file.row_bytes, 1, "the bytes of a row")?;
    let tables = names.tables()?;
    let values = names.values()?;
    let procedures = names.procedures(&tables, &values)?;
    let (steps, needs) = names.steps(&procedures)?;
    let order = names.order(&steps)?;
    let application = Application {
        name: file.name.get_ref().clone(),
        about: file.about.get_ref().clone(),
        row_bytes,
        tables,
        procedures,
        steps,
        order,
    };
    let default =
        |(name, text): (Spanned<String>, Spanned<Text>)| (name.into_inner(), text.into_inner().0);
    let defaults = file.parameters.0.into_iter().map(default).collect();
    Ok(Loaded { application, published_by: file.source, needs, variables, defaults })
}
