//! `assay man`: the man pages of a package.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Command;
use miette::{Result, miette};

/// Arguments of `assay man`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Directory of the pages, which is created if absent
    dir: PathBuf,
}

/// Writes one page for the program, and one for each command.
pub(crate) fn run(args: &Args, command: Command) -> Result<ExitCode> {
    let written =
        fs::create_dir_all(&args.dir).and_then(|()| clap_mangen::generate_to(command, &args.dir));
    written.map_err(|error| {
        let dir = args.dir.display();
        miette!(help = "name another directory", "cannot write man pages to {dir}: {error}")
    })?;
    Ok(ExitCode::SUCCESS)
}
