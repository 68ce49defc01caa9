//! `assay snapshot`: the saved databases that runs begin from.

use std::path::Path;
use std::process::ExitCode;

use clap::Subcommand;
use miette::Result;
use model::state::LevelShape;
use model::units::many;
use model::{Bytes, EngineState, metric};
use render::{Document, Format, Report, Style};
use serde::Serialize;
use serde_json::{Value, json};
use snapshot::{Listed, SnapshotError, SnapshotRecord, Store};

use super::format::TextOrJson;
use super::servers::OPEN_DATA_DIR;
use crate::diagnostic::IntoReport as _;
use crate::environment::Environment;
use crate::ui::Ui;

/// Arguments of `assay snapshot`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "Examples:
  assay snapshot list
  assay snapshot list --format json      for programs; show and verify too
  assay snapshot verify                  every file of every snapshot
  assay snapshot remove --all            all snapshots that no run is restoring

`assay run --load per-variant` saves and restores snapshots. They are stored below the data
directory, so that the file system can share blocks between snapshots and runs.")]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    output: TextOrJson,
}

#[derive(Debug, Clone, Subcommand)]
enum Verb {
    /// List the snapshots, most recently used first
    List {
        #[command(flatten)]
        output: TextOrJson,
    },
    /// Show how a snapshot was loaded: settings, steps and files
    Show {
        /// Identifiers of the snapshots; all when none is given
        ids: Vec<String>,
        #[command(flatten)]
        output: TextOrJson,
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
        #[command(flatten)]
        output: TextOrJson,
    },
}

