//! `assay engine test`: runs the conformance battery on a build.

use std::process::ExitCode;

use archive::ScratchDir;
use engine::conformance;
use miette::{Result, miette};
use model::BuildRef;
use plan::Builds;

use super::requested_build::{check_loaded, known, library, store};
use super::smoke_test;
use crate::diagnostic::IntoReport as _;
use crate::environment::Environment;
use crate::ui::Ui;

/// Runs every check in a child process, and prints each result.
pub(crate) fn run(build: &BuildRef, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    let build = &chosen(build, environment)?;
    let library = library(build, environment, ui)?;
    let library = library.as_ref().map(|library| library.path.as_path());
    ui.print(format_args!(
        "{build}: the conformance battery; each check runs in a separate process"
    ));
    let (mut passed, mut failed) = (0, 0);
    for check in conformance::checks() {
        let dir = ScratchDir::new().into_report()?;
        match smoke_test::test(&build.engine, library, Some(check), dir.path()) {
            Ok(()) => {
                passed += 1;
                ui.print(format_args!("  passed  {check}"));
            }
            Err(reason) => {
                failed += 1;
                ui.print(format_args!("  FAILED  {check}: {reason}"));
            }
        }
    }
    ui.print(format_args!("{passed} of {} checks passed", passed + failed));
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns the build to check: without a version the linked one, or the only one cached.
fn chosen(build: &BuildRef, environment: &Environment) -> Result<BuildRef> {
    let engine = &build.engine;
    let info = known(engine, environment)?;
    if info.dialect.is_some() {
        return Err(miette!(
            help = "run an experiment on the server: steps check every answer",
            "the conformance battery tests libraries, and {engine} is a server"
        ));
    }
    if build.version.is_some() {
        check_loaded(build, environment)?;
    } else if info.builds == Builds::Loaded {
        let cached = store(environment)?.list().into_iter().map(|cached| cached.build);
        let cached: Vec<_> = cached.filter(|cached| cached.engine == *engine).collect();
        return match &cached[..] {
            [only] => Ok(only.clone()),
            [] => Err(miette!(
                help = format!(
                    "add a build with `assay engine add {engine} PATH` or `assay engine get`"
                ),
                "no build of {engine} is cached"
            )),
            several => Err(miette!(
                help = format!("name one: {}", listed(several)),
                "{engine} has {} builds in the cache",
                several.len()
            )),
        };
    }
    Ok(build.clone())
}

fn listed(builds: &[BuildRef]) -> String {
    builds.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
