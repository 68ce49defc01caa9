//! `assay worker`: the child process of a run.

use std::fs::File;
use std::io::{BufRead, BufReader, Write, stderr, stdout};
use std::os::fd::AsFd as _;
use std::path::Path;
use std::process::ExitCode;

use archive::ScratchDir;
use fleet::{CLIENT_HELLO, check_cpus};
use miette::{Result, miette};
use runner::SocketWriter;
use rustix::stdio::dup2_stdout;

use crate::diagnostic::IntoReport as _;
use crate::environment::{Environment, variable_os};
use crate::registry;
use crate::ui::{Process, Ui};

/// Arguments of `assay worker`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Take messages from stdin, and write them to stdout: the run is of another machine
    #[arg(long)]
    stream: bool,
}

/// Executes one run; messages go over the connection to the parent, errors to stderr.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    let process = Process { environment, ui };
    if args.stream {
        return streamed(process);
    }
    let parent = runner::connect().into_report()?;
    let input = BufReader::new(parent.try_clone().into_report()?);
    work(input, SocketWriter(parent), process, None)
}

/// Executes one run of another machine.
fn streamed(process: Process<'_>) -> Result<ExitCode> {
    let input = BufReader::new(File::from(runner::take_input().into_report()?));
    let mut output = File::from(stdout().as_fd().try_clone_to_owned().into_report()?);
    // A library that prints must not write between messages.
    dup2_stdout(stderr()).into_report()?;
    writeln!(output, "{CLIENT_HELLO}\n{}", std::process::id()).into_report()?;
    check_cpus(&variable_os).map_err(|reason| miette!("{reason}"))?;
    let scratch = ScratchDir::new().into_report()?;
    std::env::set_current_dir(scratch.path()).into_report()?;
    work(input, output, process, Some(scratch.path()))
}

fn work(
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
    Process { environment, ui }: Process<'_>,
    place: Option<&Path>,
) -> Result<ExitCode> {
    match runner::work(input, output, &registry::driver, &environment.tunables, place) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(reason) => {
            ui.status(reason);
            Ok(ExitCode::FAILURE)
        }
    }
}
