//! `assay smoke_test`: tries a library in this process, for the `assay` that started it.

use std::collections::BTreeMap;
use std::io::stdout;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use miette::{Result, miette};
use model::SmokeTestFailure;
use runner::{Library, WorkerProgram};
use supply::Engines;

use crate::environment::Environment;
use crate::registry;

/// What is tried.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Engine the library is of
    engine: String,
    /// The library
    library: PathBuf,
}

/// Tries it in the working directory, and tells through the messages.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let library = Library {
        path: args.library.clone(),
        sha256: String::new(),
        origin: String::new(),
        facts: BTreeMap::new(),
    };
    let driver = registry::driver(&args.engine, Some(&library));
    runner::serve_smoke_test(driver, Path::new("."), stdout())
        .map_err(|reason| miette!("{reason}"))?;
    Ok(ExitCode::SUCCESS)
}

/// Returns what the cache of builds must know of engines.
pub(crate) fn engines(environment: &Environment) -> Engines {
    Engines {
        recipe: registry::recipe,
        servers: registry::servers(),
        compiler: environment.compiler.clone(),
        smoke_test: Box::new(try_library),
    }
}

/// Tries a library in a process of its own, which works in `dir`.
fn try_library(
    engine: &str,
    library: &Path,
    dir: &Path,
) -> std::result::Result<(), SmokeTestFailure> {
    let failed = |reason: String| SmokeTestFailure::NotLoaded(reason);
    let path = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let arguments = vec!["smoke-test".to_owned(), engine.to_owned(), library.display().to_string()];
    let program = WorkerProgram { path, arguments };
    match runner::smoke_test(&program, dir) {
        Ok(None) => Ok(()),
        Ok(Some(smoke_test_failure)) => Err(smoke_test_failure),
        Err(error) => Err(failed(error.to_string())),
    }
}
