//! `assay smoke-test`: tests a library in a child process.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use miette::{Result, miette};
use model::SmokeTestFailure;
use plan::DISK_FLOOR_BYTES;
use runner::{Library, WorkerProgram, check_room};
use supply::Engines;

use crate::diagnostic::IntoReport;
use crate::environment::Environment;
use crate::registry;

/// Arguments of `assay smoke-test`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Engine of the library
    engine: String,
    /// The library, unless the engine is linked
    library: Option<PathBuf>,
    /// Conformance check to run instead
    #[arg(long)]
    check: Option<String>,
}

/// Tests the library in the working directory; reports through messages.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    // Before the library is loaded.
    let parent = runner::connect().into_report()?;
    let library = args.library.clone().map(|path| Library {
        path,
        sha256: String::new(),
        origin: String::new(),
        facts: BTreeMap::new(),
        places: Vec::new(),
    });
    let driver = registry::driver(&args.engine, library.as_ref());
    runner::serve_library_test(driver, args.check.as_deref(), Path::new("."), parent)
        .map_err(|reason| miette!("{reason}"))?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the engine descriptions for the cache of builds.
pub(crate) fn engines(environment: &Environment) -> Engines {
    Engines {
        recipe: registry::recipe,
        servers: registry::servers().collect(),
        kind: registry::kind,
        compiler: environment.compiler.clone(),
        smoke_test: Box::new(|engine, library, dir| test(engine, Some(library), None, dir)),
        check_room: |dir| check_room(dir, DISK_FLOOR_BYTES).map_err(|error| error.to_string()),
    }
}

/// Runs the smoke test, or one conformance check, in a child process that works in `dir`.
pub(crate) fn test(
    engine: &str,
    library: Option<&Path>,
    check: Option<&str>,
    dir: &Path,
) -> std::result::Result<(), SmokeTestFailure> {
    let failed = |reason: String| SmokeTestFailure::NotLoaded(reason);
    let path = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let mut arguments = vec!["smoke-test".to_owned(), engine.to_owned()];
    arguments.extend(library.map(|library| library.display().to_string()));
    arguments.extend(check.map(|check| format!("--check={check}")));
    let program = WorkerProgram { path, arguments };
    match runner::test_library(&program, check, dir) {
        Ok(None) => Ok(()),
        Ok(Some(smoke_test_failure)) => Err(smoke_test_failure),
        Err(error) => Err(failed(error.to_string())),
    }
}
