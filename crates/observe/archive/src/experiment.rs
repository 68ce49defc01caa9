//! One experiment's directory: its manifest and its runs.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use model::limits::{NAME_BYTES_MAX, check_name};
use model::secret::masked;
use model::{Bytes, IntervalRecord, Manifest, RunRecord};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use trust::{Dir, Entries};

use crate::checksum::{Checksums, parse, read_list, replace_sealed};
use crate::ended;
use crate::error::ArchiveError;
use crate::layout::{CHECKSUMS, MANIFEST, RUN_DIRS};
use crate::limits::JSON_BYTES_MAX;
use crate::parallel::parallel_map;
use crate::regular::{check_dir, open_as};
use crate::replace::{json, remove_replacements, rename, replace};
use crate::run::{RunWriter, parse_json, read_intervals, read_json, read_record};
use crate::scratch::ScratchDir;

/// Directory of the runs.
const RUNS: &str = RUN_DIRS[0];
/// File of the page.
const PAGE: &str = "report.html";
/// File that is locked while runs are written.
pub(crate) const LOCK: &str = "lock";

/// An experiment's directory in the archive.
#[derive(Debug)]
pub struct ExperimentDir {
    path: PathBuf,
    /// Held while runs are written; released by the kernel when the process ends.
    lock: Option<File>,
    /// Where it is unpacked, if it was opened in one file; removed with this.
    unpacked: Option<ScratchDir>,
}

impl ExperimentDir {
    /// Returns whether a directory is an experiment's: one killed while being created has no
    /// manifest.
    pub(crate) fn is_at(path: &Path) -> bool {
        path.join(MANIFEST).exists()
    }

    /// Opens an experiment's directory for reading.
    ///
    /// # Errors
    /// When it has no manifest.
    pub fn open(path: &Path) -> Result<Self, ArchiveError> {
        let manifest = path.join(MANIFEST);
        fs::metadata(&manifest).map_err(ArchiveError::read(&manifest))?;
        Ok(Self { path: path.to_path_buf(), lock: None, unpacked: None })
    }

    /// Opens an experiment that was unpacked into `place` for reading.
    pub(crate) fn unpacked(path: &Path, place: ScratchDir) -> Result<Self, ArchiveError> {
        Ok(Self { unpacked: Some(place), ..Self::open(path)? })
    }

    /// Returns whether it was opened in one file: what is written to it is lost.
    pub const fn is_unpacked(&self) -> bool {
        self.unpacked.is_some()
    }

    /// Creates an experiment's directory with its manifest, locked for writing.
    pub(crate) fn create(path: &Path, manifest: &Manifest) -> Result<Self, ArchiveError> {
        let runs = path.join(RUNS);
        let mut created = Self { path: path.to_path_buf(), lock: None, unpacked: None };
        let text = readable(&path.join(MANIFEST), manifest)?;
        let made = Dir::create(&runs, Entries::Closed).map_err(ArchiveError::write(path));
        let made = made
            .and_then(|_runs| created.lock())
            .and_then(|()| replace_sealed(path, MANIFEST, &text, Checksums::new()));
        if let Err(error) = made {
            // On a full disk: without a manifest it is no experiment. Each holds nothing else.
            for file in [LOCK, CHECKSUMS] {
                fs::remove_file(path.join(file)).ok();
            }
            let dirs = [&runs, path].into_iter().chain(path.parent());
            dirs.for_each(|dir| drop(fs::remove_dir(dir)));
            return Err(error);
        }
        Ok(created)
    }

