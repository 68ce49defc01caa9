//! From an application's text to what an experiment asks of its servers.

use std::collections::BTreeMap;

use model::Application;

use super::amount::{Set, Worth};
use super::file::parse;
use super::names::Names;
use crate::catalog::Catalog;
use crate::error::{PlanError, Source};

/// An application as one experiment asks it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Loaded {
    pub(crate) application: Application,
    /// Who published it.
    pub(crate) published_by: Option<String>,
    /// Steps that must come before a step.
    pub(crate) needs: BTreeMap<String, Vec<String>>,
    /// What names are worth.
    pub(crate) worth: Worth,
}

/// Reads and checks an application's file, for an experiment that loads `loaded` rows.
///
/// `set` are the parameters that the experiment sets, in its own file.
pub(crate) fn read(
    source: &Source,
    set: (&Source, &Set),
    loaded: u64,
    catalog: &dyn Catalog,
) -> Result<Loaded, PlanError> {
    let file = parse(source)?;
    let worth = Worth::of((source, &file.parameters), set, loaded)?;
    let names = Names { source, file: &file, worth: &worth, catalog };
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
    Ok(Loaded { application, published_by: file.source.clone(), needs, worth })
}
