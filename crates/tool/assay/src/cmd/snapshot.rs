//! `assay snapshot`: the saved databases that runs begin from.

use std::path::Path;
use std::process::ExitCode;

use clap::Subcommand;
use miette::Result;
use model::state::LevelShape;
use model::{Bytes, EngineState, metric};
use snapshot::{Listed, SnapshotError, SnapshotRecord, Store};

use super::servers::OPEN_DATA_DIR;
use crate::diagnostic::IntoReport as _;
use crate::environment::Environment;
use crate::ui::Ui;

/// Arguments of `assay snapshot`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay snapshot list
  assay snapshot verify                  every file of every snapshot
  assay snapshot remove --all            all that no run is restoring

`assay run --load per-variant` saves and restores them. They lie below the data directory, where the
file system can share their blocks with those of the runs.")]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Clone, Subcommand)]
enum Verb {
    /// List the snapshots, the last used first
    List,
    /// Show what a snapshot was loaded by, its settings, steps and files
    Show {
        /// Identifiers of the snapshots; all when none is given
        ids: Vec<String>,
    },
    /// Remove snapshots
    Remove {
        /// Identifiers of the snapshots
        #[arg(required_unless_present = "all")]
        ids: Vec<String>,
        /// Remove all of them
        #[arg(long, conflicts_with = "ids")]
        all: bool,
    },
    /// Check the files of snapshots against their hashes
    Verify {
        /// Identifiers of the snapshots; all when none is given
        ids: Vec<String>,
    },
}

/// Executes one of its verbs; without one, lists the snapshots.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    let stores = stores(environment);
    match args.verb.clone().unwrap_or(Verb::List) {
        Verb::List => {
            list(&stores, ui);
            Ok(ExitCode::SUCCESS)
        }
        Verb::Show { ids } => {
            for id in chosen(&stores, ids, ui) {
                let (_, listed) = one(&stores, &id).into_report()?;
                show(&listed.record.into_report()?, ui);
            }
            Ok(ExitCode::SUCCESS)
        }
        Verb::Remove { ids, all: _ } => {
            let ids = chosen(&stores, ids, ui);
            let found = ids.iter().map(|id| Ok((id, one(&stores, id).into_report()?.0)));
            // Before the first is removed: a mistyped one removes none.
            for (id, store) in found.collect::<Result<Vec<_>>>()? {
                store.remove(id).into_report()?;
                ui.print(format_args!("{id}: removed"));
            }
            Ok(ExitCode::SUCCESS)
        }
        Verb::Verify { ids } => verify(&stores, ids, ui),
    }
}

/// Returns the stores below the data directories that runs use.
fn stores(environment: &Environment) -> Vec<Store> {
    let mut dirs = vec![environment.data_dir.as_path()];
    if !environment.is_data_dir_named {
        dirs.push(Path::new(OPEN_DATA_DIR));
    }
    dirs.into_iter().map(Store::below).collect()
}

/// Returns the identifiers given, or those of all snapshots; prints where there is none.
fn chosen(stores: &[Store], ids: Vec<String>, ui: &Ui) -> Vec<String> {
    if !ids.is_empty() {
        return ids;
    }
    let all: Vec<_> = stores.iter().flat_map(Store::list).map(|listed| listed.id).collect();
    if all.is_empty() {
        let dirs: Vec<_> = stores.iter().map(|store| store.dir().display().to_string()).collect();
        ui.print(format_args!("no snapshot in {}", dirs.join(" or ")));
    }
    all
}

/// Returns the snapshot of an identifier with its store.
fn one<'s>(stores: &'s [Store], id: &str) -> Result<(&'s Store, Listed), SnapshotError> {
    let mut all =
        stores.iter().flat_map(|store| store.list().into_iter().map(move |it| (store, it)));
    all.find(|(_, listed)| listed.id == id).ok_or_else(|| SnapshotError::Unknown(id.to_owned()))
}

fn list(stores: &[Store], ui: &Ui) {
    chosen(stores, Vec::new(), ui);
    for listed in stores.iter().flat_map(Store::list) {
        match listed.record {
            Ok(record) => ui.print(line(&record)),
            Err(error) => ui.print(error),
        }
    }
}

/// Returns the line of a snapshot in the list.
fn line(record: &SnapshotRecord) -> String {
    let key = &record.key;
    let steps: Vec<_> = key.steps.iter().map(|step| step.name.as_str()).collect();
    format!(
        "{}  {} {}  {} rows  {}  {}  {} of {}",
        record.id,
        key.engine,
        key.version,
        key.data.rows,
        steps.join(", "),
        record.bytes(),
        record.made_at,
        record.made_by
    )
}

fn show(record: &SnapshotRecord, ui: &Ui) {
    ui.print(line(record));
    let key = &record.key;
    ui.print(format_args!("build     {}", key.build));
    ui.print(format_args!("seed      {}", key.seed));
    for (name, value) in key.settings.labels() {
        if let Some(value) = value {
            ui.print(format_args!("setting   {name} = {value}"));
        }
    }
    for (name, value) in key.options.iter() {
        ui.print(format_args!("option    {name} = {value}"));
    }
    for step in &record.steps {
        ui.print(format_args!("step      {}: {}", step.step.name, state(step.final_state())));
    }
    for file in &record.files {
        ui.print(format_args!("file      {}  {}  {}", file.path.display(), file.bytes, file.xxh3));
    }
}

/// Describes the shape of an engine's tree, and the work that is left.
fn state(after: &EngineState) -> String {
    let level = |level: &LevelShape| {
        format!("level {}: {} files, {}", level.level, level.files, Bytes(level.bytes))
    };
    let levels = after.levels.iter().flatten().filter(|level| level.files > 0).map(level);
    let height = after.tree_height.map(|height| format!("a tree of {height} levels"));
    let debt =
        after.readings.get(metric::ENGINE_DEBT_BYTES.name).map(|debt| format!("debt {debt} B"));
    let known: Vec<_> = levels.chain(height).chain(debt).collect();
    if known.is_empty() { "it reports no shape".to_owned() } else { known.join("; ") }
}

/// Checks snapshots; the exit code is 1 when one is damaged.
fn verify(stores: &[Store], ids: Vec<String>, ui: &Ui) -> Result<ExitCode> {
    let mut code = ExitCode::SUCCESS;
    for id in &chosen(stores, ids, ui) {
        let (store, _) = one(stores, id).into_report()?;
        match store.verify(id) {
            Ok(record) => {
                let files = record.files.len();
                ui.print(format_args!("{id}: {files} files as saved, {}", record.bytes()));
            }
            Err(error) => {
                // What a run would find by then is found: none restores it.
                if matches!(error, SnapshotError::Damaged(..)) {
                    store.set_damaged(id, &error).into_report()?;
                }
                ui.print(error);
                code = ExitCode::FAILURE;
            }
        }
    }
    Ok(code)
}
