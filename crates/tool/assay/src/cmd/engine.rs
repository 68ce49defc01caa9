//! `assay engine`: engine builds and the cache.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;
use miette::{Report, Result, miette};
use model::BuildRef;
use supply::{Artifact, SupplyError, UserBuild};

use super::engine_facts::BuildFacts;
use super::engine_list::EngineList;
use super::format::TextOrJson;
use super::requested_build::{check_can_load, check_loaded, fetch, line, store};
use crate::diagnostic::IntoReport as _;
use crate::directory::check_existing_dir;
use crate::environment::Environment;
use crate::phase;
use crate::registry;
use crate::ui::Ui;

/// Arguments of `assay engine`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay engine list                            engines, cached builds and known releases
  assay engine get rocksdb@9.10.0              the official artifact, through Maven
  assay engine get rocksdb@system              the distribution's library
  assay engine get postgres@15.10              a server with all its files
  assay engine add rocksdb@9.10.0-mine ./librocksdb.so
  assay engine add postgres@mine /usr/lib/postgresql/15
  assay engine add splinterdb build/release/lib/libsplinterdb.so --headers include
  assay engine add sorted@1 ./libsorted.so     your engine, behind assay_engine.h
  assay engine test sorted@1                   the conformance battery
  assay engine build rocksdb@10.4.2 --cflags '-O3 -march=native'
  assay engine show rocksdb@9.10.0             version, origin and capabilities
  assay engine list --format json              for programs; show too")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List engines, cached builds and known releases
    List {
        #[command(flatten)]
        output: TextOrJson,
    },
    /// Obtain a build and store it in the cache
    Get {
        /// Build, such as rocksdb@9.10.0 or rocksdb@system
        #[arg(value_parser = requested)]
        build: BuildRef,
    },
    /// Add your own library, or your own server installation
    Add {
        /// Engine or a name for your own engine, with a name for the build: postgres@mine, sorted@1
        build: BuildRef,
        /// The library; or a server's installation directory or program (not copied)
        #[arg(value_name = "PATH")]
        library: PathBuf,
        /// Directory of the headers, if not near the library; for engines driven through a shim
        #[arg(long, value_name = "DIR")]
        headers: Option<PathBuf>,
    },
    /// Compile a release with a compiler and flags of your choice
    Build(super::build::Args),
    /// Run the conformance battery on a build. Each check runs in a separate process
    Test {
        /// Build to check; NAME without a version is the only cached build of the engine
        build: BuildRef,
    },
    /// Remove a build from the cache
    Remove {
        /// Build to remove
        build: BuildRef,
    },
    /// Show version, origin and capabilities of a build
    Show {
        /// Build to show
        build: BuildRef,
        #[command(flatten)]
        output: TextOrJson,
    },
}

/// Parses a requested build; one with an empty version is answered as one without.
fn requested(text: &str) -> Result<BuildRef, String> {
    text.strip_suffix('@').unwrap_or(text).parse()
}

/// Runs the subcommand.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    phase::enter("for the cache of builds");
    match &args.action {
        Action::List { output } => {
            let list = EngineList::of(&store(environment)?, environment);
            list.damaged.iter().for_each(|damage| ui.status(format_args!("damaged: {damage}")));
            ui.report(&list, output.format);
        }
        Action::Get { build } => {
            check_loaded(build, environment)?;
            let artifact = fetch(&store(environment)?, build, ui)?;
            ui.print(line(&artifact));
        }
        Action::Add { build, library, headers } => {
            let (engine, version) = (build.engine.as_str(), build.version.as_deref());
            let own = UserBuild { engine, library, version, headers: headers.as_deref() };
            ui.print(line(&add(&own, environment, ui)?));
        }
        Action::Build(args) => return super::build::run(args, environment, ui),
        Action::Test { build } => return super::conformance::run(build, environment, ui),
        Action::Remove { build } => {
            store(environment)?.remove(build).into_report()?;
            ui.print(format_args!("removed {build}"));
        }
        Action::Show { build, output } => {
            ui.report(&BuildFacts::of(build, environment, ui)?, output.format);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Adds the user's library or server to the cache.
fn add(own: &UserBuild<'_>, environment: &Environment, ui: &Ui) -> Result<Artifact> {
    let engine = own.engine;
    let names = registry::infos(&[]).into_iter().map(|info| info.name).collect::<Vec<_>>();
    let is_known = names.iter().any(|name| name == engine);
    if is_known {
        check_can_load(engine, environment)?;
    }
    if own.headers.is_some() && registry::recipe(engine).is_none() {
        let is_server = registry::servers().any(|server| server.engine == engine);
        let driven = if is_server { "a server" } else { "driven through its C functions" };
        return Err(miette!(
            help = "leave out --headers",
            "{engine} is {driven}: no headers are needed"
        ));
    }
    own.headers.map_or(Ok(()), |headers| check_existing_dir("--headers", headers))?;
    let progress = &mut |what: &str| ui.status(format_args!("{engine}: {what}"));
    let added = store(environment)?.add(own, progress);
    added.map_err(|error| not_added(own, &names, is_known, &error))
}

/// Returns the error for a library that is not added: absent, or of an engine that is not known.
fn not_added(own: &UserBuild<'_>, names: &[String], is_known: bool, error: &SupplyError) -> Report {
    if let SupplyError::Io { action: "read", .. } = error {
        let (what, help) = match registry::kind(own.engine) {
            Some(_) => {
                ("server", "name the directory of an installation that this account can read")
            }
            None => ("library", "name the file of a shared library that this account can read"),
        };
        return miette!(help = help, "no {what}: {error}");
    }
    if is_known {
        return miette!("{error}");
    }
    let near = plan::nearest(own.engine, names.iter().map(String::as_str));
    let help = near.map_or_else(
        || {
            "the library must export the functions of assay_engine.h: docs/guide/own-engine.md"
                .into()
        },
        |near| format!("did you mean `{near}`?"),
    );
    miette!(help = format!("Assay has no engine named `{}`: {help}", own.engine), "{error}")
}
