//! Profiles of storage: one file each, by class of host.

use std::fs;
use std::path::{Path, PathBuf};

use model::DeviceRecord;
use trust::{Dir, Entries};

use crate::error::ArchiveError;
use crate::replace::{json, replace};
use crate::results::{DEVICES, Results, directories};
use crate::run::read_json;

impl Results {
    /// Stores a profile, or replaces it with one that has more; returns its path.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_device(&self, record: &DeviceRecord) -> Result<PathBuf, ArchiveError> {
        let dir = self.root().join(DEVICES).join(&record.host.fingerprint);
        let path = dir.join(format!("{}.json", record.id));
        let unusable = |reason| ArchiveError::Damaged(path.clone(), reason);
        record.check().map_err(unusable)?;
        Dir::create(&dir, Entries::Closed).map_err(ArchiveError::write(&dir))?;
        replace(&path, &json(record))?;
        Ok(path)
    }

    /// Returns every profile, oldest first, and the files that cannot be read.
    pub fn devices(&self) -> (Vec<DeviceRecord>, Vec<ArchiveError>) {
        let mut paths: Vec<PathBuf> = directories(&self.root().join(DEVICES))
            .iter()
            .flat_map(|dir| fs::read_dir(dir).into_iter().flatten().flatten())
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
            .collect();
        paths.sort();
        let (mut records, mut damaged) = (Vec::new(), Vec::new());
        for path in paths {
            match read_profile(&path) {
                Ok(record) => records.push(record),
                Err(error) => damaged.push(error),
            }
        }
        records.sort_by_cached_key(|record: &DeviceRecord| record.id.clone());
        (records, damaged)
    }
}

/// Reads a profile, which counts under its own name and class alone.
fn read_profile(path: &Path) -> Result<DeviceRecord, ArchiveError> {
    let record: DeviceRecord = read_json(path, |record: &DeviceRecord| record.schema)?;
    let damaged = |reason: String| ArchiveError::Damaged(path.to_path_buf(), reason);
    record.check().map_err(damaged)?;
    let class = path.parent().and_then(Path::file_name);
    let is_own = class.is_some_and(|class| *class == *record.host.fingerprint)
        && path.file_stem().is_some_and(|id| *id == *record.id);
    if is_own {
        return Ok(record);
    }
    let (id, class) = (&record.id, &record.host.fingerprint);
    Err(damaged(format!("the file contains profile {id} of hosts {class}, not of this directory")))
}

#[cfg(test)]
mod tests {
    use model::{DEVICE_SCHEMA, Host};

    use super::*;
    use crate::summary::Summaries;

    fn record(id: &str) -> DeviceRecord {
        DeviceRecord {
            schema: DEVICE_SCHEMA,
            id: id.to_owned(),
            created_at: String::new(),
            assay_version: String::new(),
            fio_version: "fio-3.33".to_owned(),
            host: Host { fingerprint: "amd_2cpu".to_owned(), ..Host::default() },
            targets: Vec::new(),
            run_s: 1,
            repetitions: 6,
            cells: Vec::new(),
            untraced: None,
            steady: Vec::new(),
            is_complete: false,
        }
    }

    #[test]
    fn profiles_are_replaced_by_their_identifier_and_are_no_experiments() {
        let dir = tempfile::tempdir().unwrap();
        let results = Results::at(dir.path());
        assert!(results.devices().0.is_empty());
        results.write_device(&record("2")).unwrap();
        results.write_device(&record("1")).unwrap();
        let complete = DeviceRecord { is_complete: true, ..record("1") };
        let path = results.write_device(&complete).unwrap();
        fs::write(path.with_file_name("3.json"), "{").unwrap();
        let (records, damaged) = results.devices();
        assert_eq!(records, [complete, record("2")]);
        assert_eq!(damaged.len(), 1);
        assert!(
            results.list(&Summaries::new()).experiments.is_empty()
                && results.list(&Summaries::new()).damaged.is_empty()
        );
        assert!(results.write_device(&record("../x")).is_err());
        let copy = path.with_file_name("4.json");
        fs::copy(&path, &copy).unwrap();
        let other = path.parent().unwrap().with_file_name("intel_8cpu");
        fs::create_dir(&other).unwrap();
        fs::copy(&path, other.join("1.json")).unwrap();
        let (records, damaged) = results.devices();
        assert_eq!((records.len(), damaged.len()), (2, 3), "{damaged:?}");
        assert!(damaged[2].to_string().contains("not of this directory"), "{}", damaged[2]);
    }
}
