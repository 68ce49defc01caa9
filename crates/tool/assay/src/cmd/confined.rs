//! `assay confined`: confines itself, then becomes the program of a run of a stranger's experiment.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use child::Confinement;
use miette::{Result, miette};

/// Arguments of `assay confined`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Read a file, or what is below a directory
    #[arg(long)]
    read: Vec<PathBuf>,
    /// Read and write a file, or what is below a directory
    #[arg(long)]
    write: Vec<PathBuf>,
    /// No TCP, and few of root's capabilities: the program loads a library
    #[arg(long)]
    library: bool,
    /// The program
    #[arg(last = true, required = true)]
    program: Vec<OsString>,
}

/// Becomes the program; returns only with an error.
pub(crate) fn run(args: Args) -> Result<ExitCode> {
    let Some((program, arguments)) = args.program.split_first() else {
        return Err(miette!("no program is named"));
    };
    let confinement = Confinement::default().reading(args.read).writing(args.write);
    let error = confinement.of_library(args.library).become_program(program, arguments);
    Err(miette!(
        help = "Landlock confines the program: `assay doctor` and docs/method/rerun.md \
             explain how",
        "cannot run {} confined: {error}",
        program.display()
    ))
}
