//! `assay cuts`: makes simulated crashes, or opens a store for one.

use std::process::ExitCode;

use miette::{Result, miette};

use crate::diagnostic::IntoReport as _;
use crate::registry;

/// Executes the order that comes over the connection to the parent.
pub(crate) fn run() -> Result<ExitCode> {
    // Before a library is loaded.
    let parent = runner::connect().into_report()?;
    durability::serve(parent, &registry::driver, &registry::kind)
        .map_err(|reason| miette!("{reason}"))?;
    Ok(ExitCode::SUCCESS)
}
