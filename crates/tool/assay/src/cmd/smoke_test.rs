//! `assay smoke-test`: tests a library in a child process.

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

/// Arguments of `assay smoke-test`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Engine of the library
    engine: String,
    /// The library
    library: PathBuf,
}

/// Tests the library in the working directory; reports through messages.
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

/// Returns the engine descriptions for the cache of builds.
pub(crate) fn engines(environment: &Environment) -> Engines {
    Engines {
        recipe: registry::recipe,
        servers: registry::servers().collect(),
        compiler: environment.compiler.clone(),
        smoke_test: Box::new(test_library),
    }
}

/// Tests a library in a child process that works in `dir`.
fn test_library(
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
