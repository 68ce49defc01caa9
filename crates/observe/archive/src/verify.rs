//! Compares an experiment's files with their checksums.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use crate::checksum::{checksum_within_limit, names, parse, read_list};
use crate::ended;
use crate::error::ArchiveError;
use crate::experiment::ExperimentDir;
use crate::layout::{CHECKSUMS, CUTS, MANIFEST, RUN_DIRS};
use crate::parallel::parallel_map;
use crate::regular::{self, Names, check_run_dir};
use crate::results::directories;

/// A file that is not what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it, with `it` as the subject.
    pub what: String,
}

/// Result of checking an experiment's files.
#[derive(Debug, Default)]
pub struct FileCheck {
    /// Files whose checksum was compared.
    pub files: usize,
    /// The files that are not what was written.
    pub mismatches: Vec<Mismatch>,
    /// Directories of the runs and earlier attempts whose files are all what was written.
    pub sound: Vec<PathBuf>,
    /// Directories without checksums: of an older Assay, of a run that was killed or still runs.
    pub unchecked: Vec<PathBuf>,
    /// Directories of runs that ended, and whose files are gone.
    pub absent: Vec<PathBuf>,
    /// Runs with checksums that the experiment does not list: of an older Assay.
    pub unlisted: usize,
}

impl ExperimentDir {
    /// Compares the manifest, the simulated crashes, and the files of all runs and earlier attempts
    /// with their checksums.
    ///
    /// # Errors
    /// When a directory cannot be listed.
    pub fn verify(&self) -> Result<FileCheck, ArchiveError> {
        let mut all = FileCheck::default();
        let list = read_list(self.path()).ok().and_then(|list| parse(&list));
        let ended = ended::runs(list.unwrap_or_default());
        let open =
            |name: &str| regular::open_below(self.path(), &self.path().join(name), Names::Several);
        let (present, absent): (Vec<_>, Vec<_>) =
            ended.iter().partition(|(name, _)| open(name).is_ok());
        let known = present.iter().map(|(name, _)| (*name).clone()).chain([MANIFEST.to_owned()]);
        let known = known.chain(open(CUTS).is_ok().then(|| CUTS.to_owned()));
        // The manifest is no run: its directory is not among those that are sound.
        let (files, mut mismatches) = verify(self.path(), &known.collect()).unwrap_or_else(|| {
            all.unchecked.push(self.path().to_path_buf());
            Default::default()
        });
        for (name, sums) in absent {
            let path = self.path().join(name);
            // A kill may have come between the new name in the list and the new name of the run.
            let is_renamed = present.iter().any(|(_, other)| *other == sums);
            let absent = path.parent().filter(|run| !is_renamed && !run.exists());
            if is_renamed || absent.is_some() {
                mismatches.retain(|one| one.path != path);
            }
            all.absent.extend(absent.map(Path::to_path_buf));
        }
        (all.files, all.mismatches) = (files, mismatches);
        let runs = RUN_DIRS.map(|part| directories(&self.path().join(part))).concat();
        let checked = parallel_map(runs, |run| {
            if let Err(link) = check_run_dir(&run) {
                let linked = Mismatch { path: run.clone(), what: link.to_string() };
                return Ok((run, Some((0, vec![linked]))));
            }
            let files = names(&run).map_err(ArchiveError::read(&run))?;
            let checked = verify(&run, &files);
            Ok((run, checked))
        });
        for run in checked {
            match run? {
                (dir, None) => all.unchecked.push(dir),
                (dir, Some((files, mismatches))) => {
                    all.files += files;
                    let list = dir.join(CHECKSUMS);
                    let name = list.strip_prefix(self.path()).ok().and_then(Path::to_str);
                    let is_listed = name.is_some_and(|name| ended.contains_key(name));
                    all.unlisted += usize::from(!is_listed);
                    if mismatches.is_empty() {
                        all.sound.push(dir);
                    }
                    all.mismatches.extend(mismatches);
                }
            }
        }
        Ok(all)
    }
}

