//! The loaded database that runs share: found and restored, or saved.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use load::{Clock, SteadyClock};
use model::{Bytes, Cell, Manifest, PageCache, RunEnd, SharedLoad, Variant};
use snapshot::{Key, Listed, Made, SnapshotError, SnapshotRecord, Store};

use super::data::free_space;
use super::supervise::Supervised;
use super::workbench::{Progress, Served, Workbench};
use crate::stamp::now_utc;

/// Fact of a run: why it shares its load with no other one.
const NOT_SHARED: &str = "load_not_shared";
/// Files in a run's directory that are a server's, and not its database.
const OF_SERVER: &[&str] = &[server::LOG, "tmp"];

/// The loaded database of one run.
pub(super) struct RunLoad<'a> {
    bench: &'a Workbench<'a>,
    store: Store,
    /// What it depends on.
    pub(super) key: Key,
    /// Identifier of the run.
    id: String,
    keeps_cached: bool,
    left_out: &'static [&'static str],
}

impl<'a> RunLoad<'a> {
    /// Returns the load that a run shares; `None` when it loads for itself.
    pub(super) fn of(bench: &'a Workbench<'a>, manifest: &Manifest, cell: &Cell) -> Option<Self> {
        let experiment = &manifest.plan.experiment;
        let number = experiment.load_number(cell.repetition)?;
        let is_foreign = matches!(bench.servers.get(&cell.variant), Some(Served::Foreign(_)));
        let variant = experiment.variant(&cell.variant).filter(|_| !is_foreign)?;
        let of_load = |one: &&Cell| one.repetition == number;
        let seed = manifest.plan.cells.iter().find(of_load).map_or(cell.seed, |one| one.seed);
        let is_server = bench.servers.contains_key(&cell.variant);
        Some(Self {
            bench,
            store: Store::below(bench.data.path()),
            key: key(bench, manifest, variant, cell.clients, seed),
            id: format!("{}/{}", manifest.id, cell.id),
            keeps_cached: experiment.load.page_cache == PageCache::Warm,
            left_out: if is_server { OF_SERVER } else { &[] },
        })
    }

    /// Returns how many steps load.
    pub(super) fn steps(&self) -> u32 {
        u32::try_from(self.key.steps.len()).unwrap_or(u32::MAX)
    }

