//! The results directory and its experiments.

use std::cmp::Reverse;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use model::Manifest;
use model::limits::{NAME_BYTES_MAX, check_name};
use trust::Entries;

use crate::bundle::BUNDLE;
use crate::error::ArchiveError;
use crate::experiment::ExperimentDir;
use crate::layout::RUN_DIRS;
use crate::parallel::parallel_map;
use crate::summary::{ExperimentSummary, Summaries};
use crate::unpack;

/// Directory of storage profiles. The leading dot keeps it out of the experiments' names.
pub(crate) const DEVICES: &str = ".devices";
/// Directory of the blocks of experiments that run on other machines.
const FLEET: &str = ".fleet";

/// The root of an archive.
#[derive(Debug, Clone)]
pub struct Results {
    root: PathBuf,
}

/// The contents of an archive.
#[derive(Debug, Default)]
pub struct Listing {
    /// The experiments, oldest first.
    pub experiments: Vec<ExperimentSummary>,
    /// The manifests and records that cannot be read, and why.
    pub damaged: Vec<ArchiveError>,
}

impl Results {
    /// Returns the archive at `root`; nothing is touched.
    pub fn at(root: &Path) -> Self {
        Self { root: root.to_path_buf() }
    }

    /// Returns the archive that an experiment lies in.
    pub fn of(experiment: &ExperimentDir) -> Self {
        let path = experiment.path();
        Self::at(path.ancestors().nth(2).unwrap_or(path))
    }

    /// Returns the root directory.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the directory of an experiment's blocks on other machines.
    pub fn fleet_dir(&self, id: &str) -> PathBuf {
        self.root.join(FLEET).join(id)
    }