/// Compares the files of a directory with its checksums; `None` when it has none.
fn verify(dir: &Path, files: &BTreeSet<String>) -> Option<(usize, Vec<Mismatch>)> {
    let unusable = |why: &str| {
        let what = format!("the checksums cannot be {why}, so no file is checked");
        Some((0, vec![Mismatch { path: dir.join(CHECKSUMS), what }]))
    };
    let sums = match read_list(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => return unusable(&format!("read: {error}")),
        Ok(list) => parse(&list),
    };
    let Some(sums) = sums else { return unusable("parsed") };
    let unlisted = files.iter().filter(|name| !sums.contains_key(*name));
    let unlisted = unlisted.map(|name| (name, "it has no checksum".to_owned()));
    let listed = sums.iter().filter_map(|(name, known)| {
        // A name in the list alone may lead out of the directory.
        let sum = match files.contains(name) {
            true => regular::open(&dir.join(name)).and_then(checksum_within_limit),
            false => Err(io::Error::other("there is no regular file with that name")),
        };
        let what = match sum {
            Ok(sum) if known.contains(&sum) => return None,
            Ok(_) => "its checksum differs from the recorded checksum".to_owned(),
            Err(error) => format!("it cannot be read: {error}"),
        };
        Some((name, what))
    });
    let mismatch = |(name, what): (&String, String)| Mismatch { path: dir.join(name), what };
    Some((sums.len(), listed.chain(unlisted).map(mismatch).collect()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::checksum::tests::run;
    use crate::checksum::{Checksums, checksum, replace_sealed};

    fn mismatches(run: &tempfile::TempDir) -> Vec<String> {
        let (_, mismatches) = verify(run.path(), &names(run.path()).unwrap()).unwrap();
        let name = |path: &Path| path.strip_prefix(run.path()).unwrap().display().to_string();
        mismatches.iter().map(|one| format!("{}: {}", name(&one.path), one.what)).collect()
    }

    #[test]
    fn changed_missing_and_added_files_are_named() {
        let run = run();
        assert!(mismatches(&run).is_empty());
        fs::write(run.path().join("record.json"), "abd").unwrap();
        fs::remove_file(run.path().join("engine/LOG")).unwrap();
        fs::write(run.path().join("notes"), "").unwrap();
        let found = mismatches(&run);
        assert!(found[0].starts_with("engine/LOG: it cannot be read: "), "{found:?}");
        assert_eq!(found[1], "record.json: its checksum differs from the recorded checksum");
        assert_eq!(found[2], "notes: it has no checksum");
        fs::write(run.path().join(CHECKSUMS), "torn").unwrap();
        assert!(mismatches(&run)[0].starts_with("checksums: the checksums cannot be"));
    }

    /// Goal: a file that claims a terabyte is refused at once.
    #[test]
    fn a_sparse_file_is_not_read() {
        let run = run();
        let file = fs::File::options().write(true).open(run.path().join("engine/LOG")).unwrap();
        file.set_len(1 << 40).unwrap();
        let found = mismatches(&run);
        assert!(found[0].starts_with("engine/LOG: it cannot be read: it is larger"), "{found:?}");
    }

    /// Goal: a kill between the three writes leaves a checksum that holds.
    #[test]
    fn a_manifest_is_replaced_with_its_checksum() {
        let dir = tempfile::tempdir().unwrap();
        let manifest = [MANIFEST.to_owned()].into();
        let is_sound = || verify(dir.path(), &manifest).unwrap().1.is_empty();
        for text in ["old", "new"] {
            replace_sealed(dir.path(), MANIFEST, text.as_bytes(), Checksums::new()).unwrap();
            assert!(is_sound());
        }
        let both = ["new", "old"].map(|text| checksum(text.as_bytes()) + "  manifest.json\n");
        fs::write(dir.path().join(CHECKSUMS), both.concat()).unwrap();
        assert!(is_sound());
        fs::write(dir.path().join(MANIFEST), "old").unwrap();
        assert!(is_sound());
        fs::write(dir.path().join(MANIFEST), "odd").unwrap();
        assert!(!is_sound());
    }
}
