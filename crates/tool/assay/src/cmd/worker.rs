//! `assay worker`: the child half of a run.

use std::io::{BufReader, stdin, stdout};
use std::process::ExitCode;

use miette::Result;

use crate::registry;
use crate::ui::Ui;

/// Executes one order; its outcome goes through the messages, what breaks goes to stderr.
pub(crate) fn run(ui: &Ui) -> Result<ExitCode> {
    match runner::work(BufReader::new(stdin()), stdout(), &registry::driver) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(reason) => {
            ui.remark(reason);
            Ok(ExitCode::FAILURE)
        }
    }
}
