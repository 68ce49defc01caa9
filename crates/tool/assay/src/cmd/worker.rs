//! `assay worker`: the child process of a run.

use std::io::{BufReader, stdin, stdout};
use std::process::ExitCode;

use miette::Result;

use crate::environment::Environment;
use crate::registry;
use crate::ui::Ui;

/// Executes one run; results go to stdout, errors to stderr.
pub(crate) fn run(environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    let input = BufReader::new(stdin());
    match runner::work(input, stdout(), &registry::driver, &environment.tunables) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(reason) => {
            ui.status(reason);
            Ok(ExitCode::FAILURE)
        }
    }
}