    /// Locks the experiment for writing runs; removes what a kill left half written.
    ///
    /// # Errors
    /// [`ArchiveError::Busy`] when another process holds it.
    pub fn lock(&mut self) -> Result<(), ArchiveError> {
        trust::check(&self.path, Entries::Closed).map_err(ArchiveError::write(&self.path))?;
        for part in RUN_DIRS.map(|part| self.path.join(part)) {
            let checked = check_dir(&part).and_then(|()| trust::check(&part, Entries::Closed));
            checked.map_err(ArchiveError::write(&part))?;
        }
        let path = self.path.join(LOCK);
        let mut options = OpenOptions::new();
        // Closed to other accounts, which could hold the lock for ever.
        options.write(true).create(true).truncate(false).mode(0o600);
        let file = open_as(&path, &mut options).and_then(|file| {
            // Of an older Assay.
            if file.metadata()?.nlink() == 1 {
                file.set_permissions(fs::Permissions::from_mode(0o600)).ok();
            }
            Ok(file)
        });
        let file = file.map_err(ArchiveError::write(&path))?;
        flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(|errno| match errno {
            Errno::WOULDBLOCK => ArchiveError::Busy(self.path.clone()),
            other => ArchiveError::write(&path)(other.into()),
        })?;
        self.lock = Some(file);
        let runs = fs::read_dir(self.path.join(RUNS)).into_iter().flatten().flatten();
        // A link may lead out of the archive.
        let runs = runs.filter(|run| run.file_type().is_ok_and(|kind| kind.is_dir()));
        let dirs = runs.map(|run| run.path()).chain([self.path.clone()]);
        dirs.for_each(|dir| remove_replacements(&dir));
        Ok(())
    }

    /// Returns the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the manifest.
    ///
    /// # Errors
    /// When it is absent, damaged or newer than this program, or a name or figure in it is none
    /// that a plan can have.
    pub fn manifest(&self) -> Result<Manifest, ArchiveError> {
        let path = self.path.join(MANIFEST);
        let manifest = read_json(&path, |manifest: &Manifest| manifest.schema)?;
        check_manifest(&manifest).map_err(|reason| ArchiveError::Damaged(path, reason))?;
        Ok(manifest)
    }

    /// Replaces the manifest by one whose plan continues the old one.
    ///
    /// A kill at any moment leaves the old manifest or the new one, each with all its runs.
    ///
    /// # Errors
    /// When the new plan does not begin with the old one, or the file cannot be written.
    pub fn extend(&self, manifest: &Manifest) -> Result<(), ArchiveError> {
        let path = self.path.join(MANIFEST);
        if !manifest.plan.cells.starts_with(&self.manifest()?.plan.cells) {
            let reason = "another version of Assay made its plan, so no run can be added; start a \
                          new experiment";
            return Err(ArchiveError::Damaged(path, reason.to_owned()));
        }
        let text = readable(&path, manifest)?;
        let sums = read_list(&self.path).ok().and_then(|list| parse(&list));
        replace_sealed(&self.path, MANIFEST, &text, sums.unwrap_or_default())
    }

    /// Replaces the HTML page of the experiment; returns its path.
    ///
    /// # Errors
    /// When the file cannot be written: the old page stays.
    pub fn write_page(&self, page: &str) -> Result<PathBuf, ArchiveError> {
        let path = self.path.join(PAGE);
        trust::check(&self.path, Entries::Closed).map_err(ArchiveError::output(&path))?;
        replace(&path, masked(page).as_bytes())?;
        Ok(path)
    }

    /// Begins a run; moves an earlier attempt at the cell to `attempts/`.
    ///
    /// # Errors
    /// When the directories cannot be written.
    pub fn begin_run(&self, cell_id: &str) -> Result<RunWriter, ArchiveError> {
        let dir = self.run_dir(cell_id);
        if dir.exists() {
            ended::rename(&dir, &self.next_attempt(cell_id)?)?;
        }
        let writer = RunWriter::create(dir)?;
        writer.unmark();
        Ok(writer)
    }

    /// Returns the place of one more attempt at a cell, and makes its parent.
    fn next_attempt(&self, cell_id: &str) -> Result<PathBuf, ArchiveError> {
        let attempts = self.path.join(RUN_DIRS[1]);
        fs::create_dir_all(&attempts).map_err(ArchiveError::write(&attempts))?;
        let place = |number: u32| attempts.join(format!("{cell_id}.{number}"));
        let free = (1..).map(place).find(|place| !place.exists());
        Ok(free.expect("a directory has fewer attempts than numbers"))
    }

    /// Moves the directory of a run that ended elsewhere to the cell's place, by rename.
    ///
    /// An earlier run of the cell moves to `attempts/`.
    ///
    /// # Errors
    /// When it has no record of this cell, or cannot be moved: it stays where it was.
    pub fn adopt_run(&self, cell_id: &str, from: &Path) -> Result<(), ArchiveError> {
        let record = read_record(from)?;
        if record.cell.id != cell_id {
            let reason = format!("its record belongs to the run {:?}", record.cell.id);
            return Err(ArchiveError::Damaged(from.to_path_buf(), reason));
        }
        let dir = self.run_dir(cell_id);
        if dir.exists() {
            ended::rename(&dir, &self.next_attempt(cell_id)?)?;
        }
        rename(from, &dir).map_err(ArchiveError::write(from))?;
        ended::add(&dir)
    }

