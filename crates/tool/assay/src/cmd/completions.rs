//! `assay completions`: shell completions.

use std::process::ExitCode;

use clap::CommandFactory;
use miette::Result;

/// Arguments of `assay completions`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: assay completions bash > ~/.local/share/bash-completion/completions/assay"
)]
pub(crate) struct Args {
    /// Shell to complete for
    shell: clap_complete::Shell,
}

/// Prints the completions of the command line `Cli`.
pub(crate) fn run<Cli: CommandFactory>(args: &Args) -> Result<ExitCode> {
    let mut command = Cli::command();
    clap_complete::generate(args.shell, &mut command, "assay", &mut std::io::stdout());
    Ok(ExitCode::SUCCESS)
}