    /// Creates the directory of a new experiment, which is the newest of its name.
    ///
    /// Its identifier is replaced where it does not sort after all others of that name: two began
    /// in one second, or the clock was set back.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn create(&self, manifest: &mut Manifest) -> Result<ExperimentDir, ArchiveError> {
        let dir = self.root.join(&manifest.plan.experiment.name);
        let newest = experiments(&dir).pop();
        let newest = newest.as_ref().and_then(|path| path.file_name()).and_then(|id| id.to_str());
        if let Some(newest) = newest.filter(|newest| **newest >= *manifest.id) {
            manifest.id = successor(newest);
            // One that was copied here by hand may have any name.
            check_name("the identifier after it", &manifest.id, NAME_BYTES_MAX)
                .map_err(|reason| ArchiveError::Damaged(dir.join(newest), reason))?;
        }
        ExperimentDir::create(&dir.join(&manifest.id), manifest)
    }

    /// Checks that the archive can be written, leaving nothing behind.
    ///
    /// # Errors
    /// When it cannot.
    pub fn check_writable(&self) -> Result<(), ArchiveError> {
        trust::check(&self.root, Entries::Shared)
            .and_then(|()| trust::check(&self.root.join(DEVICES), Entries::Closed))
            .map_err(ArchiveError::write(&self.root))?;
        // A missing root is created with the first experiment.
        let existing = self.root.ancestors().find(|dir| dir.exists()).unwrap_or(Path::new("."));
        // It has no name, so a kill leaves nothing.
        let probe = tempfile::tempfile_in(existing).and_then(|mut file| file.write_all(b"probe"));
        probe.map_err(ArchiveError::write(&self.root))
    }

    /// Finds an experiment by path, in one file, by identifier, by name (its newest), or by both.
    ///
    /// # Errors
    /// [`ArchiveError::Unknown`] when there is none.
    pub fn find(&self, name: &str) -> Result<ExperimentDir, ArchiveError> {
        let as_path = Path::new(name);
        if as_path.extension().is_some_and(|extension| extension == BUNDLE) && as_path.exists() {
            return unpack::open(as_path);
        }
        if let Some(path) =
            [as_path, &self.root.join(name)].into_iter().find(|path| ExperimentDir::is_at(path))
        {
            return ExperimentDir::open(path);
        }
        self.find_named(name)
    }

    /// Finds an experiment of this archive, and no other: `NAME`, `ID` or `NAME/ID`.
    ///
    /// # Errors
    /// [`ArchiveError::Unknown`] when there is none.
    pub fn find_within(&self, name: &str) -> Result<ExperimentDir, ArchiveError> {
        let is_name = |part: &str| check_name("a name", part, NAME_BYTES_MAX).is_ok();
        if !name.split('/').all(is_name) {
            return Err(ArchiveError::Unknown(name.to_owned(), self.root.clone()));
        }
        match name.split_once('/') {
            Some((_, id)) if !id.contains('/') && ExperimentDir::is_at(&self.root.join(name)) => {
                ExperimentDir::open(&self.root.join(name))
            }
            _ => self.find_named(name),
        }
    }

    /// Finds an experiment by its name (the newest), or by its identifier.
    fn find_named(&self, name: &str) -> Result<ExperimentDir, ArchiveError> {
        let by_name = experiments(&self.root.join(name)).pop();
        let names = directories(&self.root).into_iter().filter(|_| !name.contains('/'));
        let by_id = names.map(|dir| dir.join(name)).filter(|path| ExperimentDir::is_at(path));
        // An experiment of a stranger may have any name, and the identifier of another.
        let found: Vec<_> = by_name.into_iter().chain(by_id).collect();
        match &found[..] {
            [] => self.find_renamed(name),
            [path] => ExperimentDir::open(path),
            [first, second, ..] => Err(ArchiveError::Ambiguous(
                name.to_owned(),
                [first, second].map(|path| path.strip_prefix(&self.root).unwrap_or(path).into()),
            )),
        }
    }

    /// Finds the newest experiment by the name in its manifest: its directory was renamed or moved.
    fn find_renamed(&self, name: &str) -> Result<ExperimentDir, ArchiveError> {
        let is_it = |dir: &ExperimentDir| {
            let summary = dir.summary();
            summary.is_ok_and(|one| one.name == name || format!("{}/{}", one.name, one.id) == name)
        };
        let found = self.newest().into_iter().find(is_it);
        found.ok_or_else(|| ArchiveError::Unknown(name.to_owned(), self.root.clone()))
    }

    /// Lists every experiment, oldest first by its identifier, and every file that cannot be read.
    ///
    /// The summaries in `known` are not read again.
    pub fn list(&self, known: &Summaries) -> Listing {
        let dirs = self.all();
        let mut listing = Listing::default();
        let summary = |dir: &ExperimentDir| dir.summary_of(known);
        for (dir, summary) in dirs.iter().zip(parallel_map(&dirs, summary)) {
            match summary {
                Ok(summary) => {
                    // Read again: the path may have changed since.
                    let damaged = summary.damaged.iter();
                    listing.damaged.extend(damaged.filter_map(|cell| dir.run(cell).err()));
                    listing.experiments.push(summary);
                }
                Err(error) => listing.damaged.push(error),
            }
        }
        for dir in self.without_manifest() {
            listing.damaged.extend(ExperimentDir::open(&dir).err());
        }
        listing.experiments.sort_by_cached_key(|one| one.id.clone());
        listing
    }

    /// Returns the directories with runs and without a manifest, whose runs no verb shows.
    pub fn without_manifest(&self) -> Vec<PathBuf> {
        let below = directories(&self.root).into_iter();
        let mut found: Vec<_> =
            below.flat_map(|dir| [directories(&dir), vec![dir]].concat()).collect();
        let has_runs = |dir: &PathBuf| !directories(&dir.join(RUN_DIRS[0])).is_empty();
        found.retain(|dir| !ExperimentDir::is_at(dir) && has_runs(dir));
        found
    }

    /// Returns every experiment, the newest first by its identifier.
    pub fn newest(&self) -> Vec<ExperimentDir> {
        let mut dirs = self.all();
        let id = |dir: &ExperimentDir| dir.path().file_name().map(ToOwned::to_owned);
        dirs.sort_by_cached_key(|dir| Reverse(id(dir)));
        dirs
    }

    fn all(&self) -> Vec<ExperimentDir> {
        let paths = directories(&self.root).into_iter().flat_map(|dir| experiments(&dir));
        paths.filter_map(|path| ExperimentDir::open(&path).ok()).collect()
    }
}

/// Returns the identifier that sorts next after `id`: its last four digits, counted on.
fn successor(id: &str) -> String {
    const LAST: u16 = u16::MAX;
    let counted = id.rsplit_once('-').filter(|(_, digits)| digits.len() == 4);
    let counted = counted.and_then(|(stem, digits)| {
        Some((stem, u16::from_str_radix(digits, 16).ok().filter(|number| *number < LAST)? + 1))
    });
    counted.map_or_else(|| format!("{id}-0000"), |(stem, number)| format!("{stem}-{number:04x}"))
}

/// Returns the experiments below `path`, oldest first.
fn experiments(path: &Path) -> Vec<PathBuf> {
    let mut found = directories(path);
    found.retain(|path| ExperimentDir::is_at(path));
    found
}