    /// Moves the directory of a run that counts no more to `attempts/`, by rename.
    ///
    /// # Errors
    /// When it cannot be moved.
    pub fn set_run_aside(&self, cell_id: &str, from: &Path) -> Result<(), ArchiveError> {
        let place = self.next_attempt(cell_id)?;
        rename(from, &place).map_err(ArchiveError::write(from))?;
        match ended::add(&place) {
            // A run that was stopped has no list.
            Err(error) if error.is_absence() => Ok(()),
            added => added,
        }
    }

    /// Returns the directory of a cell's run.
    pub fn run_dir(&self, cell_id: &str) -> PathBuf {
        self.path.join(RUNS).join(cell_id)
    }

    /// Reads a cell's record; `None` when the run has none.
    ///
    /// # Errors
    /// When the record cannot be read, is damaged or newer than this program.
    pub fn run(&self, cell_id: &str) -> Result<Option<RunRecord>, ArchiveError> {
        match read_record(&self.run_dir(cell_id)) {
            Ok(record) => {
                // It leads to the run's other files.
                if record.cell.id != cell_id {
                    let reason = format!("its record belongs to the run {:?}", record.cell.id);
                    return Err(ArchiveError::Damaged(self.run_dir(cell_id), reason));
                }
                Ok(Some(record))
            }
            Err(error) if error.is_absence() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads every record, in the plan's order.
    ///
    /// # Errors
    /// When a record is damaged.
    pub fn runs(&self, manifest: &Manifest) -> Result<Vec<RunRecord>, ArchiveError> {
        self.each_run(manifest).into_iter().collect()
    }

    /// Reads every record in plan order, with an error per unreadable one.
    pub fn each_run(&self, manifest: &Manifest) -> Vec<Result<RunRecord, ArchiveError>> {
        let steps = manifest.plan.experiment.steps.len();
        let read = parallel_map(&manifest.plan.cells, |cell| {
            let Some(run) = self.run(&cell.id)? else { return Ok(None) };
            let is_planned = run.steps.iter().all(|step| (step.index as usize) < steps);
            let is_of_it = run.id == format!("{}/{}", manifest.id, cell.id);
            if run.cell == *cell && is_planned && is_of_it {
                return Ok(Some(run));
            }
            let reason = "its record does not match the plan in the manifest".to_owned();
            Err(ArchiveError::Damaged(self.run_dir(&cell.id), reason))
        });
        read.into_iter().filter_map(Result::transpose).collect()
    }

    /// Reads a cell's intervals; none when the run was not begun.
    ///
    /// # Errors
    /// When the file cannot be read or is damaged.
    pub fn intervals(&self, cell_id: &str) -> Result<Vec<IntervalRecord>, ArchiveError> {
        match read_intervals(&self.run_dir(cell_id)) {
            Err(error) if error.is_absence() => Ok(Vec::new()),
            other => other,
        }
    }
}

/// Returns a manifest's text, which readers accept.
///
/// # Errors
/// The reason why they would not: an experiment that cannot be read is not begun.
fn readable(path: &Path, manifest: &Manifest) -> Result<Vec<u8>, ArchiveError> {
    let text = json(manifest);
    let unreadable = |reason| ArchiveError::Unreadable(path.to_path_buf(), reason);
    if text.len() as u64 > JSON_BYTES_MAX {
        return Err(unreadable(format!("it has more than {}", Bytes(JSON_BYTES_MAX))));
    }
    let parsed = parse_json(path, &text, |manifest: &Manifest| manifest.schema);
    let checked = match parsed {
        Ok(manifest) => check_manifest(&manifest),
        Err(ArchiveError::Damaged(_, reason)) => Err(reason),
        Err(other) => return Err(other),
    };
    checked.map_err(unreadable).map(|()| text)
}

/// Checks what a manifest names, and the figures of its plan.
fn check_manifest(manifest: &Manifest) -> Result<(), String> {
    check_name("id", &manifest.id, NAME_BYTES_MAX)?;
    manifest.plan.check().map_err(|reason| format!("plan.{reason}"))
}
