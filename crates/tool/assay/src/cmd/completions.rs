//! `assay completions`: shell completions.

use std::process::ExitCode;

use clap::Command;
use miette::Result;

use crate::ui::Ui;

/// Arguments of `assay completions`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: assay completions bash > ~/.local/share/bash-completion/completions/assay"
)]
pub(crate) struct Args {
    /// Shell to complete for
    shell: clap_complete::Shell,
}

/// Prints the completions of a command line.
pub(crate) fn run(args: &Args, mut command: Command, ui: &Ui) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "assay", &mut script);
    // As it is: scripts of shells may hold control characters.
    ui.rendered(&String::from_utf8_lossy(&script));
    Ok(ExitCode::SUCCESS)
}
