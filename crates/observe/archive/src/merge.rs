//! Joins archives: adds the experiments of another one.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use model::limits::{NAME_BYTES_MAX, check_name};
use trust::{Dir, Entries};

use crate::bundle::bytes_max;
use crate::checksum::{checksum_within_limit, names};
use crate::error::ArchiveError;
use crate::experiment::ExperimentDir;
use crate::import::{PREPARED, check_figures};
use crate::layout::{CHECKSUMS, content};
use crate::lock::HeldLocks;
use crate::regular::{self, Names};
use crate::replace::rename;
use crate::results::Results;
use crate::scratch::ScratchDir;
use crate::unpack::check_room;

/// What a merge did.
#[derive(Debug, Default)]
pub struct Merged {
    /// Experiments that were added.
    pub added: usize,
    /// Experiments that were there already, with the same files.
    pub same: usize,
    /// Why experiments were left out: they are damaged, incomplete, or being written.
    pub skipped: Vec<ArchiveError>,
}

impl Results {
    /// Adds the experiments of other archives, each under its name and identifier.
    ///
    /// Caches, pages and marks of ownership stay where they are. A kill or an error leaves each
    /// experiment as a whole, or not at all.
    ///
    /// # Errors
    /// [`ArchiveError::Differs`] before anything is added, when two experiments have one name and
    /// identifier and other files; when this archive cannot be written, or another has no
    /// experiment. A single damaged experiment is no error, but in [`Merged::skipped`].
    pub fn merge(&self, others: &[Self]) -> Result<Merged, ArchiveError> {
        let mut merged = Merged::default();
        for source in self.new_ones(others, &mut merged)?.into_values() {
            match self.add(&source) {
                Ok(true) => merged.added += 1,
                Ok(false) => merged.same += 1,
                Err(error @ ArchiveError::Write(..)) => return Err(error),
                Err(error) => merged.skipped.push(error),
            }
        }
        Ok(merged)
    }

    /// Returns the experiments that are not here, by their place here.
    fn new_ones(
        &self,
        others: &[Self],
        merged: &mut Merged,
    ) -> Result<BTreeMap<PathBuf, ExperimentDir>, ArchiveError> {
        let mut new: BTreeMap<PathBuf, ExperimentDir> = BTreeMap::new();
        for other in others {
            let (found, skipped) = (other.newest(), merged.skipped.len());
            let lost = other.without_manifest();
            merged.skipped.extend(lost.iter().filter_map(|dir| ExperimentDir::open(dir).err()));
            if found.is_empty() && merged.skipped.len() == skipped {
                let absent = io::Error::other("no experiment found in it");
                return Err(ArchiveError::read(other.root())(absent));
            }
            for source in found {
                let target = match place(&source) {
                    Ok(place) => self.root().join(place),
                    Err(error) => {
                        merged.skipped.push(error);
                        continue;
                    }
                };
                let known = match new.get(&target) {
                    Some(known) => known.path(),
                    None if target.exists() => &target,
                    None => {
                        new.insert(target, source);
                        continue;
                    }
                };
                match is_same(known, source.path()) {
                    Ok(true) => merged.same += 1,
                    Ok(false) => {
                        let (one, other) = (known.to_path_buf(), source.path().to_path_buf());
                        return Err(ArchiveError::Differs(one, other));
                    }
                    Err(error) => merged.skipped.push(error),
                }
            }
        }
        Ok(new)
    }

    /// Adds an experiment that is not here; returns whether no other process added it meanwhile.
    fn add(&self, source: &ExperimentDir) -> Result<bool, ArchiveError> {
        if HeldLocks::read().writer(source).is_some() {
            return Err(ArchiveError::Busy(source.path().to_path_buf()));
        }
        let members = members(source.path())?;
        let bytes = check_sizes(source.path(), &members)?;
        check_files(source)?;
        let (root, place) = (self.root(), place(source)?);
        Dir::create(root, Entries::Shared).map_err(ArchiveError::write(root))?;
        let prepared = ScratchDir::make(root, PREPARED).map_err(ArchiveError::write(root))?;
        check_room(root, bytes)?;
        let (copy, target) = (prepared.path().join(&place), root.join(&place));
        fs::create_dir_all(&copy).map_err(ArchiveError::write(&copy))?;
        for name in &members {
            copy_file(source.path(), name, &copy)?;
        }
        let copied = ExperimentDir::open(&copy)?;
        // The source may have changed meanwhile.
        check_files(&copied).and_then(|()| check_figures(&copied)).map_err(|error| {
            let ArchiveError::Damaged(path, reason) = error else { return error };
            // What is damaged is so in the source.
            let below = path.strip_prefix(&copy).map(|below| source.path().join(below));
            ArchiveError::Damaged(below.unwrap_or(path), reason)
        })?;
        let parent = target.parent().unwrap_or(root);
        Dir::create(parent, Entries::Closed).map_err(ArchiveError::write(parent))?;
        match rename(&copy, &target) {
            // Another process added it meanwhile.
            Err(_) if target.exists() => match is_same(&copy, &target)? {
                true => Ok(false),
                false => Err(ArchiveError::Exists(target)),
            },
            renamed => renamed.map(|()| true).map_err(ArchiveError::write(&target)),
        }
    }
}