/// Returns the sub-directories of `path` in the order of their names; none when it has none.
pub(crate) fn directories(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    let mut found: Vec<_> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    let name = |path: &PathBuf| path.file_name().map(ToOwned::to_owned).unwrap_or_default();
    found.retain(|path| !name(path).as_encoded_bytes().starts_with(b"."));
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn manifest() -> Manifest {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/schema-1");
        Results::at(&fixture).find("quick").unwrap().manifest().unwrap()
    }

    #[test]
    fn experiment_begun_last_is_the_newest_whatever_the_clock() {
        let mut manifest = manifest();
        let dir = tempfile::tempdir().unwrap();
        let results = Results::at(dir.path());
        let stamps = ["20261127T100000Z-0007", "20261127T090000Z-ffff", "20261127T100000Z-0001"];
        let ids = stamps.map(|stamp| {
            stamp.clone_into(&mut manifest.id);
            results.create(&mut manifest).unwrap();
            assert_eq!(results.find("quick").unwrap().manifest().unwrap().id, manifest.id);
            manifest.id.clone()
        });
        let expected = ["20261127T100000Z-0007", "20261127T100000Z-0008", "20261127T100000Z-0009"];
        assert_eq!(ids, expected);
        let listed: Vec<String> =
            results.list(&Summaries::new()).experiments.into_iter().map(|one| one.id).collect();
        assert_eq!(listed, expected);
    }

    /// Goal: no experiment answers in the place of another, whatever a stranger has named it.
    #[test]
    fn a_name_or_identifier_of_two_experiments_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let results = Results::at(root.path());
        let create = |name: &str, id: &str| {
            let mut manifest = manifest();
            (manifest.plan.experiment.name, manifest.id) = (name.to_owned(), id.to_owned());
            results.create(&mut manifest).map(drop)
        };
        let id = "20261127T100000Z-0007";
        create("mine", id).unwrap();
        results.find(id).unwrap();
        create("theirs", id).unwrap();
        let error = results.find(id).unwrap_err().to_string();
        assert!(error.contains(&format!("mine/{id} or theirs/{id}")), "{error}");
        results.find(&format!("mine/{id}")).unwrap();
        let long = "z".repeat(80);
        create("long", &long).unwrap();
        let error = create("long", id).unwrap_err().to_string();
        assert!(error.contains("the identifier after it"), "{error}");
    }

    /// Goal: the names that a listing shows are found, also of a directory that was moved.
    #[test]
    fn a_moved_experiment_is_found_by_the_names_in_its_manifest() {
        let root = tempfile::tempdir().unwrap();
        let results = Results::at(root.path());
        let mut manifest = manifest();
        let dir = results.create(&mut manifest).unwrap();
        fs::create_dir(root.path().join("other")).unwrap();
        fs::rename(dir.path(), root.path().join("other/moved")).unwrap();
        let listed = results.list(&Summaries::new()).experiments.remove(0);
        let listed = format!("{}/{}", listed.name, listed.id);
        for name in ["quick", &listed, "other", "moved", "other/moved"] {
            let found = results.find(name).unwrap();
            assert_eq!(found.path(), root.path().join("other/moved"), "{name}");
        }
        assert!(results.find_within(&listed).is_ok());
        assert!(matches!(results.find("quic"), Err(ArchiveError::Unknown(..))));
    }

    /// Goal: an experiment that cannot be begun, as on a full disk, leaves nothing.
    #[test]
    fn an_experiment_without_a_manifest_is_removed() {
        let root = tempfile::tempdir().unwrap();
        let manifest = manifest();
        // Takes the place of the manifest.
        let dir = root.path().join("quick").join(&manifest.id);
        fs::create_dir_all(dir.join("manifest.json")).unwrap();
        assert!(ExperimentDir::create(&dir, &manifest).is_err());
        let left: Vec<_> = fs::read_dir(&dir).unwrap().flatten().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }

    /// Goal: no other account can hold an experiment's lock, also of one that is older.
    #[test]
    fn the_lock_of_an_experiment_is_closed_to_other_accounts() {
        let root = tempfile::tempdir().unwrap();
        let results = Results::at(root.path());
        let lock = results.create(&mut manifest()).unwrap().path().join("lock");
        let mode = || fs::metadata(&lock).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(), 0o600);
        fs::set_permissions(&lock, fs::Permissions::from_mode(0o644)).unwrap();
        results.find("quick").unwrap().lock().unwrap();
        assert_eq!(mode(), 0o600);
    }

    #[test]
    fn successor_sorts_next_after_any_identifier() {
        for id in ["20261127T100000Z-0007", "20261127T100000Z-ffff", "1", "x-y", "a-ffff-0000"] {
            assert!(*successor(id) > *id, "{id}");
        }
        assert_eq!(successor("20261127T100000Z-00ff"), "20261127T100000Z-0100");
    }
}
