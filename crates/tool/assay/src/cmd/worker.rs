//! `assay worker`: the child process of a run.

use std::io::BufReader;
use std::process::ExitCode;

use miette::Result;
use runner::SocketWriter;

use crate::diagnostic::IntoReport;
use crate::environment::Environment;
use crate::registry;
use crate::ui::Ui;

/// Executes one run; messages go over the connection to the parent, errors to stderr.
pub(crate) fn run(environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    let parent = runner::connect().into_report()?;
    let input = BufReader::new(parent.try_clone().into_report()?);
    let output = SocketWriter(parent);
    match runner::work(input, output, &registry::driver, &environment.tunables, None) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(reason) => {
            ui.status(reason);
            Ok(ExitCode::FAILURE)
        }
    }
}