/// Returns the place of an experiment in any archive: its name and identifier.
fn place(experiment: &ExperimentDir) -> Result<PathBuf, ArchiveError> {
    let path = experiment.path();
    let parts: Vec<_> = path.iter().rev().take(2).collect();
    for part in &parts {
        check_name("its directory", &part.to_string_lossy(), NAME_BYTES_MAX)
            .map_err(|reason| ArchiveError::Damaged(path.to_path_buf(), reason))?;
    }
    Ok(parts.into_iter().rev().collect())
}

/// Returns the names of the files that Assay writes into an experiment.
fn members(dir: &Path) -> Result<Vec<String>, ArchiveError> {
    let names = names(dir).map_err(ArchiveError::read(dir))?;
    let list = dir.join(CHECKSUMS).exists().then(|| CHECKSUMS.to_owned());
    Ok(names.into_iter().filter(|name| content(name).is_some()).chain(list).collect())
}

/// Checks the sizes of files before one is read; returns the bytes of all.
fn check_sizes(dir: &Path, names: &[String]) -> Result<u64, ArchiveError> {
    let mut all: u64 = 0;
    for name in names {
        let path = dir.join(name);
        let checked = regular::open_below(dir, &path, Names::Several).and_then(|file| {
            let bytes = file.metadata()?.len();
            regular::check_length(bytes, limit(name)).map(|()| bytes)
        });
        all = all.saturating_add(checked.map_err(ArchiveError::read(&path))?);
    }
    Ok(all)
}

/// Returns the most bytes of a file; `import` has the same limits.
fn limit(name: &str) -> u64 {
    content(name).map_or(0, bytes_max)
}

/// Checks that all files of an experiment are there, as they were written.
fn check_files(experiment: &ExperimentDir) -> Result<(), ArchiveError> {
    let mut found = experiment.verify()?;
    if let Some(run) = found.absent.pop() {
        let reason = "this run ended, and its directory is absent".to_owned();
        return Err(ArchiveError::Damaged(run, reason));
    }
    match found.mismatches.into_iter().next() {
        Some(found) => Err(ArchiveError::Damaged(found.path, found.what)),
        None => Ok(()),
    }
}

/// Returns whether two experiments have the same files.
fn is_same(one: &Path, other: &Path) -> Result<bool, ArchiveError> {
    Ok(sums(one)? == sums(other)?)
}

/// Returns the checksums of these files.
fn sums(dir: &Path) -> Result<BTreeMap<String, String>, ArchiveError> {
    let sum = |name: String| {
        let path = dir.join(&name);
        let sum = regular::open_below(dir, &path, Names::Several).and_then(checksum_within_limit);
        Ok((name, sum.map_err(ArchiveError::read(&path))?))
    };
    members(dir)?.into_iter().map(sum).collect()
}

