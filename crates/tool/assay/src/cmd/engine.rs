//! `assay engine`: engine builds and the cache.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;
use miette::{Report, Result, miette};
use model::BuildRef;
use model::capability::Feature;
use plan::{Builds, EngineInfo};
use supply::{Artifact, KNOWN_ROCKSDB, ServerProgram, Store, SupplyError, UserBuild};

use super::cached_build::{line, store};
use super::requested_build::{artifact, check_can_load, check_loaded, fetch, known, to_library};
use crate::diagnostic::IntoReport as _;
use crate::directory::check_existing_dir;
use crate::environment::Environment;
use crate::registry;
use crate::ui::{Ui, aligned};

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
  assay engine add sorted@1 ./libsorted.so     an engine of your own, behind assay_engine.h
  assay engine test sorted@1                   the conformance battery
  assay engine build rocksdb@10.4.2 --cflags '-O3 -march=native'
  assay engine show rocksdb@9.10.0             version, origin and capabilities")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List engines, cached builds and known releases
    List,
    /// Obtain a build and store it in the cache
    Get {
        /// Build, such as rocksdb@9.10.0 or rocksdb@system
        build: BuildRef,
    },
    /// Add your own library, or your own server installation
    Add {
        /// Engine, or a name for your own; with a name for the build: postgres@mine, sorted@1
        build: BuildRef,
        /// The library, or the installation directory of a server (not copied)
        #[arg(value_name = "PATH")]
        library: PathBuf,
        /// Directory of its headers, if not near the library; for engines driven through a shim
        #[arg(long, value_name = "DIR")]
        headers: Option<PathBuf>,
    },
    /// Compile a release with a compiler and flags of your choice
    Build(super::build::Args),
    /// Run the conformance battery on a build, each check in a process of its own
    Test {
        /// Build to check; NAME alone is its only cached build
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
    },
}

/// Runs the subcommand.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    match &args.action {
        Action::List => list(environment, ui)?,
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
        Action::Show { build } => show(build, environment, ui)?,
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
    added.map_err(|error| not_added(own, (&names, is_known), &error))
}

/// Returns the error for a library that is not added: absent, or of an engine that is not known.
fn not_added(
    own: &UserBuild<'_>,
    (names, is_known): (&[String], bool),
    error: &SupplyError,
) -> Report {
    if let SupplyError::Io { action: "read", .. } = error {
        let help = "name the file of a shared library that this account can read";
        return miette!(help = help, "no library: {error}");
    }
    if is_known {
        return miette!("{error}");
    }
    let near = plan::nearest(own.engine, names.iter().map(String::as_str));
    let help = near.map_or_else(
        || {
            "its library must export the functions of assay_engine.h: docs/guide/own-engine.md"
                .into()
        },
        |near| format!("did you mean `{near}`?"),
    );
    miette!(help = format!("no engine of Assay's is named `{}`: {help}", own.engine), "{error}")
}

fn list(environment: &Environment, ui: &Ui) -> Result<()> {
    let store = &store(environment)?;
    ui.print("engines, and how to obtain their builds");
    let infos = registry::infos(&registry::own_engines(environment));
    let engines = infos.iter().map(|info| {
        [info.name.clone(), ways_to_get(store, info), registry::about(&info.name).to_owned()]
    });
    print_rows(engines, ui);
    ui.print("  linked: ENGINE alone; system, get: assay engine get ENGINE@system, ENGINE@RELEASE");
    ui.print("cached builds");
    let cached = store.list();
    print_rows(cached.iter().map(Artifact::row), ui);
    if cached.is_empty() {
        ui.print("  none yet: assay engine get rocksdb@VERSION");
    }
    for damage in store.damaged() {
        ui.status(format_args!("damaged: {damage}"));
    }
    let releases = KNOWN_ROCKSDB.join(" ");
    ui.print(format_args!("known releases of rocksdb (others are tried too)\n  {releases}"));
    ui.print("known releases of servers (other releases of postgres are tried too)");
    let known =
        |server: ServerProgram| [server.engine.to_owned(), store.known(server.engine).join(" ")];
    print_rows(registry::servers().map(known), ui);
    ui.print("releases that can be compiled: assay engine build");
    print_rows(supply::compilable().map(|(name, all)| [name.to_owned(), all.join(" ")]), ui);
    Ok(())
}

/// Lists the ways to obtain builds of an engine.
fn ways_to_get(store: &Store, info: &EngineInfo) -> String {
    let mut ways_to_get = Vec::new();
    if info.builds != Builds::Loaded {
        ways_to_get.push("linked");
    }
    if info.builds != Builds::Linked {
        let any = BuildRef { engine: info.name.to_owned(), version: None };
        let way = |example| if example == "system" { example } else { "get" };
        ways_to_get.extend(store.examples(&any).into_iter().map(way));
        // Several sources may offer releases.
        ways_to_get.dedup();
        if supply::compilable().any(|(engine, _)| engine == info.name) {
            ways_to_get.push("build");
        }
        ways_to_get.push("add");
    }
    ways_to_get.join(", ")
}

/// Prints rows with aligned columns.
fn print_rows<const N: usize>(rows: impl IntoIterator<Item = [String; N]>, ui: &Ui) {
    let rows: Vec<_> = rows.into_iter().collect();
    aligned(&rows).into_iter().for_each(|row| ui.print(format_args!("  {row}")));
}

fn show(build: &BuildRef, environment: &Environment, ui: &Ui) -> Result<()> {
    if build.version.is_some() || known(&build.engine, environment)?.builds == Builds::Loaded {
        check_loaded(build, environment)?;
    }
    let artifact = artifact(build, environment, ui)?;
    let library = artifact.as_ref().map(to_library);
    let driver = registry::driver(&build.engine, library.as_ref()).into_report()?;
    let identity = driver.identity();
    let origin = library.as_ref().map_or(&identity.origin, |library| &library.origin);
    // A server's version is known once it runs: until then the build's name is shown.
    let known = Some(&identity.version).filter(|version| !version.is_empty());
    let version = known.or(build.version.as_ref()).map_or("", String::as_str);
    ui.print(format_args!("{} {version} ({origin})", identity.engine));
    let made = library.map(|library| library.facts).unwrap_or_default();
    for (name, value) in identity.facts.iter().chain(&made) {
        ui.print(format_args!("  {name}: {value}"));
    }
    if let Some(artifact) = artifact.filter(|artifact| artifact.tree.is_some()) {
        ui.print(format_args!("  program: {}", artifact.library.display()));
        ui.print(format_args!("  size: {}", artifact.size()));
    }
    let capabilities = driver.capabilities();
    let names = |all: Vec<&str>| all.join(", ");
    ui.print(format_args!(
        "  operations: {}",
        names(capabilities.operations.iter().map(|kind| kind.name()).collect())
    ));
    ui.print(format_args!(
        "  durability: {}",
        names(capabilities.durability.iter().map(|class| class.name()).collect())
    ));
    for (name, feature) in &capabilities.features {
        match feature {
            Feature::Yes => ui.print(format_args!("  {name}: yes")),
            Feature::No(why) => ui.print(format_args!("  {name}: no, {why}")),
        }
    }
    Ok(())
}