    /// Restores the saved database into `to`; returns the run as an error when there is none.
    ///
    /// One that is damaged is named and not used.
    #[expect(clippy::result_large_err, reason = "it is no error, and returned once a run")]
    pub(super) fn restore(
        &self,
        to: &Path,
        mut run: Supervised,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Supervised, Supervised> {
        let mut is_explained = false;
        while let Some(saved) = self.store.find(&self.key) {
            if saved.made_by == run.record.id {
                // The run broke off after it, and its measurements of the load with it.
                drop(self.store.remove(&saved.id));
                continue;
            }
            match self.room_for(&saved).and_then(|()| self.bring(&saved, to)) {
                Ok(load) => {
                    progress(Progress::Snapshot(&describe(&load)));
                    run.record.load = Some(Box::new(load));
                    return Ok(run);
                }
                Err(error) => {
                    progress(Progress::Snapshot(&format!("{error}; the database is loaded")));
                    is_explained = true;
                    clear(to, self.left_out);
                    // A damaged one would be found again.
                    let is_damaged = matches!(error, SnapshotError::Damaged(..));
                    if !is_damaged || self.store.set_damaged(&saved.id, &error).is_err() {
                        break;
                    }
                }
            }
        }
        if !is_explained {
            self.name_unusable(progress);
        }
        Err(run)
    }

    /// Saves the files of a loaded database, and brings them back as for every run that shares it.
    ///
    /// Without room, or for an engine that leaves no files, the run goes on with its own.
    pub(super) fn save(
        &self,
        from: &Path,
        mut run: Supervised,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Supervised {
        match self.saved(from, &mut run) {
            Ok((load, removed)) => {
                for id in removed {
                    progress(Progress::Snapshot(&format!("snapshot {id} is removed: no room")));
                }
                progress(Progress::Snapshot(&describe(&load)));
                run.record.load = Some(Box::new(load));
            }
            Err(Failure::Unsaved(error)) => {
                let reason = format!("the load is not saved: {error}");
                progress(Progress::Snapshot(&reason));
                if let Some(identity) = &mut run.record.identity {
                    identity.facts.insert(NOT_SHARED.to_owned(), error.to_string());
                }
            }
            Err(Failure::Lost(error)) => {
                let reason = format!("the loaded database is lost: {error}");
                let end = RunEnd::Failed { step: "restore".to_owned(), reason };
                run.record.end = self.bench.interrupt.end(end);
            }
        }
        if self.is_stopped() && run.record.end == RunEnd::Running {
            run.record.end = RunEnd::Interrupted { step: "restore".to_owned() };
        }
        run
    }

    fn saved(
        &self,
        from: &Path,
        run: &mut Supervised,
    ) -> Result<(SharedLoad, Vec<String>), Failure> {
        let needed = tree_bytes(from).map_err(Failure::Unsaved)?;
        let removed = self.make_room(needed).map_err(Failure::Unsaved)?;
        let made = Made {
            key: self.key.clone(),
            made_by: self.id.clone(),
            made_at: now_utc(),
            steps: run.record.steps.clone(),
            immutable: std::mem::take(&mut run.immutable),
            left_out: self.left_out,
        };
        let saved = self.store.save(from, made).map_err(Failure::Unsaved)?;
        match self.bring(&saved, from) {
            Ok(load) => Ok((load, removed)),
            Err(error) => {
                clear(from, self.left_out);
                match self.store.give_back(&saved.id, from) {
                    Ok(()) => Err(Failure::Unsaved(error)),
                    Err(lost) => Err(Failure::Lost(lost)),
                }
            }
        }
    }

    /// Restores a snapshot into `to`, and times it.
    fn bring(&self, saved: &SnapshotRecord, to: &Path) -> Result<SharedLoad, SnapshotError> {
        let clock = SteadyClock::kernel();
        let begun = clock.now();
        let stop = || self.is_stopped();
        let restored = self.store.restore(saved, to, self.keeps_cached, &stop)?;
        Ok(SharedLoad {
            snapshot: saved.id.clone(),
            made_by: saved.made_by.clone(),
            steps: self.steps(),
            transfer: restored.transfer,
            bytes: restored.bytes,
            took_ns: clock.now().since(begun),
        })
    }

    /// Checks that a copy of a snapshot leaves as much free as must stay so.
    fn room_for(&self, saved: &SnapshotRecord) -> Result<(), SnapshotError> {
        let needed = tree_bytes(&self.store.dir().join(&saved.id))?;
        let free = free_space(self.bench.data.path()).unwrap_or(Bytes(u64::MAX));
        if free.0 < self.bench.disk_floor.0.saturating_add(needed.0) {
            return Err(SnapshotError::NoRoom(needed, free));
        }
        Ok(())
    }

    /// Makes room for a snapshot and a copy of it; returns what was removed for it.
    fn make_room(&self, needed: Bytes) -> Result<Vec<String>, SnapshotError> {
        let free = || free_space(self.bench.data.path()).unwrap_or(Bytes(0)).0;
        let held = self.store.bytes().0;
        let half = Bytes(free().saturating_add(held) / 2);
        let limit = self.bench.snapshot_limit.unwrap_or(half);
        let mut removed = self.store.evict(needed, limit)?;
        let floor = self.bench.disk_floor.0.saturating_add(needed.0);
        while free() < floor {
            let Some(id) = self.store.evict_one() else {
                return Err(SnapshotError::NoRoom(needed, Bytes(free())));
            };
            removed.push(id);
        }
        Ok(removed)
    }

    /// Names the snapshots of this load that another build made, or that are damaged.
    fn name_unusable(&self, progress: &mut dyn FnMut(Progress<'_>)) {
        for Listed { id, key, record, .. } in self.store.list() {
            let Some(key) = key else { continue };
            let Key { version, build, .. } = self.key.clone();
            let text = match record {
                Err(error) if key == self.key => error.to_string(),
                Ok(_) if key != self.key && key.clone().with_build(version, build) == self.key => {
                    format!("snapshot {id} of another build ({}) is not used", key.version)
                }
                Ok(_) | Err(_) => continue,
            };
            progress(Progress::Snapshot(&text));
        }
    }

    fn is_stopped(&self) -> bool {
        self.bench.interrupt.level() > 0
    }
}

/// Why a loaded database is not shared.
enum Failure {
    /// The run goes on with it.
    Unsaved(SnapshotError),
    /// The run cannot go on.
    Lost(SnapshotError),
}

/// Returns what a variant's load depends on.
fn key(
    bench: &Workbench<'_>,
    manifest: &Manifest,
    variant: &Variant,
    clients: u32,
    seed: u64,
) -> Key {
    let experiment = &manifest.plan.experiment;
    let mut steps = experiment.steps_for(clients);
    let clients_max = steps.iter().map(|step| step.clients).max();
    steps.truncate(experiment.loading_steps());
    let build = manifest.builds.get(&variant.name);
    let own = bench.libraries.get(&variant.name).map(|library| library.sha256.as_str());
    // Its driver and its rows are Assay's.
    let build_of = |own: &str| format!("{own}, {}", program(&bench.program.path));
    Key {
        engine: variant.build.engine.clone(),
        version: build.map(|build| build.version.clone()).unwrap_or_default(),
        build: own.map_or_else(|| program(&bench.program.path), build_of),
        options: variant.options.clone(),
        settings: variant.settings.clone(),
        data: experiment.data,
        seed,
        steps,
        application: experiment.application.as_ref().map(Key::sha256_of_application),
        clients_max: experiment.application.as_ref().and(clients_max),
        memory_bytes: experiment.memory_bytes.map(|bytes| bytes.0),
        file_system: manifest.host.filesystem.clone().unwrap_or_default(),
        account: bench.servers.get(&variant.name).and(bench.server_user.clone()),
    }
}

/// Returns what identifies the program whose engines are linked into it: no hash of 30 MB a run.
fn program(path: &Path) -> String {
    let found = fs::metadata(path);
    let text = |found: fs::Metadata| format!("assay of {} B, {} s", found.len(), found.mtime());
    found.map(text).unwrap_or_default()
}

fn describe(load: &SharedLoad) -> String {
    let SharedLoad { snapshot, made_by, bytes, took_ns, .. } = load;
    let how = load.transfer.name();
    format!("snapshot {snapshot} of {made_by}: {bytes} restored in {took_ns} ({how})")
}

/// Returns the length of all files below a directory.
fn tree_bytes(dir: &Path) -> Result<Bytes, SnapshotError> {
    let mut bytes = 0;
    let mut todo = vec![dir.to_path_buf()];
    while let Some(dir) = todo.pop() {
        let entries = fs::read_dir(&dir).map_err(|error| SnapshotError::File(dir, error))?;
        for entry in entries.flatten() {
            match entry.metadata() {
                Ok(found) if found.is_dir() => todo.push(entry.path()),
                Ok(found) => bytes += found.len(),
                // It was removed meanwhile.
                Err(_) => {}
            }
        }
    }
    Ok(Bytes(bytes))
}

/// Removes what was restored before it failed.
fn clear(dir: &Path, left_out: &[&str]) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let is_left_out = left_out.iter().any(|name| entry.file_name() == *name);
        let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let path = entry.path();
        // What stays makes the engine refuse to open, with the reason.
        drop(match (is_left_out, is_dir) {
            (true, _) => Ok(()),
            (false, true) => fs::remove_dir_all(path),
            (false, false) => fs::remove_file(path),
        });
    }
}