/// Executes one of its verbs; without one, lists the snapshots.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    let stores = &stores(environment)[..];
    match args.verb.clone().unwrap_or(Verb::List { output: args.output }) {
        Verb::List { output } => {
            let all = stores.iter().flat_map(Store::list).map(Item::listed).collect();
            ui.report(&Items { stores, all }, output.format);
        }
        Verb::Show { ids, output } => {
            let mut all = Vec::new();
            for id in chosen(stores, ids) {
                all.push(Item::shown(one(stores, &id).into_report()?.1.record.into_report()?));
            }
            ui.report(&Items { stores, all }, output.format);
        }
        Verb::Remove { ids, all: _ } => {
            let ids = chosen(stores, ids);
            if ids.is_empty() {
                ui.print(none(stores));
            }
            let found = ids.iter().map(|id| Ok((id, one(stores, id).into_report()?.0)));
            // Before the first is removed: a mistyped one removes none.
            for (id, store) in found.collect::<Result<Vec<_>>>()? {
                store.remove(id).into_report()?;
                ui.print(format_args!("{id}: removed"));
            }
        }
        Verb::Verify { ids, output } => {
            let verified = chosen(stores, ids).into_iter().map(|id| verified(stores, id));
            let all = verified.collect::<Result<Vec<Item>>>()?;
            let is_damaged = all.iter().any(|item| item.data.get("error").is_some());
            ui.report(&Items { stores, all }, output.format);
            if is_damaged {
                return Ok(ExitCode::FAILURE);
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// One snapshot, as it is listed, shown or verified.
#[derive(Debug)]
struct Item {
    lines: Vec<String>,
    data: Value,
}

impl Item {
    fn listed(listed: Listed) -> Self {
        match listed.record {
            Ok(record) => Self { lines: vec![line(&record)], data: summary(&record) },
            Err(error) => Self::failed(&listed.id, &error),
        }
    }

    fn shown(record: SnapshotRecord) -> Self {
        let mut data = summary(&record);
        let lines = lines(&record);
        data["record"] = json!(record);
        Self { lines, data }
    }

    fn failed(id: &str, error: &SnapshotError) -> Self {
        let error = error.to_string();
        Self { data: json!({ "id": id, "error": error }), lines: vec![error] }
    }
}

/// Snapshots, or the sentence that no snapshot is stored.
struct Items<'a> {
    stores: &'a [Store],
    all: Vec<Item>,
}

impl Report for Items<'_> {
    fn document(&self, _: Format, _: Style) -> Document {
        match &self.all[..] {
            [] => Document::lines([none(self.stores)]),
            all => Document::lines(all.iter().flat_map(|item| item.lines.clone())),
        }
    }

    fn data(&self) -> impl Serialize {
        self.all.iter().map(|item| &item.data).collect::<Vec<_>>()
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

/// Returns the identifiers given, or the identifiers of all snapshots.
fn chosen(stores: &[Store], ids: Vec<String>) -> Vec<String> {
    match ids.is_empty() {
        true => stores.iter().flat_map(Store::list).map(|listed| listed.id).collect(),
        false => ids,
    }
}

fn none(stores: &[Store]) -> String {
    let dirs: Vec<_> = stores.iter().map(|store| store.dir().display().to_string()).collect();
    format!("no snapshot in {}", dirs.join(" or "))
}

/// Returns the snapshot of an identifier with its store.
fn one<'s>(stores: &'s [Store], id: &str) -> Result<(&'s Store, Listed), SnapshotError> {
    let mut all =
        stores.iter().flat_map(|store| store.list().into_iter().map(move |it| (store, it)));
    all.find(|(_, listed)| listed.id == id).ok_or_else(|| SnapshotError::Unknown(id.to_owned()))
}

/// Returns what the list has of a snapshot, for programs.
fn summary(record: &SnapshotRecord) -> Value {
    let key = &record.key;
    json!({
        "id": record.id,
        "engine": key.engine,
        "version": key.version,
        "rows": key.data.rows,
        "steps": steps(record),
        "bytes": record.bytes(),
        "made_at": record.made_at,
        "made_by": record.made_by,
    })
}

fn steps(record: &SnapshotRecord) -> Vec<&str> {
    record.key.steps.iter().map(|step| step.name.as_str()).collect()
}

/// Returns the line of a snapshot in the list.
fn line(record: &SnapshotRecord) -> String {
    let key = &record.key;
    format!(
        "{}  {} {}  {}  {}  {}  {} of {}",
        record.id,
        key.engine,
        key.version,
        many(key.data.rows, "row"),
        steps(record).join(", "),
        record.bytes(),
        record.made_at,
        record.made_by
    )
}

/// Formats a snapshot in lines.
fn lines(record: &SnapshotRecord) -> Vec<String> {
    let key = &record.key;
    let mut lines =
        vec![line(record), format!("build     {}", key.build), format!("seed      {}", key.seed)];
    let settings = key.settings.labels().into_iter();
    lines.extend(
        settings.filter_map(|(name, value)| Some(format!("setting   {name} = {}", value?))),
    );
    lines.extend(key.options.iter().map(|(name, value)| format!("option    {name} = {value}")));
    lines.extend(
        record
            .steps
            .iter()
            .map(|step| format!("step      {}: {}", step.step.name, state(step.final_state()))),
    );
    lines.extend(
        record.files.iter().map(|file| {
            format!("file      {}  {}  {}", file.path.display(), file.bytes, file.xxh3)
        }),
    );
    lines
}

/// Describes the shape of an engine's tree, and the work that is left.
fn state(after: &EngineState) -> String {
    let level = |level: &LevelShape| {
        format!("level {}: {}, {}", level.level, many(level.files, "file"), Bytes(level.bytes))
    };
    let levels = after.levels.iter().flatten().filter(|level| level.files > 0).map(level);
    let height = after.tree_height.map(|height| format!("a tree of {}", many(height, "level")));
    let debt =
        after.readings.get(metric::ENGINE_DEBT_BYTES.name).map(|debt| format!("debt {debt} B"));
    let known: Vec<_> = levels.chain(height).chain(debt).collect();
    if known.is_empty() { "the engine reports no shape".to_owned() } else { known.join("; ") }
}

/// Checks a snapshot; one that is damaged has an error.
fn verified(stores: &[Store], id: String) -> Result<Item> {
    let (store, _) = one(stores, &id).into_report()?;
    match store.verify(&id) {
        Ok(record) => {
            let (files, bytes) = (record.files.len(), record.bytes());
            let lines = vec![format!("{id}: {} as saved, {bytes}", many(files, "file"))];
            Ok(Item { lines, data: json!({ "id": id, "files": files, "bytes": bytes }) })
        }
        Err(error) => {
            // What a run would find by then is found: none restores it.
            if matches!(error, SnapshotError::Damaged(..)) {
                store.set_damaged(&id, &error).into_report()?;
            }
            Ok(Item::failed(&id, &error))
        }
    }
}