/// Copies a file, and makes its directory.
fn copy_file(from: &Path, name: &str, to: &Path) -> Result<(), ArchiveError> {
    let (source, target) = (from.join(name), to.join(name));
    let opened = regular::open_below(from, &source, Names::Several);
    // It may grow meanwhile.
    let mut opened = opened.map_err(ArchiveError::read(&source))?.take(limit(name));
    let mut write = || {
        target.parent().map_or(Ok(()), fs::create_dir_all)?;
        io::copy(&mut opened, &mut File::create_new(&target)?)
    };
    write().map(drop).map_err(ArchiveError::write(&target))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::JSON_BYTES_MAX;
    use crate::results::directories;

    fn fixture(name: &str) -> Results {
        Results::at(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name))
    }

    #[test]
    fn experiments_of_archives_are_joined_under_their_names() {
        let root = tempfile::tempdir().unwrap();
        let here = Results::at(&root.path().join("results"));
        let others = [fixture("schema-1"), fixture("open-loop")];
        let merged = here.merge(&others).unwrap();
        assert_eq!((merged.added, merged.same, merged.skipped.len()), (2, 0, 0));
        let again = here.merge(&others).unwrap();
        assert_eq!((again.added, again.same, again.skipped.len()), (0, 2, 0));
        for other in others {
            for dir in other.newest() {
                let copy = here.root().join(place(&dir).unwrap());
                assert_eq!(sums(&copy).unwrap(), sums(dir.path()).unwrap());
            }
        }
        let entries = fs::read_dir(here.root()).unwrap().count();
        assert_eq!(entries, 2, "nothing else is left");
    }

    #[test]
    fn an_experiment_with_other_files_stops_the_merge_before_anything_is_copied() {
        let root = tempfile::tempdir().unwrap();
        let [here, there] = ["here", "there"].map(|name| Results::at(&root.path().join(name)));
        for results in [&here, &there] {
            results.merge(&[fixture("schema-1")]).unwrap();
        }
        there.merge(&[fixture("open-loop")]).unwrap();
        let changed = there.find("quick").unwrap();
        fs::write(changed.path().join("runs/memory.c1.r1/intervals.jsonl"), "").unwrap();
        let error = here.merge(std::slice::from_ref(&there)).unwrap_err().to_string();
        let paths =
            [here.find("quick").unwrap(), changed].map(|dir| dir.path().display().to_string());
        assert!(paths.iter().all(|path| error.contains(path)), "{error}");
        assert_eq!(here.newest().len(), 1);
        let error = here.merge(&[Results::at(root.path())]).unwrap_err().to_string();
        assert!(error.contains("no experiment found"), "{error}");
    }

    #[test]
    fn a_damaged_experiment_is_named_and_left_out() {
        let root = tempfile::tempdir().unwrap();
        let [here, there] = ["here", "there"].map(|name| Results::at(&root.path().join(name)));
        there.merge(&[fixture("schema-1"), fixture("open-loop")]).unwrap();
        let damaged = there.find("quick").unwrap().path().join("runs/memory.c1.r1/record.json");
        fs::write(&damaged, "{").unwrap();
        let merged = here.merge(&[there]).unwrap();
        assert_eq!((merged.added, merged.skipped.len()), (1, 1));
        assert!(merged.skipped[0].to_string().contains(&damaged.display().to_string()));
    }

    /// Returns an archive with the experiment `quick`, and one with `quick` and another experiment.
    fn two(root: &Path) -> [Results; 2] {
        let [here, there] = ["here", "there"].map(|name| Results::at(&root.join(name)));
        there.merge(&[fixture("schema-1"), fixture("open-loop")]).unwrap();
        [here, there]
    }

    #[test]
    fn an_experiment_that_lost_a_run_is_named_and_left_out() {
        let root = tempfile::tempdir().unwrap();
        let [here, there] = two(root.path());
        let quick = there.find("quick").unwrap();
        let [run] = &directories(&quick.path().join("runs"))[..] else { panic!("one run") };
        fs::write(run.join(CHECKSUMS), "").unwrap();
        crate::checksum::write(run, &crate::checksum::sums_on_disk(run).unwrap()).unwrap();
        let sum = crate::checksum::checksum_of(&run.join(CHECKSUMS)).unwrap();
        let name = run.strip_prefix(quick.path()).unwrap().join(CHECKSUMS).display().to_string();
        let mut listed = crate::checksum::Checksums::new();
        listed.insert(name, [sum].into());
        let manifest = fs::read(quick.path().join("manifest.json")).unwrap();
        crate::checksum::replace_sealed(quick.path(), "manifest.json", &manifest, listed).unwrap();
        assert!(quick.verify().unwrap().absent.is_empty());
        fs::rename(run, root.path().join("lost")).unwrap();
        let merged = here.merge(&[there]).unwrap();
        assert_eq!((merged.added, merged.skipped.len()), (1, 1));
        let error = merged.skipped[0].to_string();
        assert!(error.contains(&run.display().to_string()), "{error}");
        assert!(error.contains("its directory is absent"), "{error}");
    }

    #[test]
    fn bad_experiments_are_named_and_the_others_are_added() {
        let root = tempfile::tempdir().unwrap();
        let [here, there] = two(root.path());
        let quick = there.find("quick").unwrap();
        let badly_named = there.root().join("quick/\u{202e}");
        fs::create_dir(&badly_named).unwrap();
        fs::copy(quick.path().join("manifest.json"), badly_named.join("manifest.json")).unwrap();
        fs::remove_file(quick.path().join("manifest.json")).unwrap();
        let merged = here.merge(&[there]).unwrap();
        assert_eq!((merged.added, merged.skipped.len()), (1, 2));
        let all: String = merged.skipped.iter().map(ToString::to_string).collect();
        assert!(all.contains(&quick.path().display().to_string()), "{all}");
        assert!(all.contains("its directory"), "{all}");
    }

    #[test]
    fn a_file_larger_than_any_of_an_experiment_is_not_copied() {
        let root = tempfile::tempdir().unwrap();
        let [here, there] = two(root.path());
        let record = there.find("quick").unwrap().path().join("runs/memory.c1.r1/record.json");
        let file = File::options().write(true).open(record).unwrap();
        file.set_len(JSON_BYTES_MAX + 1).unwrap();
        let merged = here.merge(&[there]).unwrap();
        assert_eq!((merged.added, merged.skipped.len()), (1, 1));
        let error = merged.skipped[0].to_string();
        assert!(error.contains("record.json: it is larger than 8 MiB"), "{error}");
    }

    #[test]
    fn an_experiment_that_another_process_adds_meanwhile_is_compared() {
        let root = tempfile::tempdir().unwrap();
        let [here, there] = two(root.path());
        let quick = there.find("quick").unwrap();
        assert!(here.add(&quick).unwrap());
        assert!(!here.add(&quick).unwrap(), "it is there already");
        let intervals = "runs/memory.c1.r1/intervals.jsonl";
        fs::write(here.find("quick").unwrap().path().join(intervals), "").unwrap();
        assert!(matches!(here.add(&quick), Err(ArchiveError::Exists(_))));
    }
}
